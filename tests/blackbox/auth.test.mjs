// SPDX-License-Identifier: Apache-2.0
// Sign-in of organizers by password and of customers by a mailed code; guesses and limits; and which token
// opens which route (RFC 8725, API2).
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { assert, eventually, expect_problem, fairqueue, forge, run, sale, server_for } from './lib.mjs';

const fresh_email = () => `fan-${crypto.randomUUID()}@example.com`;
const claims_of = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
/** The log's lines about sign-ins, without time and request. */
const sign_ins_in = (log) =>
  log
    .split('\n')
    .filter((line) => /"message":"(signed in|sign-in refused)"/.test(line))
    .map((line) => JSON.parse(line.slice(line.indexOf('{'))))
    .map(({ message, kind, id, reason, client }) => [message, kind, id ?? reason, client]);
const header_of = (token) => JSON.parse(Buffer.from(token.split('.')[0], 'base64url').toString());

test('a customer logs in with a mailed code', async (t) => {
  const server = await server_for(t, { settings: { 'http.trusted_proxies': '127.0.0.1/32' } });
  const email = fresh_email();
  const login = await server.sign_in_by_mail(email);
  await server.post('/auth/customer/otp/verify', {
    body: { email, otp: '123456', handle: 'none' },
    headers: { 'X-Forwarded-For': '203.0.113.7' },
  });
  await eventually('both in the log', () => sign_ins_in(server.log).length === 2);
  assert.deepEqual(sign_ins_in(server.log), [
    ['signed in', 'customer', login.json.customer_id, '127.0.0.1'],
    ['sign-in refused', 'customer', 'invalid_otp', '203.0.113.7'],
  ]);
  assert.equal(login.status, 200, login.text);
  assert.match(login.json.customer_id, /^[0-9a-f-]{36}$/);
  const claims = claims_of(login.json.token);
  assert.deepEqual(header_of(login.json.token).typ, 'fq-customer');
  assert.deepEqual(header_of(login.json.token).alg, 'HS256');
  assert.equal(claims.sub, login.json.customer_id);
  assert.equal(claims.iss, 'fairqueue');
  assert.equal(claims.aud, 'fq-customer');
  assert.equal(claims.exp, Math.floor(Date.parse(login.json.expires_at) / 1000));
  assert.equal(claims.exp - claims.iat, 24 * 3600);

  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  assert.equal((await server.join(login.json.token, event)).queue_number, 1);
  const again = await server.sign_in_by_mail(email.toUpperCase());
  assert.equal(again.status, 200, again.text);
  assert.equal(again.json.customer_id, login.json.customer_id, 'one address, one customer');
  assert.equal((await server.position(again.json.token, event)).queue_number, 1);
  await server.restart();
  assert.equal(
    (await server.sign_in_by_mail(email)).json.customer_id,
    login.json.customer_id,
    'also after a crash',
  );

  const in_croatian = await server.sign_in_by_mail(email, { 'Accept-Language': 'de, hr;q=0.8' });
  const own = await server.get('/customers/me', { token: in_croatian.json.token });
  assert.equal(own.json.language, 'hr');
  assert.match(server.mails_to(email).at(-1), /Content-Type: text\/plain[^]*Vrijedi 10 min/);

  const mail = fs.readdirSync(path.join(server.data_dir, 'mail'));
  assert.ok(mail.length >= 3);
  const mode = fs.statSync(path.join(server.data_dir, 'mail', mail[0])).mode & 0o777;
  assert.equal(mode, 0o600);
  const code = await server.mailed_code(email);
  assert.ok(!server.log.includes(email), 'an address is in the log');
  // Ids in the log are hexadecimal and may hold the same six digits.
  assert.doesNotMatch(server.log, new RegExp(`(?<![0-9a-f])${code}(?![0-9a-f])`), 'a code is in the log');
});

test('a code works once, for its request, and not after five wrong guesses', async (t) => {
  const server = await server_for(t);
  const email = fresh_email();
  const verify = (address, otp, handle = 'none') =>
    server.post('/auth/customer/otp/verify', { body: { email: address, otp, handle } });
  const request = async (address) =>
    (await server.post('/auth/customer/otp/request', { body: { email: address } })).json.handle;
  const wrong = (code) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  expect_problem(await verify(email, '123456'), 401, 'invalid_otp', 'none was asked for');
  const handle = await request(email);
  const code = await server.mailed_code(email);
  assert.match(code, /^\d{6}$/);
  expect_problem(await verify(fresh_email(), code, handle), 401, 'invalid_otp', 'another address');
  expect_problem(await verify(email, code), 401, 'invalid_otp', 'another request');
  assert.equal((await verify(email, code, handle)).status, 200);
  expect_problem(await verify(email, code, handle), 401, 'invalid_otp', 'a second time');

  const target = fresh_email();
  const owner = await request(target);
  const right = await server.mailed_code(target);
  const stranger = await request(target);
  for (let guess = 0; guess < 5; ++guess)
    expect_problem(await verify(target, wrong(right), stranger), 401, 'invalid_otp', `guess ${guess + 1}`);
  assert.equal((await verify(target, right, owner)).status, 200, 'a stranger does not void a code');
  const newer = fresh_email();
  const late = await request(newer);
  const first = await server.mailed_code(newer);
  for (let guess = 0; guess < 4; ++guess)
    expect_problem(await verify(newer, wrong(first), late), 401, 'invalid_otp');
  await server.restart();
  assert.equal((await verify(newer, first, late)).status, 200, 'four wrong guesses are allowed');
  const last = await request(newer);
  const final = await server.mailed_code(newer, 1);
  for (let guess = 0; guess < 5; ++guess)
    expect_problem(await verify(newer, wrong(final), last), 401, 'invalid_otp');
  expect_problem(await verify(newer, final, last), 401, 'invalid_otp', 'the right one, too late');
});

test('codes are limited per address and per client', async (t) => {
  const server = await server_for(t, {
    settings: { 'otp.requests_per_ip_per_minute': 30, 'http.trusted_proxies': '127.0.0.1/32' },
  });
  const email = fresh_email();
  const ask = (address, client = '203.0.113.1') =>
    server.post('/auth/customer/otp/request', {
      body: { email: address },
      headers: { 'X-Forwarded-For': client },
    });
  for (let i = 0; i < 5; ++i) assert.equal((await ask(email)).status, 202, `request ${i + 1}`);
  const sixth = await ask(email);
  expect_problem(sixth, 429, 'rate_limited');
  assert.ok(sixth.headers.ratelimit !== undefined, JSON.stringify(sixth.headers));
  expect_problem(await ask(email.toUpperCase()), 429, 'rate_limited', 'the same address');
  assert.equal((await ask(fresh_email())).status, 202, 'another address is not limited');
  assert.equal((await ask(email, '203.0.113.2')).status, 202, 'a stranger does not lock the owner out');
  let refused = 0;
  for (let i = 0; i < 40; ++i) refused += (await ask(fresh_email())).status === 429 ? 1 : 0;
  assert.ok(refused >= 10, `the client's limit does not hold: ${refused}`);
});

test('behind a trusted proxy each client has its own limits and cannot choose its address', async (t) => {
  const server = await server_for(t, {
    settings: { 'otp.requests_per_ip_per_minute': 5, 'http.trusted_proxies': '127.0.0.1/32' },
  });
  const ask = (forwarded) =>
    server.post('/auth/customer/otp/request', {
      body: { email: fresh_email() },
      headers: { 'X-Forwarded-For': forwarded },
    });
  const refusals = async (make) => {
    let count = 0;
    for (let i = 0; i < 12; ++i) count += (await ask(make(i))).status === 429 ? 1 : 0;
    return count;
  };
  assert.equal(await refusals((i) => `203.0.113.${i}`), 0, 'different clients');
  assert.ok((await refusals(() => '198.51.100.7')) >= 6, 'one client');
  assert.ok(
    (await refusals((i) => `192.0.2.${i}, 198.51.100.8`)) >= 6,
    'what the client wrote itself does not count',
  );
  assert.ok((await refusals((i) => `2001:db8:0:1::${i}`)) >= 6, 'one IPv6 network of /64');
});

test('an organizer logs in by password', async (t) => {
  const server = await server_for(t);
  const email = fresh_email();
  const password = 'pässwörd with ünicode 漢字';
  const added = await run(
    fairqueue,
    ['organizer', 'add', '--email', email, '--password-stdin', '--data_dir', server.data_dir],
    { input: `${password}\n` },
  );
  assert.equal(added.code, 0, added.err);
  const login = (body) => server.post('/auth/organizer/login', { body });
  const good = await login({ email, password });
  assert.equal(good.status, 200, good.text);
  assert.match(good.json.organizer_id, /^[0-9a-f-]{36}$/);
  assert.equal(claims_of(good.json.token).aud, 'fq-organizer');
  assert.equal(claims_of(good.json.token).sub, good.json.organizer_id);
  const wrong = await login({ email, password: `${password}!` });
  expect_problem(wrong, 401, 'invalid_credentials');
  const nobody = await login({ email: fresh_email(), password });
  expect_problem(nobody, 401, 'invalid_credentials');
  const without_id = (answer) => ({ ...answer.json, request_id: undefined });
  assert.deepEqual(without_id(nobody), without_id(wrong), 'nothing tells whether the address is known');
  await eventually('all in the log', () => sign_ins_in(server.log).length === 3);
  assert.deepEqual(sign_ins_in(server.log), [
    ['signed in', 'organizer', good.json.organizer_id, '127.0.0.1'],
    ['sign-in refused', 'organizer', 'invalid_credentials', '127.0.0.1'],
    ['sign-in refused', 'organizer', 'invalid_credentials', '127.0.0.1'],
  ]);
  assert.ok(!server.log.includes(email), 'an address is in the log');
  assert.ok(!server.log.includes(password), 'a password is in the log');
  assert.ok(!server.log.includes(good.json.token.split('.')[2]), 'a token is in the log');
  await server.restart();
  assert.equal((await login({ email, password })).status, 200);
});

test('sign-ins of an organizer end: one by one, with a new password, and with the account', async (t) => {
  const server = await server_for(t);
  const { email, password } = await server.new_organizer();
  const cli = async (name, ...more) => {
    const done = await run(
      fairqueue,
      ['organizer', name, '--email', email, '--data_dir', server.data_dir, ...more],
      { input: 'another good password\n' },
    );
    assert.equal(done.code, 0, done.out + done.err);
  };
  const sign_in = async (secret) =>
    (await server.post('/auth/organizer/login', { body: { email, password: secret } })).json?.token;
  const sessions = (token) => server.get('/auth/organizer/sessions', { token });
  const [first, second] = [await sign_in(password), await sign_in(password)];
  const listed = (await sessions(second)).json.items;
  assert.deepEqual(
    listed.map((s) => s.current),
    [false, true],
  );
  const ended = await server.delete(`/auth/organizer/sessions/${listed[0].id}`, { token: second });
  assert.equal(ended.status, 204, ended.text);
  expect_problem(await sessions(first), 401, 'unauthenticated', 'an ended sign-in');
  assert.equal((await sessions(second)).json.items.length, 1);
  await cli('add', '--replace', '--password-stdin');
  expect_problem(await sessions(second), 401, 'unauthenticated', 'before the new password');
  assert.equal(await sign_in(password), undefined);
  const third = await sign_in('another good password');
  assert.equal((await sessions(third)).status, 200);
  await cli('sign-out');
  expect_problem(await sessions(third), 401, 'unauthenticated', 'signed out');
  const fourth = await sign_in('another good password');
  assert.equal((await sessions(fourth)).status, 200);
  await cli('remove');
  expect_problem(await sessions(fourth), 401, 'unauthenticated', 'removed');
  assert.equal(await sign_in('another good password'), undefined);
});

test('login failures are limited per client; successes are not', async (t) => {
  const server = await server_for(t, { settings: { 'rate_limits.login_failures_per_ip_per_minute': 5 } });
  const email = fresh_email();
  const password = 'correct horse battery';
  await run(
    fairqueue,
    ['organizer', 'add', '--email', email, '--password-stdin', '--data_dir', server.data_dir],
    { input: password },
  );
  const login = (secret) => server.post('/auth/organizer/login', { body: { email, password: secret } });
  for (let i = 0; i < 8; ++i) assert.equal((await login(password)).status, 200, `success ${i + 1}`);
  const seen = [];
  for (let i = 0; i < 12; ++i) seen.push((await login('wrong password')).status);
  assert.ok(
    seen.filter((s) => s === 401).length >= 4 && seen.filter((s) => s === 429).length >= 5,
    `${seen}`,
  );
  const limited = await login('wrong password');
  if (limited.status === 429) assert.ok(Number(limited.headers['retry-after']) <= 60);
});

test("a customer's requests are limited, one by one", async (t) => {
  const server = await server_for(t, { settings: { 'rate_limits.customer_requests_per_minute': 20 } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  const [busy, calm] = await server.customers(2);
  let limited;
  for (let i = 0; i < 40 && !limited; ++i) {
    const answer = await server.post(`/events/${event}/queue`, { token: busy });
    if (answer.status === 429) limited = answer;
  }
  expect_problem(limited ?? {}, 429, 'rate_limited');
  assert.ok(limited.headers.ratelimit !== undefined && limited.headers['ratelimit-policy'] !== undefined);
  assert.equal((await server.post(`/events/${event}/queue`, { token: calm })).status, 201, 'others are not');
});

/** [name, token] of tokens that must be refused as a customer's token. */
function bad_tokens(server, good) {
  const [header, payload, signature] = good.split('.');
  const encode = (value) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const with_alg = (alg) => forge(server, 'customer', { header: { alg }, signature: '' });
  return [
    ['nothing after Bearer', ''],
    ['garbage', 'garbage'],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${good}.${signature}`],
    ['an empty signature', `${header}.${payload}.`],
    ['a signature cut short', good.slice(0, -4)],
    ['a changed signature', `${header}.${payload}.${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`],
    [
      'a changed payload',
      `${header}.${encode({ ...claims_of(good), sub: crypto.randomUUID() })}.${signature}`,
    ],
    ['padding', `${header}.${payload}.${signature}=`],
    ['alg none', with_alg('none')],
    ['alg None', with_alg('None')],
    ['alg nOnE', with_alg('nOnE')],
    ['alg none with our signature', forge(server, 'customer', { header: { alg: 'none' } })],
    ['alg HS512', forge(server, 'customer', { header: { alg: 'HS512' } })],
    ['alg RS256', forge(server, 'customer', { header: { alg: 'RS256' } })],
    ['alg missing', forge(server, 'customer', { header: { alg: undefined } })],
    ['another key', forge(server, 'customer', { key: crypto.randomBytes(32) })],
    ['an empty key', forge(server, 'customer', { key: Buffer.alloc(0) })],
    ['the public kid as key', forge(server, 'customer', { key: Buffer.from(header_of(good).kid) })],
    ['an unknown kid', forge(server, 'customer', { header: { kid: 'unknown' } })],
    ['a kid that climbs', forge(server, 'customer', { header: { kid: '../../../../dev/null' } })],
    ['a kid with SQL', forge(server, 'customer', { header: { kid: "' OR 1=1 --" } })],
    [
      'an embedded key',
      forge(server, 'customer', {
        header: { jwk: { kty: 'oct', k: encode('secret') } },
        key: Buffer.from('secret'),
      }),
    ],
    ['a key by URL', forge(server, 'customer', { header: { jku: 'http://127.0.0.1:1/keys' } })],
    ['typ JWT', forge(server, 'customer', { header: { typ: 'JWT' } })],
    ['typ of an organizer', forge(server, 'customer', { header: { typ: 'fq-organizer' } })],
    ['another issuer', forge(server, 'customer', { claims: { iss: 'somebody' } })],
    ['another audience', forge(server, 'customer', { claims: { aud: 'fq-organizer' } })],
    ['an audience list', forge(server, 'customer', { claims: { aud: ['fq-customer'] } })],
    ['expired', forge(server, 'customer', { claims: { iat: now - 7200, exp: now - 3600 } })],
    ['exp missing', forge(server, 'customer', { claims: { exp: undefined } })],
    ['exp as text', forge(server, 'customer', { claims: { exp: '4000000000' } })],
    ['exp negative', forge(server, 'customer', { claims: { exp: -1 } })],
    ['exp as a fraction', forge(server, 'customer', { claims: { exp: now + 3600.5 } })],
    ['no subject', forge(server, 'customer', { claims: { sub: undefined } })],
    ['a subject that is no id', forge(server, 'customer', { claims: { sub: 'admin' } })],
    [
      'a customer token signed with the organizer key',
      forge(server, 'organizer', { header: { typ: 'fq-customer' }, claims: { aud: 'fq-customer' } }),
    ],
    ['claims that are no object', `${header}.${encode('[]')}.${signature}`],
  ];
}

test('tokens that open no route', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  const good = await server.customer();
  const own = forge(server, 'customer');
  assert.equal(
    (await server.post(`/events/${event}/queue`, { token: own })).status,
    201,
    'the forger forges well',
  );
  for (const [name, token] of bad_tokens(server, good)) {
    const answer = await server.post(`/events/${event}/queue`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect_problem(answer, 401, 'unauthenticated', name);
  }
  const long = await server.post(`/events/${event}/queue`, {
    headers: { Authorization: `Bearer ${'a'.repeat(7000)}` },
  });
  expect_problem(long, 401, 'unauthenticated', 'a long token');
  for (const scheme of ['Basic', 'bearer2', 'Token', ''])
    expect_problem(
      await server.post(`/events/${event}/queue`, { headers: { Authorization: `${scheme} ${good}`.trim() } }),
      401,
      'unauthenticated',
      scheme,
    );
  expect_problem(
    await server.post(`/events/${event}/queue?token=${good}`),
    401,
    'unauthenticated',
    'a token in the query of a plain route',
  );
  expect_problem(
    await server.post(`/events/${event}/queue`, { headers: { Cookie: `token=${good}` } }),
    401,
    'unauthenticated',
    'a cookie',
  );
  assert.equal((await server.stats(organizer, event)).joined_total, 1);
});

test('each kind of token opens its own routes only', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const customer = await server.customer();
  const { id: event } = await server.event(organizer);
  const { ticket_token } = (await server.post(`/events/${event}/queue`, { token: customer })).json;
  const { admission_token } = await server.admitted(customer, event);
  const organizer_routes = [
    ['POST', '/events', sale()],
    ['PATCH', `/events/${event}`, { name: 'x' }],
    ['GET', `/events/${event}/stats`],
    ['POST', `/events/${event}/pause`],
    ['POST', `/events/${event}/cancel`],
    ['GET', '/events?mine=true'],
  ];
  const customer_routes = [
    ['POST', `/events/${event}/queue`],
    ['GET', `/events/${event}/queue/position`],
    ['POST', `/events/${event}/claims`, { admission_token }],
  ];
  for (const [method, target, body] of organizer_routes)
    expect_problem(
      await server.request(method, target, { token: customer, body }),
      403,
      'forbidden',
      `${method} ${target}`,
    );
  for (const [method, target, body] of customer_routes)
    expect_problem(
      await server.request(method, target, { token: organizer, body }),
      403,
      'forbidden',
      `${method} ${target}`,
    );
  for (const [method, target, body] of [...organizer_routes, ...customer_routes]) {
    const ticket = await server.request(method, target, { token: ticket_token, body });
    assert.ok([401, 403].includes(ticket.status), `a ticket token on ${method} ${target}: ${ticket.text}`);
    expect_problem(
      await server.request(method, target, { token: admission_token, body }),
      401,
      'unauthenticated',
      `an admission token on ${method} ${target}`,
    );
  }
  assert.equal((await server.get(`/events/${event}`)).json.status, 'ACTIVE', 'nothing happened');
});

test("another organizer's sale", async (t) => {
  const server = await server_for(t);
  const mine = await server.organizer();
  const theirs = await server.organizer();
  const { id: event } = await server.event(mine);
  const draft = await server.event(mine, {}, { activate: false });
  for (const [method, target, body] of [
    ['PATCH', `/events/${event}`, { name: 'x' }],
    ['GET', `/events/${event}/stats`],
    ['POST', `/events/${event}/pause`],
    ['POST', `/events/${event}/end`],
    ['POST', `/events/${event}/cancel`],
    ['POST', `/events/${draft.id}/activate`],
    ['GET', `/events/${draft.id}`],
  ])
    expect_problem(
      await server.request(method, target, { token: theirs, body }),
      404,
      'not_found',
      `${method} ${target}`,
    );
  assert.ok(
    !(await server.get('/events?mine=true', { token: theirs })).json.items.some((e) => e.id === event),
  );
  assert.equal((await server.get(`/events/${event}`)).json.status, 'ACTIVE');
});
