mtype = { CLAIM, CLAIM_BLINDLY, LOOK, TAKE_OVER, LEAVE_IN_DOUBT, RESOLVE };
mtype = { ASK_AGAIN, BEGIN, SEND, SEND_LATE, WAIT, JOURNAL_DONE };
mtype = { COMMIT_ALL, SETTLE_COMMIT };
mtype = { COMPLETE, RELEASE, DOUBT, ENDED };

inline go(next) { step = next; repeated = 0 }

inline finish() {
  step = ENDED; repeated = 0; verdict = 0; answer = 0; my_fence = 0; my_lease = 0; ahead = 0; forget_record()
}

/* The store has applied the write. Its reply may be lost: then the SDK sends the write again, once. */
#define REPLY_LOST !repeated -> repeated = 1; printf("attempt %d: the reply is lost, the SDK repeats the write\n", me)

inline write_begun() {
#ifdef SETTLING_FROM_BEGIN
  entry_begun_at = CLOCK;
#endif
  record.entry = BEGUN; record.entry_by = me; record.entry_until = my_lease
}

/* Asks the provider, by the token. */
inline ask(until) {
  if
  :: effects > 0 -> verdict = FOUND
  :: effects == 0 && ABSENT_COUNTS(until) -> verdict = ABSENT
  :: effects == 0 && !ABSENT_COUNTS(until) -> verdict = UNKNOWN
  :: OUT_OF_REACH -> verdict = UNKNOWN
  fi
}

#include "ending.pml"
#if defined(PERFORM)
#include "perform.pml"
#include "effect.pml"
#elif defined(OWN_RECONCILE)
#include "reconcile.pml"
#include "effect.pml"
#else
#include "commit.pml"
#endif
#include "claim.pml"

byte arrived;                 /* attempts are alike, so they come in the order of their numbers */

inline arrive() {
  if
  :: arrived == me - 1 ->
      arrived++;
      if
      :: ahead = 0
      :: SKEW > 0 -> ahead = SKEW; printf("attempt %d has a clock that is %d ahead\n", me, SKEW)
      fi
  :: else
  fi
}

/* One delivery of the request. Each step is one write, one question or one request. */
proctype Attempt(byte me) {
  mtype step = CLAIM;
  byte ahead;                 /* of the true time */
  byte my_fence;
  byte answer;
  mtype verdict;
  bit repeated;

  do
#if defined(AT_COMMIT)
  :: atomic { step == CLAIM && arrived >= me - 1 -> arrive(); claim_and_commit() }
#else
  :: atomic { step == CLAIM && arrived >= me - 1 -> arrive(); claim() }
  :: atomic { step == CLAIM_BLINDLY -> claim_blindly() }
  :: atomic { step == LOOK -> look() }
  :: atomic { step == TAKE_OVER -> take_over() }
  :: atomic { step == LEAVE_IN_DOUBT -> leave_in_doubt() }
  :: atomic { step == COMPLETE -> complete() }
  :: atomic { step == RELEASE -> release() }
  :: atomic { step == DOUBT -> doubt() }
#endif
#if defined(PERFORM)
  :: atomic { step == ASK_AGAIN -> ask_again() }
  :: atomic { step == BEGIN -> begin_effect() }
  :: atomic { step == JOURNAL_DONE -> journal_done() }
#endif
#if defined(OWN_RECONCILE)
  :: atomic { step == RESOLVE -> resolve() }
#endif
#if defined(PERFORM) || defined(OWN_RECONCILE)
  :: atomic { step == SEND -> check_and_send() }
  :: atomic { step == SEND_LATE -> send() }
  :: atomic { step == WAIT -> wait() }
#endif
#if defined(COMMIT)
  :: atomic { step == COMMIT_ALL -> commit_all() }
  :: atomic { step == SETTLE_COMMIT -> settle_commit() }
#endif
  od
}
