// SPDX-License-Identifier: Apache-2.0
// A sale through three nodes on separate hosts behind a load balancer, with Postgres and Redis on two more
// hosts, under faults of hosts and network. After each fault crowd and ledger agree, the affected event is
// served again within 10 s, and an event on unaffected hosts is never unavailable. Runs under `unshare --net`
// (hosts.mjs).
import { describe, it } from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { Services, sql } from '../support/services.mjs';
import { Cluster } from './cluster.mjs';
import { FaultySale, longer_sale, short_sale, slow_sale } from './faults.mjs';
import { cut, hosts_for, switch_address } from './hosts.mjs';
import {
  Server,
  assert,
  eventually,
  fairqueue_next,
  free_port,
  patience,
  report_outage,
  seed,
  sleep,
  temporary_folder,
} from './lib.mjs';

const served_again_ms = 10_000 * patience;
const faketime = `/usr/lib/${{ x64: 'x86_64', arm64: 'aarch64' }[process.arch]}-linux-gnu/faketime/libfaketimeMT.so.1`;
const by_90_s = {
  LD_PRELOAD: faketime,
  FAKETIME: '+90s',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  DONT_FAKE_MONOTONIC: '1',
};

/** One address for all nodes: ready nodes take requests in turn. Has the interface of a Server. */
async function balancer_for(t, data_dir) {
  const balancer = Object.assign(new Server(), {
    host: { address: switch_address, enter: [] },
    port: await free_port(),
    settings: {},
    data_dir,
  });
  balancer.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  balancer.told_to_end = true; // it is not a server process
  balancer.log = '';
  let child;
  balancer.use = async (nodes) => {
    const file = path.join(data_dir, 'haproxy.cfg');
    const backends = nodes.map(
      (n) =>
        `  server ${n.name} ${n.host.address}:${n.port} check inter 300ms fall 2 rise 1 on-marked-down shutdown-sessions`,
    );
    fs.writeFileSync(
      file,
      `global
  maxconn 4000
  nbthread 1
defaults
  mode http
  timeout connect 500ms
  timeout client 60s
  timeout server 6s
  timeout tunnel 60s
  timeout check 700ms
  option redispatch
frontend all
  bind ${switch_address}:${balancer.port}
  default_backend nodes
backend nodes
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host nodes
${backends.join('\n')}
`,
    );
    child?.kill('SIGKILL');
    child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'haproxy', '-db', '-q', '-f', file], {
      stdio: 'ignore',
    });
    await eventually(
      'the balancer has nodes',
      async () => (await balancer.get('/readyz', { unchecked: true }).catch(() => ({}))).status === 200,
    );
  };
  t.after(() => {
    child?.kill('SIGKILL');
    balancer.agent.destroy();
  });
  return balancer;
}

/** Polls a place; returns the longest time without an answer. */
class Watch {
  longest_ms = 0;
  failed = 0;
  static async keep(server, event, token) {
    const watch = Object.assign(new Watch(), { server, event, token });
    await server.join(token, event);
    watch.running = watch.#ask();
    return watch;
  }
  async #ask() {
    let last = Date.now();
    while (!this.over) {
      const answer = await this.server
        .get(`/events/${this.event}/queue/position`, { token: this.token, timeout_ms: 7000, unchecked: true })
        .catch(() => ({ status: 0 }));
      const good = answer.status === 200;
      if (!good) {
        ++this.failed;
        this.why = `${answer.status} ${answer.text ?? ''}`;
      }
      this.longest_ms = Math.max(this.longest_ms, Date.now() - last);
      if (good) last = Date.now();
      await sleep(50);
    }
  }
  async end() {
    this.over = true;
    await this.running;
    return this;
  }
}

class HostedSale extends FaultySale {
  /** `nodes`: at the start, of three hosts. `cache`: with Redis. `env`: of each node. */
  static async start_on(t, { nodes = 3, cache = false, sale = longer_sale, env } = {}) {
    const made = new HostedSale();
    const [postgres, redis, ...hosts] = await hosts_for(t, 5);
    const services = [await Services.start_on(postgres, 'postgres')];
    if (cache) services.push(await Services.start_on(redis, 'redis'));
    for (const each of services) t.after(() => each.stop());
    Object.assign(made, {
      postgres,
      redis,
      ledger_url: services[0].postgres_url,
      cache_url: services[1]?.redis_url,
    });
    made.postgres_port = Number(new URL(made.ledger_url).port);
    made.balancer = await balancer_for(t, temporary_folder());
    // One gateway for all nodes, like a real one: its ledger is one file.
    const books = path.join(temporary_folder(), 'sandbox.db');
    made.cluster = await Cluster.start(t, {
      nodes,
      hosts,
      env,
      ledger_url: made.ledger_url,
      settings: {
        'ledger.lease': '4s', // the upgrade waits for the end of one
        'checkout.fees': '*:0:0:0', // the ledger is compared with prices
        'http.public_url': made.balancer.url,
        'payments.verdict_grace': '10s',
        'http.request_timeout': '3s',
        ...(cache ? { 'cache.url': made.cache_url } : {}),
        ...Object.fromEntries(
          ['anonymous_requests_per_ip', 'customer_requests', 'joins_per_customer'].map((name) => [
            `rate_limits.${name}_per_minute`,
            0,
          ]),
        ),
      },
      prepare: (data_dir) => fs.symlinkSync(books, path.join(data_dir, 'sandbox.db')),
    });
    const [first] = made.cluster.nodes;
    made.balancer.data_dir = first.data_dir;
    await made.balancer.use(made.cluster.nodes);
    made.server = made.balancer;
    made.organizer = await first.organizer();
    const begun = await first.event(made.organizer, { ...short_sale, ...sale });
    made.event = begun.id;
    made.total = begun.total_inventory;
    made.other_event = (await first.event(made.organizer, { queue: { policy: 'operator' } })).id;
    [made.owner, made.far] = [first, made.cluster.nodes.at(-1)];
    await made.cluster.hand_off(made.event, made.owner);
    await made.cluster.hand_off(made.other_event, made.far);
    const [fan, other_fan] = await first.customers(2);
    // Its place may be admitted: polls a place in another line of the same node instead.
    made.hit_event = (await first.event(made.organizer, { queue: { policy: 'operator' } })).id;
    await made.cluster.hand_off(made.hit_event, made.owner);
    made.hit = await Watch.keep(made.balancer, made.hit_event, fan);
    made.others = await Watch.keep(made.far, made.other_event, other_fan);
    t.after(() => (made.hit.over = made.others.over = true)); // also if the test failed
    made.send_crowd({ 'allow-remote': true, 'request-timeout': 8 });
    await made.in_full_swing();
    return made;
  }

  servers() {
    return this.cluster.nodes;
  }

  /** `is_far_hit`: the fault reaches every node. */
  async ends_in_order(t, { is_far_hit = false } = {}) {
    this.fault_is_over();
    await this.cluster.whole();
    const hit = await this.hit.end();
    const others = await this.others.end();
    t.diagnostic(`others were gone for ${others.longest_ms} ms`);
    report_outage(t, hit.longest_ms);
    assert.ok(hit.longest_ms <= served_again_ms, `gone for ${hit.longest_ms} ms: ${hit.why}`);
    if (!is_far_hit) assert.equal(others.failed, 0, others.why);
    await this.ends_well();
  }
}

function fault(name, body) {
  it(name, { timeout: 150_000 * patience }, body);
}

describe(`a sale through three hosts (seed ${seed})`, { concurrency: 2 }, () => {
  fault('the owner is killed', async (t) => {
    const sale = await HostedSale.start_on(t);
    await sale.owner.kill();
    await sale.sleep(8000);
    await sale.owner.launch();
    await sale.ends_in_order(t);
  });

  fault('the owner stands still beyond its lease, and goes on', async (t) => {
    const sale = await HostedSale.start_on(t, { cache: true });
    sale.owner.signal('SIGSTOP');
    await sale.sleep(8000);
    sale.owner.signal('SIGCONT');
    await sale.sleep(2000);
    await sale.ends_in_order(t);
  });

  for (const how of ['drop', 'reset'])
    fault(`two nodes are cut from each other (${how})`, async (t) => {
      const sale = await HostedSale.start_on(t);
      const [a, b] = sale.cluster.nodes;
      cut(a.host, b.host, { how });
      await sale.sleep(6000);
      for (const node of [a, b]) node.host.heal();
      await sale.ends_in_order(t);
    });

  fault('one node does not hear another, which hears it', async (t) => {
    const sale = await HostedSale.start_on(t);
    const [a, b] = sale.cluster.nodes;
    a.host.refuse(b.host);
    await sale.sleep(6000);
    a.host.heal();
    await sale.ends_in_order(t);
  });

  for (const how of ['drop', 'reset'])
    fault(`the owner is cut from Postgres (${how})`, async (t) => {
      const sale = await HostedSale.start_on(t);
      cut(sale.owner.host, sale.postgres, { how });
      await sale.sleep(10_000);
      for (const host of [sale.owner.host, sale.postgres]) host.heal();
      await sale.ends_in_order(t);
    });

  fault('the owner does not hear Postgres, which hears it', async (t) => {
    const sale = await HostedSale.start_on(t);
    sale.owner.host.refuse(sale.postgres);
    await sale.sleep(10_000);
    sale.owner.host.heal();
    await sale.ends_in_order(t);
  });

  fault('the owner is cut from Redis', async (t) => {
    const sale = await HostedSale.start_on(t, { cache: true });
    cut(sale.owner.host, sale.redis);
    await sale.sleep(6000);
    for (const host of [sale.owner.host, sale.redis]) host.heal();
    await sale.ends_in_order(t);
  });

  fault('a rolling restart', async (t) => {
    const sale = await HostedSale.start_on(t, { sale: slow_sale });
    for (const node of sale.cluster.nodes) {
      await node.stop();
      await node.launch();
      await sale.cluster.whole();
    }
    await sale.hurry();
    await sale.ends_in_order(t, { is_far_hit: true });
  });

  fault('a rolling upgrade to a release with other messages and one more migration', async (t) => {
    const sale = await HostedSale.start_on(t, { sale: slow_sale });
    const [first, second, last] = sale.cluster.nodes;
    const is_alive = (node) =>
      eventually(
        'it is alive',
        async () => (await node.get('/livez', { unchecked: true }).catch(() => ({}))).status === 200,
      );
    const readiness = async (node) => (await node.get('/readyz', { unchecked: true })).text;
    const is_owned_by = async (node) => {
      const rows = await sql(
        sale.ledger_url,
        `SELECT number FROM aggregate WHERE lease_owner = '${node.name}'`,
      );
      return rows.map((row) => Number(row.number));
    };
    const can_be_used = async (node) => {
      const organizer = await node.organizer();
      assert.ok((await node.event(organizer, { queue: { policy: 'operator' } })).id);
    };
    const upgrade = async (node) => {
      await node.stop();
      node.program = fairqueue_next;
      await node.launch(false);
      await is_alive(node);
    };
    await upgrade(first);
    await eventually('it waits', async () => /another_version_serves/.test(await readiness(first)));
    await can_be_used(last); // accounts and catalog have an owner
    const has_change = "SELECT count(*) AS n FROM schema_migration WHERE name = 'next_release'";
    const is_there = async () => Number((await sql(sale.ledger_url, has_change))[0].n) === 1;
    await eventually('the change', is_there);
    await second.kill();
    await sale.sleep(6000); // its leases have ended
    await second.launch(); // this release on the ledger of the next one
    await upgrade(second);
    assert.match(await readiness(last), /"ready"/);
    await can_be_used(last);
    for (const node of [first, second])
      assert.deepEqual(await is_owned_by(node), [], `${node.name} only waits`);
    await upgrade(last);
    for (const node of sale.cluster.nodes) await node.ready();
    for (const node of sale.cluster.nodes) await can_be_used(node);
    await sale.hurry();
    await sale.ends_in_order(t, { is_far_hit: true });
  });

  fault('from one node to three to two', async (t) => {
    const sale = await HostedSale.start_on(t, { nodes: 1, sale: slow_sale });
    for (const name of ['node-b', 'node-c']) await sale.cluster.add(name);
    await sale.cluster.whole();
    await sale.balancer.use(sale.cluster.nodes);
    const [first, ...rest] = sale.cluster.nodes;
    sale.cluster.nodes = rest;
    await first.stop();
    await sale.hurry();
    await sale.ends_in_order(t, { is_far_hit: true });
  });

  fault('the wall clock of the owner is 90 s ahead', async (t) => {
    assert.ok(fs.existsSync(faketime), 'libfaketime is missing; scripts/setup installs it');
    const sale = await HostedSale.start_on(t, { env: [by_90_s] });
    const ahead_ms = Date.parse((await sale.owner.get('/livez')).headers.date) - Date.now();
    assert.ok(Math.abs(ahead_ms - 90_000) < 5000, `it is ${ahead_ms} ms ahead`);
    await sale.cluster.hand_off(sale.event, sale.far);
    await sale.cluster.hand_off(sale.event, sale.owner);
    await sale.ends_in_order(t);
  });
});
