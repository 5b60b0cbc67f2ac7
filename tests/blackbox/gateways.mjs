// SPDX-License-Identifier: Apache-2.0
// A shop for tests of real gateways: the server, the stand-in of one gateway with its own ledger, an open
// event. gateway_oracle compares the stand-in's rows with the server's SQLite.
import crypto from 'node:crypto';
import path from 'node:path';
import { contradictions } from '../support/gateway_oracle.mjs';
import { paystackSignature, startPaystack } from '../support/paystack_standin.mjs';
import { startStripe, stripeSignature } from '../support/stripe_standin.mjs';
import { assert, eventually, sale, seed, server_for, run } from './lib.mjs';
import { cli } from './tenant.mjs';

export const contact = { first_name: 'Ada', last_name: 'Obi', email: 'ada@example.org' };
export const keys = { stripe: 'sk_test_standin', webhook: 'whsec_standin', paystack: 'sk_test_standin' };
const clean = (body) => JSON.parse(JSON.stringify(body));

/** Numbers of the states in domain/model/states.hpp. */
const claim_confirmed = 2;
const kept_statuses = [2, 8]; // CONFIRMED, PARTIALLY_REFUNDED

const books_query = `
  SELECT json_object(
    'payments', (SELECT json_group_array(json_object('reference', reference, 'status', p.status, 'amount', amount,
        'captured', captured, 'refunded', refunded, 'tax', tax, 'currency', currency, 'claim', hex(claim)))
      FROM payment AS p JOIN event USING (aggregate)),
    'claims', (SELECT json_group_array(json_object('id', hex(c.id), 'status', c.status, 'currency', currency,
        'value', c.amount - (SELECT coalesce(sum(refunded * (unit_price - unit_discount + donation)), 0) FROM claim_item AS i
          WHERE i.aggregate = c.aggregate AND i.claim = c.id)))
      FROM claim AS c JOIN event USING (aggregate)),
    'types', (SELECT json_group_array(json_object('total', total, 'held', held, 'sold', sold)) FROM ticket_type))`;

export class Shop {
  /**
   * `gateway`: 'stripe' or 'paystack'; `settings`, `env`: of the server; `standin`: options of the stand-in;
   * `event`: changes to the event, which is in open mode with one type of 10 tickets at 10.00.
   */
  static async open(t, { gateway = 'stripe', settings = {}, env = {}, standin = {}, event = {} } = {}) {
    const shop = new Shop();
    shop.gateway = gateway;
    shop.double = await (gateway === 'stripe' ? startStripe : startPaystack)({
      seed,
      webhooks: { retry: { first_ms: 50, factor: 2, max_ms: 500, attempts: 60 } },
      ...standin,
    });
    t.after(() => shop.double.close());
    shop.server = await server_for(t, {
      settings: {
        'payments.gateway': gateway,
        'gateway.sandbox': false,
        'stripe.url': shop.double.url,
        'paystack.url': shop.double.url,
        'paystack.fallback_email': 'shop@example.org',
        'gateway.call_timeout': '1s',
        'payments.retry_base': '50ms',
        'payments.retry_cap': '200ms',
        'payments.verdict_grace': '2s',
        'http.allowed_origins': 'https://shop.example',
        'rate_limits.anonymous_requests_per_ip_per_minute': 0,
        ...settings,
      },
      env: {
        FAIRQUEUE_STRIPE_SECRET_KEY: keys.stripe,
        FAIRQUEUE_STRIPE_WEBHOOK_SECRETS: keys.webhook,
        FAIRQUEUE_PAYSTACK_SECRET_KEYS: keys.paystack,
        ...env,
      },
    });
    shop.double.set({ webhookUrl: `${shop.server.url}/webhooks/${gateway}` });
    shop.organizer = await shop.server.organizer();
    Object.assign(shop, await shop.new_event(event));
    return shop;
  }

  async new_event(changes = {}) {
    const body = clean(
      sale({
        currency: this.gateway === 'stripe' ? 'EUR' : 'NGN',
        total: 10,
        price: 1000,
        ...changes,
        queue: { policy: 'open', ...changes.queue },
      }),
    );
    const made = await this.server.post('/events', { token: this.organizer, body });
    assert.equal(made.status, 201, made.text);
    const active = await this.server.post(`/events/${made.json.id}/activate`, { token: this.organizer });
    assert.equal(active.status, 200, active.text);
    return { event: made.json, types: made.json.ticket_types.map(({ id }) => id) };
  }

  /** Changes the event from now on; a hold keeps its end. */
  async change(body) {
    const changed = await this.server.patch(`/events/${this.event.id}`, { token: this.organizer, body });
    assert.equal(changed.status, 200, changed.text);
  }

  // -- the buyer --

  /** POST /checkout; returns the answer. */
  check_out(fan, { event_id = this.event.id, ...body } = {}, options = {}) {
    return this.server.post('/checkout', {
      token: fan,
      ...options,
      body: clean({ event_id, contact, items: [{ ticket_type_id: this.types[0] }], ...body }),
    });
  }

  /** Places an order that must be accepted; returns its id. */
  async order(fan, body, options) {
    const placed = await this.check_out(fan, body, options);
    assert.equal(placed.status, 202, placed.text);
    return placed.json.order_id;
  }

  async status(fan, order) {
    const answer = await this.server.insist('GET', `/orders/${order}/status`, { token: fan });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  async whole(fan, order) {
    const answer = await this.server.insist('GET', `/orders/${order}`, { token: fan });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  /** Waits until the order's status is one of `wanted`. */
  async reaches(fan, order, wanted, { timeout_ms = 10_000 } = {}) {
    let last;
    const look = async () => {
      last = await this.status(fan, order);
      return [wanted].flat().includes(last.status) && last;
    };
    return eventually(`order ${wanted}`, look, { timeout_ms }).catch((error) => {
      const loud = this.server.log.split('\n').filter((line) => /warn|error/i.test(line));
      assert.fail(`${error.message}\nit is ${JSON.stringify(last)}\n${loud.slice(-15).join('\n')}`);
    });
  }

  /** Orders and waits for the payment page: {order, page}; `page`: its id at the stand-in. */
  async ordered(fan, body, options) {
    const order = await this.order(fan, body);
    const ready = await this.reaches(fan, order, ['awaiting_payment', 'failed'], options);
    assert.ok(
      ready.payment_url?.startsWith(this.double.publicUrl),
      `the page is the gateway's: ${JSON.stringify(ready)}`,
    );
    return { order, url: ready.payment_url, page: new URL(ready.payment_url).pathname.split('/').pop() };
  }

  /** Orders and pays; the gateway sends the webhook. */
  async bought(fan, body) {
    const { order, page, url } = await this.ordered(fan, body);
    await this.double.pay(page);
    await this.reaches(fan, order, 'success');
    return { order, page, url };
  }

  /** The same with short holds, when the ticket may not be free again yet. */
  async bought_past_holds(fan, body) {
    let last;
    for (let attempt = 0; attempt < 10; ++attempt) {
      const placed = await this.check_out(fan, body);
      last = placed.text;
      if (placed.status !== 202) continue;
      const order = placed.json.order_id;
      const ready = await this.reaches(fan, order, ['awaiting_payment', 'failed']);
      if (ready.status === 'failed') continue;
      await this.double.pay(new URL(ready.payment_url).pathname.split('/').pop());
      await this.reaches(fan, order, 'success');
      return { order };
    }
    return assert.fail(`never bought: ${last}`);
  }

  /** Requests a refund; returns the answer. `items`: [[type, quantity]]. */
  refund(order, items) {
    return this.server.post(`/orders/${order}/refunds`, {
      token: this.organizer,
      body: items ? { items: items.map(([ticket_type_id, quantity]) => ({ ticket_type_id, quantity })) } : {},
    });
  }

  async dead_letters(status = 'open') {
    const answer = await this.server.get(`/dead-letters?status=${status}`, { token: this.organizer });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.items;
  }

  async retry(letter) {
    const answer = await this.server.post(`/dead-letters/${letter.id}/retry`, { token: this.organizer });
    assert.equal(answer.status, 202, answer.text);
  }

  async available(event = this.event.id) {
    return (await this.server.insist('GET', `/events/${event}`)).json.available;
  }

  // -- webhooks by hand --

  /** The gateway's signature header for this text. */
  signature(text, { secrets, t = Math.floor(Date.now() / 1000) } = {}) {
    if (this.gateway === 'paystack')
      return { 'x-paystack-signature': paystackSignature(text, (secrets ?? [keys.paystack])[0]) };
    const signatures = (secrets ?? [keys.webhook]).map((secret) => `v1=${stripeSignature(text, secret, t)}`);
    return { 'stripe-signature': [`t=${t}`, ...signatures].join(',') };
  }

  /** Posts exactly this body with the gateway's signature, or with `headers`. */
  webhook(body, { headers, ...how } = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.server.post(`/webhooks/${this.gateway}`, {
      body: text,
      headers: headers ?? this.signature(text, how),
    });
  }

  /** The bodies of the stand-in's events of a type, oldest first. */
  events(type) {
    return [...this.double.all('event')]
      .filter((e) => (e.type ?? e.event) === type)
      .map((e) => this.double.body_of(e));
  }

  async webhooks_counted(result) {
    const { text } = await this.server.get('/metrics', { admin: true });
    return Number(new RegExp(`^fairqueue_webhooks_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)[1]);
  }

  calls(operation) {
    return this.double.requests.filter((r) => r.operation === operation);
  }

  // -- the end --

  /** One snapshot of the server's rows. */
  async rows() {
    const file = path.join(this.server.data_dir, 'ledger.db');
    const answer = await run('sqlite3', ['-readonly', '-cmd', '.timeout 5000', file, books_query]);
    assert.equal(answer.code, 0, answer.err);
    const { payments, claims, types } = JSON.parse(answer.out);
    for (const claim of claims)
      if (claim.status === claim_confirmed)
        claim.value +=
          payments.find((p) => p.claim === claim.id && kept_statuses.includes(p.status))?.tax ?? 0;
    return { payments, claims, types };
  }

  /** Asserts no contradiction now; returns the rows. */
  async books(options = {}) {
    const rows = await this.rows();
    assert.deepEqual(contradictions({ ledger: this.double.rows(), ...rows, ...options }), []);
    for (const { total, held, sold } of rows.types)
      assert.ok(held + sold <= total, `I1: ${held} + ${sold} of ${total}`);
    return rows;
  }

  /**
   * Asserts at the end: all finished, sums agree, requests match the gateway's description, `admin verify`
   * passes.
   */
  async settled({ timeout_ms = 15_000, ...options } = {}) {
    await this.double.quiet(timeout_ms);
    let found;
    const look = async () => {
      const rows = await this.rows();
      found = contradictions({ ledger: this.double.rows(), ...rows, is_settled: true, ...options });
      if (rows.claims.some(({ status }) => status < claim_confirmed)) found.push('a claim still holds stock');
      return found.length === 0;
    };
    await eventually('the books are in order', look, { timeout_ms, every_ms: 200 }).catch((error) =>
      assert.fail(
        `${error.message}\n${found.join('\n')}\n${this.double
          .rows()
          .map((r) => JSON.stringify(r))
          .join('\n')}`,
      ),
    );
    assert.deepEqual(this.double.violations, [], 'what the gateway does not allow');
    await this.server.verified();
  }

  tenant(...options) {
    return cli(this.server, 'tenant', 'add', '--name', 'default', '--replace', ...options);
  }
}

export const both = ['stripe', 'paystack'];
/** For tests that count calls: no call is repeated because the machine stood still. */
export const no_hurry = { 'gateway.call_timeout': '20s' };
export const unique = () => crypto.randomBytes(8).toString('hex');
