// SPDX-License-Identifier: Apache-2.0
// Does push slow admissions? An operator advances a long queue evenly over a minute, with push off and on in
// turn. Each run has its own server. With push, each place has a device. FCM (a stand-in over HTTP/2 and TLS)
// answers 10 % of the attempts with 429 and 10 % with 503, half of these with a Retry-After of 2 s.
// Latency: from the operator's POST …/advance to the visitor's `admitted` frame, at every tenth place.
// After a run with push each device was notified once, or its notice expired with its session (FCM always
// refuses 1 % of the devices). The log, the metrics and FCM's own count must agree.
// Usage: node bench/push.mjs [admissions=20000] [rounds=3] [seconds=60] [with-length] [postgres]   (after a
// release build; three minutes a round)
// with-length: FCM's answers have a Content-Length, see push_standins.mjs.
// postgres: on a private Postgres instead of the embedded ledger.
import { WebSocket } from '../tests/blackbox/lib.mjs';
import { advance, all_told, each, judge, line } from '../tests/blackbox/admissions.mjs';
import { tenant_on } from '../tests/blackbox/tenant.mjs';
import { PushProvider } from '../tests/support/push_provider.mjs';
import { Services } from '../tests/support/services.mjs';
import { bench, cpu_seconds, median, start } from './parts.mjs';

const words = ['with-length', 'postgres'];
const [says_length, on_postgres] = words.map((word) => process.argv.includes(word));
const [admissions = 20_000, rounds = 3, seconds = 60] = process.argv
  .slice(2)
  .filter((arg) => !words.includes(arg))
  .map(Number);
const unlucky_count = Math.ceil(admissions / 100);
const unlucky_session_seconds = 20;
const tick_ms = 100;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const percentile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

/** Follows a place and records the time of its `admitted` frame. */
function follow(server, ticket, admitted_at) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(
      `${server.url.replace('http', 'ws')}/tickets/${ticket.ticket_id}/ws`,
      ['fairqueue.v1', ticket.ticket_token],
      { perMessageDeflate: false },
    );
    socket.on('error', reject).on('message', (text) => {
      const at = performance.now();
      const frame = JSON.parse(text);
      if (frame.type === 'state') resolve(socket);
      if (frame.type === 'admitted') admitted_at.set(frame.queue_number, at);
    });
  });
}

/** Admits `count` evenly. Returns for each tick the time of its call and the last number it called. */
async function call_in(server, tenant, queue, count) {
  const ticks = (seconds * 1000) / tick_ms;
  const [calls, sent] = [[], []];
  const began = performance.now();
  for (let tick = 0, called = 0; tick < ticks; ++tick) {
    await sleep(Math.max(0, began + tick * tick_ms - performance.now()));
    const upto = Math.floor(((tick + 1) * count) / ticks);
    if (upto === called) continue;
    sent.push({ upto, at: performance.now() });
    calls.push(advance(server, tenant, queue, upto - called));
    called = upto;
  }
  await Promise.all(calls);
  return sent;
}

async function run_once(end_with, has_push) {
  const provider = has_push ? await PushProvider.start({ nice: 10 }) : undefined;
  end_with(() => provider?.stop());
  const services = on_postgres ? await Services.start('postgres') : undefined;
  end_with(() => services?.stop());
  const server = await start(end_with, {
    ...provider?.settings,
    ...(services && { 'ledger.url': services.postgres_url }),
  });
  const tenant = await tenant_on(server);
  const [lucky_count, has_devices] = [admissions - unlucky_count, has_push];
  const lucky = await line(server, tenant, 'fan', lucky_count, { has_devices });
  const unlucky = await line(server, tenant, 'unlucky', unlucky_count, {
    has_devices,
    session_ttl_seconds: unlucky_session_seconds,
  });
  await provider?.weather({
    share_429: 0.1,
    share_503: 0.1,
    retry_after: { share: 0.5, seconds: 2 },
    says_length,
  });
  await provider?.script(
    Object.fromEntries(unlucky.tickets.map(({ subject }) => [subject, { status: 503 }])),
  );
  const admitted_at = new Map();
  const followed = lucky.tickets.filter((_, i) => i % 10 === 0);
  const sockets = await each(followed, 32, (ticket) => follow(server, ticket, admitted_at));

  await advance(server, tenant, unlucky.queue, unlucky_count);
  const [cpu, began] = [cpu_seconds(server.pid), performance.now()];
  const sent = await call_in(server, tenant, lucky.queue, lucky_count);
  for (let i = 0; i < 100 && admitted_at.size < followed.length; ++i) await sleep(50);
  if (admitted_at.size < followed.length)
    throw new Error(`${followed.length - admitted_at.size} were admitted without a frame on their socket`);
  const result = { cpu: cpu_seconds(server.pid) - cpu };
  // Calls are sent in order, each on its own connection. The number tells which call admitted a place.
  result.latencies = [];
  let call = 0;
  for (const { queue_number } of followed) {
    while (sent[call].upto < queue_number) ++call;
    result.latencies.push(admitted_at.get(queue_number) - sent[call].at);
  }
  if (has_push) {
    const seen = await all_told(server, tenant, provider, admissions, { timeout_ms: 300_000, every_ms: 200 });
    result.told_after = (performance.now() - began) / 1000;
    const session_ms = unlucky_session_seconds * 1000;
    Object.assign(
      result,
      judge({ lucky: lucky.tickets, unlucky: unlucky.tickets.map((u) => ({ ...u, session_ms })), ...seen }),
    );
  }
  for (const socket of sockets) socket.terminate();
  return result;
}

const all = { off: [], on: [] };
const ratios = [];
for (let round = 1; round <= rounds; ++round) {
  const p99 = {};
  for (const how of round % 2 ? ['off', 'on'] : ['on', 'off'])
    await bench(async (end_with) => {
      const seen = await run_once(end_with, how === 'on');
      all[how].push(...seen.latencies);
      p99[how] = percentile(seen.latencies, 0.99);
      const told =
        how === 'on'
          ? `; all ${admissions} notified or expired ${seen.told_after.toFixed(1)} s after the first, ${seen.tries} attempts, ${seen.refused} refused`
          : '';
      console.log(
        `round ${round}, push ${how}: admission p50 ${percentile(seen.latencies, 0.5).toFixed(2)}  p95 ${percentile(seen.latencies, 0.95).toFixed(2)}  p99 ${p99[how].toFixed(2)} ms ` +
          `(${seen.latencies.length} sampled), server CPU ${seen.cpu.toFixed(1)} s${told}`,
      );
    });
  ratios.push(p99.on / p99.off);
}
const pooled = percentile(all.on, 0.99) / percentile(all.off, 0.99);
console.log(
  `p99 on / off: ${ratios.map((r) => r.toFixed(3)).join(', ')}, median ${median(ratios).toFixed(3)}; all rounds ${pooled.toFixed(3)} (p50 ${(percentile(all.on, 0.5) / percentile(all.off, 0.5)).toFixed(3)})`,
);
process.exit(median(ratios) <= 1.1 ? 0 : 1); // issue 8: p99 within 10 % of push off
