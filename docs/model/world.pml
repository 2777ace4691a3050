inline select_request() {
  if
  :: lands_by[1] > 0 -> number = 1
  :: lands_by[2] > 0 -> number = 2
#if ATTEMPTS > 2
  :: lands_by[3] > 0 -> number = 3
#endif
  fi
}

inline land() {
#ifdef IDEMPOTENCY_KEYS
  effects = 1;                /* the token makes them one */
#else
  effects++;
#endif
  printf("provider: the request of attempt %d lands, effects: %d\n", number, effects);
  promise(at_most_one_effect, effects <= 1);
  promise(declined_means_it_did_not_happen, !(record.state == COMPLETED && record.outcome == REJECTION));
  if
  :: reply[number] == AWAITED -> reply[number] = ANSWERED
  :: else
  fi
}

/* Requests on their way to the provider land, or vanish. */
proctype Network() {
  byte number;
  do
  :: atomic {
      select_request();
      lands_by[number] = 0;
      if
      :: land()
      :: printf("network: the request of attempt %d vanishes\n", number)
      fi;
      number = 0 }
  od
}

/* Nothing is on its way for longer than DELAY. */
#define OVERDUE(number) (lands_by[number] == NOW)
#if ATTEMPTS > 2
#define ANY_OVERDUE (OVERDUE(1) || OVERDUE(2) || OVERDUE(3))
#else
#define ANY_OVERDUE (OVERDUE(1) || OVERDUE(2))
#endif

/* Where the sweeper keeps its schedule, no effect stays open for longer than the sum of what it has to wait for. */
#ifdef SWEEPS_EVERY_TICK
bit has_swept;                /* in this tick */
inline note_the_sweep() { has_swept = 1 }
#define OUT_OF_REACH false   /* the provider: it can always tell */
#define SWEEP_DUE (IN_SWEEP_INDEX && !has_swept)
#define DECIDED_BY(until) (until + 2 * SKEW + SKEW_ALLOWANCE + SETTLE_AFTER + 2)
#else
inline note_the_sweep() { skip }
#define OUT_OF_REACH true    /* the provider: at times */
#define SWEEP_DUE false
#endif

inline pass(time) {
  if
  :: time > 0 -> time--
  :: else
  fi
}

inline pass_for(number) {
  pass(known[number].lease_until); pass(known[number].entry_until); pass(lease_of[number]); pass(lands_by[number])
}

/* A tick: every time that is written down moves one into the past. */
proctype Clock() {
  byte ahead = 0;
  do
  :: atomic { !ANY_OVERDUE && !SWEEP_DUE ->
      printf("tick\n");
      pass(record.lease_until); pass(record.entry_until);
      pass_for(0); pass_for(1); pass_for(2);
#if ATTEMPTS > 2
      pass_for(3);
#endif
#ifdef SETTLING_FROM_BEGIN
      pass(entry_begun_at);
#endif
#ifdef LATE_COPIES
      pass(copy_until); pass(until_known_to_copy);
#endif
#ifdef SWEEPS_EVERY_TICK
      has_swept = 0;
      promise(every_effect_gets_decided,
        !(effects > 0 && record.entry == BEGUN && DECIDED_BY(record.entry_until) < NOW))
#endif
      }
  od
}

/* Every retry comes within the retention; only an in-doubt record could wait for longer than that. */
proctype Retention() {
  do
  :: atomic { EXPIRES ->
      record.state = NO_RECORD; record.owner = 0; record.lease_until = 0; write_entry(NONE);
      printf("the retention is over: the record counts as absent\n") }
  od
}
