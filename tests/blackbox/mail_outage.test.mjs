// SPDX-License-Identifier: Apache-2.0
// The mail service is away during a sale: nothing waits for it, and when it is back each customer gets each
// mail once. FAIRQUEUE_LONG=1 keeps it away for a minute.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, StringCodec } from 'nats';
import {
  assert,
  eventually,
  free_port,
  patience,
  root,
  sale,
  server_for,
  sleep,
  temporary_folder,
} from './lib.mjs';
import { Services } from '../support/services.mjs';

const outage_ms = process.env.FAIRQUEUE_LONG ? 60_000 : 8_000;
const buyers = 24;
const address = (n) => `fan-${n}@example.org`;
/** Who is slow to pay is mailed the payment page too. */
const is_receipt = ({ subject }) => subject.startsWith('Your order is confirmed');

/** smtp_sink.py on one port and one mailbox, across restarts. */
class Sink {
  constructor(port) {
    this.port = port;
    this.mailbox = path.join(temporary_folder(), 'mailbox');
  }
  async up() {
    this.child = spawn(
      '/usr/bin/python3',
      [path.join(root, 'tests/support/smtp_sink.py'), this.mailbox, '--port', String(this.port)],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    assert.equal(String(await once(this.child.stdout, 'data')).trim(), String(this.port));
  }
  async down() {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
  /** {to, subject, ...} of every receipt. */
  receipts() {
    const lines = fs.existsSync(this.mailbox)
      ? fs.readFileSync(this.mailbox, 'utf8').split('\n').slice(0, -1) // the last one is being written
      : [];
    return lines
      .map((line) => JSON.parse(line))
      .map((m) => ({ ...m.mail, to: m.to[0] }))
      .filter(is_receipt);
  }
}

async function begin(t, settings) {
  const server = await server_for(t, { settings });
  const organizer = await server.organizer();
  const made = await server.post('/events', {
    token: organizer,
    body: sale({ total: 1000, queue: { policy: 'open' } }),
  });
  assert.equal(made.status, 201, made.text);
  assert.equal((await server.post(`/events/${made.json.id}/activate`, { token: organizer })).status, 200);
  return { server, organizer, event: made.json };
}

/** The n-th fan orders and pays. */
async function buy(s, token, n) {
  const placed = await s.server.post('/checkout', {
    token,
    body: {
      event_id: s.event.id,
      contact: { first_name: 'Ada', last_name: 'Obi', email: address(n) },
      items: [{ ticket_type_id: s.event.ticket_types[0].id }],
    },
  });
  assert.equal(placed.status, 202, placed.text);
  const is_now = (wanted) =>
    eventually(`order ${wanted}`, async () => {
      const { json } = await s.server.get(`/orders/${placed.json.order_id}/status`, { token });
      return json.status === wanted && json;
    });
  const { payment_url } = await is_now('awaiting_payment');
  const paid = await s.server.post(new URL(payment_url).pathname, {
    body: { action: 'pay' },
    headers: { Accept: 'application/json' },
  });
  assert.equal(paid.status, 200, paid.text);
  await is_now('success');
}

/** Fans 0 to `buyers`: a third buys before the outage, a third during it, a third after it. */
async function sell_through_outage(s, down, up) {
  const fans = await s.server.customers(buyers);
  const third = (part) => fans.map((token, n) => [token, n]).filter(([, n]) => n % 3 === part);
  for (const [token, n] of third(0)) await buy(s, token, n);
  await down();
  const end = Date.now() + outage_ms;
  for (const [token, n] of third(1)) await buy(s, token, n); // no one waits for mail
  assert.equal((await s.server.get('/readyz')).status, 200, 'mail is nothing to be out of service for');
  await sleep(Math.max(0, end - Date.now()));
  await up();
  for (const [token, n] of third(2)) await buy(s, token, n);
}

const everybody = Array.from({ length: buyers }, (_, n) => address(n)).sort();

test('after an outage the mail server gets every receipt once', async (t) => {
  const sink = new Sink(await free_port());
  await sink.up();
  t.after(() => sink.down());
  const s = await begin(t, {
    'mail.mode': 'smtp',
    'mail.smtp_url': `smtp://127.0.0.1:${sink.port}`,
    'mail.smtp_insecure': true,
  });
  const down = async () => {
    // One that is killed between a mail and its answer gets the mail again.
    await eventually('the receipts before it', () => sink.receipts().length >= buyers / 3);
    await sink.down();
  };
  await sell_through_outage(s, down, () => sink.up());
  const is_complete = () => sink.receipts().length >= buyers;
  await eventually('every receipt', is_complete, { timeout_ms: 60_000 * patience });
  await sleep(1000);
  const takers = sink.receipts().map((m) => m.to);
  assert.deepEqual(takers.sort(), everybody);
});

test('after an outage NATS gets every receipt once, each with its own id', async (t) => {
  const services = await Services.start('nats');
  t.after(() => services.stop());
  const s = await begin(t, { 'mail.mode': 'nats', 'nats.url': services.nats_url });
  await sell_through_outage(
    s,
    () => services.kill('nats'),
    () => services.up('nats'),
  );
  const { username, password, host } = new URL(services.nats_url);
  const nats = await connect({ servers: host, user: username, pass: password });
  t.after(() => nats.close());
  const streams = await nats.jetstreamManager();
  const envelope_of = (message) => JSON.parse(StringCodec().decode(message.data));
  const receipts = async () => {
    const { first_seq, last_seq } = (await streams.streams.info('mail')).state;
    const all = [];
    for (let seq = first_seq; seq <= last_seq; ++seq)
      all.push(await streams.streams.getMessage('mail', { seq }));
    return all.filter((message) => is_receipt(envelope_of(message).data));
  };
  await eventually('every envelope', async () => (await receipts()).length >= buyers, {
    timeout_ms: 60_000 * patience,
  });
  await sleep(1000);
  const seen = await receipts();
  const envelopes = seen.map(envelope_of);
  assert.deepEqual(envelopes.flatMap((e) => e.data.to).sort(), everybody);
  assert.ok(envelopes.every((e) => e.event === 'mail.send' && e.version === 1));
  assert.equal(new Set(seen.map((m) => m.header.get('Nats-Msg-Id'))).size, buyers);
});
