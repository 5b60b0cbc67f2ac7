// SPDX-License-Identifier: Apache-2.0
// Cancellation of an event with many orders: the sale before it, and the checks afterwards. Every order is
// refunded, and each customer is notified once by mail, push, webhook and bus.
import fs from 'node:fs';
import path from 'node:path';
import { assert, eventually, sale } from './lib.mjs';
import { cli } from './tenant.mjs';
import { each, log_of } from './admissions.mjs';
import { held, judge as judge_bus, of } from './bus.mjs';

export const event_name = 'A sale of many';
const mail_subjects = [`Cancelled: ${event_name}`, `Your order was refunded: ${event_name}`];
/** Notices per order after the cancellation: to the customer, a webhook endpoint and the bus. */
export const order_topics = ['payment.refunded', 'ticket.cancelled'];
const address = (n) => `fan-${n}@example.org`;

/** An operator of the default tenant: {token}. */
export async function operator_of(server) {
  const key = await cli(server, 'apikey', 'issue', '--scope', 'operator');
  const session = await server.post('/sessions', { token: key });
  assert.equal(session.status, 201, session.text);
  return { token: session.json.token };
}

/** An event in open mode. */
export async function open_event(server, organizer, changes) {
  const made = await server.post('/events', {
    token: organizer,
    body: { ...sale({ price: 1000, queue: { policy: 'open' }, ...changes }) },
  });
  assert.equal(made.status, 201, made.text);
  assert.equal((await server.post(`/events/${made.json.id}/activate`, { token: organizer })).status, 200);
  return made.json;
}

/** Orders and pays; returns the id of the order. */
export async function buy(server, event, token, email) {
  const placed = await server.post('/checkout', {
    token,
    body: {
      event_id: event.id,
      contact: { first_name: 'Ada', last_name: 'Obi', email },
      items: [{ ticket_type_id: event.ticket_types[0].id }],
    },
  });
  assert.equal(placed.status, 202, placed.text);
  const reaches = (wanted) =>
    eventually(
      `order ${wanted}`,
      async () => {
        const { json } = await server.get(`/orders/${placed.json.order_id}/status`, {
          token,
          headers: { Prefer: 'wait=5' },
        });
        return json.status === wanted && json;
      },
      { timeout_ms: 30_000 },
    );
  const { payment_url } = await reaches('awaiting_payment');
  const paid = await server.post(new URL(payment_url).pathname, {
    body: { action: 'pay' },
    headers: { Accept: 'application/json' },
  });
  assert.equal(paid.status, 200, paid.text);
  await reaches('success');
  return placed.json.order_id;
}

/** Each of `tokens` has a device and a paid order: {event, people: [{email, device, order}]}. */
export async function sell(server, organizer, tokens) {
  const event = await open_event(server, organizer, { name: event_name, total: tokens.length });
  const people = await each(tokens, 32, async (token, n) => {
    const added = await server.post('/customers/me/devices', {
      token,
      body: { platform: 'fcm', token: `phone-${n}` },
    });
    assert.equal(added.status, 201, added.text);
    return {
      email: address(n),
      phone: `phone-${n}`,
      device: added.json.device_id,
      order: await buy(server, event, token, address(n)),
    };
  });
  return { event, people };
}

const metric = (text, line) =>
  Number(new RegExp(`^${line.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1]);

/** Whether these lanes of the outbox are empty. */
export async function is_all_told(server, lanes = ['mail', 'bus', 'notices']) {
  const { text } = await server.get('/metrics', { admin: true });
  return lanes.every((lane) => metric(text, `fairqueue_outbox_rows{lane="${lane}"}`) === 0);
}

/** The orders of an event in its organizer's list. */
export async function orders_of(server, organizer, event) {
  const all = [];
  for (let cursor = ''; cursor !== null;) {
    const { json } = await server.get(
      `/events/${event.id}/orders?limit=200${cursor && `&cursor=${cursor}`}`,
      { token: organizer },
    );
    all.push(...json.items);
    cursor = json.next_cursor;
  }
  return all;
}

/** Number of mails of all kinds. */
export const mails_in = (server) =>
  fs.readdirSync(path.join(server.data_dir, 'mail')).filter((name) => name.endsWith('.eml')).length;

/** Subjects of the mails about the cancellation, by address. */
function mails_of(server) {
  const folder = path.join(server.data_dir, 'mail');
  const mails = new Map();
  for (const name of fs.readdirSync(folder).filter((n) => n.endsWith('.eml'))) {
    const head = fs
      .readFileSync(path.join(folder, name), 'utf8')
      .split('\r\n\r\n')[0]
      .replaceAll('\r\n ', ' ');
    const [to, subject] = ['To', 'Subject'].map((field) =>
      new RegExp(`^${field}: (.*)$`, 'm').exec(head)[1].trim(),
    );
    if (mail_subjects.includes(subject)) mails.set(to, [...(mails.get(to) ?? []), subject]);
  }
  return mails;
}

const count_by = (values) => {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

/** Asserts that every order is refunded in the organizer's list. */
export function judge_refunds(orders, people) {
  assert.deepEqual(orders.map(({ order_id }) => order_id).sort(), people.map(({ order }) => order).sort());
  for (const order of orders)
    assert.deepEqual([order.status, order.refunded_amount], ['refunded', order.total], JSON.stringify(order));
}

/**
 * Asserts one notice per medium. `hook`: received webhooks; `log`, `tally`: of the deliveries, and of FCM;
 * `bus`: the stream.
 */
export async function judge_told({ server, operator, people, hook, provider, nats }) {
  const mails = mails_of(server);
  assert.equal(mails.size, people.length);
  for (const { email } of people)
    assert.deepEqual(mails.get(email)?.sort(), [...mail_subjects].sort(), email);

  assert.equal(new Set(hook.map(({ id }) => id)).size, hook.length, 'each webhook once');
  const topics = count_by(hook.map(({ type }) => type));
  assert.deepEqual(Object.fromEntries(topics), {
    'event.cancelled': 1,
    ...Object.fromEntries(order_topics.map((topic) => [topic, people.length])),
  });
  assert.deepEqual(
    hook
      .filter(({ type }) => type === 'ticket.cancelled')
      .map(({ data }) => data.order_id)
      .sort(),
    people.map(({ order }) => order).sort(),
  );

  const log = await log_of(server, operator);
  const tally = await provider.tally();
  assert.deepEqual(tally.wrong, []);
  const sent = new Map();
  for (const d of log) sent.set(d.target, [...(sent.get(d.target) ?? []), d]);
  for (const { device, phone } of people) {
    const got = sent.get(device) ?? [];
    const told = got.filter(({ topic }) => topic === 'event.cancelled' || order_topics.includes(topic));
    assert.deepEqual(told.map(({ topic }) => topic).sort(), ['event.cancelled', ...order_topics], phone);
    assert.ok(
      got.every(({ state }) => state === 'delivered'),
      JSON.stringify(got),
    );
    assert.deepEqual(
      tally.taken[phone],
      Object.fromEntries(got.map(({ delivery_id }) => [delivery_id, 1])),
      `${phone} is told once`,
    );
  }

  const messages = await held(nats);
  judge_bus(messages);
  assert.equal(of(messages, 'event.cancelled').length, 1);
  for (const topic of order_topics) assert.equal(of(messages, topic).length, people.length, topic);
  assert.deepEqual(
    of(messages, 'ticket.cancelled')
      .map(({ order_id }) => order_id)
      .sort(),
    people.map(({ order }) => order).sort(),
  );
}
