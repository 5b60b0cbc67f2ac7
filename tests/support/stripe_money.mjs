// SPDX-License-Identifier: Apache-2.0
// Money at the Stripe stand-in: sessions that are paid, declined, settled late or expire, and refunds, each
// with its events. stripe_standin.mjs adds HTTP, keys and idempotency.
import { GatewayDouble, Refused, escapeHtml, randomText } from './gateway_double.mjs';
import {
  cardError,
  makeCharge,
  makeLineItems,
  makePaymentIntent,
  makeRefund,
  makeSession,
} from './stripe_objects.mjs';
import { StripeError, checkedRefund, checkedSession } from './stripe_request.mjs';

export const stripeApiVersion = '2026-08-26.dahlia';

export class StripeMoney extends GatewayDouble {
  settable = { taxRate: 0, taxAt: 'pay', refunds: 'succeeded', refundDelayMs: 0, minimum: 50 };
  #references = new Map(); // reference -> session ids, oldest first
  #next_expiry = Infinity;

  constructor(options) {
    super(options);
    for (const [name, value] of Object.entries(this.settable)) this[name] = options[name] ?? value;
  }

  remember(type, id, object) {
    super.remember(type, id, object);
    if (type === 'checkout.session' && object.status === 'open')
      this.#next_expiry = Math.min(this.#next_expiry, object.expires_at);
    if (type !== 'detail') return;
    const same = this.#references.get(object.reference) ?? [];
    if (!same.includes(id)) this.#references.set(object.reference, [...same, id]);
  }

  resumed() {
    this.ticker = setInterval(() => this.due(), 250);
    this.ticker.unref();
    for (const due of this.all('refund_due')) this.#plan_refund(due.id, due);
  }

  found(type, id, param) {
    const found = this.get(type, id);
    if (!found) throw new StripeError(404, `No such ${type}: '${id}'`, { code: 'resource_missing', param });
    return found;
  }

  line_items = (id) => makeLineItems(this.get('checkout.session', id), this.get('detail', id).items);

  create_session(ctx) {
    const checked = checkedSession(ctx.params, this.seconds(), this.minimum);
    const tax = this.taxAt === 'create' ? this.#tax_of(checked.has_automatic_tax, checked.subtotal) : 0;
    const session = makeSession(checked, { url: this.publicUrl, now_s: this.seconds(), tax });
    const reference = checked.client_reference_id ?? checked.metadata.reference ?? session.id;
    const detail = { reference, items: checked.items, payment_intent: checked.payment_intent };
    return {
      result: session,
      changes: [
        ['checkout.session', session.id, session],
        ['detail', session.id, detail],
      ],
    };
  }

  #tax_of = (is_taxed, subtotal) => (is_taxed ? Math.round(subtotal * this.taxRate) : 0);

  expire(session, ctx) {
    if (session.status !== 'open')
      throw this.#no(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
      );
    const expired = { ...session, status: 'expired', url: null };
    const changes = [['checkout.session', session.id, expired]];
    const events = [];
    const intent = this.get('payment_intent', session.payment_intent);
    if (intent) {
      const canceled = {
        ...intent,
        status: 'canceled',
        canceled_at: this.seconds(),
        cancellation_reason: 'void_invoice',
      };
      changes.push(['payment_intent', intent.id, canceled]);
      events.push(...this.#event('payment_intent.canceled', canceled, ctx));
    }
    events.push(...this.#event('checkout.session.expired', expired, ctx));
    return { result: expired, changes, events };
  }

  /** A refusal of a valid request; not a client error. */
  #no(message, fields) {
    return Object.assign(new StripeError(400, message, fields), { is_business: true });
  }

  create_refund(ctx) {
    const checked = checkedRefund(ctx.params);
    const intent =
      checked.payment_intent && this.found('payment_intent', checked.payment_intent, 'payment_intent');
    const charge_id = checked.charge ?? intent.latest_charge;
    if (charge_id === null)
      throw this.#no(`This PaymentIntent (${intent.id}) does not have a successful charge to refund.`);
    const charge = this.found('charge', charge_id, 'charge');
    const left = charge.amount_captured - charge.amount_refunded;
    const amount = checked.amount ?? left;
    if (left === 0)
      throw this.#no(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' });
    if (amount > left)
      throw this.#no(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, {
        param: 'amount',
      });
    if (checked.reverse_transfer && !charge.transfer)
      throw this.#no('This charge has no transfer to reverse.', { param: 'reverse_transfer' });
    if (checked.refund_application_fee && !charge.application_fee)
      throw this.#no('This charge has no application fee to refund.', { param: 'refund_application_fee' });

    const is_done = this.refunds === 'succeeded' && this.refundDelayMs === 0;
    const refund = makeRefund(charge, checked, amount, is_done ? 'succeeded' : 'pending', this.seconds());
    const charged = {
      ...charge,
      amount_refunded: charge.amount_refunded + amount,
      refunded: amount === left,
    };
    const changes = [
      ['refund', refund.id, refund],
      ['charge', charge.id, charged],
    ];
    if (!is_done && this.refunds !== 'pending') {
      const due = { id: refund.id, at: this.now() + this.refundDelayMs, ok: this.refunds === 'succeeded' };
      changes.push(['refund_due', refund.id, due]);
      this.#plan_refund(refund.id, due);
    }
    const events = [
      ...this.#event('refund.created', refund, ctx),
      ...this.#event('charge.refunded', charged, ctx),
    ];
    return {
      result: refund,
      changes,
      events,
      money: this.#refund_row(is_done ? 'refund' : 'refund_pending', refund),
    };
  }

  #refund_row(kind, refund) {
    const { payment_intent: gateway_id, amount, currency, id: refund_id } = refund;
    return {
      kind,
      reference: this.#reference_of(gateway_id),
      gateway_id,
      amount,
      currency,
      tax: 0,
      refund_id,
    };
  }

  #reference_of(intent_id) {
    return this.get('intent_session', intent_id).reference;
  }

  #plan_refund(id, { at, ok }) {
    this.later(Math.max(0, at - this.now()), () => {
      if (this.get('refund', id)?.status === 'pending') this.settleRefund(id, ok);
    });
  }

  /** A pending refund is processed, or fails and its money is back with the merchant. */
  async settleRefund(id, ok = true) {
    const refund = this.get('refund', id);
    if (refund?.status !== 'pending') throw new Refused(`${id} is not a pending refund`);
    const settled = {
      ...refund,
      status: ok ? 'succeeded' : 'failed',
      ...(!ok && { failure_reason: 'unknown' }),
    };
    const changes = [
      ['refund', id, settled],
      ['refund_due', id, null],
    ];
    const events = this.#event('refund.updated', settled);
    if (!ok) {
      const charge = this.get('charge', refund.charge);
      changes.push([
        'charge',
        charge.id,
        { ...charge, amount_refunded: charge.amount_refunded - refund.amount, refunded: false },
      ]);
      events.push(...this.#event('refund.failed', settled));
    }
    this.commit([...changes, ...events], this.#refund_row(ok ? 'refund' : 'refund_failed', settled));
    await this.tell(events);
    return { id, status: settled.status };
  }

  due() {
    const now_s = this.seconds();
    if (now_s < this.#next_expiry) return;
    this.#next_expiry = Infinity;
    for (const session of [...this.all('checkout.session')]) {
      if (session.status !== 'open') continue;
      if (session.expires_at > now_s) this.#next_expiry = Math.min(this.#next_expiry, session.expires_at);
      else this.#expire_by_itself(session);
    }
  }

  #expire_by_itself(session) {
    const { changes, events } = this.expire(session);
    this.commit([...changes, ...events]);
    this.tell(events);
  }

  // -- the payer --------------------------------------------------------------------------------------------

  /** All sessions of a reference, oldest first. With several, a customer could pay twice. */
  sessionsOf(reference) {
    return (this.#references.get(reference) ?? []).map((id) => this.get('checkout.session', id));
  }

  /**
   * Finds by session id or reference (client_reference_id, else metadata.reference); of several sessions the
   * newest open one.
   */
  #session(reference) {
    this.due();
    const by_id = this.get('checkout.session', reference);
    const all = by_id ? [by_id] : this.sessionsOf(reference);
    const session = all.findLast((one) => one.status === 'open') ?? all.at(-1);
    if (!session) throw new Refused(`nobody was asked to pay ${reference}`);
    return session;
  }

  #open_session(reference) {
    const session = this.#session(reference);
    if (session.status !== 'open') throw new Refused(`the page of ${reference} is closed: ${session.status}`);
    return session;
  }

  /** The answer to the payer's browser or a load generator. */
  #outcome(session) {
    const redirect = session.success_url.replaceAll('{CHECKOUT_SESSION_ID}', session.id);
    const { id, status, payment_status, payment_intent, amount_total, currency } = session;
    return {
      id,
      reference: this.get('detail', id).reference,
      status,
      payment_status,
      payment_intent,
      amount: amount_total,
      currency,
      redirect,
    };
  }

  /** Adds a payment attempt to `session`; creates its PaymentIntent at the first one. */
  #attempted(session, { amount, currency }) {
    const { reference, payment_intent: data } = this.get('detail', session.id);
    const tax =
      this.taxAt === 'pay'
        ? this.#tax_of(session.automatic_tax.enabled, session.amount_subtotal)
        : session.total_details.amount_tax;
    const changed = structuredClone(session);
    changed.total_details.amount_tax = tax;
    changed.amount_total = amount ?? session.amount_subtotal + tax;
    changed.currency = currency ?? session.currency;
    if (changed.automatic_tax.enabled) changed.automatic_tax.status = 'complete';
    const before =
      this.get('payment_intent', session.payment_intent) ?? makePaymentIntent(changed, data, this.seconds());
    const intent = { ...structuredClone(before), amount: changed.amount_total, currency: changed.currency };
    changed.payment_intent = intent.id;
    return {
      session: changed,
      intent,
      link: ['intent_session', intent.id, { session: session.id, reference }],
    };
  }

  #captured(session, intent) {
    intent.payment_method ??= `pm_1${randomText(23)}`;
    const charge = makeCharge(intent, this.seconds());
    Object.assign(intent, {
      status: 'succeeded',
      amount_received: intent.amount,
      latest_charge: charge.id,
      last_payment_error: null,
    });
    Object.assign(session, { status: 'complete', payment_status: 'paid', url: null });
    const { reference } = this.get('detail', session.id);
    const { amount, currency, id: gateway_id } = intent;
    const money = {
      kind: 'capture',
      reference,
      gateway_id,
      amount,
      currency,
      tax: session.total_details.amount_tax,
      refund_id: null,
    };
    return { charge, money };
  }

  /**
   * Commits the action of a payer and sends its events. `delayWebhook`: ms, or 'hold'; `awaitWebhook`:
   * returns after the first attempts.
   */
  async #told(changes, events, money, { delayWebhook, awaitWebhook }) {
    this.commit([...changes, ...events], money);
    await this.ledger.durable();
    const how = delayWebhook === 'hold' ? { hold: true } : { delayMs: delayWebhook };
    const told = this.tell(events, how);
    if (awaitWebhook) await told;
  }

  #changes_of = (session, intent, link, charge) => [
    ['checkout.session', session.id, session],
    ['payment_intent', intent.id, intent],
    ...(link ? [link] : []),
    ...(charge ? [['charge', charge.id, charge]] : []),
  ];

  /** Pays. `amount`, `currency`: different from the request, which a real gateway should never do. */
  async pay(reference, options = {}) {
    const { session, intent, link } = this.#attempted(this.#open_session(reference), options);
    const { charge, money } = this.#captured(session, intent);
    const events = [
      ...this.#event('charge.succeeded', charge),
      ...this.#event('payment_intent.succeeded', intent),
      ...this.#event('checkout.session.completed', session),
    ];
    await this.#told(this.#changes_of(session, intent, link, charge), events, money, options);
    return this.#outcome(session);
  }

  /** A card is declined; the page stays open. */
  async declineCard(reference, options = {}) {
    const { session, intent, link } = this.#attempted(this.#open_session(reference), options);
    this.#decline(intent, options);
    const events = this.#event('payment_intent.payment_failed', intent);
    await this.#told(this.#changes_of(session, intent, link), events, undefined, options);
    return { ...this.#outcome(session), redirect: session.url };
  }

  #decline(intent, { code = 'card_declined', decline_code = 'generic_decline' } = {}) {
    const error = cardError(code, decline_code, `pm_1${randomText(23)}`);
    Object.assign(intent, {
      status: 'requires_payment_method',
      payment_method: null,
      last_payment_error: error,
    });
  }

  /** Pays by a method that takes days: the session is complete and unpaid. */
  async payAsync(reference, options = {}) {
    const { session, intent, link } = this.#attempted(this.#open_session(reference), options);
    Object.assign(session, { status: 'complete', url: null });
    Object.assign(intent, { status: 'processing', payment_method: `pm_1${randomText(23)}` });
    const events = [
      ...this.#event('payment_intent.processing', intent),
      ...this.#event('checkout.session.completed', session),
    ];
    await this.#told(this.#changes_of(session, intent, link), events, undefined, options);
    return this.#outcome(session);
  }

  /** The result of `payAsync`. */
  async settleAsync(reference, ok = true, options = {}) {
    const session = structuredClone(this.#session(reference));
    const intent = structuredClone(this.get('payment_intent', session.payment_intent));
    if (intent?.status !== 'processing') throw new Refused(`no payment of ${reference} is on its way`);
    let captured = {};
    if (ok) captured = this.#captured(session, intent);
    else this.#decline(intent, { code: 'payment_intent_payment_attempt_failed', decline_code: undefined });
    const events = ok
      ? [
          ...this.#event('charge.succeeded', captured.charge),
          ...this.#event('payment_intent.succeeded', intent),
        ]
      : this.#event('payment_intent.payment_failed', intent);
    events.push(...this.#event(`checkout.session.async_payment_${ok ? 'succeeded' : 'failed'}`, session));
    await this.#told(
      this.#changes_of(session, intent, undefined, captured.charge),
      events,
      captured.money,
      options,
    );
    return this.#outcome(session);
  }

  /** A late event of a declined card: the attempt was before the payment. */
  async lateFailure(reference) {
    const session = this.#session(reference);
    const intent = structuredClone(this.get('payment_intent', session.payment_intent));
    if (!intent) throw new Refused(`nobody tried to pay ${reference}`);
    Object.assign(intent, { amount_received: 0, latest_charge: null });
    this.#decline(intent);
    const events = this.#event('payment_intent.payment_failed', intent);
    events[0][2].created -= 5;
    this.commit(events);
    await this.tell(events);
    return { event: events[0][1] };
  }

  // -- events -----------------------------------------------------------------------------------------------

  /** The changes that create an event of the current `object`. */
  #event(type, object, ctx) {
    const event = {
      id: `evt_1${randomText(23)}`,
      object: 'event',
      api_version: stripeApiVersion,
      created: this.seconds(),
      data: { object: structuredClone(object) },
      livemode: false,
      pending_webhooks: this.webhooks.url === undefined ? 0 : 1,
      request: { id: ctx?.request_id ?? null, idempotency_key: ctx?.key ?? null },
      type,
    };
    return [['event', event.id, event], this.undelivered(event.id, type)];
  }

  /** Stripe sends its events indented: a body that is parsed and written again has another signature. */
  body_of = (event) => JSON.stringify(event, null, 2);

  // -- the page ---------------------------------------------------------------------------------------------

  is_page = (path) => path.startsWith('/c/pay/');

  page(id) {
    this.due();
    const session = this.get('checkout.session', id);
    if (!session) return undefined;
    if (session.status !== 'open')
      return `<!DOCTYPE html><title>Checkout</title><h1>This page is closed: ${session.status}</h1>`;
    const button = (action, text) => `<button name="action" value="${action}">${text}</button>`;
    const items = this.get('detail', id).items.map(
      ({ name, quantity }) => `<li>${quantity} × ${escapeHtml(name)}</li>`,
    );
    const declined = this.get('payment_intent', session.payment_intent)?.last_payment_error
      ? '<p role="alert">Your card was declined.</p>'
      : '';
    const cancel = session.cancel_url ? `<a href="${escapeHtml(session.cancel_url)}">Cancel</a>` : '';
    return `<!DOCTYPE html><html lang="en"><title>Checkout</title><h1>Pay ${session.amount_total} ${session.currency}</h1>${declined}
<ul>${items.join('')}</ul><form method="post" action="/pay/${id}">${button('pay', 'Pay')}${button('decline', 'Use a card that is declined')}</form>${cancel}</html>`;
  }
}
