mtype = { NO_RECORD, CLAIMED, COMPLETED, RELEASED, IN_DOUBT };   /* state. Lapsed is not stored: see LAPSED */
mtype = { NONE, BEGUN, DONE };                                   /* the effect's entry in the journal */
mtype = { FOUND, ABSENT, UNKNOWN };                              /* what the provider is understood to say */

#define SUCCESS 50
#define REJECTION 60
#define SWEPT 99              /* the owner that a sweep leaves */

typedef Record {
  mtype state = NO_RECORD;
  byte owner;
  byte fence;
  byte lease_until;
  byte outcome;
  mtype entry = NONE;
  byte entry_by;              /* no two attempts write the same text: it holds the millisecond */
  byte entry_until            /* until when the attempt that began the effect may send */
}
Record record;

/* What a process knows: 0 is the sweeper, the others are attempts. Here, not in the process, because it holds times. */
Record known[ATTEMPTS + 1];
byte lease_of[ATTEMPTS + 1];
#define seen known[me]
#define my_lease lease_of[me]

/* A fence is made from the time in milliseconds, so it grows whatever becomes of the record. Here it stops at a last
 * number, which only makes it weaker. */
byte newest_fence;
#define LAST_FENCE (ATTEMPTS + 2)

#define LAPSED (record.state == CLAIMED && CLOCK > record.lease_until + SKEW_ALLOWANCE)

/* Every write after the claim: I am the one who claimed, and the claim has not ended. */
#define MINE (record.state == CLAIMED && IS_MINE)
/* A late owner whom nobody replaced may still say what it knows. */
#define MINE_OR_IN_DOUBT ((record.state == CLAIMED || record.state == IN_DOUBT) && IS_MINE)
/* "Condition failed" may mean: it was me. */
#define COMPLETED_BY_ME (record.state == COMPLETED && record.owner == OWNER(me) && record.fence == my_fence)

/* Writes of those who hold no claim: the record, with its journal, is exactly as they read it. */
#define AS_SEEN (record.state == seen.state && record.owner == seen.owner && record.fence == seen.fence && \
                 ENTRY_IS(seen.entry, seen.entry_by, seen.entry_until))
#define ENTRY_IS(state, by, until) (record.entry == state && record.entry_by == by && record.entry_until == until)

inline read_record() {
  seen.state = record.state; seen.owner = record.owner; seen.fence = record.fence;
  seen.lease_until = record.lease_until; know_entry()
}

inline forget_record() {
  seen.state = NO_RECORD; seen.owner = 0; seen.fence = 0; seen.lease_until = 0;
  seen.entry = NONE; seen.entry_by = 0; seen.entry_until = 0
}

inline know_entry() {
  seen.entry = record.entry; seen.entry_by = record.entry_by; seen.entry_until = record.entry_until
}

/* NONE or DONE: who began it, and until when, does not matter any more. */
inline write_entry(state) { record.entry = state; record.entry_by = 0; record.entry_until = 0 }

inline next_fence() {
  if
  :: newest_fence < LAST_FENCE -> newest_fence++
  :: else
  fi
}

inline write_claim() {
  next_fence();
  record.state = CLAIMED; record.owner = OWNER(me); record.fence = newest_fence; record.lease_until = CLOCK + LEASE
}

/* My claim as the store returned it, its journal included. */
inline hold_claim() {
  my_fence = record.fence; my_lease = record.lease_until;
  forget_record(); know_entry()
}

inline write_outcome(value) {
  promise(an_outcome_is_final, record.state != COMPLETED || record.outcome == value);
  promise(declined_means_it_did_not_happen, value != REJECTION || effects == 0);
  record.state = COMPLETED; record.outcome = value;
  record.lease_until = 0; write_entry(NONE)
}

/* From now on this attempt sends nothing: what it began is cut to now. */
inline cut_entry() {
  if
  :: record.entry == BEGUN && record.entry_until > CLOCK -> record.entry_until = CLOCK
  :: else
  fi
}

inline write_release() {
  RELEASE_KEEPS_OR_DELETES
}
