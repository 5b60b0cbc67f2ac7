// SPDX-License-Identifier: Apache-2.0
// A crowd is admitted and notified by push. Until each device was tried once, FCM answers every fifth request
// with 429 or 503. bench/push.mjs measures whether it slows admissions, at the size of a stadium. Then FCM is
// down, for ten minutes with FAIRQUEUE_LONG=1.
import test from 'node:test';
import { assert, eventually, patience, report_outage, server_for, sleep } from './lib.mjs';
import { tenant_on } from './tenant.mjs';
import { advance, all_told, judge, line } from './admissions.mjs';
import { PushProvider } from '../support/push_provider.mjs';

const people = 1500; // more than the reset limit of one connection (nghttp2: 1,000 and 33 a second)

test(
  'every admission is told once or expires with its session, though FCM refuses one try of five',
  { timeout: 180_000 * patience },
  async (t) => {
    const provider = await PushProvider.start();
    t.after(() => provider.stop());
    const server = await server_for(t, { settings: provider.settings });
    const tenant = await tenant_on(server);
    const lucky = await line(server, tenant, 'fan', people, { has_devices: true });
    const session_ttl_seconds = 5;
    const unlucky = await line(server, tenant, 'unlucky', 10, { has_devices: true, session_ttl_seconds });
    await provider.weather({ share_429: 0.1, share_503: 0.1, retry_after: { share: 0.5, seconds: 1 } });
    await provider.script(
      Object.fromEntries(unlucky.tickets.map(({ subject }) => [subject, { status: 503 }])),
    );

    const tried = async (subjects, times) => {
      const devices = (await provider.tally()).tried['queue.turn_granted'] ?? {};
      return subjects.every(({ subject }) => devices[subject]?.times >= times);
    };
    await advance(server, tenant, unlucky.queue, unlucky.tickets.length);
    // The crowd comes later: it would delay these tries beyond the session.
    await eventually('a second try of each unlucky one', () => tried(unlucky.tickets, 2));
    for (let admitted = 0; admitted < people; admitted += 100)
      await advance(server, tenant, lucky.queue, 100);
    await eventually('a try of each', () => tried(lucky.tickets, 1), { timeout_ms: 40_000 });
    await provider.weather({}); // or one device might be refused many times in a row
    const seen = await all_told(server, tenant, provider, people + unlucky.tickets.length, {
      timeout_ms: 40_000,
    });
    const { refused } = judge({
      lucky: lucky.tickets,
      unlucky: unlucky.tickets.map((u) => ({ ...u, session_ms: session_ttl_seconds * 1000 })),
      ...seen,
    });
    assert.ok(refused > people / 10, `the weather was bad: ${refused}`);
    assert.ok(seen.metrics.put_off >= refused - unlucky.tickets.length, JSON.stringify(seen.metrics)); // the last attempt of an expired one is not postponed
  },
);

test('FCM is down: joins and admissions go on, and afterwards each admission is told once', async (t) => {
  const outage_ms = process.env.FAIRQUEUE_LONG === '1' ? 600_000 : 8_000;
  const provider = await PushProvider.start();
  t.after(() => provider.stop());
  const server = await server_for(t, { settings: provider.settings });
  const tenant = await tenant_on(server);
  const count = 200;
  const { queue, tickets } = await line(server, tenant, 'fan', count, { has_devices: true });
  const other = await tenant.queue();
  await provider.weather({ share_503: 1 });
  const steps_ms = [];
  const end = Date.now() + outage_ms;
  for (let admitted = 0; admitted < count || Date.now() < end; await sleep(outage_ms / 100)) {
    const begun = Date.now();
    await tenant.join_as(other, `late-${begun}`);
    if (admitted < count) await advance(server, tenant, queue, 10);
    admitted += 10;
    steps_ms.push(Date.now() - begun);
  }
  report_outage(t, Math.max(...steps_ms));
  const slow = steps_ms.filter((ms) => ms >= 1000 * patience); // a machine may stand still once
  assert.ok(slow.length <= 1, `joins with admissions took ${slow} ms`);
  await provider.weather({});
  const back = Date.now();
  const seen = await all_told(server, tenant, provider, count, { timeout_ms: 120_000 });
  t.diagnostic(`all were told ${Date.now() - back} ms after it was back`);
  const { refused } = judge({ lucky: tickets, unlucky: [], ...seen });
  assert.ok(refused > 0, 'it was down');
});
