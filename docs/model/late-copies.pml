/* An SDK that got no reply sends again: the first copy of a "begun" may come long after the second. */
#ifdef LATE_COPIES
byte copy_of, copy_fence, copy_until;
mtype known_to_copy;
byte by_known_to_copy, until_known_to_copy;

#define COPY_APPLIES (record.state == CLAIMED && record.owner == OWNER(me) && record.fence == copy_fence && \
                      JOURNAL_IS(known_to_copy, by_known_to_copy, until_known_to_copy))

proctype LateCopies() {
  byte me;
  do
  :: atomic { copy_of > 0 ->
      me = copy_of;
      printf("network: the late copy of attempt %d's begun arrives\n", me);
      if
      :: COPY_APPLIES ->
          promise(the_journal_never_goes_back, record.entry != DONE);
          record.entry = BEGUN; record.entry_by = me; record.entry_until = copy_until
      :: else
      fi;
      me = 0; copy_of = 0; copy_fence = 0; copy_until = 0;
      known_to_copy = 0; by_known_to_copy = 0; until_known_to_copy = 0 }
  od
}
#endif

inline keep_late_copy() {
#ifdef LATE_COPIES
  if
  :: copy_of == 0 ->
      copy_of = me; copy_fence = my_fence; copy_until = my_lease;
      known_to_copy = seen.entry; by_known_to_copy = seen.entry_by; until_known_to_copy = seen.entry_until;
      printf("attempt %d: its begun is late, so the SDK sends a second copy\n", me)
  :: 1
  fi
#else
  skip
#endif
}
