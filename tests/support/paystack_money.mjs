// SPDX-License-Identifier: Apache-2.0
// Money at the Paystack stand-in: transactions that are paid, declined or settled late, and refunds, each
// with its events. paystack_standin.mjs adds HTTP, keys and the form of requests.
import fs from 'node:fs';
import { GatewayDouble, Refused, escapeHtml, randomText } from './gateway_double.mjs';
import { createdRefund, shownRefund, shownTransaction, toldRefund } from './paystack_objects.mjs';

export const facts = JSON.parse(fs.readFileSync(new URL('paystack_facts.json', import.meta.url), 'utf8'));

/** A refusal in Paystack's envelope. */
export class PaystackError extends Error {
  constructor(status, message, code, type = 'validation_error') {
    super(message);
    this.status = status;
    this.body = {
      status: false,
      message,
      meta: { nextStep: facts.next_steps[code] ?? 'Check the request and try again' },
      type,
      code,
    };
  }
}

export const done = (message, data, more) => ({ status: true, message, data, ...more });

export class PaystackMoney extends GatewayDouble {
  settable = {
    refunds: 'processed',
    refundDelayMs: 20,
    failureWebhooks: false,
    unknownStatus: 400,
    currencies: facts.currencies,
  };
  #codes = new Map(); // access code or id -> reference
  #last_id = 4_099_260_000;

  constructor(options) {
    super(options);
    for (const [name, value] of Object.entries(this.settable)) this[name] = options[name] ?? value;
  }

  remember(type, id, object) {
    super.remember(type, id, object);
    const number = type === 'event' ? Number(id.slice('event_'.length)) : object?.id;
    if (number > this.#last_id) this.#last_id = number;
    if (type !== 'transaction') return;
    this.#codes.set(object.access_code, id);
    this.#codes.set(String(object.id), id);
  }

  resumed() {
    for (const refund of this.all('refund'))
      if (refund.status === 'pending' && refund.due) this.#plan_refund(refund);
  }

  #new_id = () => ++this.#last_id;
  #time = () => new Date(this.now()).toISOString();

  initialize({
    email,
    amount,
    currency = 'NGN',
    reference = randomText(10).toLowerCase(),
    callback_url = null,
    metadata = '',
  }) {
    if (!this.currencies.includes(currency))
      throw new PaystackError(403, 'Currency not supported by merchant', 'unsupported_currency');
    if (this.get('transaction', reference))
      throw new PaystackError(400, 'Duplicate Transaction Reference', 'duplicate_reference');
    const access_code = randomText(15).toLowerCase();
    const transaction = {
      id: this.#new_id(),
      reference,
      access_code,
      email,
      amount,
      requested_amount: amount,
      currency,
      callback_url,
      metadata,
      status: 'abandoned', // Paystack's status of every unpaid transaction
      gateway_response: 'The transaction was not completed',
      created_at: this.#time(),
      paid_at: null,
      attempts: 0,
      refunded: 0, // includes pending refunds
    };
    const data = { authorization_url: `${this.publicUrl}/checkout/${access_code}`, access_code, reference };
    return {
      answer: done('Authorization URL created', data),
      changes: [['transaction', reference, transaction]],
    };
  }

  verify({ reference }) {
    const transaction = this.get('transaction', reference);
    if (!transaction)
      throw new PaystackError(
        this.unknownStatus,
        'Transaction reference not found.',
        'transaction_not_found',
      );
    return { answer: done('Verification successful', shownTransaction(transaction)) };
  }

  // -- refunds ----------------------------------------------------------------------------------------------

  create_refund({ transaction: name, amount, currency, customer_note, merchant_note }) {
    const t = this.get('transaction', String(name)) ?? this.get('transaction', this.#codes.get(String(name)));
    if (!t) throw new PaystackError(404, 'Transaction not found', 'transaction_not_found');
    if (t.paid_at === null)
      throw new PaystackError(400, 'Transaction has not been paid', 'transaction_not_successful');
    const left = t.amount - t.refunded;
    if (left === 0)
      throw new PaystackError(400, 'Transaction has been fully reversed', 'transaction_reversed');
    if ((amount ?? left) > left)
      throw new PaystackError(
        400,
        'Refund amount cannot be more than what is left of the transaction',
        'invalid_amount',
      );
    if (currency !== undefined && currency !== t.currency)
      throw new PaystackError(400, 'Currency does not match the transaction', 'invalid_currency');
    if (t.currency === 'USD' && (amount ?? left) < 100)
      throw new PaystackError(400, 'Cannot refund less than USD 1', 'invalid_amount');
    const refund = {
      id: this.#new_id(),
      transaction: t.id,
      reference: t.reference,
      amount: amount ?? left,
      currency: t.currency,
      status: 'pending',
      customer_note: customer_note ?? `Refund for transaction ${t.reference}`,
      merchant_note: merchant_note ?? `Refund for transaction ${t.reference} by merchant@example.com`,
      created_at: this.#time(),
      refunded_at: null,
      due: this.refunds === 'pending' ? null : { at: this.now() + this.refundDelayMs, status: this.refunds },
    };
    if (refund.due) this.#plan_refund(refund);
    const changes = [
      ['refund', String(refund.id), refund],
      ['transaction', t.reference, { ...t, refunded: t.refunded + refund.amount }],
      ...this.#event('refund.pending', toldRefund(refund, t)),
    ];
    return {
      answer: done('Refund has been queued for processing', createdRefund(refund, t, this.now())),
      changes,
      money: this.#row('refund_pending', refund),
    };
  }

  #row = (kind, { reference, transaction, amount, currency, id }) => ({
    kind,
    reference,
    gateway_id: String(transaction),
    amount,
    currency,
    tax: 0,
    refund_id: id === undefined ? null : String(id),
  });

  list_refunds({ transaction, currency, perPage = '50', page = '1' }) {
    const reference = this.get('transaction', transaction)?.reference ?? this.#codes.get(transaction);
    const passes = (refund) =>
      (transaction === undefined || refund.reference === reference) &&
      (!currency || refund.currency === currency);
    const all = [...this.all('refund')].filter(passes).reverse();
    const skipped = (Number(page) - 1) * Number(perPage);
    const data = all
      .slice(skipped, skipped + Number(perPage))
      .map((refund) => shownRefund(refund, this.get('transaction', refund.reference)));
    const failedRefundCount = all.filter(({ status }) => status === 'failed').length;
    const meta = {
      total: all.length,
      skipped,
      perPage,
      page: Number(page),
      pageCount: Math.ceil(all.length / Number(perPage)),
      failedRefundCount,
    };
    return { answer: done('Refunds retrieved', data, { meta }) };
  }

  #plan_refund({ id, due }) {
    this.later(Math.max(0, due.at - this.now()), () => {
      const refund = this.get('refund', String(id));
      if (refund?.status === 'pending') this.#settle(refund, due.status);
    });
  }

  /** A pending refund is processed, or fails and its money is back with the merchant. */
  async settleRefund(id, ok = true) {
    const refund = this.get('refund', String(id));
    if (!['pending', 'needs-attention'].includes(refund?.status))
      throw new Refused(`${id} is not a pending refund`);
    await this.#settle(refund, ok ? 'processed' : 'failed');
    return { id, status: this.get('refund', String(id)).status };
  }

  async #settle(refund, status) {
    const settled = {
      ...refund,
      status,
      due: null,
      refunded_at: status === 'processed' ? this.#time() : null,
    };
    const t = this.get('transaction', refund.reference);
    const changes = [
      ['refund', String(refund.id), settled],
      ...this.#event(`refund.${status}`, toldRefund(settled, t)),
    ];
    if (status === 'failed')
      changes.push(['transaction', t.reference, { ...t, refunded: t.refunded - refund.amount }]);
    const given_back = [...this.all('refund')]
      .filter(
        (one) =>
          one.reference === t.reference && (one.id === refund.id ? status : one.status) === 'processed',
      )
      .reduce((sum, { amount }) => sum + amount, 0);
    if (given_back === t.amount) changes.push(['transaction', t.reference, { ...t, status: 'reversed' }]);
    const kind = { processed: 'refund', failed: 'refund_failed' }[status];
    this.commit(changes, kind && this.#row(kind, settled));
    await this.tell(changes);
  }

  // -- the payer --------------------------------------------------------------------------------------------

  /** By reference, access code or id. */
  #transaction(name) {
    const t = this.get('transaction', String(name)) ?? this.get('transaction', this.#codes.get(String(name)));
    if (!t) throw new Refused(`nobody was asked to pay ${name}`);
    return t;
  }

  #unpaid(name) {
    const t = this.#transaction(name);
    if (t.paid_at !== null || t.status === 'pending')
      throw new Refused(`${name} cannot be paid any more: ${t.status}`);
    return t;
  }

  #outcome(t) {
    const redirect = new URL(t.callback_url ?? `${this.publicUrl}/checkout/${t.access_code}`);
    redirect.searchParams.set('trxref', t.reference);
    redirect.searchParams.set('reference', t.reference);
    return {
      id: t.id,
      reference: t.reference,
      status: t.status,
      amount: t.amount,
      currency: t.currency,
      redirect: redirect.href,
    };
  }

  async #told(t, events, money, { delayWebhook, awaitWebhook }) {
    const changes = [['transaction', t.reference, t], ...events];
    this.commit(changes, money);
    await this.ledger.durable();
    const how = delayWebhook === 'hold' ? { hold: true } : { delayMs: delayWebhook };
    const told = this.tell(changes, how);
    if (awaitWebhook) await told;
    return this.#outcome(t);
  }

  #captured(before, { amount, currency }) {
    const paid = { amount: amount ?? before.amount, currency: currency ?? before.currency };
    const t = {
      ...before,
      ...paid,
      status: 'success',
      gateway_response: 'Successful',
      paid_at: this.#time(),
      attempts: before.attempts + 1,
    };
    return { t, money: this.#row('capture', { ...t, transaction: t.id, id: undefined }) };
  }

  /** Pays. `amount`, `currency`: different from the request, which a real gateway should never do. */
  async pay(name, options = {}) {
    const { t, money } = this.#captured(this.#unpaid(name), options);
    return this.#told(t, this.#event('charge.success', shownTransaction(t)), money, options);
  }

  /**
   * A card is declined; the payer may try again. Paystack lists no event for it: with `failureWebhooks` there
   * is one.
   */
  async declineCard(name, options = {}) {
    return this.#declined(this.#unpaid(name), options);
  }

  async #declined(before, options) {
    const t = {
      ...before,
      status: 'failed',
      gateway_response: options.decline_code ?? 'Declined',
      attempts: before.attempts + 1,
    };
    const events = this.failureWebhooks ? this.#event('charge.failed', shownTransaction(t)) : [];
    return {
      ...(await this.#told(t, events, undefined, options)),
      redirect: `${this.publicUrl}/checkout/${t.access_code}`,
    };
  }

  /** Pays by bank transfer, which settles later. */
  async payAsync(name, options = {}) {
    const t = { ...this.#unpaid(name), status: 'pending', gateway_response: 'Pending' };
    return this.#told(t, [], undefined, options);
  }

  async settleAsync(name, ok = true, options = {}) {
    const before = this.#transaction(name);
    if (before.status !== 'pending') throw new Refused(`no payment of ${name} is on its way`);
    if (!ok) return this.#declined(before, options);
    const { t, money } = this.#captured(before, options);
    return this.#told(t, this.#event('charge.success', shownTransaction(t)), money, options);
  }

  /** A late event of a declined card: the attempt was before the payment. */
  async lateFailure(name) {
    const t = { ...this.#transaction(name), status: 'failed', gateway_response: 'Declined', paid_at: null };
    const changes = this.#event('charge.failed', shownTransaction(t));
    this.commit(changes);
    await this.tell(changes);
    return { event: changes[0][1] };
  }

  // -- events -----------------------------------------------------------------------------------------------

  /** The changes that create an event. Paystack's events have no id; ours is only for the log. */
  #event(type, data) {
    const id = `event_${this.#new_id()}`;
    return [['event', id, { event: type, data }], this.undelivered(id, type)];
  }

  body_of = (event) => JSON.stringify(event);

  // -- the page ---------------------------------------------------------------------------------------------

  is_page = (path) => path.startsWith('/checkout/');

  page(access_code) {
    const t = this.get('transaction', this.#codes.get(access_code));
    if (!t) return undefined;
    if (t.paid_at !== null) return '<!DOCTYPE html><title>Checkout</title><h1>Paid</h1>';
    if (t.status === 'abandoned')
      this.commit([['transaction', t.reference, { ...t, status: 'ongoing', gateway_response: 'Ongoing' }]]);
    const declined = t.status === 'failed' ? '<p role="alert">Your card was declined.</p>' : '';
    const button = (action, text) => `<button name="action" value="${action}">${text}</button>`;
    return `<!DOCTYPE html><html lang="en"><title>Checkout</title><h1>Pay ${t.amount} ${t.currency}</h1><p>${escapeHtml(t.email)}</p>${declined}
<form method="post" action="/pay/${access_code}">${button('pay', 'Pay')}${button('decline', 'Use a card that is declined')}</form></html>`;
  }
}
