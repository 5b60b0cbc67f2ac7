// SPDX-License-Identifier: Apache-2.0
// The wall clock jumps by an hour, forward and back, and by two days, under a running sale and a running
// waiting room. libfaketime shifts the wall clock and not the monotonic clock, like a real jump.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { assert, eventually, server_for, sleep, temporary_folder } from './lib.mjs';
import { tenant_on, ticket_of } from './tenant.mjs';

const library = [
  `/usr/lib/${{ x64: 'x86_64', arm64: 'aarch64' }[process.arch]}-linux-gnu/faketime/libfaketimeMT.so.1`,
].find((file) => fs.existsSync(file));
assert.ok(library, 'libfaketime is missing; scripts/setup installs it');

const hour_ms = 3_600_000;

/** A server whose wall clock `shift(seconds)` moves. */
async function shifted_server(t, options = {}) {
  const file = path.join(temporary_folder(), 'shift');
  fs.writeFileSync(file, '+0s');
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
  const server = await server_for(t, { ...options, env });
  const shown_ms = async () => Date.parse((await server.get('/livez')).headers.date);
  server.shift = async (seconds) => {
    fs.writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}s`);
    await eventually(
      'the jump',
      async () => Math.abs((await shown_ms()) - Date.now() - seconds * 1000) < 5000,
    );
    await sleep(1500); // several rounds of expiry
  };
  return server;
}

function check_wait({ eta, poll_after_ms }) {
  if (eta) assert.ok(0 <= eta.low_seconds && eta.low_seconds <= eta.high_seconds, JSON.stringify(eta));
  if (poll_after_ms !== null) assert.ok(poll_after_ms >= 0, `poll after ${poll_after_ms} ms`);
}

/** Tokens end at a time of the wall clock, and are the only thing that a jump may end. */
const lasting = ['--ttl', '7d'];
const jumps = [3600, -3600, 2 * 86_400, 0];

test('a sale: nothing expires, no place moves, no wait is negative', async (t) => {
  const server = await shifted_server(t);
  const organizer = await server.organizer();
  const event = await server.event(organizer, {
    total: 3,
    queue: { batch_size: 3, session_ttl_seconds: 300, claim_window_seconds: 200 },
  });
  const fans = await server.customers(8, ...lasting);
  for (const fan of fans) await server.join(fan, event.id);
  const admitted = await server.admitted(fans[0], event.id);
  const claim = await server.claim(fans[0], event.id, admitted.admission_token);
  const positions = async () => {
    const all = [];
    for (const fan of fans) {
      const { status, json, text } = await server.get(`/events/${event.id}/queue/position`, { token: fan });
      assert.equal(status, 200, text);
      check_wait(json);
      all.push([json.status, json.queue_number, json.position]);
    }
    return all;
  };
  const before = await eventually('three admitted', async () => {
    const all = await positions();
    return all.filter(([status]) => status === 'ADMITTED' || status === 'CLAIMED').length === 3 && all;
  });
  let numbers = fans.length;
  for (const seconds of jumps) {
    await server.shift(seconds);
    assert.deepEqual(await positions(), before, `after a jump to ${seconds} s`);
    const held = await server.get(`/claims/${claim.claim_id}`, { token: fans[0] });
    assert.equal(held.json.status, 'CLAIMED', held.text);
    assert.equal(held.json.expires_at, claim.expires_at);
    const [fan] = await server.customers(1, ...lasting);
    const late = await server.join(fan, event.id);
    assert.equal(late.queue_number, ++numbers, 'who comes now is behind everybody');
  }
  const second = await server.admitted(fans[1], event.id);
  await server.buy(fans[1], event.id, second.admission_token);
});

test('a waiting room: sessions stay accepted, the line stays as it is', async (t) => {
  const server = await shifted_server(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({
    concurrency: 3,
    session_ttl_seconds: 300,
    presence_timeout_seconds: 120,
  });
  const tickets = [];
  for (let i = 0; i < 8; ++i) tickets.push(await tenant.join_as(queue, `fan-${i}`));
  const seen = async () => {
    const all = await Promise.all(tickets.map((ticket) => ticket_of(server, ticket)));
    all.forEach(check_wait);
    return all.map(({ status, queue_number, position }) => [status, queue_number, position]);
  };
  const before = await seen();
  const inside = await ticket_of(server, tickets[0]);
  let joined = tickets.length;
  for (const seconds of jumps) {
    await server.shift(seconds);
    assert.deepEqual(await seen(), before, `after a jump to ${seconds} s`);
    const granted = await server.get(`/access?queue_id=${queue.id}`, { token: inside.session_token });
    assert.equal(granted.status, 200, granted.text);
    assert.match(granted.headers['cache-control'], /^private, max-age=[0-5]$/);
    const late = await tenant.join_as(queue, `late-${seconds}`);
    assert.equal(late.queue_number, ++joined);
    await tenant.sign_in();
    const stats = await server.get(`/queues/${queue.id}/stats`, { token: tenant.token });
    assert.equal(stats.json.active, 3, stats.text);
  }
});

test('a start with a clock an hour slow: times continue from the newest committed one', async (t) => {
  const server = await shifted_server(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 1, session_ttl_seconds: 300 });
  const first = await tenant.join_as(queue, 'first');
  const waiting = await tenant.join_as(queue, 'second');
  const inside = await ticket_of(server, first);
  await server.kill();
  fs.writeFileSync(server.env.FAKETIME_TIMESTAMP_FILE, '-3600s');
  await server.launch();
  const after = await ticket_of(server, first);
  assert.equal(after.status, 'ADMITTED');
  assert.equal(after.session_expires_at, inside.session_expires_at);
  assert.equal((await server.get('/access', { token: inside.session_token })).status, 200);
  assert.equal((await ticket_of(server, waiting)).position, 1);
  const third = await tenant.join_as(queue, 'third');
  assert.equal(third.queue_number, 3);
  const joined = (await ticket_of(server, third)).joined_at;
  assert.ok(
    Date.parse(joined) >= Date.parse(inside.admitted_at ?? inside.joined_at),
    `${joined}: before what was there already`,
  );
  assert.ok(Math.abs(Date.parse(inside.session_expires_at) - Date.now()) < hour_ms);
});
