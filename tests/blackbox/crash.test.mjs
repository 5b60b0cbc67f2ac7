// SPDX-License-Identifier: Apache-2.0
// kill -9 at random moments of running sales. Everything acknowledged survives, and the sale ends with every
// invariant (docs/glossary.md): I1, I2, I3, I4, I6, I7, I8, I9. Prints its seed; FAIRQUEUE_TEST_SEED repeats
// the same moments.
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import {
  after,
  assert,
  eventually,
  expect_problem,
  fairqueue,
  fairqueue_load,
  patience,
  random_of,
  report_outage,
  sale,
  seed,
  server_for,
  sleep,
  run,
  temporary_folder,
} from './lib.mjs';
import { check_log, drawn_order, receipt_of, verify_cli } from './fair_log.mjs';
import { tenant_on, ticket_of } from './tenant.mjs';
import { Log, Signer } from '../fair/log_maker.mjs';
import { bls12_381 } from '../../web/node_modules/@noble/curves/esm/bls12-381.js';
import { chain_hash, due_at, round_message } from '../../web/verify/draw.mjs';
import { parse_checkpoint, parse_checkpoints, parse_witness_key, signed_at } from '../../web/verify/note.mjs';

console.log(`FAIRQUEUE_TEST_SEED=${seed}`);

const kills = 8;
const batch_size = 10;

/** One fan that retries like a real client: every step with the same key until an answer comes. */
class Fan {
  constructor(server, event, token, behaviour, random) {
    Object.assign(this, {
      server,
      event,
      token,
      behaviour,
      random,
      entries: new Map(),
      claims: [],
      payments: [],
      violations: [],
    });
  }

  async live(stopped) {
    for (let visit = 0; !stopped() && visit < 50; ++visit) {
      const entry = await this.wait_in_line(stopped);
      if (!entry) return;
      const done = await this.shop(entry, `${visit}`);
      if (done) return;
    }
  }

  note(entry) {
    const known = this.entries.get(entry.entry_id);
    const now = { number: entry.queue_number, position: entry.position, batch: entry.admission_batch };
    if (known) {
      if (known.number !== now.number)
        this.violations.push(`I7: entry ${entry.entry_id}: number ${known.number} became ${now.number}`);
      if (entry.position !== null && known.position !== null && entry.position > known.position)
        this.violations.push(
          `I8: entry ${entry.entry_id}: position ${known.position} became ${entry.position}`,
        );
      if (known.batch && now.batch && known.batch !== now.batch)
        this.violations.push(`entry ${entry.entry_id}: another batch`);
    }
    this.entries.set(entry.entry_id, { ...known, ...now, batch: now.batch ?? known?.batch });
  }

  async wait_in_line(stopped) {
    const joined = await this.server.insist('POST', `/events/${this.event}/queue`, {
      token: this.token,
      headers: { 'Idempotency-Key': `join-${this.entries.size}` },
    });
    if (joined.status === 410 || joined.status === 409) return undefined;
    assert.ok(joined.status === 201 || joined.status === 200, joined.text);
    this.note(joined.json);
    const mine = joined.json.entry_id;
    while (!stopped()) {
      const answer = await this.server.insist('GET', `/events/${this.event}/queue/position`, {
        token: this.token,
      });
      if (answer.status !== 200) {
        this.violations.push(`I7: an acknowledged place is gone: ${answer.text}`);
        return undefined;
      }
      const entry = answer.json;
      if (entry.entry_id !== mine) this.violations.push(`I7: entry ${mine} became ${entry.entry_id}`);
      this.note(entry);
      if (entry.status === 'ADMITTED') return entry;
      if (entry.status !== 'WAITING') return this.wait_in_line(stopped);
      await sleep(100 + this.random() * 150);
    }
    return undefined;
  }

  /** True when this fan has finished. */
  async shop(entry, visit) {
    if (this.behaviour === 'no-show') return true;
    await sleep(this.random() * 200);
    const answer = await this.server.insist('POST', `/events/${this.event}/claims`, {
      token: this.token,
      body: { admission_token: entry.admission_token },
      headers: { 'Idempotency-Key': `claim-${entry.entry_id}` },
    });
    if (answer.status !== 201)
      return answer.json.code === 'event_sold_out' || answer.json.code === 'event_ended';
    const claim = answer.json;
    this.claims.push(claim.claim_id);
    if (this.behaviour === 'abandon') return true;
    await sleep(this.random() * 200);
    if (this.behaviour === 'decline' && !this.declined) {
      this.declined = true;
      await this.pay(claim.claim_id, 'decline', `${visit}-a`);
    }
    return this.pay(claim.claim_id, 'pay', `${visit}-b`);
  }

  async pay(claim, action, attempt) {
    let payment;
    for (let i = 0; !payment?.authorization_url; ++i) {
      const opened = await this.server.insist('POST', `/claims/${claim}/payments`, {
        token: this.token,
        headers: { 'Idempotency-Key': `pay-${claim}-${attempt}-${i}` },
      });
      if (opened.status >= 400) return false;
      payment = opened.json;
      if (payment.status === 'CONFIRMED') break;
      if (i > 20) return false;
    }
    const record = { id: payment.payment_id, paid: false };
    this.payments.push(record);
    const settled = await this.server.settle(payment.reference, action);
    record.paid = settled.json?.status === 'paid';
    if (action === 'decline') {
      await eventually(
        'a decline is known',
        async () => {
          const { json } = await this.server.insist('GET', `/payments/${record.id}`, { token: this.token });
          return json.status !== 'PENDING' && json.status !== 'INITIALIZING';
        },
        { timeout_ms: 30_000 },
      );
    }
    return record.paid;
  }
}

async function check_money(fan, server) {
  let confirmed = 0;
  for (const { id, paid } of fan.payments) {
    const final = await eventually(
      `payment ${id} is settled`,
      async () => {
        const { json } = await server.insist('GET', `/payments/${id}`, { token: fan.token });
        return ['CONFIRMED', 'REFUNDED', 'FAILED'].includes(json.status) && json;
      },
      { timeout_ms: 30_000 },
    );
    if (paid && final.status === 'FAILED')
      fan.violations.push(`I3: payment ${id} was captured and is FAILED`);
    if (!paid && final.status !== 'FAILED')
      fan.violations.push(`I3: payment ${id} was not captured and is ${final.status}`);
    if (final.status === 'CONFIRMED') {
      ++confirmed;
      const { json } = await server.insist('GET', `/claims/${final.claim_id}`, { token: fan.token });
      if (json.status !== 'CONFIRMED')
        fan.violations.push(`I3: payment ${id} is CONFIRMED, its claim ${json.status}`);
    }
  }
  if (confirmed > 1) fan.violations.push(`I2: ${confirmed} tickets for one customer`);
  return confirmed;
}

function check_order(fans) {
  const entries = fans.flatMap((fan) => [...fan.entries.values()]).sort((a, b) => a.number - b.number);
  const numbers = new Set(entries.map((e) => e.number));
  assert.equal(numbers.size, entries.length, 'I7: two fans have one number');
  const admitted = entries.filter((e) => e.batch);
  for (let i = 1; i < admitted.length; ++i)
    assert.ok(
      admitted[i].batch >= admitted[i - 1].batch,
      `I6: number ${admitted[i].number} overtook ${admitted[i - 1].number}`,
    );
  const sizes = new Map();
  for (const { batch } of admitted) sizes.set(batch, (sizes.get(batch) ?? 0) + 1);
  for (const [batch, size] of sizes) assert.ok(size <= batch_size, `batch ${batch} admitted ${size}`);
}

/** One value of a file of a server that does not run. */
async function sql(server, file, query) {
  const answer = await run('sqlite3', ['-readonly', path.join(server.data_dir, file), query]);
  assert.equal(answer.code, 0, `${query}: ${answer.err}`);
  return answer.out.trim();
}

/** Each query counts the violations of a ledger at any moment. */
const violations = {
  'I10: a history with a gap': `
    SELECT count(*) FROM (
      SELECT from_status, lag(to_status) OVER (PARTITION BY aggregate, kind, key ORDER BY seq, ordinal) AS before
      FROM history)
    WHERE before IS NOT NULL AND from_status IS NOT before`,
  'I6: overtaken, in the ledger': `
    SELECT count(*) FROM (
      SELECT admission_batch, max(admission_batch) OVER (PARTITION BY aggregate ORDER BY queue_number) AS latest
      FROM queue_entry WHERE admission_batch > 0)
    WHERE admission_batch < latest`,
  'a batch larger than configured': `
    SELECT count(*) FROM (
      SELECT count(*) AS size FROM queue_entry WHERE admission_batch > 0 GROUP BY aggregate, admission_batch)
    WHERE size > ${batch_size}`,
  'I2: two live places of one fan': `
    SELECT count(*) FROM (
      SELECT 1 FROM queue_entry WHERE status IN (0, 1, 2) GROUP BY aggregate, subject HAVING count(*) > 1)`,
  'I1: sold more than there is': 'SELECT count(*) FROM ticket_type WHERE held + sold > total',
};

/** Checks the files of a server that does not run. */
async function check_files(server) {
  for (const file of ['ledger.db', 'sandbox.db']) {
    assert.equal(await sql(server, file, 'PRAGMA integrity_check'), 'ok', file);
    assert.equal(await sql(server, file, 'PRAGMA foreign_key_check'), '', file);
  }
  for (const [what, query] of Object.entries(violations))
    assert.equal(await sql(server, 'ledger.db', query), '0', what);
}

/** Checks the ledger at the end, with the gateway's own ledger as an independent oracle. */
async function check_books(server, revenue) {
  await check_files(server);
  const captured = `SELECT sum(CASE kind WHEN 'charge' THEN amount ELSE -amount END) FROM ledger`;
  assert.equal(
    Number(await sql(server, 'sandbox.db', captured)),
    revenue,
    'I4: what the gateway captured and kept',
  );
  const undelivered = await sql(server, 'sandbox.db', 'SELECT count(*) FROM webhooks');
  assert.equal(undelivered, '0', 'webhooks that were never delivered');
}

test(`a sale, killed ${kills} times`, { timeout: 150_000 * patience }, async (t) => {
  const random = random_of(seed);
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const total = 100;
  const price = 1500;
  const { id: event } = await server.event(organizer, {
    total,
    price,
    claim_ttl_seconds: 4,
    queue: { batch_size, admission_interval_ms: 250, claim_window_seconds: 2, session_ttl_seconds: 8 },
  });
  const tokens = await server.customers(160);
  const behaviour = () => {
    const x = random();
    return x < 0.1 ? 'no-show' : x < 0.15 ? 'abandon' : x < 0.22 ? 'decline' : 'buy';
  };
  const fans = tokens.map((token) => new Fan(server, event, token, behaviour(), random));
  let stop = false;
  const crowd = Promise.all(fans.map((fan) => fan.live(() => stop)));
  crowd.catch(() => {});

  let outage_ms = 0;
  for (let kill = 0; kill < kills; ++kill) {
    await sleep((100 + random() * 1100) * patience);
    await server.kill();
    await check_files(server);
    const begun = Date.now();
    await server.launch();
    outage_ms = Math.max(outage_ms, Date.now() - begun);
    await server.verified();
    const stats = await server.stats(organizer, event);
    assert.ok(stats.held + stats.sold <= stats.total, `I1: ${JSON.stringify(stats)}`);
  }
  report_outage(t, outage_ms);
  const last = await eventually(
    'the sale is over',
    async () => {
      const stats = await server.stats(organizer, event);
      assert.ok(stats.held + stats.sold <= stats.total, `I1: ${JSON.stringify(stats)}`);
      return stats.sold === total && stats.payments_open === 0 && stats;
    },
    { timeout_ms: 60_000, every_ms: 200 },
  );
  stop = true;
  await crowd;
  check_order(fans);
  let confirmed = 0;
  for (const fan of fans) confirmed += await check_money(fan, server);
  assert.deepEqual(
    fans.flatMap((fan) => fan.violations),
    [],
  );
  assert.equal(confirmed, total, 'I1: as many tickets as there is stock');
  const stats = await server.stats(organizer, event);
  assert.equal(stats.held, 0);
  assert.equal(stats.revenue, total * price, 'I4');
  assert.equal(stats.last_admission_batch >= last.last_admission_batch, true);
  await server.verified();
  await server.stop();
  await check_books(server, total * price);
});

test('an acknowledged place survives an immediate kill -9', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const fan = await server.customer();
  const other = await server.customer();

  const created = await server.post('/events', { token: organizer, body: sale({ total: 3 }) });
  await server.restart();
  const event = created.json.id;
  assert.equal((await server.get(`/events/${event}`, { token: organizer })).json.status, 'DRAFT');
  assert.equal((await server.post(`/events/${event}/activate`, { token: organizer })).status, 200);
  await server.restart();
  assert.equal((await server.get(`/events/${event}`)).json.status, 'ACTIVE');
  const first = await server.post(`/events/${event}/queue`, { token: fan });
  await server.restart();
  const place = await server.position(fan, event);
  assert.equal(place.entry_id, first.json.entry_id);
  assert.equal(place.queue_number, first.json.queue_number);
  const second = await server.post(`/events/${event}/queue`, { token: other });
  assert.equal(second.json.queue_number, first.json.queue_number + 1, 'numbers go on');
  assert.equal((await server.delete(`/events/${event}/queue`, { token: other })).status, 204);
  await server.restart();
  assert.ok(
    ['CANCELLED', 'COMPLETED'].includes((await server.position(other, event)).status),
    'who has left has left',
  );

  const { admission_token, admission_batch } = await server.admitted(fan, event);
  await server.restart();
  const again = await server.position(fan, event);
  assert.equal(again.admission_token, admission_token, 'the same token, though it is stored nowhere');
  assert.equal(again.admission_batch, admission_batch);
  const claim = await server.claim(fan, event, admission_token);
  await server.restart();
  assert.equal((await server.get(`/claims/${claim.claim_id}`, { token: fan })).json.status, 'CLAIMED');
  assert.equal((await server.stats(organizer, event)).held, 1);
  const payment = await server.open_payment(fan, claim.claim_id);
  const tasks = async () => (await server.get('/tasks/history', { token: organizer })).json.items;
  const [task] = await tasks();
  assert.equal(task.name, 'sandbox initialize');
  await server.stop(); // an orderly end writes the history of tasks
  await server.launch();
  assert.deepEqual(
    (await tasks()).find(({ ended_at }) => ended_at === task.ended_at),
    task,
  );
  await server.restart();
  assert.equal(
    (await server.get(`/payments/${payment.payment_id}`, { token: fan })).json.reference,
    payment.reference,
  );
  assert.equal((await server.settle(payment.reference, 'pay')).json.status, 'paid');
  await server.restart();
  await server.payment_reaches(fan, payment.payment_id, 'CONFIRMED', { timeout_ms: 15_000 });
  await server.restart();
  assert.equal((await server.get(`/claims/${claim.claim_id}`, { token: fan })).json.status, 'CONFIRMED');
  assert.deepEqual(
    (({ sold, held, available, revenue }) => ({ sold, held, available, revenue }))(
      await server.stats(organizer, event),
    ),
    { sold: 1, held: 0, available: 2, revenue: 5000 },
  );
  const patched = await server.patch(`/events/${event}`, { token: organizer, body: { name: 'Renamed' } });
  assert.equal(patched.status, 200, patched.text);
  await server.restart();
  assert.equal((await server.get(`/events/${event}`)).json.name, 'Renamed');
  assert.equal((await server.post(`/events/${event}/end`, { token: organizer })).status, 200);
  await server.restart();
  expect_problem(await server.post(`/events/${event}/queue`, { token: other }), 410, 'event_ended');
});

test('deadlines pass while the server is down', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, {
    total: 1,
    claim_ttl_seconds: 3,
    queue: { claim_window_seconds: 5, session_ttl_seconds: 8 },
  });
  const [fan, next] = await server.customers(2);
  const { admission_token } = await server.join_and_be_admitted(fan, event);
  const claim = await server.claim(fan, event, admission_token);
  const longer = { claim_ttl_seconds: 60, queue: { claim_window_seconds: 60, session_ttl_seconds: 120 } };
  const patched = await server.patch(`/events/${event}`, { token: organizer, body: longer });
  assert.equal(patched.status, 200, patched.text); // only the first is to be too late
  await server.join(next, event);
  await server.kill();
  await sleep(4000);
  await server.launch();
  await server.claim_reaches(fan, claim.claim_id, 'RELEASED', { timeout_ms: 5000 });
  const entry = await server.admitted(next, event, { timeout_ms: 8000 });
  await server.buy(next, event, entry.admission_token);
});

test('a lobby that is killed around its opening is drawn once', async (t) => {
  const random = random_of(seed + 7);
  const server = await server_for(t);
  const organizer = await server.organizer();
  const tokens = await server.customers(24);
  const opens_at = after(5 * patience);
  const { id: event } = await server.event(organizer, {
    total: 100,
    lobby_opens_at: after(-1),
    queue_opens_at: opens_at,
    sale_start: opens_at,
    draw: 'at_opening',
    queue: { batch_size: 5, admission_interval_ms: 300 },
  });
  const join = async (token, body = {}) =>
    (await server.insist('POST', `/events/${event}/queue`, { token, body })).json;
  const entrants = [];
  const opener = await join(tokens[0]);
  assert.deepEqual([opener.position, opener.lobby.status, opener.lobby.draw], [null, 'OPEN', 'at_opening']);
  const opened = await server.insist('POST', `/events/${event}/queue/party`, { token: tokens[0] });
  const { code } = opened.json.party;
  entrants.push({ number: opener.queue_number, party: opener.queue_number });
  const join_alone = async (token) => entrants.push({ number: (await join(token)).queue_number });
  for (const [i, members] of [
    [10, 2],
    [20, 3],
  ]) {
    await Promise.all(tokens.slice(i - 9, i).map(join_alone));
    const entry = await join(tokens[i], { party_code: code.toLowerCase() });
    entrants.push({ number: entry.queue_number, party: opener.queue_number });
    assert.equal(entry.party.members, members);
  }
  await Promise.all(tokens.slice(21).map(join_alone));
  const before = (await server.get(`/events/${event}`)).json.lobby;
  assert.deepEqual([before.status, before.people, before.seed], ['OPEN', 24, null]);
  const refused = await server.patch(`/events/${event}`, { token: organizer, body: { draw: 'none' } });
  expect_problem(refused, 409, 'lobby_fixed');

  await server.restart();
  assert.equal((await server.get(`/events/${event}`)).json.lobby.seed_commitment, before.seed_commitment);
  await sleep(Math.max(0, Date.parse(opens_at) - Date.now() - 200 + random() * 500));
  await server.restart();
  const lobby = await eventually('the lobby is drawn', async () => {
    const { json } = await server.get(`/events/${event}`);
    return json.lobby.status === 'DRAWN' && json.lobby;
  });
  await server.restart();
  assert.deepEqual((await server.get(`/events/${event}`)).json.lobby, lobby, 'no second draw');
  assert.equal(lobby.people, 24);
  const hash = crypto.createHash('sha256').update(Buffer.from(lobby.seed, 'hex')).digest('hex');
  assert.equal(hash, before.seed_commitment);

  const late = await join(await server.customer());
  assert.equal(late.queue_number, 25);
  const batches = new Map();
  for (const token of tokens) {
    const entry = await server.admitted(token, event);
    assert.ok(entry.admitted_at >= opens_at, 'nobody is admitted before the opening');
    batches.set(entry.queue_number, entry.admission_batch);
  }
  const order = drawn_order(lobby, entrants).map((number) => batches.get(number));
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
    'admitted in the order of the draw',
  );
  const party = entrants.filter((e) => e.party).map((e) => batches.get(e.number));
  assert.equal(new Set(party).size, 1, 'a party is admitted together');
});

test('the lobby of a queue is killed while it waits for its value; the checker takes its draw and the proofs', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({
    concurrency: 3,
    session_ttl_seconds: 600,
    opens_at: after(5 * patience),
    lobby_opens_at: after(-1),
    draw: 'at_opening',
    beacon: 'announced',
    beacon_announced: 'the numbers of the lottery',
  });
  const visitors = Array.from({ length: 8 }, (_, i) => tenant.join_as(queue, `visitor ${i}`));
  const tickets = (await Promise.all(visitors)).sort((a, b) => a.queue_number - b.queue_number);
  const proof_of = (i) => receipt_of(server, tickets[i].ticket_token, `/tickets/${tickets[i].ticket_id}`);
  const enter = (value) =>
    server.insist('POST', `/queues/${queue.id}/draw/beacon`, { token: tenant.token, body: { value } });
  expect_problem(await enter('1 2 3'), 409, 'lobby_not_closed');
  const receipts = [await proof_of(2)];
  const lobby = async () =>
    (await server.insist('GET', `/queues/${queue.id}`, { token: tenant.token })).json.lobby;
  await eventually('the lobby is closed', async () => (await lobby()).status === 'WAITS_FOR_BEACON');
  const checkpoints = [(await server.insist('GET', `/queues/${queue.id}/log/checkpoint`)).text];
  await server.restart();
  for (const ticket of tickets) assert.equal((await ticket_of(server, ticket)).position, null);
  const announced = '4 8 15 16';
  expect_problem(await enter('4  8 15 16'), 400, 'invalid_field', 'another spelling');
  const drawn = await enter(announced);
  assert.equal(drawn.status, 200, drawn.text);
  await server.restart();
  assert.deepEqual(await lobby(), drawn.json.lobby, 'no second draw');
  expect_problem(await enter('23 42'), 409, 'already_drawn');

  const places = await Promise.all(tickets.map((ticket) => ticket_of(server, ticket)));
  const order = drawn_order(
    drawn.json.lobby,
    places.map((place) => ({ number: place.queue_number })),
  );
  await eventually('three are inside', async () => {
    const first = order.slice(0, 3).map((number) => tickets[number - 1]);
    const now = await Promise.all(first.map((ticket) => ticket_of(server, ticket)));
    return now.every((place) => place.status === 'ADMITTED');
  });
  for (const [i, number] of order.slice(3).entries())
    assert.equal((await ticket_of(server, tickets[number - 1])).position, i + 1);
  receipts.push(await proof_of(7));
  const told = await eventually('the log has the admissions', async () => {
    const text = await check_log(server, ['--queue', queue.id], { receipts, checkpoints, announced });
    return /All 3 admissions/.test(text) && text;
  });
  assert.match(told, /passed +entrants +The 8 entrants/);
  assert.match(told, /passed +receipt .* Number 3 joined/); // of several it shows the first, and checks all
});

test('fairqueue-load as the crowd, killed 4 times', { timeout: 120_000 * patience }, async (t) => {
  const random = random_of(seed + 100);
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, {
    total: 100,
    claim_ttl_seconds: 4,
    queue: { batch_size: 20, admission_interval_ms: 250, claim_window_seconds: 2, session_ttl_seconds: 8 },
  });
  const early = await server.customer();
  await server.join(early, event);
  const seen = { receipts: [await receipt_of(server, early, `/events/${event}/queue`)], checkpoints: [] };
  let over = false;
  const crowd = run(
    fairqueue_load,
    [
      '--url',
      server.url,
      '--event',
      event,
      '--data-dir',
      server.data_dir,
      '--fans',
      '250',
      '--arrival',
      'poisson',
      '--arrival-seconds',
      '2',
      '--timeout',
      '80',
      '--quiet',
      '--seed',
      String(seed),
    ],
    { timeout_ms: 110_000 * patience },
  ).then((end) => {
    over = true;
    return end;
  });
  let kills = 0;
  while (kills < 4 && !over) {
    await sleep((500 + random() * 1200) * patience);
    if (over) break;
    seen.checkpoints.push((await server.insist('GET', `/events/${event}/log/checkpoint`)).text);
    await server.restart();
    ++kills;
  }
  const end = await crowd;
  assert.equal(end.code, 0, `after ${kills} kills:\n${end.out}\n${end.err}`);
  assert.ok(kills >= 2, `the sale was over after ${kills} kills`);
  assert.equal((await server.stats(organizer, event)).sold, 100);
  seen.receipts.push(await receipt_of(server, early, `/events/${event}/queue`));
  const told = await check_log(server, ['--event', event], seen);
  const joins = Number(/Numbers 1 to (\d+) each joined once/.exec(told)?.[1]);
  assert.ok(joins >= 251, `${joins} joins`); // who was too late joined again
});

test('a witness cosigns one of two logs, also of many requests at once and after kill -9', async (t) => {
  const logs = [1, 2, 3, 4, 5, 6].map((seed) => {
    const log = new Log().begin(`policy=${seed}\n`);
    for (let n = 1; n <= 10; ++n) log.join(n);
    return log;
  });
  const server = await server_for(t, { settings: { 'witness.logs': logs[0].signer.text } });
  const add = async (log, old = 0) => {
    const body = `old ${old}\n\n${log.checkpoint()}`;
    const answer = await fetch(`${server.url}/witness/add-checkpoint`, { method: 'POST', body });
    return { status: answer.status, text: await answer.text() };
  };
  const answers = await Promise.all(logs.map((log) => add(log)));
  assert.equal(answers.filter((a) => a.status === 200).length, 1);
  for (const a of answers.filter((a) => a.status !== 200)) assert.deepEqual(a, { status: 409, text: '11\n' });
  const shown = logs[answers.findIndex((a) => a.status === 200)];
  const key = parse_witness_key(await (await fetch(`${server.url}/witness/key`)).text());
  await server.kill();
  await server.launch();
  for (const log of logs) {
    const again = await add(log, 11);
    assert.equal(again.status, log === shown ? 200 : 409, again.text);
    if (log === shown) assert.ok(signed_at(parse_checkpoint(log.checkpoint() + again.text), key) > 0);
  }
});

test('after the restore of a backup the public log begins anew, and nobody is accused', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const [first, ...fans] = await server.customers(6);
  const place = `/events/${event}/queue`;
  await server.join(first, event);
  const kept = await receipt_of(server, first, place);
  await server.stop();
  const backup = temporary_folder();
  fs.cpSync(server.data_dir, backup, { recursive: true });
  await server.launch();
  for (const fan of fans.slice(0, 3)) await server.join(fan, event);
  const lost = await receipt_of(server, fans[2], place);
  await server.stop();
  fs.rmSync(server.data_dir, { recursive: true });
  fs.cpSync(backup, server.data_dir, { recursive: true });

  const accept = (...which) => {
    const whose = which.length > 0 ? which : ['--all'];
    return run(fairqueue, ['admin', 'accept-loss', '--restored', ...whose, '--data_dir', server.data_dir]);
  };
  const accepted = await accept();
  assert.equal(accepted.code, 0, accepted.err);
  assert.equal(accepted.out, `${event}\tits public log begins anew at the next start\n`);
  const wrong = await accept('--event', '01900000-0000-7000-8000-000000000000');
  assert.deepEqual([wrong.code, wrong.out], [1, ''], wrong.err);
  const again = await accept();
  assert.deepEqual([again.code, again.out], [0, ''], again.err);
  assert.match(again.err, /no public log is left/);

  await server.launch();
  const refused = await accept(); // not beside a server
  assert.equal(refused.code, 1, refused.out);
  for (const fan of fans.slice(3)) await server.join(fan, event);
  const fresh = await receipt_of(server, fans[4], place);
  const folder = temporary_folder();
  const check = (receipts) => {
    const options = Object.entries(receipts).flatMap(([name, text]) => {
      fs.writeFileSync(path.join(folder, name), text);
      return ['--receipt', name];
    });
    return run(process.execPath, [verify_cli, server.url, '--event', event, ...options], { cwd: folder });
  };
  const outcome = await check({ kept, lost, fresh });
  assert.equal(outcome.code, 3, outcome.out + outcome.err);
  assert.match(outcome.out, /unproven +event +This log replaces an older one that was lost/);
  assert.match(outcome.out, /At least [1-9]\d* records were lost/);
  assert.match(outcome.out, /unproven +receipt .* This log has this place: Number 1 /);
  assert.match(outcome.out, /This log does not have this place/);
  const of_new = await check({ fresh });
  assert.match(of_new.out, /passed +receipt .* Number 3 joined/);
  await server.verified();
});

/** A witness that takes connections and never answers. */
async function silent_witness(t) {
  const server = http.createServer(() => {});
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => (server.closeAllConnections(), server.close()));
  const key = new Signer('silent.example/witness', 4, 9).text;
  return { option: `http://127.0.0.1:${server.address().port} ${key}`, key };
}

const text_at = async (url) => (await fetch(url)).text();

test('another server cosigns the log while one witness is silent, and refuses a second log of the same event', async (t) => {
  const settings = { 'http.public_url': 'http://tickets.example' }; // the name of the log stays through copies
  const seller = await server_for(t, { settings });
  const organizer = await seller.organizer();
  const { id: event } = await seller.event(organizer, { queue: { policy: 'operator' } });
  const [first, ...fans] = await seller.customers(8);
  await seller.join(first, event);
  const log = (server) => `${server.url}/events/${event}/log`;
  await eventually('the log has a key', async () => (await fetch(`${log(seller)}/key`)).ok);
  const witness = await server_for(t, {
    settings: { 'witness.logs': (await text_at(`${log(seller)}/key`)).trim() },
  });
  const key = (await text_at(`${witness.url}/witness/key`)).trim();
  const silent = await silent_witness(t);
  seller.settings['witness.urls'] = `${silent.option},${witness.url}/witness ${key}`;
  await seller.stop();
  const copy = temporary_folder();
  fs.cpSync(seller.data_dir, copy, { recursive: true });
  await seller.launch();

  const is_cosigned = async (server, size) => {
    const checkpoint = parse_checkpoint(await text_at(`${log(server)}/checkpoint`));
    return checkpoint.size >= size && signed_at(checkpoint, parse_witness_key(key)) !== null;
  };
  const took = [];
  for (const fan of fans.slice(0, 4)) {
    const began = Date.now();
    await seller.join(fan, event);
    took.push(Date.now() - began);
  }
  // A witness is given up after 10 s. The machine may stand still during one of the joins.
  took.sort((a, b) => a - b);
  assert.ok(took[2] < 2_000 * patience && took[3] < 8_000, `a join waited for a witness: ${took} ms`);
  await eventually('a cosignature', () => is_cosigned(seller, 6), { timeout_ms: 20_000 * patience });
  const check = (server, ...more) =>
    run(process.execPath, [verify_cli, server.url, '--event', event, ...more]);
  const honest = await check(seller, '--witness', key);
  assert.equal(honest.code, 0, honest.out + honest.err);
  assert.match(honest.out, /passed +witnesses +1 of the witnesses saw this log grow/);
  const kept = parse_checkpoints(await text_at(`${log(seller)}/checkpoint.cosigned`));
  assert.ok(kept.some((checkpoint) => signed_at(checkpoint, parse_witness_key(key)) !== null));
  const both = await check(seller, '--witness', key, '--witness', silent.key);
  assert.equal(both.code, 1, both.out);
  const one = await check(seller, '--witness', key, '--witness', silent.key, '--quorum', '1');
  assert.equal(one.code, 0, one.out);

  // The same installation shows other people another log.
  const second = await server_for(t, { settings: seller.settings, data_dir: copy });
  for (const fan of fans.slice(4)) await second.join(fan, event);
  await eventually(
    'the witness is complained about',
    () => /has cosigned (another|a longer) log/.test(second.log),
    {
      timeout_ms: 20_000 * patience,
    },
  );
  const caught = await check(second, '--witness', key);
  assert.equal(caught.code, 1, caught.out);
  assert.match(caught.out, /failed +witnesses +0 of the 1 witnesses needed/);
  const alone = await check(second);
  assert.notEqual(alone.code, 1, alone.out); // its log alone is without a fault
});

/** A network of randomness of our own: a round each second, served once it is due. */
async function beacon_network(t) {
  const secret = Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? 7 : 0));
  const bls = bls12_381.shortSignatures;
  const info = {
    public_key: Buffer.from(bls.getPublicKey(secret).toBytes(true)).toString('hex'),
    period: 1,
    genesis_time: Math.floor(Date.now() / 1000) - 100,
    groupHash: '11'.repeat(32),
    metadata: { beaconID: 'test' },
  };
  const server = http.createServer((request, response) => {
    const round = Number(/\/public\/(\d+)$/.exec(request.url)?.[1]);
    if (!round || due_at(info, round) > Date.now()) return response.writeHead(404).end();
    const bytes = bls.sign(round_message(round), secret).toBytes(true);
    const signature = Buffer.from(bytes).toString('hex');
    const randomness = crypto.createHash('sha256').update(bytes).digest('hex');
    return response.end(JSON.stringify({ round, randomness, signature }));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => (server.closeAllConnections(), server.close()));
  return { info, url: `http://127.0.0.1:${server.address().port}` };
}

test('the checker takes a real lobby: drawn by a public round that came after a witness saw its closing', async (t) => {
  const network = await beacon_network(t);
  const seller = await server_for(t, { settings: { 'draw.beacon_url': network.url } });
  const organizer = await seller.organizer();
  const { id: other } = await seller.event(organizer, {});
  await seller.join(await seller.customer(), other);
  const key_of_logs = await eventually('a log', async () => {
    const answer = await fetch(`${seller.url}/events/${other}/log/key`);
    return answer.ok && (await answer.text()).trim();
  });
  const witness = await server_for(t, { settings: { 'witness.logs': key_of_logs } });
  const key = (await text_at(`${witness.url}/witness/key`)).trim();
  seller.settings['witness.urls'] = `${witness.url}/witness ${key}`;
  await seller.restart();

  const fans = await seller.customers(12);
  const opens_at = Date.now() + 6_000 * patience;
  const round = Math.ceil((opens_at + 8_000 * patience) / 1000) - network.info.genesis_time;
  const { id: event } = await seller.event(organizer, {
    total: 100,
    lobby_opens_at: after(-1),
    queue_opens_at: new Date(opens_at).toISOString(),
    sale_start: new Date(opens_at).toISOString(),
    draw: 'at_opening',
    beacon: { kind: 'drand', chain_hash: chain_hash(network.info), round },
    queue: { batch_size: 5, admission_interval_ms: 300 },
  });
  const places = await Promise.all(fans.map((fan) => seller.join(fan, event)));
  const receipt = await receipt_of(seller, fans[3], `/events/${event}/queue`);
  await eventually(
    'the lobby is drawn',
    async () => (await seller.get(`/events/${event}`)).json.lobby.status === 'DRAWN',
    { timeout_ms: 40_000 * patience },
  );
  for (const fan of fans) await seller.admitted(fan, event);
  const folder = temporary_folder();
  fs.writeFileSync(path.join(folder, 'chain.json'), JSON.stringify(network.info));
  fs.writeFileSync(path.join(folder, 'mine.tlog-proof'), receipt);
  const args = ['--chain', 'chain.json', '--receipt', 'mine.tlog-proof', '--witness', key];
  const program = [verify_cli, seller.url, '--event', event, ...args];
  const outcome = await eventually('the log has all admissions', async () => {
    const end = await run(process.execPath, program, { cwd: folder });
    return /All 12 admissions/.test(end.out) && end;
  });
  assert.equal(outcome.code, 0, outcome.out + outcome.err);
  assert.match(outcome.out, /passed +entrants +The 12 entrants/);
  assert.match(outcome.out, /passed +beacon +The beacon is drand's round/);
  assert.match(outcome.out, /passed +closing +1 of the witnesses saw the closed entrants/);
  const number = places[3].queue_number;
  assert.match(outcome.out, new RegExp(`passed +receipt .* Number ${number} joined .* It was admitted at`));
});
