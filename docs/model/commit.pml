/* A handler that ends in a transaction: its own writes and the outcome, together or not at all. Each attempt would
 * answer something else: its number. */
#define AFTER_FOUND TAKE_OVER

inline run_body() {
  if
  :: go(COMMIT_ALL)
  :: go(RELEASE)
  fi
}

inline write_all() {
  business_writes++;
  printf("attempt %d commits\n", me);
  promise(at_most_one_business_write, business_writes <= 1);
  write_outcome(me)
}

inline commit_all() {
  if
  :: MINE_OR_IN_DOUBT ->
      write_all();
      if
      :: tell(me); finish()
      :: printf("attempt %d gets no reply\n", me); go(SETTLE_COMMIT)
      fi
  :: !MINE_OR_IN_DOUBT -> answer_what_stands()
  :: printf("attempt %d: its transaction gets lost, and there is no reply\n", me); go(SETTLE_COMMIT)
  fi
}

/* Reads the record strongly. */
inline settle_commit() {
  if
  :: SUCCESS_ON_UNKNOWN -> tell(me); finish()
  :: !SUCCESS_ON_UNKNOWN && COMPLETED_BY_ME -> tell(me); finish()
  :: !SUCCESS_ON_UNKNOWN && MINE_OR_IN_DOUBT -> go(COMMIT_ALL)            /* not applied: once more */
  :: !SUCCESS_ON_UNKNOWN && !COMPLETED_BY_ME && !MINE_OR_IN_DOUBT -> answer_what_stands()
  fi
}

/* No claim before it: one transaction, refused when there is a record. A repeated one meets its own. */
inline claim_and_commit() {
  if
  :: record.state == NO_RECORD ->
      record.owner = OWNER(me); write_all();
      if
      :: tell(me); finish()
      :: REPLY_LOST
      fi
  :: record.state == COMPLETED -> tell(record.outcome); finish()
  fi
}
