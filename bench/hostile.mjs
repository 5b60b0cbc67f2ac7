// SPDX-License-Identifier: Apache-2.0
// A sale of 3,000 honest fans behind 127.0.0.1, again and again: first in peace, then beside an attack from
// eight other loopback addresses (hostile_attack.mjs). All limits have their defaults. Prints of each step of
// the fans, of GET /access and of honest requests for codes the p99 in peace, the median and the worst of the
// sales under attack, and the ratio of the medians; then memory and descriptors of the server.
// Exit 1: a sale did not sell out, a check of fairqueue-load failed, or a ratio is above 3.
// Usage: node bench/hostile.mjs [minutes=30] [fans=3000] [kind]   (after a release build). `kind`: a part of
// the names of the kinds of attack, such as "WebSocket"; the others are left out.
import { fork } from 'node:child_process';
import crypto from 'node:crypto';
import { fairqueue_load, run, Server } from '../tests/blackbox/lib.mjs';
import { tenant_on } from '../tests/blackbox/tenant.mjs';
import { bench, cost_of, descriptors_of, median, status_of, tokens_of, waiting_event } from './parts.mjs';

const [minutes = 30, fans = 3000] = process.argv.slice(2, 4).map(Number);
const only = process.argv[4] ?? '';
const peaceful_sales = 3;
const ratio_max = 3;
/** The attack then has the connections that it can get. */
const build_up_ms = 10_000;
const [listed_events, hostile_customers] = [100, 200];
/** Lasts about 40 s. */
const sale = {
  total: Math.floor(fans / 3),
  price: 1500,
  claim_ttl_seconds: 8,
  queue: {
    batch_size: Math.ceil(fans / 100),
    admission_interval_ms: 500,
    claim_window_seconds: 4,
    session_ttl_seconds: 12,
    over_admission_factor: 1.5,
  },
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const must = (answer, ...wanted) => {
  if (!wanted.includes(answer.status)) throw new Error(`${answer.status} ${answer.text}`);
  return answer.json;
};

async function new_sale(server, token) {
  const event = await server.event(token, sale);
  const code = { code: 'FAN10', discount: { type: 'percent', percent: 10 } };
  must(await server.post(`/events/${event.id}/promo-codes`, { token, body: code }), 201);
  return { id: event.id, type: event.ticket_types[0].id };
}

/** Sells `event` out; returns the p99 of each step. */
async function sell(server, event) {
  const options = {
    'url': server.url,
    'data-dir': server.data_dir,
    'event': event.id,
    fans,
    'source-addresses': 1,
    'buy-by': 'mixed',
    'promo-code': 'FAN10',
    'timeout': 150,
    'json': '-',
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const { code, out, err } = await run(fairqueue_load, [...args, '--quiet'], { timeout_ms: 180_000 });
  const report = code === 2 ? {} : JSON.parse(out);
  const broken = report.checks?.filter((check) => check.violations > 0 || check.result === 'BROKEN') ?? [];
  const sound = code === 0 && report.sold === sale.total && broken.length === 0;
  if (!sound)
    console.log(`fairqueue-load ended with ${code}: ${report.sold} sold`, broken, err.slice(0, 2000));
  const steps = report.steps?.filter((step) => step.count > 0) ?? [];
  const errors = steps.reduce((sum, step) => sum + step.errors, 0);
  const retries = steps.reduce((sum, step) => sum + step.retries, 0);
  return { sound, errors, retries, p99: Object.fromEntries(steps.map((step) => [step.step, step.p99_ms])) };
}

/** Honest requests beside the sale, until `over()`: their p99 by name, and how many were refused. */
async function visit(server, session_token, over) {
  const steps = {
    access: { every_ms: 250, wanted: 200, ask: () => server.get('/access', { token: session_token }) },
    code: {
      every_ms: 500,
      wanted: 202,
      ask: () =>
        server.post('/auth/customer/otp/request', {
          body: { email: `fan-${crypto.randomUUID()}@example.com` },
        }),
    },
  };
  const p99 = {};
  let refused = 0;
  const follow = async ([name, { every_ms, wanted, ask }]) => {
    const times = [];
    for (let next = performance.now(); !over(); next += every_ms) {
      await sleep(Math.max(0, next - performance.now()));
      const began = performance.now();
      const answer = await ask().catch((error) => ({ status: error.message }));
      times.push(performance.now() - began);
      if (answer.status !== wanted && ++refused <= 3) console.log(`${name}: ${answer.status} ${answer.text}`);
    }
    times.sort((a, b) => a - b);
    p99[name] = times[Math.ceil(times.length * 0.99) - 1];
  };
  await Promise.all(Object.entries(steps).map(follow));
  return { p99, refused };
}

async function sell_and_visit(server, event, session_token) {
  let over = false;
  const selling = sell(server, event).finally(() => (over = true));
  const [sold, visited] = await Promise.all([selling, visit(server, session_token, () => over)]);
  return { ...sold, ...visited, p99: { ...sold.p99, ...visited.p99 } };
}

const size_of = (server) =>
  `${(status_of(server.pid, 'VmRSS') / 1024).toFixed(0)} MiB, ${descriptors_of(server.pid)} descriptors`;

/** Prints the table; true if each ratio is within the limit. */
function compare(peace, attacked) {
  const names = Object.keys(peace[0].p99).filter((name) => attacked.some(({ p99 }) => name in p99));
  let within = true;
  console.log('p99 in ms'.padEnd(16) + 'peace    attacked (median)  worst    ratio');
  for (const name of names) {
    const of = (sales) => sales.map(({ p99 }) => p99[name]).filter((ms) => ms !== undefined);
    const [before, after] = [median(of(peace)), median(of(attacked))];
    within &&= after / before <= ratio_max;
    const columns = [before, after, Math.max(...of(attacked))].map((ms) => ms.toFixed(1).padEnd(15));
    console.log(name.padEnd(16) + columns.join('') + (after / before).toFixed(2));
  }
  return within;
}

async function start_attack(end_with, about) {
  const attack = fork(new URL('hostile_attack.mjs', import.meta.url));
  end_with(() => attack.kill('SIGKILL'));
  attack.send(about);
  attack.turn_to = (event) =>
    new Promise((resolve) => {
      attack.once('message', resolve);
      attack.send({ event });
    });
  await sleep(build_up_ms);
  return attack;
}

let passed = true;
await bench(async (end_with) => {
  const server = await Server.start();
  end_with(() => server.kill());
  const organizer = await server.organizer();
  for (let i = 0; i < listed_events; ++i) await server.event(organizer);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 10, session_ttl_seconds: 86_400 });
  const { session_token } = await tenant.join_as(queue, 'ann');
  const line = await waiting_event(server);
  const tokens = tokens_of(server, hostile_customers);
  for (const token of tokens) await server.join(token, line);

  const one_sale = async (event) => {
    const { result, seconds, cpu } = await cost_of(server, () =>
      sell_and_visit(server, event, session_token),
    );
    console.log(`a sale in ${seconds.toFixed(0)} s with ${cpu.toFixed(1)} s of CPU; ${size_of(server)}`);
    return result;
  };
  const [peace, attacked] = [[], []];
  console.log(`before: ${size_of(server)}`);
  for (let i = 0; i < peaceful_sales; ++i) peace.push(await one_sale(await new_sale(server, organizer)));
  let event = await new_sale(server, organizer);
  const attack = await start_attack(end_with, { port: server.port, event, line, tokens, only });
  const until = performance.now() + minutes * 60_000;
  console.log('the attack has begun');
  let counts;
  do {
    attacked.push(await one_sale(event));
    event = await new_sale(server, organizer);
    counts = await attack.turn_to(event); // its promo codes are guessed at
  } while (performance.now() < until);
  console.log('the attack:', counts);
  attack.kill('SIGKILL');
  await sleep(30_000);
  console.log(`30 s after the attack: ${size_of(server)}`);
  const all = [...peace, ...attacked];
  for (const [name, sales] of Object.entries({ peace, attacked })) {
    const sum = (of) => sales.reduce((total, each) => total + each[of], 0);
    console.log(
      `${name}: ${sales.length} sales, ${sum('retries')} retries, ${sum('errors')} errors,`,
      `${sum('refused')} visits refused`,
    );
  }
  const sound = all.every((each) => each.sound);
  if (sound) console.log('all sales sold out and all checks held');
  passed = compare(peace, attacked) && sound;
});
process.exit(passed ? 0 : 1);
