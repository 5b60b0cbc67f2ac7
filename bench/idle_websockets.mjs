// Resident memory of an idle WebSocket: slope of RssAnon from 5,000 to 15,000 connections, each after its
// `state` and one push (`paused`).
// Usage: node bench/idle_websockets.mjs   (after a release build; starts its own server on a scratch folder
// and stops it)
import { spawn, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..');
const bin = path.join(root, 'build/release/app/fairqueue');
const data = mkdtempSync(path.join(os.tmpdir(), 'fq-idle-'));
const port = 8099;
const base = `http://127.0.0.1:${port}`;
const low = Number(process.env.LOW ?? 5000),
  high = Number(process.env.HIGH ?? 15000);

const server = spawn(
  bin,
  [
    'serve',
    '--demo',
    '--http.listen',
    `127.0.0.1:${port}`,
    '--http.admin_listen',
    '127.0.0.1:9199',
    '--data_dir',
    data,
  ],
  { stdio: 'ignore' },
);
process.on('exit', () => {
  server.kill('SIGKILL');
  rmSync(data, { recursive: true, force: true });
});
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
for (let i = 0; i < 200 && !existsSync(path.join(data, 'demo.json')); ++i) await sleep(50);
await sleep(200);

const call = async (method, url, token, body) => {
  const headers = { authorization: `Bearer ${token}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  const answer = await fetch(base + url, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : {};
};
const rss = () => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);

const demo = JSON.parse(readFileSync(path.join(data, 'demo.json'), 'utf8'));
const organizer = (
  await (
    await fetch(base + '/auth/organizer/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: demo.organizer_email, password: demo.organizer_password }),
    })
  ).json()
).token;
const now = Date.now();
const event = await call('POST', '/events', organizer, {
  name: 'Idle',
  total_inventory: 10,
  price: 100,
  sale_start: new Date(now - 1000).toISOString(),
  sale_end: new Date(now + 3600e3).toISOString(),
  queue: { policy: 'operator' },
});
await call('POST', `/events/${event.id}/activate`, organizer);
const tokens = execFileSync(bin, ['token', '--count', String(high), '--data_dir', data], {
  maxBuffer: 1 << 28,
})
  .toString()
  .trim()
  .split('\n');

let pushes = 0;
const sockets = [];
const open = (token, i) =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${1 + (i % 4)}` });
    let text = '',
      seen = false;
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      if (seen) {
        if (chunk.includes('"paused"')) ++pushes;
        return;
      }
      text += chunk.toString('latin1');
      if (text.includes('"type":"state"')) {
        seen = true;
        text = '';
        resolve();
      } else if (text.length > 4 && !text.startsWith('HTTP/1.1 101')) reject(new Error(text.slice(0, 200)));
    });
    socket.write(
      `GET /ws/queue/${event.id} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: fairqueue.v1, ${token}\r\n\r\n`,
    );
    sockets.push(socket);
  });
const reach = async (count) => {
  for (let i = sockets.length; i < count;) {
    const end = Math.min(count, i + 100),
      group = [];
    for (; i < end; ++i) {
      const k = i;
      group.push(call('POST', `/events/${event.id}/queue`, tokens[k]).then(() => open(tokens[k], k)));
    }
    await Promise.all(group);
  }
  pushes = 0;
  await call('POST', `/events/${event.id}/pause`, organizer);
  for (let i = 0; i < 200 && pushes < count; ++i) await sleep(50);
  await call('POST', `/events/${event.id}/resume`, organizer);
  if (pushes < count) throw new Error(`only ${pushes} of ${count} sockets saw the push`);
  await sleep(1500);
  return rss();
};
const a = await reach(low),
  b = await reach(high);
const bytes = ((b - a) * 1024) / (high - low);
console.log(
  `RssAnon ${a} KiB at ${low}, ${b} KiB at ${high}: ${bytes.toFixed(0)} bytes = ${(bytes / 1024).toFixed(2)} KiB a connection (entry in the line included)`,
);
process.exit(bytes <= 5 * 1024 ? 0 : 1);
