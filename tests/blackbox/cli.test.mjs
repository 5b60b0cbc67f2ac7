// SPDX-License-Identifier: Apache-2.0
// The command line: configuration, tokens, organizers, migrations, health, and refusals.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import {
  assert,
  eventually,
  fairqueue,
  fairqueue_load,
  free_port,
  run,
  Server,
  server_for,
  temporary_folder,
} from './lib.mjs';

const call = (args, options) => run(fairqueue, args, options);
const good_password = 'a password that is long enough';

test('help, version, unknown commands and options', async () => {
  const help = await call(['--help']);
  assert.equal(help.code, 0);
  for (const command of [
    'serve',
    'migrate',
    'check-config',
    'print-config',
    'token',
    'organizer',
    'healthcheck',
  ])
    assert.ok(help.out.includes(command), `--help does not name ${command}`);
  assert.match((await call(['--version'])).out, /^\S*\d+\.\d+\.\d+/);
  assert.equal((await call(['serve', '--help'])).code, 0);
  for (const args of [
    [],
    ['nonsense'],
    ['serve', '--nonsense'],
    ['serve', '--http.listn', '1'],
    ['token', '--kind', 'admin', '--data_dir', temporary_folder()],
    ['token', '--count', '0', '--data_dir', temporary_folder()],
    ['token', '--count', 'x'],
    ['organizer'],
    ['organizer', 'add'],
    ['migrate', 'sideways'],
  ]) {
    const end = await call(args, { cwd: temporary_folder() });
    assert.notEqual(end.code, 0, `fairqueue ${args.join(' ')} succeeded`);
    assert.ok((end.err + end.out).length > 0, `fairqueue ${args.join(' ')} said nothing`);
    assert.equal(end.signal, null);
  }
  assert.equal((await run(fairqueue_load, ['--nonsense'])).code, 2);
});

test('--help shows what people need first, --help-all everything', async () => {
  const help = (await call(['--help'])).out;
  const [, first, more] = help.split(/\n(?:More c|C)ommands:\n/);
  const named = (text) => [...text.matchAll(/^  ([a-z-]+) /gm)].map((match) => match[1]);
  assert.deepEqual(named(first), ['serve', 'check-config', 'organizer', 'token', 'migrate']);
  assert.deepEqual(named(more).sort(), [
    'admin',
    'apikey',
    'cluster',
    'customer',
    'healthcheck',
    'keys',
    'print-config',
    'tenant',
  ]);
  assert.ok(help.split('\n').length < 30, 'a line for each command');
  const flags = (text) => [...text.matchAll(/^  (?:-\w,)?--([a-z][\w.-]*)/gm)].map((match) => match[1]);
  const own = ['help', 'help-all', 'config', 'demo'];
  const short = flags((await call(['serve', '--help'])).out).filter((flag) => !own.includes(flag));
  assert.equal(short.length, 15, short.join(' '));
  const all = (await call(['serve', '--help-all'])).out;
  for (const flag of [...short, 'rate_limits.customer_requests_per_minute', 'ledger.url_file'])
    assert.ok(flags(all).includes(flag), flag);
  for (const group of ['General', '[http]', '[ledger]', '[rate_limits]'])
    assert.ok(all.includes(`\n${group}:\n`), group);
  const token = flags((await call(['token', '--help'])).out);
  assert.deepEqual(token.sort(), [
    'config',
    'count',
    'data_dir',
    'help',
    'help-all',
    'kind',
    'subject',
    'ttl',
  ]);
  assert.match((await call(['--help-all'])).out, /--password-file/);
});

test('an option of an earlier release is refused with what it became', async () => {
  const folder = temporary_folder();
  const old = await call(['serve', '--tokens.customer-ttl', '1h'], {
    cwd: folder,
    env: { FAIRQUEUE_OTP_GUESSES: '3' },
  });
  assert.equal(old.code, 2);
  assert.match(old.err, /tokens\.customer_ttl is not an option any more: use tokens\.ttl/);
  assert.match(
    old.err,
    /otp\.guesses is not an option any more: it is 5 \(environment FAIRQUEUE_OTP_GUESSES\)/,
  );
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('check-config names every problem at once', async () => {
  const folder = temporary_folder();
  const file = path.join(folder, 'fairqueue.toml');
  fs.writeFileSync(file, '[http]\nlisten = "127.0.0.1"\nbody_limt = "1KiB"\n[queue]\nbatch_size = 0\n');
  const bad = await call(['check-config', '--config', file, '--queue.session_ttl', 'soon'], {
    env: { FAIRQUEUE_CLAIMS_TTL: '99 years', FAIRQUEUE_NONSENSE: '1' },
    cwd: folder,
  });
  assert.notEqual(bad.code, 0);
  for (const word of [
    'http.listen',
    'body_limt',
    'body_limit',
    'queue.batch_size',
    'queue.session_ttl',
    'claims.ttl',
    'FAIRQUEUE_NONSENSE',
    'line 2',
  ])
    assert.ok(bad.err.includes(word), `no "${word}" in:\n${bad.err}`);
  const good = await call(['check-config'], { cwd: folder });
  assert.equal(good.code, 0, good.err);
  assert.deepEqual(fs.readdirSync(folder), ['fairqueue.toml'], 'checking creates nothing');
  const relation = await call(['check-config', '--queue.session_ttl', '5m'], { cwd: folder });
  assert.notEqual(relation.code, 0, 'claim window + claim ttl must fit into the session');
  assert.notEqual(
    (await call(['check-config', '--config', path.join(folder, 'absent.toml')], { cwd: folder })).code,
    0,
  );
  const production = await call(
    ['check-config', '--environment', 'production', '--gateway.sandbox', 'true'],
    { cwd: folder },
  );
  assert.notEqual(production.code, 0);
  assert.match(production.err, /gateway\.sandbox/);
  assert.match(production.err, /http\.public_url/);
  const stripe = { FAIRQUEUE_STRIPE_SECRET_KEY: 'sk_live_1', FAIRQUEUE_STRIPE_WEBHOOK_SECRETS: 'whsec_1' };
  assert.equal((await call(['check-config'], { cwd: folder, env: stripe })).code, 0, 'a real gateway alone');
  const beside = await call(['serve', '--demo', '--data_dir', folder], { cwd: folder, env: stripe });
  assert.equal(beside.code, 2, 'the sandbox beside a real gateway does not start');
  assert.match(beside.err, /gateway\.sandbox must be off beside/);
  const refused = await call(['serve', '--queue.batch_size', '0'], { cwd: folder });
  assert.notEqual(refused.code, 0, 'a bad configuration does not start');
  assert.match(refused.err + refused.out, /queue\.batch_size/);
});

test('print-config: file < environment < flag, with the source of each', async () => {
  const folder = temporary_folder();
  const file = path.join(folder, 'f.toml');
  fs.writeFileSync(file, '[queue]\nbatch_size = 7\nadmission_interval = "7s"\n[claims]\nttl = "7m"\n');
  const { code, out, err } = await call(['print-config', '--config', file, '--queue.batch_size', '9'], {
    cwd: folder,
    env: { FAIRQUEUE_QUEUE_BATCH_SIZE: '8', FAIRQUEUE_QUEUE_ADMISSION_INTERVAL: '8s' },
  });
  assert.equal(code, 0, err);
  assert.match(out, /batch_size = 9/);
  assert.match(out, /admission_interval = "8s"/);
  assert.match(out, /ttl = "7m"/);
  assert.match(out, /flag/);
  assert.match(out, /environment/);
  const again = path.join(folder, 'again.toml');
  fs.writeFileSync(again, out);
  assert.equal(
    (await call(['check-config', '--config', again], { cwd: folder })).code,
    0,
    'what it prints can be read',
  );
});

test('token: the requested number, of new subjects or of one', async (t) => {
  const server = await server_for(t);
  const { code, out } = await call([
    'token',
    '--kind',
    'customer',
    '--count',
    '500',
    '--data_dir',
    server.data_dir,
  ]);
  assert.equal(code, 0);
  const tokens = out.trim().split('\n');
  assert.equal(tokens.length, 500);
  const claims = tokens.map((token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()));
  assert.equal(new Set(claims.map((c) => c.sub)).size, 500);
  const added = await call(
    ['organizer', 'add', '--email', 'token@example.com', '--password-stdin', '--data_dir', server.data_dir],
    { input: `${good_password}\n` },
  );
  assert.equal(added.code, 0, added.err);
  const subject = added.out.trim();
  const one = await call([
    'token',
    '--kind',
    'organizer',
    '--subject',
    subject,
    '--ttl',
    '1h',
    '--data_dir',
    server.data_dir,
  ]);
  assert.equal(one.code, 0, one.err);
  const claim = JSON.parse(Buffer.from(one.out.trim().split('.')[1], 'base64url').toString());
  assert.equal(claim.sub, subject);
  assert.equal(claim.aud, 'fq-organizer');
  assert.equal(claim.exp - claim.iat, 3600);
  assert.equal((await server.get('/events?mine=true', { token: one.out.trim() })).status, 200);
  assert.notEqual(
    (await call(['token', '--kind', 'customer', '--subject', 'me', '--data_dir', server.data_dir])).code,
    0,
  );
});

test('organizer add: with a running server and without one', async (t) => {
  const data_dir = temporary_folder();
  const add = (email, password = good_password, more = []) =>
    call(['organizer', 'add', '--email', email, '--password-stdin', '--data_dir', data_dir, ...more], {
      input: `${password}\n`,
    });
  const before_start = await add('offline@example.com');
  assert.equal(before_start.code, 0, before_start.err);
  const server = await server_for(t, { data_dir });
  const login = (email, password = good_password) =>
    server.post('/auth/organizer/login', { body: { email, password } });
  const offline = await login('offline@example.com');
  assert.equal(offline.status, 200, offline.text);
  assert.ok(before_start.out.includes(offline.json.organizer_id));
  const online = await add('online@example.com');
  assert.equal(online.code, 0, online.err);
  assert.equal((await login('online@example.com')).status, 200, 'at once');
  assert.notEqual((await add('online@example.com')).code, 0, 'taken');
  assert.notEqual((await add('not an address')).code, 0);
  assert.notEqual((await add('short@example.com', 'short')).code, 0);
  assert.notEqual((await add('empty@example.com', '')).code, 0);
  const file = path.join(temporary_folder(), 'password');
  fs.writeFileSync(file, `${good_password} from a file\n`);
  const from_file = await call([
    'organizer',
    'add',
    '--email',
    'file@example.com',
    '--password-file',
    file,
    '--data_dir',
    data_dir,
  ]);
  assert.equal(from_file.code, 0, from_file.err);
  assert.equal((await login('file@example.com', `${good_password} from a file`)).status, 200);
  const socket = fs.statSync(path.join(data_dir, 'control.sock'));
  assert.ok(socket.isSocket());
  assert.equal(socket.mode & 0o777, 0o600);
  await server.restart();
  {
    const answer = await login('online@example.com');
    assert.equal(answer.status, 200, answer.text);
  }
  await server.kill();
  const stale = await add('stale@example.com');
  assert.equal(stale.code, 0, `a socket left by a crash is no obstacle: ${stale.err}`);
  await server.launch();
  {
    const answer = await login('stale@example.com');
    assert.equal(answer.status, 200, answer.text + server.log.slice(-1500));
  }
});

test('migrate: status, --dry-run, up; a second run changes nothing', async () => {
  const data_dir = temporary_folder();
  const migrate = (...args) => call(['migrate', ...args, '--data_dir', data_dir]);
  const pending = await migrate('status');
  assert.equal(pending.code, 0, pending.err);
  assert.match(pending.out, /pending/);
  const dry = await migrate('--dry-run');
  assert.equal(dry.code, 0, dry.err);
  assert.match((await migrate('status')).out, /pending/, 'a dry run changes nothing');
  const up = await migrate('up');
  assert.equal(up.code, 0, up.err);
  assert.ok(!/pending/.test((await migrate('status')).out));
  assert.equal((await migrate('up')).code, 0);
  const server = await Server.start({ data_dir });
  assert.equal((await migrate('status')).code, 0, 'status beside a running server');
  await server.stop();
});

test('healthcheck', async (t) => {
  const server = await server_for(t);
  assert.equal((await call(['healthcheck', '--url', server.url])).code, 0);
  assert.equal((await call(['healthcheck', '--http.listen', `127.0.0.1:${server.port}`])).code, 0);
  await server.stop();
  assert.equal((await call(['healthcheck', '--url', server.url])).code, 1);
  assert.equal((await call(['healthcheck', '--url', `http://127.0.0.1:${await free_port()}`])).code, 1);
});

test('a second server on the same data folder is refused and does not disturb the first', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  const fan = await server.customer();
  await server.join(fan, event);
  const second = await call(
    [
      'serve',
      '--http.listen',
      `127.0.0.1:${await free_port()}`,
      '--http.admin_listen',
      `127.0.0.1:${await free_port()}`,
      '--data_dir',
      server.data_dir,
    ],
    { timeout_ms: 20_000 },
  );
  assert.notEqual(second.code, 0);
  assert.equal(second.signal, null, 'it ends by itself, without a crash');
  assert.ok((second.out + second.err).length > 0, 'and says why');
  assert.equal((await server.position(fan, event)).queue_number, 1);
  const added = await call(
    ['organizer', 'add', '--email', 'still@example.com', '--password-stdin', '--data_dir', server.data_dir],
    { input: good_password },
  );
  assert.equal(added.code, 0, `the control socket still works: ${added.err}`);
});

test('a port in use is refused with a message', async (t) => {
  const server = await server_for(t);
  const second = await call(
    [
      'serve',
      '--http.listen',
      `127.0.0.1:${server.port}`,
      '--http.admin_listen',
      `127.0.0.1:${await free_port()}`,
      '--data_dir',
      temporary_folder(),
    ],
    { timeout_ms: 20_000 },
  );
  assert.notEqual(second.code, 0);
  assert.equal(second.signal, null);
  assert.match(second.out + second.err, /in use|bind|listen/i);
});

test('a data folder: private keys, and refusal of keys open to others', async (t) => {
  const server = await server_for(t);
  const keys = path.join(server.data_dir, 'keys');
  for (const name of ['organizer.jwk', 'customer.jwk', 'ticket.jwk', 'session.key', 'sandbox.key'])
    assert.equal(fs.statSync(path.join(keys, name)).mode & 0o777, 0o600, name);
  assert.equal(fs.statSync(server.data_dir).mode & 0o077, 0, 'the folder is private');
  await server.stop();
  fs.chmodSync(path.join(keys, 'customer.jwk'), 0o644);
  const end = await call(
    ['serve', '--http.listen', `127.0.0.1:${server.port}`, '--data_dir', server.data_dir],
    { timeout_ms: 20_000 },
  );
  assert.notEqual(end.code, 0);
  assert.match(end.out + end.err, /customer\.jwk/);
});

test('serve --demo makes one demo sale for crowds and one for people, once', async (t) => {
  const server = await server_for(t, { demo: true });
  const file = path.join(server.data_dir, 'demo.json');
  const demo = JSON.parse(fs.readFileSync(file, 'utf8'));
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  const event = await server.get(`/events/${demo.event_id}`);
  assert.equal(event.status, 200, event.text);
  assert.equal(event.json.status, 'ACTIVE');
  assert.equal(event.json.total_inventory, 1000);
  const login = await server.post('/auth/organizer/login', {
    body: { email: demo.organizer_email, password: demo.organizer_password },
  });
  assert.equal(login.status, 200, login.text);
  assert.equal(demo.base_url, server.url);
  await server.stop();
  await server.launch();
  assert.deepEqual(JSON.parse(fs.readFileSync(file, 'utf8')).event_id, demo.event_id);
  const all = (await server.get('/events')).json.items.map((item) => item.id);
  assert.deepEqual(all.sort(), [demo.event_id, demo.shop_event_id].sort());
});

test('logs are JSON lines', async (t) => {
  const server = await server_for(t);
  await server.stop();
  const lines = server.log
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  assert.ok(lines.length >= 2, server.log);
  for (const line of lines) {
    const entry = JSON.parse(line);
    assert.ok(entry.level !== undefined, line);
    assert.ok(
      Object.values(entry).some((value) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(String(value))),
      line,
    );
  }
});

test('metrics and health on the admin listener', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  const fan = await server.customer();
  await server.join(fan, event);
  const metrics = await server.get('/metrics', { admin: true });
  assert.equal(metrics.status, 200);
  assert.match(metrics.headers['content-type'], /^text\/plain/);
  const names = new Set();
  for (const line of metrics.text.trim().split('\n')) {
    if (line.startsWith('#')) continue;
    assert.match(line, /^[a-z_][a-zA-Z0-9_]*(\{([a-z_]+="[^"]*",?)*\})? -?[0-9.e+-]+(Inf|NaN)?$/, line);
    names.add(/^[a-zA-Z0-9_]+/.exec(line)[0]);
  }
  assert.ok(
    [...names].some((name) => name.startsWith('fairqueue_')),
    [...names].join(' '),
  );
  const ids = new Set(metrics.text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g));
  assert.deepEqual([...ids], [event], 'no ids of persons or tickets in labels');
  assert.equal((await server.get('/livez', { admin: true })).status, 200);
  assert.equal((await server.get('/metrics')).status, 404, 'not on the public listener');
  assert.equal(
    (await server.get('/events', { admin: true })).status,
    404,
    'and no public routes on the admin one',
  );
});

test('under a base path', async (t) => {
  const server = await server_for(t, { settings: { 'http.base_path': '/shop' }, wait: false });
  await eventually(
    'ready',
    async () => (await server.get('/shop/readyz').catch(() => null))?.status === 200,
    { timeout_ms: 20_000 },
  );
  assert.equal((await server.get('/shop/events')).status, 200);
  assert.equal((await server.get('/events')).status, 404);
  assert.equal((await server.get('/shopping/events')).status, 404);
  assert.equal((await call(['healthcheck', '--url', `${server.url}/shop`])).code, 0);
  await server.stop();
});
