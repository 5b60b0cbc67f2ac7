// SPDX-License-Identifier: Apache-2.0
// Slow and hostile clients: absolute deadlines for header, body and reading; idle and too many connections;
// pipelining. Honest clients are not affected.
import test from 'node:test';
import http from 'node:http';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { assert, eventually, patience, server_for, sleep } from './lib.mjs';

const deadlines = {
  'http.header_timeout': '1s',
  'http.body_timeout': '1s',
  'http.write_timeout': '1s',
  'http.idle_timeout': '2s',
};

/** Sends byte after byte until the server closes; returns its answer and the time. */
async function drip(server, head, bytes, every_ms) {
  const connection = await server.connect();
  const begun = performance.now();
  connection.send(head);
  let over = false;
  connection.ended.then(() => {
    over = true;
  });
  for (const byte of bytes) {
    if (over) break;
    connection.send(byte);
    await sleep(every_ms);
    if (connection.received.length > 0) break;
  }
  const answer = await connection.answer({ timeout_ms: 6000 });
  const took_ms = performance.now() - begun;
  const is_closed = await connection.closes({ timeout_ms: 3000 });
  connection.destroy();
  return { answer, took_ms, is_closed };
}

/** Latency of honest requests while `during` runs. */
async function honest_latency(server, during) {
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const fans = await server.customers(400);
  let over = false;
  const work = during().finally(() => {
    over = true;
  });
  const times = [];
  let beside = 0; // the requests while it ran
  // Of fewer than 100 the 99th percentile would be the slowest.
  for (let i = 0; i < fans.length && (!over || i < 200); ++i) {
    const begun = performance.now();
    assert.equal((await server.post(`/events/${event}/queue`, { token: fans[i] })).status, 201);
    times.push(performance.now() - begun);
    if (!over) ++beside;
    await sleep(5);
  }
  await work;
  times.sort((a, b) => a - b);
  assert.ok(beside > 50, `only ${beside} honest requests`);
  return times[Math.floor(times.length * 0.99)];
}

test('a slow header is cut at the deadline, even if it never pauses', async (t) => {
  const server = await server_for(t, { settings: deadlines });
  const header = `GET /livez HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(200)}\r\n\r\n`;
  const { answer, took_ms, is_closed } = await drip(server, '', header, 150);
  if (answer) assert.equal(answer.status, 408);
  assert.ok(is_closed);
  assert.ok(took_ms < 4000 * patience, `${took_ms} ms`);
});

test('a slow body is cut at the deadline', async (t) => {
  const server = await server_for(t, { settings: deadlines });
  const head =
    'POST /auth/customer/otp/request HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 300\r\n\r\n';
  const { answer, took_ms, is_closed } = await drip(server, head, `{"email":"${'a'.repeat(290)}`, 150);
  if (answer) assert.equal(answer.status, 408);
  assert.ok(is_closed);
  assert.ok(took_ms < 4000 * patience, `${took_ms} ms`);
  const chunked = head.replace('Content-Length: 300', 'Transfer-Encoding: chunked');
  const second = await drip(server, chunked, '1\r\n{\r\n'.repeat(60), 100);
  if (second.answer) assert.equal(second.answer.status, 408);
  assert.ok(second.is_closed);
  assert.ok(second.took_ms < 4000 * patience, `${second.took_ms} ms`);
});

test('a client that does not read is cut at the deadline and costs little', async (t) => {
  const server = await server_for(t, { settings: deadlines });
  const target = '/openapi.json';
  const size = (await server.get(target)).text.length;
  assert.ok(size > 1000, 'a long answer is needed here');
  const wanted = Math.ceil((40 << 20) / size);
  const connection = await server.connect();
  connection.socket.pause();
  connection.send(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(wanted));
  const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);
  await sleep(4000);
  assert.ok(resident() < 300 * 1024 * patience, `${resident()} KiB resident`);
  connection.socket.resume();
  assert.ok(await connection.closes({ timeout_ms: 5000 }), 'it was cut');
  assert.ok(connection.received.length < wanted * size, 'not everything was written');
  assert.equal((await server.get('/livez')).status, 200);
});

test('300 slow clients do not slow down an honest one', async (t) => {
  const server = await server_for(t, {
    settings: { ...deadlines, 'http.header_timeout': '3s', 'http.body_timeout': '3s' },
  });
  const p99 = await honest_latency(server, async () => {
    const connections = await Promise.all(Array.from({ length: 300 }, () => server.connect()));
    for (const [i, connection] of connections.entries())
      connection.send(
        i % 2
          ? 'GET /livez HTTP/1.1\r\nHo'
          : 'POST /auth/customer/otp/request HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 300\r\n\r\n{',
      );
    for (let round = 0; round < 8; ++round) {
      await sleep(250);
      for (const connection of connections) connection.send('a');
    }
    const cut = await Promise.all(connections.map((c) => c.closes({ timeout_ms: 6000 })));
    assert.ok(cut.every(Boolean), `${cut.filter((c) => !c).length} are still there`);
    for (const connection of connections) connection.destroy();
  });
  assert.ok(p99 < 250 * patience, `p99 ${p99.toFixed(1)} ms`);
});

test('idle connections are closed; honest joins succeed beside a thousand of them', async (t) => {
  const server = await server_for(t, { settings: deadlines });
  const idle = [];
  for (let i = 0; i < 1000; i += 50)
    idle.push(...(await Promise.all(Array.from({ length: 50 }, () => server.connect()))));
  const used = await server.connect();
  used.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.equal((await used.answer()).status, 200);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  await server.join_and_be_admitted(await server.customer(), event);
  const closed = await Promise.all([used, ...idle].map((c) => c.closes({ timeout_ms: 8000 })));
  assert.ok(closed.every(Boolean), `${closed.filter((c) => !c).length} are still open`);
  for (const connection of idle) connection.destroy();
});

test('too many connections: the newest are closed, the admin listener and old ones work, and it recovers', async (t) => {
  const server = await server_for(t, {
    settings: { 'http.max_connections': 40, 'http.header_timeout': '5m', 'http.idle_timeout': '1h' },
  });
  server.agent.destroy();
  await sleep(200);
  const working = await server.connect();
  working.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.equal((await working.answer()).status, 200);
  const crowd = [];
  for (let i = 0; i < 80; ++i) {
    const connection = await server.connect().catch(() => null);
    if (connection) crowd.push(connection.send('GET /livez HTTP/1.1\r\nHost: x'));
  }
  const rejected = () => crowd.filter((c) => c.is_closed || c.socket.readableEnded).length;
  await eventually('30 of 80 are turned away', () => rejected() >= 30);
  assert.equal((await server.get('/livez', { admin: true })).status, 200, 'operators get in');
  for (const connection of crowd) connection.destroy();
  await eventually('it passes', async () => (await server.get('/livez').catch(() => null))?.status === 200);
  working.destroy();
});

/** The value of an unlabelled metric. */
async function metric(server, name) {
  const { text } = await server.get('/metrics', { admin: true });
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

const half_a_request = 'GET /livez HTTP/1.1\r\nHo';
const its_other_half = 'st: x\r\n\r\n';

/** Opens connections: every other one is silent, the rest send half a request. */
const open_silent = (server, count) =>
  Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const connection = await server.connect();
      return i % 2 ? connection.send(half_a_request) : connection;
    }),
  );

test('a table full of silent connections: honest ones succeed', async (t) => {
  const server = await server_for(t, {
    settings: { 'http.max_connections': 60, 'http.header_timeout': '5m', 'http.idle_timeout': '1h' },
  });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const fans = await server.customers(30);
  const silent = await open_silent(server, 60);
  await sleep(1500);
  for (const fan of fans) {
    const agent = new http.Agent({ keepAlive: true }); // its own connection
    t.after(() => agent.destroy());
    assert.equal((await server.post(`/events/${event}/queue`, { token: fan, agent })).status, 201);
  }
  assert.ok((await metric(server, 'fairqueue_connections_evicted_total')) >= 29);
  for (const connection of silent) connection.destroy();
});

test('in a crowded server one address cannot hold silent connections; a crowd has time to send', async (t) => {
  const server = await server_for(t, {
    settings: {
      'http.max_connections': 100,
      'http.header_timeout': '5m',
      'http.idle_timeout': '1h',
    },
  });
  const crowd = await open_silent(server, 90);
  const speaking = crowd.splice(0, 50);
  for (const [i, connection] of speaking.entries())
    connection.send(i % 2 ? its_other_half : half_a_request + its_other_half);
  for (const connection of speaking) {
    assert.equal((await connection.answer())?.status, 200, 'who speaks in time is served');
    connection.destroy();
  }
  const is_open = (connection) => !connection.is_closed && !connection.socket.readableEnded;
  await sleep(2000);
  assert.equal(crowd.filter(is_open).length, 40, 'below 80 % silence is allowed');
  crowd.push(...(await open_silent(server, 50)));
  await eventually('less than 80 are left', () => crowd.filter(is_open).length < 80);
  await sleep(1000);
  assert.ok(crowd.filter(is_open).length >= 75, `${crowd.filter(is_open).length} are left`);
  assert.ok((await metric(server, 'fairqueue_connections_evicted_total')) >= 11);
  assert.equal((await server.get('/livez')).status, 200);
  for (const connection of crowd) connection.destroy();
});

test('a thousand pipelined requests: answered in order', async (t) => {
  const server = await server_for(t);
  const connection = await server.connect();
  const count = 1000;
  let bytes = '';
  for (let i = 0; i < count; ++i)
    bytes += `GET ${i % 2 ? '/livez' : '/nothing'} HTTP/1.1\r\nHost: x\r\nX-Request-Id: request-${i}\r\n\r\n`;
  connection.send(bytes);
  for (let i = 0; i < count; ++i) {
    const answer = await connection.answer();
    assert.equal(answer.status, i % 2 ? 200 : 404);
    assert.equal(answer.headers['x-request-id'], `request-${i}`);
  }
  connection.destroy();
});

test('pipelined joins: each once, in order', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const fans = await server.customers(100);
  const connection = await server.connect();
  connection.send(
    fans
      .map(
        (fan) =>
          `POST /events/${event}/queue HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${fan}\r\n` +
          'Content-Length: 0\r\n\r\n',
      )
      .join(''),
  );
  for (let i = 0; i < fans.length; ++i) {
    const answer = await connection.answer();
    assert.equal(answer.status, 201, answer.body);
    assert.equal(JSON.parse(answer.body).queue_number, i + 1);
  }
  connection.destroy();
  assert.equal((await server.stats(organizer, event)).joined_total, 100);
});

test('a client that disconnects at any moment', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const fans = await server.customers(100);
  for (const [i, fan] of fans.entries()) {
    const connection = await server.connect();
    const bytes = `POST /events/${event}/queue HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${fan}\r\nContent-Length: 2\r\n\r\n{}`;
    connection.send(bytes.slice(0, Math.ceil((bytes.length * (i + 1)) / fans.length)));
    await new Promise((done) => connection.socket.write('', done));
    if (i % 2) connection.socket.resetAndDestroy?.();
    connection.destroy();
  }
  const stats = await server.stats(organizer, event);
  assert.ok(stats.joined_total <= 100);
  const entry = await server.join(fans[99], event);
  assert.ok(entry.queue_number <= stats.joined_total + 1);
  await server.stop();
});
