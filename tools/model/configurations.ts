import { breaks, type Configuration, holds } from './configuration.ts';

/** The protocol as it is: nothing breaks. */
const whole: readonly Configuration[] = [
  holds('journal', 'PERFORM SWEEPER LATE_COPIES'),
  holds('journal-with-keys', 'PERFORM SWEEPER IDEMPOTENCY_KEYS FREEZES_BEFORE_SEND'),
  holds(
    'keys-need-no-settling',
    'PERFORM SWEEPER IDEMPOTENCY_KEYS FREEZES_BEFORE_SEND SETTLE_AFTER=0 DECLINES',
  ),
  holds('journal-three-attempts', 'PERFORM ATTEMPTS=3'),
  holds('declines', 'PERFORM SWEEPER DECLINES'),
  holds('every-effect-decided', 'PERFORM SWEEPER SWEEPS_EVERY_TICK'),
  holds('absent-written-down', 'PERFORM SWEEPER DECLINES ABSENT_WRITTEN_DOWN', { rule: 7 }),
  holds('own-reconcile', 'OWN_RECONCILE SWEEPER'),
  holds('own-reconcile-three-attempts', 'OWN_RECONCILE ATTEMPTS=3'),
  holds('commit', 'COMMIT SWEEPER ATTEMPTS=3'),
  // one step for each attempt: there is little to interleave
  holds('at-commit', 'AT_COMMIT ATTEMPTS=3', { atLeastStates: 8 }),
];

/** One rule is taken out, and the promise that it keeps is broken. */
const withoutOne: readonly Configuration[] = [
  breaks('no-settling', 'PERFORM WITHOUT_SETTLING', 'at_most_one_effect', 1),
  breaks('settling-from-begin', 'PERFORM SETTLING_FROM_BEGIN', 'at_most_one_effect', 1),
  breaks('own-reconcile-no-settling', 'OWN_RECONCILE WITHOUT_SETTLING', 'at_most_one_effect', 1),
  breaks('no-own-lease-check', 'PERFORM WITHOUT_OWN_LEASE_CHECK', 'at_most_one_effect', 2),
  breaks('success-on-unknown-commit', 'COMMIT WITHOUT_SETTLED_COMMIT', 'success_means_it_happened', 3),
  breaks('release-on-throw', 'OWN_RECONCILE WITHOUT_HOLD_ON_THROW', 'at_most_one_effect', 4),
  breaks('release-while-pending', 'PERFORM WITHOUT_HOLD_WHILE_PENDING', 'at_most_one_effect', 4),
  breaks('journal-goes-back', 'PERFORM LATE_COPIES WITHOUT_FORWARD_ONLY', 'the_journal_never_goes_back', 5),
  breaks(
    'outcome-over-open-effect',
    'PERFORM DECLINES WITHOUT_OPEN_EFFECT_RULE',
    'declined_means_it_did_not_happen',
    6,
  ),
  breaks(
    'absent-written-down-with-keys',
    'PERFORM SWEEPER IDEMPOTENCY_KEYS SETTLE_AFTER=0 DECLINES ABSENT_WRITTEN_DOWN',
    'declined_means_it_did_not_happen',
    7,
  ),
  breaks(
    'open-effect-not-swept',
    'PERFORM SWEEPER SWEEPS_EVERY_TICK WITHOUT_OPEN_RELEASED_IN_INDEX',
    'every_effect_gets_decided',
    8,
  ),
  breaks('in-doubt-expires', 'PERFORM SWEEPER WITHOUT_DOUBT_KEPT', 'at_most_one_effect', 9),
  breaks('no-skew-allowance', 'PERFORM SKEW_ALLOWANCE=0', 'at_most_one_effect'),
  breaks('no-owner-and-fence', 'PERFORM ATTEMPTS=3 WITHOUT_OWNER_AND_FENCE', 'at_most_one_effect'),
  breaks('read-then-write', 'PERFORM READ_THEN_WRITE', 'at_most_one_effect'),
  breaks('delete-on-release', 'PERFORM DELETE_ON_RELEASE', 'at_most_one_effect'),
  breaks('owner-is-request-id', 'PERFORM ATTEMPTS=3 OWNER_IS_REQUEST_ID', 'at_most_one_effect'),
];

/** What no rule prevents, so the docs say it. */
const limits: readonly Configuration[] = [
  breaks('frozen-before-send', 'PERFORM FREEZES_BEFORE_SEND', 'at_most_one_effect'),
  breaks('declines-after-its-effect', 'PERFORM DECLINES_OVER_DONE', 'declined_means_it_did_not_happen'),
];

/** In the order of the table. */
export const configurations: readonly Configuration[] = [...whole, ...withoutOne, ...limits];
