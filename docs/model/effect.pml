/* The request to the provider, of perform and of a handler that calls the provider itself. */

inline send() {
  printf("attempt %d sends\n", me);
  lands_by[me] = NOW + DELAY; reply[me] = AWAITED; go(WAIT)
}

inline check_and_send() {
  if
  :: MAY_SEND && !FREEZES -> send()
  :: MAY_SEND && FREEZES -> printf("attempt %d looks at its lease, and freezes\n", me); go(SEND_LATE)
  :: !MAY_SEND -> printf("attempt %d does not send: its lease is over\n", me); answer_what_stands()
  :: RELEASES_WHILE_PENDING && MINE ->
      printf("attempt %d: the handler throws while its run is pending, and releases\n", me); write_release()
  fi
}

/* No answer, whether it timed out or broke off, is no information. */
inline wait() {
  if
  :: reply[me] == ANSWERED -> answer = SUCCESS; go(AFTER_REPLY)
  :: printf("attempt %d gets no answer from the provider\n", me); after_no_answer()
  fi;
  reply[me] = 0
}
