// SPDX-License-Identifier: Apache-2.0
// Notices: devices of a ticket and of a customer; webhook endpoints with secrets, rotation, log, replay and
// test; from the view of an app, an organizer and a backend. Receivers are real HTTP servers; the
// standardwebhooks package verifies signatures.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { assert, eventually, expect_problem, patience, server_for } from './lib.mjs';
import { tenant_on, ticket_of } from './tenant.mjs';

/** A server that keeps received requests and gives configured answers. */
async function receiver(t, answer = () => ({ status: 200 })) {
  const got = [];
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const one = { path: request.url, headers: request.headers, body, at: performance.now() };
      got.push(one);
      const { status, headers = {} } = answer(one, got.length);
      response.writeHead(status, headers).end('{}');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { got, url: `http://127.0.0.1:${server.address().port}`, port: server.address().port };
}

/** Allows endpoints on this machine. */
const here = (...ports) => ({
  'webhooks.allow_private': 'true',
  'webhooks.allow_http': 'true',
  'webhooks.ports': ports.join(','),
});

const told = (hook, topic) => hook.got.filter((one) => JSON.parse(one.body).type === topic);

test('an origin gets admissions by signed webhook without polling, and the log has them', async (t) => {
  const hook = await receiver(t);
  const server = await server_for(t, { settings: here(hook.port) });
  const tenant = await tenant_on(server);
  const made = await server.post('/webhook-endpoints', {
    token: tenant.token,
    body: { url: `${hook.url}/told`, topics: ['queue.turn_granted'], contact: 'ops@example.org' },
  });
  assert.equal(made.status, 201, made.text);
  assert.match(made.json.secret, /^whsec_/);
  const queue = await tenant.queue();
  const ann = await tenant.join_as(queue, 'ann');
  await eventually('the webhook', () => hook.got.length > 0);
  const [one] = hook.got;
  assert.equal(one.path, '/told');
  const body = new Webhook(made.json.secret).verify(one.body, one.headers);
  assert.equal(body.type, 'queue.turn_granted');
  assert.equal(body.id, one.headers['webhook-id']);
  assert.equal(body.data.entry_id, ann.ticket_id);
  assert.throws(() => new Webhook(made.json.secret).verify(`${one.body} `, one.headers));

  const log = await eventually('the log', async () => {
    const { json } = await server.get(`/webhook-endpoints/${made.json.id}/deliveries`, {
      token: tenant.token,
    });
    return json.deliveries[0]?.state === 'delivered' && json.deliveries;
  });
  assert.equal(log.length, 1);
  assert.equal(log[0].delivery_id, one.headers['webhook-id']);
  assert.equal(log[0].http_status, 200);
  const all = await server.get('/deliveries?channel=webhook&state=delivered', { token: tenant.token });
  assert.equal(all.json.deliveries.length, 1);

  const again = await server.post(
    `/webhook-endpoints/${made.json.id}/deliveries/${log[0].delivery_id}/replay`,
    { token: tenant.token },
  );
  assert.equal(again.status, 202, again.text);
  await eventually('the replay', () => hook.got.length === 2);
  assert.equal(hook.got[1].headers['webhook-id'], one.headers['webhook-id']);
});

/**
 * A server that answers `begin` at once and then one byte a second. `tries`: {ended} of each connection.
 */
async function trickler(t, begin) {
  const tries = [];
  const server = net.createServer((socket) => {
    const one = {};
    tries.push(one);
    let drops;
    socket.once('data', () => {
      socket.write(begin);
      drops = setInterval(() => socket.write('x'), 1000);
    });
    socket
      .on('error', () => {})
      .on('close', () => {
        clearInterval(drops);
        one.ended = performance.now();
      });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { tries, url: `http://127.0.0.1:${server.address().port}`, port: server.address().port };
}

test('a slow webhook target is cut at the timeout and delays no other', async (t) => {
  const seconds = 4 * patience;
  const [in_body, in_head] = [
    await trickler(t, 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n'),
    await trickler(t, 'HTTP/1.1 200 OK\r\nX-Slow: '),
  ];
  const hook = await receiver(t);
  const server = await server_for(t, {
    settings: { ...here(hook.port, in_body.port, in_head.port), 'webhooks.timeout': `${seconds}s` },
  });
  const tenant = await tenant_on(server);
  const add = async (url) =>
    (
      await server.post('/webhook-endpoints', {
        token: tenant.token,
        body: { url, topics: ['queue.turn_granted'] },
      })
    ).json;
  const slow = [
    [in_body, await add(in_body.url)],
    [in_head, await add(in_head.url)],
  ];
  await add(hook.url);
  const queue = await tenant.queue({ concurrency: 100 });
  const began = performance.now();
  await Promise.all(Array.from({ length: 20 }, (_, i) => tenant.join_as(queue, `fan-${i}`)));
  await eventually('the others are told', () => hook.got.length === 20);
  for (const [target, endpoint] of slow) {
    await eventually('it is left', () => target.tries[0]?.ended !== undefined, { timeout_ms: 15_000 });
    assert.ok(
      target.tries.every(({ ended }) => ended === undefined || hook.got.every(({ at }) => at < ended)),
      'nobody has waited for their end',
    );
    const lasted = target.tries[0].ended - began;
    assert.ok(
      lasted > seconds * 1000 - 500 && lasted < (seconds + 5) * 1000,
      `a try lasted ${lasted} ms, with a timeout of ${seconds} s`,
    );
    const tried = await eventually('the log', async () => {
      const { json } = await server.get(`/webhook-endpoints/${endpoint.id}/deliveries`, {
        token: tenant.token,
      });
      return json.deliveries.find(({ attempts }) => attempts > 0);
    });
    assert.deepEqual([tried.state, tried.reason, tried.http_status], ['pending', 'timeout', null]);
    assert.ok(
      Date.parse(tried.next_try_at) > Date.parse(tried.created_at) + seconds * 1000,
      'and is tried again later',
    );
  }
  await tenant.join_as(queue, 'one-more');
  await eventually('who takes it is told as before', () => hook.got.length === 21);
  assert.equal(new Set(hook.got.map(({ headers }) => headers['webhook-id'])).size, 21);
});

/**
 * Starts a test when the previous one has ended, because one at a time is allowed. Returns its delivery_id.
 */
const send_test = (server, id, { token }) =>
  eventually('a test may go', async () => {
    const answer = await server.post(`/webhook-endpoints/${id}/test`, { token });
    if (answer.status === 202) return answer.json.delivery_id;
    expect_problem(answer, 409, 'test_pending');
    return undefined;
  });

test('a secret is rotated without a gap, and a test webhook has its own type', async (t) => {
  const hook = await receiver(t);
  const server = await server_for(t, { settings: here(hook.port) });
  const tenant = await tenant_on(server);
  const first = (await server.post('/webhook-endpoints', { token: tenant.token, body: { url: hook.url } }))
    .json;
  const second = await server.post(`/webhook-endpoints/${first.id}/secret`, { token: tenant.token });
  assert.equal(second.status, 200, second.text);
  assert.notEqual(second.json.secret, first.secret);
  assert.ok(Date.parse(second.json.previous_secret_until) > Date.now() + 23 * 3600 * 1000);
  await send_test(server, first.id, tenant);
  await eventually('the test', () => hook.got.length === 1);
  const [one] = hook.got;
  for (const secret of [first.secret, second.json.secret])
    assert.equal(new Webhook(secret).verify(one.body, one.headers).type, 'webhook.test');
  const rotate = (body) =>
    server.post(`/webhook-endpoints/${first.id}/secret`, { token: tenant.token, body });
  for (const body of [undefined, {}, { end_previous: false }]) {
    const refused = await rotate(body);
    expect_problem(refused, 409, 'secret_overlap');
    assert.ok(refused.json.detail.includes(second.json.previous_secret_until), refused.text);
  }
  expect_problem(await rotate({ end_previous: 'yes' }), 400, 'invalid_field');
  const third = await rotate({ end_previous: true });
  assert.equal(third.status, 200, third.text);
  const { entries } = (await server.get(`/audit?target=${first.id}`, { token: tenant.token })).json;
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['endpoint.replace_secret', 'endpoint.rotate_secret', 'endpoint.create'],
  );
  assert.ok(!JSON.stringify(entries).includes('whsec_'), 'no secret in the audit log');
  assert.equal(third.json.previous_secret_until, null);
  await send_test(server, first.id, tenant);
  await eventually('the second test', () => hook.got.length === 2);
  const { body, headers } = hook.got[1];
  assert.equal(new Webhook(third.json.secret).verify(body, headers).type, 'webhook.test');
  for (const secret of [first.secret, second.json.secret])
    assert.throws(() => new Webhook(secret).verify(body, headers));
  const stranger = 'whsec_' + Buffer.alloc(32, 7).toString('base64');
  assert.throws(() => new Webhook(stranger).verify(one.body, one.headers));
});

test('a failing endpoint is retried, a gone one is turned off, and a new turn-off is notified again', async (t) => {
  let state = 503;
  const hook = await receiver(t, () => ({ status: state }));
  const server = await server_for(t, { settings: here(hook.port) });
  const tenant = await tenant_on(server);
  const endpoint = (await server.post('/webhook-endpoints', { token: tenant.token, body: { url: hook.url } }))
    .json;
  const test_it = () => send_test(server, endpoint.id, tenant);
  const log = async () =>
    (await server.get(`/webhook-endpoints/${endpoint.id}/deliveries`, { token: tenant.token })).json
      .deliveries;
  await test_it();
  expect_problem(
    await server.post(`/webhook-endpoints/${endpoint.id}/test`, { token: tenant.token }),
    409,
    'test_pending',
  );
  const tried = await eventually('a failed try', async () => (await log()).find((d) => d.attempts >= 1));
  assert.equal(tried.state, 'pending');
  assert.equal(tried.http_status, 503);
  assert.ok(Date.parse(tried.next_try_at) > Date.parse(tried.created_at));
  state = 200;
  await eventually('the second try', async () => (await log())[0].state === 'delivered', {
    timeout_ms: 20_000,
  });
  state = 410;
  await test_it();
  const off = await eventually('it is off', async () => {
    const { json } = await server.get(`/webhook-endpoints/${endpoint.id}`, { token: tenant.token });
    return json.enabled === false && json;
  });
  assert.equal(off.off_reason, 'gone');
  const before = hook.got.length;
  await test_it();
  await eventually('it was dropped', async () => (await log())[0].reason === 'endpoint_off');
  assert.equal(hook.got.length, before);
  state = 200;
  const on = await server.patch(`/webhook-endpoints/${endpoint.id}`, {
    token: tenant.token,
    body: { enabled: true },
  });
  assert.equal(on.json.enabled, true, on.text);
  await test_it();
  await eventually('it is told again', () => hook.got.length === before + 1);
});

test('a contact gets at most one mail a day about a turned off endpoint', async (t) => {
  const hook = await receiver(t, () => ({ status: 410 }));
  const server = await server_for(t, { settings: here(hook.port) });
  const tenant = await tenant_on(server);
  const as = { token: tenant.token };
  const add = async (contact) =>
    (await server.post('/webhook-endpoints', { ...as, body: { url: hook.url, contact } })).json.id;
  const turned_off = async (id) => {
    assert.equal(
      (await server.patch(`/webhook-endpoints/${id}`, { ...as, body: { enabled: true } })).status,
      200,
    );
    await send_test(server, id, tenant);
    await eventually(
      'it is off',
      async () => !(await server.get(`/webhook-endpoints/${id}`, as)).json.enabled,
    );
  };
  const mails_to = (address) => {
    const folder = join(server.data_dir, 'mail');
    const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.eml')) : [];
    return names.filter((name) =>
      fs.readFileSync(join(folder, name), 'utf8').includes(`\r\nTo: ${address}\r\n`),
    ).length;
  };
  const [often, last] = [await add('often@example.org'), await add('last@example.org')];
  for (let n = 0; n < 3; ++n) await turned_off(often);
  await turned_off(last);
  await eventually('the last mail', () => mails_to('last@example.org') === 1);
  assert.equal(mails_to('often@example.org'), 1);
});

test('an address that is not public https is refused, and nothing reaches this machine', async (t) => {
  const hook = await receiver(t);
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  for (const url of [
    hook.url,
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://127.1/',
    'https://[::ffff:127.0.0.1]/',
    'https://169.254.169.254/',
    'https://[fd00::1]/',
    'https://localhost./',
    'gopher://example.org/',
    'file:///etc/passwd',
    'https://user@example.org/',
    'https://example.org:22/',
    'https://example.org:6379/',
    'https://example.org/\r\nX: 1',
    'not a url',
    'https://example.org/#part',
  ]) {
    const answer = await server.post('/webhook-endpoints', { token: tenant.token, body: { url } });
    expect_problem(answer, 400, 'invalid_field', url);
  }
  expect_problem(
    await server.post('/webhook-endpoints', {
      token: tenant.token,
      body: { url: 'https://hooks.example.org/', topics: ['no.topic'] },
    }),
    400,
    'invalid_field',
  );
  expect_problem(
    await server.post('/webhook-endpoints', { token: tenant.token, body: {} }),
    400,
    'invalid_field',
  );
  assert.equal(hook.got.length, 0);
});

test('endpoints belong to their owner', async (t) => {
  const server = await server_for(t);
  const [mine, theirs] = [await tenant_on(server), await tenant_on(server)];
  const made = (
    await server.post('/webhook-endpoints', {
      token: mine.token,
      body: { url: 'https://hooks.example.org/' },
    })
  ).json;
  assert.equal((await server.get('/webhook-endpoints', { token: mine.token })).json.endpoints.length, 1);
  assert.equal((await server.get('/webhook-endpoints', { token: theirs.token })).json.endpoints.length, 0);
  for (const ask of [
    () => server.get(`/webhook-endpoints/${made.id}`, { token: theirs.token }),
    () => server.patch(`/webhook-endpoints/${made.id}`, { token: theirs.token, body: { enabled: false } }),
    () => server.post(`/webhook-endpoints/${made.id}/secret`, { token: theirs.token }),
    () => server.post(`/webhook-endpoints/${made.id}/test`, { token: theirs.token }),
    () => server.get(`/webhook-endpoints/${made.id}/deliveries`, { token: theirs.token }),
    () => server.delete(`/webhook-endpoints/${made.id}`, { token: theirs.token }),
  ])
    expect_problem(await ask(), 404, 'not_found');
  const organizer = await server.organizer();
  assert.equal((await server.get('/webhook-endpoints', { token: organizer })).json.endpoints.length, 0);
  expect_problem(await server.get('/deliveries', { token: organizer }), 403, 'forbidden');
  const fan = await server.customer();
  expect_problem(
    await server.post('/webhook-endpoints', { token: fan, body: { url: 'https://hooks.example.org/' } }),
    403,
    'forbidden',
  );
  assert.equal((await server.delete(`/webhook-endpoints/${made.id}`, { token: mine.token })).status, 204);
  expect_problem(await server.get(`/webhook-endpoints/${made.id}`, { token: mine.token }), 404, 'not_found');
});

test('the log of an endpoint has pages, and an invalid query is refused', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const as = { token: tenant.token };
  const { id } = (
    await server.post('/webhook-endpoints', {
      ...as,
      body: { url: 'https://hooks.example.org/', enabled: false },
    })
  ).json;
  const sent = [];
  for (let n = 0; n < 5; ++n) sent.unshift(await send_test(server, id, tenant));
  const log = `/webhook-endpoints/${id}/deliveries`;
  const pages = [];
  for (let cursor = ''; cursor !== null && pages.length < 9;) {
    const query = new URLSearchParams({ limit: 2, ...(cursor && { cursor }) }); // encoded: no cursor may need decoding
    const { status, json, text } = await server.get(`${log}?${query}`, as);
    assert.equal(status, 200, text);
    pages.push(json.deliveries.map((d) => d.delivery_id));
    cursor = json.next_cursor;
  }
  assert.deepEqual(
    pages.map((page) => page.length),
    [2, 2, 1],
  );
  assert.deepEqual(pages.flat().sort(), [...sent].sort(), 'each once');
  await eventually(
    'all were dropped',
    async () => (await server.get(`${log}?state=dropped`, as)).json.deliveries.length === sent.length,
  );
  assert.equal((await server.get(`${log}?state=delivered`, as)).json.deliveries.length, 0);
  const queries = {
    'limit=0': 'invalid_parameter',
    'limit=x': 'invalid_parameter',
    'cursor=x': 'invalid_parameter',
    'state=lost': 'invalid_parameter',
    'limit=1&limit=2': 'invalid_parameter',
    'channel=fcm': 'unknown_parameter',
  };
  for (const [query, code] of Object.entries(queries))
    expect_problem(await server.get(`${log}?${query}`, as), 400, code, query);
});

test('concurrent changes of an endpoint are all kept, and a removed one does not return', async (t) => {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const as = { token: tenant.token };
  for (let round = 0; round < 15; ++round) {
    const { id } = (
      await server.post('/webhook-endpoints', { ...as, body: { url: 'https://hooks.example.org/' } })
    ).json;
    const path = `/webhook-endpoints/${id}`;
    const wishes = {
      url: `https://hooks.example.org/${round}`,
      topics: ['queue.turn_granted'],
      contact: `ops${round}@example.org`,
      enabled: false,
    };
    const answers = await Promise.all([
      ...Object.entries(wishes).map(([name, value]) =>
        server.patch(path, { ...as, body: { [name]: value } }),
      ),
      server.post(`${path}/secret`, as),
    ]);
    for (const { status, text } of answers) assert.equal(status, 200, text);
    const now = (await server.get(path, as)).json;
    for (const [name, value] of Object.entries(wishes)) assert.deepEqual(now[name], value, name);
    assert.ok(now.previous_secret_until, 'the rotation');

    const [removed, ...patched] = await Promise.all([
      server.delete(path, as),
      ...[1, 2, 3].map((n) => server.patch(path, { ...as, body: { url: `https://late.example.org/${n}` } })),
    ]);
    assert.equal(removed.status, 204, removed.text);
    for (const { status, text } of patched) assert.ok(status === 200 || status === 404, text);
    expect_problem(await server.get(path, as), 404, 'not_found');
  }
});

test('a device of a ticket gets its turn, and its holder may read the log', async (t) => {
  const mirror = await receiver(t);
  const server = await server_for(t, { settings: { 'push.ntfy_url': mirror.url } });
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const ann = await tenant.join_as(queue, 'ann');
  const bob = await tenant.join_as(queue, 'bob');
  const as_bob = { token: bob.ticket_token };
  const added = await server.post(`/tickets/${bob.ticket_id}/devices`, {
    ...as_bob,
    body: { platform: 'ntfy', token: 'bobs-phone' },
  });
  assert.equal(added.status, 201, added.text);
  const again = await server.post(`/tickets/${bob.ticket_id}/devices`, {
    ...as_bob,
    body: { platform: 'ntfy', token: 'bobs-phone' },
  });
  assert.equal(again.json.device_id, added.json.device_id);
  const list = await server.get(`/tickets/${bob.ticket_id}/devices`, as_bob);
  assert.equal(list.json.devices.length, 1);
  assert.ok(!list.text.includes('bobs-phone'), 'a token is told to nobody');
  expect_problem(
    await server.post(`/tickets/${bob.ticket_id}/devices`, {
      token: ann.ticket_token,
      body: { platform: 'ntfy', token: 'x' },
    }),
    404,
    'not_found',
  );

  const inside = await ticket_of(server, ann);
  assert.equal((await server.delete('/access', { token: inside.session_token })).status, 204);
  await eventually('the push', () => mirror.got.length === 1);
  assert.equal(mirror.got[0].path, '/bobs-phone');
  const log = await eventually('its outcome', async () => {
    const { json } = await server.get(`/tickets/${bob.ticket_id}/deliveries`, as_bob);
    return (
      json.deliveries.some((d) => d.topic === 'queue.turn_granted' && d.state === 'delivered') &&
      json.deliveries
    );
  });
  assert.equal(log[0].channel, 'ntfy');
  const path = `/tickets/${bob.ticket_id}/deliveries`;
  const first = (await server.get(`${path}?limit=1`, as_bob)).json;
  assert.equal(first.deliveries.length, 1);
  if (first.next_cursor)
    assert.notEqual(
      (await server.get(`${path}?limit=1&cursor=${first.next_cursor}`, as_bob)).json.deliveries[0]
        .delivery_id,
      first.deliveries[0].delivery_id,
    );
  assert.equal((await server.get(`${path}?channel=fcm`, as_bob)).json.deliveries.length, 0);
  for (const query of ['limit=-1', 'cursor=x', 'channel=pigeon', 'target=x'])
    expect_problem(await server.get(`${path}?${query}`, as_bob), 400, 'invalid_parameter', query);
  expect_problem(await server.get(`${path}?page=2`, as_bob), 400, 'unknown_parameter');
  assert.equal(
    (await server.delete(`/tickets/${bob.ticket_id}/devices/${added.json.device_id}`, as_bob)).status,
    204,
  );
  assert.equal((await server.get(`/tickets/${bob.ticket_id}/devices`, as_bob)).json.devices.length, 0);
});

test('a customer gets order notices on every device, and a disabled channel is reported as off', async (t) => {
  const mirror = await receiver(t);
  const server = await server_for(t, { settings: { 'push.ntfy_url': mirror.url } });
  const fan = await server.customer();
  const add = (body) => server.post('/customers/me/devices', { token: fan, body });
  assert.equal((await add({ platform: 'ntfy', token: 'phone' })).status, 201);
  const tablet = await add({ platform: 'ntfy', token: 'tablet' });
  assert.equal(tablet.status, 201);
  for (const [body, field] of [
    [{ platform: 'fcm', token: 'x' }, 'platform'],
    [{ platform: 'pigeon', token: 'x' }, 'platform'],
    [{ platform: 'ntfy' }, 'token'],
    [{ platform: 'ntfy', token: 'x'.repeat(1025) }, 'token'],
    [{ platform: 'ntfy', token: 'x'.repeat(65) }, 'token'],
    [{ platform: 'ntfy', token: '..' }, 'token'],
    [{ platform: 'ntfy', token: 'x', more: 1 }, 'more'],
  ]) {
    const answer = await add(body);
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.json.errors[0].field, field, answer.text);
  }
  for (const [platform, token] of [
    ['apns', '..'],
    ['fcm', 'a b'],
  ]) {
    const both = await add({ platform, token });
    assert.deepEqual(
      both.json.errors.map(({ field }) => field),
      ['platform', 'token'],
      both.text,
    );
  }
  const event = await server.event(await server.organizer(), { total: 1 });
  await server.join_and_be_admitted(fan, event.id);
  await eventually('a push for each device', () => mirror.got.length >= 2);
  assert.deepEqual(new Set(mirror.got.map((one) => one.path)), new Set(['/phone', '/tablet']));
  assert.equal(
    (await server.delete(`/customers/me/devices/${tablet.json.device_id}`, { token: fan })).status,
    204,
  );
  expect_problem(
    await server.delete(`/customers/me/devices/${tablet.json.device_id}`, { token: fan }),
    404,
    'not_found',
  );
  const page = await server.get('/customers/me/deliveries?limit=1', { token: fan });
  assert.equal(page.json.deliveries.length, 1);
  const rest = await server.get(`/customers/me/deliveries?limit=1&cursor=${page.json.next_cursor}`, {
    token: fan,
  });
  assert.notDeepEqual(rest.json.deliveries[0], page.json.deliveries[0]);
  expect_problem(
    await server.get('/customers/me/deliveries?cursor=x', { token: fan }),
    400,
    'invalid_parameter',
  );
});

test('a device registered by a ticket gets notices of later orders, and a repeated registration is the same device', async (t) => {
  const mirror = await receiver(t);
  const server = await server_for(t, { settings: { 'push.ntfy_url': mirror.url } });
  const fan = await server.customer();
  const event = await server.event(await server.organizer(), { total: 1, price: 1000 });
  const place = (await server.post(`/events/${event.id}/queue`, { token: fan })).json;
  const add = () =>
    server.post(`/tickets/${place.entry_id}/devices`, {
      token: place.ticket_token,
      body: { platform: 'ntfy', token: 'phone' },
    });
  const first = await add();
  assert.equal(first.status, 201, first.text);
  assert.equal((await add()).json.device_id, first.json.device_id);
  const { admission_token } = await server.admitted(fan, event.id);
  await server.buy(fan, event.id, admission_token);
  const log = async () =>
    (await server.get(`/tickets/${place.entry_id}/deliveries`, { token: place.ticket_token })).json
      .deliveries;
  await eventually('the phone hears of the order', async () =>
    (await log()).some(({ topic, state }) => topic === 'order.completed' && state === 'delivered'),
  );
  assert.equal(
    mirror.got.filter(({ headers, body }) => `${headers.title} ${body}`.includes('order is complete')).length,
    1,
  );
});

test('devices, endpoints and pending deliveries survive kill -9', async (t) => {
  let state = 503;
  const hook = await receiver(t, () => ({ status: state }));
  const server = await server_for(t, { settings: here(hook.port) });
  const tenant = await tenant_on(server);
  const endpoint = (await server.post('/webhook-endpoints', { token: tenant.token, body: { url: hook.url } }))
    .json;
  await server.post(`/webhook-endpoints/${endpoint.id}/test`, { token: tenant.token });
  await eventually('a try', () => hook.got.length > 0);
  state = 200;
  const before = hook.got.length;
  await server.restart();
  const { token } = (await server.post('/sessions', { token: tenant.operator })).json;
  await eventually(
    'it was brought',
    async () => {
      const { json } = await server.get(`/webhook-endpoints/${endpoint.id}/deliveries`, { token });
      return json.deliveries[0].state === 'delivered';
    },
    { timeout_ms: 90_000, every_ms: 500 },
  );
  assert.ok(hook.got.length > before);
  assert.equal(hook.got[0].headers['webhook-id'], hook.got.at(-1).headers['webhook-id']);
});
