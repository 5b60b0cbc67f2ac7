// SPDX-License-Identifier: Apache-2.0
// What clients do to a server, and an organizer to a sale: slow sockets, a crowd at one moment, limits below
// what is taken. Runs under `unshare --net --mount` (CMakeLists.txt), for the buffers of its sockets.
import { describe, it } from 'node:test';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { sql } from '../support/services.mjs';
import { FaultySale, short_sale } from './faults.mjs';
import {
  Socket,
  assert,
  eventually,
  expect_problem,
  patience,
  random_of,
  raw_socket,
  report_outage,
  seed,
  server_for,
  sleep,
} from './lib.mjs';
import { access, tenant_on, ticket_of } from './tenant.mjs';

console.log(`FAIRQUEUE_TEST_SEED=${seed}`);
const random = random_of(seed);
execFileSync('ip', ['link', 'set', 'lo', 'up']);

const operators_line = {
  total: 5000,
  queue: { policy: 'operator', concurrency: 5000, claim_window_seconds: 600, session_ttl_seconds: 900 },
};
const no_limits = {
  'rate_limits.customer_requests_per_minute': 0,
  'rate_limits.joins_per_customer_per_minute': 0,
};

const in_parts = async (list, ask, size = 200) => {
  const answers = [];
  for (let begin = 0; begin < list.length; begin += size)
    answers.push(
      ...(await Promise.all(list.slice(begin, begin + size).map((one, i) => ask(one, begin + i)))),
    );
  return answers;
};
const percentile = (times, part) => times.sort((a, b) => a - b)[Math.floor((times.length - 1) * part)];
const resident_kib = (server) =>
  Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]);

describe('clients', { timeout: 150_000 * patience }, () => {
  it('slow WebSockets: some read a byte a second, some nothing; the others see everything in time', async (t) => {
    // Small buffers of the kernel, so that the server's own are used.
    for (const name of ['tcp_rmem', 'tcp_wmem'])
      fs.writeFileSync(`/proc/sys/net/ipv4/${name}`, '4096 16384 16384');
    t.after(() => {
      fs.writeFileSync('/proc/sys/net/ipv4/tcp_rmem', '4096 131072 6291456');
      fs.writeFileSync('/proc/sys/net/ipv4/tcp_wmem', '4096 16384 4194304');
    });
    const server = await server_for(t, { settings: no_limits });
    const organizer = await server.organizer();
    const { id: event } = await server.event(organizer, operators_line);
    const fans = await server.customers(200);
    await in_parts(fans, (fan) => server.join(fan, event), 1);
    const before = resident_kib(server);
    const slow = new Map(); // fan -> connection
    const honest = new Map(); // fan -> socket
    for (const [i, fan] of fans.entries()) {
      if (i % 20 < 17) {
        honest.set(fan, await Socket.open(server, `/ws/queue/${event}`, fan));
        continue;
      }
      const connection = await raw_socket(server, event, fan);
      connection.socket.pause();
      slow.set(fan, connection);
    }
    const sips = setInterval(() => {
      for (const [i, connection] of [...slow.values()].entries()) if (i % 3 > 0) connection.socket.read(1);
    }, 1000);
    t.after(() => {
      clearInterval(sips);
      for (const socket of [...honest.values(), ...slow.values()]) socket.close?.();
      for (const connection of slow.values()) connection.destroy();
    });

    const advance = async (count) => {
      const begun = Date.now();
      const done = await server.post(`/events/${event}/advance`, { token: organizer, body: { count } });
      assert.equal(done.json?.admitted, count, done.text);
      return begun;
    };
    const late = [];
    for (let number = 1; number <= fans.length; ++number) {
      const at = await advance(1);
      for (let i = 0; i < 10; ++i) {
        const action = i % 2 ? 'resume' : 'pause';
        assert.equal((await server.post(`/events/${event}/${action}`, { token: organizer })).status, 200);
      }
      const socket = honest.get(fans[number - 1]);
      if (socket) late.push((await socket.frame('admitted')).received_at - at);
    }
    const worst = Math.max(...late);
    t.diagnostic(`admitted after ${percentile(late, 0.5)} ms (half), ${worst} ms (all)`);
    report_outage(t, worst);
    assert.ok(worst < 1000 * patience, `an honest socket heard of its admission after ${worst} ms`);
    for (const socket of honest.values()) {
      const seen = socket.frames.map((f) => f.position ?? f.entry?.position).filter(Number.isInteger);
      assert.deepEqual(
        seen,
        [...seen].sort((a, b) => b - a),
        'I8: a position grew',
      );
    }
    assert.ok(
      resident_kib(server) - before < 40 * 1024 * patience,
      `${resident_kib(server) - before} KiB more`,
    );
    const some_cut = async () => {
      const { text } = await server.get('/metrics', { admin: true });
      const open = Number(/^fairqueue_websockets (\d+)/m.exec(text)?.[1]);
      const cut = honest.size + slow.size - open;
      return cut > 0 && cut;
    };
    // They do not read, or answer no ping.
    const cut = await eventually('slow sockets are cut', some_cut, { timeout_ms: 90_000 });
    t.diagnostic(`${cut} of ${slow.size} slow sockets were cut`);
    assert.ok(![...honest.values()].some((socket) => socket.is_closed), 'an honest socket was cut');
    for (const [fan, connection] of slow) {
      connection.destroy();
      const again = await server.socket(event, fan);
      assert.equal((await again.frame('state')).entry.status, 'ADMITTED', 'nobody misses an admission');
      again.close();
    }
    await server.verified();
    await server.stop();
  });

  it('all sockets are dropped at once, and all reconnect, with and without jitter', async (t) => {
    const count = 2000;
    const server = await server_for(t, { settings: no_limits });
    const organizer = await server.organizer();
    const { id: event } = await server.event(organizer, operators_line);
    const tenant = await tenant_on(server);
    const queue = await tenant.queue({ session_ttl_seconds: 600 });
    const inside = (await ticket_of(server, await tenant.join_as(queue, 'ann'))).session_token;
    const fans = await server.customers(count);
    const numbers = await in_parts(fans, async (fan) => (await server.join(fan, event)).queue_number);
    const open = async (fan) => {
      const socket = await Socket.open(server, `/ws/queue/${event}`, fan);
      await socket.frame('state', { timeout_ms: 20_000 });
      return socket;
    };
    let sockets = await in_parts(fans, open);
    t.after(() => sockets.forEach((socket) => socket.close()));

    for (const jitter_ms of [1500, 0]) {
      let refused = 0;
      const back = sockets.map(async (socket, i) => {
        await socket.closed;
        for (;;) {
          await sleep(20 + random() * jitter_ms);
          const again = await open(fans[i]).catch(() => void ++refused);
          if (again) return [again, Date.now()];
        }
      });
      const ended = Date.now();
      await server.kill();
      await server.launch();
      const took_access = [];
      let is_back = false;
      const asking = (async () => {
        while (!is_back) {
          const begun = performance.now();
          assert.equal((await access(server, inside)).status, 200);
          took_access.push(performance.now() - begun);
          await sleep(10);
        }
      })();
      const returned = await Promise.all(back);
      is_back = true;
      await asking;
      sockets = returned.map(([socket]) => socket);
      const took = returned.map(([, at]) => at - ended);
      const p99 = percentile(took_access, 0.99);
      t.diagnostic(
        `jitter ${jitter_ms} ms: back after ${percentile(took, 0.5)} ms (half), ${Math.max(...took)} ms (all), ` +
          `${refused} tries refused, /access p99 ${p99.toFixed()} ms`,
      );
      report_outage(t, Math.max(...took));
      assert.ok(Math.max(...took) <= 10_000 * patience, `the last was back after ${Math.max(...took)} ms`);
      assert.ok(p99 < 500 * patience, `/access p99 ${p99} ms`);
      for (const [i, socket] of sockets.entries())
        assert.equal(socket.frames.find((f) => f.type === 'state').entry.queue_number, numbers[i], 'I7');
    }
    const done = await server.post(`/events/${event}/advance`, { token: organizer, body: { count: 300 } });
    assert.equal(done.json?.admitted, 300, done.text);
    await Promise.all(
      sockets
        .filter((_, i) => numbers[i] <= 300)
        .map((socket) => socket.frame('admitted', { timeout_ms: 15_000 })),
    );
    await server.verified();
    await server.stop();
  });

  it('all join in the first second', async (t) => {
    const crowd = { 'fans': 3000, 'arrival': 'spike', 'arrival-seconds': 1, 'connections': 500 };
    const sale = await FaultySale.start(t, { crowd });
    await sale.in_full_swing();
    sale.fault_is_over();
    await sale.ends_well();
    const [line] = await sql(
      sale.ledger_url,
      `SELECT count(*)::int AS people, max(queue_number)::int AS last FROM queue_entry JOIN event USING (aggregate)
       WHERE event.id = '${sale.event}'`,
    );
    assert.equal(line.people, line.last, 'no number is missing');
    assert.ok(line.people >= crowd.fans);
  });

  it('the organizer lowers concurrency below the active sessions, and stock below what is sold', async (t) => {
    const sale = await FaultySale.start(t, {
      sale: { total: 200, queue: { ...short_sale.queue, policy: 'capacity', concurrency: 30 } },
    });
    const { server, organizer, event } = sale;
    await sale.in_full_swing();
    const [type] = (await server.get(`/events/${event}`)).json.ticket_types;
    const change = (body) => server.patch(`/events/${event}`, { token: organizer, body });
    const at_most = 3;
    for (let round = 0; round < 3; ++round) {
      assert.equal((await change({ queue: { concurrency: at_most } })).status, 200);
      let { admitted, admitted_total } = await server.stats(organizer, event);
      for (const end = Date.now() + 1500; Date.now() < end; await sleep(50)) {
        const now = await server.stats(organizer, event);
        assert.ok(now.admitted <= Math.max(admitted, at_most), `I5: ${admitted} became ${now.admitted}`);
        if (admitted > at_most && now.admitted > at_most)
          assert.equal(now.admitted_total, admitted_total, 'nobody is admitted above the limit');
        ({ admitted, admitted_total } = now);
      }
      const { sold } = await server.stats(organizer, event);
      const refused = await change({ ticket_types: [{ id: type.id, total: Math.max(1, sold - 1) }] });
      expect_problem(refused, 409, 'total_below_committed');
      // As much as is taken: nothing is left, and nothing is oversold.
      for (;;) {
        const { held, sold: taken } = await server.stats(organizer, event);
        const lowered = await change({ ticket_types: [{ id: type.id, total: held + taken }] });
        if (lowered.status === 200) break;
        expect_problem(lowered, 409, 'total_below_committed');
      }
      await sleep(300 + random() * 300);
      assert.equal((await change({ ticket_types: [{ id: type.id, total: sale.total }] })).status, 200);
      assert.equal((await change({ queue: { concurrency: 30 } })).status, 200);
      await sleep(random() * 500);
    }
    sale.fault_is_over();
    await sale.ends_well();
  });
});
