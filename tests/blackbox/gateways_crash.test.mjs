// SPDX-License-Identifier: Apache-2.0
// kill -9 of the server in every window between it and a gateway, and at random moments of a small sale.
// Afterwards all work finishes by itself, and both ledgers agree (I3, I4, I7, I9). Prints its seed;
// FAIRQUEUE_TEST_SEED repeats the moments.
import { describe, it } from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import { assert, eventually, expect_problem, patience, random_of, seed, sleep } from './lib.mjs';
import { Shop, both, contact, no_hurry, unique } from './gateways.mjs';

console.log(`FAIRQUEUE_TEST_SEED=${seed}`);

const create_of = { stripe: 'checkout.create', paystack: 'transaction.initialize' };
const made_of = { stripe: 'checkout.session', paystack: 'transaction' };

/**
 * Forwards webhooks to the server. Calls `answered(incoming)` before it returns the answer; false withholds
 * it.
 */
async function relay(t, shop) {
  const it = { passed: 0, arriving: () => {}, answered: () => true };
  const server = http.createServer(async (incoming, outgoing) => {
    const parts = [];
    for await (const part of incoming) parts.push(part);
    const { host, connection, ...headers } = incoming.headers;
    const passing = shop.server.request('POST', incoming.url, {
      body: Buffer.concat(parts),
      headers,
      unchecked: true,
      agent: new http.Agent(),
    });
    it.arriving();
    const answer = await passing.catch(() => undefined);
    if (answer === undefined || !(await it.answered(answer))) return incoming.socket.resetAndDestroy();
    ++it.passed;
    outgoing.writeHead(answer.status, { 'content-length': Buffer.byteLength(answer.text) }).end(answer.text);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  shop.double.set({ webhookUrl: `http://127.0.0.1:${server.address().port}/webhooks/${shop.gateway}` });
  return it;
}

/** One buyer that retries like a real client; earlier answers must stay true. */
class Buyer {
  constructor(shop, token, random) {
    const x = random();
    const behaviour =
      x < 0.1
        ? 'abandon'
        : x < 0.2
          ? 'give up'
          : x < 0.3
            ? 'decline'
            : x < 0.4
              ? 'late'
              : x < 0.55
                ? 'refund'
                : 'buy';
    Object.assign(this, { shop, token, random, behaviour, key: unique(), orders: [] });
  }

  async live() {
    for (let visit = 0; visit < 6 && this.shop.is_on; ++visit) {
      const { shop } = this;
      const placed = await shop.server.insist('POST', '/checkout', {
        token: this.token,
        headers: { 'Idempotency-Key': `${this.key}-${visit}` },
        body: { event_id: shop.event.id, contact, items: [{ ticket_type_id: shop.types[0] }] },
      });
      if (placed.status === 410) return;
      if (placed.status >= 400) {
        await sleep(300 + this.random() * 500);
        continue;
      }
      const order = placed.json.order_id;
      this.orders.push(order);
      const ready = await shop.reaches(this.token, order, ['awaiting_payment', 'failed', 'success'], {
        timeout_ms: 60_000,
      });
      if (ready.status === 'awaiting_payment' && ready.payment_url && (await this.at_page(order, ready)))
        return;
    }
  }

  /** True when this buyer has finished. */
  async at_page(order, { payment_url }) {
    const { shop } = this;
    const page = new URL(payment_url).pathname.split('/').pop();
    await sleep(this.random() * 300);
    if (this.behaviour === 'abandon') return true;
    if (this.behaviour === 'give up')
      return (await shop.server.insist('DELETE', `/orders/${order}`, { token: this.token })).status === 200;
    if (this.behaviour === 'late') await sleep(2500 + this.random() * 1500);
    const refused = (error) => assert.match(error.message, /closed|cannot be paid/);
    if (this.behaviour === 'decline') await shop.double.declineCard(page).catch(refused);
    this.paid = await shop.double.pay(page).catch(refused);
    const end = await shop.reaches(this.token, order, ['success', 'failed', 'refunded'], {
      timeout_ms: 60_000,
    });
    if (this.behaviour === 'refund' && end.status === 'success')
      await shop.server.insist('POST', `/orders/${order}/refunds`, { token: shop.organizer, body: {} });
    return this.paid !== undefined;
  }
}

const kills = 12;

describe('killed', { concurrency: 7, timeout: 250_000 * patience }, () => {
  for (const gateway of both)
    it(`${gateway}: a small sale, ${kills} times`, async (t) => {
      const random = random_of(seed + 1000 + gateway.length);
      const shop = await Shop.open(t, {
        gateway,
        event: { total: 20, claim_ttl_seconds: 3 },
        settings: { 'payments.verdict_grace': '3s', 'payments.retry_attempts': 2 },
      });
      shop.double.webhooks.set({ duplicates: 1, shuffle: true, retry: { attempts: 200 } });
      shop.double.faults.add({ kind: 'reset_after', probability: 0.05 });
      shop.double.faults.add({ kind: 'status', status: 503, probability: 0.05 });
      shop.double.faults.add({ kind: 'delay', ms: 300, acted: true, probability: 0.1 });
      shop.is_on = true;
      const buyers = (await shop.server.customers(40)).map((token) => new Buyer(shop, token, random));
      const crowd = Promise.all(buyers.map(async (buyer) => (await sleep(random() * 8000), buyer.live())));
      crowd.catch(() => {});
      for (let kill = 0; kill < kills; ++kill) {
        await sleep((200 + random() * 900) * patience);
        await shop.server.restart();
        const { types } = await shop.rows();
        for (const { total, held, sold } of types)
          assert.ok(held + sold <= total, `I1: ${held} + ${sold} of ${total}`);
      }
      shop.double.faults.clear();
      shop.is_on = false;
      await crowd;
      await shop.settled({ timeout_ms: 100_000 });
      for (const { token, orders } of buyers)
        for (const order of orders) {
          const { status } = await shop.status(token, order); // I7: the acknowledged order exists
          assert.ok(
            ['success', 'failed', 'cancelled', 'refunded'].includes(status),
            `order ${order} is ${status}`,
          );
        }
      const { captures, refunds } = shop.double.sums();
      t.diagnostic(
        `${buyers.flatMap((b) => b.orders).length} orders, ${captures} captures, ${refunds} refunds, ${shop.double.faults.log.length} faults`,
      );
      assert.ok(captures >= 5, `${captures} captures: there was a sale`);
      await shop.server.stop();
    });

  for (const gateway of both) {
    it(`${gateway}: before a refund has reached the gateway`, async (t) => {
      const shop = await Shop.open(t, { gateway, settings: no_hurry });
      const [fan] = await shop.server.customers(1);
      const { order } = await shop.bought(fan);
      shop.double.faults.add({ operation: 'refund.create', kind: 'hang', count: 1 });
      assert.equal((await shop.refund(order)).status, 202);
      await eventually('the call is under way', () => shop.calls('refund.create').length === 1);
      await shop.server.restart();
      await shop.reaches(fan, order, 'refunded', { timeout_ms: 90_000 }); // the server asks again after a minute
      assert.equal(shop.double.sums().refunds, 1);
      await shop.settled();
    });

    it(`${gateway}: when the gateway has refunded, and nobody has told us`, async (t) => {
      const shop = await Shop.open(t, { gateway });
      const [fan] = await shop.server.customers(1);
      const { order } = await shop.bought(fan);
      await shop.double.quiet();
      shop.double.webhooks.set({ drop: 1000 });
      shop.double.faults.add({ operation: 'refund.create', kind: 'hang', acted: true, count: 1 });
      assert.equal((await shop.refund(order)).status, 202);
      await eventually('the gateway has done it', () => shop.double.sums().refunds === 1);
      await shop.server.restart();
      await shop.reaches(fan, order, 'refunded', { timeout_ms: 90_000 });
      assert.equal(shop.double.sums().refunds, 1);
      assert.equal(shop.calls('refund.create').length, 1);
      await shop.settled();
    });
  }

  for (const gateway of both)
    it(`${gateway}: and its ledger comes from a backup that does not know a payment`, async (t) => {
      const shop = await Shop.open(t, { gateway });
      const [fan] = await shop.server.customers(1);
      const backup = `${shop.server.data_dir}.backup`;
      t.after(() => fs.rmSync(backup, { recursive: true, force: true }));
      await shop.server.stop();
      fs.cpSync(shop.server.data_dir, backup, { recursive: true });
      await shop.server.launch();
      shop.double.webhooks.set({ hold: true, duplicates: 3 });
      const { page } = await shop.ordered(fan);
      await shop.double.pay(page);
      await shop.server.kill();
      fs.rmSync(shop.server.data_dir, { recursive: true });
      fs.cpSync(backup, shop.server.data_dir, { recursive: true });
      await shop.server.launch();
      shop.double.webhooks.set({ hold: false });
      const lost = async (status) =>
        (await shop.dead_letters(status)).filter((l) => l.kind === 'payment_unknown');
      const [letter] = await eventually('a dead letter', async () => {
        const all = await lost();
        return all.length > 0 && all;
      });
      await shop.double.quiet();
      assert.equal((await lost()).length, 1);
      assert.equal(letter.event_id, shop.event.id);
      assert.equal(letter.topic, null);
      assert.match(letter.detail, new RegExp(`^${gateway} took 12\\.13 (EUR|NGN) as fq-`));
      shop.double.faults.add({ operation: 'refund.create', kind: 'hang', acted: true, count: 1 });
      await shop.retry(letter);
      await eventually('the gateway has done it', () => shop.double.sums().refunds === 1);
      await shop.server.restart(); // before its answer
      const again = await shop.server.post(`/dead-letters/${letter.id}/retry`, { token: shop.organizer });
      if (again.status !== 202) expect_problem(again, 404, 'not_found', 'the webhook closed it first');
      await eventually('the letter is closed', async () => (await lost()).length === 0);
      await shop.double.quiet();
      assert.deepEqual(
        (await lost('all')).map((l) => [l.id, l.status]),
        [[letter.id, 'retried']],
      );
      assert.equal(shop.double.sums().refunds, 1);
      assert.equal(await shop.available(), 10);
      assert.deepEqual(shop.double.violations, []);
      await shop.server.verified();
    });

  for (const gateway of both) {
    it(`${gateway}: while the call for a page is under way`, async (t) => {
      const shop = await Shop.open(t, { gateway, settings: no_hurry });
      const [fan] = await shop.server.customers(1);
      shop.double.faults.add({ operation: create_of[gateway], kind: 'hang', count: 1 });
      const order = await shop.order(fan);
      await eventually('the call is under way', () => shop.calls(create_of[gateway]).length === 1);
      assert.equal([...shop.double.all(made_of[gateway])].length, 0);
      await shop.server.restart();
      const ready = await shop.reaches(fan, order, 'awaiting_payment');
      await shop.double.pay(new URL(ready.payment_url).pathname.split('/').pop());
      await shop.reaches(fan, order, 'success');
      assert.equal([...shop.double.all(made_of[gateway])].length, 1);
      await shop.settled();
    });

    it(`${gateway}: when the gateway has the page, and we have no answer`, async (t) => {
      const shop = await Shop.open(t, { gateway, settings: no_hurry });
      const [fan] = await shop.server.customers(1);
      shop.double.faults.add({ operation: create_of[gateway], kind: 'hang', acted: true, count: 1 });
      const order = await shop.order(fan);
      const first = await eventually('the page is there', () => [...shop.double.all(made_of[gateway])][0]);
      await shop.server.restart();
      const ready = await shop.reaches(fan, order, 'awaiting_payment');
      const page = new URL(ready.payment_url).pathname.split('/').pop();
      if (gateway === 'stripe') assert.equal(page, first.id, 'the same session');
      else assert.notEqual(page, first.access_code, 'a new reference: nobody knows the page of the first');
      await shop.double.pay(page);
      await shop.reaches(fan, order, 'success');
      assert.equal([...shop.double.all(made_of[gateway])].length, gateway === 'stripe' ? 1 : 2);
      await shop.settled();
    });

    it(`${gateway}: when the page of which we have no answer is paid meanwhile`, async (t) => {
      const shop = await Shop.open(t, { gateway, settings: no_hurry });
      const [fan] = await shop.server.customers(1);
      shop.double.faults.add({ operation: create_of[gateway], kind: 'hang', acted: true, count: 1 });
      const order = await shop.order(fan);
      const first = await eventually('the page is there', () => [...shop.double.all(made_of[gateway])][0]);
      await shop.server.kill();
      await shop.double.pay(first.id);
      await shop.server.launch();
      await shop.reaches(fan, order, 'success');
      assert.equal(shop.double.sums().captures, 1);
      await shop.settled();
      assert.equal((await shop.refund(order)).status, 202);
      await shop.reaches(fan, order, 'refunded');
      await shop.settled();
    });

    it(`${gateway}: between the commit of a webhook and its 200`, async (t) => {
      const shop = await Shop.open(t, { gateway });
      const random = random_of(seed + gateway.length);
      const webhooks = await relay(t, shop);
      const fans = await shop.server.customers(6);
      for (const [i, fan] of fans.entries()) {
        const { order, page } = await shop.ordered(fan);
        let killed;
        const kill = () => (killed ??= shop.server.kill());
        // Three after the withheld answer; three at a random moment before it.
        webhooks.answered = i < 3 ? ({ status }) => status !== 200 || (kill(), false) : () => true;
        webhooks.arriving = i < 3 ? () => {} : () => killed ?? setTimeout(kill, random() * 6);
        await shop.double.pay(page);
        await eventually('the kill', () => killed);
        await killed;
        webhooks.answered = () => true;
        webhooks.arriving = () => {};
        await shop.server.launch();
        await shop.reaches(fan, order, 'success');
      }
      await shop.settled();
      const { payments, types } = await shop.rows();
      assert.deepEqual([types[0].sold, payments.length, shop.double.sums().captures], [6, 6, 6]);
      assert.ok(webhooks.passed >= 6);
    });
  }

  it('stripe: while the page is being closed at the end of the hold', async (t) => {
    const shop = await Shop.open(t, {
      event: { claim_ttl_seconds: 2, total: 1 },
      settings: { 'payments.verdict_grace': '10s' },
    });
    const [fan] = await shop.server.customers(1);
    const { order, page } = await shop.ordered(fan);
    shop.double.faults.add({ operation: 'checkout.expire', kind: 'hang', acted: true, count: 1 });
    await eventually('it is being closed', () => shop.calls('checkout.expire').length > 0);
    await shop.server.restart();
    await shop.reaches(fan, order, 'failed', { timeout_ms: 15_000 });
    assert.equal(shop.double.get('checkout.session', page).status, 'expired');
    assert.equal(await shop.available(), 1);
    await shop.settled();
  });
});
