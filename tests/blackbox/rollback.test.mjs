// SPDX-License-Identifier: Apache-2.0
// The automatic switch from asynchronous to synchronous checkout, end to end: a gateway is unavailable while
// orders wait.
import test from 'node:test';
import { assert, eventually, sleep } from './lib.mjs';
import { Shop } from './gateways.mjs';
import { cli } from './tenant.mjs';

const gateway = 'paystack';
const quick = {
  'checkout.rollback_workers_for': '2s',
  'payments.retry_base': '20ms',
  'payments.retry_cap': '50ms',
};

async function operator_of(server) {
  const session = await server.post('/sessions', {
    token: await cli(server, 'apikey', 'issue', '--scope', 'operator'),
  });
  assert.equal(session.status, 201, session.text);
  return session.json.token;
}

/** A shop whose gateway just became unavailable with two open orders. */
async function without_gateway(t, settings) {
  const shop = await Shop.open(t, {
    gateway,
    event: { claim_ttl_seconds: 90 },
    settings: { ...quick, ...settings },
  });
  shop.operator = await operator_of(shop.server);
  shop.fans = await shop.server.customers(5);
  shop.had_workers_at = Date.now();
  shop.double.faults.add({ kind: 'reset_before' });
  for (const fan of shop.fans.slice(0, 3)) await shop.order(fan);
  await eventually('the gateway has no workers', async () => {
    const asked = Date.now();
    if (/^fairqueue_gateway_workers\{gateway="paystack"\} 0$/m.test(await metrics(shop))) return true;
    shop.had_workers_at = asked;
    return false;
  });
  return shop;
}
const metrics = async (shop) => (await shop.server.get('/metrics', { admin: true })).text;
const percent = async (shop) =>
  (await shop.server.get('/settings', { token: shop.operator })).json.checkout.async_percent;
const audited = async (shop) =>
  (await shop.server.get('/audit', { token: shop.operator })).json.entries.filter(
    (e) => e.actor === 'system',
  );

test('no worker while orders wait: checkout becomes synchronous, and stays so until a person changes it', async (t) => {
  const shop = await without_gateway(t, { 'checkout.rollback': 'true' });
  await eventually('it is switched', async () => (await percent(shop)) === 0, { timeout_ms: 15_000 });
  const [entry, ...more] = await audited(shop);
  assert.equal(more.length, 0);
  assert.ok(Date.parse(entry.at) - shop.had_workers_at >= 2000, `not at once: ${entry.at}`);
  assert.equal(entry.action, 'settings.change');
  assert.match(entry.reason, /automatic rollback.*workers/);
  const organizers = await shop.server.get('/audit', { token: await shop.server.organizer() });
  assert.ok(
    organizers.json.entries.some((e) => e.id === entry.id),
    'an organizer sees it, too',
  );
  const text = await metrics(shop);
  assert.match(text, /^fairqueue_checkout_rollbacks_total\{trigger="workers"\} 1$/m);
  assert.match(text, /^fairqueue_checkout_rollbacks_total\{trigger="queue"\} 0$/m);
  assert.match(text, /^fairqueue_checkout_async_ratio 0$/m);
  assert.match(text, /^fairqueue_checkout_rollback_enabled 1$/m);
  await shop.server.logged(/"checkout switched to synchronous".*"trigger":"workers"/);

  // The gateway is back: checkouts are answered with their page, and there is no switch back.
  shop.double.faults.clear();
  await eventually(
    'the gateway has workers',
    async () => {
      await shop.check_out(shop.fans[3]);
      return /^fairqueue_gateway_workers\{gateway="paystack"\} 32$/m.test(await metrics(shop));
    },
    { timeout_ms: 30_000, every_ms: 1000 },
  );
  const answer = await shop.check_out(shop.fans[4]);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.status, 'awaiting_payment');
  await sleep(3000);
  assert.equal(await percent(shop), 0);
  assert.equal((await audited(shop)).length, 1);

  const back = await shop.server.patch('/settings', {
    token: shop.operator,
    body: { checkout: { async_percent: 100 }, reason: 'the gateway is back' },
  });
  assert.equal(back.status, 200, back.text);
  await sleep(3000);
  assert.equal(await percent(shop), 100, 'and it is not switched again without a reason');

  // The setting is in the ledger, not in the process.
  await shop.server.patch('/settings', { token: shop.operator, body: { checkout: { async_percent: 0 } } });
  await shop.server.stop();
  await shop.server.launch();
  assert.equal(await percent(shop), 0);
});

test('it is off by default', async (t) => {
  const shop = await without_gateway(t, {});
  await sleep(5000);
  assert.equal(await percent(shop), 100);
  assert.equal((await audited(shop)).length, 0);
  assert.match(await metrics(shop), /^fairqueue_checkout_rollback_enabled 0$/m);
});
