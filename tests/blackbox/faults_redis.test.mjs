// SPDX-License-Identifier: Apache-2.0
// Faults between FairQueue and Redis under a running sale. No client notices, and soon after the fault the
// mirror is correct again.
import { Services, redis } from '../support/services.mjs';
import { assert, eventually, patience, seed } from './lib.mjs';
import {
  Diary,
  FaultySale,
  describe_faults,
  longer_sale,
  noticed_fault_ms,
  unnoticed_ms,
} from './faults.mjs';

console.log(`FAIRQUEUE_TEST_SEED=${seed}`);

/** The keys of that part of the sale's mirror. */
async function keys_of(sale, part) {
  const found = await redis(sale.cache_url, 'KEYS', `fairqueue:{${sale.event}}:*:${part}`);
  return found.split('\n').filter(Boolean);
}

describe_faults('Redis', (fault_test) => {
  /** A sale whose fans must not notice `fault(sale, random)`. */
  function unnoticed(name, fault, options = {}) {
    fault_test(name, async (t, random) => {
      const sale = await FaultySale.start(t, { cache: true, sale: longer_sale, ...options });
      await sale.in_full_swing();
      const diary = await Diary.keep(sale);
      await fault(sale, random);
      sale.fault_is_over();
      await diary.close();
      assert.deepEqual({ refused: diary.refused, failed: diary.failed }, { refused: 0, failed: 0 }, 'joins');
      assert.ok(
        diary.slowest_ms < unnoticed_ms * patience,
        `the slowest join took ${diary.slowest_ms.toFixed()} ms`,
      );
      assert.equal((await sale.server.get('/readyz')).status, 200, 'ready');
      await sale.ends_well();
    });
  }

  unnoticed('FLUSHALL at random instants', async (sale, random) => {
    for (let flush = 0; flush < 6; ++flush) {
      await sale.sleep(100 + random() * 700);
      await redis(sale.cache_url, 'FLUSHALL');
    }
  });

  unnoticed('Redis forgets its scripts', async (sale, random) => {
    for (let flush = 0; flush < 6; ++flush) {
      await sale.sleep(100 + random() * 700);
      await redis(sale.cache_url, 'SCRIPT', 'FLUSH');
    }
  });

  unnoticed('the mirror says that nothing is left', async (sale, random) => {
    for (let lie = 0; lie < 3; ++lie) {
      await sale.sleep(100 + random() * 700);
      for (const key of await keys_of(sale, 'inventory'))
        for (const type of (await redis(sale.cache_url, 'HKEYS', key)).split('\n'))
          await redis(sale.cache_url, 'HSET', key, type, `${sale.total} 0 ${sale.total}`);
    }
  });

  unnoticed(
    'two primaries: a failover of Redis that loses writes, and back',
    async (sale, random) => {
      const other = await Services.start('redis');
      sale.t.after(() => other.stop());
      const [first, second] = [new URL(sale.cache_url), new URL(other.redis_url)];
      const ask_second = (...command) => redis(other.redis_url, ...command);
      await ask_second('CONFIG', 'SET', 'masterauth', first.password);
      await ask_second('REPLICAOF', '127.0.0.1', first.port);
      await eventually('the copy is whole', async () =>
        (await ask_second('INFO', 'replication')).includes('master_link_status:up'),
      );
      await ask_second('REPLICAOF', 'NO', 'ONE');
      await sale.sleep(500 + random() * 500); // what is written now, the second has not
      await ask_second('CONFIG', 'SET', 'requirepass', first.password);
      for (const port of [second.port, first.port]) {
        sale.proxy.target_port = Number(port);
        sale.proxy.cut();
        await sale.sleep(1000 + random() * 1000);
      }
    },
    { redis_proxy: true },
  );

  unnoticed('Redis is stopped, and comes back empty', async (sale) => {
    await sale.services.down('redis');
    await sale.sleep(noticed_fault_ms);
    await sale.services.up('redis');
  });

  unnoticed('Redis refuses to write: it has become a replica', async (sale) => {
    await redis(sale.cache_url, 'REPLICAOF', '127.0.0.1', '1');
    await assert.rejects(redis(sale.cache_url, 'SET', 'x', '1'), /READONLY/);
    await sale.sleep(noticed_fault_ms);
    await redis(sale.cache_url, 'REPLICAOF', 'NO', 'ONE');
  });

  unnoticed('Redis is out of memory', async (sale) => {
    await redis(sale.cache_url, 'CONFIG', 'SET', 'maxmemory', '1');
    await assert.rejects(redis(sale.cache_url, 'SET', 'x', '1'), /OOM/);
    await sale.sleep(noticed_fault_ms);
    await redis(sale.cache_url, 'CONFIG', 'SET', 'maxmemory', '0');
  });

  unnoticed('Redis stalls for 5 s', async (sale) => {
    await sale.services.pause('redis');
    await sale.sleep(noticed_fault_ms);
    await sale.services.resume('redis');
  });

  unnoticed('Redis restarts from an old RDB', async (sale) => {
    await redis(sale.cache_url, 'SAVE');
    await sale.sleep(2000);
    await sale.services.kill('redis');
    await sale.services.up('redis');
    assert.notEqual(await redis(sale.cache_url, 'DBSIZE'), '0', 'the old state is back');
  });

  unnoticed(
    'connections to Redis hang, then break',
    async (sale) => {
      sale.proxy.half_open();
      await sale.sleep(noticed_fault_ms);
      sale.proxy.heal();
      sale.proxy.latency(20, 20);
      await sale.sleep(1000);
      sale.proxy.cut();
      sale.proxy.heal();
    },
    { redis_proxy: true },
  );

  fault_test('kill -9 after the commit and before the cache write', async (t, random) => {
    const sale = await FaultySale.start(t, { cache: true, redis_proxy: true, sale: longer_sale });
    await sale.in_full_swing();
    for (let kill = 0; kill < 5; ++kill) {
      const diary = await Diary.keep(sale, { every_ms: 2, count: 800 });
      // From here on commits do not reach Redis.
      sale.proxy.half_open();
      await sale.sleep(100 + random() * 300);
      await sale.server.kill();
      await diary.close();
      await sale.ledger_must_be_sound();
      sale.proxy.heal();
      await sale.server.launch();
    }
    sale.fault_is_over();
    await sale.ends_well();
  });

  fault_test('a start without Redis, which comes later', async (t) => {
    const sale = await FaultySale.start(t, { cache: true, prepare: (services) => services.down('redis') });
    await sale.in_full_swing();
    await sale.services.up('redis');
    sale.fault_is_over();
    await sale.ends_well();
  });
});
