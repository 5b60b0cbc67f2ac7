// SPDX-License-Identifier: Apache-2.0
// Faults between FairQueue and Postgres, and of FairQueue itself, under a running sale. The sale ends with
// every invariant, and no acknowledged join is lost. FAIRQUEUE_LONG=1 keeps Postgres away for a minute.
import fs from 'node:fs';
import path from 'node:path';
import { ChaosProxy } from '../support/chaos_proxy.mjs';
import { SqlSession, execute, sql } from '../support/services.mjs';
import {
  assert,
  eventually,
  expect_problem,
  patience,
  report_outage,
  seed,
  server_for,
  sleep,
  temporary_folder,
} from './lib.mjs';
import {
  Diary,
  FaultySale,
  describe_faults,
  longer_sale,
  noticed_fault_ms,
  outage_ms,
  subject_of,
  unnoticed_ms,
} from './faults.mjs';

console.log(`FAIRQUEUE_TEST_SEED=${seed}`);

describe_faults('Postgres', (fault_test) => {
  fault_test('kill -9 at random moments, 8 times', async (t, random) => {
    const sale = await FaultySale.start(t, { sale: longer_sale });
    for (let kill = 0; kill < 8; ++kill) {
      await sale.sleep(200 + random() * 900);
      await sale.server.kill();
      await sale.ledger_must_be_sound();
      await sale.server.launch();
      await sale.verified();
    }
    sale.fault_is_over();
    await sale.ends_well();
  });

  fault_test('kill -9 at random moments of a sale of seats, 8 times', async (t, random) => {
    const sale = await FaultySale.start(t, { sale: { total: 160 }, rows: 16 });
    for (let kill = 0; kill < 8; ++kill) {
      await sale.sleep(200 + random() * 900);
      await sale.server.kill();
      await sale.ledger_must_be_sound();
      await sale.server.launch();
    }
    sale.fault_is_over();
    await sale.ends_well();
  });

  fault_test('kill -9 in a loop, often before it serves', async (t, random) => {
    const sale = await FaultySale.start(t);
    await sale.in_full_swing();
    const diary = await Diary.keep(sale);
    for (let kill = 0; kill < 10; ++kill) {
      await sale.sleep(random() * 400);
      await sale.server.kill();
      await sale.server.launch(false);
    }
    sale.fault_is_over();
    await sale.server.ready();
    await diary.close();
    await sale.ends_well();
  });

  fault_test('kill -9 after the commit and before anybody heard of it', async (t) => {
    const sale = await FaultySale.start(t, { postgres_proxy: true });
    await sale.in_full_swing();
    for (let kill = 0; kill < 3; ++kill) {
      const diary = await Diary.keep(sale, { every_ms: 2 });
      await sale.proxy.cut_at_commit('after');
      await sale.server.kill();
      await diary.close();
      await sale.ledger_must_be_sound();
      await sale.server.launch();
    }
    sale.fault_is_over();
    await sale.ends_well();
  });

  for (const [how, stop] of [
    ['fast', 'down'],
    ['immediate', 'kill'],
  ])
    fault_test(`Postgres restarts, ${how}, 3 times`, async (t, random) => {
      const sale = await FaultySale.start(t);
      await sale.in_full_swing();
      const diary = await Diary.keep(sale);
      for (let restart = 0; restart < 3; ++restart) {
        await sale.sleep(300 + random() * 700);
        await sale.services[stop]('postgres');
        await sale.services.up('postgres');
      }
      sale.fault_is_over();
      await eventually('joins are accepted again', async () => {
        const before = diary.acknowledged.size;
        await sleep(200);
        return diary.acknowledged.size > before;
      });
      await diary.close();
      await sale.ends_well();
    });

  fault_test('Postgres is away', async (t) => {
    const sale = await FaultySale.start(t, { settings: { 'http.request_timeout': '2s' } });
    const { server } = sale;
    await sale.in_full_swing();
    await sale.has_waiting(150); // customers behind them are not admitted in this sale
    const sockets = [];
    for (const token of await server.customers(5)) {
      await server.join(token, sale.event);
      sockets.push(await server.socket(sale.event, token));
    }
    const diary = await Diary.keep(sale);
    await sale.sleep(500);
    await sale.services.kill('postgres');
    const end = Date.now() + outage_ms * patience;
    await eventually('not ready', async () => (await server.get('/readyz')).status === 503, {
      timeout_ms: 5000,
    });
    const late = await server.customers(200);
    while (Date.now() < end) {
      assert.equal((await server.get('/livez')).status, 200, 'alive');
      assert.equal((await server.get('/readyz')).status, 503, 'not ready');
      const refused = await diary.join(late.pop());
      expect_problem(refused, 503, undefined, 'a join'); // every request of the tests checks Retry-After
      await sleep(300);
    }
    assert.ok(diary.refused > 0);
    const open = sockets.filter((socket) => !socket.is_closed).length;
    assert.equal(open, sockets.length, 'WebSockets stay open');
    await sale.services.up('postgres');
    sale.fault_is_over();
    await server.ready();
    for (const action of ['pause', 'resume']) {
      const answer = await server.insist('POST', `/events/${sale.event}/${action}`, {
        token: sale.organizer,
      });
      assert.equal(answer.status, 200, answer.text);
    }
    for (const socket of sockets) await socket.frame('paused');
    await diary.close();
    await sale.ends_well();
  });

  fault_test('connections are cut before or after a COMMIT, its answer unheard', async (t, random) => {
    const sale = await FaultySale.start(t, { postgres_proxy: true });
    await sale.in_full_swing();
    const diary = await Diary.keep(sale);
    for (let cut = 0; cut < 8; ++cut) {
      await sale.proxy.cut_at_commit(cut % 2 === 0 ? 'after' : 'before');
      await sale.sleep(random() * 300);
    }
    sale.fault_is_over();
    await diary.close();
    await sale.ends_well();
  });

  fault_test('a storm of serialization failures and deadlocks', async (t, random) => {
    const sale = await FaultySale.start(t, { sale: longer_sale });
    await sale.in_full_swing();
    const diary = await Diary.keep(sale);
    // Nothing deadlocks here, so Postgres is made to say so: of every third change of an aggregate.
    for (const statement of [
      `CREATE FUNCTION storm() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         IF random() < 0.3 THEN
           RAISE EXCEPTION 'storm' USING ERRCODE = (ARRAY['40001', '40P01'])[1 + floor(random() * 2)::int];
         END IF;
         RETURN NEW;
       END $$`,
      'CREATE TRIGGER storm BEFORE UPDATE ON aggregate FOR EACH ROW EXECUTE FUNCTION storm()',
    ])
      await execute(sale.ledger_url, statement);
    await sale.sleep(4000 + random() * 2000);
    await execute(sale.ledger_url, 'DROP TRIGGER storm ON aggregate');
    await execute(sale.ledger_url, 'DROP FUNCTION storm');
    sale.fault_is_over();
    await diary.close();
    await sale.ends_well();
  });

  fault_test('latency, then connections cut anywhere', async (t, random) => {
    const sale = await FaultySale.start(t, { postgres_proxy: true, sale: longer_sale });
    await sale.in_full_swing();
    const diary = await Diary.keep(sale);
    sale.proxy.latency(15, 15);
    await sale.sleep(2000);
    for (let cut = 0; cut < 6; ++cut) {
      sale.proxy.cut({ reset: random() < 0.5 });
      await sale.sleep(random() * 300);
    }
    sale.proxy.heal();
    for (let cut = 0; cut < 4; ++cut) {
      const bytes = 2000 + Math.floor(random() * 20_000);
      sale.proxy.limit_data(random() < 0.5 ? { to_server: bytes } : { to_client: bytes });
      await sale.sleep(300);
      sale.proxy.heal();
    }
    sale.fault_is_over();
    await diary.close();
    await sale.ends_well();
  });

  fault_test('half-open connections', async (t) => {
    const sale = await FaultySale.start(t, {
      postgres_proxy: true,
      settings: { 'http.request_timeout': '2s' },
    });
    const { server } = sale;
    await sale.in_full_swing();
    const diary = await Diary.keep(sale);
    sale.proxy.half_open();
    const unheard = await server.customer();
    expect_problem(await diary.join(unheard), 503, undefined, 'a join that the ledger does not answer');
    assert.equal((await server.get('/livez')).status, 200, 'alive');
    await sale.sleep(3000);
    sale.proxy.heal();
    sale.fault_is_over();
    await server.ready();
    assert.ok(
      [200, 201].includes(
        (await server.insist('POST', `/events/${sale.event}/queue`, { token: unheard })).status,
      ),
    );
    await diary.close();
    await sale.ends_well();
  });

  fault_test('rows of the outbox that nobody can read', async (t, random) => {
    const sale = await FaultySale.start(t, { sale: longer_sale });
    const { server, organizer } = sale;
    await sale.in_full_swing();
    const diary = await Diary.keep(sale);
    const unreadable = [
      '',
      '{',
      'null',
      '{"to":5,"data":{}}',
      '{"template":"nothing","to":[{"address":"a@example.org"}],"data":{}}',
      '{"to":[7],"template":"order_completed","data":{}}',
      '['.repeat(100_000),
      `{"data":"${'x'.repeat(1_000_000)}"}`,
      '{"order_id":"not one","customer_id":[]}',
    ];
    const topics = ['mail.send', 'order.completed', 'queue.admitted', 'no.such.topic'];
    const lines = topics.flatMap((topic) => unreadable.map((payload) => [topic, payload]));
    await sale.sleep(random() * 1000);
    const values = lines.map(([topic, payload], i) => `(${i}, '${topic}', '${payload}')`).join(',');
    await execute(
      sale.ledger_url,
      `INSERT INTO outbox (aggregate, seq, ordinal, id, topic, payload, created_at)
       SELECT number, applied_seq, 1000 + n, gen_random_uuid(), topic, payload, 1
       FROM aggregate JOIN event ON aggregate = number, (VALUES ${values}) AS row (n, topic, payload)
       WHERE event.id = '${sale.event}'`,
    );
    const left = `SELECT topic, left(payload, 60) AS payload FROM outbox WHERE ordinal >= 1000 AND delivered_at = 0`;
    let rows;
    await eventually(
      'none of them holds anything up',
      async () => (rows = await sql(sale.ledger_url, left)).length === 0,
      {
        timeout_ms: 30_000,
        every_ms: 200,
      },
    ).catch(() => assert.deepEqual(rows, []));
    const letters = await server.get('/dead-letters?limit=100', { token: organizer });
    assert.equal(
      letters.json.items.filter((letter) => letter.topic === 'mail.send').length,
      unreadable.length,
      letters.text.slice(0, 2000),
    );
    sale.fault_is_over();
    await diary.close();
    await sale.ends_well();
  });

  fault_test('somebody holds one event, others are served', async (t) => {
    // One worker, so that only its scheduling keeps the other event going.
    const sale = await FaultySale.start(t, { sale: longer_sale, settings: { 'ledger.workers': 1 } });
    const { server } = sale;
    await sale.in_full_swing();
    const stuck = await server.event(sale.organizer, { queue: { policy: 'operator' } });
    const [early, late] = await server.customers(2);
    await server.join(early, stuck.id);
    const holder = new SqlSession(sale.ledger_url);
    t.after(() => holder.close());
    await holder.execute('BEGIN');
    await holder.execute(
      `SELECT 1 FROM aggregate JOIN event ON aggregate = number WHERE id = '${stuck.id}' FOR UPDATE OF aggregate`,
    );
    const held = server.post(`/events/${stuck.id}/queue`, { token: late });
    const diary = await Diary.keep(sale);
    await sale.sleep(noticed_fault_ms);
    await diary.close();
    expect_problem(await held, 503, undefined, 'the event that is held');
    assert.deepEqual(
      { refused: diary.refused, failed: diary.failed },
      { refused: 0, failed: 0 },
      'the other event',
    );
    assert.ok(
      diary.slowest_ms < unnoticed_ms * patience,
      `the slowest join of the other event took ${diary.slowest_ms.toFixed()} ms`,
    );
    assert.equal((await server.get('/readyz')).status, 200, 'ready');
    await holder.execute('ROLLBACK');
    sale.fault_is_over();
    const joined = await server.join(late, stuck.id);
    assert.equal(joined.queue_number, 2, 'what was on its way was kept, once');
    await sale.ends_well();
  });

  fault_test(
    'SIGSTOP beyond the lease: another process takes over, and the zombie commits nothing',
    async (t) => {
      const lease_ms = 4000;
      const settings = { 'ledger.lease': `${lease_ms}ms`, 'http.request_timeout': '2s' };
      // Fans use a load balancer. Tickets are free, because the sandbox gateway's ledger belongs to one
      // process.
      const balancer = await ChaosProxy.start(0);
      t.after(() => balancer.close());
      const sale = await FaultySale.start(t, { sale: { ...longer_sale, price: 0 }, settings, crowd: false });
      const first = sale.server;
      const second_folder = temporary_folder();
      fs.cpSync(path.join(first.data_dir, 'keys'), path.join(second_folder, 'keys'), { recursive: true });
      const second = await server_for(t, { settings: { ...sale.settings }, data_dir: second_folder });
      balancer.target_port = first.port;
      sale.send_crowd({ url: `http://127.0.0.1:${balancer.port}` });
      await sale.in_full_swing();

      const unheard = await first.customers(20);
      const turned_away = await first.customers(200);
      const ask_second = () => second.post(`/events/${sale.event}/queue`, { token: turned_away.pop() });
      expect_problem(await ask_second(), 503, 'not_owner');
      const socket = await first.socket(sale.event, await first.joined_customer(sale.event));
      const owner = () =>
        sql(
          sale.ledger_url,
          `SELECT epoch, lease_owner FROM aggregate JOIN event ON aggregate = number WHERE id = '${sale.event}'`,
        );
      const [before] = await owner();

      first.child.kill('SIGSTOP');
      const stopped_at = Date.now();
      const threads = `/proc/${first.pid}/task`; // the kernel stops each when it next runs
      const stands_still = (id) => /\) T /.test(fs.readFileSync(`${threads}/${id}/stat`, 'utf8'));
      await eventually('it stands still', () => fs.readdirSync(threads).every(stands_still), { every_ms: 5 });
      // These wait in the sockets of the stopped server until it continues.
      const to_the_zombie = unheard.map((token) =>
        first.post(`/events/${sale.event}/queue`, { token, timeout_ms: 60_000 }),
      );
      balancer.target_port = second.port;
      balancer.cut();
      const served = await eventually(
        'the second process serves the event',
        async () => {
          const answer = await ask_second();
          if (answer.status !== 503) return answer;
          expect_problem(answer, 503, 'not_owner');
          return undefined;
        },
        { timeout_ms: lease_ms + 10_000 },
      );
      report_outage(t, Date.now() - stopped_at);
      assert.equal(served.status, 201, served.text);
      const [after] = await owner();
      assert.ok(after.epoch > before.epoch, 'I17: a new epoch');
      assert.notEqual(after.lease_owner, before.lease_owner);

      await sale.sleep(1000);
      first.child.kill('SIGCONT');
      for (const answer of await Promise.all(to_the_zombie))
        expect_problem(answer, 503, undefined, 'the zombie');
      const ids = unheard.map((token) => `'${subject_of(token)}'`).join(',');
      const joined = await sql(sale.ledger_url, `SELECT * FROM queue_entry WHERE subject IN (${ids})`);
      assert.deepEqual(joined, [], 'I17: the zombie commits nothing');
      await eventually('the zombie says that it is not the owner', async () => {
        const answer = await first.post(`/events/${sale.event}/queue`, { token: unheard[0] });
        expect_problem(answer, 503, undefined, 'the zombie');
        return answer.json.code === 'not_owner';
      });
      await eventually("the zombie's WebSocket is told to connect anew", () => socket.is_closed);
      assert.deepEqual(await owner(), [after], 'the owner stays');
      sale.fault_is_over();
      sale.server = second;
      await sale.ends_well();
      await first.stop();
    },
  );
});
