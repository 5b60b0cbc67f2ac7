// SPDX-License-Identifier: Apache-2.0
// An event with many paid orders is cancelled. Each customer has a device (FCM stand-in); an endpoint takes
// webhooks, the bus is a NATS, mail goes to files; intervals are the server's defaults.
// Prints the times until all money is back and until each medium has notified all customers. Fails if a
// customer is notified more than once by a medium.
// Another event sells meanwhile: joins and checkouts at an even rate, from before the cancellation until its
// end. Prints their p99 during and before, and the ratio.
// Usage: node bench/cancellation.mjs [orders=5000] [rounds=1] [per_second=25] [seconds_before=30] [postgres]
// (after a release build; NATS is of scripts/services)
// postgres: on a private Postgres instead of the embedded ledger.
import { waiting_event, bench, median, start, tokens_of } from './parts.mjs';
import { each, log_of } from '../tests/blackbox/admissions.mjs';
import {
  is_all_told,
  judge_refunds,
  judge_told,
  mails_in,
  open_event,
  operator_of,
  order_topics,
  orders_of,
  sell,
} from '../tests/blackbox/cancellation.mjs';
import { eventually } from '../tests/blackbox/lib.mjs';
import { nats_for } from '../tests/blackbox/bus.mjs';
import { PushProvider } from '../tests/support/push_provider.mjs';
import { Services } from '../tests/support/services.mjs';
import { WebhookCounter } from '../tests/support/webhook_counter.mjs';

const on_postgres = process.argv.includes('postgres');
const [orders = 5000, rounds = 1, per_second = 25, seconds_before = 30] = process.argv
  .slice(2)
  .filter((arg) => arg !== 'postgres')
  .map(Number);
const shipped = {
  'workers.expiry_interval': '30s',
  'workers.reconciliation_interval': '30s',
  'payments.verdict_grace': '2m',
  'payments.stale_after': '10m',
};
const felt_ms = 25; // limit of another event's p99 meanwhile
const stated_ms = (60_000 * Math.max(orders, 1000)) / 5000; // docs/events.md: a minute for 5,000
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const percentile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

/** Joins a line and orders at this rate until `stop`. `seen`: {kind: [{at, ms}]}. */
function shop_on(server, tokens, queue, event) {
  const seen = { join: [], checkout: [] };
  let [stopped, next] = [false, 0];
  const ask = async (kind, target, body) => {
    const [token, at] = [tokens[next++ % tokens.length], performance.now()];
    const { status, text } = await server.post(target, { token, body });
    if (status !== 201 && status !== 202) throw new Error(`${kind}: ${status} ${text}`);
    seen[kind].push({ at, ms: performance.now() - at });
  };
  const done = (async () => {
    const began = performance.now();
    const asked = [];
    for (let tick = 0; !stopped; ++tick) {
      await sleep(Math.max(0, began + (tick * 1000) / per_second - performance.now()));
      asked.push(ask('join', `/events/${queue}/queue`));
      asked.push(
        ask('checkout', '/checkout', {
          event_id: event.id,
          contact: { first_name: 'Ada', last_name: 'Obi', email: 'other@example.org' },
          items: [{ ticket_type_id: event.ticket_types[0].id }],
        }),
      );
    }
    await Promise.all(asked);
  })();
  return { seen, stop: () => ((stopped = true), done) };
}

async function run_once(end_with) {
  const services = await Services.start('nats', ...(on_postgres ? ['postgres'] : []));
  end_with(() => services.stop());
  const provider = await PushProvider.start({ nice: 10 });
  end_with(() => provider.stop());
  const counter = await WebhookCounter.start();
  end_with(() => counter.stop());
  const server = await start(end_with, {
    ...shipped,
    ...provider.settings,
    ...(on_postgres && { 'ledger.url': services.postgres_url }),
    'bus.url': services.nats_url,
    'webhooks.allow_private': true,
    'webhooks.allow_http': true,
    'webhooks.ports': counter.port,
    'rate_limits.anonymous_requests_per_ip_per_minute': 0,
  });
  await provider.weather({ share_429: 0, share_503: 0, retry_after: { share: 0, seconds: 0 } });
  const organizer = await server.organizer();
  const operator = await operator_of(server);
  const topics = ['event.cancelled', ...order_topics];
  const made = await server.post('/webhook-endpoints', {
    token: organizer,
    body: { url: counter.url, topics },
  });
  if (made.status !== 201) throw new Error(made.text);
  let began = performance.now();
  const { event, people } = await sell(server, organizer, tokens_of(server, orders));
  console.log(`${orders} orders paid in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  began = performance.now();
  const delivered = async () =>
    Number(
      /^fairqueue_deliveries_total\{channel="fcm",result="delivered"\} (\d+)$/m.exec(
        (await server.get('/metrics', { admin: true })).text,
      )[1],
    );
  const until = { timeout_ms: 600_000, every_ms: 250 };
  await eventually('the sale is told', () => is_all_told(server), until);
  await eventually(
    'every phone has rung',
    async () => (await log_of(server, operator, 'pending')).length === 0,
    until,
  );
  console.log(
    `notices of the sale were delivered ${((performance.now() - began) / 1000).toFixed(0)} s later`,
  );
  const [rung, mailed] = [await delivered(), mails_in(server)];

  const queue = await waiting_event(server);
  const other = await open_event(server, organizer, {
    name: 'Another',
    total: 1_000_000,
    claim_ttl_seconds: 3600,
    queue: { policy: 'open', session_ttl_seconds: 7200 },
  });
  const shop = shop_on(server, tokens_of(server, 20_000), queue, other);
  await sleep(seconds_before * 1000);
  const cancelled_at = performance.now();
  const answer = await server.post(`/events/${event.id}/cancel`, { token: organizer });
  if (answer.status !== 200) throw new Error(answer.text);
  const times = { answered: performance.now() - cancelled_at };
  const ways = {
    refunded: async () => (await server.stats(organizer, event.id)).sold === 0,
    webhooks: async () => (await counter.told({ only_count: true })) >= 1 + orders * order_topics.length,
    phones: async () => (await delivered()) >= rung + orders * (1 + order_topics.length),
    mails: async () => mails_in(server) >= mailed + orders * 2 && (await is_all_told(server, ['mail'])), // the other event's are among them
    bus: async () => times.refunded && (await is_all_told(server, ['bus'])),
  };
  await each(Object.entries(ways), 10, async ([way, is_over]) => {
    await eventually(way, is_over, { timeout_ms: 600_000, every_ms: way === 'mails' ? 1000 : 200 });
    times[way] = performance.now() - cancelled_at;
  });
  const all_at = performance.now();
  await shop.stop();
  console.log(
    `after the cancellation, in s: ${Object.entries(times)
      .map(([way, ms]) => `${way} ${(ms / 1000).toFixed(1)}`)
      .join(', ')}`,
  );
  const longest = Math.max(...Object.values(times));
  if (longest > stated_ms) throw new Error(`it took ${longest} ms, stated is ${stated_ms}`);
  const ratios = {};
  for (const [kind, samples] of Object.entries(shop.seen)) {
    const of_part = (from, to) => samples.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms);
    const [before, during] = [
      of_part(cancelled_at - seconds_before * 1000 + 5000, cancelled_at),
      of_part(cancelled_at, all_at),
    ]; // the first five seconds warm it up
    const refunding = of_part(cancelled_at, cancelled_at + times.refunded);
    ratios[kind] = percentile(during, 0.99) / percentile(before, 0.99);
    const words = (values) =>
      `p50 ${percentile(values, 0.5).toFixed(1)} p99 ${percentile(values, 0.99).toFixed(1)} max ${Math.max(...values).toFixed(0)} (${values.length})`;
    if (percentile(during, 0.99) > felt_ms)
      throw new Error(`${kind} at another event: p99 ${percentile(during, 0.99)} ms, limit is ${felt_ms}`);
    console.log(
      `${kind} at another event, ms: before ${words(before)}; until all are notified ${words(during)}; of these during refunds ${words(refunding)}; p99 ratio ${ratios[kind].toFixed(2)}`,
    );
  }
  judge_refunds(await orders_of(server, organizer, event), people);
  const nats = await nats_for({ after: end_with }, services);
  await judge_told({ server, operator, people, hook: await counter.told(), provider, nats });
  console.log('all customers are refunded and notified once by mail, push, webhook and bus');
  return ratios;
}

const all = { join: [], checkout: [] };
for (let round = 1; round <= rounds; ++round)
  await bench(async (end_with) => {
    const ratios = await run_once(end_with);
    for (const kind of Object.keys(all)) all[kind].push(ratios[kind]);
  });
for (const [kind, ratios] of Object.entries(all))
  console.log(
    `${kind}: p99 during / before ${ratios.map((r) => r.toFixed(2)).join(', ')}, median ${median(ratios).toFixed(2)}`,
  );
