// SPDX-License-Identifier: Apache-2.0
// Visitors in and out of one standalone queue: each is admitted, and its session ends after a second. Memory
// keeps what has ended for one minute. Measures the server's memory at each tenth of the visitors, and the
// time from the start after kill -9 until a join is answered.
// Usage: node bench/retention.mjs [visitors=3000000]   (after a release build; needs wrk)
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const visitors = Number(process.argv[2] ?? 3_000_000);
const bin = process.env.FAIRQUEUE_BIN ?? 'build/release/app/fairqueue';
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'fairqueue-bench-'));
const origin = 'http://127.0.0.1:8097';
const options = {
  'http.listen': '127.0.0.1:8097',
  'http.admin_listen': '127.0.0.1:9097',
  'data_dir': data,
  'retention.memory': '1m',
};
let server;
const launch = () => {
  server = spawn(bin, ['serve', ...Object.entries(options).flatMap(([k, v]) => [`--${k}`, v])], {
    stdio: 'ignore',
  });
};
process.on('exit', () => {
  server.kill('SIGKILL');
  fs.rmSync(data, { recursive: true, force: true });
});
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const request = async (method, target, token, body) => {
  const answer = await fetch(origin + target, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  });
  return { status: answer.status, json: await answer.json().catch(() => undefined) };
};
/** Waits until `target` is answered with `status`; returns the milliseconds since `since`. */
const answered = async (since, status, ...what) => {
  for (;;) {
    const got = await request(...what).catch(() => undefined);
    if (got?.status === status) return { ms: performance.now() - since, json: got.json };
    await sleep(10);
  }
};
const memory_mib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;
const key = (scope) =>
  execFileSync(bin, ['apikey', 'issue', '--scope', scope, '--data_dir', data], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .toString()
    .trim();

launch();
await answered(0, 200, 'GET', '/readyz', 'x');
const server_key = key('server');
const operator = (await request('POST', '/sessions', key('operator'))).json.token;
const settings = { name: 'Bench', concurrency: 100_000, session_ttl_seconds: 1 };
const queue = (await answered(0, 201, 'POST', '/queues', operator, settings)).json;
const tickets = `/queues/${queue.id}/tickets`;
const crowd = async (seconds) => {
  const wrk = spawn('wrk', ['-t1', '-c64', `-d${seconds}s`, '-s', 'bench/retention.lua', origin + tickets], {
    env: { ...process.env, KEY: server_key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  wrk.stdout.on('data', (part) => (text += part));
  await new Promise((resolve) => wrk.on('close', resolve));
  const { failed } = JSON.parse(/^crowd (.*)$/m.exec(text)[1]);
  if (failed > 0) throw new Error(`${failed} joins failed`);
};
const joined = async () => (await request('GET', `/queues/${queue.id}/stats`, operator)).json;

const began = performance.now();
for (let tenth = 1; tenth <= 10; ++tenth) {
  while ((await joined()).joined_total < (visitors / 10) * tenth) await crowd(5);
  const { joined_total } = await joined();
  const seconds = (performance.now() - began) / 1000;
  const ledger = fs.statSync(path.join(data, 'ledger.db')).size / 2 ** 20;
  console.log(
    `${joined_total} visitors after ${seconds.toFixed(0)} s: ${memory_mib().toFixed(0)} MiB of memory, ledger ${ledger.toFixed(0)} MiB`,
  );
}
for (const pause of [0, 70_000]) {
  await sleep(pause);
  const before = (await joined()).joined_total;
  server.kill('SIGKILL');
  await new Promise((resolve) => server.on('close', resolve));
  const start = performance.now();
  launch();
  const first = await answered(start, 201, 'POST', tickets, server_key);
  if (first.json.queue_number !== before + 1) throw new Error('a number was given twice');
  console.log(
    `restart ${pause / 1000} s after the last visitor: a join is answered after ${first.ms.toFixed(0)} ms, ${memory_mib().toFixed(0)} MiB`,
  );
}
process.exit(0);
