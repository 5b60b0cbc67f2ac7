// SPDX-License-Identifier: Apache-2.0
// Payments at Stripe and Paystack, with stand-ins that keep their own ledgers: checkout, webhooks, expiry,
// refunds, tax. Each test ends with a comparison of both ledgers (I3, I4). Sales mostly wait, so several run
// in parallel. Prints its seed.
import { describe, it } from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { assert, eventually, expect_problem, patience, seed } from './lib.mjs';
import { Shop, both, contact, no_hurry, unique } from './gateways.mjs';

console.log(`FAIRQUEUE_TEST_SEED=${seed}`);
const side_by_side = { concurrency: 5, timeout: 150_000 * patience };

const mails = (server) => {
  const folder = path.join(server.data_dir, 'mail');
  return fs.existsSync(folder)
    ? fs
        .readdirSync(folder)
        .filter((f) => f.endsWith('.eml'))
        .map((f) => fs.readFileSync(path.join(folder, f), 'utf8'))
    : [];
};

/** The line of the log about an order, which names no person. */
async function logged(server, message, order) {
  const found = await eventually(`${message} in the log`, () =>
    server.log
      .split('\n')
      .slice(0, -1) // the last line may not be whole yet
      .filter((line) => line.includes(order))
      .map((line) => JSON.parse(line))
      .find((line) => line.message === message),
  );
  assert.ok(!JSON.stringify(found).includes(contact.email));
  assert.equal(typeof found.duration, 'number');
  return found;
}

describe('checkout', side_by_side, () => {
  for (const gateway of both)
    it(`${gateway}: from the order to the receipt`, async (t) => {
      const shop = await Shop.open(t, {
        gateway,
        settings: no_hurry,
        event: {
          total: undefined,
          price: undefined,
          ticket_types: [
            { name: 'Standard', price: 1000, total: 10, max_per_order: 4 },
            { name: 'Seat', price: 2500, total: 5, max_per_order: 4 },
          ],
        },
      });
      const [fan] = await shop.server.customers(1);
      const items = [
        { ticket_type_id: shop.types[0], quantity: 2, donation: 100 },
        { ticket_type_id: shop.types[1] },
      ];
      const { order, page } = await shop.ordered(fan, {
        items,
        success_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example/back',
      });
      const [create, ...more] = shop.calls(
        gateway === 'stripe' ? 'checkout.create' : 'transaction.initialize',
      );
      assert.equal(more.length, 0, 'one call');
      const { params } = create;
      const { order_id, show_id, site } = params.metadata;
      assert.deepEqual([order_id, show_id, site], [order, shop.event.id, 'fairqueue']);
      if (gateway === 'stripe') {
        const lines = params.line_items.map((l) => [
          l.price_data.product_data.name,
          Number(l.price_data.unit_amount),
          Number(l.quantity),
        ]);
        assert.deepEqual(lines, [
          ['Standard', 1100, 2],
          ['Seat', 2500, 1],
          ['Platform fee', 450, 1],
          ['Processing fee', 179, 1],
        ]);
        assert.equal(params.client_reference_id, create.idempotency_key, 'the key is our reference');
        assert.equal(params.metadata.fairqueue_reference, params.client_reference_id);
        assert.equal(params.payment_intent_data.metadata.fairqueue_reference, params.client_reference_id);
        assert.deepEqual(params.payment_intent_data.metadata, params.metadata, 'for events of both');
        assert.equal(params.payment_intent_data.description, shop.event.name);
        assert.equal(params.payment_intent_data.transfer_data, undefined, 'no account to pass it on to');
        assert.equal(params.customer_email, contact.email);
        assert.equal(params.success_url, 'https://shop.example/thanks');
        assert.equal(params.cancel_url, 'https://shop.example/back');
      } else {
        assert.deepEqual([params.amount, params.currency, params.email], [5329, 'NGN', contact.email]);
        assert.equal(params.callback_url, 'https://shop.example/thanks');
        assert.equal(params.metadata.fairqueue_reference, params.reference);
      }
      await shop.books();
      await shop.double.pay(page);
      const done = await shop.reaches(fan, order, 'success');
      assert.equal(done.redirect_url, 'https://shop.example/thanks');
      const whole = await shop.whole(fan, order);
      assert.deepEqual([whole.total, whole.payment_status], [5329, 'CONFIRMED']);
      assert.deepEqual(shop.double.sums().captured, { [gateway === 'stripe' ? 'eur' : 'NGN']: 5329 });
      await eventually('the receipt', () =>
        mails(shop.server).some((m) => m.includes(contact.email) && m.includes(order)),
      );
      await shop.settled();
      assert.equal(await shop.available(), 12);
      assert.equal((await logged(shop.server, 'checkout.started', order)).duration, 0);
      const completed = await logged(shop.server, 'checkout.completed', order);
      assert.deepEqual([completed.order_id, completed.error], [order, undefined]);
      assert.ok(completed.duration > 0);
    });

  it('stripe: a tenant with an account is passed its money on, less the fees', async (t) => {
    const shop = await Shop.open(t);
    const [fan, other, ...trials] = await shop.server.customers(42);
    const labels = ['--payment-metadata', 'site=backend', '--payment-metadata', 'team=a=b c'];
    await shop.tenant('--stripe-account', 'acct_1FairQueueTest', ...labels);
    const last_call = () => shop.calls('checkout.create').at(-1);
    await eventually(
      'the running server knows it',
      async () => {
        const trial = trials.pop();
        const { order } = await shop.ordered(trial);
        await shop.server.delete(`/orders/${order}`, { token: trial });
        return last_call().params.payment_intent_data.transfer_data;
      },
      { every_ms: 300 },
    );
    const { order } = await shop.bought(fan);
    const { params } = last_call();
    assert.deepEqual([params.metadata.site, params.metadata.team], ['backend', 'a=b c']);
    const data = params.payment_intent_data;
    assert.equal(data.transfer_data.destination, 'acct_1FairQueueTest');
    const { platform_fee, processing_fee } = await shop.whole(fan, order);
    assert.equal(Number(data.application_fee_amount), platform_fee + processing_fee);
    assert.ok(platform_fee > 0 && processing_fee > 0);
    await shop.server.restart();
    const { order: second } = await shop.bought(other);
    assert.equal(last_call().params.payment_intent_data.transfer_data.destination, 'acct_1FairQueueTest');
    assert.equal((await shop.refund(second)).status, 202);
    await shop.reaches(other, second, 'refunded');
    const [refund] = shop.calls('refund.create');
    assert.deepEqual(
      [refund.params.reverse_transfer, refund.params.refund_application_fee],
      ['true', 'true'],
    );
    assert.deepEqual(Object.keys(refund.params.metadata).sort(), ['fairqueue_reference', 'fairqueue_refund']);
    await shop.settled();
  });

  it('paystack: a tenant with a subaccount is passed its money on, less the fees', async (t) => {
    const settings = { 'mail.senders': 'box@arena.example' };
    const shop = await Shop.open(t, { gateway: 'paystack', settings });
    const [fan] = await shop.server.customers(1);
    await shop.tenant('--paystack-subaccount', 'ACCT_fairqueue1', '--payment-metadata', 'site=arena');
    await shop.tenant(
      '--mail-sender',
      'box@arena.example',
      '--mail-name',
      'Arena',
      '--mail-colour',
      '#2c1d6b',
    );
    for (const wrong of [
      ['--paystack-subaccount', 'acct_1'],
      ['--payment-metadata', 'order_id=1'],
      ['--payment-metadata', 'a[b]=1'],
      ['--mail-sender', 'box@other.example'],
      ['--mail-colour', 'red'],
      ['--payment-metadata', 'a=1', '--payment-metadata', 'a=2'],
      ['--payment-metadata', 'a=1', '--payment-metadata', 'none'],
    ])
      await assert.rejects(shop.tenant(...wrong), new RegExp(`${wrong[0].slice(2).replace('-', '_')}: must`));
    await shop.server.restart(); // it knows the tenant now
    const { order } = await shop.bought(fan);
    const [{ params }] = shop.calls('transaction.initialize');
    const { platform_fee, processing_fee } = await shop.whole(fan, order);
    assert.ok(platform_fee > 0 && processing_fee > 0);
    assert.deepEqual(
      [params.subaccount, Number(params.transaction_charge), params.metadata.site],
      ['ACCT_fairqueue1', platform_fee + processing_fee, 'arena'],
    );
    const mail = await eventually('the receipt', () => shop.server.mails_to(contact.email)[0]);
    assert.match(mail, /^From: Arena <box@arena\.example>\r$/m);
    assert.match(mail.replaceAll('=\r\n', ''), /background:#2c1d6b/);
    await shop.tenant('--mail-sender', 'none', '--mail-name', 'none', '--mail-colour', 'none');
    assert.equal((await shop.refund(order)).status, 202);
    await shop.reaches(fan, order, 'refunded');
    await shop.settled();
  });

  it('stripe: a claim without an order costs what a quote says, and its fees stay with us', async (t) => {
    const shop = await Shop.open(t);
    const [fan] = await shop.server.customers(1);
    await shop.tenant('--stripe-account', 'acct_1FairQueueTest');
    await shop.server.restart(); // it knows the tenant now
    await shop.server.join(fan, shop.event.id);
    const { admission_token } = await shop.server.admitted(fan, shop.event.id);
    const claim = await shop.server.claim(fan, shop.event.id, admission_token);
    assert.deepEqual([claim.fees, claim.amount], [213, 1213]); // 1.50, and 2.9 % of 11.50 with 0.30
    await shop.server.open_payment(fan, claim.claim_id);
    const [{ params }] = shop.calls('checkout.create');
    assert.equal(Number(params.payment_intent_data.application_fee_amount), 213);
  });

  it('stripe: a lost answer is asked for again as before, though the tenant has an account by now', async (t) => {
    const shop = await Shop.open(t);
    const [fan] = await shop.server.customers(1);
    shop.double.faults.add({
      operation: 'checkout.create',
      kind: 'status',
      status: 503,
      acted: true,
      count: 3,
    });
    const order = await shop.order(fan);
    await eventually('the session is there', () => shop.calls('checkout.create').length >= 3);
    await shop.tenant('--stripe-account', 'acct_1FairQueueTest');
    await shop.server.restart(); // it asks again after the restart
    const ready = await shop.reaches(fan, order, ['awaiting_payment', 'failed'], { timeout_ms: 25_000 });
    assert.equal(ready.status, 'awaiting_payment', `${JSON.stringify(ready)} ${shop.double.violations}`);
    await shop.server.delete(`/orders/${order}`, { token: fan });
    await shop.settled();
  });

  it('stripe: what was paid before the tenant had an account is refunded without a transfer', async (t) => {
    const shop = await Shop.open(t);
    const [fan] = await shop.server.customers(1);
    const { order } = await shop.bought(fan);
    await shop.tenant('--stripe-account', 'acct_1FairQueueTest');
    await shop.server.restart();
    assert.equal((await shop.refund(order)).status, 202);
    await eventually('a refund was asked for', () => shop.calls('refund.create').length > 0);
    assert.equal(
      shop.calls('refund.create')[0].params.reverse_transfer,
      undefined,
      'there is no transfer to reverse',
    );
    await shop.reaches(fan, order, 'refunded');
    await shop.settled();
  });

  it('a gateway that says no: the order has failed and the ticket is free', async (t) => {
    const shop = await Shop.open(t, { event: { price: 20 }, settings: { 'checkout.fees': '*:0:0:0' } });
    const [fan] = await shop.server.customers(1);
    const order = await shop.order(fan); // below Stripe's minimum
    const failed = await shop.reaches(fan, order, 'failed');
    assert.equal(failed.failure, 'payment_rejected');
    assert.equal((await logged(shop.server, 'checkout.failed', order)).error, 'payment_rejected');
    assert.equal(await shop.available(), 10);
    assert.match(shop.double.violations.splice(0).join(), /total amount must convert/);
    await shop.settled();
  });

  for (const gateway of both)
    it(`${gateway}: a declined card pays at the second try`, async (t) => {
      const shop = await Shop.open(t, {
        gateway,
        standin: gateway === 'paystack' ? { failureWebhooks: true } : {},
      });
      const [fan] = await shop.server.customers(1);
      const { order, page } = await shop.ordered(fan);
      await shop.double.declineCard(page, { awaitWebhook: true });
      assert.equal((await shop.status(fan, order)).status, 'awaiting_payment');
      await shop.double.pay(page);
      await shop.reaches(fan, order, 'success');
      await shop.double.lateFailure(page);
      await shop.double.quiet();
      assert.equal((await shop.status(fan, order)).status, 'success', 'failed after success says nothing');
      await shop.settled();
    });

  it('stripe: a slow payment method, once it pays and once it does not', async (t) => {
    const shop = await Shop.open(t);
    const [fan, other] = await shop.server.customers(2);
    const paid = await shop.ordered(fan);
    await shop.double.payAsync(paid.page, { awaitWebhook: true });
    assert.equal((await shop.status(fan, paid.order)).status, 'awaiting_payment', 'complete is not paid');
    await shop.double.settleAsync(paid.page, true);
    await shop.reaches(fan, paid.order, 'success');
    const unpaid = await shop.ordered(other);
    await shop.double.payAsync(unpaid.page);
    await shop.double.settleAsync(unpaid.page, false);
    await eventually(
      'another try is offered',
      async () => (await shop.status(other, unpaid.order)).can_retry,
    );
    assert.equal(
      (await shop.server.delete(`/orders/${unpaid.order}`, { token: other })).json.status,
      'cancelled',
    );
    await shop.settled();
  });
});

describe('webhooks', side_by_side, () => {
  for (const gateway of both) {
    it(`${gateway}: fifty copies at once, shuffled, and again: one effect`, async (t) => {
      const shop = await Shop.open(t, { gateway });
      shop.double.webhooks.set({ duplicates: 49, shuffle: true });
      const fans = await shop.server.customers(3);
      for (const fan of fans) await shop.bought(fan);
      await shop.double.quiet();
      const type = gateway === 'stripe' ? 'checkout.session.completed' : 'charge.success';
      const bodies = shop.events(type);
      assert.equal(bodies.length, 3);
      const again = await Promise.all(Array.from({ length: 50 }, (_, i) => shop.webhook(bodies[i % 3])));
      assert.deepEqual([...new Set(again.map((a) => a.status))], [200]);
      const { payments, types } = await shop.books();
      assert.deepEqual(
        payments.map((p) => p.captured),
        [1213, 1213, 1213],
      );
      assert.deepEqual(types, [{ total: 10, held: 0, sold: 3 }]);
      assert.equal(
        mails(shop.server).filter((m) => m.includes(contact.email)).length <= 6,
        true,
        'a receipt each, perhaps a reminder each',
      );
      await shop.settled();
    });

    it(`${gateway}: paid and told before our own call is answered; refunded two days later`, async (t) => {
      const shop = await Shop.open(t, { gateway, settings: { 'gateway.call_timeout': '5s' } });
      shop.double.set({ autopay: 'before_answer' });
      const [fan] = await shop.server.customers(1);
      const order = await shop.order(fan);
      await shop.reaches(fan, order, 'success', { timeout_ms: 20_000 });
      await shop.double.quiet();
      await eventually('the call was answered', () =>
        shop.double.requests.every((r) => r.status !== undefined),
      );
      assert.equal((await shop.whole(fan, order)).payment_status, 'CONFIRMED');
      await shop.books({ is_settled: true });
      shop.double.set({ autopay: null });
      shop.double.advanceClock(48 * 3600 * 1000);
      const asked = await shop.refund(order);
      assert.equal(asked.status, 202, asked.text);
      await shop.reaches(fan, order, 'refunded', { timeout_ms: 20_000 });
      assert.equal(shop.double.sums().captures, 1);
      await shop.settled();
    });

    it(`${gateway}: what is not signed by this gateway is 401, what is not ours 200`, async (t) => {
      const shop = await Shop.open(t, { gateway });
      const [fan] = await shop.server.customers(1);
      const { order, page } = await shop.ordered(fan);
      await shop.double.pay(page, { delayWebhook: 'hold' });
      const body = shop.events(gateway === 'stripe' ? 'checkout.session.completed' : 'charge.success')[0];
      const refused = async (about, options) => {
        expect_problem(await shop.webhook(options.body ?? body, options), 401, 'invalid_signature', about);
      };
      const now = Math.floor(Date.now() / 1000);
      await refused('another key', { secrets: ['whsec_of_another_tenant'] });
      await refused('no signature', { headers: {} });
      await refused('an empty key', { secrets: [''] });
      await refused('a byte more', { body: `${body} `, headers: shop.signature(body) });
      if (gateway === 'stripe') {
        await refused('an old one', { t: now - 360 });
        await refused('one of the future', { t: now + 360 });
        await refused('no secret in it', { headers: { 'stripe-signature': `t=${now}` } });
        await refused('no time in it', { headers: { 'stripe-signature': 'v1=00' } });
      } else {
        await refused('half a signature', { headers: { 'x-paystack-signature': 'ab' } });
      }
      const rejected = await shop.webhooks_counted('rejected');
      assert.ok(rejected >= 5, `${rejected} rejected`);
      assert.equal((await shop.status(fan, order)).status, 'awaiting_payment', 'none of them was believed');

      const foreign =
        gateway === 'stripe'
          ? {
              id: `evt_${unique()}`,
              object: 'event',
              type: 'checkout.session.completed',
              data: {
                object: {
                  id: 'cs_x',
                  object: 'checkout.session',
                  status: 'complete',
                  payment_status: 'paid',
                  amount_total: 5,
                  currency: 'eur',
                  metadata: {},
                },
              },
            }
          : {
              event: 'charge.success',
              data: { id: 1, reference: 'somebody-elses', amount: 5, currency: 'NGN', status: 'success' },
            };
      const unknown =
        gateway === 'stripe'
          ? {
              id: `evt_${unique()}`,
              object: 'event',
              type: 'customer.created',
              data: { object: { id: 'cus_1' } },
            }
          : { event: 'customeridentification.success', data: { id: 2 } };
      const [foreign_before, ignored_before] = [
        await shop.webhooks_counted('foreign'),
        await shop.webhooks_counted('ignored'),
      ];
      assert.equal((await shop.webhook(foreign)).status, 200);
      assert.equal(await shop.webhooks_counted('foreign'), foreign_before + 1);
      assert.equal((await shop.webhook(unknown)).status, 200);
      assert.equal(await shop.webhooks_counted('ignored'), ignored_before + 1);
      for (const nonsense of [
        '{',
        '[]',
        'null',
        '"x"',
        '{"event":1,"type":[]}',
        '{"type":"checkout.session.completed"}',
      ])
        assert.equal((await shop.webhook(nonsense)).status, 200, nonsense);
      shop.double.webhooks.release();
      await shop.reaches(fan, order, 'success');
      await shop.settled();
    });

    it(`${gateway}: the newer and the older secret both count while one is replaced`, async (t) => {
      const [api, standin] =
        gateway === 'stripe'
          ? [
              { FAIRQUEUE_STRIPE_WEBHOOK_SECRETS: 'whsec_new, whsec_old' },
              { secrets: { webhook: ['whsec_old'] } },
            ]
          : [{ FAIRQUEUE_PAYSTACK_SECRET_KEYS: 'sk_new,sk_old' }, { secrets: { api: ['sk_old', 'sk_new'] } }];
      const shop = await Shop.open(t, { gateway, env: api, standin });
      const [fan, other, third] = await shop.server.customers(3);
      await shop.bought(fan); // signed with the old one
      if (gateway === 'stripe') shop.double.webhookSecrets = ['whsec_gone', 'whsec_new'];
      else shop.double.keys = ['sk_new'];
      await shop.bought(other);
      if (gateway === 'stripe') shop.double.webhookSecrets = ['whsec_gone'];
      else shop.double.keys = ['sk_gone', 'sk_new'];
      const { page } = await shop.ordered(third);
      await shop.double.pay(page, { awaitWebhook: true });
      assert.equal(shop.double.webhooks.log.at(-1).status, 401);
      if (gateway === 'stripe') shop.double.webhookSecrets = ['whsec_old'];
      else shop.double.keys = ['sk_old', 'sk_new'];
      await shop.settled();
    });

    for (const [what, paid] of [
      ['less than was asked', { amount: 1212 }],
      ['more than was asked', { amount: 1300 }],
      ['another currency', { currency: gateway === 'stripe' ? 'usd' : 'GHS' }],
    ])
      it(`${gateway}: ${what} waits for a person, who sends it back`, async (t) => {
        const shop = await Shop.open(t, { gateway, event: { claim_ttl_seconds: 4 } });
        const [fan] = await shop.server.customers(1);
        const quarantined = async (status) =>
          (await shop.dead_letters(status)).filter((l) => l.kind !== 'undelivered');
        const { order, page } = await shop.ordered(fan);
        shop.double.webhooks.set({ duplicates: 4 });
        await shop.double.pay(page, { ...paid, awaitWebhook: true });
        await eventually('its webhooks are taken', () => shop.double.webhooks.log.at(-1)?.status === 200);
        const [letter, ...more] = await eventually('a dead letter', async () => {
          const all = await quarantined();
          return all.length > 0 && all;
        });
        assert.deepEqual(
          [letter.kind, letter.event_id, more.length],
          ['payment_quarantined', shop.event.id, 0],
        );
        assert.match(letter.detail, paid.amount ? /12\.12|13\.00/ : /usd|ghs/i);
        assert.equal((await shop.whole(fan, order)).payment_status, 'QUARANTINED');
        await shop.books();
        const ended = await shop.reaches(fan, order, 'failed'); // with its hold
        assert.equal(ended.failure, 'expired');
        assert.equal(await shop.available(), 10);
        await shop.retry(letter);
        await eventually(
          'the money is back',
          () => Object.values(shop.double.sums().refunded)[0] === (paid.amount ?? 1213),
          { timeout_ms: 12_000 },
        );
        await eventually(
          'and it is said',
          async () => (await shop.whole(fan, order)).payment_status === 'REFUNDED',
        );
        assert.deepEqual(await quarantined(), []);
        assert.equal((await quarantined('all'))[0].status, 'retried');
        if (paid.currency) return; // a row has no currency; the oracle would assume the event's
        await shop.settled();
      });
  }

  it('paystack: a report that the gateway itself does not confirm is not believed, and what it says later is', async (t) => {
    const shop = await Shop.open(t, { gateway: 'paystack', settings: no_hurry });
    const [fan] = await shop.server.customers(1);
    const { order, page } = await shop.ordered(fan);
    const transaction = [...shop.double.all('transaction')][0];
    const early = {
      event: 'charge.success',
      data: {
        id: transaction.id,
        reference: transaction.reference,
        amount: 1213,
        currency: 'NGN',
        status: 'success',
      },
    };
    const verified = shop.calls('transaction.verify').length;
    await shop.webhook(early);
    assert.equal(shop.calls('transaction.verify').length, verified + 1, 'the gateway was asked');
    assert.equal((await shop.status(fan, order)).status, 'awaiting_payment');
    await shop.books();
    await shop.double.pay(page); // its event has the id of the early one
    await shop.reaches(fan, order, 'success', { timeout_ms: 5000 }); // by the webhook: payments.stale_after is later
    await shop.settled();
  });

  it('stripe: an order whose attempt is over has no page to be mailed', async (t) => {
    const shop = await Shop.open(t);
    const [fan, other, third] = await shop.server.customers(3);
    const wrong = await shop.ordered(fan);
    await shop.double.pay(wrong.page, { amount: 1212 });
    const failed = await shop.ordered(other);
    await shop.double.payAsync(failed.page);
    await shop.double.settleAsync(failed.page, false);
    const unpaid = await shop.ordered(third, { contact: { ...contact, email: 'eve@example.org' } });
    const plain = (mail) => mail.replaceAll(/=\r?\n/g, '');
    await eventually('the page of the unpaid one, ordered last', () =>
      mails(shop.server).some((m) => plain(m).includes(unpaid.page)),
    );
    const letters = (await shop.dead_letters()).filter((l) => l.kind === 'undelivered');
    assert.deepEqual(
      letters.map((l) => [l.topic, l.detail]),
      [],
    );
    assert.ok(!mails(shop.server).some((m) => m.includes(contact.email)), 'nothing to say to the others');
  });

  it('stripe: news of an expired session that come after its payment', async (t) => {
    const shop = await Shop.open(t);
    const [fan] = await shop.server.customers(1);
    const { order, page } = await shop.bought(fan);
    const session = {
      ...shop.double.get('checkout.session', page),
      status: 'expired',
      payment_status: 'unpaid',
    };
    for (const type of ['checkout.session.expired', 'checkout.session.async_payment_failed']) {
      const told = await shop.webhook({
        id: `evt_${unique()}`,
        object: 'event',
        type,
        data: { object: session },
      });
      assert.equal(told.status, 200, told.text);
    }
    assert.equal((await shop.status(fan, order)).status, 'success');
    await shop.settled();
  });
});

/**
 * The gateway accepts payments after the hold of an order: Paystack's pages cannot be closed, Stripe is
 * unreachable meanwhile.
 */
async function paid_late(shop, fan, page, order) {
  if (shop.gateway === 'stripe') {
    for (const operation of ['checkout.expire', 'checkout.retrieve'])
      shop.double.faults.add({ operation, kind: 'hang' });
    await shop.double.pay(page, { delayWebhook: 'hold' });
  }
  const failed = await shop.reaches(fan, order, 'failed');
  assert.equal(failed.failure, 'expired');
  shop.double.faults.clear();
  await eventually('the ticket is free', async () => (await shop.available()) === shop.event.available);
  return () => (shop.gateway === 'stripe' ? shop.double.webhooks.release() : shop.double.pay(page));
}

describe('expiry and late money', side_by_side, () => {
  const short = { total: 1, claim_ttl_seconds: 3 };
  const once = { 'payments.retry_attempts': 1 };

  for (const gateway of both) {
    it(`${gateway}: money after the hold buys the ticket if it is still free`, async (t) => {
      const shop = await Shop.open(t, { gateway, event: short, settings: once });
      const [fan] = await shop.server.customers(1);
      const { order, page } = await shop.ordered(fan);
      const tell = await paid_late(shop, fan, page, order);
      await tell();
      await shop.reaches(fan, order, 'success');
      assert.equal(await shop.available(), 0);
      await shop.settled();
    });

    it(`${gateway}: money after the last ticket was sold to another goes back`, async (t) => {
      const shop = await Shop.open(t, { gateway, event: short, settings: once });
      const [fan, other] = await shop.server.customers(2);
      const { order, page } = await shop.ordered(fan);
      const tell = await paid_late(shop, fan, page, order);
      await shop.change({ claim_ttl_seconds: 60 });
      const second = await shop.bought_past_holds(other);
      await tell();
      await eventually('the money is back', () => shop.double.sums().refunds === 1);
      await eventually(
        'and it is said',
        async () => (await shop.whole(fan, order)).payment_status === 'REFUNDED',
      );
      assert.equal((await shop.status(fan, order)).status, 'failed');
      assert.equal((await shop.status(other, second.order)).status, 'success');
      assert.equal(shop.double.sums().captures, 2);
      await shop.settled();
    });
  }

  it('paystack: money for an order that was given up goes back though the ticket is free', async (t) => {
    const shop = await Shop.open(t, { gateway: 'paystack' });
    const [fan] = await shop.server.customers(1);
    const { order, page } = await shop.ordered(fan);
    assert.equal((await shop.server.delete(`/orders/${order}`, { token: fan })).json.status, 'cancelled');
    await shop.double.pay(page);
    await eventually('the money is back', () => shop.double.sums().refunds === 1);
    await shop.settled();
    assert.equal((await shop.status(fan, order)).status, 'cancelled');
    assert.equal(await shop.available(), 10);
  });

  it('paystack: money for a page of before, when another order of the same customer was paid, goes back', async (t) => {
    const shop = await Shop.open(t, { gateway: 'paystack', event: { claim_ttl_seconds: 3 } });
    const [fan] = await shop.server.customers(1);
    const { order, page } = await shop.ordered(fan);
    await shop.change({ claim_ttl_seconds: 60 });
    await shop.reaches(fan, order, 'failed');
    const second = await shop.bought_past_holds(fan);
    await shop.double.pay(page);
    await eventually('the money is back', () => shop.double.sums().refunds === 1);
    await shop.settled();
    assert.equal((await shop.status(fan, order)).status, 'failed');
    assert.equal((await shop.status(fan, second.order)).status, 'success');
  });

  it('paystack: of two references of one order, one is paid: the other ends', async (t) => {
    const shop = await Shop.open(t, { gateway: 'paystack', settings: no_hurry });
    const [fan] = await shop.server.customers(1);
    shop.double.faults.add({ operation: 'transaction.initialize', kind: 'reset_after', count: 1 });
    const { order, page } = await shop.ordered(fan); // of the second reference: the first is used up
    const [first, second] = [...shop.double.all('transaction')];
    assert.equal(page, second.access_code);
    await shop.double.pay(first.reference);
    await shop.reaches(fan, order, 'success');
    await shop.settled(); // payments.stale_after and more
    await shop.double.pay(second.reference);
    await eventually('what is paid twice goes back', () => shop.double.sums().refunds === 1);
    await shop.settled();
    assert.equal((await shop.status(fan, order)).status, 'success');
  });

  for (const [gateway, what] of [
    ['paystack', 'a page that cannot be closed'],
    ['stripe', 'a slow payment that is on its way'],
  ])
    it(`${gateway}: ${what} is asked about now and then, not without a pause`, async (t) => {
      const shop = await Shop.open(t, {
        gateway,
        event: short,
        settings: { 'payments.verdict_grace': '4s' },
      });
      const [fan] = await shop.server.customers(1);
      const { order, page } = await shop.ordered(fan);
      if (gateway === 'stripe') await shop.double.payAsync(page);
      const before = shop.double.requests.length;
      await shop.reaches(fan, order, 'failed');
      const calls = shop.double.requests.length - before;
      assert.ok(calls > 0 && calls <= 24, `${calls} calls about one order within 4 s of grace`); // four questions, three calls each
      if (gateway === 'stripe') await shop.double.settleAsync(page, false);
      await shop.settled();
    });

  for (const how of ['the hold ends', 'the customer gives up'])
    it(`stripe: when ${how}, the page is closed first, and then the ticket is free`, async (t) => {
      const shop = await Shop.open(t, {
        event: how === 'the hold ends' ? short : { total: 1 },
        settings: { 'payments.verdict_grace': '5s' },
      });
      const [fan] = await shop.server.customers(1);
      const { order, page } = await shop.ordered(fan);
      const session = () => shop.double.get('checkout.session', page).status;
      let close;
      const looked = new Promise((resolve) => (close = resolve));
      const perform = shop.double.perform.bind(shop.double);
      shop.double.perform = async (ctx) => {
        if (ctx.operation === 'checkout.expire') await looked;
        return perform(ctx);
      };
      if (how !== 'the hold ends') {
        const given_up = await shop.server.delete(`/orders/${order}`, { token: fan });
        assert.equal(given_up.json.status, 'cancelled');
      }
      let looks_while_closing = 0;
      await eventually(
        'the ticket is free',
        async () => {
          const available = await shop.available();
          if (available > 0) assert.equal(session(), 'expired', 'free, and its page could still be paid');
          if (available === 0 && shop.calls('checkout.expire').length > 0) ++looks_while_closing;
          if (looks_while_closing > 3) close();
          return available > 0;
        },
        { every_ms: 10 },
      );
      assert.ok(looks_while_closing > 3, 'it was held while the page was being closed');
      await shop.reaches(fan, order, how === 'the hold ends' ? 'failed' : 'cancelled');
      await assert.rejects(shop.double.pay(page), /closed/);
      await shop.settled();
    });

  for (const gateway of both)
    it(`${gateway}: paid in the last moment and nobody tells: the gateway is asked, and it counts`, async (t) => {
      const shop = await Shop.open(t, { gateway, event: short });
      shop.double.webhooks.set({ drop: 100 });
      const [fan] = await shop.server.customers(1);
      const { order, page } = await shop.ordered(fan);
      await shop.double.pay(page);
      await shop.reaches(fan, order, 'success');
      await shop.settled();
    });
});

/** What a phone at a gate hears since a version: the next page of its list's state. */
async function phone_at_gate_of(shop) {
  const made = async (what, body) => {
    const answer = await shop.server.post(`/events/${shop.event.id}/checkin/${what}`, {
      token: shop.organizer,
      body,
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  };
  const list = await made('lists', { name: 'Door' });
  const { token } = await made('devices', { label: 'Phone' });
  return async (since = '') =>
    (await shop.server.get(`/checkin/${list.id}/state${since && `?since=${since}`}`, { token })).json;
}

describe('refunds', side_by_side, () => {
  const more = {
    ticket_types: [
      { name: 'Standard', price: 1000, total: 10, max_per_order: 4 },
      { name: 'Seat', price: 2500, total: 5, max_per_order: 4 },
    ],
    total: undefined,
    price: undefined,
  };

  for (const gateway of both) {
    it(
      `${gateway}: a lost answer to a refund does not give back twice`,
      { timeout: 150_000 * patience },
      async (t) => {
        const shop = await Shop.open(t, { gateway });
        const [fan] = await shop.server.customers(1);
        const { order } = await shop.bought(fan);
        shop.double.faults.add({ operation: 'refund.create', kind: 'reset_after', count: 1 });
        assert.equal((await shop.refund(order)).status, 202);
        await shop.reaches(fan, order, 'refunded', { timeout_ms: 80_000 });
        assert.equal(shop.double.sums().refunds, 1);
        await shop.settled();
      },
    );

    it(
      `${gateway}: one that is refused waits for a person, who asks for another`,
      { timeout: 150_000 * patience },
      async (t) => {
        const shop = await Shop.open(t, { gateway, standin: { refunds: 'pending' } });
        const [fan] = await shop.server.customers(1);
        const { order } = await shop.bought(fan);
        const sync = await phone_at_gate_of(shop);
        let known = { version: '' };
        const hears = async (what, refund_pending) => {
          known = await eventually(what, async () => {
            const next = await sync(known.version);
            return next.tickets?.some((row) => row[4] === refund_pending) && next;
          });
        };
        await hears('the ticket', 0);
        assert.equal((await shop.refund(order)).status, 202);
        await hears('that a refund has begun', 1);
        await eventually('the gateway has answered', () => shop.calls('refund.create')[0]?.status);
        const [refund] = shop.double.all('refund');
        await shop.double.settleRefund(refund.id, false);
        const letter = await eventually('a dead letter', async () => (await shop.dead_letters())[0], {
          timeout_ms: 110_000,
          every_ms: 500,
        });
        assert.equal(letter.kind, 'refund_refused');
        await hears('that the ticket is of use again', 0);
        assert.equal((await shop.whole(fan, order)).payment_status, 'REFUND_FAILED');
        assert.equal((await shop.status(fan, order)).status, 'success', 'the ticket is still theirs');
        assert.equal(shop.calls('refund.create').length, 1, 'a gateway remembers its no');
        await shop.books();
        shop.double.set({ refunds: gateway === 'stripe' ? 'succeeded' : 'processed' });
        await shop.retry(letter);
        await shop.reaches(fan, order, 'refunded');
        assert.equal(shop.calls('refund.create').length, 2);
        assert.equal(shop.double.sums().refunds, 1);
        await shop.settled();
      },
    );
  }

  for (const gateway of both) {
    it(`${gateway}: ticket by ticket; the fees go back with the last`, async (t) => {
      const shop = await Shop.open(t, { gateway, event: more });
      const [fan] = await shop.server.customers(1);
      const [standard, seat] = shop.types;
      const { order } = await shop.bought(fan, {
        items: [{ ticket_type_id: standard, quantity: 2, donation: 50 }, { ticket_type_id: seat }],
      });
      const { total } = await shop.whole(fan, order);
      const given_back = () => Object.values(shop.double.sums().refunded)[0] ?? 0;
      assert.equal((await shop.refund(order, [[standard, 1]])).status, 202);
      await shop.reaches(fan, order, 'partially_refunded');
      assert.equal(given_back(), 1050);
      await shop.settled();
      assert.equal((await shop.refund(order, [[seat, 1]])).status, 202);
      await eventually(
        'the seat is back',
        async () => (await shop.whole(fan, order)).refunded_amount === 3550,
      );
      assert.equal(given_back(), 3550);
      expect_problem(await shop.refund(order, [[seat, 1]]), 400, 'invalid_field');
      await shop.settled();
      assert.equal((await shop.refund(order)).status, 202);
      await shop.reaches(fan, order, 'refunded');
      assert.equal(given_back(), total);
      expect_problem(await shop.refund(order), 409, 'nothing_to_refund');
      assert.equal(await shop.available(), 15);
      assert.equal(shop.calls('refund.create').length, 3);
      await shop.settled();
    });

    it(`${gateway}: one that takes its time`, async (t) => {
      const shop = await Shop.open(t, { gateway, standin: { refunds: 'pending' } });
      const [fan] = await shop.server.customers(1);
      const { order } = await shop.bought(fan);
      assert.equal((await shop.refund(order)).status, 202);
      const refund = await eventually('the gateway has it', () => [...shop.double.all('refund')][0]);
      expect_problem(await shop.refund(order), 409, 'refund_open');
      assert.equal((await shop.whole(fan, order)).payment_status, 'REFUND_PENDING');
      await shop.server.restart();
      assert.equal((await shop.whole(fan, order)).payment_status, 'REFUND_PENDING');
      await shop.books();
      await shop.double.settleRefund(refund.id, true);
      await shop.reaches(fan, order, 'refunded');
      assert.equal(shop.calls('refund.create').length, 1);
      await shop.settled();
    });
  }

  for (const gateway of both)
    it(`${gateway}: two days later, when the gateway has forgotten idempotency keys`, async (t) => {
      const shop = await Shop.open(t, { gateway });
      const [fan] = await shop.server.customers(1);
      const { order } = await shop.bought(fan);
      shop.double.advanceClock(48 * 3600 * 1000);
      assert.equal((await shop.refund(order)).status, 202);
      await shop.reaches(fan, order, 'refunded');
      assert.equal(shop.double.sums().refunds, 1);
      await shop.settled();
    });

  it('stripe: tax that the gateway adds is recorded and goes back with the whole', async (t) => {
    const shop = await Shop.open(t, {
      event: more,
      settings: { 'stripe.automatic_tax': true },
      standin: { taxRate: 0.19 },
    });
    const [fan, other] = await shop.server.customers(2);
    const { order } = await shop.bought(fan);
    assert.equal(shop.calls('checkout.create')[0].params.automatic_tax.enabled, 'true');
    const tax = Math.round(1213 * 0.19);
    assert.deepEqual(shop.double.sums().captured, { eur: 1213 + tax });
    const { payments } = await shop.books({ is_settled: true });
    assert.deepEqual([payments[0].tax, payments[0].captured], [tax, 1213 + tax]);
    assert.equal((await shop.refund(order)).status, 202);
    await shop.reaches(fan, order, 'refunded');
    assert.deepEqual(shop.double.sums().refunded, { eur: 1213 + tax });
    await shop.settled();
    const { order: second } = await shop.bought(other, {
      items: [{ ticket_type_id: shop.types[0], quantity: 2 }],
    });
    assert.equal((await shop.refund(second, [[shop.types[0], 1]])).status, 202);
    await shop.reaches(other, second, 'partially_refunded');
    await shop.settled();
    assert.equal((await shop.refund(second, [[shop.types[0], 1]])).status, 202);
    await shop.reaches(other, second, 'refunded');
    assert.deepEqual(shop.double.sums().refunded, shop.double.sums().captured);
    await shop.settled();
  });

  it('stripe: a cancelled event gives everything back', async (t) => {
    const shop = await Shop.open(t, { event: { total: 20 } });
    const fans = await shop.server.customers(6);
    const orders = await Promise.all(fans.map((fan, i) => (i < 4 ? shop.bought(fan) : shop.ordered(fan))));
    assert.equal(
      (await shop.server.request('PUT', `/events/${shop.event.id}/cancel`, { token: shop.organizer })).status,
      200,
    );
    for (const [i, { order }] of orders.entries())
      await shop.reaches(fans[i], order, i < 4 ? 'refunded' : 'failed');
    assert.deepEqual(shop.double.sums().refunded, shop.double.sums().captured);
    for (const session of shop.double.all('checkout.session')) assert.notEqual(session.status, 'open');
    await shop.settled();
  });
});
