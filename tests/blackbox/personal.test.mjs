// SPDX-License-Identifier: Apache-2.0
// A customer's data: shown, erased, and then searched for in every store.
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { assert, eventually, expect_problem, fairqueue, run, server_for } from './lib.mjs';

const quick = { 'workers.reconciliation_interval': '100ms' };

/** A customer with an order, and the texts that only this customer has. */
async function buyer(server, { price = 0 } = {}) {
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
      contact: person,
    },
  });
  assert.equal(order.status, 200, order.text);
  return { token, customer_id, person, organizer, event, order: order.json.order_id };
}

/** Files that hold one of the texts. Mail files are the operator's, the sandbox's the gateway's. */
function files_with(server, texts) {
  const found = [];
  for (const name of fs.readdirSync(server.data_dir, { recursive: true })) {
    const file = path.join(server.data_dir, name);
    if (!fs.statSync(file).isFile() || /^(mail\/|sandbox)/.test(name)) continue;
    const bytes = fs.readFileSync(file);
    for (const text of texts) if (bytes.includes(text)) found.push(`${name}: ${text}`);
  }
  return found;
}

/** Until the ledger has worked off the erasure and the mail of the order has been sent. */
async function erased_everywhere(server, texts) {
  await eventually('an empty ledger', async () => {
    const { out } = await run('sqlite3', [
      '-readonly',
      path.join(server.data_dir, 'ledger.db'),
      "SELECT count(*) FROM customer WHERE to_erase <> ''",
    ]);
    return out.trim() === '0';
  });
  await server.stop(); // moves the write-ahead log to the file
  assert.deepEqual(files_with(server, texts), []);
  for (const text of texts) assert.ok(!server.log.includes(text), `in the log: ${text}`);
}

test('a customer is exported, erased, and found nowhere', async (t) => {
  const server = await server_for(t, { settings: quick });
  const fan = await buyer(server);
  const texts = Object.values(fan.person);
  const shown = await server.get('/customers/me', { token: fan.token });
  assert.equal(shown.status, 200, shown.text);
  assert.equal(shown.json.customer_id, fan.customer_id);
  assert.equal(shown.json.email, fan.person.email);
  assert.equal(shown.json.orders[0].order_id, fan.order);
  assert.deepEqual(shown.json.orders[0].contact, fan.person);
  assert.ok(files_with(server, texts).length > 0, 'the search finds what is there');

  const erased = await server.delete('/customers/me', { token: fan.token });
  assert.equal(erased.status, 204, erased.text);
  for (const target of ['/customers/me', '/orders', `/events/${fan.event.id}/queue/position`])
    assert.equal((await server.get(target, { token: fan.token })).status, 401, target);
  const audit = await server.get('/audit', { token: fan.organizer });
  for (const text of texts) assert.ok(!audit.text.includes(text));
  await erased_everywhere(server, texts);

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
