/* A handler whose effect is performed under the claim, and journalled before and after. */
#define AFTER_FOUND TAKE_OVER
#define AFTER_REPLY JOURNAL_DONE

/* Whether, and when, the handler may decide against it. */
#if defined(DECLINES)
#define HANDLER_DECLINES (seen.entry != DONE)
#elif defined(DECLINES_OVER_DONE)
#define HANDLER_DECLINES true
#else
#define HANDLER_DECLINES false
#endif

inline decline() { printf("attempt %d declines\n", me); answer = REJECTION; go(COMPLETE) }

inline run_body() {
  if
  :: go(RELEASE)                                              /* throws before it does anything */
  :: HANDLER_DECLINES -> decline()
  :: seen.entry == DONE -> answer = SUCCESS; go(COMPLETE)     /* perform returns the stored result */
  :: seen.entry == BEGUN -> go(ASK_AGAIN)
  :: seen.entry == NONE -> go(BEGIN)
  fi
}

/* Begun by somebody before: asks again, right before it runs. */
inline ask_again() {
  ask(seen.entry_until);
  printf("attempt %d asks before it runs: %e\n", me, verdict);
  if
  :: verdict == FOUND -> go(JOURNAL_DONE)
  :: verdict == ABSENT -> go(BEGIN)
  :: verdict == UNKNOWN -> go(DOUBT)
  fi;
  verdict = 0
}

#define JOURNAL_AS_KNOWN JOURNAL_IS(seen.entry, seen.entry_by, seen.entry_until)
#define BEGUN_BY_ME ENTRY_IS(BEGUN, me, my_lease)

/* This write may arrive at any time later, so a look at the lease before it would show nothing. */
inline begin_effect() {
  if
  :: MINE && JOURNAL_AS_KNOWN && !repeated ->
      keep_late_copy();
      write_begun();
      printf("attempt %d journals: begun\n", me);
      if
      :: know_entry(); go(SEND)
      :: know_entry(); go(RELEASE)                               /* every reply is lost: throws */
      :: REPLY_LOST
      fi
  :: MINE && BEGUN_BY_ME -> know_entry(); go(SEND)
  :: !(MINE && JOURNAL_AS_KNOWN) && !(MINE && BEGUN_BY_ME) -> answer_what_stands()
  fi
}

inline after_no_answer() {
  if
  :: go(RELEASE)                                              /* throws: the entry stays begun */
  :: HANDLER_DECLINES -> decline()                            /* catches it, and says no */
  fi
}

inline journal_done() {
  if
  :: MINE_OR_IN_DOUBT && JOURNAL_AS_KNOWN && !repeated ->
      write_entry(DONE);
      printf("attempt %d journals: done\n", me);
      if
      :: after_done(COMPLETE)
      :: after_done(RELEASE)                                  /* throws after its effect */
      :: REPLY_LOST
      fi
  :: MINE_OR_IN_DOUBT && record.entry == DONE -> after_done(COMPLETE)
  :: !(MINE_OR_IN_DOUBT && JOURNAL_AS_KNOWN) && !(MINE_OR_IN_DOUBT && record.entry == DONE) ->
      answer_what_stands()
  fi
}

inline after_done(next) { know_entry(); answer = SUCCESS; go(next) }
