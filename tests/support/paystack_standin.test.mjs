// SPDX-License-Identifier: Apache-2.0
// Tests of the Paystack stand-in: envelope, refusals, the life of a transaction and of a refund, signed
// webhooks, and checks of requests against its description.
import test from 'node:test';
import assert from 'node:assert/strict';
import { startPaystack, paystackSignature } from './paystack_standin.mjs';
import { WebhookReceiver } from './webhook_receiver.mjs';

const key = 'sk_test_paystack';

/** A stand-in with a webhook receiver, and `call(method, path, body)`: {status, json}. */
async function started(t, options = {}) {
  const receiver = await WebhookReceiver.start();
  const gateway = await startPaystack({ webhookUrl: receiver.url, secrets: { api: key }, ...options });
  t.after(() => gateway.close().then(() => receiver.close()));
  const call = async (method, path, body, headers = { authorization: `Bearer ${key}` }) => {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const answer = await fetch(gateway.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...sent,
    });
    return { status: answer.status, json: await answer.json() };
  };
  const initialize = (reference, more) =>
    call('POST', '/transaction/initialize', {
      email: 'fan@example.com',
      amount: 500_000,
      reference,
      ...more,
    });
  const status_of = async (reference) =>
    (await call('GET', `/transaction/verify/${reference}`)).json.data.status;
  return { receiver, gateway, call, initialize, status_of };
}

test('the known answer of a webhook signature', () => {
  const body =
    '{"event":"charge.success","data":{"id":1,"reference":"FQ-1","amount":500000,"currency":"NGN","status":"success"}}';
  const known =
    '8727fedf4006d72a036ca9d3ac3df3c50793e6fab04615a68c9ab754c443434211c5d83be46b3f879a0984a26d5e64787f9ee21ce96ec114ea64c18082e4cec6';
  assert.equal(paystackSignature(body, key), known);
});

test('a transaction is initialized, verified, paid: statuses, envelope, ledger and webhook', async (t) => {
  const { gateway, receiver, call, initialize, status_of } = await started(t);
  const made = await initialize('FQ-1', {
    callback_url: 'https://shop.example/back?a=1',
    metadata: { claim: 'c1' },
    currency: 'GHS',
  });
  assert.deepEqual(
    [made.status, made.json.status, made.json.message],
    [200, true, 'Authorization URL created'],
  );
  assert.deepEqual(Object.keys(made.json.data), ['authorization_url', 'access_code', 'reference']);
  assert.equal(await status_of('FQ-1'), 'abandoned');
  assert.match(await (await fetch(made.json.data.authorization_url)).text(), /500000 GHS/);
  assert.equal(await status_of('FQ-1'), 'ongoing');
  await gateway.declineCard('FQ-1');
  assert.equal(await status_of('FQ-1'), 'failed');
  const paid = await gateway.pay('FQ-1', { awaitWebhook: true });
  assert.equal(paid.redirect, 'https://shop.example/back?a=1&trxref=FQ-1&reference=FQ-1');

  const verified = await call('GET', '/transaction/verify/FQ-1');
  const { status, amount, requested_amount, currency, metadata, paid_at } = verified.json.data;
  assert.deepEqual(
    [verified.json.message, status, amount, requested_amount, currency, metadata],
    ['Verification successful', 'success', 500_000, 500_000, 'GHS', { claim: 'c1' }],
  );
  assert.ok(Date.parse(paid_at));
  const [{ headers, body }] = receiver.received;
  assert.equal(headers['x-paystack-signature'], paystackSignature(body, key));
  assert.deepEqual(JSON.parse(body), { event: 'charge.success', data: verified.json.data });
  const id = String(verified.json.data.id);
  assert.deepEqual(
    { ...gateway.rows()[0], at: 0 },
    {
      kind: 'capture',
      reference: 'FQ-1',
      gateway_id: id,
      amount: 500_000,
      currency: 'GHS',
      tax: 0,
      refund_id: null,
      at: 0,
    },
  );
  assert.equal(receiver.received.length, 1, 'Paystack lists no event for a declined card');
  await assert.rejects(gateway.pay('FQ-1'), /cannot be paid any more/);
  assert.deepEqual(gateway.violations, []);
});

test('bad keys, used references and unknown objects are refused in its envelope', async (t) => {
  const { gateway, call, initialize } = await started(t);
  const refused = async (answer, status, message, code) => {
    const { status: got, json } = await answer;
    assert.deepEqual([got, json.status, json.message], [status, false, message]);
    if (code) assert.equal(json.code, code);
  };
  const verify = (headers) => call('GET', '/transaction/verify/x', undefined, headers);
  await refused(verify({ authorization: 'Bearer sk_test_other' }), 401, 'Invalid key');
  await refused(verify({ authorization: key }), 401, 'Format is Authorization Bearer [secret key]');
  await refused(verify({}), 401, 'No Authorization Header was found');
  await refused(verify(), 400, 'Transaction reference not found.', 'transaction_not_found');
  gateway.set({ unknownStatus: 404 });
  await refused(verify(), 404, 'Transaction reference not found.');
  await initialize('FQ-1');
  await refused(initialize('FQ-1'), 400, 'Duplicate Transaction Reference', 'duplicate_reference');
  await refused(call('POST', '/refund', { transaction: 'FQ-9' }), 404, 'Transaction not found');
  await refused(call('POST', '/refund', { transaction: 'FQ-1' }), 400, 'Transaction has not been paid');
  gateway.set({ currencies: ['NGN'] });
  await refused(initialize('FQ-2', { currency: 'USD' }), 403, 'Currency not supported by merchant');
  await refused(call('GET', '/customer'), 404, 'Endpoint not found');
  assert.deepEqual(gateway.violations, [], 'none of these breaks the description');
});

test('requests outside the description are refused and recorded', async (t) => {
  const { gateway, call, initialize } = await started(t);
  for (const [request, said] of [
    [{ email: undefined }, /required property 'email'/],
    [{ email: 'fan' }, /email must match format/],
    [{ amount: '5000' }, /amount must be integer/],
    [{ amount: 12.5 }, /amount must be integer/],
    [{ amount: 0 }, /amount must be >= 1/],
    [{ currency: 'EUR' }, /currency must be equal to one of/],
    [{ reference: 'FQ_1' }, /reference must match pattern/],
    [{ callback_url: 'shop' }, /callback_url must match format/],
    [{ channels: ['cash'] }, /channels\/0/],
  ]) {
    const answer = await initialize('FQ-1', request);
    assert.ok(answer.status >= 400 && answer.json.status === false, JSON.stringify(request));
    assert.equal(gateway.violations.length, 1);
    assert.match(gateway.violations.pop(), said);
  }
  assert.equal(
    (await initialize('FQ-1', { callbackUrl: 'https://shop.example' })).status,
    200,
    'Paystack ignores what it does not know',
  );
  assert.match(gateway.violations.pop(), /callbackUrl/);
  assert.equal((await call('POST', '/transaction/initialize', '{')).status, 400);
  assert.match(gateway.violations.pop(), /not JSON/);
  await gateway.pay('FQ-1');
  assert.equal((await call('POST', '/refund', { transaction: 'FQ-1', amount: '5' })).status, 400);
  assert.match(gateway.violations.pop(), /amount must be integer/);
  const form = new URLSearchParams({ email: 'fan@example.com', amount: '700', reference: 'FQ-3' }).toString();
  const headers = { 'authorization': `Bearer ${key}`, 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await call('POST', '/transaction/initialize', form, headers)).status, 200);
  assert.deepEqual(gateway.violations, []);
});

test('refunds are pending, then processed, and a full refund reverses the transaction; two requests are two refunds', async (t) => {
  const { gateway, receiver, call, initialize, status_of } = await started(t);
  await initialize('FQ-1');
  await gateway.pay('FQ-1', { awaitWebhook: true });
  const transaction = (await call('GET', '/transaction/verify/FQ-1')).json.data;
  const first = await call('POST', '/refund', { transaction: 'FQ-1', amount: 100_000, merchant_note: 'f1' });
  assert.deepEqual(
    [first.json.message, first.json.data.status, first.json.data.transaction.reference],
    ['Refund has been queued for processing', 'pending', 'FQ-1'],
  );
  const second = await call('POST', '/refund', {
    transaction: transaction.id,
    amount: 100_000,
    merchant_note: 'f1',
  });
  assert.notEqual(second.json.data.id, first.json.data.id);
  await gateway.quiet();
  while (gateway.sums().pending_refunds > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await status_of('FQ-1'), 'success');

  const listed = await call('GET', `/refund?transaction=${transaction.id}`);
  assert.deepEqual(
    listed.json.data.map(({ id, status, amount, merchant_note }) => [id, status, amount, merchant_note]),
    [
      [second.json.data.id, 'processed', 100_000, 'f1'],
      [first.json.data.id, 'processed', 100_000, 'f1'],
    ],
  );
  assert.equal(listed.json.meta.total, 2);
  assert.deepEqual((await call('GET', '/refund?transaction=FQ-1')).json.data, listed.json.data);
  assert.deepEqual((await call('GET', '/refund?transaction=FQ-2')).json.data, []);
  assert.equal((await call('GET', `/refund/${first.json.data.id}`)).json.data.status, 'processed');

  assert.equal((await call('POST', '/refund', { transaction: 'FQ-1', amount: 300_001 })).status, 400);
  await call('POST', '/refund', { transaction: 'FQ-1' });
  await receiver.wait(7);
  assert.equal(await status_of('FQ-1'), 'reversed');
  const again = await call('POST', '/refund', { transaction: 'FQ-1' });
  assert.deepEqual([again.status, again.json.message], [400, 'Transaction has been fully reversed']);
  assert.deepEqual(gateway.refundedByReference().get('FQ-1'), { amount: 500_000, currency: 'NGN', count: 3 });
  const told = receiver.events.find(({ event }) => event === 'refund.processed').data;
  assert.deepEqual([told.transaction_reference, told.amount, told.id], ['FQ-1', '100000', undefined]);
});

test('a refund that fails, and one that needs attention', async (t) => {
  const { gateway, receiver, call, initialize, status_of } = await started(t, {
    refunds: 'failed',
    refundDelayMs: 200,
  });
  await initialize('FQ-1');
  await gateway.pay('FQ-1', { awaitWebhook: true });
  gateway.webhooks.set({ before_answer: true });
  await call('POST', '/refund', { transaction: 'FQ-1' });
  await receiver.wait(3);
  assert.deepEqual(
    receiver.events.map(({ event }) => event),
    ['charge.success', 'refund.pending', 'refund.failed'],
  );
  assert.deepEqual(gateway.sums(), {
    captured: { NGN: 500_000 },
    refunded: {},
    captures: 1,
    refunds: 0,
    pending_refunds: 0,
  });
  assert.equal(await status_of('FQ-1'), 'success');
  gateway.set({ refunds: 'pending' });
  const { id } = (await call('POST', '/refund', { transaction: 'FQ-1' })).json.data;
  assert.equal(gateway.sums().pending_refunds, 1);
  assert.equal((await gateway.settleRefund(id)).status, 'processed');
  assert.equal(gateway.refundedByReference().get('FQ-1').amount, 500_000);
  await assert.rejects(gateway.settleRefund(id), /not a pending refund/);
});

test('bank transfers, late failures, a different amount, and the page', async (t) => {
  const { gateway, receiver, call, initialize, status_of } = await started(t);
  for (const reference of ['FQ-1', 'FQ-2', 'FQ-3', 'FQ-4']) await initialize(reference);
  await gateway.payAsync('FQ-1');
  assert.equal(await status_of('FQ-1'), 'pending');
  await assert.rejects(gateway.pay('FQ-1'), /pending/);
  await gateway.settleAsync('FQ-1', true);
  await gateway.payAsync('FQ-2');
  await gateway.settleAsync('FQ-2', false);
  assert.deepEqual([await status_of('FQ-1'), await status_of('FQ-2')], ['success', 'failed']);
  await gateway.lateFailure('FQ-1');
  await gateway.quiet();
  assert.deepEqual(
    receiver.events.map(({ event, data }) => [event, data.reference]),
    [
      ['charge.success', 'FQ-1'],
      ['charge.failed', 'FQ-1'],
    ],
  );
  assert.equal(await status_of('FQ-1'), 'success');

  await gateway.pay('FQ-3', { amount: 5000, currency: 'GHS', awaitWebhook: true });
  const { amount, requested_amount, currency } = (await call('GET', '/transaction/verify/FQ-3')).json.data;
  assert.deepEqual([amount, requested_amount, currency], [5000, 500_000, 'GHS']);
  assert.deepEqual(gateway.capturedByReference().get('FQ-3'), { amount: 5000, currency: 'GHS', count: 1 });
  const answer = await fetch(`${gateway.url}/pay/FQ-4`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"action":"pay"}',
  });
  assert.equal((await answer.json()).status, 'success');
});
