// SPDX-License-Identifier: Apache-2.0
// A sale on three Postgres under Patroni, each on a host of its own, with the configuration of
// deploy/patroni. The primary is ended five times: joins go on within the limits of its README, the ended
// node comes back as a standby, and nothing acknowledged is lost. Runs under `unshare --net` (hosts.mjs).
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { Services } from '../support/services.mjs';
import { Diary, FaultySale } from './faults.mjs';
import { hosts_for, switch_address } from './hosts.mjs';
import { assert, eventually, fairqueue, patience, report_outage, run, server_for } from './lib.mjs';

/** Limits of the gap in acknowledged joins, in s. */
const after_a_kill = 20 * patience;
const after_a_silence = 45 * patience;
const back_ms = 120_000;

/** The three nodes, as their Patroni sees them. */
class Patroni {
  /** `is_synchronous`: false for replication that may lose what was acknowledged. */
  static async start(t, { is_synchronous = true } = {}) {
    const made = Object.assign(new Patroni(), { is_synchronous });
    const hosts = await hosts_for(t, 3);
    made.services = await Services.start_ha(switch_address, hosts);
    t.after(() => made.services.stop());
    made.hosts = Object.fromEntries(hosts.map((host, i) => [`pg${i + 1}`, host]));
    if (!is_synchronous) await made.#change({ synchronous_mode: false, synchronous_mode_strict: false });
    return made;
  }

  #read(file) {
    return fs.readFileSync(path.join(this.services.folder, file), 'utf8').split('\n')[0].trim();
  }
  #address(node, what) {
    return `http://${this.hosts[node].address}:${this.#read(`${node}.rest`)}/${what}`;
  }

  /** Changes the cluster's configuration. */
  async #change(settings) {
    const credentials = Buffer.from(`fairqueue:${this.#read('password')}`).toString('base64');
    const answer = await fetch(this.#address('pg1', 'config'), {
      method: 'PATCH',
      headers: { authorization: `Basic ${credentials}` },
      body: JSON.stringify(settings),
    });
    assert.equal(answer.status, 200);
  }

  /** The members as the first node tells that answers. */
  async #members() {
    for (const node of Object.keys(this.hosts)) {
      const answer = await fetch(this.#address(node, 'cluster'), { signal: AbortSignal.timeout(2000) }).catch(
        () => undefined,
      );
      if (answer?.ok) return (await answer.json()).members;
    }
    return [];
  }
  async primary() {
    return (await this.#members()).find((each) => each.role === 'leader')?.name;
  }
  /** Every node runs: a primary and two standbys that follow it, one of them synchronous if it is to be. */
  whole() {
    const is_whole = async () => {
      const members = await this.#members();
      const leader = members.find((each) => each.role === 'leader');
      return (
        members.length === 3 &&
        members.some((each) => each.role === 'sync_standby') === this.is_synchronous &&
        members.every(
          (each) => each.timeline === leader?.timeline && ['running', 'streaming'].includes(each.state),
        )
      );
    };
    return eventually('all nodes are back', is_whole, { timeout_ms: back_ms, every_ms: 200 });
  }

  kill(node) {
    return this.services.kill(node);
  }
  up(node) {
    return this.services.up(node);
  }
  /** It goes on as the primary, and no standby receives anything any more. */
  stop_replication(node) {
    const others = Object.values(this.hosts).filter((host) => host !== this.hosts[node]);
    this.hosts[node].cut_off(others.map((host) => host.address));
  }
  pause(node) {
    return this.services.pause(node);
  }
  resume(node) {
    return this.services.resume(node);
  }
  /** Its Patroni lives. */
  kill_postgres(node) {
    process.kill(Number(this.#read(`${node}/data/postmaster.pid`)), 'SIGKILL');
  }
  cut_off(node) {
    const others = Object.values(this.hosts).filter((host) => host !== this.hosts[node]);
    this.hosts[node].cut_off([switch_address, ...others.map((host) => host.address)]);
  }
  heal(node) {
    this.hosts[node].heal();
  }
}

class HaSale extends FaultySale {
  static async start_on(t, patroni) {
    const made = new HaSale();
    made.ledger_url = patroni.services.postgres_ha_url;
    made.settings = {
      'checkout.fees': '*:0:0:0', // the ledger is compared with prices
      'ledger.url': made.ledger_url,
      'payments.verdict_grace': '60s', // longer than the outages
      'http.request_timeout': '2s',
    };
    made.server = await server_for(t, { settings: made.settings });
    made.organizer = await made.server.organizer();
    const created = await made.server.event(made.organizer, {
      total: 700,
      price: 1500,
      claim_ttl_seconds: 10,
      queue: {
        batch_size: 5,
        admission_interval_ms: 2000,
        claim_window_seconds: 5,
        session_ttl_seconds: 15,
        over_admission_factor: 1.5,
      },
    });
    made.event = created.id;
    made.total = created.total_inventory;
    made.send_crowd({ 'fans': 3000, 'arrival-seconds': 200, 'timeout': 900 * patience });
    await made.in_full_swing();
    return made;
  }
}

const faults = [
  ['kill -9 of Postgres alone', after_a_kill, 'kill_postgres'],
  ['kill -9 of Postgres and Patroni', after_a_kill, 'kill', 'up'],
  ['SIGSTOP of Postgres and Patroni', after_a_silence, 'pause', 'resume'],
  ['the host is cut off', after_a_silence, 'cut_off', 'heal'],
  ['kill -9 of Postgres and Patroni', after_a_kill, 'kill', 'up'],
];

test('the primary ends five times in a sale of 3,000', { timeout: 1_700_000 * patience }, async (t) => {
  const patroni = await Patroni.start(t);
  const sale = await HaSale.start_on(t, patroni);
  const { server } = sale;
  const line = await server.event(sale.organizer, { queue: { policy: 'operator' } });
  const diary = await Diary.keep(sale, { event: line.id, every_ms: 100, count: 8000 });
  await patroni.whole();

  for (const [name, limit, end, back] of faults) {
    const ended = await patroni.primary();
    await sale.sleep(2000);
    diary.longest_gap_ms = 0;
    await patroni[end](ended);
    await eventually('another primary', async () => ![ended, undefined].includes(await patroni.primary()), {
      timeout_ms: back_ms,
      every_ms: 100,
    });
    const before = diary.acknowledged.size;
    await eventually('joins are acknowledged again', () => diary.acknowledged.size > before + 10, {
      timeout_ms: back_ms,
      every_ms: 50,
    });
    const gap = diary.longest_gap_ms / 1000;
    t.diagnostic(`${name}: no join was acknowledged for ${gap.toFixed(1)} s`);
    report_outage(t, diary.longest_gap_ms);
    assert.ok(gap <= limit, `${name}: ${gap} s`);
    await patroni[back]?.(ended);
    await patroni.whole();
  }

  sale.fault_is_over();
  await diary.close();
  await sale.ends_well();
});

const what_is_stopped = async (server) =>
  Number(/^fairqueue_events_lost (\d+)/m.exec((await server.get('/metrics', { admin: true })).text)?.[1]);

test(
  'a failover that loses commits stops the event that lost them',
  {
    timeout: 400_000 * patience,
  },
  async (t) => {
    const patroni = await Patroni.start(t, { is_synchronous: false });
    const server = await server_for(t, { settings: { 'ledger.url': patroni.services.postgres_ha_url } });
    const organizer = await server.organizer();
    const line_of = async () => (await server.event(organizer, { queue: { policy: 'operator' } })).id;
    const [lost, kept] = [await line_of(), await line_of()];
    server.settings['http.request_timeout'] = '2s'; // what was before may take longer
    await server.restart();
    const people = await server.customers(100);
    for (const token of people.slice(0, 10))
      for (const event of [lost, kept]) await server.join(token, event);
    await patroni.whole();
    await new Promise((done) => setTimeout(done, 2000)); // the standbys have it all

    const ended = await patroni.primary();
    patroni.stop_replication(ended);
    let places = [];
    for (const token of people.slice(10, 40)) places.push((await server.join(token, lost)).queue_number);
    assert.equal(places.at(-1), 40);
    await patroni.kill(ended);
    await eventually('another primary', async () => ![ended, undefined].includes(await patroni.primary()), {
      timeout_ms: back_ms,
      every_ms: 100,
    });

    // What lost nothing goes on.
    assert.equal((await server.join(people[40], kept)).queue_number, 11);
    const join_lost = (token) => server.post(`/events/${lost}/queue`, { token });
    const refusal = await eventually('the loss is noticed', async () => {
      const answer = await join_lost(people[41]);
      assert.equal(answer.status, 503, answer.text); // nothing is acknowledged
      return answer.json.code === 'ledger_lost' && answer;
    });
    assert.equal(refusal.headers['retry-after'], '5');
    assert.equal(await what_is_stopped(server), 1);
    await server.logged(/is stopped: the ledger has lost commits/);
    assert.equal((await server.get('/readyz')).status, 200);

    // Also for a process that remembers nothing.
    await server.restart();
    await eventually('the new process says so too', async () => {
      const answer = await join_lost(people[41]);
      assert.equal(answer.status, 503, answer.text);
      return answer.json.code === 'ledger_lost';
    });

    const admin = (...args) => run(fairqueue, ['admin', ...args, '--data_dir', server.data_dir]);
    const accepted = await admin('accept-loss', '--event', lost);
    assert.equal(accepted.code, 0, accepted.err);
    assert.match(accepted.out, new RegExp(`^${lost}\tdecisions lost: at least [1-9]`));
    const again = await server.join(people[41], lost);
    assert.equal(again.queue_number, 11); // numbers of lost places are given again
    assert.equal(await what_is_stopped(server), 0);
    assert.equal((await admin('accept-loss', '--all')).code, 1); // nothing is left
    const verified = await admin('verify');
    assert.equal(verified.code, 0, verified.out + verified.err);
    const audit = await server.get(`/audit?target=${lost}`, { token: organizer });
    assert.ok(
      audit.json.entries.some((row) => row.action === 'loss.accept'),
      audit.text,
    );
  },
);
