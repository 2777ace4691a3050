/*
 * The rules, numbered as in README.md, and the other conditions of the protocol. Each is a word that the steps use, and
 * has a macro that takes it out.
 */

/* Rule 1, settling: absent counts only when the lease of the attempt that began the effect ended longer ago than a
 * request can be on its way. Earlier it is unknown. */
#if defined(WITHOUT_SETTLING)
#define ABSENT_COUNTS(until) true
#elif defined(SETTLING_FROM_BEGIN)
byte entry_begun_at;
#define ABSENT_COUNTS(until) (CLOCK > entry_begun_at + SKEW_ALLOWANCE + SETTLE_AFTER)
#else
#define ABSENT_COUNTS(until) (CLOCK > until + SKEW_ALLOWANCE + SETTLE_AFTER)
#endif

/* Rule 2, own lease first: right before it sends, an attempt compares its clock with its lease. Where the effect is not
 * in the journal, nobody checks: there Lambda's deadline ends the process, no later than the lease. */
#if defined(WITHOUT_OWN_LEASE_CHECK)
#define MAY_SEND true
#else
#define MAY_SEND (CLOCK <= my_lease)
#endif

/* The window that no client can close: a process that freezes between this check and its send. */
#if defined(FREEZES_BEFORE_SEND)
#define FREEZES true
#else
#define FREEZES false
#endif

/* Rule 3, no success on an unknown commit: a lost reply is settled before anyone is told anything. */
#if defined(WITHOUT_SETTLED_COMMIT)
#define SUCCESS_ON_UNKNOWN true
#else
#define SUCCESS_ON_UNKNOWN false
#endif

/* Rule 4, release knows what may have happened: a throw holds where the effect is outside the journal. */
#if defined(WITHOUT_HOLD_ON_THROW)
#define THROW_HOLDS false
#else
#define THROW_HOLDS true
#endif

/* The same for an effect in the journal: a throw releases, but not while the effect's run is still pending. */
#if defined(WITHOUT_HOLD_WHILE_PENDING)
#define RELEASES_WHILE_PENDING true
#else
#define RELEASES_WHILE_PENDING false
#endif

/* Rule 5, the journal only moves forward: each of its writes replaces exactly the text that the writer knows. */
#if defined(WITHOUT_FORWARD_ONLY)
#define JOURNAL_IS(state, by, until) true
#else
#define JOURNAL_IS(state, by, until) ENTRY_IS(state, by, until)
#endif

/* Rule 6, no outcome over an open effect: the record becomes in-doubt instead. */
#if defined(WITHOUT_OPEN_EFFECT_RULE)
#define OUTCOME_BARRED false
#else
#define OUTCOME_BARRED (seen.entry == BEGUN)
#endif

/* Rule 7, absent is not written down. Where absent has settled this is a choice; where nothing settles, because the
 * provider has keys, it is what keeps rule 6 true. */
#if defined(ABSENT_WRITTEN_DOWN)
#define ENTRY_AFTER_ABSENT NONE
#else
#define ENTRY_AFTER_ABSENT BEGUN
#endif

/* Rule 8: a released record with an open effect stays in the sweep index. */
#if defined(WITHOUT_OPEN_RELEASED_IN_INDEX)
#define OPEN_RELEASED false
#else
#define OPEN_RELEASED (record.state == RELEASED && record.entry == BEGUN)
#endif
#define IN_SWEEP_INDEX (LAPSED || record.state == IN_DOUBT || OPEN_RELEASED)

/* Rule 9: in-doubt does not expire. */
#if defined(WITHOUT_DOUBT_KEPT)
#define EXPIRES (record.state == IN_DOUBT)
#else
#define EXPIRES false
#endif

/* The owner is fresh for every attempt, never the request id, which a retry repeats. */
#if defined(OWNER_IS_REQUEST_ID)
#define OWNER(attempt) 1
#else
#define OWNER(attempt) attempt
#endif

/* Every write of a claim's owner is conditioned on owner and fence. */
#if defined(WITHOUT_OWNER_AND_FENCE)
#define IS_MINE true
#else
#define IS_MINE (record.owner == OWNER(me) && record.fence == my_fence)
#endif

/* The claim is one conditional write, not a read and then a write. */
#if defined(READ_THEN_WRITE)
#define READS_FIRST true
#else
#define READS_FIRST false
#endif

/* Release is an update, so journal and fence survive. */
#if defined(DELETE_ON_RELEASE)
#define RELEASE_KEEPS_OR_DELETES record.state = NO_RECORD; record.owner = 0; record.lease_until = 0; write_entry(NONE)
#else
#define RELEASE_KEEPS_OR_DELETES record.state = RELEASED; record.lease_until = 0; cut_entry()
#endif
