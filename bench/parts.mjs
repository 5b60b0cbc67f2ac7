// SPDX-License-Identifier: Apache-2.0
// Shared parts of the benchmarks in Node: a server of the release build on a scratch folder, its CPU time,
// crowds by wrk, medians.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { clean_environment, fairqueue, run, Server, temporary_folder } from '../tests/blackbox/lib.mjs';

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const ticks_per_second = 100; // USER_HZ

/** Rate limits off: a benchmark has one address and few customers. */
export const without_limits = Object.fromEntries(
  ['anonymous_requests_per_ip', 'customer_requests', 'joins_per_customer'].map((name) => [
    `rate_limits.${name}_per_minute`,
    0,
  ]),
);

/** Runs `work(end_with)`. Functions given to `end_with` run at the end, also after an error. */
export async function bench(work) {
  const endings = [];
  try {
    await work((f) => endings.unshift(f));
  } finally {
    for (const end of endings) await end();
  }
}

export async function start(end_with, settings = {}) {
  const server = await Server.start({ settings: { ...without_limits, ...settings } });
  end_with(() => server.kill());
  return server;
}

/** An event without admission: its line only grows. */
export const waiting_event = async (server) =>
  (await server.event(await server.organizer(), { queue: { policy: 'operator' } })).id;

/** Tokens of `count` new customers. */
export const tokens_of = (server, count) =>
  execFileSync(
    fairqueue,
    ['token', '--kind', 'customer', '--count', String(count), '--data_dir', server.data_dir],
    { maxBuffer: 1 << 29, env: clean_environment() },
  )
    .toString()
    .trim()
    .split('\n');

/** `with_ended`: with that of the children that have ended. */
export function cpu_seconds(pid, with_ended = false) {
  const fields = fs
    .readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  const counted = fields.slice(11, with_ended ? 15 : 13).map(Number);
  return counted.reduce((sum, n) => sum + n, 0) / ticks_per_second;
}

/** Of the threads that live. `cpu_seconds` counts in hundredths. */
export const exact_cpu_seconds = (pid) =>
  fs
    .readdirSync(`/proc/${pid}/task`)
    .map((task) => Number(fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e9)
    .reduce((sum, seconds) => sum + seconds);

/** A line of /proc/<pid>/status: KiB or a count. */
export const status_of = (pid, name) =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

export const descriptors_of = (pid) => fs.readdirSync(`/proc/${pid}/fd`).length;

/** The cost of `work`: {result, seconds, cpu} with the server's CPU in seconds. */
export async function cost_of(server, work) {
  const [cpu, began] = [cpu_seconds(server.pid), process.hrtime.bigint()];
  const result = await work();
  return {
    result,
    seconds: Number(process.hrtime.bigint() - began) / 1e9,
    cpu: cpu_seconds(server.pid) - cpu,
  };
}

/**
 * Requests by wrk, one after the other on each connection, for `seconds`: {requests, seconds, failed}.
 * `lines`: tokens, or tokens with a JSON body; each is sent once, so there must be enough. `token`: all
 * requests have it. `closes`: a new connection for each request. `before`: a command prefix of wrk.
 */
export async function crowd(
  url,
  {
    method = 'GET',
    lines = [],
    token = '',
    connections = 64,
    seconds,
    closes = false,
    before = [],
    folder = temporary_folder(),
  },
) {
  const file = path.join(folder, 'lines');
  fs.writeFileSync(file, (token ? [token] : lines).map((line) => `${line}\n`).join(''));
  const script = ['-s', path.join(here, 'crowd.lua'), url, '--', method, file, closes ? 'close' : 'keep'];
  const [program, ...args] = [...before, 'wrk', '-t1', `-c${connections}`, `-d${seconds}s`, ...script];
  const { code, out, err } = await run(program, args, { timeout_ms: (seconds + 60) * 1000 });
  const line = /^crowd (\{.*\})$/m.exec(out);
  if (code !== 0 || !line) throw new Error(`wrk ${url}: ${out}${err}`);
  const seen = JSON.parse(line[1]);
  if (lines.length > 0 && seen.requests > lines.length)
    throw new Error(`${seen.requests} requests, and only ${lines.length} lines`);
  return seen;
}

/** Median over the rounds of the first side's figure divided by the other side's. */
export const ratio_to = (first, rounds, key) => median(rounds.map((r, i) => first[i][key] / r[key]));

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
