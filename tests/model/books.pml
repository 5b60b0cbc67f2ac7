/* SPDX-License-Identifier: Apache-2.0
 * What an owner decides about, as a table of states, and what must hold in every committed state. */

/* -- domain/model/states.hpp. Every rule leads to a greater number. */

#define NONE 0

#define CLAIMED 1 /* claim_status */
#define EXPIRING 2
#define RELEASED 3
#define CONFIRMED 4
#define REFUNDED 11

#define OPEN 1 /* payment_status, also with CONFIRMED and REFUNDED */
#define FAILED 2
#define QUARANTINED 3
#define REFUND_PENDING 5
#define REFUND_FAILED 6
#define REFUND_AGAIN 7 /* REFUND_PENDING with a second refund row */
#define FIRST_MADE 8 /* the same, and a letter says that the first refund was made after all */
#define FAILED_AGAIN 9 /* REFUND_FAILED with a second refund row */
#define CONFIRMED_LATE 10 /* only LATE_MONEY_KEPT: it does not outlive its decision */

/* What an owner decides about. */
typedef books {
  byte claim[CLAIMS];
  byte pay[ATTEMPTS];
  bit cancelled[CLAIMS]; /* order_status::cancelled; also failed, by a cancelled event */
#ifdef EVENT_CANCELLED
  bit event_cancelled;
#endif
  byte held; /* ticket_type_row */
  byte sold
};

/* The owners' memories, their batches in flight, the ledger, the original of a repeated batch, and what
 * customers were answered. */
#define MEMORY(o) (o)
#define FLIGHT(o) (OWNERS + (o))
#define LEDGER (2 * OWNERS)
#define ORIGINAL (2 * OWNERS + 1)
#define TOLD (2 * OWNERS + 2)
books b[2 * OWNERS + 3];

/* -- gateway and organizer */

#define UNPAID 0
#define PAID 1
#define WRONG 2 /* captured, with another amount */
byte gateway[ATTEMPTS];
byte sent_back[ATTEMPTS]; /* which refund the gateway made; 0: none */
byte refunded_claim = CLAIMS; /* the claim that the organizer refunds; CLAIMS: none */

/* Of loops inside of one step. A breadth-first search allows nothing hidden. */
#ifdef BREADTH_FIRST
byte i;
#else
hidden byte i;
#endif

/* -- the books */

#define is_live(n, k) (b[n].claim[k] == CLAIMED || b[n].claim[k] == EXPIRING)
#define stands(n, k) (is_live(n, k) || b[n].claim[k] == CONFIRMED)
#define is_free(n) (b[n].held + b[n].sold < UNITS)
#define has_open(n, k) \
  (k == 0 -> (b[n].pay[0] == OPEN || b[n].pay[1] == OPEN) : b[n].pay[2] == OPEN)
#define is_pending(n, a) \
  (b[n].pay[a] == REFUND_PENDING || b[n].pay[a] == REFUND_AGAIN || b[n].pay[a] == FIRST_MADE)
#define is_refunding(n, a) (b[n].pay[a] >= REFUND_PENDING && b[n].pay[a] <= FAILED_AGAIN)
#ifdef EVENT_CANCELLED
#define is_off(n) b[n].event_cancelled
#else
#define is_off(n) 0
#endif
/* sale_refunds.cpp, pays() */
#define pays(n, a) (gateway[a] == PAID && (b[n].pay[a] == CONFIRMED || is_refunding(n, a)))

/* claims_book::free_slot with one claim per customer */
#ifdef SAME_CUSTOMER
#define has_slot(n, k) (!stands(n, 1 - (k)))
#else
#define has_slot(n, k) 1
#endif

inline copy(from, to) {
  for (i : 0 .. CLAIMS - 1) {
    b[to].claim[i] = b[from].claim[i];
    b[to].cancelled[i] = b[from].cancelled[i]
  }
  for (i : 0 .. ATTEMPTS - 1) { b[to].pay[i] = b[from].pay[i] }
#ifdef EVENT_CANCELLED
  b[to].event_cancelled = b[from].event_cancelled;
#endif
  b[to].held = b[from].held;
  b[to].sold = b[from].sold
}

/* Equal situations are equal states only if they forget what no longer counts. */
inline clear(n) {
  for (i : 0 .. CLAIMS - 1) { b[n].claim[i] = 0; b[n].cancelled[i] = 0 }
  for (i : 0 .. ATTEMPTS - 1) { b[n].pay[i] = 0 }
#ifdef EVENT_CANCELLED
  b[n].event_cancelled = 0;
#endif
  b[n].held = 0;
  b[n].sold = 0
}

/* Nothing in the books `old` is taken back in the books `new`. */
inline check_kept(old, new) {
  for (i : 0 .. CLAIMS - 1) {
    assert(b[old].claim[i] <= b[new].claim[i] && b[old].cancelled[i] <= b[new].cancelled[i])
  }
  for (i : 0 .. ATTEMPTS - 1) { assert(b[old].pay[i] <= b[new].pay[i]) }
}

/* The invariants of docs/glossary.md, on every committed state. */
inline check_ledger() {
  assert(b[LEDGER].held + b[LEDGER].sold <= UNITS); /* I1 */
  assert(b[LEDGER].held == is_live(LEDGER, 0) + is_live(LEDGER, 1)); /* I1 */
  assert(b[LEDGER].sold == (b[LEDGER].claim[0] == CONFIRMED) + (b[LEDGER].claim[1] == CONFIRMED)); /* I1 */
  assert(!stands(LEDGER, 0) || has_slot(LEDGER, 0)); /* I2 */
  for (i : 0 .. ATTEMPTS - 1) {
    /* I3: money that is kept has its ticket, and money that was sent back has none. */
    assert(b[LEDGER].pay[i] != CONFIRMED
           || (gateway[i] == PAID && b[LEDGER].claim[claim_of(i)] == CONFIRMED));
    assert(!sent_back[i] || is_refunding(LEDGER, i) || b[LEDGER].pay[i] == REFUNDED);
    /* claim_trigger::deadline_with_payment: an open attempt keeps its stock. */
    assert(b[LEDGER].pay[i] != OPEN || b[LEDGER].claim[claim_of(i)] != RELEASED)
  }
  /* sale::is_given_up: a cancelled order never sells. */
  for (i : 0 .. CLAIMS - 1) { assert(!b[LEDGER].cancelled[i] || b[LEDGER].claim[i] < CONFIRMED) }
  /* I3: a ticket has its money, and only once. */
  assert(b[LEDGER].pay[0] != CONFIRMED || b[LEDGER].pay[1] != CONFIRMED);
  assert(b[LEDGER].claim[0] != CONFIRMED || pays(LEDGER, 0) || pays(LEDGER, 1));
  assert(b[LEDGER].claim[1] != CONFIRMED || pays(LEDGER, 2))
}

/* Nothing can happen any more. */
inline check_end() {
  check_kept(TOLD, LEDGER); /* I7 */
  assert(b[LEDGER].held == 0); /* I13 */
  for (i : 0 .. ATTEMPTS - 1) {
    assert(b[LEDGER].pay[i] != OPEN); /* I13 */
    /* I3: every capture is a ticket or a refund. */
    assert(gateway[i] == UNPAID || b[LEDGER].pay[i] == NONE || b[LEDGER].pay[i] == CONFIRMED
           || (b[LEDGER].pay[i] == REFUNDED && sent_back[i]));
    assert(!is_off(LEDGER) || b[LEDGER].pay[i] != CONFIRMED) /* sale::cancel_everything */
  }
}
