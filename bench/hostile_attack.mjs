// SPDX-License-Identifier: Apache-2.0
// The attack of bench/hostile.mjs, a process of its own at a low priority: each of eight addresses keeps
// silent peers, peers that read nothing, idle connections and flooding WebSockets, and sends large bodies,
// requests for codes and guesses at promo codes at an even rate. Reads {port, event, line, tokens, only} from
// its parent, and ends with it. `only`: a part of the names of kinds; the others are left out. Each message
// after that has the next sale's event, and is answered with the counts.
import crypto from 'node:crypto';
import net from 'node:net';
import os from 'node:os';

const addresses = Array.from({ length: 8 }, (_, i) => `127.0.0.${i + 2}`);
/** Of each kind and address: connections at most, and new ones or requests per second. */
const silent = { size: 100, per_second: 25 };
const reads_nothing = { size: 40, per_second: 20 };
const hoard = { size: 1500, per_second: 200 };
const flood = { size: 20, per_second: 20 };
const requests = { size: 4, per_second: 50 };
const tick_ms = 50;
/** A frame that the server takes, and how many of them a socket sends at once. */
const [frame_size, frames_at_once] = [1024, 20];

/** By kind: what was opened and sent, and how often each status was answered. */
const counts = {};
const counts_of = (kind) => (counts[kind] ??= { opened: 0, sent: 0 });

/** Calls `work` this often, and makes up for at most a second that this process did not get. */
function pace(per_second, work) {
  let [due, last] = [0, performance.now()];
  setInterval(() => {
    const now = performance.now();
    due = Math.min(due + (per_second * (now - last)) / 1000, per_second);
    for (last = now; due >= 1; --due) work();
  }, tick_ms);
}

/** Connects; `begin(socket)` follows. The statuses of answers are counted, unless the socket is paused. */
function open(kind, address, port, begin, open_ones) {
  const socket = net.connect({ host: '127.0.0.1', port, localAddress: address, noDelay: true });
  const seen = counts_of(kind);
  open_ones.add(socket);
  socket.on('connect', () => {
    ++seen.opened;
    begin?.(socket);
  });
  socket.on('data', (data) => {
    for (const [, status] of data.toString('latin1').matchAll(/HTTP\/1\.1 (\d+)/g))
      seen[status] = (seen[status] ?? 0) + 1;
  });
  socket.on('error', () => {});
  socket.on('close', () => open_ones.delete(socket));
}

/** Keeps as many connections as `size` says: a closed one is replaced. */
function keep(kind, address, { port, only }, { size, per_second }, begin) {
  if (!kind.includes(only)) return;
  const open_ones = new Set();
  pace(per_second, () => open_ones.size < size && open(kind, address, port, begin, open_ones));
}

/** Requests over a few connections, each sent whether or not the one before was answered. */
function send(kind, address, { port, only }, { size, per_second }, make) {
  if (!kind.includes(only)) return;
  const open_ones = new Set();
  pace(per_second, () => {
    if (open_ones.size < size) return open(kind, address, port, undefined, open_ones);
    const socket = [...open_ones][crypto.randomInt(size)];
    if (socket.readyState !== 'open' || socket.writableLength > 0) return;
    ++counts_of(kind).sent;
    socket.write(make());
  });
}

const post = (target, body, token) =>
  `POST ${target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${Buffer.byteLength(body)}\r\n` +
  `${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n${body}`;
const one_of = (list) => list[crypto.randomInt(list.length)];
const random_text = () => crypto.randomBytes(5).toString('hex');

const names = Array.from({ length: 700 }, (_, i) => `"n${i}":1`).join(',');
const large_bodies = [
  `{"a":{${names}},"b":{${names}}}`,
  `{"email":${'['.repeat(7000)}${']'.repeat(7000)}}`,
  `{"email":"a@example.org","password":"${'\\u0041'.repeat(2600)}"}`,
];

const upgrade = (event, token) =>
  `GET /ws/queue/${event} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${crypto.randomBytes(16).toString('base64')}\r\n` +
  `Sec-WebSocket-Protocol: fairqueue.v1, ${token}\r\n\r\n`;
/** Masked with zeros. Opcodes: 1 text, 9 ping. */
const frame = (opcode, size) => {
  const length = size < 126 ? [0x80 | size] : [0xfe, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...length]), Buffer.alloc(4 + size)]);
};
const texts = Buffer.concat(Array.from({ length: frames_at_once }, () => frame(1, frame_size)));
const pings = Buffer.concat(Array.from({ length: frames_at_once }, () => frame(9, 125)));

/** Sends `bytes` again and again. A paused socket sees only by this that the server closed it. */
function repeat(socket, bytes, every_ms) {
  const sending = setInterval(() => socket.writableLength === 0 && socket.write(bytes), every_ms);
  socket.on('close', () => clearInterval(sending));
}

/** Upgrades, then sends `frames` for ever. */
const socket_that_sends = (event, tokens, frames, reads) => (socket) => {
  socket.write(upgrade(event, one_of(tokens)));
  if (!reads) socket.pause();
  repeat(socket, frames, tick_ms);
};

function attack(about) {
  const { line, tokens } = about;
  const list = 'GET /events?limit=200 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(16);
  for (const address of addresses) {
    keep('silent peers', address, about, silent, (socket) => {
      if (crypto.randomInt(2)) socket.write('GET /livez HTTP/1.1\r\nHo');
    });
    keep('list pages not read', address, about, reads_nothing, (socket) => {
      socket.pause().write(list);
      repeat(socket, list, 1000);
    });
    keep('WebSockets not read', address, about, reads_nothing, socket_that_sends(line, tokens, pings, false));
    keep('WebSocket floods', address, about, flood, socket_that_sends(line, tokens, texts, true));
    keep('idle connections', address, about, hoard, (socket) =>
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'),
    );
    send('large bodies', address, about, requests, () => post('/auth/organizer/login', one_of(large_bodies)));
    send('requests for codes', address, about, requests, () => {
      const email = one_of(['owner', random_text()]) + '@example.org';
      return post('/auth/customer/otp/request', JSON.stringify({ email }));
    });
    send('promo guesses', address, about, requests, () => {
      const { event } = about;
      const body = { items: [{ ticket_type_id: event.type, quantity: 1 }], promo_code: random_text() };
      return post(`/events/${event.id}/quote`, JSON.stringify(body), one_of(tokens));
    });
  }
}

os.setPriority(10);
process.on('disconnect', () => process.exit());
process.once('message', (about) => {
  attack(about);
  process.on('message', ({ event }) => {
    about.event = event;
    process.send(counts);
  });
});
