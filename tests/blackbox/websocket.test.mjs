// SPDX-License-Identifier: Apache-2.0
// The fan's WebSocket: permissions, pushed frames, accepted frames, and its end (ASVS V4.4; RFC 6455 by raw
// frames).
import test from 'node:test';
import crypto from 'node:crypto';
import {
  assert,
  eventually,
  expect_problem,
  fairqueue,
  forge,
  patience,
  raw_socket,
  refused_socket,
  run,
  server_for,
  sleep,
} from './lib.mjs';

async function line_of(t, count, { settings, queue = { policy: 'operator' }, ...changes } = {}) {
  const server = await server_for(t, { settings });
  const organizer = await server.organizer();
  const { id: event, ticket_types } = await server.event(organizer, { queue, ...changes });
  const fans = await server.customers(count);
  for (const fan of fans) await server.join(fan, event);
  return { server, organizer, event, fans, ticket_types };
}

test('permission to open it', async (t) => {
  const {
    server,
    organizer,
    event,
    fans: [fan],
  } = await line_of(t, 1, { settings: { 'http.allowed_origins': 'https://tickets.example.com' } });
  const stranger = await server.customer();
  expect_problem(await refused_socket(server, event, undefined), 401, 'unauthenticated', 'no token');
  expect_problem(await refused_socket(server, event, 'nonsense'), 401, 'unauthenticated', 'nonsense');
  expect_problem(
    await refused_socket(server, event, 'nonsense', { in_query: true }),
    401,
    'unauthenticated',
    'nonsense in the query',
  );
  expect_problem(
    await refused_socket(
      server,
      event,
      forge(server, 'customer', { claims: { exp: 1700000100, iat: 1700000000 } }),
    ),
    401,
    'unauthenticated',
    'expired',
  );
  expect_problem(await refused_socket(server, event, organizer), 403, 'forbidden', 'an organizer');
  expect_problem(await refused_socket(server, event, stranger), 404, 'not_in_queue', 'not in the queue');
  expect_problem(await refused_socket(server, crypto.randomUUID(), fan), 404, 'not_found', 'no such event');
  expect_problem(await refused_socket(server, 'x', fan), 404, 'not_found', 'no id');
  for (const origin of [
    'https://evil.example',
    'null',
    'http://tickets.example.com',
    'https://tickets.example.com.evil.example',
  ])
    expect_problem(await refused_socket(server, event, fan, { origin }), 403, 'origin_not_allowed', origin);

  const by_protocol = await server.socket(event, fan);
  assert.equal(by_protocol.ws.protocol, 'fairqueue.v1');
  await by_protocol.frame('state');
  const by_query = await server.socket(event, fan, { in_query: true });
  await by_query.frame('state');
  const allowed = await server.socket(event, fan, { origin: 'https://tickets.example.com' });
  await allowed.frame('state');
  assert.ok(!server.log.includes(fan), 'the token is in the log');
  assert.ok(!server.log.includes(fan.split('.')[2]), 'its signature is in the log');
  for (const socket of [by_protocol, by_query, allowed]) socket.close();

  const plain = await server.get(`/ws/queue/${event}`, { token: fan });
  expect_problem(plain, 426, 'upgrade_required');
});

test('the snapshot comes first; then positions as they fall', async (t) => {
  const { server, event, fans } = await line_of(t, 5);
  const socket = await server.socket(event, fans[4]);
  const state = await socket.frame('state');
  assert.equal(socket.frames[0].type, 'state');
  assert.equal(state.entry.status, 'WAITING');
  assert.equal(state.entry.position, 5);
  assert.equal(state.entry.queue_number, 5);
  assert.equal(state.entry.ticket_token, undefined);
  assert.equal(state.event_status, 'ACTIVE');
  assert.equal(state.sold_out, false);
  assert.ok(Math.abs(Date.parse(state.server_time) - Date.now()) < 5000 * patience);
  const seen = [5];
  for (const fan of fans.slice(0, 3)) {
    assert.equal((await server.delete(`/events/${event}/queue`, { token: fan })).status, 204);
    const expected = seen.at(-1) - 1;
    const frame = await socket.frame('position_changed', { where: (f) => f.position === expected });
    assert.equal(frame.ahead, expected - 1);
    seen.push(expected);
  }
  const positions = socket.frames.filter((f) => f.type === 'position_changed').map((f) => f.position);
  for (let i = 1; i < positions.length; ++i) assert.ok(positions[i] <= positions[i - 1], `I8: ${positions}`);
  socket.close();
});

test('admitted: the token, on every socket of the place; completed closes with 1000', async (t) => {
  const {
    server,
    organizer,
    event,
    fans: [fan],
  } = await line_of(t, 1);
  const sockets = await Promise.all([1, 2, 3].map(() => server.socket(event, fan)));
  for (const socket of sockets) await socket.frame('state');
  assert.equal(
    (await server.patch(`/events/${event}`, { token: organizer, body: { queue: { policy: 'batch' } } }))
      .status,
    200,
  );
  let admission;
  for (const socket of sockets) {
    admission = await socket.frame('admitted');
    assert.equal(admission.queue_number, 1);
    assert.ok(admission.admission_batch >= 1);
    assert.ok(Date.parse(admission.claim_by) <= Date.parse(admission.session_expires_at));
    assert.ok(Date.parse(admission.admitted_at) > 0);
  }
  const polled = await server.position(fan, event);
  assert.equal(admission.admission_token, polled.admission_token, 'poll and push agree');
  assert.equal(admission.entry_id, polled.entry_id);
  await server.buy(fan, event, admission.admission_token);
  for (const socket of sockets) {
    assert.equal((await socket.frame('completed')).entry_id, polled.entry_id);
    assert.equal(await socket.close_code(), 1000);
  }
  const late = await server.socket(event, fan).catch((error) => error);
  if (late.status === undefined) {
    assert.equal((await late.frame('state')).entry.status, 'COMPLETED');
    late.close();
  }
});

test('left: cancelled and 1000', async (t) => {
  const {
    server,
    event,
    fans: [fan],
  } = await line_of(t, 1);
  const socket = await server.socket(event, fan);
  await socket.frame('state');
  await server.delete(`/events/${event}/queue`, { token: fan });
  await socket.frame('cancelled');
  assert.equal(await socket.close_code(), 1000);
});

test('no claim in time: session_expired and 1000', async (t) => {
  const {
    server,
    organizer,
    event,
    fans: [fan],
  } = await line_of(t, 1, {
    claim_ttl_seconds: 3,
    queue: { policy: 'operator', claim_window_seconds: 3, session_ttl_seconds: 6 },
  });
  const socket = await server.socket(event, fan);
  await socket.frame('state'); // before the admission, which ends in 3 s
  const admits = await server.patch(`/events/${event}`, {
    token: organizer,
    body: { queue: { policy: 'batch', batch_size: 1, admission_interval_ms: 100 } },
  });
  assert.equal(admits.status, 200, admits.text);
  await socket.frame('session_expired', { timeout_ms: 10_000 });
  assert.equal(await socket.close_code(), 1000);
});

test('paused, resumed, sold out and back, ended', async (t) => {
  const {
    server,
    organizer,
    event,
    fans: [buyer, waiter],
    ticket_types: [type],
  } = await line_of(t, 2, { total: 1, queue: { policy: 'batch' } });
  const socket = await server.socket(event, waiter);
  await socket.frame('state');
  await server.post(`/events/${event}/pause`, { token: organizer });
  await socket.frame('paused');
  await server.post(`/events/${event}/resume`, { token: organizer });
  await socket.frame('resumed');
  await server.buy(buyer, event, (await server.admitted(buyer, event)).admission_token);
  await socket.frame('sold_out', { where: (f) => f.sold_out === true });
  await server.post(`/events/${event}/pause`, { token: organizer });
  await server.patch(`/events/${event}`, {
    token: organizer,
    body: { ticket_types: [{ id: type.id, total: 2 }] },
  });
  await socket.frame('sold_out', { where: (f) => f.sold_out === false });
  await server.post(`/events/${event}/end`, { token: organizer });
  await socket.frame('ended');
  assert.equal(await socket.close_code(), 1000);
});

test('cancelled by the organizer: the admitted are revoked', async (t) => {
  const {
    server,
    organizer,
    event,
    fans: [fan],
  } = await line_of(t, 1, { queue: { policy: 'batch' } });
  const socket = await server.socket(event, fan);
  await socket.frame('state'); // else the first frame may already show the end, and nothing follows
  await server.admitted(fan, event);
  const cancelled = await server.insist('POST', `/events/${event}/cancel`, { token: organizer });
  assert.equal(cancelled.status, 200, cancelled.text);
  await eventually('revoked or ended', () =>
    socket.frames.some((f) => f.type === 'revoked' || f.type === 'ended'),
  );
  assert.equal(await socket.close_code(), 1000);
});

test('its token expires: 4401 soon after, and no new socket with it', async (t) => {
  const {
    server,
    event,
    fans: [other],
  } = await line_of(t, 1);
  const { code, out, err } = await run(fairqueue, [
    ...['token', '--kind', 'customer', '--ttl', '7s'],
    ...['--data_dir', server.data_dir],
  ]);
  assert.equal(code, 0, err);
  const token = out.trim();
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  await server.join(token, event);
  const brief = await server.socket(event, token);
  const lasting = await server.socket(event, other);
  await brief.frame('state');
  await lasting.frame('state');
  assert.equal(await brief.close_code(), 4401);
  const late_ms = Date.now() - exp * 1000;
  assert.ok(late_ms > -1000 && late_ms < 5000 * patience, `closed ${late_ms} ms after its end`);
  expect_problem(await refused_socket(server, event, token), 401, 'unauthenticated', 'afterwards');
  assert.equal(lasting.ws.readyState, lasting.ws.OPEN);
  lasting.close();
});

test('after kill -9 a client returns to its number', async (t) => {
  const { server, event, fans } = await line_of(t, 3);
  const socket = await server.socket(event, fans[2]);
  const before = (await socket.frame('state')).entry;
  await server.kill();
  assert.equal(await socket.close_code(), 1006);
  await server.launch();
  const again = await server.socket(event, fans[2]);
  const entry = (await again.frame('state')).entry;
  assert.equal(entry.queue_number, before.queue_number);
  assert.equal(entry.entry_id, before.entry_id);
  assert.equal(entry.position, 3);
  again.close();
});

test('many sockets see one batch of admissions', async (t) => {
  const { server, organizer, event, fans } = await line_of(t, 60, { total: 100 });
  const sockets = await Promise.all(fans.map((fan) => server.socket(event, fan)));
  await Promise.all(sockets.map((s) => s.frame('state')));
  await server.patch(`/events/${event}`, {
    token: organizer,
    body: { queue: { policy: 'batch', batch_size: 20, admission_interval_ms: 200 } },
  });
  const admitted = await Promise.all(sockets.map((s) => s.frame('admitted')));
  admitted.sort((a, b) => a.queue_number - b.queue_number);
  for (let i = 1; i < admitted.length; ++i)
    assert.ok(admitted[i].admission_batch >= admitted[i - 1].admission_batch, 'I6');
  for (const socket of sockets) {
    const positions = socket.frames.filter((f) => f.type === 'position_changed').map((f) => f.position);
    for (let i = 1; i < positions.length; ++i)
      assert.ok(positions[i] <= positions[i - 1], `I8: ${positions}`);
    socket.close();
  }
});

// -- frames by hand -------------------------------------------------------------------------------------

function frame(opcode, payload = Buffer.alloc(0), { fin = true, rsv = 0, masked = true, length } = {}) {
  const size = length ?? payload.length;
  const head = [(fin ? 0x80 : 0) | (rsv << 4) | opcode];
  const mask_bit = masked ? 0x80 : 0;
  if (size < 126) head.push(mask_bit | size);
  else if (size < 65536) head.push(mask_bit | 126, size >> 8, size & 255);
  else
    head.push(
      mask_bit | 127,
      0,
      0,
      0,
      0,
      (size >>> 24) & 255,
      (size >> 16) & 255,
      (size >> 8) & 255,
      size & 255,
    );
  if (!masked) return Buffer.concat([Buffer.from(head), payload]);
  const mask = crypto.randomBytes(4);
  const hidden = Buffer.from(payload.map((byte, i) => byte ^ mask[i % 4]));
  return Buffer.concat([Buffer.from(head), mask, hidden]);
}

const close_payload = (code, reason = '') =>
  Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]);

/** Parses server frames; returns the code of the close frame, or undefined. */
function close_code_in(bytes) {
  for (let at = 0; at + 2 <= bytes.length;) {
    const opcode = bytes[at] & 15;
    let size = bytes[at + 1] & 127;
    let head = 2;
    if (size === 126) {
      size = bytes.readUInt16BE(at + 2);
      head = 4;
    }
    if (size === 127) {
      size = Number(bytes.readBigUInt64BE(at + 2));
      head = 10;
    }
    assert.equal(bytes[at + 1] & 128, 0, 'a server does not mask');
    if (opcode === 8) return size >= 2 ? bytes.readUInt16BE(at + head) : 1005;
    at += head + size;
  }
  return undefined;
}

const text = (size) => Buffer.alloc(size, 'a');
const violations = [
  ['an unmasked frame', [frame(1, text(3), { masked: false })], [1002]],
  ['a reserved bit', [frame(1, text(3), { rsv: 4 })], [1002]],
  ['another reserved bit', [frame(1, text(3), { rsv: 1 })], [1002]],
  ['an unknown opcode', [frame(3, text(3))], [1002]],
  ['an unknown control opcode', [frame(11, text(3))], [1002]],
  ['a fragmented control frame', [frame(9, text(3), { fin: false })], [1002]],
  ['a long control frame', [frame(9, text(126))], [1002]],
  ['a continuation of nothing', [frame(0, text(3))], [1002]],
  ['a message inside a message', [frame(1, text(3), { fin: false }), frame(1, text(3))], [1002]],
  ['close with one byte', [frame(8, Buffer.from([3]))], [1002]],
  ['close 1005', [frame(8, close_payload(1005))], [1002]],
  ['close 999', [frame(8, close_payload(999))], [1002]],
  ['close 1006', [frame(8, close_payload(1006))], [1002]],
  [
    'close with a broken reason',
    [frame(8, Buffer.concat([close_payload(1000), Buffer.from([0xff])]))],
    [1002, 1007],
  ],
  ['broken UTF-8', [frame(1, Buffer.from([0xc3, 0x28]))], [1007]],
  ['a surrogate in UTF-8', [frame(1, Buffer.from([0xed, 0xa0, 0x80]))], [1007]],
  ['UTF-8 that stops in the middle', [frame(1, Buffer.from([0xe2, 0x82]))], [1007]],
  ['8 KiB and one byte', [frame(1, text(8193))], [1009]],
  ['8 KiB and one byte in two frames', [frame(1, text(8192), { fin: false }), frame(0, text(1))], [1009]],
  ['a frame that claims a gigabyte', [frame(1, text(10), { length: 1 << 30 })], [1009]],
  ['a flood of messages', Array.from({ length: 200 }, () => frame(1, text(3))), [1008]],
  ['a flood of pings', Array.from({ length: 200 }, () => frame(9, text(3))), [1008]],
];

test('invalid frames', async (t) => {
  const {
    server,
    event,
    fans: [fan],
  } = await line_of(t, 1);
  await Promise.all(
    violations.map(async ([name, frames, codes]) => {
      const connection = await raw_socket(server, event, fan);
      connection.send(Buffer.concat(frames));
      assert.ok(await connection.closes({ timeout_ms: 8000 }), `${name}: still open`);
      const code = close_code_in(connection.received);
      assert.ok(codes.includes(code), `${name}: closed with ${code}, not ${codes}`);
      connection.destroy();
    }),
  );
  assert.equal((await server.position(fan, event)).status, 'WAITING');
});

test('valid frames', async (t) => {
  const {
    server,
    event,
    fans: [fan],
  } = await line_of(t, 1);
  const connection = await raw_socket(server, event, fan);
  connection.send(frame(1, text(8192)));
  connection.send(
    Buffer.concat([
      frame(1, Buffer.from('{"a":'), { fin: false }),
      frame(9, Buffer.from('hi')),
      frame(0, Buffer.from('1}')),
    ]),
  );
  connection.send(frame(2, Buffer.from([0xff, 0xfe])));
  connection.send(frame(1, Buffer.from('ä€😀')));
  connection.send(frame(10, text(5)));
  await eventually('the pong', () => connection.received.includes(Buffer.from([0x8a, 2, 0x68, 0x69])));
  await sleep(300);
  assert.ok(!connection.is_closed, `closed with ${close_code_in(connection.received)}`);
  for (const byte of frame(9, Buffer.from('slow'))) {
    connection.send(Buffer.from([byte]));
    await sleep(2);
  }
  await eventually('the second pong', () =>
    connection.received.includes(Buffer.from([0x8a, 4, ...Buffer.from('slow')])),
  );
  connection.send(frame(8, close_payload(1000, 'done')));
  assert.ok(await connection.closes({ timeout_ms: 20_000 }));
  assert.equal(close_code_in(connection.received), 1000);
  connection.destroy();
});

test('invalid handshakes', async (t) => {
  const {
    server,
    event,
    fans: [fan],
  } = await line_of(t, 1);
  const attempt = async (fields, method = 'GET', version = '1.1') => {
    const connection = await server.connect();
    connection.send(
      `${method} /ws/queue/${event} HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${fan}\r\n${fields}\r\n`,
    );
    const answer = await connection.answer();
    connection.destroy();
    return answer.status;
  };
  const up = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
  const key = `Sec-WebSocket-Key: ${crypto.randomBytes(16).toString('base64')}\r\n`;
  const protocol = `Sec-WebSocket-Protocol: fairqueue.v1, ${fan}\r\n`;
  const good = `${up}${key}${protocol}Sec-WebSocket-Version: 13\r\n`;
  assert.equal(await attempt(good), 101);
  assert.equal(await attempt(`${up}${key}${protocol}Sec-WebSocket-Version: 8\r\n`), 426);
  assert.equal(await attempt(`${up}${protocol}Sec-WebSocket-Version: 13\r\n`), 400);
  assert.equal(
    await attempt(`${up}Sec-WebSocket-Key: short\r\n${protocol}Sec-WebSocket-Version: 13\r\n`),
    400,
  );
  assert.ok(
    [400, 426].includes(
      await attempt(
        `Connection: close\r\nUpgrade: websocket\r\n${key}${protocol}Sec-WebSocket-Version: 13\r\n`,
      ),
    ),
  );
  assert.equal(await attempt(good, 'POST'), 405);
  assert.ok([400, 426].includes(await attempt(good, 'GET', '1.0')));
});

test('a peer that does not read is dropped, not buffered', async (t) => {
  const {
    server,
    organizer,
    event,
    fans: [fan],
  } = await line_of(t, 1);
  const connection = await raw_socket(server, event, fan);
  connection.socket.pause();
  await sleep(100);
  // Pongs fill the pipe: 20 pings a second are allowed, so this only shows that nothing breaks; the bound
  // itself is a unit test.
  for (let i = 0; i < 15; ++i) connection.send(frame(9, text(125)));
  for (let i = 0; i < 10; ++i) {
    await server.post(`/events/${event}/pause`, { token: organizer });
    await server.post(`/events/${event}/resume`, { token: organizer });
  }
  const honest = await server.socket(event, fan);
  await honest.frame('state');
  await server.delete(`/events/${event}/queue`, { token: fan });
  await honest.frame('cancelled');
  connection.socket.resume();
  assert.ok(await connection.closes({ timeout_ms: 5000 }));
});
