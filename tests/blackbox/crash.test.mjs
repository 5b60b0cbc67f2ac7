// SPDX-License-Identifier: Apache-2.0
// kill -9 at random moments of running sales. Everything acknowledged survives, and the sale ends with every
// invariant (docs/glossary.md): I1, I2, I3, I4, I6, I7, I8, I9. Prints its seed; FAIRQUEUE_TEST_SEED repeats
// the same moments.
import test from 'node:test';
import path from 'node:path';
import {
  assert,
  eventually,
  expect_problem,
  fairqueue_load,
  patience,
  random_of,
  report_outage,
  sale,
  seed,
  server_for,
  sleep,
  run,
} from './lib.mjs';

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
    queue: { claim_window_seconds: 3, session_ttl_seconds: 8 },
  });
  const [fan, next] = await server.customers(2);
  const { admission_token } = await server.join_and_be_admitted(fan, event);
  const claim = await server.claim(fan, event, admission_token);
  await server.join(next, event);
  await server.kill();
  await sleep(4000);
  await server.launch();
  await server.claim_reaches(fan, claim.claim_id, 'RELEASED', { timeout_ms: 5000 });
  const entry = await server.admitted(next, event, { timeout_ms: 8000 });
  await server.buy(next, event, entry.admission_token);
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
    await server.restart();
    ++kills;
  }
  const end = await crowd;
  assert.equal(end.code, 0, `after ${kills} kills:\n${end.out}\n${end.err}`);
  assert.ok(kills >= 2, `the sale was over after ${kills} kills`);
  assert.equal((await server.stats(organizer, event)).sold, 100);
});
