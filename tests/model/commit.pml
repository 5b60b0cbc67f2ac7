/* SPDX-License-Identifier: Apache-2.0
 * Ledger, journal, and owners that follow each other: docs/design/commit-protocol.md. */

/* -- owners and their journals. An owner's epoch is its number, plus 1. */

bit serves[OWNERS];
byte committed[OWNERS]; /* journal::committed_, the from_seq of the batch in flight */
byte submitted[OWNERS]; /* its to_seq */
byte decided[OWNERS]; /* journal::decided_ */

#define IDLE 0
#define SENT 1
#define APPLIED 2 /* committed or already_applied; the answer is under way */
#define REFUSED 3 /* fenced or out_of_order; the answer is under way */
byte flight[OWNERS];

byte ledger_epoch = 1;
byte ledger_seq; /* applied_seq */
byte takeovers; /* how many may still come */
byte repeats = REPEATS; /* how many batches may still be repeated */
byte original_epoch, original_from, original_to; /* epoch 0: none under way */

/* -- ledger: memory_ledger::apply, and the same guard in SQL */

inline drop_original() {
  original_epoch = 0;
  original_from = 0;
  original_to = 0;
  clear(ORIGINAL)
}

inline apply(n, epoch, from, to, result) {
  if
#ifndef EPOCH_GUARD_SKIPPED
  :: epoch != ledger_epoch -> result = REFUSED /* fenced */
#endif
#ifndef SEQUENCE_GUARD_SKIPPED
  :: epoch == ledger_epoch && ledger_seq != from ->
    result = (ledger_seq >= to -> APPLIED : REFUSED) /* already_applied, out_of_order */
#endif
  :: else ->
    assert(epoch == ledger_epoch); /* I17 */
    check_kept(LEDGER, n); /* I10 */
    copy(n, LEDGER);
    ledger_seq = to;
    result = APPLIED;
#ifndef KEEP_REFUSED
    drop_original(); /* it is already_applied */
#endif
    check_ledger()
  fi
}

/* -- journal */

inline submit_next(o) {
  copy(MEMORY(o), FLIGHT(o));
  submitted[o] = decided[o];
  flight[o] = SENT
}

/* Replies leave: I7. Without ANSWERS they are compared with the ledger at once. That is as strong, because
 * no commit takes anything back (I10). With ANSWERS they are remembered for the next load and the end. */
#define later(x, y) ((x) > (y) -> (x) : (y))
inline reveal(n) {
#ifndef ANSWERS
  check_kept(n, LEDGER);
#else
  for (i : 0 .. CLAIMS - 1) {
    b[TOLD].claim[i] = later(b[TOLD].claim[i], b[n].claim[i]);
    b[TOLD].cancelled[i] = later(b[TOLD].cancelled[i], b[n].cancelled[i])
  }
  for (i : 0 .. ATTEMPTS - 1) { b[TOLD].pay[i] = later(b[TOLD].pay[i], b[n].pay[i]) }
#endif
}

/* journal::append, at the end of every decision */
inline append(o) {
  decided[o]++;
#ifdef ANSWER_BEFORE_COMMIT
  reveal(MEMORY(o));
#endif
  if
  :: flight[o] == IDLE -> submit_next(o)
  :: else
  fi
}

/* journal::settled: committed */
inline settled(o) {
  printf("owner %d: its batch is committed\n", o);
  committed[o] = submitted[o];
  reveal(FLIGHT(o));
  clear(FLIGHT(o));
  flight[o] = IDLE;
  if
  :: decided[o] > submitted[o] -> submit_next(o)
  :: else
  fi
}

/* journal::timer_fired: the same batch again. Its original may still arrive. */
inline repeat(o) {
  printf("owner %d: no answer, it repeats its batch\n", o);
  repeats--;
#ifdef KEEP_REFUSED
#define is_worth_it(o) 1
#else
#define is_worth_it(o) (flight[o] == SENT)
#endif
  if
  :: is_worth_it(o) ->
    copy(FLIGHT(o), ORIGINAL);
    original_epoch = o + 1;
    original_from = committed[o];
    original_to = submitted[o]
  :: else
  fi;
  flight[o] = SENT
}

/* The owner crashed, or event_state::reload after fencing. A batch under way may still arrive. */
inline lose_memory(o) {
  serves[o] = 0;
  clear(MEMORY(o));
  decided[o] = submitted[o];
  if
  :: flight[o] == SENT
  :: else -> flight[o] = IDLE; clear(FLIGHT(o)); committed[o] = 0; submitted[o] = 0; decided[o] = 0
  fi
}

inline arrive(o) {
  printf("ledger: the batch of owner %d arrives\n", o);
  apply(FLIGHT(o), o + 1, committed[o], submitted[o], flight[o]);
  if
  :: !serves[o] -> lose_memory(o)
  :: else
  fi
}

#define is_old(o) (o + 1 < ledger_epoch)
#ifdef KEEP_REFUSED
#define is_forgotten(o) 0
#else
#define is_forgotten(o) is_old(o)
#endif

/* ledger_port::acquire, event_state::serve. The last owner crashed, or it is frozen and its lease ended. */
inline load(o) {
  printf("owner %d: loads\n", o);
  check_kept(TOLD, LEDGER); /* I7 */
  takeovers--;
  ledger_epoch = o + 1;
  serves[o] = 1;
  copy(LEDGER, MEMORY(o));
#ifdef RELOAD_FORGETS_SOLD
  b[MEMORY(o)].sold = 0;
#endif
  committed[o] = ledger_seq;
  submitted[o] = ledger_seq;
  decided[o] = ledger_seq;
#ifndef KEEP_REFUSED
  clear(MEMORY(o - 1));
  clear(FLIGHT(o - 1));
  committed[o - 1] = 0;
  submitted[o - 1] = 0;
  decided[o - 1] = 0;
  drop_original()
#endif
}
