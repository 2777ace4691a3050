/* Durations are a few ticks: enough for each order of events, few enough to try them all. */
#ifndef ATTEMPTS
#define ATTEMPTS 2            /* deliveries of the one request */
#endif
#ifndef LEASE
#define LEASE 2
#endif
#ifndef DELAY
#define DELAY 2               /* the longest that a request to the provider is on its way */
#endif
#ifndef SETTLE_AFTER
#define SETTLE_AFTER DELAY
#endif
#ifndef SKEW
#define SKEW 1                /* how far two clocks differ */
#endif
#ifndef SKEW_ALLOWANCE
#define SKEW_ALLOWANCE SKEW
#endif

/*
 * Time has no end, and the states are finitely many, because the clock stands still: at each tick, every time that is
 * written down anywhere moves one into the past instead. What is longer ago than anybody asks for stays at 0.
 */
#ifdef SWEEPS_EVERY_TICK
#define NOW (SKEW_ALLOWANCE + SETTLE_AFTER + 2 * SKEW + 4)
#else
#define NOW (SKEW_ALLOWANCE + SETTLE_AFTER + 1)
#endif
#define CLOCK (NOW + ahead)   /* what a process sees: `ahead` is its own, 0 or SKEW */
