/* SPDX-License-Identifier: Apache-2.0
 * A purchase as a SPIN model: claim, payment, expiry, late money and owner change, in every order.
 * tests/model/check runs it. A comment names the function or rule of the code that a step stands for.
 *
 * The world:
 * - There is one ticket type with UNITS units, and there are two claims of one unit each.
 * - Claim 0 has the attempts 0 and 1, claim 1 has the attempt 2. Only attempt 0 may be captured wrongly.
 * - The claims belong to two customers. With SAME_CUSTOMER they belong to one.
 * - There are OWNERS owners, one after the other. An old one may live on. The last one does not crash.
 * - With SIMPLE there is no second attempt, cancellation, wrong amount, refused or wanted refund.
 * - With EVENT_CANCELLED the organizer may cancel the event.
 *
 * Abstractions:
 * - There is no clock. A deadline may pass at any moment while it is set.
 * - Whether an attempt is captured is chosen when it is opened. The moment of the capture itself changes
 *   nothing: it is reported at any later moment, by a webhook or by the answer to a verify call.
 * - A check of a failed attempt finds its capture at last (sale_rules::recheck_after), if no webhook does.
 * - A gateway may call an attempt declined at any moment, even one that it captures.
 * - A gateway makes one refund of an attempt, the first or the second. With REFUSED_BUT_MADE it may be the
 *   first after it was given up, also while the second is under way.
 * - A person retries every dead letter.
 * - A gateway call is made after the commit of its row, and it is repeated until it is answered.
 * - A decision that changes nothing is no step: repeated facts (receipts), repeated calls, refusals.
 * - INITIALIZING and PENDING are one state, OPEN. CONFIRMED_LATE does not outlive its decision.
 * - A claim that late money buys again takes the record of the released one.
 * - A batch is a copy of the owner's memory. It waits for the one before; up to AHEAD decisions fill it.
 * - A lost submission looks like a slow one, because the journal repeats it.
 * - An answer shows all that its commit says about claims, payments and orders.
 * Left out: the line, promo codes, partial refunds, blocks, payments whose rows are lost, idempotency keys,
 * reads, the mirror.
 */

#ifndef UNITS
#define UNITS 1
#endif
#ifndef OWNERS
#define OWNERS 2
#endif
#ifndef AHEAD
#define AHEAD 0
#endif
#ifndef REPEATS
#define REPEATS 0
#endif
#define CLAIMS 2
#define ATTEMPTS 3
#define claim_of(a) ((a) / 2)

/* Batches that the ledger refuses are forgotten at once, because it refuses them unread: far fewer states.
 * KEEP_REFUSED keeps them, for a check of its own and for the mutants that accept them. */
#if defined(EPOCH_GUARD_SKIPPED) || defined(SEQUENCE_GUARD_SKIPPED) || defined(FENCED_TAKEN_FOR_COMMIT)
#define KEEP_REFUSED
#endif

#include "books.pml"
#include "commit.pml"

/* -- decisions of domain/sale. `o` is also the number of the owner's memory. */

#define may_decide(o) \
  (serves[o] && !is_forgotten(o) && decided[o] < submitted[o] + (flight[o] == IDLE -> 1 : AHEAD))

/* sale::release */
inline release(o, k) {
  b[o].claim[k] = RELEASED;
  b[o].held--
}

/* sale::confirm_claim */
inline confirm_claim(o, k) {
  b[o].claim[k] = CONFIRMED;
  b[o].held--;
  b[o].sold++
}

/* sale::begin_attempt, and what its customer will do */
inline begin_attempt(o, a, outcome) {
  b[o].pay[a] = OPEN;
  if
  :: b[LEDGER].pay[a] == NONE -> gateway[a] = outcome
  :: else
  fi
}

/* sale::place_order: hold and attempt in one decision */
#define may_place(o, k) (may_decide(o) && b[o].claim[k] == NONE && has_slot(o, k) && is_free(o) && !is_off(o))
inline place_order(o, k, outcome) {
  printf("owner %d: place_order, claim %d (0 stays unpaid, 1 paid, 2 wrong amount: %d)\n", o, k, outcome);
  b[o].claim[k] = CLAIMED;
  b[o].held++;
  begin_attempt(o, 2 * k, outcome);
  append(o)
}

/* sale::open_payment, after the first attempt ended */
#define may_pay_again(o) \
  (may_decide(o) && b[o].claim[0] == CLAIMED && b[o].pay[0] != OPEN && b[o].pay[1] == NONE)
inline open_payment(o, outcome) {
  printf("owner %d: open_payment, attempt 1 (0 stays unpaid, 1 paid: %d)\n", o, outcome);
  begin_attempt(o, 1, outcome);
  append(o)
}

/* sale::cancel_order, sale::withdraw */
#define may_cancel(o, k) (may_decide(o) && is_live(o, k) && !b[o].cancelled[k])
inline cancel_order(o, k) {
  printf("owner %d: cancel_order, claim %d\n", o, k);
  b[o].cancelled[k] = 1;
  if
  :: has_open(o, k) -> b[o].claim[k] = EXPIRING
  :: else -> release(o, k)
  fi;
  append(o)
}

/* sale::cancel_everything, about a claim and about a payment. Refunds go out at any later time (pace). */
#define may_withdraw(o, k) (may_decide(o) && is_off(o) && is_live(o, k) && !b[o].cancelled[k] \
  && (b[o].claim[k] == CLAIMED || !has_open(o, k)))
#define owes_refund(o, a) (may_decide(o) && is_off(o) && b[o].pay[a] == CONFIRMED)

#ifdef EVENT_CANCELLED
inline cancel_event(o) {
  printf("owner %d: cancels the event\n", o);
  b[o].event_cancelled = 1;
  append(o)
}
#endif

/* sale::release_claim again, about a claim that is released: nothing to do */
#ifdef RELEASE_TWICE
#define may_repeat(o, k) (may_decide(o) && b[o].claim[k] == RELEASED && b[o].held > 0)
#else
#define may_repeat(o, k) 0
#endif
inline release_again(o, k) {
  printf("owner %d: release_claim again, claim %d\n", o, k);
  release(o, k);
  append(o)
}

/* sale::end_claims, claims_book::due */
#define is_due(o, k) (may_decide(o) && b[o].claim[k] == CLAIMED)
inline end_claim(o, k) {
  printf("owner %d: deadline of claim %d\n", o, k);
  if
#ifndef EXPIRY_IGNORES_PAYMENT
  :: has_open(o, k) -> b[o].claim[k] = EXPIRING
#endif
  :: else -> release(o, k)
  fi;
  append(o)
}

/* sale::end_claims, claims_book::overdue (verdict_grace); sale::give_up, sale::end_pending */
#define is_over(o, k) (may_decide(o) && (b[o].claim[k] == EXPIRING || (is_live(o, k) && has_open(o, k))))
inline end_without_verdict(o, k) {
  printf("owner %d: no verdict or no page, claim %d\n", o, k);
  for (i : 0 .. ATTEMPTS - 1) {
    if
    :: claim_of(i) == k && b[o].pay[i] == OPEN -> b[o].pay[i] = FAILED
    :: else
    fi
  }
  release(o, k);
  append(o)
}

/* sale::closed: the gateway says declined, closed or unknown. Also sale::unpaid after the claim's end. */
#define may_close(o, a) (may_decide(o) && b[o].pay[a] == OPEN && b[LEDGER].pay[a] != NONE)
inline closed(o, a) {
  printf("owner %d: closed, attempt %d\n", o, a);
  b[o].pay[a] = FAILED;
  if
  :: b[o].claim[claim_of(a)] == EXPIRING -> release(o, claim_of(a))
  :: else
  fi;
  append(o)
}

/* sale::claim_again: the customer still wants it, has no other claim, and a unit is free */
#ifdef CANCELLED_ORDER_SELLS
#define is_given_up(o, k) 0
#else
#define is_given_up(o, k) b[o].cancelled[k]
#endif
#ifdef LATE_MONEY_OVERSELLS
#define may_claim_again(o, k) (b[o].claim[k] == RELEASED && !is_given_up(o, k) && !is_off(o))
#elif defined(LATE_MONEY_IGNORES_SLOT)
#define may_claim_again(o, k) (b[o].claim[k] == RELEASED && !is_given_up(o, k) && is_free(o))
#else
#define may_claim_again(o, k) \
  (b[o].claim[k] == RELEASED && !is_given_up(o, k) && !is_off(o) && has_slot(o, k) && is_free(o))
#endif

/* sale::late_money */
inline late_money(o, a) {
  if
#ifdef LATE_MONEY_KEPT
  :: true -> b[o].pay[a] = CONFIRMED_LATE
#else
  :: is_live(o, claim_of(a)) && !is_given_up(o, claim_of(a)) ->
    b[o].pay[a] = CONFIRMED;
    confirm_claim(o, claim_of(a))
  :: may_claim_again(o, claim_of(a)) ->
    b[o].pay[a] = CONFIRMED;
    b[o].claim[claim_of(a)] = CONFIRMED;
    b[o].sold++
  :: else ->
    b[o].pay[a] = REFUND_PENDING; /* sale::request_refund */
    if
    :: is_live(o, claim_of(a)) && !has_open(o, claim_of(a)) -> release(o, claim_of(a))
    :: else
    fi
#endif
  fi
}

/* sale::paid. Its receipt and the table make a repeated fact change nothing. */
#ifdef CAPTURE_APPLIED_TWICE
#define takes_capture(o, a) (b[o].pay[a] == OPEN || b[o].pay[a] == FAILED || b[o].pay[a] == CONFIRMED)
#elif defined(FAILED_NOT_CHECKED)
#define takes_capture(o, a) (b[o].pay[a] == OPEN)
#else
#define takes_capture(o, a) (b[o].pay[a] == OPEN || b[o].pay[a] == FAILED)
#endif
#define may_be_paid(o, a) \
  (may_decide(o) && gateway[a] != UNPAID && takes_capture(o, a) && b[LEDGER].pay[a] != NONE)
#ifdef AMOUNT_UNCHECKED
#define is_as_quoted(a) 1
#else
#define is_as_quoted(a) (gateway[a] == PAID)
#endif
inline paid(o, a) {
  printf("owner %d: paid, attempt %d\n", o, a);
  if
  :: !is_as_quoted(a) -> b[o].pay[a] = QUARANTINED
  :: b[o].pay[a] == CONFIRMED -> b[o].held--; b[o].sold++ /* only CAPTURE_APPLIED_TWICE */
  :: is_as_quoted(a) && b[o].pay[a] == OPEN && is_live(o, claim_of(a)) && !is_given_up(o, claim_of(a)) ->
    b[o].pay[a] = CONFIRMED;
    confirm_claim(o, claim_of(a))
  :: else -> late_money(o, a)
  fi;
  append(o)
}

/* The gateway has the call about the refund: not before its commit. */
#ifdef CALL_BEFORE_COMMIT
#define is_called(a) 1
#else
#define is_called(a) is_refunding(LEDGER, a)
#endif

/* sale::refund_done. A ticket that another attempt pays stays sold. */
#ifdef SECOND_CAPTURE_TAKES_TICKET
#define other_pays(o, a) 0
#else
#define other_pays(o, a) ((a) < 2 && pays(o, (a) == 0))
#endif
/* The first refund, also one that had been given up and that no other replaces (payment refund_failed). */
#ifdef REFUSED_BUT_MADE
#define is_given_back_late(o, a) (b[o].pay[a] == REFUND_FAILED || b[o].pay[a] == FAILED_AGAIN)
#else
#define is_given_back_late(o, a) 0
#endif
#define may_be_refunded(o, a) \
  (may_decide(o) && is_called(a) && (b[o].pay[a] == REFUND_PENDING || is_given_back_late(o, a)))
#define has_second(o, a) \
  (may_decide(o) && is_pending(o, a) && b[o].pay[a] >= REFUND_AGAIN && b[LEDGER].pay[a] >= REFUND_AGAIN)
#define may_make_second(o, a) (has_second(o, a) && sent_back[a] != 1)
inline refund_done(o, a, which) {
  printf("owner %d: refund_done, attempt %d, its refund %d\n", o, a, which);
  sent_back[a] = which;
  b[o].pay[a] = REFUNDED;
  if
  :: b[o].claim[claim_of(a)] == CONFIRMED && !other_pays(o, a) -> /* sale::return_tickets */
    b[o].claim[claim_of(a)] = REFUNDED;
#ifndef REFUND_KEEPS_TICKET
    b[o].sold--
#endif
  :: else
  fi;
  append(o)
}

/* sale::refund_done about a refund that another one has replaced */
#define may_be_made(o, a) (may_decide(o) && b[o].pay[a] == REFUND_AGAIN && sent_back[a] != 2)
inline first_made(o, a) {
  printf("owner %d: the first refund was made after all, attempt %d\n", o, a);
  sent_back[a] = 1;
  b[o].pay[a] = FIRST_MADE;
  append(o)
}

/* sale::refund_not_processed: refused after all retries */
#define may_be_refused(o, a) \
  (may_decide(o) && b[o].pay[a] == REFUND_PENDING && is_called(a) && !sent_back[a])
inline refund_refused(o, a) {
  printf("owner %d: refund refused, attempt %d\n", o, a);
  b[o].pay[a] = REFUND_FAILED;
  append(o)
}

/* The second is refused because the first was made: sale::made_after_all, if that is known. */
#ifdef REPLACED_REFUND_FORGOTTEN
#define may_refuse_second(o, a) (has_second(o, a) && sent_back[a] != 2 && b[o].pay[a] != FIRST_MADE)
#else
#define may_refuse_second(o, a) (has_second(o, a) && sent_back[a] != 2)
#endif
inline second_refused(o, a) {
  printf("owner %d: second refund refused, attempt %d\n", o, a);
  if
  :: b[o].pay[a] == FIRST_MADE -> refund_done(o, a, 1)
  :: else ->
    sent_back[a] = 1;
    b[o].pay[a] = FAILED_AGAIN;
    append(o)
  fi
}

/* sale::retry_dead_letter */
#define has_letter(o, a) (may_decide(o) && (b[o].pay[a] == QUARANTINED || b[o].pay[a] == REFUND_FAILED))
inline retry_dead_letter(o, a) {
  printf("owner %d: retry_dead_letter, attempt %d\n", o, a);
  b[o].pay[a] = (b[o].pay[a] == QUARANTINED -> REFUND_PENDING : REFUND_AGAIN);
  append(o)
}

/* sale::refund_order, unless another refund of the order is under way */
#define may_give_back(o, a) (may_decide(o) && refunded_claim == claim_of(a) && b[o].pay[a] == CONFIRMED \
  && !((a) < 2 && is_pending(o, (a) == 0)))
inline refund_order(o, a) {
  printf("owner %d: refund_order, attempt %d\n", o, a);
  b[o].pay[a] = REFUND_PENDING;
  append(o)
}

/* -- processes */

#ifdef EVENT_CANCELLED
#define STEPS_OF_END(k) :: d_step { may_withdraw(o, k) -> cancel_order(o, k) }
#define STEPS_OF_DEBT(a) :: d_step { owes_refund(o, a) -> refund_order(o, a) }
#else
#define STEPS_OF_END(k)
#define STEPS_OF_DEBT(a)
#endif

#ifdef REFUSED_BUT_MADE
#define STEPS_OF_REFUSED(a) \
  :: d_step { may_be_made(o, a) -> first_made(o, a) } \
  :: d_step { may_refuse_second(o, a) -> second_refused(o, a) }
#else
#define STEPS_OF_REFUSED(a)
#endif

#define STEPS_OF_CLAIM(k) \
  :: d_step { may_place(o, k) -> place_order(o, k, UNPAID) } \
  :: d_step { may_place(o, k) -> place_order(o, k, PAID) } \
  :: d_step { is_due(o, k) -> end_claim(o, k) } \
  :: d_step { is_over(o, k) -> end_without_verdict(o, k) } \
  :: d_step { may_repeat(o, k) -> release_again(o, k) } \
  STEPS_OF_END(k)

#define STEPS_OF_ATTEMPT(a) \
  :: d_step { may_close(o, a) -> closed(o, a) } \
  :: d_step { may_be_paid(o, a) -> paid(o, a) } \
  :: d_step { may_be_refunded(o, a) -> refund_done(o, a, 1) } \
  STEPS_OF_DEBT(a)

#define STEPS_OF_TROUBLE(a) \
  :: d_step { may_be_refused(o, a) -> refund_refused(o, a) } \
  :: d_step { may_make_second(o, a) -> refund_done(o, a, 2) } \
  STEPS_OF_REFUSED(a) \
  :: d_step { has_letter(o, a) -> retry_dead_letter(o, a) } \
  :: d_step { may_give_back(o, a) -> refund_order(o, a) }

proctype owner(byte o) {
end:
  do
  STEPS_OF_CLAIM(0)
  STEPS_OF_CLAIM(1)
  STEPS_OF_ATTEMPT(0)
  STEPS_OF_ATTEMPT(2)
#ifndef SIMPLE
  STEPS_OF_ATTEMPT(1)
  STEPS_OF_TROUBLE(0)
  STEPS_OF_TROUBLE(1)
  STEPS_OF_TROUBLE(2)
  :: d_step { may_place(o, 0) -> place_order(o, 0, WRONG) }
  :: d_step { may_pay_again(o) -> open_payment(o, UNPAID) }
  :: d_step { may_pay_again(o) -> open_payment(o, PAID) }
  :: d_step { may_cancel(o, 0) -> cancel_order(o, 0) }
#endif
#ifdef EVENT_CANCELLED
  :: d_step { may_decide(o) && !is_off(o) -> cancel_event(o) }
#endif
  :: d_step { serves[o] && flight[o] == APPLIED -> settled(o) }
#ifdef FENCED_TAKEN_FOR_COMMIT
  :: d_step { serves[o] && flight[o] == REFUSED -> settled(o) }
#endif
#ifdef UNKNOWN_COMMIT_TRUSTED
  :: d_step { serves[o] && flight[o] == SENT -> settled(o) } /* and the batch is lost */
#endif
  :: d_step { serves[o] && flight[o] == REFUSED -> printf("owner %d: is fenced\n", o); lose_memory(o) }
  :: d_step { serves[o] && (flight[o] == SENT || flight[o] == APPLIED) && repeats > 0 -> repeat(o) }
  :: d_step { serves[o] && is_forgotten(o) && flight[o] == IDLE -> flight[o] = SENT } /* any decision */
  :: d_step { serves[o] && takeovers > 0 -> printf("owner %d: crashes\n", o); lose_memory(o) }
  :: d_step { o == ledger_epoch && takeovers > 0 -> load(o) }
  od
}

proctype ledger() {
  byte ignored;
end:
  do
  :: d_step { flight[0] == SENT -> arrive(0) }
#if OWNERS > 1
  :: d_step { flight[1] == SENT -> arrive(1) }
#endif
#if OWNERS > 2
  :: d_step { flight[2] == SENT -> arrive(2) }
#endif
  :: d_step { original_epoch > 0 ->
      printf("ledger: the original of a repeated batch arrives\n");
      apply(ORIGINAL, original_epoch, original_from, original_to, ignored);
      ignored = 0;
      drop_original() }
  od
}

init {
  atomic {
    serves[0] = 1;
    if
    :: takeovers = 0
    :: takeovers = OWNERS - 1
    fi;
    if
    :: true
#ifndef SIMPLE
    :: refunded_claim = 0
#endif
    fi;
    for (i : 0 .. OWNERS - 1) { run owner(i) }
    run ledger()
  }
  timeout -> d_step { check_end() }
}
