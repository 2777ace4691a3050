/* A write was refused. The record that came back says what this attempt's caller gets. */
inline answer_what_stands() {
  if
  :: record.state == COMPLETED -> tell(record.outcome)
  :: else
  fi;
  finish()
}

inline complete() {
  if
  :: OUTCOME_BARRED -> printf("attempt %d has an outcome over an open effect\n", me); go(DOUBT)
  :: !OUTCOME_BARRED && MINE_OR_IN_DOUBT ->
      printf("attempt %d completes\n", me);
      write_outcome(answer);
      if
      :: tell(answer); finish()
      :: REPLY_LOST
      fi
  :: !OUTCOME_BARRED && COMPLETED_BY_ME -> tell(answer); finish()
  :: !OUTCOME_BARRED && !MINE_OR_IN_DOUBT && !COMPLETED_BY_ME -> answer_what_stands()
  fi
}

/* Refused: it is released already, or it is not mine any more. Nothing to do either way. */
inline release() {
  if
  :: MINE -> write_release(); printf("attempt %d throws, and releases\n", me)
  :: else
  fi;
  finish()
}

inline doubt() {
  if
  :: MINE -> record.state = IN_DOUBT; cut_entry(); printf("attempt %d sets in-doubt\n", me)
  :: else
  fi;
  finish()
}
