#define OWN_CLAIM (record.state == CLAIMED && record.owner == OWNER(me))

/* One conditional put. When it loses, the record that stood in the way says what to do. */
inline claim() {
  if
  :: record.state == NO_RECORD && !READS_FIRST ->
      write_claim(); hold_claim();
      printf("attempt %d claims, fence %d\n", me, my_fence);
      if
      :: run_body()
      :: REPLY_LOST
      fi
  :: record.state == NO_RECORD && READS_FIRST -> printf("attempt %d reads: there is no record\n", me); go(CLAIM_BLINDLY)
  :: OWN_CLAIM -> hold_claim(); printf("attempt %d takes the claim that it meets for its own\n", me); run_body()
  :: record.state == COMPLETED -> tell(record.outcome); finish()
  :: record.state == CLAIMED && !OWN_CLAIM && !LAPSED -> printf("attempt %d: busy\n", me); finish()
  :: record.state == RELEASED || record.state == IN_DOUBT || (LAPSED && !OWN_CLAIM) ->
      read_record();
      printf("attempt %d meets: %e, entry %e\n", me, seen.state, seen.entry); go(LOOK)
  fi
}

inline claim_blindly() {
  write_claim(); write_entry(NONE); hold_claim();
  printf("attempt %d writes its claim over whatever is there\n", me); run_body()
}

/* Rule 6. Before it takes over, and before the body runs: what became of the effect? */
inline look() {
  ask_about_seen();
  printf("attempt %d asks before it takes over: %e\n", me, verdict);
  if
  :: verdict == UNKNOWN -> go(LEAVE_IN_DOUBT)
  :: verdict == FOUND -> go(AFTER_FOUND)
  :: verdict == ABSENT -> go(TAKE_OVER)
  fi
}

inline ask_about_seen() {
  if
#ifdef OWN_RECONCILE
  :: seen.state != RELEASED -> ask(seen.lease_until)
#else
  :: seen.entry == BEGUN -> ask(seen.entry_until)
#endif
  :: else -> verdict = ABSENT
  fi
}

/* One conditional update. What was found is journalled by the same write. */
inline take_over() {
  if
  :: AS_SEEN ->
      write_claim();
      if
      :: verdict == FOUND -> write_entry(DONE)
      :: else
      fi;
      hold_claim(); verdict = 0;
      printf("attempt %d takes over, fence %d\n", me, my_fence);
      if
      :: run_body()
      :: REPLY_LOST
      fi
  :: !AS_SEEN && OWN_CLAIM -> hold_claim(); verdict = 0; run_body()
  :: !AS_SEEN && !OWN_CLAIM -> answer_what_stands()
  fi
}

inline leave_in_doubt() {
  if
  :: AS_SEEN -> record.state = IN_DOUBT; printf("attempt %d leaves it in-doubt\n", me)
  :: else
  fi;
  finish()
}
