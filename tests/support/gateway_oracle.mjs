// SPDX-License-Identifier: Apache-2.0
// Checks I3 and I4 with two witnesses: the ledger of a gateway stand-in and FairQueue's rows. Pure: rows in,
// sentences out. Shares only the names of statuses with the server.
import { capturedByReference, pendingRefunds, readLedger, refundedByReference } from './gateway_ledger.mjs';

/** Statuses of domain/model/states.hpp by number, for rows of a database. */
export const payment_statuses = [
  'INITIALIZING',
  'PENDING',
  'CONFIRMED',
  'FAILED',
  'QUARANTINED',
  'CONFIRMED_LATE',
  'REFUND_PENDING',
  'REFUNDED',
  'PARTIALLY_REFUNDED',
  'REFUND_FAILED',
];
export const claim_statuses = ['CLAIMED', 'EXPIRING', 'CONFIRMED', 'RELEASED', 'REFUNDED'];

/** Statuses with captured money. */
const with_money = new Set([
  'CONFIRMED',
  'CONFIRMED_LATE',
  'REFUND_PENDING',
  'REFUNDED',
  'PARTIALLY_REFUNDED',
  'REFUND_FAILED',
]);

/** Unfinished statuses; no contradiction while a sale runs. */
const in_flight = new Set([
  'INITIALIZING',
  'PENDING',
  'QUARANTINED',
  'CONFIRMED_LATE',
  'REFUND_PENDING',
  'REFUND_FAILED',
]);

const named = (names, status) => (typeof status === 'number' ? names[status] : String(status).toUpperCase());
const same_currency = (a, b) => a === undefined || b === undefined || a.toUpperCase() === b.toUpperCase();
const nothing = { amount: 0, currency: undefined, count: 0 };

/** Contradictions of one reference's payment. */
function judge_payment(payment, claim, seen) {
  const found = [];
  const { reference, status, currency } = payment;
  const { captured, refunded, pending, is_settled } = seen;
  const say = (text) => found.push(`${reference}: ${text}`);
  const kept = captured.amount - refunded.amount;
  const has_ticket = claim?.status === 'CONFIRMED';
  const unit = captured.currency ?? currency;

  if (with_money.has(status) && captured.count === 0) say(`${status} without a capture at the gateway`);
  if (payment.captured > 0 && payment.captured !== captured.amount)
    say(`FairQueue says ${payment.captured} were captured, the gateway ${captured.amount}`);
  if (with_money.has(status) && !(payment.captured > 0) && captured.amount > 0)
    say(`${status}, but FairQueue says nothing was captured`);
  const quoted = payment.amount + (payment.tax ?? 0);
  if (status === 'CONFIRMED' && captured.count > 0 && captured.amount !== quoted)
    say(`confirmed, though ${captured.amount} were captured and ${quoted} quoted`);
  if (with_money.has(status) && captured.count > 0 && !same_currency(captured.currency, currency))
    say(`captured in ${captured.currency}, quoted in ${currency}`);

  if (payment.refunded > refunded.amount)
    say(`FairQueue says ${payment.refunded} were refunded, the gateway only ${refunded.amount}`);
  if (is_settled && payment.refunded < refunded.amount)
    say(`${refunded.amount} were refunded at the gateway, FairQueue says ${payment.refunded} (${status})`);
  if (status === 'REFUNDED' && captured.count > 0 && kept > 0)
    say(`REFUNDED, but the gateway still keeps ${kept} ${unit}`);
  if (
    status === 'PARTIALLY_REFUNDED' &&
    captured.count > 0 &&
    (refunded.amount === 0 || (is_settled && kept <= 0))
  )
    say(`PARTIALLY_REFUNDED, but ${refunded.amount} of ${captured.amount} were refunded`);

  if (status === 'CONFIRMED' && !has_ticket) say(`CONFIRMED, but its claim is ${claim?.status ?? 'missing'}`);
  if (!is_settled) return found; // the rest may be in flight, or have changed between the reads of rows and ledger

  if (in_flight.has(status)) say(`still ${status} when everything should be over`);
  if (pending > 0) say(`a refund of ${pending} is still pending at the gateway`);
  if (kept > pending && !has_ticket)
    say(
      `captured ${kept - pending} ${unit} with neither ticket nor refund (${status}, claim ${claim?.status ?? 'missing'})`,
    );
  return found;
}

/** Contradictions of one claim: paid exactly once, with the value of its items. */
function judge_claim(claim, payments, captured, refunded, is_settled) {
  const found = [];
  const paying = payments.filter(
    ({ reference, status }) => with_money.has(status) && status !== 'REFUNDED' && captured.has(reference),
  );
  const kept = ({ reference }) => captured.get(reference).amount - (refunded.get(reference)?.amount ?? 0);
  const with_kept = paying.filter(
    (payment) =>
      kept(payment) > 0 && !['CONFIRMED_LATE', 'REFUND_PENDING', 'REFUND_FAILED'].includes(payment.status),
  );
  if (claim.status === 'CONFIRMED' && claim.value !== 0 && paying.length === 0)
    found.push(`claim ${claim.id}: a ticket that nobody paid`);
  // Of two payments for one purchase exactly one is refunded.
  if (
    is_settled &&
    claim.status === 'CONFIRMED' &&
    claim.value !== 0 &&
    paying.length > 0 &&
    paying.every((payment) => kept(payment) <= 0)
  )
    found.push(`claim ${claim.id}: a ticket, and all its money given back`);
  if (claim.status === 'CONFIRMED' && with_kept.length > 1)
    found.push(
      `claim ${claim.id}: paid ${with_kept.length} times (${with_kept.map(({ reference }) => reference).join(', ')})`,
    );
  if (
    is_settled &&
    claim.status === 'CONFIRMED' &&
    claim.value !== undefined &&
    with_kept.length === 1 &&
    kept(with_kept[0]) !== claim.value
  )
    found.push(`claim ${claim.id}: ${kept(with_kept[0])} kept for tickets worth ${claim.value}`);
  return found;
}

/**
 * Per currency: the gateway keeps the value of the confirmed claims. Only if every claim has a value and
 * currency.
 */
function judge_sums(claims, payments, captured, refunded, pending) {
  if (claims.some(({ value }) => value === undefined)) return [];
  const balance = new Map();
  const add = (currency, amount) =>
    balance.set(currency.toUpperCase(), (balance.get(currency.toUpperCase()) ?? 0) + amount);
  for (const { amount, currency } of captured.values()) add(currency, amount);
  for (const { amount, currency } of refunded.values()) add(currency, -amount);
  for (const { amount, currency } of pending.values()) add(currency, -amount);
  for (const claim of claims) {
    if (claim.status !== 'CONFIRMED') continue;
    const currency = claim.currency ?? payments.find((payment) => payment.claim === claim.id)?.currency;
    if (claim.value !== 0 && currency !== undefined) add(currency, -claim.value);
  }
  return [...balance]
    .filter(([, amount]) => amount !== 0)
    .map(([currency, amount]) => `${currency}: captured less refunds and tickets leaves ${amount}, not 0`);
}

/**
 * All contradictions of I3 and I4; [] if none. While a sale runs, read FairQueue's rows first in one
 * snapshot, then the ledger: captures and refunds only grow, so the ledger must have those of the rows.
 * - `ledger`: money rows of the stand-in, or its file.
 * - `payments`: {reference, status, amount, captured, refunded, currency, claim, tax}; `tax`: added by the
 *   gateway to the amount.
 * - `claims`: {id, status, value, currency}; `value`: of its unrefunded items (0: a free ticket; undefined:
 *   unknown).
 * - `is_settled`: no faults and T_heal has passed, so nothing may be in flight.
 * - `ignore`: references of others.
 * - `quarantine_is_open`: allows payments that wait for a person even if `is_settled`.
 *
 * Statuses are names or numbers.
 */
export function contradictions({
  ledger,
  payments,
  claims = [],
  is_settled = false,
  ignore = [],
  quarantine_is_open = false,
}) {
  const rows = typeof ledger === 'string' ? readLedger(ledger) : ledger;
  const captured = capturedByReference(rows);
  const refunded = refundedByReference(rows);
  const pending = pendingRefunds(rows);
  const pending_of = (reference) =>
    [...pending.values()].reduce((sum, row) => sum + (row.reference === reference ? row.amount : 0), 0);
  const our_claims = claims.map((claim) => ({ ...claim, status: named(claim_statuses, claim.status) }));
  const our_payments = payments.map((payment) => ({
    ...payment,
    status: named(payment_statuses, payment.status),
  }));
  const claim_of = new Map(our_claims.map((claim) => [claim.id, claim]));
  const known = new Set(our_payments.map(({ reference }) => reference));
  const found = [];

  for (const [reference, { amount, currency, count }] of captured) {
    if (ignore.includes(reference)) continue;
    if (!known.has(reference))
      found.push(`${reference}: the gateway captured ${amount} ${currency}, FairQueue has no such payment`);
    if (count > 1) found.push(`${reference}: captured ${count} times`);
  }
  for (const [reference, { amount }] of refunded) {
    const taken = captured.get(reference)?.amount ?? 0;
    if (amount > taken) found.push(`${reference}: ${amount} refunded, only ${taken} captured`);
  }
  if (known.size !== our_payments.length) found.push('two payments have the same reference');
  for (const payment of our_payments) {
    if (quarantine_is_open && payment.status === 'QUARANTINED') continue;
    const { reference } = payment;
    const seen = {
      captured: captured.get(reference) ?? nothing,
      refunded: refunded.get(reference) ?? nothing,
      pending: pending_of(reference),
      is_settled,
    };
    found.push(...judge_payment(payment, claim_of.get(payment.claim), seen));
  }
  for (const claim of our_claims) {
    const of_claim = our_payments.filter((payment) => payment.claim === claim.id);
    found.push(...judge_claim(claim, of_claim, captured, refunded, is_settled));
  }
  const is_open = our_payments.some(({ status }) => status === 'QUARANTINED') && quarantine_is_open;
  if (is_settled && claims.length > 0 && ignore.length === 0 && !is_open)
    found.push(...judge_sums(our_claims, our_payments, captured, refunded, pending));
  return found;
}
