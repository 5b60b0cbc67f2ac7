// SPDX-License-Identifier: Apache-2.0
// Gateways that hang, refuse, answer garbage or cut the connection. Every order reaches a defined end, none
// is paid twice, other requests stay fast, and the circuit closes by itself. Prints its seed.
import { describe, it } from 'node:test';
import { assert, eventually, patience, random_of, seed, sleep } from './lib.mjs';
import { Shop, both } from './gateways.mjs';
import { startPaystack } from '../support/paystack_standin.mjs';
import { access, tenant_on, ticket_of } from './tenant.mjs';

console.log(`FAIRQUEUE_TEST_SEED=${seed}`);

const create_of = { stripe: 'checkout.create', paystack: 'transaction.initialize' };
const read_of = { stripe: 'checkout.retrieve', paystack: 'transaction.verify' };

/** Faults of one call, frequent enough for retries. */
const passing = [
  ['hangs', { kind: 'hang', count: 2 }],
  ['answers after the timeout, having done it', { kind: 'delay', ms: 2500, acted: true, count: 2 }],
  ['is too busy', { kind: 'status', status: 429, retry_after: 2, count: 1 }],
  ['fails', { kind: 'status', status: 500, count: 2 }],
  ['is a web page', { kind: 'html', count: 2 }],
  ['is cut in the middle of the JSON', { kind: 'truncated', count: 2 }],
  ['is cut in the middle of the connection', { kind: 'truncated', broken: true, count: 2 }],
  ['drips in too slowly', { kind: 'slow_body', ms: 3000, count: 1 }],
  ['is reset before it is done', { kind: 'reset_before', count: 2 }],
  ['is reset after it is done', { kind: 'reset_after', count: 2 }],
];

/** Polls until stopped; `times`: the milliseconds of each answer. */
function stopwatch(ask) {
  const times = [];
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      const begin = performance.now();
      await ask();
      times.push(performance.now() - begin);
      await sleep(10);
    }
  })();
  running.catch(() => (stopped = true));
  const stop = async () => {
    stopped = true;
    await running;
    times.sort((a, b) => a - b);
    return { count: times.length, p99: times[Math.floor(times.length * 0.99)] };
  };
  return { times, stop, is_stopped: () => stopped };
}

for (const gateway of both)
  describe(`${gateway}: a call for a page that`, { concurrency: 5, timeout: 120_000 * patience }, () => {
    for (const [what, fault] of passing)
      it(what, async (t) => {
        const shop = await Shop.open(t, { gateway, event: { claim_ttl_seconds: 60 } });
        const [fan] = await shop.server.customers(1);
        shop.double.faults.add({ operation: create_of[gateway], ...fault });
        const begin = Date.now();
        const { order, page } = await shop.ordered(fan, {}, { timeout_ms: 20_000 });
        const strikes = shop.double.faults.log.length;
        assert.equal(strikes, fault.count, `the fault struck ${strikes} times`);
        if (fault.retry_after)
          assert.ok(Date.now() - begin >= 1900, 'its wish to be left alone is respected');
        if (gateway === 'stripe')
          assert.equal([...shop.double.all('checkout.session')].length, 1, 'the same session');
        const references = shop
          .calls(create_of[gateway])
          .map((c) => c.params?.client_reference_id ?? c.params?.reference)
          .filter(Boolean);
        if (gateway === 'stripe') assert.equal(new Set(references).size, 1);
        await shop.double.pay(page);
        await shop.reaches(fan, order, 'success');
        assert.equal(shop.double.sums().captures, 1);
        await shop.settled();
      });
  });

for (const gateway of both)
  describe(
    `${gateway}: what is lost on the way to the end`,
    { concurrency: 5, timeout: 120_000 * patience },
    () => {
      for (const [what, fault] of passing.filter(([, f]) =>
        ['hang', 'reset_after', 'html', 'truncated'].includes(f.kind),
      ))
        it(`the question at the hold's end ${what}`, async (t) => {
          const shop = await Shop.open(t, {
            gateway,
            event: { claim_ttl_seconds: 3, total: 1 },
            settings: { 'payments.verdict_grace': '8s' },
          });
          const [fan] = await shop.server.customers(1);
          shop.double.webhooks.set({ drop: 10 });
          const { order, page } = await shop.ordered(fan);
          shop.double.faults.add({ operation: read_of[gateway], ...fault });
          await shop.double.pay(page);
          await shop.reaches(fan, order, 'success', { timeout_ms: 20_000 });
          assert.ok(shop.double.faults.log.length > 0);
          await shop.settled();
        });

      if (gateway === 'stripe') return; // its webhooks need no verification call
      for (const [what, fault] of passing.filter(([, f]) =>
        ['hang', 'reset_after', 'status', 'html'].includes(f.kind),
      ))
        it(`the webhook's own question ${what}`, async (t) => {
          const shop = await Shop.open(t, { gateway });
          const [fan] = await shop.server.customers(1);
          const { order, page } = await shop.ordered(fan);
          shop.double.faults.add({ operation: read_of[gateway], ...fault, count: 4 });
          await shop.double.pay(page);
          await shop.reaches(fan, order, 'success', { timeout_ms: 30_000 });
          await shop.settled();
        });
    },
  );

describe('a gateway that is away', { concurrency: 4, timeout: 150_000 * patience }, () => {
  for (const gateway of both)
    it(`${gateway}: for longer than the hold: the order has failed, the ticket is free, nothing can be paid`, async (t) => {
      const shop = await Shop.open(t, { gateway, event: { claim_ttl_seconds: 3, total: 1 } });
      const [fan, other] = await shop.server.customers(2);
      shop.double.faults.add({ kind: 'reset_before' });
      const order = await shop.order(fan);
      await shop.change({ claim_ttl_seconds: 8 }); // the next one has time to pay
      const failed = await shop.reaches(fan, order, 'failed', { timeout_ms: 15_000 });
      assert.match(failed.failure, /^(expired|gateway_unavailable)$/);
      await eventually('the ticket is free', async () => (await shop.available()) === 1);
      shop.double.faults.clear();
      await eventually(
        'the circuit closes by itself, and the next one buys',
        async () => {
          const placed = await shop.check_out(other);
          if (placed.status !== 202) return false;
          const end = ['awaiting_payment', 'failed'];
          const ready = await shop.reaches(other, placed.json.order_id, end, { timeout_ms: 20_000 });
          if (ready.status === 'failed') return false;
          await shop.double.pay(new URL(ready.payment_url).pathname.split('/').pop());
          await shop.reaches(other, placed.json.order_id, 'success');
          return true;
        },
        { timeout_ms: 60_000, every_ms: 500 },
      );
      assert.equal(shop.double.sums().captures, 1);
      await shop.settled();
    });

  for (const gateway of both)
    it(`${gateway}: given up while the call for its page hangs: no page stays open, no money is kept`, async (t) => {
      const shop = await Shop.open(t, {
        gateway,
        settings: { 'gateway.call_timeout': '2s', 'payments.verdict_grace': '8s' },
      });
      const [fan] = await shop.server.customers(1);
      shop.double.faults.add({ operation: create_of[gateway], kind: 'hang', acted: true, count: 1 });
      const order = await shop.order(fan);
      const made = gateway === 'stripe' ? 'checkout.session' : 'transaction';
      const page = await eventually('the page is there', () => [...shop.double.all(made)][0]);
      const given_up = await shop.server.delete(`/orders/${order}`, { token: fan });
      assert.equal(given_up.json.status, 'cancelled', given_up.text);
      if (gateway === 'paystack') await shop.double.pay(page.reference); // its pages cannot be closed
      await eventually('the ticket is free', async () => (await shop.available()) === 10, {
        timeout_ms: 20_000,
      });
      if (gateway === 'stripe') {
        assert.deepEqual(
          [...shop.double.all(made)].map(({ status }) => status),
          ['expired'],
        );
      } else await eventually('the money is back', () => shop.double.sums().refunds === 1);
      assert.equal((await shop.status(fan, order)).status, 'cancelled');
      await shop.settled();
    });

  for (const gateway of both)
    it(`${gateway}: for a while: those who waited get their pages without doing anything`, async (t) => {
      const shop = await Shop.open(t, { gateway, event: { claim_ttl_seconds: 90, total: 30 } });
      const fans = await shop.server.customers(12);
      shop.double.faults.add({ operation: create_of[gateway], kind: 'status', status: 503 });
      const orders = await Promise.all(fans.map((fan) => shop.order(fan)));
      await eventually('the circuit is open: no more calls than it takes', async () => {
        const before = shop.calls(create_of[gateway]).length;
        await sleep(500);
        return before > 0 && shop.calls(create_of[gateway]).length === before;
      });
      const struck = shop.calls(create_of[gateway]).length;
      assert.ok(struck < 40, `${struck} calls to a gateway that is away`);
      for (const [i, fan] of fans.entries())
        assert.equal((await shop.status(fan, orders[i])).status, 'pending');
      shop.double.faults.clear();
      await Promise.all(
        fans.map((fan, i) => shop.reaches(fan, orders[i], 'awaiting_payment', { timeout_ms: 40_000 })),
      );
      for (const [i, fan] of fans.entries()) {
        const { payment_url } = await shop.status(fan, orders[i]);
        await shop.double.pay(new URL(payment_url).pathname.split('/').pop());
      }
      await Promise.all(fans.map((fan, i) => shop.reaches(fan, orders[i], 'success')));
      assert.equal(shop.double.sums().captures, 12);
      await shop.settled();
    });
});

describe('the rest of the server', { timeout: 60_000 * patience }, () => {
  it('joins, /access, other events and another gateway stay fast while a gateway hangs', async (t) => {
    const healthy = await startPaystack({ seed });
    t.after(() => healthy.close());
    const shop = await Shop.open(t, {
      event: { total: 300, claim_ttl_seconds: 60 },
      settings: { 'gateway.call_timeout': '20s', 'paystack.url': healthy.url },
    });
    const { server } = shop;
    const other = await shop.new_event({ total: 500, queue: { policy: 'operator' } });
    const open = await shop.new_event({ total: 2000, currency: 'NGN' });
    const tenant = await tenant_on(server);
    const queue = await tenant.queue({ concurrency: 5 });
    const { session_token } = await ticket_of(server, await tenant.join_as(queue, 'ann'));
    const [buyers, joiners, cheap] = [
      await server.customers(120),
      await server.customers(3000),
      await server.customers(1500),
    ];
    shop.double.faults.add({ kind: 'delay', ms: 60_000 });
    const orders = await Promise.all(buyers.map((fan) => shop.order(fan)));
    await eventually('calls hang', () => shop.calls('checkout.create').length >= 16);

    const random = random_of(seed);
    const [joined, bought] = [joiners.values(), cheap.values()];
    const watches = {
      join: stopwatch(async () => {
        const answer = await server.post(`/events/${other.event.id}/queue`, { token: joined.next().value });
        assert.equal(answer.status, 201, answer.text);
      }),
      access: stopwatch(async () => assert.equal((await access(server, session_token)).status, 200)),
      event: stopwatch(async () => assert.equal((await server.get(`/events/${other.event.id}`)).status, 200)),
      order: stopwatch(async () => {
        const i = Math.floor(random() * buyers.length);
        assert.equal((await shop.status(buyers[i], orders[i])).status, 'pending');
      }),
      paystack: stopwatch(async () => {
        const fan = bought.next().value;
        const body = {
          event_id: open.event.id,
          gateway: 'paystack',
          items: [{ ticket_type_id: open.types[0] }],
        };
        const placed = await shop.check_out(fan, body, { headers: { Prefer: 'wait=2' } });
        assert.ok([200, 202].includes(placed.status), placed.text);
        await shop.reaches(fan, placed.json.order_id, 'awaiting_payment', { timeout_ms: 2000 });
      }),
    };
    // Of more than 100 answers the slowest one does not count: the machine may have stood still.
    await eventually(
      'enough answers of each',
      () => Object.values(watches).every(({ times, is_stopped }) => times.length > 100 || is_stopped()),
      { timeout_ms: 20_000 },
    );
    assert.ok(
      shop.calls('checkout.create').every(({ status }) => status === undefined),
      'all this while the calls hung',
    );
    for (const [name, { stop }] of Object.entries(watches)) {
      const { count, p99 } = await stop();
      t.diagnostic(`${name}: ${count} answers, p99 ${p99.toFixed(1)} ms`);
      assert.ok(p99 < 500 * patience, `${name}: p99 ${p99} ms`);
    }
    await server.stop();
  });
});
