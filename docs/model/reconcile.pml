/* A handler that calls the provider itself. The record knows nothing but the claim; the operation has a reconcile. */
#define AFTER_FOUND RESOLVE
#define AFTER_REPLY COMPLETE

inline run_body() {
  if
  :: go(SEND)
  :: after_no_answer()                                        /* throws before it does anything: who can tell */
  fi
}

inline after_no_answer() {
  printf("attempt %d: the handler throws\n", me);
  if
  :: THROW_HOLDS -> finish()
  :: !THROW_HOLDS -> go(RELEASE)
  fi
}

/* Completes for everybody, and shuts the late owner out. */
inline resolve() {
  if
  :: AS_SEEN ->
      next_fence(); my_fence = newest_fence;
      write_outcome(SUCCESS); record.owner = OWNER(me); record.fence = my_fence;
      printf("attempt %d completes with what was found\n", me);
      if
      :: tell(SUCCESS); finish()
      :: REPLY_LOST
      fi
  :: else -> answer_what_stands()
  fi
}
