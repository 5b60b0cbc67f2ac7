// SPDX-License-Identifier: Apache-2.0
// A customer's data: shown, erased, and then searched for in every store.
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { execute, postgres_programs, redis, Services, sql } from '../support/services.mjs';
import { Cluster } from './cluster.mjs';
import {
  after,
  assert,
  eventually,
  expect_problem,
  fairqueue,
  run,
  server_for,
  temporary_folder,
} from './lib.mjs';

const quick = { 'workers.reconciliation_interval': '100ms', 'push.ntfy_url': 'http://127.0.0.1:9' };

/** A customer with an order, and the texts that only this customer has. `contact`: others of the order. */
async function buyer(server, { price = 0, contact = {} } = {}) {
  const mark = crypto.randomBytes(6).toString('hex');
  const person = {
    email: `ann-${mark}@example.com`,
    first_name: `Ann${mark}`,
    last_name: `Bee${mark}`,
    phone: `+234 ${parseInt(mark.slice(0, 8), 16)}`,
  };
  const login = await server.sign_in_by_mail(person.email);
  assert.equal(login.status, 200, login.text);
  const { token, customer_id } = login.json;
  const organizer = await server.organizer();
  const event = await server.event(organizer, { price, queue: { policy: 'open' } });
  const order = await server.post('/checkout', {
    token,
    headers: { 'Prefer': 'wait=5', 'Idempotency-Key': crypto.randomUUID() },
    body: {
      event_id: event.id,
      admission_token: (await server.join_and_be_admitted(token, event.id)).admission_token,
      items: [{ ticket_type_id: event.ticket_types[0].id, quantity: 1 }],
      contact: { ...person, ...contact },
    },
  });
  assert.equal(order.status, 200, order.text);
  return { token, customer_id, person, organizer, event, order: order.json.order_id };
}

/** In files of a database texts are as they are, or as hex digits. */
const holds = (bytes, text) => bytes.includes(text) || bytes.includes(Buffer.from(text).toString('hex'));

/** Files of the data folder that hold one of the texts. The sandbox's are the gateway's. */
function files_with(server, texts, skipped = /^sandbox/) {
  const found = [];
  for (const name of fs.readdirSync(server.data_dir, { recursive: true })) {
    const file = path.join(server.data_dir, name);
    if (!fs.statSync(file).isFile() || skipped.test(name)) continue;
    const bytes = fs.readFileSync(file);
    for (const text of texts) if (holds(bytes, text)) found.push(`${name}: ${text}`);
  }
  return found;
}

/** Rows of the embedded ledger, as text. */
async function rows_of(server, query) {
  const { code, out, err } = await run('sqlite3', [
    '-cmd',
    '.timeout 5000',
    path.join(server.data_dir, 'ledger.db'),
    query,
  ]);
  assert.equal(code, 0, err);
  return out.trim();
}

const nothing_to_erase = (server) =>
  eventually(
    'an empty ledger',
    async () => (await rows_of(server, "SELECT count(*) FROM customer WHERE to_erase <> ''")) === '0',
  );

/** Until the ledger has worked off the erasure and the mail of the order has been sent. */
async function erased_everywhere(server, texts, { letters = false } = {}) {
  await nothing_to_erase(server);
  await eventually('no mail file', () => files_with(server, texts, /^(sandbox|ledger)/).length === 0);
  const of_others = "FROM dead_letter WHERE payload <> ''"; // a longer address, which holds the shorter one
  assert.equal(await rows_of(server, `SELECT count(*) ${of_others}`), letters ? '1' : '0');
  if (letters) await rows_of(server, `PRAGMA secure_delete = ON; DELETE ${of_others}`);
  await server.stop(); // moves the write-ahead log to the file
  assert.deepEqual(files_with(server, texts), []);
  for (const text of texts) assert.ok(!server.log.includes(text), `in the log: ${text}`);
}

/** A dead letter that names the address, and one that names a longer address. */
const letters_to = (email, id) =>
  [email, `x${email}`].map((to, i) => ({
    id: `${id}${i}`,
    payload: `mail.send\n{"to":"${to}"}`,
  }));

/** A phone of the customer, and the answer without its secret. */
async function with_phone(server, fan) {
  const added = await server.post('/customers/me/devices', {
    token: fan.token,
    body: { platform: 'ntfy', token: `phone-of-${fan.person.first_name}` },
  });
  assert.equal(added.status, 201, added.text);
  return added.json;
}

test('a customer is exported, erased, and found nowhere', async (t) => {
  const server = await server_for(t, { settings: quick });
  const fan = await buyer(server);
  const texts = [...Object.values(fan.person), `phone-of-${fan.person.first_name}`];
  const phone = await with_phone(server, fan);
  for (const { id, payload } of letters_to(fan.person.email, '00000000000000000000000000000a0'))
    await rows_of(
      server,
      `INSERT INTO dead_letter (aggregate, id, kind, subject, status, detail, payload, created_at, updated_at)
       SELECT aggregate, x'${id}', 2, x'${id}', 0, 'why', '${payload}', 1, 1 FROM event LIMIT 1`,
    );
  // Who names the address in an order reads nothing of its owner, and erases nothing.
  const other = await buyer(server, { contact: { email: fan.person.email } });
  const seen = await server.get('/customers/me', { token: other.token });
  assert.equal(seen.status, 200, seen.text);
  assert.deepEqual(seen.json.unsent_mails, []);
  assert.deepEqual(
    seen.json.mails.map((m) => m.event_id),
    [null, other.event.id],
  );
  assert.equal((await server.delete('/customers/me', { token: other.token })).status, 204);
  await nothing_to_erase(server);
  const shown = await server.get('/customers/me', { token: fan.token });
  assert.equal(shown.status, 200, shown.text);
  assert.equal(shown.json.customer_id, fan.customer_id);
  assert.equal(shown.json.email, fan.person.email);
  assert.equal(shown.json.orders[0].order_id, fan.order);
  assert.deepEqual(shown.json.orders[0].contact, fan.person);
  const [place] = shown.json.places;
  assert.deepEqual([place.event_id, place.status, place.queue_number], [fan.event.id, 'COMPLETED', 1]);
  assert.deepEqual([shown.json.claims[0].status, shown.json.claims[0].tickets], ['CONFIRMED', 1]);
  assert.equal(shown.json.payments[0].gateway, 'free');
  assert.deepEqual(
    shown.json.event_tickets.map((one) => [one.event_id, one.status]),
    [[fan.event.id, 'ISSUED']],
  );
  assert.equal(shown.json.devices[0].device_id, phone.device_id);
  assert.ok(shown.json.mails.some((m) => m.topic === 'mail.send'));
  assert.equal(shown.json.unsent_mails.length, 1); // not that of the longer address
  assert.equal(shown.json.next_cursor, null);
  const found = files_with(server, texts);
  assert.ok(
    found.some((f) => f.startsWith('mail/')),
    'the search finds mail',
  );
  assert.ok(
    found.some((f) => f.startsWith('ledger.db')),
    'and rows',
  );

  const erased = await server.delete('/customers/me', { token: fan.token });
  assert.equal(erased.status, 204, erased.text);
  for (const target of ['/customers/me', '/orders', `/events/${fan.event.id}/queue/position`])
    assert.equal((await server.get(target, { token: fan.token })).status, 401, target);
  const audit = await server.get('/audit', { token: fan.organizer });
  for (const text of texts) assert.ok(!audit.text.includes(text));
  await erased_everywhere(server, texts, { letters: true });

  await server.launch(); // the owner loads the order without its contact, and all agrees
  const order = await server.get(`/orders/${fan.order}`, { token: fan.organizer });
  assert.equal(order.json.status, 'success');
  assert.equal(order.json.contact.email, '');
  await server.verified();
  const mail = path.join(server.data_dir, 'mail');
  for (const name of fs.readdirSync(mail)) fs.rmSync(path.join(mail, name)); // the next code is the only one
  const again = await server.sign_in_by_mail(fan.person.email);
  assert.equal(again.status, 200, again.text);
  assert.notEqual(again.json.customer_id, fan.customer_id);
});

test('an operator exports and erases, and an open order is in the way', async (t) => {
  const server = await server_for(t, { settings: quick });
  const at = ['--data_dir', server.data_dir];
  const fan = await buyer(server, { price: 5000 });
  expect_problem(await server.delete('/customers/me', { token: fan.token }), 409, 'payment_open');
  const refused = await run(fairqueue, ['customer', 'erase', fan.person.email, ...at]);
  assert.equal(refused.code, 1, refused.err);
  assert.match(refused.err, /payment_open/);
  const cancelled = await server.delete(`/orders/${fan.order}`, { token: fan.token });
  assert.equal(cancelled.status, 200, cancelled.text);
  // A claim without an order holds tickets too.
  const entry = await server.position(fan.token, fan.event.id);
  const claim = await eventually('the gateway closes the payment page, which frees the claim', async () => {
    const body = { admission_token: entry.admission_token };
    const answer = await server.post(`/events/${fan.event.id}/claims`, { token: fan.token, body });
    return answer.status === 201 && answer.json;
  });
  expect_problem(await server.delete('/customers/me', { token: fan.token }), 409, 'claim_live');
  const held = await run(fairqueue, ['customer', 'erase', fan.person.email, ...at]);
  assert.equal(held.code, 1, held.err);
  assert.match(held.err, /claim_live/);
  assert.equal((await server.delete(`/claims/${claim.claim_id}`, { token: fan.token })).status, 204);
  const shown = await run(fairqueue, ['customer', 'export', fan.person.email.toUpperCase(), ...at]);
  assert.equal(shown.code, 0, shown.err);
  assert.deepEqual(JSON.parse(shown.out).orders[0].contact, fan.person);
  // Killed at once: the rest is worked off after the start.
  const erased = await run(fairqueue, ['customer', 'erase', fan.person.email, ...at]);
  assert.equal(erased.code, 0, erased.err);
  await server.restart();
  assert.equal((await server.get('/orders', { token: fan.token })).status, 401);
  await erased_everywhere(server, Object.values(fan.person));
  const unknown = await run(fairqueue, ['customer', 'export', fan.person.email, ...at]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /not_found/);
});

test('the time after a sale erases the contacts of its orders', async (t) => {
  const server = await server_for(t, { settings: { ...quick, 'retention.personal': '200ms' } });
  const fan = await buyer(server);
  const contacts = "SELECT count(*) FROM orders WHERE email || first_name || last_name || phone <> ''";
  assert.equal(await rows_of(server, contacts), '1');
  const changed = await server.patch(`/events/${fan.event.id}`, {
    token: fan.organizer,
    body: { sale_end: after(1) },
  });
  assert.equal(changed.status, 200, changed.text);
  await eventually('empty contacts', async () => (await rows_of(server, contacts)) === '0');
  await server.restart();
  const order = await server.get(`/orders/${fan.order}`, { token: fan.token });
  assert.equal(order.status, 200, order.text);
  assert.equal(order.json.status, 'success');
  for (const value of Object.values(order.json.contact)) assert.ok(!value, order.text);
  await server.verified();
});

/** Where Postgres, Redis and the nodes hold one of the texts. */
async function stores_with(services, nodes, texts) {
  const pg = await run(path.join(postgres_programs, 'pg_dump'), ['--inserts', services.postgres_url]);
  assert.equal(pg.code, 0, pg.err);
  const rdb = path.join(temporary_folder(), 'dump.rdb');
  await redis(services.redis_url, 'CONFIG', 'SET', 'rdbcompression', 'no');
  await redis(services.redis_url, '--rdb', rdb);
  const stores = { postgres: Buffer.from(pg.out), redis: fs.readFileSync(rdb) };
  // Mail files of a node whose ledger worker did not end the erasure are the operator's.
  const found = nodes.flatMap((n) => files_with(n, texts, /^(sandbox|mail)/));
  for (const [name, bytes] of Object.entries(stores))
    for (const text of texts) if (holds(bytes, text)) found.push(`${name}: ${text}`);
  return found;
}

test('in a cluster the owner forgets too, and Postgres, Redis and both nodes hold nothing', async (t) => {
  const services = await Services.start('postgres', 'redis');
  t.after(() => services.stop());
  const cluster = await Cluster.start(t, {
    nodes: 2,
    ledger_url: services.postgres_url,
    settings: { ...quick, 'cache.url': services.redis_url },
  });
  const { nodes } = cluster;
  const fan = await buyer(nodes[0]);
  const texts = [...Object.values(fan.person), `phone-of-${fan.person.first_name}`];
  await with_phone(nodes[0], fan);
  const letters = letters_to(fan.person.email, '00000000-0000-0000-0000-0000000000a');
  for (const { id, payload } of letters)
    await execute(
      services.postgres_url,
      `INSERT INTO dead_letter (aggregate, id, kind, subject, status, detail, payload, created_at, updated_at)
       SELECT aggregate, '${id}', 2, '${id}', 0, 'why', '${payload}', 1, 1 FROM event LIMIT 1`,
    );
  const before = await stores_with(services, nodes, texts);
  assert.ok(before.includes(`postgres: ${fan.person.phone}`), 'the search finds rows');
  const owner = await cluster.owner_of(fan.event.id);
  const other = nodes.find((n) => n !== owner);
  const contact = async () => {
    const { json } = await owner.get(`/events/${fan.event.id}/orders`, { token: fan.organizer });
    return json.items[0].contact.email;
  };
  assert.equal(await contact(), fan.person.email);
  const shown = await other.get('/customers/me', { token: fan.token });
  assert.equal(shown.status, 200, shown.text);
  assert.equal(shown.json.unsent_mails.length, 1);
  assert.equal(shown.json.places.length, 1);

  assert.equal((await other.delete('/customers/me', { token: fan.token })).status, 204);
  await eventually('a refused token', async () => {
    const answer = await owner.get('/customers/me', { token: fan.token });
    return answer.status === 401;
  });
  await eventually('an owner that has forgotten', async () => (await contact()) === '');
  const open = "SELECT count(*)::int AS n FROM customer WHERE to_erase <> ''";
  await eventually('an empty ledger', async () => (await sql(services.postgres_url, open))[0].n === 0);
  const longer = [`x${fan.person.email}`];
  assert.deepEqual(await stores_with(services, nodes, longer), [`postgres: ${longer[0]}`]);
  await execute(services.postgres_url, `DELETE FROM dead_letter WHERE id = '${letters[1].id}'`);
  assert.deepEqual(await stores_with(services, nodes, texts), []);
  for (const node of nodes)
    for (const text of texts) assert.ok(!node.log.includes(text), `in the log: ${text}`);
});
