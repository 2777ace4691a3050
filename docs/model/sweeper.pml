/* The scheduled pass: reads what is in the index, asks, and writes if the record is still as it was read. */
mtype = { READ, ASK, WRITE };

/* Shuts the late owner out. */
inline sweep_leaves() { next_fence(); record.owner = SWEPT; record.fence = newest_fence }

inline sweep_absent() {
  if
  :: record.entry == BEGUN && ENTRY_AFTER_ABSENT == NONE -> write_entry(NONE)
  :: else
  fi
}

#ifdef SWEEPER
proctype Sweeper() {
  byte me = 0;
  mtype step = READ;
  mtype verdict;
  byte ahead;

  if :: ahead = 0 :: ahead = SKEW fi;
  do
  :: atomic { step == READ && IN_SWEEP_INDEX -> read_record(); step = ASK }

  :: atomic { step == ASK ->
      ask_about_seen();
      printf("sweeper meets: %e, entry %e; asks: %e\n", seen.state, seen.entry, verdict);
      step = WRITE }

  :: atomic { step == WRITE ->
      if
      :: AS_SEEN && verdict == UNKNOWN -> record.state = IN_DOUBT; printf("sweeper leaves it in-doubt\n")
      :: verdict == UNKNOWN -> printf("sweeper leaves it as it is\n")
      :: AS_SEEN && verdict == FOUND ->
#ifdef OWN_RECONCILE
          sweep_leaves(); write_outcome(SUCCESS); printf("sweeper completes it with what was found\n")
#else
          sweep_leaves(); record.state = RELEASED; record.lease_until = 0; write_entry(DONE);
          printf("sweeper journals: done, and releases\n")
#endif
      :: AS_SEEN && verdict == ABSENT && seen.state != RELEASED ->
          sweep_leaves(); record.state = RELEASED; record.lease_until = 0; sweep_absent();
          printf("sweeper releases\n")
      :: AS_SEEN && verdict == ABSENT && seen.state == RELEASED -> sweep_absent()
      :: !AS_SEEN && verdict != UNKNOWN
      fi;
      forget_record(); verdict = 0; step = READ; note_the_sweep() }
  od
}
#endif
