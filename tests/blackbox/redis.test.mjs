// SPDX-License-Identifier: Apache-2.0
// Ways to the cache besides redis://: TLS with verified certificates, and Sentinels, whose failover the
// mirror follows. No join is refused meanwhile.
import test from 'node:test';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { Authority } from '../support/certificates.mjs';
import { assert, eventually, fairqueue, free_port, run, server_for, temporary_folder } from './lib.mjs';
import { tenant_on } from './tenant.mjs';

const password = 'k1-of-the-cache';

/** A redis-server with these lines as its configuration, which it may rewrite. */
async function redis_with(t, lines, ...options) {
  const folder = temporary_folder();
  const file = path.join(folder, 'redis.conf');
  fs.writeFileSync(file, ['bind 127.0.0.1', `dir ${folder}`, ...lines, ''].join('\n'));
  const child = spawn('redis-server', [file, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  t.after(kill);
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (log += text));
  await eventually('Redis listens', () => {
    assert.equal(child.exitCode, null, log);
    return /Ready to accept connections|Sentinel ID is/.test(log);
  });
  return { kill, folder };
}

async function ask(port, ...words) {
  const secret = ['-e', '--no-auth-warning', '-a', password];
  const done = await run('redis-cli', [...secret, '-p', String(port), ...words]);
  assert.equal(done.code, 0, `${words.join(' ')}: ${done.out}${done.err}`);
  return done.out.trim();
}

/** A server with a queue and a visitor in it. */
async function waiting_room(t, settings) {
  const server = await server_for(t, { settings });
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  const join = (subject) => tenant.join_as(queue, subject);
  await join('first');
  return { server, queue, join };
}

const steps_of = async (server) => {
  const { text } = await server.get('/metrics', { admin: true });
  return Number(/^fairqueue_cache_steps_total (\d+)$/m.exec(text)[1]);
};

test('a cache with TLS needs a valid certificate for its name', async (t) => {
  const folder = temporary_folder();
  const authority = new Authority(folder);
  const { certificate, key } = authority.issue('redis', { names: ['DNS:localhost'] });
  const port = await free_port();
  const tls = [`cert-file ${certificate}`, `key-file ${key}`, `ca-cert-file ${authority.file}`];
  await redis_with(t, [
    'port 0',
    `tls-port ${port}`,
    'tls-auth-clients no',
    `requirepass ${password}`,
    ...tls.map((line) => `tls-${line}`),
  ]);
  const url = (host) => `rediss://:${password}@${host}:${port}/0`;
  const good = { 'cache.url': url('localhost'), 'cache.ca_file': authority.file };

  const { server } = await waiting_room(t, good);
  await eventually('steps arrive', async () => (await steps_of(server)) > 0);
  const keys = await run('redis-cli', [
    ...['--tls', '--cacert', authority.file, '-h', 'localhost', '-p', String(port)],
    ...['--no-auth-warning', '-a', password, 'KEYS', 'fairqueue:{*}:head'],
  ]);
  assert.match(keys.out, /^fairqueue:/, keys.err);

  for (const [settings, reason] of [
    [{ ...good, 'cache.url': url('127.0.0.1') }, /its certificate is refused: IP address mismatch/],
    [{ 'cache.url': url('localhost') }, /its certificate is refused: self-signed certificate/],
    [{ 'cache.url': `redis://:${password}@localhost:${port}` }, /the cache is away/],
  ]) {
    const other = await waiting_room(t, settings);
    await eventually('the reason is in the log', () => reason.test(other.server.log));
    assert.ok(!other.server.log.includes(password));
    await other.join('second');
    assert.equal(await steps_of(other.server), 0);
  }

  const none = await run(fairqueue, [
    ...['serve', '--data_dir', temporary_folder(), '--cache.url', url('localhost')],
    ...['--cache.ca_file', path.join(folder, 'missing.pem'), '--http.listen', '127.0.0.1:0'],
  ]);
  assert.notEqual(none.code, 0);
  assert.match(none.out + none.err, /cache\.ca_file/);
});

/** A Sentinel that was cut off: names the server at `port` for ever. */
async function stuck_sentinel(t, port) {
  const answer = `-ERR no password is set\r\n*2\r\n$9\r\n127.0.0.1\r\n$${`${port}`.length}\r\n${port}\r\n`;
  const sentinel = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (words) => words.includes('get-master-addr-by-name') && socket.write(answer));
  });
  await new Promise((listens) => sentinel.listen(0, '127.0.0.1', listens));
  t.after(() => sentinel.close());
  return sentinel.address().port;
}

test('Sentinels name the primary, and the mirror follows their failover', async (t) => {
  const [first, second, watch, dead] = await Promise.all([1, 2, 3, 4].map(free_port));
  const login = [`requirepass ${password}`, `masterauth ${password}`];
  const primary = await redis_with(t, [`port ${first}`, ...login]);
  await redis_with(t, [
    `port ${second}`,
    ...login,
    `replicaof 127.0.0.1 ${first}`,
    'repl-diskless-sync-delay 0',
  ]);
  await eventually('a replica', async () =>
    (await ask(second, 'INFO', 'replication')).includes('master_link_status:up'),
  );
  await redis_with(
    t,
    [
      `port ${watch}`,
      `sentinel monitor tickets 127.0.0.1 ${first} 1`,
      `sentinel auth-pass tickets ${password}`,
      'sentinel down-after-milliseconds tickets 2000', // so that it does not take a short stall for its end
      'sentinel failover-timeout tickets 3000',
    ],
    '--sentinel',
  );
  const ask_sentinel = async (...words) => (await run('redis-cli', ['-p', String(watch), ...words])).out;
  await eventually('the Sentinel knows the replica', async () =>
    (await ask_sentinel('SENTINEL', 'REPLICAS', 'tickets')).includes(String(second)),
  );

  const stuck = await stuck_sentinel(t, first);
  const sentinels = [dead, stuck, watch].map((port) => `127.0.0.1:${port}`).join(',');
  const { server, queue, join } = await waiting_room(t, {
    'cache.url': `redis-sentinel://:${password}@${sentinels}/tickets/0`,
  });
  const head = `fairqueue:{${queue.id}}:head`;
  await eventually('a mirror', async () => (await ask(first, 'EXISTS', head)) === '1');
  const steps = await steps_of(server);

  await primary.kill();
  for (let i = 0; i < 5; ++i) await join(`fan ${i}`);
  const of_sentinel = { timeout_ms: 60_000 }; // after a stall of its own it trusts nothing for 30 s
  await eventually(
    'the failover',
    async () => {
      // It closes its connections as it changes its role.
      const role = await ask(second, 'ROLE').catch(() => '');
      return role.startsWith('master');
    },
    of_sentinel,
  );
  await eventually('the mirror is at the new primary', async () => {
    assert.ok(server.is_running);
    return (await steps_of(server)) > steps && /the cache is in use again/.test(server.log);
  });
  await join('last');
  assert.equal(await ask(second, 'HGET', head, 'ready'), '1');

  const unknown = await waiting_room(t, { 'cache.url': `redis-sentinel://127.0.0.1:${watch}/stadium` });
  await eventually('the reason is in the log', () =>
    /no Sentinel names a primary; the last: redis at 127.0.0.1:\d+: this Sentinel does not know stadium/.test(
      unknown.server.log,
    ),
  );
});
