// SPDX-License-Identifier: Apache-2.0
// The measures of scripts/bench. Each names its sides and does one round with one of them; the rounds of the
// sides alternate. Figures of a round: `rate` a second, `cpu_us` of all server processes a request, `p99_ms`.
import fs from 'node:fs';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { root, run, sleep, temporary_folder } from '../tests/blackbox/lib.mjs';
import { Authority } from '../tests/support/certificates.mjs';
import { execute, Services } from '../tests/support/services.mjs';
import { cpu_seconds, crowd, exact_cpu_seconds } from './parts.mjs';
import { bare_beast, nginx, server_of } from './sides.mjs';

/** What is measured, with its unit. */
export const units = {
  rate: 'requests/s',
  cpu_us: 'server CPU a request, µs',
  p99_ms: 'p99, ms',
  load_cpu_us: 'load program’s CPU a request, µs',
  cpu_percent: 'CPU, % of a core',
};

export const load = `${root}/build/release/load/fairqueue-load`;
const joins_a_round = 50_000;
const checkouts_a_round = 100_000; // at most
const claims_a_round = 120_000; // at most
const seconds_a_round = 3;
const events_of_scrapes = 1_000;
const scrapes_a_round = 200;

/** One of `tokens` or always the same request, for some seconds, from the second core. */
async function ask(side, { url = side.url, ...request }) {
  const before = side.cpu();
  const seen = await crowd(url, {
    seconds: seconds_a_round,
    before: ['taskset', '-c', '1'],
    ...request,
  });
  if (seen.failed > 0) throw new Error(`${side.name}: ${seen.failed} of ${seen.requests} requests failed`);
  return { rate: seen.requests / seen.seconds, cpu_us: ((side.cpu() - before) * 1e6) / seen.requests };
}

/** Distinct customers join over 256 connections that are kept; each 201 follows its commit. */
async function join(side) {
  const crowd_of = ['--url', side.url, '--data-dir', side.data_dir, '--fans', String(joins_a_round)];
  const rest = ['--join-only', '--connections', '256', '--quiet', '--json', '-'];
  const before = side.cpu();
  const { code, out, err } = await run(load, [...crowd_of, ...rest]);
  if (code !== 0) throw new Error(`${side.name}: fairqueue-load ended with ${code}: ${err}`);
  const cpu_us = ((side.cpu() - before) * 1e6) / joins_a_round;
  const seen = JSON.parse(out);
  return {
    rate: seen.joins_per_second,
    cpu_us,
    p99_ms: seen.latency.p99_ms,
    load_cpu_us: seen.client_cpu_us_per_join,
  };
}

/** A sale without a line whose stock lasts. */
async function open_event(side) {
  const token = await side.organizer();
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  const sale = { name: 'Bench', currency: 'EUR', sale_start: at(-60_000), sale_end: at(3_600_000) };
  const types = [{ name: 'Standard', price: 1000, total: 1_000_000 }];
  const body = { ...sale, ticket_types: types, queue: { policy: 'open' } };
  const event = (await side.server.post('/events', { token, body })).json;
  await side.server.post(`/events/${event.id}/activate`, { token });
  return event;
}

/** Tokens of new customers. */
const customers_of = async (side, count) =>
  (await side.command('token', '--kind', 'customer', '--count', String(count))).split('\n');

/** Checkouts of distinct customers. */
export async function checkout_request(side) {
  const event = await open_event(side);
  const line_of = (customer, i) => {
    const contact = { first_name: 'Fan', last_name: String(i), email: `fan-${i}@example.org` };
    const items = [{ ticket_type_id: event.ticket_types[0].id }];
    return `${customer} ${JSON.stringify({ event_id: event.id, contact, items })}`;
  };
  const lines = (await customers_of(side, checkouts_a_round)).map(line_of);
  return { url: `${side.url}/checkout`, method: 'POST', lines };
}

/** Claims of distinct customers who have joined. */
export async function claim_request(side) {
  const { id } = await open_event(side);
  const customers = await customers_of(side, claims_a_round);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const join_one = (customer) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${customer}` };
      const asked = http.request(`${side.url}/events/${id}/queue`, { method: 'POST', agent, headers });
      asked.on('error', reject).on('response', async (answer) => resolve(await json(answer)));
      asked.end();
    });
  const line_of = async (customer) => {
    const { admission_token } = await join_one(customer);
    return `${customer} ${JSON.stringify({ admission_token })}`;
  };
  const lines = await Promise.all(customers.map(line_of));
  agent.destroy();
  return { url: `${side.url}/events/${id}/claims`, method: 'POST', lines };
}

/** Until the time is over. */
const check_out = async (side) => ask(side, await checkout_request(side));
const claim = async (side) => ask(side, await claim_request(side));

/** CPU in seconds of the Postgres whose data is in `folder`, with the backends that have ended. */
function postgres_cpu(folder) {
  const postmaster = fs.readFileSync(`${folder}/postgres/data/postmaster.pid`, 'utf8').split('\n')[0];
  const children = fs.readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim();
  const own = cpu_seconds(postmaster, true);
  return children.split(' ').reduce((sum, pid) => sum + cpu_seconds(pid), own);
}

/** Its log has used segments, as after some days: a new segment is first filled with zeros. */
async function aged_postgres(end_with) {
  const services = await Services.start('postgres');
  end_with(() => services.stop());
  const statements = [
    "ALTER SYSTEM SET min_wal_size = '2GB'",
    'SELECT pg_reload_conf()',
    "CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 1200000)",
    'DROP TABLE filler',
    'CHECKPOINT',
  ];
  for (const statement of statements) await execute(services.postgres_url, statement);
  return services;
}

/** A round on a new server: the ledger of each begins empty. */
async function fresh(build, work, options = {}, begin = (side) => side) {
  const side = begin(await server_of(build, options));
  try {
    return await work(side);
  } finally {
    await side.end();
  }
}

/** Sides that live as long as the measure. `yardsticks`: made with the first server. */
async function lasting(builds, end_with, begin, yardsticks, options = {}) {
  const sides = [];
  for (const build of builds) {
    const side = await server_of(build, { is_pinned: true, ...options });
    end_with(() => side.end());
    sides.push({ ...side, request: await begin(side) });
  }
  for (const side of await yardsticks(sides[0])) {
    end_with(() => side.end());
    sides.push({ request: {}, ...side });
  }
  return sides.map((side) => ({ name: side.name, side, round: () => ask(side, side.request) }));
}

const answer_to = async ({ url, token }) => {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${body}`);
  const own = [...answer.headers].filter(
    ([name]) => !['content-type', 'content-length', 'connection', 'keep-alive'].includes(name),
  );
  return { length: Buffer.byteLength(body), fields: own.map(([name, value]) => `${name}: ${value}`) };
};

const own_certificate = () => new Authority(temporary_folder()).issue('own');

/** `own`: with TLS. */
async function access_sides(builds, end_with, own) {
  const begin = async (side) => {
    const key = (scope) => side.command('apikey', 'issue', '--scope', scope);
    const post = (target, token, body) => side.server.post(target, { token, body });
    const operator = (await post('/sessions', await key('operator'), {})).json.token;
    const settings = { name: 'Bench', concurrency: 2000, session_ttl_seconds: 86_400 };
    const queue = (await post('/queues', operator, settings)).json.id;
    const ticket = (await post(`/queues/${queue}/tickets`, await key('server'), { subject: 'user-42' })).json;
    return { url: `${side.url}/access`, token: ticket.session_token };
  };
  const to_compare = async ({ server, request }) => {
    const { length, fields } = await answer_to({ ...request, url: `${server.url}/access` });
    return [...(own ? [] : [await bare_beast(length, fields)]), await nginx(length, own)];
  };
  return lasting(builds, end_with, begin, to_compare, { own });
}

/** `openssl s_time -new` resumes no session; wrk does. */
async function shake_hands(side) {
  const before = side.cpu();
  const where = ['-connect', new URL(side.url).host, '-www', '/livez'];
  const client = ['-c', '1', 'openssl', 's_time', '-new', '-time', String(seconds_a_round), ...where];
  const { code, out, err } = await run('taskset', client, { timeout_ms: 60_000 });
  const made = /^(\d+) connections in (\d+) real seconds, [1-9]/m.exec(out);
  if (code !== 0 || !made) throw new Error(`openssl s_time: ${out}${err}`);
  const [count, seconds] = [Number(made[1]), Number(made[2])];
  return { rate: count / seconds, cpu_us: ((side.cpu() - before) * 1e6) / count };
}

async function scrape(side) {
  const [cpu, began] = [side.cpu(), process.hrtime.bigint()];
  for (let n = 0; n < scrapes_a_round; ++n) await side.server.get('/metrics', { admin: true });
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  return { rate: scrapes_a_round / seconds, cpu_us: ((side.cpu() - cpu) * 1e6) / scrapes_a_round };
}

async function rest(side) {
  await sleep(2_000);
  const cpu = exact_cpu_seconds(side.server.pid);
  await sleep(10_000);
  return { cpu_percent: ((exact_cpu_seconds(side.server.pid) - cpu) / 10) * 100 };
}

export const measures = {
  joins: {
    about: 'durable joins, SQLite; server and load share all cores',
    sides: (builds) => builds.map((build) => ({ name: build.name, round: () => fresh(build, join) })),
  },
  joins_postgres: {
    about: 'durable joins, Postgres; its CPU counts as the server’s',
    async sides(builds, end_with) {
      const services = await aged_postgres(end_with);
      let number = 0;
      const with_postgres = (side) => ({ ...side, cpu: () => side.cpu() + postgres_cpu(services.folder) });
      return builds.map((build) => ({
        name: build.name,
        async round() {
          const url = await services.database(`joins_${++number}`);
          return fresh(build, join, { settings: { 'ledger.url': url } }, with_postgres);
        },
      }));
    },
  },
  checkouts: {
    about: 'POST /checkout of distinct customers, SQLite, policy open; server and wrk have one core each',
    sides: (builds) =>
      builds.map((build) => ({
        name: build.name,
        round: () => fresh(build, check_out, { is_pinned: true }),
      })),
  },
  claims: {
    about:
      'POST /events/{id}/claims of distinct customers, SQLite, policy open; server and wrk have one core each',
    sides: (builds) =>
      builds.map((build) => ({ name: build.name, round: () => fresh(build, claim, { is_pinned: true }) })),
  },
  polls: {
    about: 'GET /events/{id}/queue/position of one customer behind 20,000; server and wrk have one core each',
    async sides(builds, end_with) {
      const begin = async (side) => {
        const crowd_of = ['--url', side.url, '--data-dir', side.data_dir, '--fans', '20000'];
        await run(load, [...crowd_of, '--join-only', '--quiet']);
        const token = await side.command('token');
        await side.server.post(`/events/${side.demo.event_id}/queue`, { token });
        return { url: `${side.url}/events/${side.demo.event_id}/queue/position`, token };
      };
      return lasting(builds, end_with, begin, async (side) => {
        const { length } = await answer_to(side.request);
        return [await bare_beast(length)];
      });
    },
  },
  access: {
    about: 'GET /access of one session; each server and wrk have one core each',
    sides: (builds, end_with) => access_sides(builds, end_with),
  },
  access_tls: {
    about: 'the same over kept TLS 1.3 connections (ECDSA P-256)',
    sides: (builds, end_with) => access_sides(builds, end_with, own_certificate()),
  },
  handshakes: {
    about: 'full TLS 1.3 handshakes, each with one GET /livez, one after the other; each side has one core',
    async sides(builds, end_with) {
      const own = own_certificate();
      const sides = await lasting(
        builds,
        end_with,
        () => ({}),
        async () => [await nginx(2, own)],
        { own },
      );
      return sides.map((side) => ({ name: side.name, round: () => shake_hands(side.side) }));
    },
  },
  scrapes: {
    about: `/metrics with ${events_of_scrapes.toLocaleString('en')} events`,
    async sides(builds, end_with) {
      const sides = [];
      for (const build of builds) {
        const side = await server_of(build, { is_pinned: true });
        end_with(() => side.end());
        const token = await side.organizer();
        for (let n = 1; n < events_of_scrapes; ++n)
          await side.server.event(token, { queue: { policy: 'operator' } });
        sides.push({ name: side.name, round: () => scrape(side) });
      }
      return sides;
    },
  },
  idle: {
    about: 'an unused server with the demo sale, for 10 s',
    sides: (builds) => builds.map((build) => ({ name: build.name, round: () => fresh(build, rest) })),
  },
};
