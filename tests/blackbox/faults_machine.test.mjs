// SPDX-License-Identifier: Apache-2.0
// The machine has nothing left: disk, descriptors, local ports, memory. What is refused is refused in the
// usual form, nothing acknowledged is lost, and without a hand the server goes on when there is enough again.
// Runs under `unshare --net --mount` (CMakeLists.txt).
import { describe, it } from 'node:test';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { SqlSession } from '../support/services.mjs';
import { Diary, FaultySale } from './faults.mjs';
import {
  assert,
  eventually,
  expect_problem,
  patience,
  random_of,
  report_outage,
  run,
  seed,
  server_for,
  sleep,
  temporary_folder,
} from './lib.mjs';

console.log(`FAIRQUEUE_TEST_SEED=${seed}`);
const random = random_of(seed);

const command = (file, ...args) => execFileSync(file, args, { encoding: 'utf8', stdio: 'pipe' });
assert.equal(
  command('ip', '-json', 'route').trim(),
  '[]',
  'run this as `unshare --net --mount -- node --test`',
);
command('ip', 'link', 'set', 'lo', 'up');

/** An empty file system of that size, in a temporary folder. */
function small_disk(t, size) {
  const folder = temporary_folder();
  command('mount', '-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', folder);
  t.after(() => command('umount', '--lazy', folder));
  const ballast = path.join(folder, 'ballast');
  return {
    folder,
    /** Takes all space but `left` bytes. */
    fill(left) {
      const file = fs.openSync(ballast, 'w');
      const piece = Buffer.alloc(64 << 10);
      let size = 0;
      const write = () => {
        try {
          return fs.writeSync(file, piece);
        } catch (error) {
          assert.equal(error.code, 'ENOSPC');
          return 0;
        }
      };
      for (let written = write(); written > 0; written = write()) size += written;
      fs.ftruncateSync(file, size - left);
      fs.closeSync(file);
    },
    free: () => fs.rmSync(ballast),
  };
}

/** People who join one after another. */
class Joiners {
  acknowledged = new Map(); // token -> number
  refused = 0;
  #last = Date.now();
  outage_ms = 0;

  static async of(server, count = 4000) {
    const organizer = await server.organizer();
    const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
    return Object.assign(new Joiners(), { server, organizer, event, tokens: await server.customers(count) });
  }

  async join() {
    const token = this.tokens.pop();
    const answer = await this.server.post(`/events/${this.event}/queue`, { token });
    if (answer.status === 201) {
      this.acknowledged.set(token, answer.json.queue_number);
      this.outage_ms = Math.max(this.outage_ms, Date.now() - this.#last);
      this.#last = Date.now();
      return true;
    }
    expect_problem(answer, 503, undefined, 'a join without room');
    ++this.refused;
    return false;
  }

  /** I7: every acknowledged place is there. */
  async check() {
    for (const [token, number] of this.acknowledged)
      assert.equal((await this.server.position(token, this.event)).queue_number, number, 'I7');
    await this.server.verified();
  }
}

describe('nothing is left', { concurrency: 3, timeout: 150_000 * patience }, () => {
  it('the disk of SQLite is full', async (t) => {
    const disk = small_disk(t, '32m');
    const server = await server_for(t, { data_dir: disk.folder });
    const people = await Joiners.of(server);
    server.settings['http.request_timeout'] = '1s'; // a sign-in may take longer
    await server.restart();
    for (let i = 0; i < 50; ++i) assert.ok(await people.join());
    for (let round = 0; round < 2; ++round) {
      disk.fill(Math.floor(random() * 200_000));
      await eventually('a join is refused', async () => !(await people.join()), { every_ms: 1 });
      for (const end = Date.now() + 3000; Date.now() < end; await sleep(20)) {
        await people.join();
        assert.equal((await server.get('/livez')).status, 200, 'alive');
      }
      disk.free();
      await eventually('joins are accepted again', () => people.join(), { timeout_ms: 15_000 });
    }
    report_outage(t, people.outage_ms);
    await people.check();
    await server.restart();
    await people.check();
    await server.stop();
    const checked = await run('sqlite3', [
      '-readonly',
      path.join(disk.folder, 'ledger.db'),
      'PRAGMA integrity_check',
    ]);
    assert.equal(checked.out.trim(), 'ok', checked.err);
  });

  it('the disk of Postgres is full', async (t) => {
    const disk = small_disk(t, '300m');
    const sale = await FaultySale.start(t, { folder: disk.folder });
    await sale.in_full_swing();
    const diary = await Diary.keep(sale, { every_ms: 5 });
    disk.fill(Math.floor(random() * 100_000));
    await eventually('joins are refused', () => diary.refused > 0, { timeout_ms: 20_000 });
    await sale.sleep(4000);
    assert.equal((await sale.server.get('/livez')).status, 200, 'alive');
    disk.free();
    await sale.services.restart('postgres'); // it may have given up
    sale.fault_is_over();
    await sale.server.ready();
    await diary.close();
    await sale.ends_well();
  });

  it('the disk of the log is full', async (t) => {
    const server = await server_for(t, { before: ['sh', '-c', 'exec "$@" >/dev/full 2>/dev/full', '--'] });
    const people = await Joiners.of(server);
    const { id: event } = await server.event(await server.organizer(), { total: 3 });
    for (const fan of await server.customers(3)) {
      const { admission_token } = await server.join_and_be_admitted(fan, event);
      await server.buy(fan, event, admission_token);
      assert.ok(await people.join());
    }
    report_outage(t, 0);
    await people.check();
    await server.restart();
    await people.check();
    await server.stop();
  });

  it('no descriptor is left', async (t) => {
    const server = await server_for(t);
    const people = await Joiners.of(server);
    const socket = await server.socket(people.event, await server.joined_customer(people.event));
    assert.equal((await server.get('/livez', { admin: true })).status, 200); // this connection stays open
    const used = fs.readdirSync(`/proc/${server.pid}/fd`).length;
    command('prlimit', '--pid', String(server.pid), `--nofile=${used + 20}:`);
    const crowd = [];
    for (let i = 0; i < 200; ++i) crowd.push(await server.connect()); // the kernel accepts them
    await sleep(500);
    const seconds_of_cpu = () => {
      const fields = fs.readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      return (Number(fields[11]) + Number(fields[12])) / 100;
    };
    const before = seconds_of_cpu();
    for (let i = 0; i < 30; ++i) {
      assert.ok(await people.join(), 'open connections are served');
      await sleep(100);
    }
    assert.ok(
      seconds_of_cpu() - before < 1 * patience,
      `${seconds_of_cpu() - before} s of 3 s: no busy loop`,
    );
    const shown = await server.get('/metrics', { admin: true });
    assert.ok(
      Number(/^fairqueue_accept_failures_total (\d+)/m.exec(shown.text)?.[1]) > 0,
      'there was none left',
    );
    for (const action of ['pause', 'resume'])
      assert.equal(
        (await server.post(`/events/${people.event}/${action}`, { token: people.organizer })).status,
        200,
      );
    await socket.frame('paused');
    for (const connection of crowd) connection.destroy();
    command('prlimit', '--pid', String(server.pid), `--nofile=${used + 2000}:`);
    await eventually('new connections are served', async () => {
      const connection = await server.connect();
      connection.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      const answer = await connection.answer({ timeout_ms: 3000 });
      connection.destroy();
      return answer?.status === 200;
    });
    report_outage(t, people.outage_ms);
    await people.check();
    await server.stop();
  });

  it('no local port is left', async (t) => {
    const ports = '/proc/sys/net/ipv4/ip_local_port_range';
    const range = fs.readFileSync(ports, 'utf8');
    const sale = await FaultySale.start(t);
    await sale.in_full_swing();
    const { hostname, port } = new URL(sale.ledger_url);
    const killer = new SqlSession(sale.ledger_url);
    t.after(() => killer.close());
    await killer.execute('SELECT 1');
    const diary = await Diary.keep(sale);
    fs.writeFileSync(ports, '42000 42001');
    t.after(() => fs.writeFileSync(ports, range));
    const takers = Array.from({ length: 4 }, () => net.connect({ host: hostname, port: Number(port) }));
    for (const taker of takers) taker.on('error', () => {});
    await sale.sleep(100);
    await killer.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );
    await eventually('joins are refused', () => diary.refused > 0);
    await sale.sleep(3000 + random() * 2000);
    fs.writeFileSync(ports, range);
    for (const taker of takers) taker.destroy();
    sale.fault_is_over();
    await sale.server.ready();
    await diary.close();
    await sale.ends_well();
  });

  it('the OOM killer ends the process', async (t) => {
    const server = await server_for(t);
    const people = await Joiners.of(server, 20_000);
    assert.ok(await people.join());
    limit_memory(t, server.pid, (2 << 20) + Math.floor(random() * (4 << 20)));
    server.told_to_end = true; // it will be killed
    const ended = server.ended;
    let is_over = false;
    ended.then(() => (is_over = true));
    const crowd = [];
    while (!is_over && people.tokens.length > 0) {
      await Promise.all(Array.from({ length: 50 }, () => people.join().catch(() => false)));
      const opened = Array.from({ length: 50 }, () => server.connect().catch(() => undefined));
      for (const connection of (await Promise.all(opened)).filter(Boolean))
        crowd.push(connection.send('GET /livez HTTP/1.1\r\nHost: x\r\nX-A: ' + 'a'.repeat(6000)));
    }
    for (const connection of crowd) connection.destroy();
    assert.equal((await ended).signal, 'SIGKILL', server.log.slice(-2000));
    t.diagnostic(`${people.acknowledged.size} joins were acknowledged`);
    await server.launch();
    await people.check();
    await server.stop();
  });
});

/** Limits what a process takes from now on, by a control group of version 1 or 2. */
function limit_memory(t, pid, bytes) {
  const v1 = '/sys/fs/cgroup/memory';
  const is_v1 = fs.existsSync(`${v1}/memory.limit_in_bytes`);
  const group = path.join(is_v1 ? v1 : '/sys/fs/cgroup', `fairqueue-test-${process.pid}-${pid}`);
  fs.mkdirSync(group);
  t.after(() => fs.rmdirSync(group));
  fs.writeFileSync(path.join(group, is_v1 ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes));
  fs.writeFileSync(path.join(group, 'cgroup.procs'), String(pid));
}
