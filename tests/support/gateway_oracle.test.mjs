// SPDX-License-Identifier: Apache-2.0
// Tests of the oracle of I3 and I4: a sound sale passes during and after it, and each planted contradiction
// is reported. Once with the rows of a real stand-in.
import test from 'node:test';
import assert from 'node:assert/strict';
import { claim_statuses, contradictions, payment_statuses } from './gateway_oracle.mjs';
import { startPaystack } from './paystack_standin.mjs';

const row = (kind, reference, amount, more) => ({
  kind,
  reference,
  gateway_id: `g-${reference}`,
  amount,
  currency: 'eur',
  tax: 0,
  refund_id: null,
  ...more,
});
const payment = (reference, status, more) => ({
  reference,
  status,
  amount: 100,
  captured: 100,
  refunded: 0,
  currency: 'EUR',
  claim: `c-${reference}`,
  ...more,
});
const claim = (reference, status, value = 100) => ({ id: `c-${reference}`, status, value, currency: 'EUR' });

/** a: bought; b: declined; c: paid late and refunded; d: bought two, returned one; e: free. */
const sound = () => ({
  ledger: [
    row('capture', 'a', 100),
    row('capture', 'c', 100),
    row('refund_pending', 'c', 100, { refund_id: 'f1' }),
    row('capture', 'd', 200),
    row('refund_failed', 'c', 100, { refund_id: 'f1' }),
    row('refund', 'd', 100, { refund_id: 'f2' }),
    row('refund', 'c', 100, { refund_id: 'f3' }),
  ],
  payments: [
    payment('a', 'CONFIRMED'),
    payment('b', 'FAILED', { captured: 0 }),
    payment('c', 'REFUNDED', { refunded: 100 }),
    payment('d', 'PARTIALLY_REFUNDED', { amount: 200, captured: 200, refunded: 100 }),
  ],
  claims: [
    claim('a', 'CONFIRMED'),
    claim('b', 'RELEASED'),
    claim('c', 'RELEASED'),
    claim('d', 'CONFIRMED'),
    { id: 'e', status: 'CONFIRMED', value: 0, currency: 'EUR' },
  ],
});

const of = (list, reference) =>
  list.find((one) => one.reference === reference || one.id === `c-${reference}`);
const change = (list, reference, changes) => Object.assign(of(list, reference), changes);
const drop = (list, reference) => list.splice(list.indexOf(of(list, reference)), 1);

/** Planted contradiction at the end of a sound sale -> expected report. */
const planted = [
  [
    ({ payments, claims }) => [
      change(payments, 'a', { status: 'FAILED', captured: 0 }),
      change(claims, 'a', { status: 'RELEASED' }),
    ],
    /^a: captured 100 eur with neither ticket nor refund \(FAILED, claim RELEASED\)/,
  ],
  [({ payments }) => drop(payments, 'a'), /^a: the gateway captured 100 eur, FairQueue has no such payment/],
  [({ claims }) => drop(claims, 'a'), /^a: CONFIRMED, but its claim is missing/],
  [({ ledger }) => ledger.push(row('capture', 'a', 100)), /^a: captured 2 times/],
  [({ ledger }) => ledger.push(row('refund', 'c', 1)), /^c: 101 refunded, only 100 captured/],
  [({ ledger }) => drop(ledger, 'a'), /^a: CONFIRMED without a capture/],
  [({ ledger }) => drop(ledger, 'a'), /^claim c-a: a ticket that nobody paid/],
  [
    ({ ledger }) => change(ledger, 'a', { amount: 99 }),
    /^a: FairQueue says 100 were captured, the gateway 99/,
  ],
  [
    ({ ledger, payments }) => [change(ledger, 'a', { amount: 99 }), change(payments, 'a', { captured: 99 })],
    /^a: confirmed, though 99 were captured and 100 quoted/,
  ],
  [({ ledger }) => change(ledger, 'a', { currency: 'usd' }), /^a: captured in usd, quoted in EUR/],
  [
    ({ ledger }) => change(ledger, 'a', { currency: 'usd' }),
    /^USD: captured less refunds and tickets leaves 100/,
  ],
  [
    ({ payments }) => change(payments, 'a', { captured: 0 }),
    /^a: CONFIRMED, but FairQueue says nothing was captured/,
  ],
  [({ ledger }) => ledger.pop(), /^c: FairQueue says 100 were refunded, the gateway only 0/],
  [({ ledger }) => ledger.pop(), /^c: REFUNDED, but the gateway still keeps 100 eur/],
  [
    ({ ledger }) => ledger.push(row('refund', 'a', 40)),
    /^a: 40 were refunded at the gateway, FairQueue says 0 \(CONFIRMED\)/,
  ],
  [
    ({ ledger }) => ledger.push(row('refund', 'a', 100)),
    /^claim c-a: a ticket, and all its money given back/,
  ],
  [({ ledger }) => ledger.splice(5, 1), /^d: PARTIALLY_REFUNDED, but 0 of 200 were refunded/],
  [({ claims }) => change(claims, 'd', { value: 200 }), /^claim c-d: 100 kept for tickets worth 200/],
  [
    ({ claims }) => change(claims, 'd', { value: 200 }),
    /^EUR: captured less refunds and tickets leaves -100/,
  ],
  [({ payments }) => change(payments, 'b', { status: 'PENDING' }), /^b: still PENDING/],
  [({ ledger }) => (ledger.at(-1).kind = 'refund_pending'), /^c: a refund of 100 is still pending/],
  [
    ({ ledger, payments }) => [
      ledger.push(row('capture', 'b', 100)),
      change(payments, 'b', { status: 'CONFIRMED', captured: 100, claim: 'c-a' }),
    ],
    /^claim c-a: paid 2 times \(a, b\)/,
  ],
  [({ payments }) => payments.push({ ...payments[0] }), /^two payments have the same reference/],
];

test('a sound sale passes, by name and by number of its statuses', () => {
  const sale = sound();
  assert.deepEqual(contradictions({ ...sale, is_settled: true }), []);
  for (const one of sale.payments) one.status = payment_statuses.indexOf(one.status);
  for (const one of sale.claims) one.status = claim_statuses.indexOf(one.status);
  assert.deepEqual(contradictions({ ...sale, is_settled: true }), []);
  assert.deepEqual(contradictions({ ledger: [], payments: [] }), []);
});

test('each planted contradiction is reported', () => {
  for (const [plant, said] of planted) {
    const sale = sound();
    plant(sale);
    const found = contradictions({ ...sale, is_settled: true });
    assert.ok(
      found.some((line) => said.test(line)),
      `${said}: ${found.join('\n')}`,
    );
  }
});

test('unfinished work is a contradiction at the end only', () => {
  for (const plant of [
    ({ payments, claims }) => [
      change(payments, 'a', { status: 'PENDING', captured: 0 }),
      change(claims, 'a', { status: 'EXPIRING' }),
    ],
    ({ payments, claims }) => [
      change(payments, 'a', { status: 'FAILED', captured: 0 }),
      change(claims, 'a', { status: 'RELEASED' }),
    ],
    ({ payments, claims }) => [
      change(payments, 'a', { status: 'CONFIRMED_LATE' }),
      change(claims, 'a', { status: 'RELEASED' }),
    ],
    ({ payments, claims, ledger }) => [
      change(payments, 'c', { status: 'REFUND_PENDING', refunded: 0 }),
      ledger.pop(),
      change(claims, 'c', { status: 'RELEASED' }),
    ],
    ({ payments, claims }) => [
      change(payments, 'a', { status: 'QUARANTINED', captured: 0 }),
      change(claims, 'a', { status: 'EXPIRING' }),
    ],
    ({ ledger }) => ledger.push(row('refund', 'a', 100)), // ordered after the rows were read
  ]) {
    const sale = sound();
    plant(sale);
    assert.deepEqual(contradictions(sale), []);
    assert.notDeepEqual(contradictions({ ...sale, is_settled: true }), []);
  }
});

test('payments that wait for a person, foreign payments and tax can be allowed', () => {
  const sale = sound();
  change(sale.payments, 'a', { status: 'QUARANTINED', captured: 0 });
  change(sale.claims, 'a', { status: 'RELEASED' });
  assert.deepEqual(contradictions({ ...sale, is_settled: true, quarantine_is_open: true }), []);
  const other = sound();
  other.ledger.push(row('capture', 'shop', 7));
  assert.deepEqual(contradictions({ ...other, is_settled: true, ignore: ['shop'] }), []);
  const taxed = sound();
  change(taxed.ledger, 'a', { amount: 120, tax: 20 });
  change(taxed.payments, 'a', { captured: 120, tax: 20 });
  change(taxed.claims, 'a', { value: 120 });
  assert.deepEqual(contradictions({ ...taxed, is_settled: true }), []);
});

test('with the rows of a stand-in', async (t) => {
  const gateway = await startPaystack({ secrets: { api: 'sk_test_1' }, refundDelayMs: 0 });
  t.after(() => gateway.close());
  const call = (path, body) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'authorization': 'Bearer sk_test_1', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const reference of ['a', 'c']) {
    await call('/transaction/initialize', { email: 'fan@example.com', amount: 100, reference });
    await gateway.pay(reference);
  }
  await call('/refund', { transaction: 'c' });
  while (gateway.sums().pending_refunds > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const payments = [
    payment('a', 'CONFIRMED', { currency: 'NGN' }),
    payment('c', 'REFUNDED', { refunded: 100, currency: 'NGN' }),
  ];
  const claims = [{ ...claim('a', 'CONFIRMED'), currency: 'NGN' }, claim('c', 'RELEASED')];
  assert.deepEqual(contradictions({ ledger: gateway.rows(), payments, claims, is_settled: true }), []);
  payments[1].refunded = 0;
  assert.notDeepEqual(contradictions({ ledger: gateway.rows(), payments, claims, is_settled: true }), []);
});
