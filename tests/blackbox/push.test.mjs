// SPDX-License-Identifier: Apache-2.0
// A crowd is admitted and notified by push while FCM answers every fifth request with 429 or 503.
// bench/push.mjs measures whether it slows admissions, at the size of a stadium.
import test from 'node:test';
import { assert, patience, server_for } from './lib.mjs';
import { tenant_on } from './tenant.mjs';
import { advance, all_told, judge, line } from './admissions.mjs';
import { PushProvider } from '../support/push_provider.mjs';

const people = 1500; // more than the reset limit of one connection (nghttp2: 1,000 and 33 a second)

test(
  'every admission is told once or expires with its session, though FCM refuses one try of five',
  { timeout: 60_000 * patience },
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

    await advance(server, tenant, unlucky.queue, unlucky.tickets.length);
    for (let admitted = 0; admitted < people; admitted += 100)
      await advance(server, tenant, lucky.queue, 100);
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
