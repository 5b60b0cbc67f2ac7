// SPDX-License-Identifier: Apache-2.0
// A waiting room of 500 with 20,000 in line; sessions end at random. Checks that no read of the ledger sees
// more than 500 active (I5) and that no one overtakes (I6). Measures how long a freed slot stays empty.
// Usage: node bench/waiting_room.mjs [ends=2500]   (after a release build; about a minute)
import { createRequire } from 'node:module';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const { WebSocket } = createRequire(new URL('../tests/blackbox/package.json', import.meta.url))('ws');
const [waiters, concurrency, ends] = [20_000, 500, Number(process.argv[2] ?? 2500)];
const bin = 'build/release/app/fairqueue';
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'fairqueue-bench-'));
const port = 8096;
const server = spawn(
  bin,
  [
    'serve',
    '--http.listen',
    `127.0.0.1:${port}`,
    '--http.admin_listen',
    '127.0.0.1:9096',
    '--data_dir',
    data,
  ],
  { stdio: 'ignore' },
);
process.on('exit', () => {
  server.kill('SIGKILL');
  fs.rmSync(data, { recursive: true, force: true });
});

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const request = (method, target, token, body) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
    const out = http.request({ host: '127.0.0.1', port, method, path: target, headers, agent }, (answer) => {
      let text = '';
      answer.on('data', (part) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode, json: text && JSON.parse(text) }));
    });
    out.on('error', reject);
    out.end(body && JSON.stringify(body));
  });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const ready = () =>
  request('GET', '/readyz', 'x').then(
    (a) => a.status === 200,
    () => false,
  );
while (!(await ready())) await sleep(50);

const key = (scope) =>
  execFileSync(bin, ['apikey', 'issue', '--scope', scope, '--data_dir', data], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
    .toString()
    .trim();
const server_key = key('server');
const operator = (await request('POST', '/sessions', key('operator'))).json.token;
const queue = (await request('POST', '/queues', operator, { name: 'Bench', concurrency })).json;

const began = performance.now();
const tickets = [];
for (let next = 0; next < waiters;) {
  const batch = Array.from({ length: Math.min(500, waiters - next) }, (_, i) => `user-${next + i}`);
  next += batch.length;
  const joined = await Promise.all(
    batch.map((subject) => request('POST', `/queues/${queue.id}/tickets`, server_key, { subject })),
  );
  for (const { status, json } of joined) {
    if (status !== 201) throw new Error(`a join returned ${status}: ${JSON.stringify(json)}`);
    tickets.push(json);
  }
}
console.log(
  `${waiters} joined from one address in ${((performance.now() - began) / 1000).toFixed(1)} s, none limited`,
);
tickets.sort((a, b) => a.queue_number - b.queue_number);

const inside = []; // session tokens
for (const ticket of tickets.slice(0, concurrency))
  inside.push((await request('GET', `/tickets/${ticket.ticket_id}`, ticket.ticket_token)).json.session_token);
if (inside.some((token) => !token)) throw new Error('the first 500 are not all in');

const admissions = []; // { number, batch, at }
const sockets = [];
for (const ticket of tickets.slice(concurrency, concurrency + ends)) {
  await new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/tickets/${ticket.ticket_id}/ws`, [
      'fairqueue.v1',
      ticket.ticket_token,
    ]);
    sockets.push(socket);
    socket.on('error', reject);
    socket.on('message', (text) => {
      const frame = JSON.parse(text);
      if (frame.type === 'state') resolve();
      if (frame.type !== 'admitted') return;
      admissions.push({ number: frame.queue_number, batch: frame.admission_batch, at: performance.now() });
      inside.push(frame.session_token);
    });
  });
}

let most = 0,
  looks = 0;
const look = () => {
  const count = execFileSync('sqlite3', [
    '-readonly',
    path.join(data, 'ledger.db'),
    'SELECT count(*) FROM queue_entry WHERE status = 2',
  ]);
  most = Math.max(most, Number(count));
  ++looks;
};
const freed = [];
let left = ends;
while (left > 0) {
  const burst = Math.min(left, 1 + Math.floor(Math.random() * 10));
  left -= burst;
  await Promise.all(
    Array.from({ length: burst }, async () => {
      const [token] = inside.splice(Math.floor(Math.random() * inside.length), 1);
      const at = performance.now();
      const { status } = await request('DELETE', '/access', token);
      if (status !== 204) throw new Error(`DELETE /access returned ${status}`);
      freed.push(at);
    }),
  );
  if (left % 5 === 0) look();
  await sleep(Math.random() * 20);
}
for (let i = 0; i < 100 && admissions.length < ends; ++i) await sleep(50);
if (admissions.length !== ends) throw new Error(`${ends} slots were freed, ${admissions.length} admitted`);

freed.sort((a, b) => a - b);
admissions.sort((a, b) => a.at - b.at);
const empty = admissions.map((a, i) => a.at - freed[i]).sort((a, b) => a - b);
const by_number = [...admissions].sort((a, b) => a.number - b.number);
const overtakes = by_number.filter((a, i) => i > 0 && a.batch < by_number[i - 1].batch).length;
const at = (share) => empty[Math.min(empty.length - 1, Math.floor(empty.length * share))].toFixed(1);
console.log(
  `${ends} sessions ended at random: active at most ${most} in ${looks} reads of the ledger, overtakes ${overtakes}`,
);
console.log(
  `a freed slot was filled, from the DELETE to the visitor's frame, after p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`,
);
for (const socket of sockets) socket.terminate();
process.exit(most <= concurrency && overtakes === 0 ? 0 : 1);
