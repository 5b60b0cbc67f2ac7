// SPDX-License-Identifier: Apache-2.0
// Notifications to the service manager (systemd, Type=notify with a watchdog), received by a socket in the
// place of systemd.
import test from 'node:test';
import path from 'node:path';
import readline from 'node:readline';
import { spawn } from 'node:child_process';
import {
  assert,
  clean_environment,
  eventually,
  patience,
  root,
  run,
  server_for,
  Server,
  sleep,
  temporary_folder,
} from './lib.mjs';

const support = (name) => path.join(root, 'tests/support', name);
const watchdog_ms = 2000 * patience;

/** Receives notifications: `told` has each as {at, lines}. */
async function notify_socket(t) {
  const file = path.join(temporary_folder(), 'notify');
  const child = spawn('python3', [support('notify_socket.py'), file], {
    env: clean_environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const told = [];
  readline.createInterface({ input: child.stdout }).on('line', (line) => told.push(JSON.parse(line)));
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  t.after(() => {
    kill();
    process.off('exit', kill);
  });
  await eventually('somebody listens', () => told.length > 0);
  const when = (line) => told.filter(({ lines }) => lines.includes(line)).map(({ at }) => at);
  return { told, when, env: { NOTIFY_SOCKET: file, WATCHDOG_USEC: String(watchdog_ms * 1000) } };
}

test('ready when it serves, alive within the watchdog, reloading, stopping', async (t) => {
  const manager = await notify_socket(t);
  const server = await server_for(t, { env: manager.env });
  const ready = await eventually('READY=1', () => manager.when('READY=1')[0]);
  const before = manager.told.findIndex(({ lines }) => lines.includes('STATUS=waiting for the ledger'));
  assert.ok(before > 0 && before < manager.told.findIndex(({ lines }) => lines.includes('READY=1')));
  await sleep(2.5 * watchdog_ms);
  const alive = manager.when('WATCHDOG=1');
  assert.ok(alive.length >= 5, `${alive.length} signs of life`);
  assert.ok(
    Math.max(...alive.slice(1).map((at, i) => at - alive[i])) < watchdog_ms,
    'never a whole interval between them',
  );
  assert.ok(alive[0] >= ready);

  process.kill(server.pid, 'SIGHUP');
  const again = await eventually('ready again', () => manager.when('READY=1')[1]);
  const reloading = manager.told.find(({ lines }) => lines.includes('RELOADING=1'));
  assert.match(reloading.lines[1], /^MONOTONIC_USEC=\d+$/);
  assert.ok(reloading.at <= again);

  await server.stop();
  await eventually('STOPPING=1', () => manager.when('STOPPING=1').length === 1);
  assert.deepEqual(
    manager.when('WATCHDOG=1').filter((at) => at > manager.when('STOPPING=1')[0]),
    [],
  );
});

test('not ready, and asking for more time, while the ledger is unavailable', async (t) => {
  const manager = await notify_socket(t);
  const server = await Server.start({
    settings: { 'ledger.url': 'postgres://nobody:secret@127.0.0.1:1/none' },
    env: manager.env,
    wait: false,
  });
  t.after(() => server.kill());
  await eventually('EXTEND_TIMEOUT_USEC', () => manager.when('EXTEND_TIMEOUT_USEC=30000000').length >= 2, {
    timeout_ms: 20_000,
  });
  assert.deepEqual([manager.when('READY=1'), manager.when('WATCHDOG=1')], [[], []]);
  assert.ok(!JSON.stringify(manager.told).includes('secret'));
});

test('no watchdog pings while a thread is blocked, and pings again afterwards', async (t) => {
  const manager = await notify_socket(t);
  const server = await server_for(t, { settings: { 'io.threads': 2 }, env: manager.env });
  // CAF 0.17 names the workers of its scheduler so.
  for (const name of ['fq-io', 'caf.multiplexer']) {
    const held_s = (2 * watchdog_ms) / 1000;
    const before = manager.when('WATCHDOG=1').length;
    await eventually('a sign of life', () => manager.when('WATCHDOG=1').length > before, { every_ms: 5 });
    const end = await run('python3', [support('hold_thread.py'), String(server.pid), name, String(held_s)]);
    assert.equal(end.code, 0, end.err);
    const [from, until] = end.out.split(' ').map(Number);
    // One may have been in flight when the thread was stopped.
    const meanwhile = manager
      .when('WATCHDOG=1')
      .filter((at) => at > from + watchdog_ms / 4 && at < until - 100);
    assert.deepEqual(meanwhile, [], `${name} stood still from ${from} to ${until}`);
    await server.logged(/does not answer; the watchdog is not told/);
    await eventually('it goes on', () => manager.when('WATCHDOG=1').some((at) => at > until));
    assert.equal((await server.get('/readyz')).status, 200);
  }
  await server.stop();
});

test('without a service manager nothing is sent, and the server works', async (t) => {
  const server = await server_for(t, { env: { NOTIFY_SOCKET: path.join(temporary_folder(), 'nobody') } });
  assert.equal((await server.get('/livez')).status, 200);
  await server.stop();
});
