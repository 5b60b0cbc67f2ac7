// SPDX-License-Identifier: Apache-2.0
// The event bus with a real NATS: a sale publishes the events of docs/events.md, in the form of
// docs/events.schema.json and in order, across kills of NATS and of the server. Stripe's webhooks that come
// by the bus have the same effect as by HTTP. FAIRQUEUE_LONG=1 keeps NATS away for ten minutes.
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { headers } from 'nats';
import { assert, eventually, patience, root, sale, server_for, sleep } from './lib.mjs';
import { check, held, is_valid, judge, judge_repeats, nats_for, of, schema, topics } from './bus.mjs';
import { Shop } from './gateways.mjs';
import { ChaosProxy } from '../support/chaos_proxy.mjs';
import { Services, through } from '../support/services.mjs';

const is_long = process.env.FAIRQUEUE_LONG === '1';

/** Signs a new customer in; returns the token. */
async function sign_in(server, email) {
  const verified = await server.sign_in_by_mail(email);
  assert.equal(verified.status, 200, verified.text);
  return verified.json.token;
}

async function begin(t, services, { settings, ...changes } = {}) {
  const server = await server_for(t, {
    settings: { 'bus.url': services.nats_url, 'loyalty.points_per_unit': 2, ...settings },
  });
  const organizer = await server.organizer();
  const made = await server.post('/events', {
    token: organizer,
    body: sale({ total: 100, price: 1000, queue: { policy: 'open' }, ...changes }),
  });
  assert.equal(made.status, 201, made.text);
  assert.equal((await server.post(`/events/${made.json.id}/activate`, { token: organizer })).status, 200);
  return { server, organizer, event: made.json, type: made.json.ticket_types[0].id };
}

/** Orders `quantity`; returns the order and its payment page. */
async function order(s, token, quantity = 1) {
  const placed = await s.server.post('/checkout', {
    token,
    body: {
      event_id: s.event.id,
      contact: { first_name: 'Ada', last_name: 'Obi', email: 'ada@example.org' },
      items: [{ ticket_type_id: s.type, quantity }],
    },
  });
  assert.equal(placed.status, 202, placed.text);
  const { payment_url } = await reaches(s, token, placed.json.order_id, 'awaiting_payment');
  return { id: placed.json.order_id, page: new URL(payment_url).pathname };
}
const reaches = (s, token, id, wanted, options) =>
  eventually(
    `order ${wanted}`,
    async () => {
      const { json } = await s.server.get(`/orders/${id}/status`, { token });
      return json.status === wanted && json;
    },
    options,
  );
const act = async (s, page, action) => {
  const done = await s.server.post(page, { body: { action }, headers: { Accept: 'application/json' } });
  assert.equal(done.status, 200, done.text);
};
async function bought(s, token, quantity) {
  const placed = await order(s, token, quantity);
  await act(s, placed.page, 'pay');
  await reaches(s, token, placed.id, 'success');
  return placed;
}

test('the documented catalog matches the schema', () => {
  const text = fs.readFileSync(path.join(root, 'docs/events.md'), 'utf8');
  const envelope = JSON.parse(
    /```json\n(\{\n {2}"specversion"[^]*?\n\})\n```/
      .exec(text)[1]
      .replaceAll('"…"', '"01998e3c-2000-7b52-8000-00102a3b4c5d"'),
  );
  check(envelope);
  for (const topic of topics) {
    assert.ok(text.includes(`\n| \`${topic}\` |`), `${topic} is in the table`);
    const section = text.split(`\n### ${topic}\n`)[1]?.split('\n#')[0];
    assert.ok(section, `${topic} has a section`);
    const data = JSON.parse(/```json\n([^]*?)\n```/.exec(section)[1]);
    check({ ...envelope, type: topic, data });
    for (const name of Object.keys(data))
      assert.ok(name in schema.$defs[topic].properties, `${topic}: ${name} is in the schema`);
    for (const name of schema.$defs[topic].required) {
      const { [name]: gone, ...rest } = data;
      assert.ok(!is_valid({ ...envelope, type: topic, data: rest }), `${topic} needs ${name}`);
    }
  }
  assert.ok(!is_valid({ ...envelope, type: 'nonsense' }));
});

test('a sale publishes all its events', { timeout: 120_000 * patience }, async (t) => {
  const services = await Services.start('nats');
  t.after(() => services.stop());
  const s = await begin(t, services, {
    claim_ttl_seconds: 8,
    ticket_types: [
      { name: 'Standard', price: 1000, total: 90, max_per_order: 4 },
      { name: 'Members', price: 500, total: 10, hidden: true },
    ],
  });
  const [ben, cem, dan] = await s.server.customers(3);
  const ada = await sign_in(s.server, 'ada@example.org');
  const first = await bought(s, ada, 2);
  const refund = await s.server.post(`/orders/${first.id}/refunds`, {
    token: s.organizer,
    body: { items: [{ ticket_type_id: s.type, quantity: 1 }] },
  });
  assert.equal(refund.status, 202, refund.text);
  await reaches(s, ada, first.id, 'partially_refunded');
  const { event_tickets } = (await s.server.get(`/orders/${first.id}`, { token: ada })).json;
  const kept = event_tickets.find(({ status }) => status === 'ISSUED').id;
  const offer = await s.server.post(`/event-tickets/${kept}/transfer`, {
    token: ada,
    body: { email: 'hal@example.org' },
  });
  assert.equal(offer.status, 201, offer.text);
  const hal = await sign_in(s.server, 'hal@example.org');
  const taken = `/event-tickets/transfers/${offer.json.transfer_id}/accept`;
  assert.equal((await s.server.post(taken, { token: hal })).status, 200);
  const gate = `/events/${s.event.id}/checkin`;
  const list = await s.server.post(`${gate}/lists`, { token: s.organizer, body: { name: 'Door' } });
  assert.equal(list.status, 201, list.text);
  const device = await s.server.post(`${gate}/devices`, { token: s.organizer, body: { label: 'Phone' } });
  assert.equal(device.status, 201, device.text);
  const let_in = await s.server.post('/checkin/redeem', {
    token: device.json.token,
    body: { nonce: crypto.randomUUID(), list_id: list.json.id, event_ticket_id: kept },
  });
  assert.equal(let_in.json.result, 'admitted', let_in.text);
  const declined = await order(s, ben);
  await act(s, declined.page, 'decline');
  const given_up = await order(s, cem);
  assert.ok((await s.server.delete(`/orders/${given_up.id}`, { token: cem })).status < 300);
  const manage = (path, body) => s.server.post(path, { token: s.organizer, body });
  const invited = await manage(`/events/${s.event.id}/invitations`, {
    emails: ['gil@example.org'],
    ticket_type_id: s.event.ticket_types[1].id,
  });
  assert.deepEqual(invited.json, { count: 1 }, invited.text);
  const eve = await sign_in(s.server, 'eve@example.org');
  const hers = await order(s, eve);
  assert.equal((await manage('/blocked-customers', { emails: ['eve@example.org'] })).status, 200);
  await reaches(s, eve, hers.id, 'cancelled');
  const forgotten = await order(s, dan);
  await reaches(s, dan, forgotten.id, 'failed', { timeout_ms: 30_000 });
  await reaches(s, ben, declined.id, 'failed');
  assert.equal(
    (await s.server.request('PUT', `/events/${s.event.id}/cancel`, { token: s.organizer })).status,
    200,
  );
  await reaches(s, ada, first.id, 'refunded');

  const nats = await nats_for(t, services);
  const awaited = topics.filter((topic) => topic !== 'queue.expired');
  let seen = [];
  await eventually(
    'every topic',
    async () => {
      seen = await held(nats).catch(() => []);
      return (
        awaited.every((topic) => of(seen, topic).length > 0) && of(seen, 'ticket.cancelled').length === 2
      );
    },
    { timeout_ms: 20_000 * patience },
  ).catch((error) =>
    assert.fail(`${error.message}: missing ${awaited.filter((topic) => of(seen, topic).length === 0)}`),
  );
  judge(seen);
  const { entry_id } = (await s.server.get(`/events/${s.event.id}/queue/position`, { token: ada })).json;
  const about_first = { event_id: s.event.id, order_id: first.id, entry_id };
  const [generated] = of(seen, 'ticket.generated');
  assert.deepEqual(generated, {
    ...about_first,
    claim_id: generated.claim_id,
    customer_id: generated.customer_id,
    items: [{ ticket_type_id: s.type, quantity: 2 }],
    event_ticket_ids: generated.event_ticket_ids,
  });
  const listed = (await s.server.get(`/orders/${first.id}`, { token: ada })).json.event_tickets;
  assert.deepEqual(
    [...generated.event_ticket_ids].sort(),
    listed.map((one) => one.id),
  );
  const [moved] = of(seen, 'ticket.transferred');
  assert.equal(moved.from_customer_id, generated.customer_id);
  const { from_customer_id: _, ...of_holder } = moved;
  assert.deepEqual(of(seen, 'ticket.checked_in'), [of_holder], 'the holder is let in, not the buyer');
  const gone = of(seen, 'ticket.cancelled').flatMap((one) => one.event_ticket_ids);
  assert.deepEqual(gone.sort(), [...generated.event_ticket_ids].sort());
  assert.deepEqual(
    of(seen, 'ticket.cancelled').map(({ items }) => items),
    [[{ ticket_type_id: s.type, quantity: 1 }], [{ ticket_type_id: s.type, quantity: 1 }]],
  );
  const failed = of(seen, 'payment.failed').find(({ order_id }) => order_id === declined.id);
  assert.ok(failed?.claim_id && failed.entry_id && failed.payment_id, 'a payment says what it was for');
  assert.equal(of(seen, 'payment.refunded')[0].claim_id, generated.claim_id);
  const [completed] = of(seen, 'order.completed');
  const [awarded] = of(seen, 'loyalty.awarded');
  assert.equal(awarded.points, 2 * Math.floor(completed.amount / 100));
  assert.equal(of(seen, 'order.completed').length, 1);
  assert.equal(of(seen, 'event.cancelled').length, 1);
  assert.deepEqual(
    of(seen, 'user.updated').map(({ email, email_verified }) => [email, email_verified]),
    [
      ['ada@example.org', true],
      ['hal@example.org', true],
      ['eve@example.org', true],
    ],
  );
  const [blocked] = of(seen, 'blacklist.enforced');
  assert.deepEqual(blocked, {
    event_id: s.event.id,
    customer_id: blocked.customer_id,
    place_ended: true,
    claims_released: 1,
    orders_refunded: 0,
  });
  assert.deepEqual(
    of(seen, 'quota.invitation').map(({ items }) => items),
    [[{ ticket_type_id: s.event.ticket_types[1].id, quantity: 1 }]],
  );
  assert.equal(of(seen, 'mail.send').length, 0);
  assert.ok(!s.server.log.includes('ada@example.org'), 'no address in the log');
  const { config } = await (await nats.jetstreamManager()).streams.info('fairqueue');
  assert.deepEqual([config.max_age, config.duplicate_window, config.storage], [72 * 3600e9, 3600e9, 'file']);
});

test(
  'NATS killed and away while a sale goes on: none lost, none twice, in order',
  { timeout: 120_000 * patience },
  async (t) => {
    const services = await Services.start('nats');
    t.after(() => services.stop());
    const s = await begin(t, services);
    const fans = await s.server.customers(18);
    for (const [n, fan] of fans.entries()) {
      if (n === 5) await services.kill('nats');
      if (n === 11) await services.up('nats');
      await bought(s, fan); // no one waits for the bus
      if (n === 13) await services.kill('nats');
      if (n === 14) (await s.server.kill(), await s.server.launch());
      if (n === 15) {
        await eventually('the audit tells of it', () => s.server.log.includes('PUBLISH_FAILED'));
        await services.up('nats');
      }
    }
    const nats = await nats_for(t, services);
    const each_of_a_sale = ['order.completed', 'ticket.generated', 'loyalty.awarded'];
    let seen = [];
    await eventually(
      'every order',
      async () => {
        seen = await held(nats).catch(() => []);
        return each_of_a_sale.every((topic) => of(seen, topic).length >= fans.length);
      },
      { timeout_ms: 60_000 * patience },
    );
    judge(seen);
    for (const topic of each_of_a_sale) assert.equal(of(seen, topic).length, fans.length, topic);
    const { text } = await s.server.get('/metrics', { admin: true });
    assert.match(text, /^fairqueue_bus_events_total\{result="published"\} [1-9]/m);
  },
);

test(
  'NATS away for longer than it knows duplicates: none lost, in order, told again only as documented',
  { timeout: (is_long ? 1_200_000 : 120_000) * patience },
  async (t) => {
    const [away_ms, window_ms, pause_ms] = is_long ? [600_000, 120_000, 4_000] : [5_000, 1_500, 200];
    const services = await Services.start('nats');
    t.after(() => services.stop());
    const proxy = await ChaosProxy.start(Number(new URL(services.nats_url).port));
    t.after(() => proxy.close());
    const nats = await nats_for(t, services);
    const streams = async () => (await nats.jetstreamManager()).streams;
    const first = await streams();
    await first.add({
      name: 'fairqueue',
      subjects: ['fairqueue.>'],
      storage: 'file',
      max_age: 72 * 3600e9,
      duplicate_window: window_ms * 1e6,
    }); // an existing stream stays unchanged
    const stored = async () => (await (await streams()).info('fairqueue')).state.messages;
    const s = await begin(t, services, {
      total: 1000,
      settings: { 'bus.url': through(services.nats_url, proxy.port) },
    });
    const other = await s.server.event(s.organizer, { total: 1000, price: 1000, queue: { policy: 'open' } });
    const sales = [s, { ...s, event: other, type: other.ticket_types[0].id }]; // two aggregates
    const fans = await s.server.customers(300);
    const orders = [];
    const buy = async () => orders.push((await bought(sales[orders.length % 2], fans[orders.length])).id);
    const is_told = () =>
      eventually('it is told', async () => of(await held(nats), 'loyalty.awarded').length >= orders.length);

    for (let n = 0; n < 4; ++n) await buy();
    await is_told();
    // A lost acknowledgement: the stream has the event, and FairQueue does not know. (If a pong is cut
    // instead: again.)
    for (let trial = 0, has_it = false; !has_it; ++trial) {
      assert.ok(trial < 5, 'an event is stored and not acknowledged');
      const so_far = await stored();
      proxy.limit_data({ to_client: 0 });
      await buy();
      has_it = await eventually('it is stored', async () => (await stored()) > so_far, {
        timeout_ms: 2000,
      }).catch(() => false);
      if (has_it) break;
      proxy.heal();
      await is_told();
    }
    const unacknowledged = (await held(nats)).at(-1).id;
    const before = await stored();
    await services.kill('nats');
    proxy.heal();
    const back_at = Date.now() + away_ms;
    let has_died = false;
    while (Date.now() < back_at || !has_died || orders.length <= 8) {
      await buy(); // no one waits for the bus
      if (!has_died && Date.now() > back_at - away_ms / 2) {
        await s.server.kill();
        await s.server.launch();
        has_died = true;
      }
      await sleep(pause_ms);
    }
    await services.up('nats');
    assert.equal(proxy.target_port, Number(new URL(services.nats_url).port));
    // Killed while it catches up, and away for longer than the window: it repeats published events that were
    // not marked.
    await eventually(
      'it is told of what happened meanwhile',
      async () => (await stored().catch(() => 0)) > before,
      { timeout_ms: 60_000, every_ms: 5 },
    );
    await s.server.kill();
    await sleep(window_ms + 500);
    await s.server.launch();
    for (let n = 0; n < 4; ++n) await buy();

    let seen = [];
    await eventually(
      'every order',
      async () => {
        seen = await held(nats).catch(() => []);
        return new Set(of(seen, 'loyalty.awarded').map(({ order_id }) => order_id)).size >= orders.length;
      },
      { timeout_ms: 90_000 },
    );
    const taken = judge_repeats(seen, window_ms);
    for (const topic of ['order.placed', 'order.completed', 'ticket.generated', 'loyalty.awarded'])
      assert.deepEqual(
        of(taken, topic)
          .map(({ order_id }) => order_id)
          .sort(),
        [...orders].sort(),
        `${topic} of each order, once`,
      );
    assert.ok(
      seen.filter(({ id }) => id === unacknowledged).length >= 2,
      'what was not acknowledged is told again',
    );
    t.diagnostic(
      `${orders.length} orders, ${taken.length} events, ${seen.length - taken.length} of them told again`,
    );
  },
);

/** A webhook router: takes Stripe's webhooks and publishes them unchanged. */
async function start_router(t, nats, subject) {
  const router = { published: 0, changes: (body) => body };
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', async () => {
      const head = headers();
      head.set('Stripe-Signature', request.headers['stripe-signature']);
      try {
        await nats
          .jetstream()
          .publish(subject, router.changes(Buffer.concat(parts)), { headers: head, timeout: 1000 });
        ++router.published;
        response.writeHead(200).end();
      } catch {
        response.writeHead(503).end();
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  router.url = `http://127.0.0.1:${server.address().port}/`;
  return router;
}

test(
  'webhooks that come by the bus pay orders, over kills, and a forged one does not',
  { timeout: 120_000 * patience },
  async (t) => {
    const services = await Services.start('nats');
    t.after(() => services.stop());
    const shop = await Shop.open(t, {
      settings: { 'bus.url': services.nats_url, 'bus.payments_subject': 'stripe.backend' },
    });
    const nats = await nats_for(t, services);
    const router = await start_router(t, nats, 'stripe.backend');
    shop.double.set({ webhookUrl: router.url });
    const fans = await shop.server.customers(4);
    const counted = async (result) => {
      const { text } = await shop.server.get('/metrics', { admin: true });
      return Number(
        new RegExp(`^fairqueue_bus_payment_events_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)[1],
      );
    };

    await shop.bought(fans[0]);
    assert.ok(router.published > 0);
    await eventually('it is taken', async () => (await counted('taken')) > 0);
    assert.equal(await shop.webhooks_counted('applied'), 0, 'nothing came by HTTP');

    const second = await shop.ordered(fans[1]);
    await shop.server.kill(); // messages wait in the stream meanwhile
    const before = router.published;
    await shop.double.pay(second.page);
    await eventually('the router has it', () => router.published > before);
    await sleep(500);
    await shop.server.launch();
    await shop.reaches(fans[1], second.order, 'success', { timeout_ms: 20_000 * patience });

    const third = await shop.ordered(fans[2]);
    await services.kill('nats');
    await shop.double.pay(third.page);
    await sleep(500);
    await services.up('nats');
    await shop.reaches(fans[2], third.order, 'success', { timeout_ms: 40_000 * patience });

    const fourth = await shop.ordered(fans[3]);
    router.changes = (body) => Buffer.concat([body, Buffer.from(' ')]); // a forger on the way
    await shop.double.pay(fourth.page);
    await eventually('it is refused', async () => (await counted('refused')) > 0);
    assert.equal((await shop.status(fans[3], fourth.order)).status, 'awaiting_payment');
    shop.double.set({ webhookUrl: `${shop.server.url}/webhooks/stripe` });
    await shop.webhook(shop.events('checkout.session.completed').at(-1).toString());
    await shop.reaches(fans[3], fourth.order, 'success');
    await shop.settled();
  },
);
