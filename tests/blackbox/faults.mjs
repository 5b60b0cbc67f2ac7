// SPDX-License-Identifier: Apache-2.0
// A running sale on Postgres, optionally with Redis, for tests of faults: fairqueue-load as the crowd, a
// diary of acknowledged joins, and the checks of the invariants at the end. Used by both files of fault
// tests.
import { describe, it } from 'node:test';
import crypto from 'node:crypto';
import path from 'node:path';
import { ChaosProxy } from '../support/chaos_proxy.mjs';
import { check_ledger } from '../support/check_ledger.mjs';
import { Services, redis, sql, through } from '../support/services.mjs';
import {
  assert,
  eventually,
  fairqueue,
  fairqueue_load,
  patience,
  random_of,
  report_outage,
  run,
  seed,
  server_for,
  sleep,
} from './lib.mjs';

/** Length of an outage. */
const usual_outage_ms = 8_000;
export const outage_ms = process.env.FAIRQUEUE_LONG === '1' ? 60_000 : usual_outage_ms;
/** By this much a test lasts longer than usual. */
const longer_ms = outage_ms - usual_outage_ms;

/** Sales that run in parallel: each mostly waits. */
const side_by_side = 3;

/**
 * Tests of faults, each with its own servers. `define` calls its argument: `fault(name, body)`, with `body(t,
 * random)`.
 */
export function describe_faults(title, define) {
  describe(title, { concurrency: side_by_side }, () => {
    define((name, body) => {
      it(name, { timeout: 120_000 * patience + longer_ms }, (t) => body(t, random_of(seed)));
    });
  });
}

/** Sells at most 16 tickets a second: about 5 s, and some more for tickets that the first buyers returned. */
export const short_sale = {
  total: 80,
  price: 1500,
  claim_ttl_seconds: 3,
  queue: {
    batch_size: 4,
    admission_interval_ms: 250,
    claim_window_seconds: 1,
    session_ttl_seconds: 4,
    over_admission_factor: 1.5,
  },
};
/** For a longer fault that fans do not notice. */
export const longer_sale = { total: 200 };
/** For a fault of any length: sells one ticket a second until `hurry`, so no test lives to its end. */
export const slow_sale = {
  total: 200,
  queue: { ...short_sale.queue, batch_size: 2, admission_interval_ms: 2000 },
};
/** A join that takes longer has waited for the fault, which lasts `noticed_fault_ms`. */
export const unnoticed_ms = 4000;
export const noticed_fault_ms = 5000;
const fans = 300;
/** Bounds of the tests, in ms. */
const settle_ms = 30_000;
const mirror_ms = 30_000;

/** The person of a token. */
export const subject_of = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString()).sub;

export class FaultySale {
  /**
   * A sale on new servers.
   * - `cache`: with Redis.
   * - `postgres_proxy`, `redis_proxy`: with a chaos proxy in front.
   * - `sale`, `settings` override those of a short sale.
   * - `rows`: the seats, ten in each.
   * - `crowd`: options of fairqueue-load; false: no crowd.
   * - `prepare(services)` runs before the start.
   * - `folder`: of the data of the services.
   */
  static async start(t, options = {}) {
    const {
      cache,
      postgres_proxy,
      redis_proxy,
      sale = {},
      rows,
      settings = {},
      crowd = {},
      prepare,
      folder,
    } = options;
    const made = new FaultySale();
    made.t = t;
    const wanted = ['postgres', ...(cache ? ['redis'] : [])];
    made.services = await (folder ? Services.start_in(folder, ...wanted) : Services.start(...wanted));
    t.after(() => made.services.stop());
    made.ledger_url = made.services.postgres_url;
    made.cache_url = made.services.redis_url;
    await prepare?.(made.services);
    const reached = async (url, broken) => {
      if (!broken) return [url];
      const proxy = await ChaosProxy.start(Number(new URL(url).port), {
        speaks_postgres: url.startsWith('postgres'),
      });
      t.after(() => proxy.close());
      return [through(url, proxy.port), proxy];
    };
    const [ledger_url, ledger_proxy] = await reached(made.ledger_url, postgres_proxy);
    const [cache_url, cache_proxy] = cache ? await reached(made.cache_url, redis_proxy) : [];
    made.proxy = ledger_proxy ?? cache_proxy;
    made.settings = {
      'checkout.fees': '*:0:0:0', // the ledger is compared with prices
      'ledger.url': ledger_url,
      ...(cache ? { 'cache.url': cache_url } : {}),
      'payments.verdict_grace': '10s', // longer than the outages, like in production
      ...settings,
    };
    made.server = await server_for(t, { settings: made.settings });
    made.organizer = await made.server.organizer();
    const { queue = {}, ...changes } = sale;
    const wish = { ...short_sale, ...changes, queue: { ...short_sale.queue, ...queue } };
    const created = await (rows
      ? made.server.seated_event(made.organizer, wish, {
          sections: [{ ticket_type: 'Standard', rows, seats: 10 }],
        })
      : made.server.event(made.organizer, wish));
    made.event = created.id;
    made.total = created.total_inventory;
    if (crowd) {
      made.send_crowd(rows ? { seats: true, ...crowd } : crowd);
      await made.feel_pulse();
    }
    return made;
  }

  /** All its servers. */
  servers() {
    return [this.server];
  }

  /** Starts fairqueue-load; `options` override the defaults. */
  send_crowd({ url = this.server.url, ...options }) {
    const all = {
      url,
      'event': this.event,
      'data-dir': this.server.data_dir,
      fans,
      'arrival': 'poisson',
      'arrival-seconds': 2,
      'no-show': 5,
      'abandon': 3,
      'decline': 3,
      'timeout': 90 * patience + longer_ms / 1000,
      seed,
      ...options,
    };
    const args = Object.entries(all).flatMap(([name, value]) =>
      value === true ? [`--${name}`] : [`--${name}`, String(value)],
    );
    this.crowd = run(fairqueue_load, [...args, '--quiet'], { timeout_ms: (all.timeout + 10) * 1000 }).finally(
      () => {
        this.crowd_is_gone = true;
      },
    );
    this.crowd.catch(() => {}); // awaited in `ends_well`
  }

  /** A customer joins another line every 100 ms; `ends_well` reports the longest time without an answer. */
  async feel_pulse() {
    const line = await this.server.event(this.organizer, { queue: { policy: 'operator' } });
    this.pulse = await Diary.keep(this, { event: line.id, every_ms: 100, count: 4000, timeout_ms: 1000 });
    this.t.after(() => this.pulse.stop());
  }

  /** Pauses of a fault. */
  async sleep(ms) {
    await sleep(ms * patience);
  }

  #stats_show(what, look) {
    const shown = async () => look(await this.server.stats(this.organizer, this.event));
    return eventually(what, shown, { timeout_ms: 20_000 });
  }

  /** Waits until some tickets are sold, so that the crowd is in every state. */
  in_full_swing() {
    return this.#stats_show('the first tickets are sold', (stats) => stats.sold >= 5);
  }

  has_waiting(count) {
    return this.#stats_show(`${count} are waiting`, (stats) => stats.waiting >= count);
  }

  async ledger_must_be_sound(options) {
    assert.deepEqual(await check_ledger(this.ledger_url, options), []);
  }

  /**
   * Ends the sale and asserts: all sold, checks of crowd and ledger pass, cache and gateway agree, an orderly
   * end.
   */
  async ends_well() {
    const end = await this.crowd;
    assert.equal(end.code, 0, `fairqueue-load:\n${end.out}\n${end.err}\n${this.server.log.slice(-4000)}`);
    assert.ok(this.faults_done, 'the sale was over before the fault');
    await eventually(
      'no claim and no payment is under way',
      async () => {
        const stats = await this.server.stats(this.organizer, this.event);
        return stats.sold === this.total && stats.held === 0 && stats.payments_open === 0;
      },
      { timeout_ms: settle_ms },
    );
    await this.#webhooks_arrive();
    await this.settles();
    if (this.pulse) {
      await this.pulse.close();
      report_outage(this.t, this.pulse.longest_gap_ms);
    }
    await this.verified();
    if (this.cache_url) await this.#compare_mirror();
    for (const server of this.servers()) await server.stop();
    await this.ledger_must_be_sound({ is_settled: true });
    await this.#gateway_agrees();
  }

  /** Call when the fault is over; the sale must recover from then on. */
  fault_is_over() {
    assert.ok(!this.crowd_is_gone, 'the sale was over before the fault was');
    this.faults_done = true;
  }

  /** Sells the rest of a slow sale at the usual pace. */
  async hurry() {
    const { batch_size, admission_interval_ms } = short_sale.queue;
    const body = { queue: { batch_size, admission_interval_ms } };
    const is_changed = async () => {
      const changed = await this.server.patch(`/events/${this.event}`, { token: this.organizer, body });
      if (changed.status === 503) return false; // the event moves to another node
      assert.equal(changed.status, 200, changed.text);
      return true;
    };
    await eventually('the sale is faster', is_changed);
  }

  async settles() {
    let wrong;
    const look = async () => {
      wrong = await check_ledger(this.ledger_url, { is_settled: true });
      return wrong.length === 0;
    };
    await eventually('a settled ledger', look, { timeout_ms: settle_ms, every_ms: 200 }).catch(() =>
      assert.deepEqual(wrong, []),
    );
  }

  async #ask_gateway(query) {
    const books = path.join(this.server.data_dir, 'sandbox.db');
    const { code, out, err } = await run('sqlite3', ['-readonly', books, query]);
    assert.equal(code, 0, err);
    return Number(out.trim());
  }

  /** The server retries, at last every 30 s. */
  #webhooks_arrive() {
    const arrived = async () => (await this.#ask_gateway('SELECT count(*) FROM webhooks')) === 0;
    return eventually('every webhook is delivered', arrived, { timeout_ms: 45_000, every_ms: 200 });
  }

  /** The gateway's own ledger is independent of ours. */
  async #gateway_agrees() {
    const [{ kept }] = await sql(
      this.ledger_url,
      'SELECT coalesce(sum(captured - refunded), 0)::bigint AS kept FROM payment',
    );
    const charges_less_refunds = `SELECT coalesce(sum(CASE kind WHEN 'charge' THEN amount ELSE -amount END), 0) FROM ledger`;
    assert.equal(
      await this.#ask_gateway(charges_less_refunds),
      kept,
      'I4: what the gateway captured and kept',
    );
  }

  // -- cache --

  /** `admin verify` of every server, within the time of I11. */
  async verified() {
    let last;
    const verify = async () => {
      for (const server of this.servers()) {
        last = await run(fairqueue, ['admin', 'verify', '--data_dir', server.data_dir]);
        if (last.code !== 0) return false;
      }
      return true;
    };
    await eventually('fairqueue admin verify finds no difference', verify, {
      timeout_ms: mirror_ms,
      every_ms: 250,
    }).catch((error) => assert.fail(`${error.message}\n${last.out}${last.err}`));
  }

  /** Compares Redis with Postgres, without the server. The sale must be idle. */
  async #compare_mirror() {
    const [{ aggregate, generation }] = await sql(
      this.ledger_url,
      `SELECT aggregate, cache_generation::text AS generation
       FROM event JOIN aggregate ON number = aggregate WHERE id = '${this.event}'`,
    );
    const stem = `fairqueue:{${this.event}}:`;
    assert.equal(
      await redis(this.cache_url, 'HGET', `${stem}head`, 'generation'),
      generation,
      'the generation of the mirror',
    );
    const lines = (text) => (text === '' ? [] : text.split('\n'));
    const waiting = lines(await redis(this.cache_url, 'ZRANGE', `${stem}${generation}:waiting`, 0, -1));
    const expected = await sql(
      this.ledger_url,
      `SELECT queue_number FROM queue_entry WHERE aggregate = ${aggregate} AND status IN (0, 1) ORDER BY queue_number`,
    );
    assert.deepEqual(
      waiting,
      expected.map((row) => String(row.queue_number)),
      'I11: the order in Redis',
    );
    const inventory = lines(await redis(this.cache_url, 'HVALS', `${stem}${generation}:inventory`));
    const stock = await sql(
      this.ledger_url,
      `SELECT total, held, sold FROM ticket_type WHERE aggregate = ${aggregate}`,
    );
    assert.deepEqual(
      inventory.sort(),
      stock.map((row) => `${row.total} ${row.held} ${row.sold}`).sort(),
      'I11: the stock in Redis',
    );
  }
}

/** Joins with a new customer every few ms and records the answers: an acknowledged join is durable (I7). */
export class Diary {
  acknowledged = new Map(); // subject -> queue number
  refused = 0;
  failed = 0;
  slowest_ms = 0;
  /** The longest time between two acknowledged joins; a test sets it to 0 before a fault. */
  longest_gap_ms = 0;
  #last = performance.now();
  #stopped = false;

  /** `timeout_ms`: a join that has no answer by then is given up. */
  static async keep(
    sale,
    { event = sale.event, server = sale.server, every_ms = 20, count = 2000, timeout_ms } = {},
  ) {
    const diary = new Diary();
    Object.assign(diary, { sale, event, server, every_ms, timeout_ms });
    diary.tokens = await server.customers(count);
    diary.writing = diary.#write();
    diary.writing.catch(() => {}); // awaited in `close`
    await eventually('a join is acknowledged', () => diary.acknowledged.size > 0, { every_ms: 2 });
    return diary;
  }

  async #write() {
    for (const token of this.tokens) {
      if (this.#stopped) return;
      await this.join(token);
      await sleep(this.every_ms);
    }
  }

  /** One join without retry. */
  async join(token) {
    const begin = performance.now();
    const { timeout_ms } = this;
    const target = `/events/${this.event}/queue`;
    const answer = await this.server.post(target, { token, timeout_ms }).catch((error) => {
      if (error.code === 'ERR_ASSERTION') throw error;
      return undefined;
    });
    if (answer === undefined) ++this.failed;
    else if (answer.status === 503) ++this.refused;
    else if (answer.status === 201) {
      this.acknowledged.set(subject_of(token), answer.json.queue_number);
      const now = performance.now();
      this.slowest_ms = Math.max(this.slowest_ms, now - begin);
      this.longest_gap_ms = Math.max(this.longest_gap_ms, now - this.#last);
      this.#last = now;
    } else assert.ok(answer.status === 410 || answer.status === 409, answer.text);
    return answer;
  }

  stop() {
    this.#stopped = true;
  }

  /** Stops and compares with the ledger. */
  async close() {
    this.stop();
    await this.writing;
    const rows = await sql(
      this.sale.ledger_url,
      `SELECT subject, queue_number FROM queue_entry JOIN event USING (aggregate) WHERE event.id = '${this.event}'`,
    );
    const stored = new Map(rows.map((row) => [row.subject, row.queue_number]));
    for (const [subject, number] of this.acknowledged)
      assert.equal(stored.get(subject), number, `I7: the place of ${subject} was acknowledged`);
  }
}
