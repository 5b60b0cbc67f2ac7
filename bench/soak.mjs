// SPDX-License-Identifier: Apache-2.0
// A long run on Postgres and Redis: one sale after the other, and a queue whose visitors come and go with
// devices (push) and a webhook. Memory keeps for one minute what has ended, the ledger for five. Every 15 s a
// line of figures goes to build/soak.csv; the end compares the last third with the first third after the
// warm-up. bench/soak.gp draws the figures.
// Usage: node bench/soak.mjs [minutes=100]   (after a release build; gnuplot for the picture)
import fs from 'node:fs';
import http from 'node:http';
import { fairqueue, fairqueue_load, run } from '../tests/blackbox/lib.mjs';
import { short_sale } from '../tests/blackbox/faults.mjs';
import { tenant_on } from '../tests/blackbox/tenant.mjs';
import { PushProvider } from '../tests/support/push_provider.mjs';
import { Services, redis, sql } from '../tests/support/services.mjs';
import { bench, cpu_seconds, descriptors_of, median, start, status_of } from './parts.mjs';

const minutes = Number(process.argv[2] ?? 100);
const warm_up_minutes = Math.min(12, minutes / 4);
const visitors_per_second = 20;
const sample_ms = 15_000;
const file = 'build/soak.csv';
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A target of webhooks that answers 204; every 5,000th call fails. */
async function webhook_target(end_with) {
  const target = { calls: 0 };
  const server = http.createServer((request, answer) => {
    request.resume().on('end', () => answer.writeHead(++target.calls % 5_000 === 0 ? 500 : 204).end());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  end_with(() => server.close());
  target.port = server.address().port;
  return target;
}

async function sell(server, until, seen) {
  const organizer = await server.organizer();
  while (performance.now() < until) {
    const event = (await server.event(organizer, short_sale)).id;
    const crowd = ['--url', server.url, '--data-dir', server.data_dir, '--event', event, '--fans', '300'];
    const done = await run(fairqueue_load, [...crowd, '--quiet', '--timeout', '120'], {
      timeout_ms: 150_000,
    });
    if (done.code !== 0) throw new Error(`fairqueue-load ended with ${done.code}: ${done.out}${done.err}`);
    const ended = await server.post(`/events/${event}/end`, { token: organizer });
    if (ended.status !== 200) throw new Error(ended.text);
    ++seen.sales;
  }
}

async function visit(server, tenant, queue, until, seen) {
  for (let next = performance.now(); next < until; next += 1000 / visitors_per_second) {
    await sleep(Math.max(0, next - performance.now()));
    const subject = `visitor-${++seen.visitors}`;
    const ticket = await tenant.join_as(queue, subject);
    const device = { platform: 'fcm', token: subject };
    await server.post(`/tickets/${ticket.ticket_id}/devices`, { token: ticket.ticket_token, body: device });
  }
}

async function sample(server, services) {
  const count = async (table) =>
    Number((await sql(services.postgres_url, `SELECT count(*) AS n FROM ${table}`))[0].n);
  const used = /used_memory:(\d+)/.exec(await redis(services.redis_url, 'INFO', 'memory'))[1];
  return {
    rss_mib: status_of(server.pid, 'VmRSS') / 1024,
    descriptors: descriptors_of(server.pid),
    threads: status_of(server.pid, 'Threads'),
    redis_mib: Number(used) / 2 ** 20,
    entries: await count('queue_entry'),
    outbox: await count('outbox'),
    notices: await count('delivery'),
    cpu_s: cpu_seconds(server.pid),
  };
}

await bench(async (end_with) => {
  const services = await Services.start('postgres', 'redis');
  end_with(() => services.stop());
  const provider = await PushProvider.start({ nice: 10 });
  end_with(() => provider.stop());
  const target = await webhook_target(end_with);
  const server = await start(end_with, {
    ...provider.settings,
    'ledger.url': services.postgres_url,
    'cache.url': services.redis_url,
    'retention.memory': '1m',
    'retention.entries': '5m',
    'webhooks.allow_private': 'true',
    'webhooks.allow_http': 'true',
    'webhooks.ports': String(target.port),
  });
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 100, session_ttl_seconds: 2 });
  const endpoint = { url: `http://127.0.0.1:${target.port}/hook` };
  const made = await server.post('/webhook-endpoints', { token: tenant.token, body: endpoint });
  if (made.status !== 201) throw new Error(made.text);

  const seen = { sales: 0, visitors: 0 };
  const began = performance.now();
  const until = began + minutes * 60_000;
  const working = Promise.all([sell(server, until, seen), visit(server, tenant, queue, until, seen)]);
  let failed;
  working.catch((error) => (failed = error));
  const rows = [];
  while (performance.now() < until && !failed) {
    const row = { minute: (performance.now() - began) / 60_000, ...(await sample(server, services)) };
    rows.push({ ...row, sales: seen.sales, visitors: seen.visitors, webhooks: target.calls });
    const text = (values) =>
      values.map((v) => (typeof v === 'number' ? Math.round(v * 100) / 100 : v)).join(',');
    fs.writeFileSync(file, [Object.keys(rows[0]), ...rows.map(Object.values)].map(text).join('\n') + '\n');
    await sleep(sample_ms);
  }
  await working;
  const verified = await run(fairqueue, ['admin', 'verify', '--data_dir', server.data_dir]);
  if (verified.code !== 0) throw new Error(`admin verify: ${verified.out}${verified.err}`);
  const warm = rows.filter((row) => row.minute > warm_up_minutes);
  const third = Math.floor(warm.length / 3);
  const of = (part, name) => median(part.map((row) => row[name]));
  console.log(
    `${seen.sales} sales, ${seen.visitors} visitors, ${target.calls} webhooks in ${minutes} minutes`,
  );
  for (const name of ['rss_mib', 'descriptors', 'threads', 'redis_mib', 'entries', 'outbox', 'notices']) {
    const [first, last] = [of(warm.slice(0, third), name), of(warm.slice(-third), name)];
    console.log(`${name}: ${first.toFixed(1)} in the first third, ${last.toFixed(1)} in the last`);
  }
});
process.exit(0);
