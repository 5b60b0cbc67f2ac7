// SPDX-License-Identifier: Apache-2.0
// Checkout against the real server with the sandbox gateway: orders, promo codes, fees, refunds, priority
// customers, settings, mail.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { after, assert, eventually, expect_problem, sale, server_for, sleep, Socket } from './lib.mjs';
import { cli } from './tenant.mjs';

const contact = { first_name: 'Ada', last_name: 'Obi', email: 'ada@example.org' };

/** A sale of two types that admits every customer. */
const two_types = (changes = {}) =>
  sale({
    total: undefined,
    price: undefined,
    ticket_types: [
      { name: 'Standard', price: 1000, total: 10, max_per_order: 4 },
      { name: 'Seat', price: 2500, total: 5, max_per_order: 4 },
    ],
    currency: 'EUR',
    ...changes,
  });

async function begin(t, { options, event = {} } = {}) {
  const server = await server_for(t, options);
  const organizer = await server.organizer();
  const made = await server.post('/events', { token: organizer, body: clean(two_types(event)) });
  assert.equal(made.status, 201, made.text);
  assert.equal((await server.post(`/events/${made.json.id}/activate`, { token: organizer })).status, 200);
  return { server, organizer, event: made.json, types: made.json.ticket_types.map((x) => x.id) };
}

/** An operator of the default tenant. */
async function operator_of(server) {
  const key = await cli(server, 'apikey', 'issue', '--scope', 'operator');
  const session = await server.post('/sessions', { token: key });
  assert.equal(session.status, 201, session.text);
  return session.json.token;
}

/** A held request may wait longer than this machine stands still. */
const patient = { settings: { 'http.request_timeout': '20s' } };

const clean = (body) => JSON.parse(JSON.stringify(body));

/** POST /checkout of an admitted (or, in an open event, any) customer. */
async function check_out(s, fan, body = {}, more = {}) {
  const admission_token = more.open ? undefined : (await admitted(s, fan)).admission_token;
  return s.server.post('/checkout', {
    token: fan,
    body: clean({
      event_id: s.event.id,
      admission_token,
      contact,
      items: [{ ticket_type_id: s.types[0] }],
      ...body,
    }),
    ...more,
  });
}

async function admitted(s, fan) {
  await s.server.post(`/events/${s.event.id}/queue`, { token: fan });
  return s.server.admitted(fan, s.event.id);
}

async function status_of(s, fan, order, wanted) {
  let last;
  await eventually(`order ${wanted}`, async () => {
    last = await s.server.get(`/orders/${order}/status`, { token: fan });
    return last.json.status === wanted;
  });
  return last.json;
}

const at_page = (s, url, action) =>
  s.server.post(new URL(url).pathname, { body: { action }, headers: { Accept: 'application/json' } });

async function pay(s, status) {
  const paid = await at_page(s, status.payment_url, 'pay');
  assert.equal(paid.status, 200, paid.text);
}

/** Orders and pays. */
async function buy(s, fan, body = {}, more = {}) {
  const placed = await check_out(s, fan, body, more);
  assert.ok([200, 202].includes(placed.status), placed.text);
  const ready = await status_of(s, fan, placed.json.order_id, 'awaiting_payment');
  await pay(s, ready);
  await status_of(s, fan, placed.json.order_id, 'success');
  return placed.json.order_id;
}

const mails = (server) => {
  const folder = path.join(server.data_dir, 'mail');
  return fs.existsSync(folder)
    ? fs
        .readdirSync(folder)
        .filter((f) => f.endsWith('.eml'))
        .map((f) => fs.readFileSync(path.join(folder, f), 'utf8'))
    : [];
};

/** A customer with an address: its token. */
async function by_mail(server, email) {
  const asked = await server.post('/auth/customer/otp/request', { body: { email } });
  assert.equal(asked.status, 202);
  const mail = await eventually('the code', () => mails(server).find((m) => m.includes(email)));
  const answer = await server.post('/auth/customer/otp/verify', {
    body: {
      email,
      handle: asked.json.handle,
      otp: /\b\d{6}\b/.exec(
        mail.slice(mail.indexOf('\n\n') > 0 ? mail.indexOf('\n\n') : mail.indexOf('\r\n\r\n')),
      )[0],
    },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.token;
}

test('from an admitted fan to a paid order', async (t) => {
  const s = await begin(t, { options: patient });
  const [fan, other] = await s.server.customers(2);
  const quoted = await s.server.post(`/events/${s.event.id}/quote`, {
    token: fan,
    body: {
      items: [{ ticket_type_id: s.types[0], quantity: 2, donation: 100 }, { ticket_type_id: s.types[1] }],
    },
  });
  assert.equal(quoted.status, 200, quoted.text);
  assert.deepEqual(
    [
      quoted.json.subtotal,
      quoted.json.donations,
      quoted.json.platform_fee,
      quoted.json.processing_fee,
      quoted.json.total,
    ],
    [4500, 200, 450, 179, 5329],
  );

  const body = {
    items: [{ ticket_type_id: s.types[0], quantity: 2, donation: 100 }, { ticket_type_id: s.types[1] }],
  };
  const entry = await admitted(s, fan);
  const request = {
    token: fan,
    headers: { 'Idempotency-Key': 'first' },
    body: clean({ event_id: s.event.id, admission_token: entry.admission_token, contact, ...body }),
  };
  const placed = await s.server.post('/checkout', request);
  assert.equal(placed.status, 202, placed.text);
  assert.equal(placed.json.status, 'processing');
  assert.equal(placed.headers.location, `/orders/${placed.json.order_id}`);
  assert.equal(placed.json.status_url, `/orders/${placed.json.order_id}/status`);
  assert.ok(placed.json.poll_after_ms >= 500);
  const again = await s.server.post('/checkout', request);
  assert.equal(again.json.order_id, placed.json.order_id, 'the same key is the same order');
  assert.equal(again.headers['idempotency-replayed'], 'true');
  expect_problem(
    await s.server.post('/checkout', {
      ...request,
      body: { ...request.body, contact: { ...contact, first_name: 'Eve' } },
    }),
    422,
    'idempotency_key_reused',
  );
  expect_problem(await check_out(s, other, {}, { open: true }), 403, 'not_admitted');

  const order = placed.json.order_id;
  expect_problem(await s.server.get(`/orders/${order}`, { token: other }), 404, 'not_found');
  expect_problem(await s.server.get(`/orders/${order}/status`, { token: other }), 404, 'not_found');
  const waited = await s.server.get(`/orders/${order}/status`, {
    token: fan,
    headers: { Prefer: 'wait=10' },
  });
  assert.equal(waited.json.status, 'awaiting_payment', waited.text);
  assert.ok(Date.parse(waited.json.expires_at) > Date.now());
  assert.equal(waited.json.redirect_url, null);
  await pay(s, waited.json);
  const done = await status_of(s, fan, order, 'success');
  assert.equal(done.payment_url, null);

  const whole = await s.server.get(`/orders/${order}`, { token: fan });
  assert.equal(whole.json.total, 5329);
  assert.equal(whole.json.payment_status, 'CONFIRMED');
  assert.deepEqual(whole.json.contact, { ...contact, phone: null });
  assert.equal(
    (await s.server.get(`/orders/${order}`, { token: s.organizer })).status,
    200,
    'its organizer sees it',
  );
  const mine = await s.server.get('/orders', { token: fan });
  assert.deepEqual(
    mine.json.items.map((o) => o.order_id),
    [order],
  );
  const all = await s.server.get(`/events/${s.event.id}/orders`, { token: s.organizer });
  assert.deepEqual(
    all.json.items.map((o) => o.contact.email),
    [contact.email],
  );
  await eventually('the receipt', () =>
    mails(s.server).some((m) => m.includes('ada@example.org') && m.includes(order)),
  );
  assert.equal((await s.server.get(`/events/${s.event.id}/stats`, { token: s.organizer })).json.sold, 3);
});

test('a customer who has not paid gets the payment page by mail', async (t) => {
  const s = await begin(t);
  const [fan] = await s.server.customers(1);
  const began = Date.now();
  const placed = await check_out(s, fan);
  const ready = await status_of(s, fan, placed.json.order_id, 'awaiting_payment');
  const reference = ready.payment_url.split('/').pop();
  await eventually('the mail', () =>
    mails(s.server).some((m) => m.replaceAll('=\r\n', '').replaceAll('=\n', '').includes(reference)),
  );
  await sleep(1500);
  assert.equal(mails(s.server).length, 1, 'and once');
  const folder = path.join(s.server.data_dir, 'mail');
  const [file] = fs.readdirSync(folder).filter((name) => name.endsWith('.eml'));
  assert.ok(fs.statSync(path.join(folder, file)).mtimeMs >= began + 2000, 'not before two seconds');
});

test('the share of asynchronous checkouts is set per installation and per event, without a restart', async (t) => {
  const s = await begin(t, { options: patient });
  const operator = await operator_of(s.server);
  const fans = await s.server.customers(4);
  expect_problem(
    await s.server.patch('/settings', { token: s.organizer, body: { checkout: { async_percent: 0 } } }),
    403,
    'forbidden',
  );
  assert.equal((await s.server.get('/settings', { token: operator })).json.checkout.async_percent, 100);
  assert.equal((await check_out(s, fans[0])).status, 202);
  const changed = await s.server.patch('/settings', {
    token: operator,
    body: { checkout: { async_percent: 0 }, reason: 'trying' },
  });
  assert.equal(changed.status, 200, changed.text);
  assert.equal(changed.json.checkout.async_percent, 0);
  const sync = await check_out(s, fans[1]);
  assert.equal(sync.status, 200, sync.text);
  assert.equal(sync.json.status, 'awaiting_payment');
  const patched = await s.server.patch(`/events/${s.event.id}`, {
    token: s.organizer,
    body: { checkout: { async_percent: 100 } },
  });
  assert.equal(patched.json.checkout.async_percent, 100, patched.text);
  assert.equal((await check_out(s, fans[2])).status, 202, 'the event has a say of its own');
  const held = await check_out(s, fans[3], {}, { headers: { Prefer: 'wait=10' } });
  assert.equal(held.status, 200, held.text);
  assert.equal(held.headers['preference-applied'], 'wait=10');
  const audit = await s.server.get('/audit', { token: operator });
  assert.ok(
    audit.json.entries.some((e) => e.action === 'settings.change' && e.reason === 'trying'),
    audit.text,
  );
});

test('an open event is joined by buying, and free tickets are bought at once', async (t) => {
  const s = await begin(t, {
    event: {
      queue: { policy: 'open' },
      ticket_types: [{ name: 'Free', price: 0, total: 3, max_per_order: 2 }],
    },
  });
  const [fan, other, third] = await s.server.customers(3);
  const placed = await check_out(
    s,
    fan,
    { items: [{ ticket_type_id: s.types[0], quantity: 2 }] },
    { open: true },
  );
  assert.equal(placed.status, 200, placed.text);
  assert.equal(placed.json.status, 'success');
  expect_problem(
    await check_out(s, other, { items: [{ ticket_type_id: s.types[0], quantity: 2 }] }, { open: true }),
    409,
    'none_free',
  );
  assert.equal((await check_out(s, other, {}, { open: true })).json.status, 'success');
  expect_problem(await check_out(s, third, {}, { open: true }), 410, 'event_sold_out');
});

test('promo codes', async (t) => {
  const s = await begin(t, { event: { claims_per_customer: 2 } });
  const at = `/events/${s.event.id}/promo-codes`;
  const made = await s.server.post(at, {
    token: s.organizer,
    body: {
      code: 'half',
      discount: { type: 'percent', percent: 50 },
      uses_max: 1,
      ticket_type_ids: [s.types[0]],
    },
  });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.json.code, 'HALF');
  assert.deepEqual(made.json.ticket_type_ids, [s.types[0]]);
  assert.equal(made.headers.location, `${at}/${made.json.id}`);
  expect_problem(
    await s.server.post(at, { token: s.organizer, body: { code: 'HALF', discount: { type: 'none' } } }),
    409,
    'promo_code_taken',
  );
  expect_problem(
    await s.server.post(at, { token: s.organizer, body: { code: 'two words', discount: { type: 'none' } } }),
    400,
    'invalid_field',
  );
  const [fan, other] = await s.server.customers(2);
  expect_problem(await s.server.get(at, { token: fan }), 403, 'forbidden');
  expect_problem(await check_out(s, fan, { promo_code: 'nope' }), 409, 'promo_code_invalid');
  const order = await buy(s, fan, {
    promo_code: 'HALF',
    items: [{ ticket_type_id: s.types[0] }, { ticket_type_id: s.types[1] }],
  });
  const whole = (await s.server.get(`/orders/${order}`, { token: fan })).json;
  assert.deepEqual([whole.discount, whole.promo_code], [500, 'HALF']);
  expect_problem(await check_out(s, other, { promo_code: 'HALF' }), 409, 'promo_code_exhausted');
  const more = await s.server.patch(`${at}/${made.json.id}`, {
    token: s.organizer,
    body: { uses_max: null },
  });
  assert.deepEqual([more.json.uses_max, more.json.uses], [null, 1], more.text);
  const held = await check_out(s, other, { promo_code: 'HALF' });
  assert.equal(held.status, 202, held.text);
  assert.equal((await s.server.get(`${at}/${made.json.id}`, { token: s.organizer })).json.uses, 2);
  await s.server.delete(`/orders/${held.json.order_id}`, { token: other });
  await eventually(
    'the use comes back',
    async () => (await s.server.get(`${at}/${made.json.id}`, { token: s.organizer })).json.uses === 1,
  );
  assert.equal((await s.server.delete(`${at}/${made.json.id}`, { token: s.organizer })).status, 204);
  expect_problem(await check_out(s, other, { promo_code: 'HALF' }), 409, 'promo_code_invalid');
});

test('questions are answered before an order is placed', async (t) => {
  const questions = [
    { label: 'Meal?', kind: 'choice', to: 'attendee', required: true, choices: ['Rice', 'Yam'] },
    { label: 'I accept the terms.', kind: 'consent', required: true },
    { label: 'Anything else?', kind: 'text' },
  ];
  const s = await begin(t, { event: { questions, queue: { policy: 'open' } } });
  assert.deepEqual(
    s.event.questions.map(({ id, label }) => [id, label]),
    questions.map(({ label }, i) => [i + 1, label]),
  );
  const fan = await s.server.customer();
  const items = [{ ticket_type_id: s.types[0], quantity: 2 }];
  const buy = (answers) => check_out(s, fan, { items, answers }, { open: true });
  const meal = (attendee, value) => ({ question_id: 1, attendee, value });
  const terms = { question_id: 2, value: 'yes' };
  for (const answers of [
    undefined,
    [terms, meal(1, 'Rice')],
    [terms, meal(1, 'Rice'), meal(2, 'Fish')],
    [terms, meal(1, 'Rice'), meal(2, 'Yam'), meal(3, 'Yam')],
  ])
    expect_problem(await buy(answers), 400, 'invalid_field');
  const placed = await buy([meal(2, 'Yam'), terms, meal(1, 'Rice')]);
  assert.ok([200, 202].includes(placed.status), placed.text);
  const order = (await s.server.get(`/orders/${placed.json.order_id}`, { token: fan })).json;
  assert.deepEqual(
    order.answers.map(({ attendee, label, value }) => [attendee, label, value]),
    [
      [null, 'I accept the terms.', 'yes'],
      [1, 'Meal?', 'Rice'],
      [2, 'Meal?', 'Yam'],
    ],
  );
  const csv = (await s.server.get(`/events/${s.event.id}/orders.csv`, { token: s.organizer })).text;
  assert.match(csv, /I accept the terms\.: yes; Meal\? \(1\): Rice; Meal\? \(2\): Yam/);

  // Once they are paid for, each ticket has the number of the attendee whose answers belong to it.
  await pay(s, await status_of(s, fan, placed.json.order_id, 'awaiting_payment'));
  await status_of(s, fan, placed.json.order_id, 'success');
  const { event_tickets } = (await s.server.get(`/orders/${placed.json.order_id}`, { token: fan })).json;
  const by_attendee = new Map(event_tickets.map(({ id, attendee }) => [attendee, id]));
  assert.deepEqual([...by_attendee.keys()].sort(), [1, 2]);
  const second = (await s.server.get(`/event-tickets/${by_attendee.get(2)}`, { token: fan })).json;
  assert.equal(second.attendee, 2);
  const paid_csv = (await s.server.get(`/events/${s.event.id}/orders.csv`, { token: s.organizer })).text;
  assert.ok(paid_csv.includes(`,"1: ${by_attendee.get(1)}; 2: ${by_attendee.get(2)}"`), paid_csv);

  // A changed text is another question, whose id nothing had before.
  const ask = (...asked) =>
    s.server.patch(`/events/${s.event.id}`, { token: s.organizer, body: { questions: asked } });
  const changed = await ask({ ...questions[1], id: 2, label: 'I accept the new terms.' });
  assert.deepEqual(
    changed.json.questions.map(({ id }) => id),
    [4],
  );
  expect_problem(await ask({ ...questions[1], id: 2 }), 400, 'invalid_field');
  const later = await check_out(s, await s.server.customer(), { items, answers: [terms] }, { open: true });
  expect_problem(later, 400, 'invalid_field');
});

test('a hidden type needs its promo code', async (t) => {
  const s = await begin(t, {
    event: {
      ticket_types: [
        { name: 'Standard', price: 1000, total: 10 },
        { name: 'Backstage', price: 9000, total: 2, hidden: true },
      ],
    },
  });
  const [fan] = await s.server.customers(1);
  assert.deepEqual(
    (await s.server.get(`/events/${s.event.id}`)).json.ticket_types.map((x) => x.name),
    ['Standard'],
  );
  assert.equal(
    (await s.server.get(`/events/${s.event.id}`, { token: s.organizer })).json.ticket_types.length,
    2,
  );
  const listed = (await s.server.get('/events')).json.items.find((e) => e.id === s.event.id);
  assert.equal(listed.ticket_types.length, 1);
  const items = [{ ticket_type_id: s.types[1] }];
  expect_problem(await check_out(s, fan, { items }), 400, 'invalid_field');
  await s.server.post(`/events/${s.event.id}/promo-codes`, {
    token: s.organizer,
    body: { code: 'CREW', discount: { type: 'none' }, ticket_type_ids: [s.types[1]] },
  });
  assert.equal((await check_out(s, fan, { items, promo_code: 'crew' })).status, 202);
});

test('tickets are refunded one by one, and a refunded ticket is on sale again', async (t) => {
  const s = await begin(t);
  const [fan] = await s.server.customers(1);
  const order = await buy(s, fan, { items: [{ ticket_type_id: s.types[0], quantity: 2 }] });
  expect_problem(await s.server.post(`/orders/${order}/refunds`, { token: fan, body: {} }), 403, 'forbidden');
  const listed = async () => (await s.server.get('/event-tickets', { token: fan })).json.items;
  const held = await listed();
  assert.deepEqual(
    held.map((one) => [one.event_id, one.event_status, one.ticket_type_id, one.status]),
    Array(2).fill([s.event.id, 'ACTIVE', s.types[0], 'ISSUED']),
  );
  const refund = (event_ticket_ids) =>
    s.server.post(`/orders/${order}/refunds`, {
      token: s.organizer,
      body: { items: [{ ticket_type_id: s.types[0] }], event_ticket_ids, reason: 'ill' },
    });
  expect_problem(await refund(held.map((one) => one.id)), 400, 'invalid_field'); // two instead of one
  const one = await refund([held[1].id]);
  assert.equal(one.status, 202, one.text);
  assert.deepEqual(
    one.json.event_tickets.filter((each) => each.refund_pending).map((each) => each.id),
    [held[1].id],
  );
  await status_of(s, fan, order, 'partially_refunded');
  assert.deepEqual(
    (await listed()).map((each) => each.id),
    [held[0].id],
  );
  const seen = await s.server.get(`/event-tickets/${held[1].id}`, { token: fan });
  assert.equal(seen.json.status, 'CANCELLED');
  const cancelled = await s.server.get(`/events/${s.event.id}/event-tickets?status=CANCELLED`, {
    token: s.organizer,
  });
  assert.deepEqual(
    cancelled.json.items.map((each) => each.id),
    [held[1].id],
  );
  assert.equal((await s.server.get(`/orders/${order}`, { token: fan })).json.refunded_amount, 1000);
  await s.server.post(`/orders/${order}/refunds`, { token: s.organizer });
  await status_of(s, fan, order, 'refunded');
  const whole = (await s.server.get(`/orders/${order}`, { token: fan })).json;
  assert.equal(whole.refunded_amount, whole.total, 'fees go back with the last ticket');
  assert.equal((await s.server.get(`/events/${s.event.id}`)).json.available, 15);
  expect_problem(
    await s.server.post(`/orders/${order}/refunds`, { token: s.organizer }),
    409,
    'nothing_to_refund',
  );
  await eventually(
    'two mails about it',
    () => mails(s.server).filter((m) => /^Subject: .*refund/im.test(m)).length === 2,
  );
});

test('a declined card may be retried, and giving up frees the ticket', async (t) => {
  const s = await begin(t);
  const [fan, other] = await s.server.customers(2);
  const placed = await check_out(s, fan);
  const ready = await status_of(s, fan, placed.json.order_id, 'awaiting_payment');
  await at_page(s, ready.payment_url, 'decline');
  let declined;
  await eventually('the decline', async () => {
    declined = (await s.server.get(`/orders/${placed.json.order_id}/status`, { token: fan })).json;
    return declined.can_retry;
  });
  assert.equal(declined.status, 'awaiting_payment');
  assert.equal(declined.payment_url, null);
  const attempt = await s.server.post(declined.payments_url, { token: fan });
  assert.equal(attempt.status, 201, attempt.text);
  assert.equal(
    attempt.json.amount,
    (await s.server.get(`/orders/${placed.json.order_id}`, { token: fan })).json.total,
  );
  await pay(s, { payment_url: attempt.json.authorization_url });
  await status_of(s, fan, placed.json.order_id, 'success');

  const second = await check_out(s, other);
  const page = await status_of(s, other, second.json.order_id, 'awaiting_payment');
  const given_up = await s.server.delete(`/orders/${second.json.order_id}`, { token: other });
  assert.equal(given_up.json.status, 'cancelled', given_up.text);
  await eventually(
    'the ticket is free',
    async () => (await s.server.get(`/events/${s.event.id}`)).json.available === 14,
  );
  const late = await at_page(s, page.payment_url, 'pay');
  assert.equal(late.status, 409, 'its page is closed');
});

test('a cancelled event refunds and notifies everyone', async (t) => {
  const s = await begin(t);
  const [fan, other] = await s.server.customers(2);
  const bought = await buy(s, fan);
  const open = (await check_out(s, other, { contact: { ...contact, email: 'eve@example.org' } })).json
    .order_id;
  await status_of(s, other, open, 'awaiting_payment');
  assert.equal(
    (await s.server.request('PUT', `/events/${s.event.id}/cancel`, { token: s.organizer })).status,
    200,
  );
  await status_of(s, fan, bought, 'refunded');
  const failed = await status_of(s, other, open, 'failed');
  assert.deepEqual([failed.failure, failed.can_retry], ['event_cancelled', false]);
  for (const address of ['ada@example.org', 'eve@example.org'])
    await eventually(`mail to ${address}`, () =>
      mails(s.server).some((m) => m.includes(address) && /cancelled/i.test(m)),
    );
});

test('priority customers are admitted first', async (t) => {
  const s = await begin(t, { event: { queue: { policy: 'operator', admission_interval_ms: 50 } } });
  const fans = [await s.server.customer(), await by_mail(s.server, 'vip@example.org')];
  const made = await s.server.post(`/events/${s.event.id}/vips`, {
    token: s.organizer,
    body: { emails: ['VIP@example.org'] },
  });
  assert.deepEqual(made.json, { count: 1 }, made.text);
  for (const fan of fans) await s.server.post(`/events/${s.event.id}/queue`, { token: fan });
  await s.server.post(`/events/${s.event.id}/advance`, { token: s.organizer, body: { count: 1 } });
  assert.equal(
    (await s.server.get(`/events/${s.event.id}/queue/position`, { token: fans[1] })).json.status,
    'ADMITTED',
  );
  assert.equal(
    (await s.server.get(`/events/${s.event.id}/queue/position`, { token: fans[0] })).json.status,
    'WAITING',
  );
  assert.equal(
    (await s.server.get(`/events/${s.event.id}/vips`, { token: s.organizer })).json.customer_ids.length,
    1,
  );
  await s.server.request('DELETE', `/events/${s.event.id}/vips`, {
    token: s.organizer,
    body: { emails: ['vip@example.org'] },
  });
  assert.equal(
    (await s.server.get(`/events/${s.event.id}/vips`, { token: s.organizer })).json.customer_ids.length,
    0,
  );
});

test('the socket of the place reports its order', async (t) => {
  const s = await begin(t);
  const [fan] = await s.server.customers(1);
  await admitted(s, fan);
  const socket = await Socket.open(s.server, `/ws/queue/${s.event.id}`, fan);
  t.after(() => socket.close());
  await buy(s, fan);
  const states = await eventually('both states', () => {
    const seen = socket.frames.filter((f) => f.type === 'order').map((f) => f.status);
    return seen.length >= 2 ? seen : undefined;
  });
  assert.deepEqual(states, ['awaiting_payment', 'success']);
});

test('invalid checkouts are refused', async (t) => {
  const s = await begin(t);
  const [fan] = await s.server.customers(1);
  const entry = await admitted(s, fan);
  const send = (body) =>
    s.server.post('/checkout', {
      token: fan,
      body: clean({
        event_id: s.event.id,
        admission_token: entry.admission_token,
        contact,
        items: [{ ticket_type_id: s.types[0] }],
        ...body,
      }),
    });
  for (const [body, status, code] of [
    [{ contact: undefined }, 400, 'invalid_field'],
    [{ contact: { ...contact, email: 'nobody' } }, 400, 'invalid_field'],
    [{ contact: { ...contact, email: 'a@b\r\nBcc: c@d' } }, 400, 'invalid_field'],
    [{ items: [] }, 400, 'invalid_field'],
    [{ items: [{ ticket_type_id: s.types[0], quantity: 5 }] }, 409, 'limit_exceeded'],
    [{ items: [{ ticket_type_id: s.types[0] }, { ticket_type_id: s.types[0] }] }, 400, 'invalid_field'],
    [{ items: [{ ticket_type_id: s.types[0], donation: -1 }] }, 400, 'invalid_field'],
    [{ items: [{ ticket_type_id: s.types[0], donation: 1.5 }] }, 400, 'invalid_field'],
    [{ success_url: 'https://evil.example/' }, 400, 'invalid_field'],
    [{ success_url: 'javascript:alert(1)' }, 400, 'invalid_field'],
    [{ gateway: 'bank' }, 400, 'invalid_field'],
    [{ event_id: '0197f0c2-6d1a-7000-8000-00ff00000000' }, 404, 'not_found'],
    [{ admission_token: 'x' }, 403, 'not_admitted'],
  ])
    expect_problem(await send(body), status, code, JSON.stringify(body));
  assert.equal((await s.server.get(`/events/${s.event.id}`)).json.available, 15);
  assert.equal((await s.server.get('/orders', { token: fan })).json.items.length, 0);
  assert.ok(after(1));
});
