// SPDX-License-Identifier: Apache-2.0
// /metrics compared with a sale: correct numbers, no series per customer, cheap scrapes under load.
import test from 'node:test';
import { assert, eventually, fairqueue_load, patience, run, sale, server_for } from './lib.mjs';

const scrape = async (server) => (await server.get('/metrics', { admin: true })).text;
const series = (text) =>
  text
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.slice(0, line.lastIndexOf(' ')));

/** Sum over the series of a metric with these labels. */
function value(text, name, labels = {}) {
  const wanted = Object.entries(labels).map(([label, is]) => `${label}="${is}"`);
  const found = text
    .split('\n')
    .filter(
      (line) =>
        (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && wanted.every((w) => line.includes(w)),
    );
  assert.ok(found.length > 0, `no series ${name} ${JSON.stringify(labels)}`);
  return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

async function running_event(server, changes) {
  const organizer = await server.organizer();
  const made = await server.post('/events', { token: organizer, body: sale(changes) });
  assert.equal(made.status, 201, made.text);
  const active = await server.post(`/events/${made.json.id}/activate`, { token: organizer });
  assert.equal(active.status, 200, active.text);
  return { organizer, event: made.json };
}

test('the numbers are those of GET /events/{id}/stats and of the orders', async (t) => {
  const server = await server_for(t);
  const { organizer, event } = await running_event(server, {
    total: 100,
    price: 1000,
    queue: { policy: 'batch', batch_size: 5, admission_interval_ms: 200 },
  });
  const load = await run(
    fairqueue_load,
    [
      '--url',
      server.url,
      '--data-dir',
      server.data_dir,
      '--event',
      event.id,
      '--fans',
      '60',
      '--arrival-seconds',
      '1',
      '--buy-by',
      'checkout',
      '--no-show',
      '0',
      '--abandon',
      '0',
      '--decline',
      '0',
      '--quiet',
    ],
    { timeout_ms: 90_000 * patience },
  );
  assert.equal(load.code, 0, load.out + load.err);
  const { json: stats } = await server.get(`/events/${event.id}/stats`, { token: organizer });
  const text = await scrape(server);
  const of = { event: event.id };
  assert.equal(value(text, 'fairqueue_queue_entries', { ...of, state: 'waiting' }), stats.waiting);
  assert.equal(value(text, 'fairqueue_queue_entries', { ...of, state: 'admitted' }), stats.admitted);
  assert.equal(value(text, 'fairqueue_tickets', { ...of, state: 'held' }), stats.held);
  assert.equal(value(text, 'fairqueue_tickets', { ...of, state: 'sold' }), stats.sold);
  assert.ok(stats.sold > 0);
  assert.equal(value(text, 'fairqueue_tickets', of), 100);
  assert.equal(value(text, 'fairqueue_revenue_minor_units', of), stats.revenue);
  assert.equal(value(text, 'fairqueue_entries_moved_total', { to: 'waiting' }), 60);
  assert.equal(value(text, 'fairqueue_entries_moved_total', { to: 'admitted' }), stats.admitted_total);
  assert.equal(
    value(text, 'fairqueue_orders_moved_total', { to: 'pending' }),
    value(text, 'fairqueue_checkout_tasks_total') +
      value(text, 'checkout_queue_length') +
      value(text, 'fairqueue_orders_moved_total', { to: 'cancelled' }),
  );
  assert.equal(
    value(text, 'fairqueue_checkout_task_duration_seconds_count'),
    value(text, 'fairqueue_checkout_tasks_total', { result: 'served' }),
  );
  assert.ok(
    value(text, 'fairqueue_gateway_calls_total', {
      gateway: 'sandbox',
      call: 'initialize',
      result: 'answered',
    }) > 0,
  );
  assert.equal(value(text, 'fairqueue_gateway_workers', { gateway: 'sandbox' }), 32);
  assert.equal(value(text, 'fairqueue_events'), 1);
  assert.equal(value(text, 'fairqueue_dead_letters_open'), 0);
  await eventually(
    'nothing is overdue',
    async () => value(await scrape(server), 'fairqueue_overdue_seconds') < 1,
  );
  assert.ok(value(text, 'process_resident_memory_bytes') > 1 << 20);
  assert.ok(Math.abs(value(text, 'process_start_time_seconds') - Date.now() / 1000) < 600);
  await eventually(
    'everything in the outbox is delivered',
    async () => value(await scrape(server), 'fairqueue_outbox_rows') === 0,
  );
  assert.ok(value(await scrape(server), 'fairqueue_outbox_delivered_total') > 0);
  // Checkouts with Prefer: wait count separately.
  const [fan] = await server.customers(1);
  const before = value(text, 'checkout_requests_total', { mode: 'wait' });
  await server.post('/checkout', {
    token: fan,
    headers: { Prefer: 'wait=1' },
    body: { event_id: event.id, contact: { first_name: 'A', last_name: 'B', email: 'a@example.org' } },
  });
  assert.equal(value(await scrape(server), 'checkout_requests_total', { mode: 'wait' }), before + 1);
});

test('a hundred thousand customers make no more series than a thousand', async (t) => {
  const server = await server_for(t, { settings: { 'rate_limits.anonymous_requests_per_ip_per_minute': 0 } });
  const { event } = await running_event(server, {
    total: 100,
    queue: { policy: 'batch', batch_size: 1, admission_interval_ms: 60_000 },
  });
  const joined = async (fans) => {
    const load = await run(
      fairqueue_load,
      [
        '--url',
        server.url,
        '--data-dir',
        server.data_dir,
        '--event',
        event.id,
        '--join-only',
        '--fans',
        String(fans),
        '--connections',
        '64',
        '--quiet',
      ],
      { timeout_ms: 240_000 * patience },
    );
    assert.equal(load.code, 0, load.out + load.err);
    await scrape(server); // the scrape itself has no series
    return scrape(server);
  };
  const few = await joined(1000);
  const many = await joined(99_000);
  assert.equal(value(many, 'fairqueue_entries_moved_total', { to: 'waiting' }), 100_000);
  const repeated = value(many, 'fairqueue_joins_total', { result: 'repeated' }); // after a timeout the join is repeated
  assert.ok(value(many, 'fairqueue_joins_total', { result: 'created' }) + repeated >= 100_000);
  // On a slow machine one of 100,000 answers may be a 503, which begins a series.
  const without_5xx = (text) => series(text).filter((each) => !each.includes('status="5xx"'));
  assert.deepEqual(without_5xx(many), without_5xx(few));
  const ids = new Set(many.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g));
  assert.deepEqual([...ids], [event.id], "no id but the event's");
});
