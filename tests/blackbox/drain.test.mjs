// SPDX-License-Identifier: Apache-2.0
// An orderly end on SIGTERM: not ready first, then current requests finish, sockets are notified, exit 0
// before the deadline.
import test from 'node:test';
import { assert, eventually, patience, server_for, sleep } from './lib.mjs';

const ended_within = async (server, ms, what) => {
  const end = await Promise.race([server.ended, sleep(ms * patience, undefined, { ref: false })]);
  assert.ok(end, `${what}: still running after ${ms} ms\n${server.log.slice(-3000)}`);
  return end;
};

test('SIGTERM: not ready while it drains, then exit 0', async (t) => {
  const server = await server_for(t, {
    settings: { 'shutdown.delay': '4s', 'shutdown.drain_timeout': '8s' },
  });
  const fan = await server.customer();
  assert.deepEqual((await server.get('/readyz')).json.status, 'ready');
  assert.equal((await server.get('/readyz', { admin: true })).status, 200);
  const begun = Date.now();
  server.signal('SIGTERM');
  await eventually(
    'not ready',
    async () => {
      const answer = await server.get('/readyz');
      return answer.status === 503 && answer.json.status === 'draining';
    },
    { timeout_ms: 3000, every_ms: 20 },
  );
  assert.equal((await server.get('/health')).status, 503, '/health is the same');
  assert.equal((await server.get('/livez')).status, 200, 'alive, only not ready');
  assert.equal(
    (await server.get('/events', { token: fan })).status,
    200,
    'requests are served during the delay',
  );
  const end = await ended_within(server, 12_000, 'after the delay');
  assert.deepEqual(end, { code: 0, signal: null });
  assert.ok(Date.now() - begun >= 3900, 'the delay was kept');
  await assert.rejects(server.connect(), /ECONNREFUSED/);
});

test('a current request is answered; new connections are refused', async (t) => {
  const server = await server_for(t, { settings: { 'shutdown.drain_timeout': '8s' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  const fan = await server.customer();
  const half = await server.connect();
  half.send(
    `POST /events/${event}/queue HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${fan}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{',
  );
  const idle = await server.connect();
  idle.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.equal((await idle.answer()).status, 200);
  server.signal('SIGTERM');
  await eventually(
    'the listener is closed',
    async () => {
      const late = await server.connect().catch(() => null);
      if (!late) return true;
      const closed = await late.closes({ timeout_ms: 300 });
      late.destroy();
      return closed;
    },
    { timeout_ms: 20_000 },
  );
  assert.ok(await idle.closes({ timeout_ms: 20_000 }), 'an idle connection is closed');
  half.send('}');
  const answer = await half.answer();
  assert.ok(answer, 'the request under way is answered');
  assert.equal(answer.status, 201, answer.body);
  assert.equal(answer.headers.connection, 'close');
  assert.deepEqual(await ended_within(server, 8000, 'after the last answer'), { code: 0, signal: null });
  const { queue_number } = JSON.parse(answer.body);
  await server.launch();
  assert.equal((await server.position(fan, event)).queue_number, queue_number, 'and it was durable');
});

test('sockets get draining, then 1012, spread over time', async (t) => {
  const server = await server_for(t, { settings: { 'shutdown.drain_timeout': '8s' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const fans = await server.customers(20);
  const sockets = [];
  for (const fan of fans) {
    await server.join(fan, event);
    sockets.push(await server.socket(event, fan));
  }
  for (const socket of sockets) await socket.frame('state');
  server.signal('SIGTERM');
  const hints = [];
  for (const socket of sockets) {
    assert.equal(await socket.close_code({ timeout_ms: 9000 }), 1012);
    const frame = socket.frames.find((f) => f.type === 'draining');
    assert.ok(frame, `no draining frame: ${JSON.stringify(socket.frames)}`);
    assert.ok(
      Number.isInteger(frame.reconnect_after_ms) && frame.reconnect_after_ms >= 0,
      JSON.stringify(frame),
    );
    hints.push(frame.reconnect_after_ms);
  }
  assert.ok(new Set(hints).size > 5, `not everybody at the same moment: ${hints}`);
  assert.deepEqual(await ended_within(server, 8000, 'after the sockets'), { code: 0, signal: null });
});

test('clients that stay connected are cut at the deadline; still exit 0', async (t) => {
  const server = await server_for(t, { settings: { 'shutdown.drain_timeout': '1s' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  const fan = await server.customer();
  const half = await server.connect();
  half.send(
    `POST /events/${event}/queue HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${fan}\r\nContent-Length: 50\r\n\r\n{`,
  );
  await sleep(200);
  const begun = Date.now();
  server.signal('SIGTERM');
  assert.deepEqual(await ended_within(server, 6000, 'past the deadline'), { code: 0, signal: null });
  assert.ok(Date.now() - begun < 5000 * patience);
});

test('a second SIGTERM ends at once', async (t) => {
  const server = await server_for(t, {
    settings: { 'shutdown.delay': '60s', 'shutdown.drain_timeout': '60s' },
  });
  server.signal('SIGTERM');
  await eventually('draining', async () => (await server.get('/readyz')).status === 503, {
    timeout_ms: 5000,
  });
  server.signal('SIGTERM');
  await ended_within(server, 20_000, 'after the second signal');
});

test('SIGINT drains too', async (t) => {
  const server = await server_for(t);
  server.signal('SIGINT');
  assert.deepEqual(await ended_within(server, 8000, 'after SIGINT'), { code: 0, signal: null });
});

test('SIGTERM in the middle of a busy sale', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { total: 50, queue: { batch_size: 10 } });
  const fans = await server.customers(200);
  const acknowledged = new Map();
  const joins = fans.map(async (fan, i) => {
    await sleep(i * 3);
    try {
      const answer = await server.post(`/events/${event}/queue`, { token: fan });
      if (answer.status === 201) acknowledged.set(fan, answer.json.queue_number);
      else assert.equal(answer.status, 503, answer.text);
    } catch (error) {
      if (error.code === 'ERR_ASSERTION') throw error;
    }
  });
  await eventually('some have joined', () => acknowledged.size >= 20, { every_ms: 5 });
  server.signal('SIGTERM');
  await Promise.all(joins);
  assert.deepEqual(await ended_within(server, 25_000, 'in a busy sale'), { code: 0, signal: null });
  assert.ok(acknowledged.size > 0);
  await server.launch();
  for (const [fan, number] of acknowledged)
    assert.equal((await server.position(fan, event)).queue_number, number);
  await server.stop();
});
