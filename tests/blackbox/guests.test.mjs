// SPDX-License-Identifier: Apache-2.0
// Organizers' decisions about single customers: block lists and invitations to a quota, from both sides; and
// the media of a tenant's notices.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { assert, eventually, expect_problem, server_for, sleep, Socket } from './lib.mjs';
import { cli, tenant_on } from './tenant.mjs';

const contact = { first_name: 'Ada', last_name: 'Obi', email: 'ada@example.org' };

/** Signs a customer with this address in; returns the token. */
async function sign_in(server, email) {
  const verified = await server.sign_in_by_mail(email);
  assert.equal(verified.status, 200, verified.text);
  return verified.json.token;
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

/** An open sale of 10 Standard and 4 hidden Members tickets. */
async function begin(t, { settings, ...changes } = {}) {
  const server = await server_for(t, { settings });
  const organizer = await server.organizer();
  const event = await server.event(organizer, {
    queue: { policy: 'open' },
    claims_per_customer: 2,
    ticket_types: [
      { name: 'Standard', price: 1000, total: 10, max_per_order: 4 },
      { name: 'Members', price: 100, total: 4, hidden: true, max_per_order: 2 },
    ],
    ...changes,
  });
  const types = (await server.get(`/events/${event.id}`, { token: organizer })).json.ticket_types.map(
    ({ id }) => id,
  );
  return { server, organizer, event, types };
}

const check_out = (s, token, type = s.types[0], quantity = 1) =>
  s.server.post('/checkout', {
    token,
    body: { event_id: s.event.id, contact, items: [{ ticket_type_id: type, quantity }] },
  });

const reaches = (s, token, id, wanted) =>
  eventually(`order ${wanted}`, async () => {
    const { json } = await s.server.get(`/orders/${id}/status`, { token });
    return json.status === wanted && json;
  });

const pay = async (s, page) => {
  const paid = await s.server.post(new URL(page).pathname, {
    body: { action: 'pay' },
    headers: { Accept: 'application/json' },
  });
  assert.equal(paid.status, 200, paid.text);
};

async function buy(s, token, type, quantity) {
  const placed = await check_out(s, token, type, quantity);
  assert.equal(placed.status, 202, placed.text);
  await pay(s, (await reaches(s, token, placed.json.order_id, 'awaiting_payment')).payment_url);
  await reaches(s, token, placed.json.order_id, 'success');
  return placed.json.order_id;
}

const block = async (s, emails, { token = s.organizer, ...more } = {}) => {
  const done = await s.server.post('/blocked-customers', {
    token,
    body: { emails, reason: 'resold tickets', ...more },
  });
  assert.equal(done.status, 200, done.text);
  return done.json.customer_ids;
};

test('a blocked customer loses place and tickets, gets the money back and cannot return', async (t) => {
  const s = await begin(t);
  const mallory = await sign_in(s.server, 'mallory@example.org');
  const ann = await sign_in(s.server, 'ann@example.org');
  const bought = await buy(s, mallory, s.types[0], 2);
  const open = (await check_out(s, mallory)).json.order_id;
  const page = (await reaches(s, mallory, open, 'awaiting_payment')).payment_url;
  const anns = await buy(s, ann, s.types[0]);
  const [id] = await block(s, ['Mallory@example.org']);
  expect_problem(await check_out(s, mallory), 403, 'customer_blocked');
  expect_problem(
    await s.server.post(`/events/${s.event.id}/queue`, { token: mallory }),
    403,
    'customer_blocked',
  );
  await reaches(s, mallory, open, 'cancelled');
  await reaches(s, mallory, bought, 'refunded');
  const late = await s.server.post(new URL(page).pathname, {
    body: { action: 'pay' },
    headers: { Accept: 'application/json' },
  });
  assert.equal(late.status, 409, late.text);
  await eventually(
    'its tickets are free',
    async () => (await s.server.get(`/events/${s.event.id}`)).json.available === 9,
  );
  await reaches(s, ann, anns, 'success');

  const { json } = await s.server.get('/blocked-customers', { token: s.organizer });
  assert.deepEqual(
    json.items.map(({ customer_id, reason }) => [customer_id, reason]),
    [[id, 'resold tickets']],
  );
  const audited = (await s.server.get(`/audit?target=${s.event.id}`, { token: s.organizer })).json;
  const ended = audited.entries.filter(({ action }) => action === 'event.block');
  assert.equal(ended.length, 1, JSON.stringify(audited)); // both in one decision
  assert.deepEqual(
    [ended[0].actor, ended[0].detail.orders_refunded, ended[0].detail.claims_released],
    ['system', 1, 1],
  );

  assert.equal((await s.server.delete(`/blocked-customers/${id}`, { token: s.organizer })).status, 204);
  expect_problem(await s.server.delete(`/blocked-customers/${id}`, { token: s.organizer }), 404, 'not_found');
  assert.equal((await check_out(s, mallory)).status, 202);
});

test('a block ends a place in line and a session, and notifies the socket', async (t) => {
  const s = await begin(t, { queue: { policy: 'operator', admission_interval_ms: 50 } });
  const mallory = await sign_in(s.server, 'mallory@example.org');
  const ann = await sign_in(s.server, 'ann@example.org');
  for (const fan of [mallory, ann])
    assert.equal((await s.server.post(`/events/${s.event.id}/queue`, { token: fan })).status, 201);
  const socket = await Socket.open(s.server, `/ws/queue/${s.event.id}`, mallory);
  t.after(() => socket.close());
  assert.equal((await s.server.position(ann, s.event.id)).position, 2);
  await block(s, ['mallory@example.org']);
  await eventually('ann is next', async () => (await s.server.position(ann, s.event.id)).position === 1);
  await eventually('the socket', () =>
    socket.frames.some((f) => f.status === 'CANCELLED' || f.type === 'ended' || f.type === 'cancelled'),
  );
});

test('a block survives kill -9', async (t) => {
  const s = await begin(t);
  const mallory = await sign_in(s.server, 'mallory@example.org');
  await block(s, ['mallory@example.org']);
  await s.server.kill();
  await s.server.launch();
  expect_problem(await check_out(s, mallory), 403, 'customer_blocked');
});

test('a block loads an ended, unused event', async (t) => {
  const s = await begin(t);
  const mallory = await sign_in(s.server, 'mallory@example.org');
  const bought = await buy(s, mallory);
  assert.equal((await s.server.post(`/events/${s.event.id}/end`, { token: s.organizer })).status, 200);
  await s.server.kill();
  await s.server.launch(); // ended events are not loaded at the start
  const eve = await sign_in(s.server, 'eve@example.org'); // not blocked
  await block(s, ['eve@example.org']);
  await block(s, ['mallory@example.org']);
  await sleep(1500);
  await reaches(s, mallory, bought, 'success'); // purchases of ended events are kept, unless requested
  await block(s, ['mallory@example.org'], { include_ended: true });
  await reaches(s, mallory, bought, 'refunded');
  expect_problem(await check_out(s, eve), 403, 'customer_blocked');
});

test("lists are separate: an organizer's for its events, a tenant's for all of the tenant, none for other tenants", async (t) => {
  const s = await begin(t);
  const other = await s.server.organizer();
  const theirs = await s.server.event(other, { queue: { policy: 'open' } });
  const mallory = await sign_in(s.server, 'mallory@example.org');
  const [id] = await block(s, ['mallory@example.org']);
  expect_problem(await s.server.delete(`/blocked-customers/${id}`, { token: other }), 404, 'not_found');
  assert.deepEqual((await s.server.get('/blocked-customers', { token: other })).json.items, []);
  const at_theirs = { event_id: theirs.id, contact, items: [{ ticket_type_id: theirs.ticket_types[0].id }] };
  assert.equal((await s.server.post('/checkout', { token: mallory, body: at_theirs })).status, 202);
  const stadium = await tenant_on(s.server, 'stadium');
  await block(s, ['ann@example.org'], { token: stadium.token });
  const ann = await sign_in(s.server, 'ann@example.org');
  assert.equal((await check_out(s, ann)).status, 202, 'another tenant has no say here');
  expect_problem(await s.server.get('/blocked-customers', { token: ann }), 403, 'forbidden');
  expect_problem(
    await s.server.post('/blocked-customers', { token: s.organizer, body: { emails: ['nobody'] } }),
    400,
    'invalid_field',
  );
  expect_problem(
    await s.server.post('/blocked-customers', { token: s.organizer, body: { emails: [] } }),
    400,
    'invalid_field',
  );
  const many = (count) => ({
    emails: Array.from({ length: count }, (_, n) => `somebody.with.a.long.name.${n}@mail.example.org`),
    reason: 'resold tickets',
  });
  const all = await s.server.post('/blocked-customers', { token: s.organizer, body: many(1000) });
  assert.equal(all.json?.customer_ids.length, 1000, all.text);
  expect_problem(
    await s.server.post('/blocked-customers', { token: s.organizer, body: many(1001) }),
    400,
    'invalid_field',
  );
  expect_problem(await s.server.get('/blocked-customers?cursor=x', { token: s.organizer }), 400);
});

test('the list has pages', async (t) => {
  const s = await begin(t);
  const ids = await block(s, ['a@example.org', 'b@example.org', 'c@example.org']);
  const seen = [];
  for (let cursor = ''; cursor !== null;) {
    const { json } = await s.server.get(`/blocked-customers?limit=2${cursor && `&cursor=${cursor}`}`, {
      token: s.organizer,
    });
    seen.push(...json.items.map(({ customer_id }) => customer_id));
    cursor = json.next_cursor;
  }
  assert.deepEqual(seen, [...ids].sort());
});

test('an invited customer is notified, sees the quota and buys from it; others do not', async (t) => {
  const s = await begin(t);
  const ann = await sign_in(s.server, 'ann@example.org');
  const ben = await sign_in(s.server, 'ben@example.org');
  const at = `/events/${s.event.id}/invitations`;
  const invite = (body) =>
    s.server.post(at, { token: s.organizer, body: { ticket_type_id: s.types[1], ...body } });
  expect_problem(await s.server.get(`${at}/me`, { token: ann }), 404, 'not_found');
  const invited = await invite({ emails: ['ann@example.org', 'new@example.org'], quantity: 2 });
  assert.deepEqual(invited.json, { count: 2 }, invited.text);
  for (const address of ['ann@example.org', 'new@example.org'])
    await eventually(`mail to ${address}`, () =>
      mails(s.server).some((m) => m.includes(address) && /invited/i.test(m)),
    );
  assert.deepEqual((await s.server.get(`${at}/me`, { token: ann })).json, {
    ticket_type_id: s.types[1],
    name: 'Members',
    price: 100,
    currency: 'NGN',
    quantity: 2,
    left: 2,
    valid_until: null,
  });
  expect_problem(await check_out(s, ben, s.types[1]), 400, 'invalid_field');
  await buy(s, ann, s.types[1], 1);
  assert.equal((await s.server.get(`${at}/me`, { token: ann })).json.left, 1);
  expect_problem(await check_out(s, ann, s.types[1], 2), 409, 'limit_exceeded');

  const too_many = await invite({ emails: ['x@example.org', 'y@example.org'] });
  expect_problem(too_many, 409, 'quota_exceeded');
  assert.equal(too_many.json.free, 0);
  expect_problem(
    await invite({ emails: ['x@example.org'], ticket_type_id: s.types[0] }),
    400,
    'invalid_field',
  );
  expect_problem(await invite({ emails: ['x@example.org'], quantity: 3 }), 400, 'invalid_field');
  expect_problem(
    await invite({ emails: ['x@example.org'], valid_until: '2020-01-01T00:00:00Z' }),
    400,
    'invalid_field',
  );
  expect_problem(await s.server.get(at, { token: ann }), 403, 'forbidden');
  const withdrawn = await s.server.request('DELETE', at, {
    token: s.organizer,
    body: { emails: ['new@example.org', 'stranger@example.org'] },
  });
  assert.deepEqual(withdrawn.json, { count: 1 }, withdrawn.text);
  const rows = (await s.server.get(`${at}?limit=1`, { token: s.organizer })).json;
  assert.equal(rows.items.length, 1);
  const rest = (await s.server.get(`${at}?limit=1&cursor=${rows.next_cursor}`, { token: s.organizer })).json;
  assert.deepEqual(
    [...rows.items, ...rest.items].map(({ left, valid_until }) => [left, valid_until !== null]).sort(),
    [
      [1, false],
      [2, true],
    ],
  );
  assert.equal(rest.next_cursor, null);
  const again = await invite({ emails: ['new@example.org'] });
  assert.deepEqual(again.json, { count: 0 }, 'told within a day');
});

test('an access code opens hidden tickets when joining; a wrong one makes no place', async (t) => {
  const s = await begin(t, {
    queue: { policy: 'capacity', concurrency: 50 },
    ticket_types: [
      { name: 'Standard', price: 0, total: 1 },
      { name: 'Members', price: 100, total: 4, hidden: true, max_per_order: 2 },
    ],
  });
  const made = await s.server.post(`/events/${s.event.id}/promo-codes`, {
    token: s.organizer,
    body: { code: 'FANCLUB', discount: { type: 'none' }, ticket_type_ids: [s.types[1]], uses_max: 2 },
  });
  assert.equal(made.status, 201, made.text);
  const [first, other, member, late] = await s.server.customers(4);
  const join = (token, access_code) =>
    s.server.post(`/events/${s.event.id}/queue`, { token, body: access_code ? { access_code } : undefined });
  const status = async (token) =>
    (await s.server.get(`/events/${s.event.id}/queue/position`, { token })).json.status;
  expect_problem(await join(member, 'NOSUCH'), 422, 'access_code_invalid');
  expect_problem(
    await s.server.get(`/events/${s.event.id}/queue/position`, { token: member }),
    404,
    'not_in_queue',
  );
  expect_problem(await join(member, 7), 400, 'invalid_field');

  assert.equal((await join(first)).json.status, 'ADMITTED');
  assert.equal((await join(other)).json.status, 'WAITING');
  assert.equal((await join(late)).json.status, 'WAITING');
  assert.equal((await join(member, 'fanclub')).json.status, 'ADMITTED', 'before two others');
  assert.equal(await status(other), 'WAITING');
  await s.server.restart();
  assert.equal(await status(other), 'WAITING', 'what was given survives');
  const shown = async (token) =>
    (await s.server.get(`/events/${s.event.id}`, { token })).json.ticket_types.map((type) => type.name);
  assert.deepEqual(await shown(member), ['Standard', 'Members']);
  for (const token of [other, undefined]) assert.deepEqual(await shown(token), ['Standard']);
  const order = async (token) => {
    const place = await s.server.get(`/events/${s.event.id}/queue/position`, { token });
    const placed = await s.server.post('/checkout', {
      token,
      body: {
        event_id: s.event.id,
        admission_token: place.json.admission_token,
        contact,
        items: [{ ticket_type_id: s.types[1] }],
      },
    });
    assert.equal(placed.status, 202, placed.text);
  };
  await order(member);
  assert.equal((await join(late, 'FANCLUB')).json.status, 'ADMITTED', 'joining again adds a code');
  await order(late);
  expect_problem(await join(other, 'FANCLUB'), 409, 'promo_code_exhausted');
});

test('a tenant chooses the media of its notices', async (t) => {
  const got = [];
  const hook = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      got.push(JSON.parse(Buffer.concat(parts).toString()).type);
      response.end('{}');
    });
  });
  await new Promise((resolve) => hook.listen(0, '127.0.0.1', resolve));
  t.after(() => hook.close());
  const { port } = hook.address();
  const s = await begin(t, {
    settings: {
      'webhooks.allow_private': 'true',
      'webhooks.allow_http': 'true',
      'webhooks.ports': `${port}`,
    },
  });
  const operator = await operator_of_default(s.server);
  expect_problem(await s.server.get('/notice-routes', { token: s.organizer }), 403, 'forbidden');
  const all = await s.server.get('/notice-routes', { token: operator });
  assert.ok(
    all.json.routes.every(({ channels }) => channels.length === 4),
    all.text,
  );
  const put = (routes) => s.server.request('PUT', '/notice-routes', { token: operator, body: { routes } });
  expect_problem(await put([{ topic: 'star.fell', channels: [] }]), 400, 'invalid_field');
  expect_problem(await put([{ topic: 'order.completed', channels: ['pigeon'] }]), 400, 'invalid_field');
  const chosen = await put([
    { topic: 'order.completed', channels: ['webhook'] },
    { topic: 'order.placed', channels: ['mail'] },
  ]);
  assert.equal(chosen.status, 200, chosen.text);
  assert.deepEqual(chosen.json.routes.find(({ topic }) => topic === 'order.completed').channels, ['webhook']);
  await s.server.post('/webhook-endpoints', {
    token: s.organizer,
    body: { url: `http://127.0.0.1:${port}/` },
  });
  const ann = await sign_in(s.server, 'ann@example.org');
  await buy(s, ann);
  await eventually('the webhook', () => got.includes('order.completed') && got.includes('ticket.generated'));
  assert.ok(!got.includes('order.placed'), `${got}`);
  await put([]);
  await buy(s, ann);
  const receipts = () => mails(s.server).filter((m) => /order is confirmed/i.test(m)).length;
  await eventually('the second one has its receipt', () => receipts() === 1);
  await eventually('order.placed comes again', () => got.includes('order.placed'));
});

/** The operator of the tenant that organizers without one belong to. */
async function operator_of_default(server) {
  const key = await cli(server, 'apikey', 'issue', '--tenant', 'default', '--scope', 'operator');
  const session = await server.post('/sessions', { token: key });
  assert.equal(session.status, 201, session.text);
  return session.json.token;
}
