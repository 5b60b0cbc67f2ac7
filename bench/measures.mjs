// SPDX-License-Identifier: Apache-2.0
// The measures of scripts/bench. Each names its sides and does one round with one of them; the rounds of the
// sides alternate. Figures of a round: `rate` a second, `cpu_us` of all server processes a request, `p99_ms`.
import fs from 'node:fs';
import { root, run } from '../tests/blackbox/lib.mjs';
import { Services } from '../tests/support/services.mjs';
import { cpu_seconds, crowd } from './parts.mjs';
import { bare_beast, nginx, server_of } from './sides.mjs';

const load = `${root}/build/release/load/fairqueue-load`;
const joins_a_round = 50_000;
const checkouts_a_round = 100_000; // at most
const seconds_a_round = 3;

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
  const timed = 'TIMEFORMAT="%3U %3S"; time "$0" "$@"';
  const crowd_of = ['--url', side.url, '--data-dir', side.data_dir, '--fans', String(joins_a_round)];
  const rest = ['--join-only', '--connections', '256', '--quiet', '--json', '-'];
  const before = side.cpu();
  const { code, out, err } = await run('/bin/bash', ['-c', timed, load, ...crowd_of, ...rest]);
  if (code !== 0) throw new Error(`${side.name}: fairqueue-load ended with ${code}: ${err}`);
  const cpu_us = ((side.cpu() - before) * 1e6) / joins_a_round;
  const load_cpu = err.trim().split('\n').pop().split(' ').map(Number);
  const seen = JSON.parse(out);
  return {
    rate: seen.joins_per_second,
    cpu_us,
    p99_ms: seen.latency.p99_ms,
    load_cpu_us: ((load_cpu[0] + load_cpu[1]) * 1e6) / joins_a_round,
  };
}

/** Checkouts of distinct customers without a line, until the time is over; the stock lasts. */
async function check_out(side) {
  const token = await side.organizer();
  const at = (ms) => new Date(Date.now() + ms).toISOString();
  const sale = { name: 'Bench', currency: 'EUR', sale_start: at(-60_000), sale_end: at(3_600_000) };
  const types = [{ name: 'Standard', price: 1000, total: 1_000_000 }];
  const body = { ...sale, ticket_types: types, queue: { policy: 'open' } };
  const event = (await side.server.post('/events', { token, body })).json;
  await side.server.post(`/events/${event.id}/activate`, { token });
  const line_of = (customer, i) => {
    const contact = { first_name: 'Fan', last_name: String(i), email: `fan-${i}@example.org` };
    const items = [{ ticket_type_id: event.ticket_types[0].id }];
    return `${customer} ${JSON.stringify({ event_id: event.id, contact, items })}`;
  };
  const customers = await side.command('token', '--kind', 'customer', '--count', String(checkouts_a_round));
  const lines = customers.split('\n').map(line_of);
  return ask(side, { url: `${side.url}/checkout`, method: 'POST', lines });
}

/** CPU in seconds of the Postgres whose data is in `folder`, with the backends that have ended. */
function postgres_cpu(folder) {
  const postmaster = fs.readFileSync(`${folder}/postgres/data/postmaster.pid`, 'utf8').split('\n')[0];
  const children = fs.readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim();
  const own = cpu_seconds(postmaster, true);
  return children.split(' ').reduce((sum, pid) => sum + cpu_seconds(pid), own);
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
async function lasting(builds, end_with, begin, yardsticks) {
  const sides = [];
  for (const build of builds) {
    const side = await server_of(build, { is_pinned: true });
    end_with(() => side.end());
    sides.push({ ...side, request: await begin(side) });
  }
  for (const side of await yardsticks(sides[0])) {
    end_with(() => side.end());
    sides.push({ ...side, request: {} });
  }
  return sides.map((side) => ({ name: side.name, round: () => ask(side, side.request) }));
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

export const measures = {
  joins: {
    about: 'durable joins, SQLite; server and load share all cores',
    sides: (builds) => builds.map((build) => ({ name: build.name, round: () => fresh(build, join) })),
  },
  joins_postgres: {
    about: 'durable joins, Postgres; its CPU counts as the server’s',
    async sides(builds, end_with) {
      const services = await Services.start('postgres');
      end_with(() => services.stop());
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
    async sides(builds, end_with) {
      const begin = async (side) => {
        const key = (scope) => side.command('apikey', 'issue', '--scope', scope);
        const post = (target, token, body) => side.server.post(target, { token, body });
        const operator = (await post('/sessions', await key('operator'), {})).json.token;
        const settings = { name: 'Bench', concurrency: 2000, session_ttl_seconds: 86_400 };
        const queue = (await post('/queues', operator, settings)).json.id;
        const ticket = (await post(`/queues/${queue}/tickets`, await key('server'), { subject: 'user-42' }))
          .json;
        return { url: `${side.url}/access`, token: ticket.session_token };
      };
      return lasting(builds, end_with, begin, async (side) => {
        const { length, fields } = await answer_to(side.request);
        return [await bare_beast(length, fields), await nginx(length)];
      });
    },
  },
};
