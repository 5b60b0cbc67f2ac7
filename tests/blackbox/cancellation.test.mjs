// SPDX-License-Identifier: Apache-2.0
// An event is cancelled after many customers have paid: all are refunded and notified once by each medium,
// and another event continues to sell. Times with 5,000 orders and the effect on the other event:
// bench/cancellation.mjs.
import test from 'node:test';
import { assert, eventually, patience, server_for } from './lib.mjs';
import { log_of } from './admissions.mjs';
import { nats_for } from './bus.mjs';
import {
  buy,
  is_all_told,
  judge_refunds,
  judge_told,
  open_event,
  operator_of,
  order_topics,
  orders_of,
  sell,
} from './cancellation.mjs';
import { PushProvider } from '../support/push_provider.mjs';
import { Services } from '../support/services.mjs';
import { WebhookCounter } from '../support/webhook_counter.mjs';

test(
  'a cancelled event refunds everybody and tells everybody once, while another one sells',
  { timeout: 120_000 * patience },
  async (t) => {
    const services = await Services.start('nats');
    t.after(() => services.stop());
    const provider = await PushProvider.start();
    t.after(() => provider.stop());
    const counter = await WebhookCounter.start();
    t.after(() => counter.stop());
    const settings = {
      ...provider.settings,
      'bus.url': services.nats_url,
      'webhooks.allow_private': true,
      'webhooks.allow_http': true,
      'webhooks.ports': counter.port,
    };
    const server = await server_for(t, { settings });
    await provider.weather({ share_429: 0, share_503: 0, retry_after: { share: 0, seconds: 0 } });
    const organizer = await server.organizer();
    const topics = ['event.cancelled', ...order_topics];
    assert.equal(
      (await server.post('/webhook-endpoints', { token: organizer, body: { url: counter.url, topics } }))
        .status,
      201,
    );
    const tokens = await server.customers(100);
    const { event, people } = await sell(server, organizer, tokens);
    const other = await open_event(server, organizer, { name: 'Another', total: 100 });
    await eventually('the sale is told', () => is_all_told(server), { timeout_ms: 30_000 });

    assert.equal((await server.post(`/events/${event.id}/cancel`, { token: organizer })).status, 200);
    for (const token of await server.customers(10)) await buy(server, other, token, 'other@example.org');
    const orders = await eventually(
      'every order is refunded',
      async () => {
        const all = await orders_of(server, organizer, event);
        return all.every(({ status }) => status === 'refunded') && all;
      },
      { timeout_ms: 30_000 },
    );
    judge_refunds(orders, people);
    const hook = await eventually(
      'the endpoint is told',
      async () => {
        const told = await counter.told();
        return told.length > people.length * order_topics.length && told;
      },
      { timeout_ms: 30_000 },
    );
    await eventually('nothing waits', () => is_all_told(server), { timeout_ms: 30_000 });
    const operator = await operator_of(server);
    const nats = await nats_for(t, services);
    await eventually(
      'every phone has rung',
      async () => (await log_of(server, operator, 'pending')).length === 0,
      { timeout_ms: 30_000 },
    );
    await judge_told({ server, operator, people, hook, provider, nats });
    assert.ok(
      (await orders_of(server, organizer, other)).every(({ status }) => status === 'success'),
      'the other event has nothing to do with it',
    );
  },
);
