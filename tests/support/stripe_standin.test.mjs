// SPDX-License-Identifier: Apache-2.0
// Tests of the Stripe stand-in with Stripe's own SDK: valid requests work, requests that Stripe refuses are
// refused, and the SDK accepts the webhooks' signatures.
import test from 'node:test';
import assert from 'node:assert/strict';
import { packageOfBlackbox } from './gateway_double.mjs';
import { startStripe, stripeApiVersion, stripeSignature } from './stripe_standin.mjs';
import { WebhookReceiver } from './webhook_receiver.mjs';

const Stripe = packageOfBlackbox('stripe');
const webhook_secret = 'whsec_test_secret';

/** A stand-in with a webhook receiver, and the SDK pointed at it. */
async function started(t, options = {}) {
  const receiver = await WebhookReceiver.start();
  const gateway = await startStripe({
    webhookUrl: receiver.url,
    secrets: { api: 'sk_test_1', webhook: webhook_secret },
    ...options,
  });
  t.after(() => gateway.close().then(() => receiver.close()));
  const client = (key = 'sk_test_1') =>
    new Stripe(key, {
      host: '127.0.0.1',
      port: gateway.port,
      protocol: 'http',
      maxNetworkRetries: 0,
      telemetry: false,
      timeout: 5000,
    });
  return { receiver, gateway, stripe: client(), client };
}

const asked = (reference, more = {}) => ({
  mode: 'payment',
  success_url: 'https://shop.example/done?session={CHECKOUT_SESSION_ID}',
  cancel_url: 'https://shop.example/cart',
  client_reference_id: reference,
  line_items: [
    {
      quantity: 2,
      price_data: { currency: 'eur', unit_amount: 2500, product_data: { name: 'Stehplatz & Süd' } },
    },
    { quantity: 1, price_data: { currency: 'eur', unit_amount: 150, product_data: { name: 'Fee' } } },
  ],
  metadata: { claim: 'c1' },
  payment_intent_data: { metadata: { reference } },
  ...more,
});

test('the known answer of a webhook signature', () => {
  const body =
    '{"id":"evt_1","object":"event","type":"checkout.session.completed","data":{"object":{"id":"cs_1","amount_total":5000,"currency":"eur"}}}';
  const v1 = '28264cde0bdea23ed5fbd3d2ed06476d065b6ffd3a336bcd9ad9ed98efac73b5';
  assert.equal(stripeSignature(body, webhook_secret, 1700000000), v1);
  const header = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret: webhook_secret,
    timestamp: 1700000000,
  });
  assert.equal(header, `t=1700000000,v1=${v1}`);
});

test('a session is created, read, paid and refunded, and the ledger has it', async (t) => {
  const { gateway, stripe, receiver } = await started(t);
  const session = await stripe.checkout.sessions.create(asked('r1'));
  assert.match(session.id, /^cs_test_/);
  assert.deepEqual(
    [session.status, session.payment_status, session.amount_total, session.currency],
    ['open', 'unpaid', 5150, 'eur'],
  );
  assert.equal(session.payment_intent, null);
  assert.equal(session.metadata.claim, 'c1');
  assert.ok(session.url.startsWith(gateway.url));

  const items = await stripe.checkout.sessions.listLineItems(session.id, { limit: 1 });
  assert.deepEqual(
    [items.data.length, items.has_more, items.data[0].amount_total, items.data[0].description],
    [1, true, 5000, 'Stehplatz & Süd'],
  );

  const paid = await gateway.pay('r1');
  assert.equal(paid.redirect, `https://shop.example/done?session=${session.id}`);
  const read = await stripe.checkout.sessions.retrieve(session.id, {
    expand: ['payment_intent', 'line_items'],
  });
  assert.deepEqual([read.status, read.payment_status, read.url], ['complete', 'paid', null]);
  assert.deepEqual([read.payment_intent.status, read.payment_intent.amount_received], ['succeeded', 5150]);
  assert.deepEqual(read.payment_intent.metadata, { reference: 'r1' });
  assert.equal(read.line_items.data.length, 2);
  assert.equal(
    (await stripe.paymentIntents.retrieve(read.payment_intent.id)).latest_charge,
    read.payment_intent.latest_charge,
  );

  const part = await stripe.refunds.create({
    payment_intent: read.payment_intent.id,
    amount: 150,
    metadata: { refund: 'f1' },
  });
  assert.deepEqual([part.status, part.amount, part.metadata.refund], ['succeeded', 150, 'f1']);
  assert.equal((await stripe.refunds.retrieve(part.id)).id, part.id);
  const too_much = stripe.refunds.create({ payment_intent: read.payment_intent.id, amount: 5001 });
  await assert.rejects(too_much, { type: 'StripeInvalidRequestError', param: 'amount' });
  const rest = await stripe.refunds.create({ payment_intent: read.payment_intent.id });
  assert.equal(rest.amount, 5000);
  await assert.rejects(stripe.refunds.create({ payment_intent: read.payment_intent.id }), {
    code: 'charge_already_refunded',
  });
  const refunds = await stripe.refunds.list({ payment_intent: read.payment_intent.id });
  assert.deepEqual(
    refunds.data.map(({ id }) => id),
    [rest.id, part.id],
  );

  assert.deepEqual(gateway.capturedByReference().get('r1'), { amount: 5150, currency: 'eur', count: 1 });
  assert.deepEqual(gateway.refundedByReference().get('r1'), { amount: 5150, currency: 'eur', count: 2 });
  assert.deepEqual(gateway.sums(), {
    captured: { eur: 5150 },
    refunded: { eur: 5150 },
    captures: 1,
    refunds: 2,
    pending_refunds: 0,
  });
  const [capture, refund] = gateway.rows();
  assert.deepEqual(
    { ...capture, at: 0 },
    {
      kind: 'capture',
      reference: 'r1',
      gateway_id: read.payment_intent.id,
      amount: 5150,
      currency: 'eur',
      tax: 0,
      refund_id: null,
      at: 0,
    },
  );
  assert.equal(refund.refund_id, part.id);
  assert.deepEqual(gateway.violations, []);
  await receiver.wait(7);
});

test('constructEvent of the SDK accepts webhooks, and the events can be read', async (t) => {
  const { gateway, stripe, receiver } = await started(t, {
    secrets: { api: 'sk_test_1', webhook: ['whsec_new', webhook_secret] },
  });
  const session = await stripe.checkout.sessions.create(asked('r1'));
  await gateway.pay(session.id);
  await receiver.wait(3);
  for (const { headers, body } of receiver.received) {
    const header = headers['stripe-signature'];
    for (const secret of [webhook_secret, 'whsec_new']) {
      const event = stripe.webhooks.constructEvent(body, header, secret);
      assert.equal(event.api_version, stripeApiVersion);
      assert.equal((await stripe.events.retrieve(event.id)).id, event.id);
    }
    const timestamp = Number(/t=(\d+)/.exec(header)[1]);
    const theirs = stripe.webhooks.generateTestHeaderString({
      payload: body,
      secret: 'whsec_new',
      timestamp,
    });
    assert.ok(header.startsWith(theirs));
    assert.throws(() => stripe.webhooks.constructEvent(`${body} `, header, webhook_secret), {
      type: 'StripeSignatureVerificationError',
    });
  }
  assert.deepEqual(receiver.events.map(({ type }) => type).sort(), [
    'charge.succeeded',
    'checkout.session.completed',
    'payment_intent.succeeded',
  ]);
  const completed = await stripe.events.list({ type: 'checkout.session.completed' });
  assert.deepEqual([completed.data.length, completed.data[0].data.object.id], [1, session.id]);
  // A signature of another time.
  gateway.webhooks.set({ skew_s: -301 });
  await gateway.lateFailure('r1');
  const { headers, body } = receiver.received.at(-1);
  assert.throws(
    () => stripe.webhooks.constructEvent(body, headers['stripe-signature'], webhook_secret),
    /outside the tolerance/,
  );
});

test('the same idempotency key: the same answer; with other parameters or while in progress: refused', async (t) => {
  const { gateway, stripe } = await started(t);
  const key = { idempotencyKey: 'k1' };
  const session = await stripe.checkout.sessions.create(asked('r1'), key);
  const again = await stripe.checkout.sessions.create(asked('r1'), key);
  assert.equal(again.id, session.id);
  assert.equal(again.lastResponse.headers['idempotent-replayed'], 'true');
  await gateway.pay('r1');
  assert.equal(
    (await stripe.checkout.sessions.create(asked('r1'), key)).status,
    'open',
    'what was answered, not what is',
  );
  await assert.rejects(stripe.checkout.sessions.create(asked('r2'), key), {
    type: 'StripeIdempotencyError',
    statusCode: 400,
  });
  assert.equal(gateway.violations.splice(0).length, 1);

  gateway.faults.add({ operation: 'checkout.create', kind: 'delay', ms: 2000, count: 1 });
  const asked_before = gateway.requests.length;
  const slow = stripe.checkout.sessions.create(asked('r3'), { idempotencyKey: 'k3' });
  while (gateway.requests.length === asked_before) await new Promise((resolve) => setTimeout(resolve, 5));
  await assert.rejects(stripe.checkout.sessions.create(asked('r3'), { idempotencyKey: 'k3' }), {
    statusCode: 409,
    code: 'idempotency_key_in_use',
  });
  assert.equal(
    (await stripe.checkout.sessions.create(asked('r3'), { idempotencyKey: 'k3' }).catch((e) => e)).statusCode,
    409,
  );
  await slow;
  assert.equal(
    (await stripe.checkout.sessions.create(asked('r3'), { idempotencyKey: 'k3' })).id,
    (await slow).id,
  );
  assert.equal(gateway.sessionsOf('r3').length, 1);

  const { payment_intent } = await stripe.checkout.sessions.retrieve(session.id);
  const refunds = await Promise.all(
    [1, 2].map(() =>
      stripe.refunds.create({ payment_intent, amount: 50 }, { idempotencyKey: 'f1' }).catch((e) => e),
    ),
  );
  assert.ok(refunds.some(({ amount }) => amount === 50));
  assert.equal(gateway.refundedByReference().get('r1').amount, 50);
  // A refusal of parameters is not stored under its key; after a day no answer is.
  await assert.rejects(
    stripe.checkout.sessions.create(asked('r4', { mode: 'pay' }), { idempotencyKey: 'k4' }),
    {
      param: 'mode',
    },
  );
  await stripe.checkout.sessions.create(asked('r4'), { idempotencyKey: 'k4' });
  gateway.advanceClock(24 * 3600 * 1000);
  assert.notEqual((await stripe.checkout.sessions.create(asked('r1'), key)).id, session.id);
});

test('requests that Stripe refuses are refused with its messages', async (t) => {
  const { gateway, stripe, client } = await started(t);
  const now = Math.floor(Date.now() / 1000);
  const item = (changes, price = {}, product = {}) => ({
    line_items: [
      {
        quantity: 1,
        price_data: { currency: 'eur', unit_amount: 500, product_data: { name: 'x', ...product }, ...price },
        ...changes,
      },
    ],
  });
  for (const [changes, expected] of [
    [{ mode: undefined }, { code: 'parameter_missing', param: 'mode' }],
    [{ mode: 'payments' }, { param: 'mode' }],
    [{ success_url: undefined }, { code: 'parameter_missing', param: 'success_url' }],
    [{ success_url: 'shop' }, { code: 'url_invalid', param: 'success_url' }],
    [{ line_items: undefined }, { code: 'parameter_missing', param: 'line_items' }],
    [{ expires_at: now + 29 * 60 }, { param: 'expires_at' }],
    [{ expires_at: now + 25 * 3600 }, { param: 'expires_at' }],
    [{ surprise: 1 }, { code: 'parameter_unknown', param: 'surprise' }],
    [{ customer_email: 'nobody' }, { code: 'email_invalid' }],
    [item({ quantity: 0 }), { param: 'line_items[0][quantity]' }],
    [item({ quantity: undefined }), { code: 'parameter_missing' }],
    [item({ price: 'price_1' }), { code: 'resource_missing' }],
    [item({}, { unit_amount: 49 }), { code: 'amount_too_small' }],
    [
      item({}, { unit_amount: 12.5 }),
      { code: 'parameter_invalid_integer', param: 'line_items[0][price_data][unit_amount]' },
    ],
    [item({}, { unit_amount: -1 }), { code: 'parameter_invalid_integer' }],
    [item({}, { unit_amount: 100_000_000 }), { code: 'amount_too_large' }],
    [item({}, { currency: 'EUR' }), { param: 'line_items[0][price_data][currency]' }],
    [item({}, {}, { name: '' }), { code: 'parameter_invalid_empty' }],
    [
      { payment_intent_data: { application_fee_amount: 1 } },
      { param: 'payment_intent_data[application_fee_amount]' },
    ],
    [
      { payment_intent_data: { application_fee_amount: 5151, transfer_data: { destination: 'acct_1' } } },
      { param: 'payment_intent_data[application_fee_amount]' },
    ],
    [{ metadata: { a: 'x'.repeat(501) } }, { param: 'metadata[a]' }],
  ])
    await assert.rejects(
      stripe.checkout.sessions.create(asked('r1', changes)),
      { type: 'StripeInvalidRequestError', statusCode: 400, ...expected },
      JSON.stringify(changes),
    );
  assert.equal(gateway.violations.length, 21);
  await assert.rejects(client('sk_test_2').checkout.sessions.create(asked('r1')), {
    type: 'StripeAuthenticationError',
    statusCode: 401,
  });
  await assert.rejects(stripe.checkout.sessions.retrieve('cs_1'), {
    statusCode: 404,
    code: 'resource_missing',
  });
  await assert.rejects(stripe.refunds.create({ amount: 5 }), { code: 'parameter_missing' });
  await assert.rejects(stripe.customers.list(), { statusCode: 404 });
  assert.deepEqual(gateway.sums().captures, 0);
});

test('a destination charge with a fee, refunded with both', async (t) => {
  const { gateway, stripe } = await started(t);
  const payment_intent_data = { application_fee_amount: 500, transfer_data: { destination: 'acct_1' } };
  const session = await stripe.checkout.sessions.create(asked('r1', { payment_intent_data }));
  const plain = await stripe.checkout.sessions.create(asked('r2'));
  for (const { id } of [session, plain]) await gateway.pay(id);
  const intent = async ({ id }) =>
    (await stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent.latest_charge'] }))
      .payment_intent;
  const paid = await intent(session);
  assert.equal(paid.latest_charge.application_fee_amount, 500);
  const both = { reverse_transfer: true, refund_application_fee: true };
  await stripe.refunds.create({ payment_intent: paid.id, ...both });
  await assert.rejects(stripe.refunds.create({ payment_intent: (await intent(plain)).id, ...both }), {
    param: 'reverse_transfer',
  });
});

test('automatic tax comes on top, after the payer gave the address, or at once', async (t) => {
  const { gateway, stripe } = await started(t, { taxRate: 0.2 });
  const taxed = { automatic_tax: { enabled: true } };
  const session = await stripe.checkout.sessions.create(asked('r1', taxed));
  assert.deepEqual([session.amount_total, session.automatic_tax.status], [5150, 'requires_location_inputs']);
  await gateway.pay('r1');
  const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ['line_items'] });
  assert.deepEqual(
    [paid.amount_subtotal, paid.amount_total, paid.total_details.amount_tax],
    [5150, 6180, 1030],
  );
  assert.equal(
    paid.line_items.data.reduce((sum, { amount_tax }) => sum + amount_tax, 0),
    1030,
  );
  assert.deepEqual([gateway.rows()[0].amount, gateway.rows()[0].tax], [6180, 1030]);
  gateway.set({ taxAt: 'create' });
  assert.equal((await stripe.checkout.sessions.create(asked('r2', taxed))).amount_total, 6180);
  assert.equal(
    (await stripe.checkout.sessions.create(asked('r3'))).amount_total,
    5150,
    'nobody asked for tax',
  );
});

test('sessions expire on request and automatically, and cannot be paid then; paid ones cannot expire', async (t) => {
  const { gateway, stripe, receiver } = await started(t);
  const sessions = [];
  for (const reference of ['r1', 'r2', 'r3'])
    sessions.push(
      await stripe.checkout.sessions.create(asked(reference, { expires_at: gateway.seconds() + 1860 })),
    );
  const expired = await stripe.checkout.sessions.expire(sessions[0].id);
  assert.deepEqual([expired.status, expired.url], ['expired', null]);
  await assert.rejects(stripe.checkout.sessions.expire(sessions[0].id), {
    statusCode: 400,
    type: 'StripeInvalidRequestError',
  });
  await gateway.pay('r2');
  await assert.rejects(stripe.checkout.sessions.expire(sessions[1].id), /status of complete/);
  await gateway.declineCard('r3');
  gateway.advanceClock(1861_000);
  await assert.rejects(gateway.pay('r3'), /closed: expired/);
  await assert.rejects(gateway.pay('r1'), /closed: expired/);
  await gateway.quiet();
  const ended = receiver.events
    .filter(({ type }) => type === 'checkout.session.expired')
    .map(({ data }) => data.object.client_reference_id);
  assert.deepEqual(ended.sort(), ['r1', 'r3']);
  const intent = await stripe.paymentIntents.retrieve(
    receiver.events.find(({ type }) => type === 'payment_intent.canceled').data.object.id,
  );
  assert.equal(intent.status, 'canceled');
  assert.deepEqual(gateway.violations, [], 'to be late is no mistake');
});

test('a declined card leaves the page open; payments that take days; late events', async (t) => {
  const { gateway, stripe, receiver } = await started(t);
  const session = await stripe.checkout.sessions.create(asked('r1'));
  assert.equal((await gateway.declineCard('r1')).redirect, session.url);
  const declined = await stripe.checkout.sessions.retrieve(session.id, { expand: ['payment_intent'] });
  assert.deepEqual(
    [declined.status, declined.payment_intent.status, declined.payment_intent.last_payment_error.code],
    ['open', 'requires_payment_method', 'card_declined'],
  );
  await gateway.pay('r1');
  await gateway.lateFailure('r1');
  const types = async () => (
    await gateway.quiet(),
    receiver.received.splice(0).map(({ body }) => JSON.parse(body).type)
  );
  assert.deepEqual(
    (await types()).filter((type) => type.includes('failed')),
    ['payment_intent.payment_failed', 'payment_intent.payment_failed'],
  );
  assert.equal(
    (await stripe.checkout.sessions.retrieve(session.id)).payment_status,
    'paid',
    'late news changes nothing',
  );

  for (const [reference, ok] of [
    ['r2', true],
    ['r3', false],
  ]) {
    const { id } = await stripe.checkout.sessions.create(asked(reference));
    await gateway.payAsync(reference);
    const waiting = await stripe.checkout.sessions.retrieve(id);
    assert.deepEqual([waiting.status, waiting.payment_status], ['complete', 'unpaid']);
    assert.equal(gateway.capturedByReference().has(reference), false);
    await gateway.settleAsync(reference, ok);
    assert.equal((await stripe.checkout.sessions.retrieve(id)).payment_status, ok ? 'paid' : 'unpaid');
    assert.equal(gateway.capturedByReference().has(reference), ok);
    assert.ok((await types()).includes(`checkout.session.async_payment_${ok ? 'succeeded' : 'failed'}`));
  }
});

test('pending and failing refunds: the money is where the ledger records it', async (t) => {
  const { gateway, stripe, receiver } = await started(t, { refunds: 'pending' });
  await stripe.checkout.sessions.create(asked('r1'));
  const { payment_intent } = await gateway.pay('r1');
  const first = await stripe.refunds.create({ payment_intent, amount: 1000 });
  assert.equal(first.status, 'pending');
  assert.deepEqual([gateway.sums().refunded, gateway.sums().pending_refunds], [{}, 1]);
  await gateway.settleRefund(first.id, false);
  assert.equal((await stripe.refunds.retrieve(first.id)).status, 'failed');
  gateway.set({ refunds: 'succeeded', refundDelayMs: 30 });
  const second = await stripe.refunds.create({ payment_intent });
  assert.deepEqual([second.amount, second.status], [5150, 'pending']);
  while ((await stripe.refunds.retrieve(second.id)).status === 'pending');
  assert.deepEqual(gateway.sums(), {
    captured: { eur: 5150 },
    refunded: { eur: 5150 },
    captures: 1,
    refunds: 1,
    pending_refunds: 0,
  });
  await gateway.quiet();
  assert.equal(receiver.events.filter(({ type }) => type === 'refund.failed').length, 1);
});

test('a different amount or currency than requested: session, webhook and ledger have the captured one', async (t) => {
  const { gateway, stripe, receiver } = await started(t);
  const session = await stripe.checkout.sessions.create(asked('r1'));
  await gateway.pay('r1', { amount: 51, currency: 'usd', awaitWebhook: true });
  const read = await stripe.checkout.sessions.retrieve(session.id);
  assert.deepEqual([read.amount_total, read.currency], [51, 'usd']);
  const told = receiver.events.find(({ type }) => type === 'checkout.session.completed').data.object;
  assert.deepEqual([told.amount_total, told.currency], [51, 'usd']);
  assert.deepEqual(gateway.capturedByReference().get('r1'), { amount: 51, currency: 'usd', count: 1 });
});

test('the hosted page: a browser and a load generator can pay', async (t) => {
  const { gateway, stripe } = await started(t);
  const browser = { 'accept': 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
  const session = await stripe.checkout.sessions.create(
    asked('r1', {
      line_items: [
        { quantity: 1, price_data: { currency: 'eur', unit_amount: 500, product_data: { name: '<b>' } } },
      ],
    }),
  );
  const page = await (await fetch(session.url)).text();
  assert.match(page, /&lt;b&gt;/);
  const press = (action) =>
    fetch(`${gateway.url}/pay/${session.id}`, {
      method: 'POST',
      headers: browser,
      body: `action=${action}`,
      redirect: 'manual',
    });
  const declined = await press('decline');
  assert.deepEqual([declined.status, declined.headers.get('location')], [303, session.url]);
  assert.match(await (await fetch(session.url)).text(), /declined/);
  assert.equal(
    (await press('pay')).headers.get('location'),
    `https://shop.example/done?session=${session.id}`,
  );
  assert.equal((await press('pay')).status, 409);
  await stripe.checkout.sessions.create(asked('r2'));
  const answer = await fetch(`${gateway.url}/pay/r2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"action":"pay"}',
  });
  assert.deepEqual([answer.status, (await answer.json()).payment_status], [200, 'paid']);
});
