// SPDX-License-Identifier: Apache-2.0
// Origins behind a waiting room, as in deploy/: nginx's auth_request, HAProxy with Lua, Node and PHP
// middleware, each before a dummy shop. Unadmitted visitors wait, admitted ones enter, no client can forge
// FairQueue's headers, and without FairQueue the shop is closed.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { enter, require_session } from '../../deploy/examples/require-session.mjs';
import { browser_for, person } from './browser.mjs';
import { assert, eventually, free_port, root, server_for, temporary_folder } from './lib.mjs';
import { tenant_on } from './tenant.mjs';

const waiting_url = 'https://queue.example/wait';

/** A queue with capacity one: a visitor inside and a waiting one. */
async function gated(t) {
  const server = await server_for(t);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ name: 'Shop' });
  const inside = await tenant.join_as(queue, 'Zoë');
  const waits = await tenant.join_as(queue, 'bob');
  return { server, queue, inside, waits, server_key: tenant.server };
}

/** The fields of each request to the shop's /fairqueue/enter. */
let entered_with = [];

/** Echoes the request; a visitor from the waiting page gets the cookie. */
async function shop_for(t) {
  entered_with = [];
  const let_in = enter({ to: '/cart?a=1', secure: false });
  const shop = http.createServer((request, response) => {
    if (request.url === '/fairqueue/enter') {
      entered_with.push(request.headers);
      return let_in(request, response);
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ path: request.url, headers: request.headers }));
  });
  await new Promise((listening) => shop.listen(0, '127.0.0.1', listening));
  t.after(() => {
    shop.closeAllConnections();
    shop.close();
  });
  return shop.address().port;
}

/** A file of deploy/ with the names of the test. */
function filled(file, names, folder) {
  let text = fs.readFileSync(path.join(root, 'deploy', file), 'utf8');
  for (const [name, value] of Object.entries(names))
    text = text.replaceAll(new RegExp(`\\b${name}\\b(?!\\w)`, 'g'), value);
  const made = path.join(folder, path.basename(file));
  fs.writeFileSync(made, text);
  return made;
}

async function program(t, file, args, port) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (log += text));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  t.after(async () => {
    child.kill('SIGTERM'); // nginx ends its workers too
    await ended;
    child.stdout.destroy();
    child.stderr.destroy();
  });
  child.on('error', (error) => (log += `${file}: ${error.message}; scripts/setup installs it`));
  await eventually(
    `${file} listens`,
    () => {
      assert.equal(child.exitCode, null, `${file} ended: ${log}`);
      return new Promise((resolve) => {
        const probe = http.get({ host: '127.0.0.1', port, path: '/', agent: false }, (r) =>
          resolve(r.resume() && true),
        );
        probe.on('error', () => resolve(false));
      });
    },
    { timeout_ms: 15_000 },
  ).catch((error) => assert.fail(`${error.message}\n${log}`));
}

const visit = (port, { cookie, headers = {}, target = '/cart?a=1' } = {}) =>
  new Promise((resolve, reject) => {
    const sent = { ...headers, ...(cookie && { cookie: `a=b; fairqueue_session=${cookie}; c=d` }) };
    http
      .get({ host: '127.0.0.1', port, path: target, headers: sent, agent: false }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => (text += part));
        answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
      })
      .on('error', reject);
  });

/** Headers of the gates about the visitor. */
const spoken_names = ['Subject', 'Ticket', 'Queue', 'Session-Expires-At'].map(
  (name) => `X-FairQueue-${name}`,
);

/** Checks for every gate. `refused`: its answer to unadmitted visitors. */
async function check_gate(
  { server, inside, waits, server_key },
  port,
  { refused, asks_at_most = 3, with_all = false },
) {
  // With underscores, CGI-like frameworks read the same name.
  const others = ['X-FairQueue-Anything', 'X_FairQueue_Subject', 'X-FairQueue_Ticket', 'x_fairqueue_x'];
  const forged = [...spoken_names, ...others].map((name) => [name, 'forged']);
  const granted = await visit(port, {
    cookie: inside.session_token,
    headers: Object.fromEntries(with_all ? forged : forged.slice(0, 4)),
  });
  assert.equal(granted.status, 200, granted.text);
  const seen = JSON.parse(granted.text);
  assert.equal(seen.path, '/cart?a=1');
  if (seen.headers) {
    assert.equal(
      decodeURIComponent(seen.headers['x-fairqueue-subject']),
      'Zoë',
      'the name is ours, not the visitor’s',
    );
    assert.ok(!Object.values(seen.headers).includes('forged'), JSON.stringify(seen.headers));
  }
  for (const [what, cookie] of [
    ['no session', undefined],
    ['nonsense', 'x'],
    ['a ticket id', waits.ticket_id],
    ['a key', server_key],
    ['a forged session', inside.session_token.replace(/.(?=..$)/, (c) => (c === 'A' ? 'B' : 'A'))],
  ])
    refused(await visit(port, { cookie }), what);

  const checks = async () =>
    Number(
      /fairqueue_access_checks_total\{result="granted"\} (\d+)/.exec(
        (await server.get('/metrics', { admin: true })).text,
      )[1],
    );
  const before = await checks();
  for (let i = 0; i < 30; ++i)
    assert.equal((await visit(port, { cookie: inside.session_token })).status, 200);
  assert.ok(
    (await checks()) - before <= asks_at_most,
    `asked ${(await checks()) - before} times for 30 visits`,
  );

  // The session ends: after the five seconds of I15 every thread of the gate refuses, each with its own
  // cache.
  assert.equal((await server.delete('/access', { token: inside.session_token })).status, 204);
  await new Promise((passed) => setTimeout(passed, 5000));
  for (let i = 0; i < 10; ++i)
    refused(await visit(port, { cookie: inside.session_token }), 'an ended session');
  const next = (await server.get(`/tickets/${waits.ticket_id}`, { token: waits.ticket_token })).json;
  assert.equal((await visit(port, { cookie: next.session_token })).status, 200, 'the next one is let in');

  // Without FairQueue no visitor enters unchecked.
  await server.kill();
  await eventually('closed', async () => (await visit(port, { cookie: next.session_token })).status === 503, {
    timeout_ms: 8000,
  });
}

const to_waiting_page = (answer, what) => {
  assert.equal(answer.status, 303, `${what}: ${answer.text}`);
  assert.ok(answer.headers.location.startsWith(`${waiting_url}?reason=`), answer.headers.location);
  assert.match(answer.headers['cache-control'], /no-store/);
};

/** An nginx before a shop, as in deploy/. */
async function nginx_for(t, { server, queue, waiting, port }) {
  const shop = await shop_for(t);
  const folder = temporary_folder();
  const conf = filled(
    'nginx/fairqueue-gate.conf',
    {
      CACHE_DIR: `${folder}/cache`,
      FAIRQUEUE: `127.0.0.1:${server.port}`,
      LISTEN: `127.0.0.1:${port}`,
      SHOP: `127.0.0.1:${shop}`,
      QUEUE_ID: queue.id,
      WAITING_URL: waiting,
    },
    folder,
  );
  const main = path.join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((k) => `${k}_temp_path ${folder}/${k};`)
    .join(' ');
  fs.writeFileSync(
    main,
    `${process.getuid() === 0 ? 'user root;' : ''} daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr;
     events {} http { access_log off; ${temporary} include ${conf}; }`,
  );
  await program(t, 'nginx', ['-p', folder, '-c', main], port);
}

test('nginx with auth_request', async (t) => {
  const gate = await gated(t);
  const port = await free_port();
  await nginx_for(t, { ...gate, waiting: waiting_url, port });
  await check_enter(port, gate.inside.session_token);
  await check_gate(gate, port, { refused: to_waiting_page });
});

test('a visitor in a browser: from the shop to our waiting page and back into the shop', async (t) => {
  const port = await free_port();
  const folder = temporary_folder();
  const looks = path.join(folder, 'looks.toml');
  const shop = `http://127.0.0.1:${port}`;
  fs.writeFileSync(
    looks,
    `[stadium]\nname = "Stadium"\nhome_url = "${shop}"\nreturn_url = "${shop}/fairqueue/enter"\n`,
  );
  const server = await server_for(t, { settings: { 'pages.branding': looks } });
  const tenant = await tenant_on(server, 'stadium');
  const queue = await tenant.queue({ name: 'Shop', mode: 'operator', concurrency: 10 });
  await nginx_for(t, { server, queue, waiting: `${server.url}/wait/${queue.id}`, port });
  const page = await (await person(t, await browser_for())).newPage();
  await page.goto(shop);
  assert.equal(new URL(page.url()).origin, server.url, 'sent to wait');
  await page.getByRole('button', { name: 'Join the line' }).click();
  await page.locator('[data-ahead]').getByText('You are next').waitFor();
  await page.goto(shop);
  await page.locator('[data-ahead]').getByText('You are next').waitFor(); // going back does not enter
  const called = await server.post(`/queues/${queue.id}/advance`, {
    token: tenant.token,
    body: { count: 1 },
  });
  assert.equal(called.json.admitted, 1, called.text);
  await page.getByRole('button', { name: 'Go in' }).click();
  await page.waitForURL(`${shop}/cart?a=1`);
  const inside = JSON.parse(await page.locator('body').textContent());
  assert.equal(inside.headers['x-fairqueue-queue'], queue.id);
  const revoked = await server.post(`/queues/${queue.id}/revocations`, {
    token: tenant.token,
    body: { ticket_id: inside.headers['x-fairqueue-ticket'] },
  });
  assert.equal(revoked.status, 200, revoked.text);
  await eventually(
    'sent away again',
    async () => (await page.goto(shop)) && new URL(page.url()).origin === server.url,
    { timeout_ms: 6000, every_ms: 300 },
  );
  await page.getByText('Your place was withdrawn by the organizer.').waitFor();
});

/** The request of the waiting page's form. */
const hand_over = async (port, token) =>
  fetch(`http://127.0.0.1:${port}/fairqueue/enter`, {
    method: 'POST',
    redirect: 'manual',
    headers: Object.fromEntries(spoken_names.map((name) => [name, 'forged'])),
    body: new URLSearchParams({ session_token: token, queue_id: 'x' }),
  });

async function check_enter(port, token, { is_behind_gate = true } = {}) {
  const entered = await hand_over(port, token);
  if (is_behind_gate)
    assert.ok(
      entered_with.length > 0 && entered_with.every((headers) => !Object.values(headers).includes('forged')),
      'nobody speaks in our name there either',
    );
  assert.equal(entered.status, 303);
  assert.match(
    entered.headers.get('set-cookie'),
    new RegExp(`^fairqueue_session=${token};.*HttpOnly.*SameSite=Lax`, 'i'),
  );
  for (const bad of ['', 'a b', 'a;b', 'a\r\nb', 'x'.repeat(201)])
    assert.equal((await hand_over(port, bad)).status, 400, JSON.stringify(bad));
}

test('HAProxy with Lua', async (t) => {
  const gate = await gated(t);
  const shop = await shop_for(t);
  const folder = temporary_folder();
  const port = await free_port();
  const cfg = filled(
    'haproxy/haproxy.cfg',
    {
      LUA_FILE: path.join(root, 'deploy/haproxy/fairqueue.lua'),
      FAIRQUEUE: `127.0.0.1:${gate.server.port}`,
      LISTEN: `127.0.0.1:${port}`,
      SHOP: `127.0.0.1:${shop}`,
      QUEUE_ID: gate.queue.id,
      WAITING_URL: waiting_url,
    },
    folder,
  );
  await program(t, 'haproxy', ['-db', '-f', cfg], port);
  await check_enter(port, gate.inside.session_token);
  const asks_at_most = 6; // answers are cached per thread
  await check_gate(gate, port, { refused: to_waiting_page, asks_at_most, with_all: true });
});

const plain_refusal = (answer, what) => {
  assert.equal(answer.status, what === 'an ended session' ? 410 : 401, `${what}: ${answer.text}`);
  assert.match(answer.headers['cache-control'], /no-store/);
};

test('Node middleware', async (t) => {
  const gate = await gated(t);
  const middleware = require_session({
    url: gate.server.url,
    queue_id: gate.queue.id,
    server_key: gate.server_key,
  });
  const origin = http.createServer((request, response) => {
    middleware(request, response, () =>
      response.end(
        JSON.stringify({
          path: request.url,
          headers: { 'x-fairqueue-subject': encodeURIComponent(request.fairqueue.subject) },
        }),
      ),
    );
  });
  await new Promise((listening) => origin.listen(0, '127.0.0.1', listening));
  t.after(() => {
    origin.closeAllConnections();
    origin.close();
  });
  await check_gate(gate, origin.address().port, { refused: plain_refusal });
  assert.ok(
    middleware.counts.granted > 30 && middleware.counts.refused >= 6 && middleware.counts.unavailable >= 1,
  );
});

test('Node middleware keeps and asks about no token of any length', async () => {
  const middleware = require_session({ url: `http://127.0.0.1:${await free_port()}`, queue_id: 'q' });
  const statuses = [];
  for (const length of [200, 201])
    await middleware(
      { headers: { authorization: `Bearer ${'a'.repeat(length)}` } },
      {
        writeHead: (status) => statuses.push(status),
        end: () => {},
      },
    );
  assert.deepEqual(statuses, [503, 401]);
});

test('PHP middleware', async (t) => {
  const gate = await gated(t);
  const folder = temporary_folder();
  const port = await free_port();
  const index = path.join(folder, 'index.php');
  fs.writeFileSync(
    index,
    `<?php require '${path.join(root, 'deploy/examples/RequireSession.php')}';
     if ($_SERVER['REQUEST_URI'] === '/fairqueue/enter') return RequireSession::enter('/', false);
     $other = $_SERVER['REQUEST_URI'] === '/other';
     $gate = new RequireSession('${gate.server.url}', $other ? '${crypto.randomUUID()}' : '${gate.queue.id}', folder: '${folder}');
     if ($_SERVER['REQUEST_URI'] === '/counts') { echo json_encode($gate->counts()); return; }
     $session = $gate->check();
     if ($session !== null) echo json_encode(['path' => $_SERVER['REQUEST_URI'], 'headers' => ['x-fairqueue-subject' => rawurlencode($session['subject'] ?? '')]]);`,
  );
  await program(t, 'php', ['-S', `127.0.0.1:${port}`, '-t', folder, index], port);
  await check_enter(port, gate.inside.session_token, { is_behind_gate: false }); // the shop itself
  const cookie = gate.inside.session_token;
  assert.equal((await visit(port, { cookie })).status, 200);
  assert.equal(
    (await visit(port, { cookie, target: '/other' })).status,
    401,
    'kept answers are of one queue',
  );
  await check_gate(gate, port, { refused: plain_refusal });
  const counts = JSON.parse((await visit(port, { target: '/counts' })).text);
  assert.ok(counts.granted > 30 && counts.refused >= 6 && counts.unavailable >= 1, JSON.stringify(counts));
  assert.deepEqual(fs.readdirSync(folder).sort(), ['fairqueue-sessions', 'index.php'], 'one file for all');
  assert.ok(fs.statSync(path.join(folder, 'fairqueue-sessions')).size <= 4097 * 1024);
});
