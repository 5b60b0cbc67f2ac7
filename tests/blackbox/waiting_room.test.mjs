// SPDX-License-Identifier: Apache-2.0
// The waiting room as a service: tenants, API keys, standalone queues, tickets, /access, passes; from the
// view of a backend, a visitor and an attacker.
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as jose from 'jose';
import { assert, eventually, expect_problem, server_for, sleep, temporary_folder } from './lib.mjs';
import { access, cli, tenant_on, ticket_of } from './tenant.mjs';

// -- locks of sessions ----------------------------------------------------------------------------------

test('a name is locked by one session, survives kill -9 and is free when the session ends', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 2, locks_per_session: 2 });
  assert.equal(queue.locks_per_session, 2);
  const [ann, bob] = [await tenant.join_as(queue, 'ann'), await tenant.join_as(queue, 'bob')];
  const inside = await ticket_of(server, ann);
  const [a, b] = [inside.session_token, (await ticket_of(server, bob)).session_token];
  const at = (name) => `/queues/${queue.id}/locks/${name}`;
  const lock = (token, name) => server.insist('PUT', at(name), { token });
  const own = async (token) => (await server.get(`/queues/${queue.id}/locks`, { token })).json.locks;

  const first = await lock(a, 'A-1');
  assert.equal(first.status, 201, first.text);
  assert.deepEqual([first.json.name, first.json.ticket_id], ['A-1', ann.ticket_id]);
  assert.equal(first.json.locked_until, inside.session_expires_at);
  assert.equal((await lock(a, 'A-1')).status, 200, 'the same again');
  expect_problem(await lock(b, 'A-1'), 409, 'lock_held');
  await server.restart();
  expect_problem(await lock(b, 'A-1'), 409, 'lock_held');
  assert.deepEqual(await own(a), [first.json]);
  assert.deepEqual(await own(b), []);

  assert.equal((await lock(a, 'A-2')).status, 201);
  const full = await lock(a, 'A-3');
  expect_problem(full, 409, 'locks_exhausted');
  assert.equal(full.json.locks_per_session, 2);
  assert.equal((await server.delete(at('A-1'), { token: b })).status, 204, 'not its own: nothing happens');
  expect_problem(await lock(b, 'A-1'), 409, 'lock_held');
  assert.equal((await server.delete(at('A-2'), { token: a })).status, 204);
  assert.equal((await lock(b, 'A-2')).status, 201);

  const all = (query, key = tenant.server) =>
    server.get(`/queues/${queue.id}/locks${query}`, { headers: { 'X-API-Key': key } });
  const page = (await all('?limit=1')).json;
  assert.deepEqual([page.locks.map((l) => l.name), page.next_cursor], [['A-1'], 'A-1']);
  assert.deepEqual(
    (await all(`?cursor=${page.next_cursor}`)).json.locks.map((l) => [l.name, l.ticket_id]),
    [['A-2', bob.ticket_id]],
  );
  expect_problem(await all('', tenant.join), 403, 'forbidden');
  expect_problem(await all('', (await tenant_on(server)).server), 404, 'not_found');
  const other = await tenant.queue({ locks_per_session: 2 });
  const elsewhere = await server.request('PUT', `/queues/${other.id}/locks/A-1`, { token: a });
  expect_problem(elsewhere, 403, 'wrong_queue');
  expect_problem(await lock(a, 'A%20B'), 400, 'invalid_parameter');

  assert.equal((await server.delete('/access', { token: a })).status, 204);
  expect_problem(await lock(a, 'A-9'), 410, 'session_over');
  assert.equal((await lock(b, 'A-1')).status, 201, 'free with the session');
});

// -- queues and tickets ---------------------------------------------------------------------------------

test('a visitor from join to access and out', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const ann = await tenant.join_as(queue, 'ann');
  const bob = await tenant.join_as(queue, 'bob');
  assert.deepEqual([ann.queue_number, bob.queue_number], [1, 2]);
  const inside = await ticket_of(server, ann);
  assert.equal(inside.status, 'ADMITTED');
  assert.equal(inside.subject, 'ann');
  assert.equal((await ticket_of(server, bob)).position, 1);

  const granted = await access(server, inside.session_token, `?queue_id=${queue.id}`);
  assert.equal(granted.status, 200, granted.text);
  assert.equal(granted.json.ticket_id, ann.ticket_id);
  assert.equal(granted.json.session_expires_at, inside.session_expires_at);
  assert.equal(granted.headers['x-fairqueue-subject'], 'ann');
  assert.equal(granted.headers['x-fairqueue-queue'], queue.id);
  assert.match(granted.headers['cache-control'], /^private, max-age=[0-5]$/);

  assert.equal((await server.delete('/access', { token: inside.session_token })).status, 204);
  expect_problem(await access(server, inside.session_token), 410, 'session_over');
  const next = await ticket_of(server, bob);
  assert.equal(next.status, 'ADMITTED', 'the freed slot is the next one’s at once');
  assert.equal((await server.delete(`/tickets/${bob.ticket_id}`, { token: bob.ticket_token })).status, 204);
  expect_problem(await access(server, next.session_token), 410, 'session_over');
});

test('an ended ticket leaves memory, then the ledger, and its number is never given again', async (t) => {
  const server = await server_for(t, {
    settings: {
      'retention.memory': '1s',
      'retention.entries': '1h',
      'workers.reconciliation_interval': '100ms',
    },
  });
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const ann = await tenant.join_as(queue, 'ann');
  const bob = await tenant.join_as(queue, 'bob');
  const look = (who) => server.get(`/tickets/${who.ticket_id}`, { token: who.ticket_token });
  const leave = (who) => server.delete(`/tickets/${who.ticket_id}`, { token: who.ticket_token });
  assert.equal((await leave(ann)).status, 204);
  const ended = (await look(ann)).json.status;
  await sleep(2_500); // its memory is at least a second, and two passed since the queue forgot it
  const found = await look(ann);
  assert.equal(found.json.status, ended, found.text);
  assert.equal(found.json.subject, 'ann');
  assert.equal((await leave(ann)).status, 204, 'whoever has left may say so again');
  server.settings['retention.entries'] = '4s';
  await server.restart();
  await eventually('its deletion', async () => (await look(ann)).status === 410);
  expect_problem(await look(ann), 410, 'ticket_deleted');
  expect_problem(await leave(ann), 410, 'ticket_deleted');
  assert.notEqual((await look(bob)).json.status, ended, 'a live ticket stays');

  assert.equal((await leave(bob)).status, 204);
  await eventually('its deletion', async () => (await look(bob)).status === 410);
  await server.restart();
  expect_problem(await look(bob), 410, 'ticket_deleted');
  const again = await tenant.join_as(queue, 'ann');
  assert.equal(again.queue_number, 3, 'numbers go on without any row of a lower one');
  const stats = await server.get(`/queues/${queue.id}/stats`, { token: tenant.token });
  assert.equal(stats.json.joined_total, 3, stats.text);
  assert.equal(stats.json.completed_total, 2, stats.text);
});

test('one place per subject, on a second device and after a refresh', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const first = await tenant.join_as(queue, 'Zoë 足球');
  const again = await tenant.join_as(queue, 'Zoë 足球');
  assert.equal(again.ticket_id, first.ticket_id);
  assert.equal(again.queue_number, first.queue_number);
  const { session_token } = await ticket_of(server, again);
  const granted = await access(server, session_token);
  assert.equal(granted.json.subject, 'Zoë 足球');
  assert.equal(decodeURIComponent(granted.headers['x-fairqueue-subject']), 'Zoë 足球');
  const anonymous = await Promise.all([1, 2, 3].map(() => tenant.join_as(queue, undefined, tenant.join)));
  assert.equal(new Set(anonymous.map((a) => a.ticket_id)).size, 3, 'nobody in particular is somebody new');
});

test('operator mode: "next 50" admits exactly the 50 at the front, audited', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ mode: 'operator', concurrency: null });
  const tickets = [];
  for (let i = 0; i < 80; ++i) tickets.push(await tenant.join_as(queue, `fan-${i}`));
  const called = await server.post(`/queues/${queue.id}/advance`, {
    token: tenant.token,
    body: { count: 50, reason: 'The hall is empty.' },
  });
  assert.deepEqual(called.json, { admitted: 50 }, called.text);
  for (const ticket of tickets) {
    const { status, queue_number } = await ticket_of(server, ticket);
    assert.equal(status, queue_number <= 50 ? 'ADMITTED' : 'WAITING');
  }
  const audit = await server.get(`/audit?target=${queue.id}`, { token: tenant.token });
  const [last] = audit.json.entries;
  assert.equal(last.action, 'queue.advance');
  assert.equal(last.reason, 'The hall is empty.');
  assert.equal(last.detail.count, 50);
  assert.match(last.actor, /^operator:/);
  expect_problem(
    await server.post(`/queues/${(await tenant.queue()).id}/advance`, {
      token: tenant.token,
      body: { count: 1 },
    }),
    409,
    'wrong_mode',
  );
});

test('settings change during operation; paused, full, scheduled', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ capacity: 2, external_id: 'match-1' });
  const patch = (body) => server.patch(`/queues/${queue.id}`, { token: tenant.token, body });
  const tickets = [];
  for (const who of ['a', 'b', 'c']) tickets.push(await tenant.join_as(queue, who));
  expect_problem(
    await server.post(`/queues/${queue.id}/tickets`, { token: tenant.server, body: { subject: 'd' } }),
    409,
    'queue_full',
  );
  assert.equal((await patch({ concurrency: 2, message: 'Doors are open.' })).json.concurrency, 2);
  assert.equal((await ticket_of(server, tickets[1])).status, 'ADMITTED', 'raising admits at once');
  assert.equal((await ticket_of(server, tickets[2])).message, 'Doors are open.');
  await patch({ concurrency: 1 });
  assert.equal((await ticket_of(server, tickets[1])).status, 'ADMITTED', 'lowering evicts nobody');
  assert.equal(
    (await server.post(`/queues/${queue.id}/pause`, { token: tenant.token })).json.status,
    'PAUSED',
  );
  await server.delete(`/tickets/${tickets[0].ticket_id}`, { token: tickets[0].ticket_token });
  await server.delete(`/tickets/${tickets[1].ticket_id}`, { token: tickets[1].ticket_token });
  await sleep(300);
  assert.equal((await ticket_of(server, tickets[2])).status, 'WAITING', 'nobody is admitted while it pauses');
  await server.post(`/queues/${queue.id}/resume`, { token: tenant.token, body: { reason: 'Fixed.' } });
  await eventually(
    'admitted after the pause',
    async () => (await ticket_of(server, tickets[2])).status === 'ADMITTED',
  );

  const opens_at = new Date(Date.now() + 3_600_000).toISOString();
  const later = await tenant.queue({ opens_at });
  const early = await server.post(`/queues/${later.id}/tickets`, {
    token: tenant.server,
    body: { subject: 'e' },
  });
  expect_problem(early, 409, 'queue_not_open');
  assert.equal(Date.parse(early.json.opens_at), Date.parse(opens_at));

  const twin = await server.post('/queues', {
    token: tenant.token,
    body: { name: 'Twin', concurrency: 1, external_id: 'match-1' },
  });
  expect_problem(twin, 409, 'external_id_taken');
  assert.equal(twin.json.queue_id, queue.id);
  const listed = await server.get('/queues?external_id=match-1', { token: tenant.token });
  assert.deepEqual(
    listed.json.queues.map((q) => q.id),
    [queue.id],
  );
  assert.ok(!(await server.get('/events')).text.includes(queue.id), 'queues are no public events');
});

test('revoked: by ticket, by subject, all', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 4 });
  const tickets = {};
  const first_tokens = {};
  for (const who of ['a', 'b', 'c', 'd']) {
    first_tokens[who] = await tenant.join_as(queue, who);
    tickets[who] = await ticket_of(server, first_tokens[who]);
  }
  const revoke = async (body) => {
    const done = await server.post(`/queues/${queue.id}/revocations`, { token: tenant.token, body });
    assert.equal(done.status, 200, done.text);
    return done.json.revoked;
  };
  const may_enter = async (who) => (await access(server, tickets[who].session_token)).status;
  assert.equal(await may_enter('a'), 200);
  assert.equal(await revoke({ ticket_id: tickets.a.ticket_id, reason: 'A bot.' }), 1);
  assert.equal(await may_enter('a'), 410);
  assert.equal(await revoke({ subject: 'b' }), 1);
  assert.deepEqual([await may_enter('b'), await may_enter('c')], [410, 200]);
  assert.equal(await revoke({ all: true }), 2);
  assert.deepEqual([await may_enter('c'), await may_enter('d')], [410, 410]);
  // A returning visitor has a new place; the old token does not open it.
  const again = await tenant.join_as(queue, 'a');
  assert.notEqual(again.ticket_id, tickets.a.ticket_id);
  const old = await server.socket_at(`/tickets/${first_tokens.a.ticket_id}/ws`, first_tokens.a.ticket_token);
  const state = await old.frame('state');
  assert.equal(state.ticket.ticket_id, tickets.a.ticket_id);
  assert.equal(state.ticket.status, 'REVOKED');
  assert.equal(state.ticket.session_token, null);
  assert.equal(await old.close_code(), 1000);
  for (const body of [{}, { all: false }, { all: true, subject: 'a' }])
    expect_problem(
      await server.post(`/queues/${queue.id}/revocations`, { token: tenant.token, body }),
      400,
      'invalid_field',
    );
});

// -- permissions ----------------------------------------------------------------------------------------

test('a publishable key cannot take over a place; a server key and the tenant’s signature name a subject', async (t) => {
  const server = await server_for(t);
  const pair = await jose.generateKeyPair('ES256', { extractable: true });
  const file = path.join(temporary_folder(), 'jwk.json');
  fs.writeFileSync(file, JSON.stringify(await jose.exportJWK(pair.publicKey)));
  const tenant = await tenant_on(server, undefined, '--subject-jwk', file);
  const queue = await tenant.queue();
  const ann = await tenant.join_as(queue, 'ann');
  const join = (key, body) => server.post(`/queues/${queue.id}/tickets`, { token: key, body });
  expect_problem(await join(tenant.join, { subject: 'ann' }), 403, 'subject_not_allowed');
  expect_problem(await join(tenant.operator, {}), 403, 'forbidden');
  const sign = (claims, header = { alg: 'ES256' }, key = pair.privateKey) =>
    new jose.SignJWT(claims).setProtectedHeader(header).sign(key);
  const now = Math.floor(Date.now() / 1000);
  const good = { sub: 'ann', aud: 'fairqueue', exp: now + 60 };
  const back = await join(tenant.join, { subject_token: await sign(good) });
  assert.equal(back.json.ticket_id, ann.ticket_id, back.text);
  const other = await jose.generateKeyPair('ES256');
  const secret = new TextEncoder().encode(JSON.stringify(await jose.exportJWK(pair.publicKey)));
  const part = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
  for (const [what, token] of [
    ['expired', await sign({ ...good, exp: now - 120 })],
    ['no exp', await sign({ sub: 'ann', aud: 'fairqueue' })],
    ['too long a life', await sign({ ...good, exp: now + 90_000 })],
    ['not yet', await sign({ ...good, nbf: now + 600 })],
    ['another audience', await sign({ ...good, aud: 'shop' })],
    ['no subject', await sign({ aud: 'fairqueue', exp: now + 60 })],
    ['another key', await sign(good, { alg: 'ES256' }, other.privateKey)],
    ['key confusion', await sign(good, { alg: 'HS256' }, secret)],
    ['alg none', `${part({ alg: 'none' })}.${part(good)}.`],
    ['embedded key', await sign(good, { alg: 'ES256', jwk: await jose.exportJWK(other.publicKey) })],
    ['another type', await sign(good, { alg: 'ES256', typ: 'fq-customer' })],
    ['nonsense', 'a.b.c'],
  ])
    expect_problem(await join(tenant.join, { subject_token: token }), 403, 'invalid_subject_token', what);
  expect_problem(await join(tenant.join, { subject: 'a', subject_token: 'b' }), 400, 'invalid_field');
});

test('without a subject a place is known by its Idempotency-Key, which must not be guessable', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const join = (key) =>
    server.post(`/queues/${queue.id}/tickets`, { token: tenant.join, headers: { 'Idempotency-Key': key } });
  const key = crypto.randomUUID();
  const [first, again, other] = [await join(key), await join(key), await join(crypto.randomUUID())];
  assert.deepEqual([first.status, again.status, other.status], [201, 201, 201]);
  assert.equal(again.json.ticket_id, first.json.ticket_id);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.notEqual(other.json.ticket_id, first.json.ticket_id);
  expect_problem(await join('1'), 400, 'invalid_idempotency_key');
  const stats = await server.get(`/queues/${queue.id}/stats`, { token: tenant.token });
  assert.equal(stats.json.joined_total, 2);
});

test('a tenant sees nothing of another, and kinds of tokens are not interchangeable', async (t) => {
  const server = await server_for(t);
  const [mine, theirs] = [await tenant_on(server), await tenant_on(server)];
  const queue = await mine.queue();
  const ann = await mine.join_as(queue, 'ann');
  const { session_token } = await ticket_of(server, ann);
  const bob = await mine.join_as(queue, 'bob');
  const as_them = (method, target, body) => server.request(method, target, { token: theirs.token, body });
  for (const [method, target, body] of [
    ['GET', `/queues/${queue.id}`],
    ['GET', `/queues/${queue.id}/stats`],
    ['PATCH', `/queues/${queue.id}`, { name: 'Mine' }],
    ['POST', `/queues/${queue.id}/pause`],
    ['POST', `/queues/${queue.id}/advance`, { count: 1 }],
    ['POST', `/queues/${queue.id}/revocations`, { all: true }],
  ])
    expect_problem(await as_them(method, target, body), 404, 'not_found', `${method} ${target}`);
  assert.deepEqual((await as_them('GET', '/queues')).json.queues, []);
  assert.deepEqual((await as_them('GET', `/audit?target=${queue.id}`)).json.entries, []);
  const join = (key) => server.post(`/queues/${queue.id}/tickets`, { token: key, body: { subject: 'eve' } });
  expect_problem(await join(theirs.server), 404, 'not_found');
  expect_problem(await join(`${mine.server}x`), 401, 'unauthenticated');
  expect_problem(await join(mine.token), 401, 'unauthenticated', 'a token is no key');
  // Tickets: each token opens its own.
  expect_problem(
    await server.get(`/tickets/${ann.ticket_id}`, { token: bob.ticket_token }),
    404,
    'not_found',
  );
  expect_problem(
    await server.delete(`/tickets/${ann.ticket_id}`, { token: bob.ticket_token }),
    404,
    'not_found',
  );
  for (const token of [mine.token, session_token, mine.server, await server.customer()])
    assert.ok([401, 403].includes((await server.get(`/tickets/${ann.ticket_id}`, { token })).status));
  // A queue is no event, an event no queue.
  const organizer = await server.organizer();
  const event = await server.event(organizer);
  expect_problem(await server.get(`/events/${queue.id}`), 404, 'not_found');
  expect_problem(
    await server.post(`/events/${queue.id}/queue`, { token: await server.customer() }),
    404,
    'not_found',
  );
  expect_problem(await server.get(`/queues/${event.id}`, { token: mine.token }), 404, 'not_found');
  expect_problem(await server.post(`/queues/${event.id}/tickets`, { token: mine.server }), 404, 'not_found');
  // A session of match A at match B; invalid sessions.
  const other = await mine.queue();
  expect_problem(await access(server, session_token, `?queue_id=${other.id}`), 403, 'wrong_queue');
  const forged = session_token.slice(0, -4) + (session_token.endsWith('AAAA') ? 'BBBB' : 'AAAA');
  for (const token of [forged, bob.ticket_id, ann.ticket_token, mine.server, mine.token, 'x', undefined])
    expect_problem(await access(server, token), 401, 'unauthenticated');
  expect_problem(await server.delete('/access', { token: forged }), 401, 'unauthenticated');
  assert.equal((await access(server, session_token)).status, 200, 'nothing has happened to it');
});

test('a revoked key and its tokens open nothing; another key works', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const second = await cli(server, 'apikey', 'issue', '--tenant', tenant.name, '--scope', 'server');
  const ids = Object.fromEntries(
    [
      ...(await cli(server, 'tenant', 'list')).matchAll(/\t([0-9a-f-]{36})\t(join|server|operator)\tvalid/g),
    ].map((m) => [m[2], m[1]]),
  );
  await cli(server, 'apikey', 'revoke', '--id', ids.operator);
  expect_problem(await server.get('/queues', { token: tenant.token }), 401, 'unauthenticated');
  expect_problem(await server.post('/sessions', { token: tenant.operator }), 401, 'unauthenticated');
  await tenant.join_as(queue, 'ann', second);
  const kept = fs.readFileSync(path.join(server.data_dir, 'ledger.db'));
  for (const key of [tenant.join, tenant.server, tenant.operator, second])
    assert.ok(!kept.includes(key.slice(key.indexOf('_', 3) + 1)), 'the ledger keeps hashes'); // wr_<tenant>_<secret>; a secret may contain _
  for (const secret of [tenant.join, tenant.server, tenant.operator, tenant.token])
    assert.ok(!server.log.includes(secret), 'no secret in a log');
});

// -- origins --------------------------------------------------------------------------------------------

test('the auth_request profile returns only 200, 401 and 403', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const ann = await ticket_of(server, await tenant.join_as(queue, 'ann'));
  const ask = (token, query = '') => access(server, token, `?profile=auth_request${query}`);
  assert.equal((await ask(ann.session_token)).status, 200);
  const wrong = await ask(ann.session_token, `&queue_id=${crypto.randomUUID()}`);
  assert.deepEqual([wrong.status, wrong.headers['x-fairqueue-reason']], [403, 'wrong_queue']);
  const unknown = await ask('x');
  assert.deepEqual([unknown.status, unknown.headers['x-fairqueue-reason']], [401, 'unknown']);
  await server.delete('/access', { token: ann.session_token });
  const over = await ask(ann.session_token);
  assert.deepEqual([over.status, over.headers['x-fairqueue-reason']], [403, 'expired']);
  expect_problem(await access(server, 'x', '?profile=other'), 400, 'invalid_parameter');
  expect_problem(await access(server, 'x', '?queue_id=1'), 400, 'invalid_parameter');
  expect_problem(await access(server, 'x', '?what=1'), 400, 'unknown_parameter');
});

test('a pass is verified offline with jose, also with a rotated-out key', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 10 });
  const inside = async (who) => ticket_of(server, await tenant.join_as(queue, who));
  const ann = await inside('ann');
  const keys = () => jose.createRemoteJWKSet(new URL(`${server.url}/.well-known/jwks.json`));
  const options = { issuer: 'fairqueue', audience: queue.id, typ: 'fq-pass+jwt', algorithms: ['ES256'] };
  const { payload, protectedHeader } = await jose.jwtVerify(ann.admission_pass, keys(), options);
  assert.equal(payload.sub, 'ann');
  assert.equal(payload.jti, ann.ticket_id);
  assert.equal(payload.exp, Math.floor(Date.parse(ann.session_expires_at) / 1000));
  await assert.rejects(
    jose.jwtVerify(ann.admission_pass, keys(), { ...options, audience: crypto.randomUUID() }),
  );
  const { kid } = JSON.parse(
    fs.readFileSync(await cli(server, 'keys', 'rotate', 'passes', '--delay', '0s'), 'utf8'),
  );
  assert.notEqual(kid, protectedHeader.kid);
  await server.restart();
  const bob = await inside('bob');
  assert.equal((await jose.jwtVerify(bob.admission_pass, keys(), options)).protectedHeader.kid, kid);
  await jose.jwtVerify(ann.admission_pass, keys(), options);
  assert.ok(!(await server.get('/.well-known/jwks.json')).text.includes('"d"'), 'public halves only');
});

test('sessions survive kill -9, and there are never more than the cap', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 2000 });
  const tickets = await Promise.all(
    Array.from({ length: 2100 }, (_, i) => tenant.join_as(queue, `fan-${i}`)),
  );
  const admitted = (await Promise.all(tickets.map((x) => ticket_of(server, x)))).filter(
    (x) => x.status === 'ADMITTED',
  );
  assert.equal(admitted.length, 2000);
  await server.restart();
  const answers = await Promise.all(
    admitted.map((x) => server.insist('GET', '/access', { token: x.session_token })),
  );
  assert.ok(answers.every((a) => a.status === 200));
  const stats = await server.get(`/queues/${queue.id}/stats`, { token: tenant.token });
  assert.deepEqual([stats.json.active, stats.json.waiting], [2000, 100]);
});

// -- limits ---------------------------------------------------------------------------------------------

test('publishable joins are limited by address with an honest Retry-After; a stadium behind one address is not', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 1 });
  let limited;
  for (let i = 0; i < 40 && !limited; ++i) {
    const answer = await server.post(`/queues/${queue.id}/tickets`, { token: tenant.join });
    if (answer.status === 429) limited = answer;
    else assert.equal(answer.status, 201, answer.text);
    if (limited) assert.ok(i >= 30, `limited at ${i}`);
  }
  expect_problem(limited, 429, 'rate_limited');
  const wait = Number(limited.headers['retry-after']);
  assert.ok(wait >= 1 && wait <= 3, `30 a minute: another in two seconds, said ${wait}`);
  await sleep(wait * 1000 + 50);
  assert.equal((await server.post(`/queues/${queue.id}/tickets`, { token: tenant.join })).status, 201);
  const crowd = await Promise.all(Array.from({ length: 500 }, (_, i) => tenant.join_as(queue, `fan-${i}`)));
  assert.equal(new Set(crowd.map((x) => x.queue_number)).size, 500);
});

test('access: per session, per key, and for strangers', async (t) => {
  const server = await server_for(t, {
    settings: {
      'rate_limits.access_per_session_per_minute': 20,
      'rate_limits.access_failures_per_ip_per_minute': 30,
    },
  });
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 2 });
  const ann = await ticket_of(server, await tenant.join_as(queue, 'ann'));
  const bob = await ticket_of(server, await tenant.join_as(queue, 'bob'));
  const statuses = async (count, ask) => {
    const seen = [];
    for (let i = 0; i < count; ++i) seen.push((await ask()).status);
    return seen;
  };
  const often = await statuses(25, () => access(server, ann.session_token));
  assert.deepEqual([...new Set(often)], [200, 429]);
  assert.equal((await access(server, bob.session_token)).status, 200, 'another session is not concerned');
  const keyed = await statuses(60, () =>
    access(server, ann.session_token, '', { 'X-API-Key': tenant.server }),
  );
  assert.deepEqual([...new Set(keyed)], [200], 'a server key lifts the limit');
  assert.equal((await access(server, ann.session_token, '', { 'X-API-Key': tenant.join })).status, 403);
  const strange = await statuses(40, () => access(server, 'x'));
  assert.deepEqual([...new Set(strange)], [401, 429]);
  // Every two seconds there is room for one more failure.
  const profile = await eventually('the limit', async () => {
    const answer = await access(server, 'x', '?profile=auth_request');
    return answer.status !== 401 && answer;
  });
  assert.deepEqual([profile.status, profile.headers['x-fairqueue-reason']], [403, 'rate_limited']);
});

// -- WebSocket and presence -----------------------------------------------------------------------------

test('a socket follows the ticket, on several devices, and after a reconnect', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const ann = await tenant.join_as(queue, 'ann');
  const bob = await tenant.join_as(queue, 'bob');
  const open = (ticket) => server.socket_at(`/tickets/${ticket.ticket_id}/ws`, ticket.ticket_token);
  const sockets = [await open(bob), await open(bob)];
  for (const socket of sockets) {
    const state = await socket.frame('state');
    assert.equal(state.ticket.ticket_id, bob.ticket_id);
    assert.equal(state.ticket.position, 1);
    assert.equal(state.queue_status, 'ACTIVE');
  }
  await server.patch(`/queues/${queue.id}`, { token: tenant.token, body: { message: 'Soon.' } });
  assert.equal((await sockets[0].frame('message')).message, 'Soon.');
  await server.delete(`/tickets/${ann.ticket_id}`, { token: ann.ticket_token });
  for (const socket of sockets) {
    const admitted = await socket.frame('admitted');
    assert.equal(admitted.ticket_id, bob.ticket_id);
    assert.equal((await access(server, admitted.session_token)).status, 200);
  }
  const third = await open(bob);
  assert.equal((await third.frame('state')).ticket.status, 'ADMITTED', 'a reconnect begins with a snapshot');
  await server.post(`/queues/${queue.id}/revocations`, { token: tenant.token, body: { subject: 'bob' } });
  for (const socket of [...sockets, third]) {
    assert.equal((await socket.frame('revoked')).ticket_id, bob.ticket_id);
    assert.equal(await socket.close_code(), 1000);
  }
  const stranger = await server
    .socket_at(`/tickets/${bob.ticket_id}/ws`, ann.ticket_token)
    .catch((error) => error);
  assert.equal(stranger.status, 404);
});

test('an absent visitor does not block the line, and a connected one is never absent, watched from the start or later', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const [inside, ghost, connected] = [
    await tenant.join_as(queue, 'inside'),
    await tenant.join_as(queue, 'ghost'),
    await tenant.join_as(queue, 'connected'),
  ];
  const socket = await server.socket_at(`/tickets/${connected.ticket_id}/ws`, connected.ticket_token);
  await socket.frame('state');
  const watch = { presence_timeout_seconds: 20, away_grace_seconds: 600 };
  assert.equal((await server.patch(`/queues/${queue.id}`, { token: tenant.token, body: watch })).status, 200);
  await eventually(
    'the ghost is away',
    async () => (await server.get(`/queues/${queue.id}/stats`, { token: tenant.token })).json.away === 1,
    { timeout_ms: 40_000, every_ms: 500 },
  );
  await server.delete(`/tickets/${inside.ticket_id}`, { token: inside.ticket_token });
  assert.equal(
    (await socket.frame('admitted')).ticket_id,
    connected.ticket_id,
    'the line goes on over the ghost',
  );
  const back = await ticket_of(server, ghost);
  assert.equal(back.status, 'WAITING');
  assert.equal(back.position, 1, 'in its own place');
  socket.close();
});
