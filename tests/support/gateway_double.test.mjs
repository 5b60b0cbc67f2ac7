// SPDX-License-Identifier: Apache-2.0
// Tests of the shared base of the gateway stand-ins: each fault has its effect, webhooks misbehave as
// configured, and kill -9 or a torn line loses no row of the ledger.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { Faults } from './gateway_faults.mjs';
import { capturedByReference, readLedger, refundedByReference, sums } from './gateway_ledger.mjs';
import { startPaystack } from './paystack_standin.mjs';
import { StandinProcess } from './standin_process.mjs';
import { startStripe } from './stripe_standin.mjs';
import { WebhookReceiver } from './webhook_receiver.mjs';

const key = 'sk_test_1';

/**
 * One request on a new connection: {status, headers, text, json, ms}, or {error, status, text} if it was
 * interrupted.
 */
function ask(
  url,
  { method = 'POST', body = '', type = 'application/json', headers = {}, timeout_ms = 10_000 } = {},
) {
  const begin = performance.now();
  return new Promise((resolve) => {
    const answer = { text: '' };
    const over = (error) => {
      clearTimeout(deadline);
      if (error) answer.error = error.code ?? error.message;
      try {
        answer.json = JSON.parse(answer.text);
      } catch {
        // no JSON
      }
      resolve({ ...answer, ms: performance.now() - begin });
    };
    const all = { 'authorization': `Bearer ${key}`, 'content-type': type, ...headers };
    const request = http.request(url, { method, agent: false, headers: all }, (response) => {
      Object.assign(answer, { status: response.statusCode, headers: response.headers });
      response.setEncoding('utf8').on('data', (part) => (answer.text += part));
      response.on('end', () => over()).on('error', over);
    });
    const deadline = setTimeout(() => request.destroy(new Error('silence')), timeout_ms);
    request.on('error', over).end(body);
  });
}

const session_form = (reference) =>
  new URLSearchParams({
    'mode': 'payment',
    'success_url': 'https://shop.example/',
    'client_reference_id': reference,
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'eur',
    'line_items[0][price_data][unit_amount]': '5000',
    'line_items[0][price_data][product_data][name]': 'Ticket',
  }).toString();

/** A payment at each gateway, and its expected state. */
const gateways = {
  stripe: {
    start: (options) => startStripe({ secrets: { api: key }, ...options }),
    create: 'checkout.create',
    make: (url, reference, more) =>
      ask(`${url}/v1/checkout/sessions`, {
        body: session_form(reference),
        type: 'application/x-www-form-urlencoded',
        ...more,
      }),
    made: (gateway, reference) => gateway.sessionsOf(reference).length,
    is_good: ({ json }) => json?.object === 'checkout.session',
    is_error: ({ json }) => typeof json?.error?.type === 'string',
  },
  paystack: {
    start: (options) => startPaystack({ secrets: { api: key }, ...options }),
    create: 'transaction.initialize',
    make: (url, reference, more) =>
      ask(`${url}/transaction/initialize`, {
        body: JSON.stringify({ email: 'fan@example.com', amount: 5000, reference }),
        ...more,
      }),
    made: (gateway, reference) => (gateway.get('transaction', reference) ? 1 : 0),
    is_good: ({ json }) => json?.status === true,
    is_error: ({ json }) => json?.status === false,
  },
};

async function started(t, { start }, options) {
  const receiver = await WebhookReceiver.start();
  const gateway = await start({
    webhookUrl: receiver.url,
    webhooks: { retry: { first_ms: 20, max_ms: 50 } },
    ...options,
  });
  t.after(() => gateway.close().then(() => receiver.close()));
  return { receiver, gateway };
}

for (const [name, kind] of Object.entries(gateways))
  test(`${name}: every fault does what it says`, async (t) => {
    const { gateway } = await started(t, kind);
    let number = 0;
    /** The answer to a call with this fault, and whether the call was executed. */
    const struck = async (fault, more) => {
      const reference = `F-${++number}`;
      gateway.faults.add({ operation: kind.create, count: 1, ...fault });
      const answer = await kind.make(gateway.url, reference, more);
      return { ...answer, made: kind.made(gateway, reference) };
    };
    const silent = await struck({ kind: 'hang' }, { timeout_ms: 200 });
    assert.deepEqual([silent.error, silent.made], ['silence', 0]);
    assert.equal((await struck({ kind: 'hang', acted: true }, { timeout_ms: 200 })).made, 1);
    for (const acted of [false, true]) {
      const late = await struck({ kind: 'delay', ms: 150, acted });
      assert.ok(kind.is_good(late) && late.ms >= 149 && late.made === 1);
    }
    for (const status of [429, 500, 503]) {
      const refused = await struck({ kind: 'status', status, retry_after: 7 });
      assert.deepEqual([refused.status, refused.headers['retry-after'], refused.made], [status, '7', 0]);
      assert.ok(kind.is_error(refused));
    }
    assert.equal((await struck({ kind: 'status', status: 500, acted: true })).made, 1);
    const html = await struck({ kind: 'html' });
    assert.deepEqual([html.status, html.json, html.made], [200, undefined, 0]);
    assert.match(html.headers['content-type'], /text\/html/);
    const truncated = await struck({ kind: 'truncated' });
    assert.deepEqual(
      [truncated.status, truncated.json, truncated.error, truncated.made],
      [200, undefined, undefined, 1],
    );
    const broken = await struck({ kind: 'truncated', broken: true });
    assert.deepEqual(
      [broken.status, broken.json, broken.error, broken.made],
      [200, undefined, 'ECONNRESET', 1],
    );
    const before = await struck({ kind: 'reset_before' });
    assert.deepEqual([before.error, before.status, before.made], ['ECONNRESET', undefined, 0]);
    const lost = await struck({ kind: 'reset_after' });
    assert.deepEqual([lost.error, lost.status, lost.made], ['ECONNRESET', undefined, 1]);
    const slow = await struck({ kind: 'slow_body', ms: 300 });
    assert.ok(kind.is_good(slow) && slow.ms >= 250, `${slow.ms}`);
    assert.ok(kind.is_good(await kind.make(gateway.url, 'F-99')), 'counted faults are over');
    assert.equal(gateway.faults.log.length, number);
    assert.deepEqual(gateway.violations, []);
  });

test('stripe: a stored 500 is repeated under its key; a lost answer is repeated', async (t) => {
  const { gateway } = await started(t, gateways.stripe);
  const make = (reference) =>
    gateways.stripe.make(gateway.url, reference, { headers: { 'idempotency-key': reference } });
  gateway.faults.add({ kind: 'status', status: 500, stored: true, count: 1 });
  assert.equal((await make('r1')).status, 500);
  const again = await make('r1');
  assert.deepEqual(
    [again.status, again.headers['idempotent-replayed'], gateway.sessionsOf('r1').length],
    [500, 'true', 0],
  );
  gateway.faults.add({ kind: 'reset_after', count: 1 });
  assert.equal((await make('r2')).error, 'ECONNRESET');
  assert.equal((await make('r2')).headers['idempotent-replayed'], 'true');
  assert.equal(gateway.sessionsOf('r2').length, 1);
});

test('faults follow from the seed and the number of the call only', () => {
  const choices = (seed, noise) => {
    const faults = new Faults(seed);
    faults.add({ operation: 'a', kind: 'hang', probability: 0.3 });
    return Array.from({ length: 200 }, () => {
      for (let i = 0; i < noise; ++i) faults.choose('b');
      return faults.choose('a') !== undefined;
    });
  };
  assert.deepEqual(choices(1, 0), choices(1, 3));
  assert.notDeepEqual(choices(1, 0), choices(2, 0));
  const struck = choices(1, 0).filter(Boolean).length;
  assert.ok(struck > 35 && struck < 85, `${struck} of 200 at 30 %`);
  const faults = new Faults(1);
  faults.add({ kind: 'hang', skip: 1, count: 2 });
  assert.deepEqual(
    [1, 2, 3, 4].map(() => faults.choose('a')?.kind),
    [undefined, 'hang', 'hang', undefined],
  );
  assert.throws(() => faults.add({ kind: 'flood' }), /no such fault/);
});

test('webhooks are retried until a 2xx, with growing waits and an end', async (t) => {
  const { gateway, receiver } = await started(t, gateways.paystack);
  await gateways.paystack.make(gateway.url, 'r1');
  receiver.answers = [500, 302, 401];
  await gateway.pay('r1');
  const [first, second, third, fourth] = await receiver.wait(4);
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1, 'the same bytes');
  assert.ok(second.at - first.at >= 19 && third.at - second.at >= 39 && fourth.at - third.at >= 49);
  await gateway.quiet();
  assert.deepEqual(
    gateway.webhooks.log.map(({ attempt, status }) => [attempt, status]),
    [
      [1, 500],
      [2, 302],
      [3, 401],
      [4, 200],
    ],
  );
  gateway.webhooks.set({ retry: { attempts: 3 } });
  await gateways.paystack.make(gateway.url, 'r2');
  receiver.answers = [500, 500, 500];
  await gateway.pay('r2');
  await gateway.quiet();
  assert.equal(receiver.received.length, 7);
  assert.ok(gateway.webhooks.log.at(-1).gave_up);
});

test('webhooks are duplicated, held and released in any order, dropped, shuffled, late', async (t) => {
  const { gateway, receiver } = await started(t, gateways.paystack);
  const references = Array.from({ length: 12 }, (_, i) => `r${i}`);
  for (const reference of references) await gateways.paystack.make(gateway.url, reference);
  const arrived = async (count) => {
    await receiver.wait(count);
    await gateway.quiet();
    return receiver.received.splice(0).map(({ body }) => JSON.parse(body).data.reference);
  };
  gateway.webhooks.set({ duplicates: 49 });
  await gateway.pay('r0');
  assert.deepEqual(await arrived(50), Array(50).fill('r0'));

  gateway.webhooks.set({ duplicates: 0, hold: true });
  for (const reference of ['r1', 'r2', 'r3']) await gateway.pay(reference, { awaitWebhook: true });
  assert.deepEqual([gateway.webhooks.heldCount, receiver.received.length], [3, 0]);
  assert.equal(gateway.webhooks.release({ order: 'reverse' }), 3);
  assert.deepEqual(await arrived(3), ['r3', 'r2', 'r1']);
  await gateway.pay('r4', { delayWebhook: 'hold' });
  await gateway.pay('r5', { awaitWebhook: true });
  assert.deepEqual(await arrived(1), ['r5'], 'one may wait while others go');
  gateway.webhooks.release();
  assert.deepEqual(await arrived(1), ['r4']);

  gateway.webhooks.set({ drop: 1 });
  await gateway.pay('r6');
  await gateway.pay('r7');
  assert.deepEqual(await arrived(1), ['r7']);
  gateway.webhooks.set({ shuffle: true });
  for (const reference of ['r8', 'r9', 'r10', 'r11']) await gateway.pay(reference);
  const shuffled = await arrived(4);
  assert.deepEqual([...shuffled].sort(), ['r10', 'r11', 'r8', 'r9']);

  gateway.webhooks.set({ shuffle: false });
  await gateways.paystack.make(gateway.url, 'r12');
  const begin = performance.now();
  await gateway.pay('r12', { delayWebhook: 200 });
  const [late] = await receiver.wait(1);
  assert.ok(late.at - begin >= 199);
  gateway.webhooks.set({ only_types: ['refund.processed'] });
  await gateways.paystack.make(gateway.url, 'r13');
  await gateway.pay('r13', { awaitWebhook: true });
  assert.equal(receiver.received.length, 1, 'nobody asked for it');
  assert.throws(() => gateway.webhooks.set({ duplicate: 1 }), /no setting/);
});

for (const [name, kind] of Object.entries(gateways))
  test(`${name}: a webhook may come before our own answer`, async (t) => {
    const { gateway, receiver } = await started(t, kind);
    gateway.set({ autopay: 'before_answer' });
    let seen;
    const made = kind.make(gateway.url, 'r1').then((answer) => {
      seen ??= receiver.received.length;
      return answer;
    });
    assert.ok(kind.is_good(await made));
    assert.ok(seen > 0, 'told before it was answered');
    assert.equal(gateway.capturedByReference().get('r1').amount, 5000);
    gateway.set({ autopay: 'after_answer' });
    await kind.make(gateway.url, 'r2');
    while (!gateway.capturedByReference().has('r2')) await new Promise((resolve) => setTimeout(resolve, 5));
  });

test('paystack: the webhook of a refund before its answer', async (t) => {
  const { gateway, receiver } = await started(t, gateways.paystack, { webhooks: { before_answer: true } });
  await gateways.paystack.make(gateway.url, 'r1');
  await gateway.pay('r1', { awaitWebhook: true });
  await ask(`${gateway.url}/refund`, { body: '{"transaction":"r1"}' });
  assert.ok(receiver.events.some(({ event }) => event === 'refund.pending'));
});

/** A folder that is removed with the test. */
function folder_of(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fq-gateway-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

for (const [name, kind] of Object.entries(gateways))
  test(`${name}: kill -9 under load loses nothing that was answered`, { timeout: 300_000 }, async (t) => {
    const receiver = await WebhookReceiver.start();
    t.after(() => receiver.close());
    const ledger = path.join(folder_of(t), 'ledger');
    const keys = name === 'stripe' ? { 'api-key': key, 'secret': 'whsec_1' } : { secret: key };
    const standin = await StandinProcess.start(name, { ledger, 'webhook-url': receiver.url, ...keys });
    t.after(() => standin.kill());
    const answered = new Set();
    for (let round = 0; round < 3; ++round) {
      const fans = Array.from({ length: 8 }, async (_, fan) => {
        for (let i = 0; i < 1000; ++i) {
          const reference = `r${round}-${fan}-${i}`;
          if (!kind.is_good(await kind.make(standin.url, reference))) return;
          const paid = await ask(`${standin.url}/pay/${reference}`, { body: '{"action":"pay"}' });
          if (paid.status !== 200) return;
          answered.add(reference);
        }
      });
      while (answered.size < 25 * (round + 1)) await new Promise((resolve) => setTimeout(resolve, 5));
      await standin.restart();
      await Promise.all(fans);
    }
    const captured = await standin.control('capturedByReference');
    for (const reference of answered) assert.deepEqual(captured[reference]?.amount, 5000, reference);
    assert.ok(Object.values(captured).every(({ count }) => count === 1));
    const rows = readLedger(ledger);
    assert.deepEqual(Object.fromEntries(capturedByReference(rows)), captured);
    assert.deepEqual(await standin.control('sums'), sums(rows));
    // It remembers its state: a paid session cannot be paid again, and every payment has its webhook.
    const [one] = answered;
    assert.equal((await ask(`${standin.url}/pay/${one}`, { body: '{"action":"pay"}' })).status, 409);
    await standin.control('quiet', { ms: 20_000 });
    const told = new Set(
      receiver.events.map((event) => event.data.reference ?? event.data.object.client_reference_id),
    );
    for (const reference of Object.keys(captured))
      assert.ok(told.has(reference), `${reference} was never told`);
    await standin.stop();
    assert.equal(standin.child.exitCode, 0);
  });

test('a stand-in ends when its parent process is killed', { timeout: 20_000 }, async () => {
  const program = `
    import { StandinProcess } from ${JSON.stringify(new URL('standin_process.mjs', import.meta.url).href)};
    const { url } = await StandinProcess.start('stripe');
    console.log(url);
    process.kill(process.pid, 'SIGKILL');`;
  const url = await new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '--eval', program], (_, out) => resolve(out.trim()));
  });
  assert.match(url, /^http/);
  while ((await ask(`${url}/_control/state`)).error !== 'ECONNREFUSED')
    await new Promise((resolve) => setTimeout(resolve, 20));
});

test('a torn last line is dropped, because its request got no answer; the next row is intact', async (t) => {
  const ledgerFile = path.join(folder_of(t), 'ledger');
  const options = { secrets: { api: key }, ledgerFile, refunds: 'pending' };
  const first = await startPaystack(options);
  await gateways.paystack.make(first.url, 'r1');
  await first.pay('r1');
  const { json } = await ask(`${first.url}/refund`, { body: '{"transaction":"r1","amount":100}' });
  await first.close();
  fs.appendFileSync(ledgerFile, '{"kind":"capture","reference":"r9","am');
  const second = await startPaystack(options);
  t.after(() => second.close());
  assert.deepEqual([second.sums().captures, second.sums().pending_refunds], [1, 1]);
  await second.settleRefund(json.data.id);
  assert.equal(second.refundedByReference().get('r1').amount, 100);
  assert.deepEqual(refundedByReference(readLedger(ledgerFile)), second.refundedByReference());
  await assert.rejects(second.pay('r9'), /nobody was asked/);
});

for (const [name, kind] of Object.entries(gateways))
  test(`${name}: what was planned before a restart happens after it`, async (t) => {
    const options = { ledgerFile: path.join(folder_of(t), 'ledger'), refundDelayMs: 3_600_000 };
    const first = await kind.start(options);
    await kind.make(first.url, 'r1');
    const { payment_intent } = await first.pay('r1');
    const form = { body: `payment_intent=${payment_intent}`, type: 'application/x-www-form-urlencoded' };
    if (name === 'stripe') await ask(`${first.url}/v1/refunds`, form);
    else await ask(`${first.url}/refund`, { body: '{"transaction":"r1"}' });
    await first.close();
    assert.equal(first.sums().pending_refunds, 1);
    const before = await kind.start(options);
    assert.deepEqual(before.sums(), first.sums());
    await before.close();
    const { receiver, gateway } = await started(t, kind, { ...options, clockOffsetMs: 3_600_000 });
    while (gateway.sums().pending_refunds > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(gateway.refundedByReference().get('r1').amount, 5000);
    await gateway.quiet();
    assert.ok(receiver.received.length > 0);
  });

test('sums: by currency, refunds by their end', () => {
  const row = (kind, reference, amount, currency, refund_id = null) => ({
    kind,
    reference,
    amount,
    currency,
    refund_id,
  });
  const rows = [
    row('capture', 'a', 100, 'eur'),
    row('capture', 'a', 50, 'usd'),
    row('capture', 'b', 70, 'eur'),
    row('refund_pending', 'a', 30, 'eur', 'f1'),
    row('refund_pending', 'b', 70, 'eur', 'f2'),
    row('refund_pending', 'b', 7, 'eur', 'f3'),
    row('refund', 'a', 30, 'eur', 'f1'),
    row('refund_failed', 'b', 70, 'eur', 'f2'),
  ];
  assert.deepEqual(sums(rows), {
    captured: { eur: 170, usd: 50 },
    refunded: { eur: 30 },
    captures: 3,
    refunds: 1,
    pending_refunds: 1,
  });
  assert.deepEqual(capturedByReference(rows).get('a'), { amount: 150, currency: 'eur+usd', count: 2 });
  assert.equal(refundedByReference(rows).has('b'), false);
});

test('the control path: faults, webhooks, payers, clock and counts from another process', async (t) => {
  const standin = await StandinProcess.start('stripe', { 'api-key': key });
  t.after(() => standin.kill());
  const { make } = gateways.stripe;
  await standin.control('addFault', { operation: 'checkout.create', kind: 'status', status: 503, count: 1 });
  assert.equal((await make(standin.url, 'r1')).status, 503);
  assert.equal((await make(standin.url, 'r1')).status, 200);
  await standin.control('addFault', { kind: 'hang' });
  await standin.control('clearFaults');
  assert.equal((await standin.control('pay', { reference: 'r1' })).payment_status, 'paid');
  await make(standin.url, 'r2');
  await standin.control('advanceClock', { ms: 25 * 3600 * 1000 });
  await assert.rejects(standin.control('pay', { reference: 'r2' }), /expired/);
  assert.deepEqual(await standin.control('sums'), {
    captured: { eur: 5000 },
    refunded: {},
    captures: 1,
    refunds: 0,
    pending_refunds: 0,
  });
  assert.deepEqual(
    (await standin.control('requests')).map(({ operation, status }) => [operation, status]),
    [
      ['checkout.create', 503],
      ['checkout.create', 200],
      ['checkout.create', 200],
    ],
  );
  assert.deepEqual(await standin.control('faults'), [
    { operation: 'checkout.create', number: 1, kind: 'status' },
  ]);
  await assert.rejects(standin.control('flood'), /no such control/);
  await assert.rejects(standin.control('set', { colour: 'red' }), /can be set/);
});
