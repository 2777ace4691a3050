/*
 * The protocol of ONE record: attempts, a sweeper, a provider, a network, and clocks that differ.
 * README.md beside this file says what is covered, how to run it, and tells the counterexamples as stories.
 *
 *   bounds.pml      how many attempts, how long a lease, how late a request
 *   record.pml      the record, and the conditions of every write
 *   rules.pml       the rules, and what the protocol does when one is taken out
 *   promises.pml    what must always be true: the assertions
 *   attempt.pml     one delivery of the request: claim, take over, run, end
 *     claim.pml       the claim and the take-over
 *     perform.pml     a handler whose effect goes through the journal
 *     reconcile.pml   a handler whose effect is outside the journal, with a reconcile of its own
 *     effect.pml      the request to the provider, of both
 *     commit.pml      a handler whose effect is a transaction with the outcome
 *     ending.pml      complete, release, in-doubt, refused
 *   sweeper.pml     the scheduled pass over what was left
 *   world.pml       network, provider, time, retention
 *   late-copies.pml a write that arrives long after the SDK has repeated it
 *
 * A process may stop before each of its steps, for a while or for ever. So nothing here is called a crash: a crash is
 * an attempt that never takes its next step, and a zombie is one that takes it late.
 */
#include "bounds.pml"
#include "rules.pml"
#include "record.pml"
#include "promises.pml"
#include "late-copies.pml"
#include "world.pml"
#include "attempt.pml"
#include "sweeper.pml"

init {
  atomic {
    byte number = 1;
    do
    :: number <= ATTEMPTS -> run Attempt(number); number++
    :: else -> break
    od;
    number = 0;
#ifdef SWEEPER
    run Sweeper();
#endif
#ifdef LATE_COPIES
    run LateCopies();
#endif
    run Retention();
    run Network();
    run Clock()
  }
}
