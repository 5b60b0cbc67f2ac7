// SPDX-License-Identifier: Apache-2.0
// One hostile address changes nothing for the others: connections, sockets and costly bodies from 127.0.0.2
// beside honest requests from other loopback addresses.
import test from 'node:test';
import http from 'node:http';
import net from 'node:net';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { WebSocket } from 'ws';
import { assert, eventually, patience, server_for, sleep } from './lib.mjs';

const hostile = '127.0.0.2';

/** One honest request of a new connection: {status, ms}; status 0: no answer. */
function visit(server, from, path = '/livez') {
  const began = performance.now();
  const done = (status) => ({ status, ms: performance.now() - began });
  return new Promise((resolve) => {
    const request = http.get(
      {
        host: '127.0.0.1',
        port: server.port,
        path,
        localAddress: from,
        agent: false,
        timeout: 5000 * patience,
      },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(done(answer.statusCode)));
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(done(0)));
  });
}

/** Honest visits one after the other, each from the next of eight addresses. */
async function visits(server, count) {
  const all = [];
  for (let i = 0; i < count; ++i) all.push(await visit(server, `127.0.1.${1 + (i % 8)}`));
  const times = all.map((one) => one.ms).sort((a, b) => a - b);
  return {
    good: all.filter((one) => one.status === 200).length / count,
    p99: times[Math.ceil(count * 0.99) - 1],
  };
}

/** The attack, in its own thread: opens connections as fast as it can; each sends `bytes`, then nothing. */
if (!isMainThread) {
  const { port, bytes } = workerData;
  const open = new Set();
  let opened = 0;
  const next = () => {
    const socket = net.connect({ host: '127.0.0.1', port, localAddress: hostile });
    open.add(socket);
    socket.on('connect', () => {
      ++opened;
      if (bytes) socket.write(bytes);
      next();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(socket);
      if (open.size < 400) next();
    });
    socket.resume();
  };
  for (let i = 0; i < 16; ++i) next();
  setInterval(() => parentPort.postMessage(opened), 100);
}

function hoard(server, bytes) {
  const attack = { opened: 0 };
  const worker = new Worker(new URL(import.meta.url), { workerData: { port: server.port, bytes } });
  worker.on('message', (opened) => (attack.opened = opened));
  attack.stop = () => worker.terminate();
  return attack;
}

/** Upgrades as the hostile address; resolves to the status of the refusal, or to the open socket. */
function follow(server, event, token, from = hostile) {
  return new Promise((resolve) => {
    const ws = new WebSocket(`ws://127.0.0.1:${server.port}/ws/queue/${event}`, ['fairqueue.v1', token], {
      localAddress: from,
      perMessageDeflate: false,
    });
    ws.on('open', () => resolve(ws));
    ws.on('unexpected-response', (_, answer) => {
      ws.terminate();
      resolve(answer.statusCode);
    });
    ws.on('error', () => resolve(0));
  });
}

if (isMainThread) {
  for (const [what, bytes] of [
    ['silent connections', ''],
    ['half a header', 'GET /livez HTTP/1.1\r\n'],
    ['idle connections', 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])
    test(`one address opens as many connections as it can: ${what}`, async (t) => {
      const server = await server_for(t, { settings: { 'http.max_connections': 300 } });
      const attack = hoard(server, bytes);
      t.after(() => attack.stop());
      await eventually('300 connections', () => attack.opened >= 300);
      const { good, p99 } = await visits(server, 300);
      t.diagnostic(`${attack.opened} hostile connections; good ${good}, p99 ${p99.toFixed(1)} ms`);
      assert.ok(good >= 0.99, `${good} of the honest requests were answered`);
      assert.ok(p99 <= 250 * patience, `p99 ${p99} ms`);
    });

  test('six accounts of one address do not take all connections with sockets', async (t) => {
    const server = await server_for(t, { settings: { 'http.max_connections': 300 } });
    const organizer = await server.organizer();
    const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
    const accounts = await server.customers(7);
    for (const token of accounts) await server.join(token, event);
    const fan = accounts.pop();
    const sockets = [];
    t.after(() => sockets.forEach((ws) => ws?.terminate?.()));
    for (let i = 0; i < 384; ++i) sockets.push(await follow(server, event, accounts[i % 6]));
    const { good, p99 } = await visits(server, 200);
    t.diagnostic(`good ${good}, p99 ${p99.toFixed(1)} ms`);
    assert.ok(good >= 0.99, `${good} of the honest requests were answered`);
    const honest = await follow(server, event, fan, '127.0.1.1');
    assert.ok(honest.terminate, `an honest fan got ${honest} instead of a socket`);
    await sleep(2000);
    assert.equal(honest.readyState, WebSocket.OPEN);
    honest.terminate();
  });

  test('fans behind one address keep their sockets on a quiet node', async (t) => {
    const count = Number(process.env.FAIRQUEUE_FANS ?? 230); // of 300: below 80 %
    const server = await server_for(t, { settings: { 'http.max_connections': Math.ceil(count / 0.79) } });
    const organizer = await server.organizer();
    const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
    const fans = await server.customers(count);
    const sockets = [];
    t.after(() => sockets.forEach((ws) => ws.terminate()));
    for (let from = 0; from < count; from += 50) {
      const some = fans.slice(from, from + 50);
      await Promise.all(some.map((token) => server.join(token, event)));
      sockets.push(...(await Promise.all(some.map((token) => follow(server, event, token, '127.0.0.9')))));
    }
    assert.ok(
      sockets.every((ws) => ws.terminate),
      'each fan has a socket',
    );
    await sleep(5000);
    const kept = sockets.filter((ws) => ws.readyState === WebSocket.OPEN).length;
    t.diagnostic(`${kept} of ${count} sockets`);
    assert.equal(kept, count);
  });

  test('bodies with thousands of names cost no more than others, and the limit comes before them', async (t) => {
    const server = await server_for(t);
    const names = Array.from({ length: 700 }, (_, i) => `"n${i}":1`).join(',');
    const body = `{"a":{${names}},"b":{${names}}}`;
    const statuses = [];
    const began = Date.now();
    for (let i = 0; i < 50; ++i) statuses.push((await server.post('/auth/organizer/login', { body })).status);
    const more = (Date.now() - began) / 3000; // 20 a minute
    assert.ok(
      statuses.slice(0, 20).every((status) => status === 400),
      String(statuses),
    );
    assert.ok(
      statuses.every((status) => status === 400 || status === 429),
      String(statuses),
    );
    assert.ok(statuses.slice(20).filter((status) => status === 400).length <= more, String(statuses));
  });
}
