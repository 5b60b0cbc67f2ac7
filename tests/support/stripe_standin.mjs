// SPDX-License-Identifier: Apache-2.0
// A stand-in for Stripe on loopback: Checkout Sessions in payment mode, refunds, events and webhooks, with
// its own memory. Its behaviour follows docs.stripe.com; the official SDK tests it (stripe_standin.test.mjs).
import crypto from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { hmac, randomText } from './gateway_double.mjs';
import { commandLine, runAsCommand } from './standin_process.mjs';
import { StripeMoney, stripeApiVersion } from './stripe_money.mjs';
import { StripeError, checkedPage, parseForm } from './stripe_request.mjs';

export { stripeApiVersion };

const day_ms = 24 * 3600 * 1000;

/** The `v1` of a Stripe-Signature: over `<t>.<body>`, keyed with the whole whsec_ text. */
export const stripeSignature = (body, secret, t) => hmac('sha256', secret, `${t}.${body}`);

/** Prefix of an id -> type of the object. */
const types = { cs: 'checkout.session', pi: 'payment_intent', ch: 'charge', re: 'refund', evt: 'event' };
const type_of = (id) => types[String(id).split('_')[0]];

const routes = [
  ['POST', /^\/v1\/checkout\/sessions$/, 'checkout.create'],
  ['GET', /^\/v1\/checkout\/sessions$/, 'checkout.list'],
  ['GET', /^\/v1\/checkout\/sessions\/([^/]+)$/, 'checkout.retrieve'],
  ['GET', /^\/v1\/checkout\/sessions\/([^/]+)\/line_items$/, 'checkout.line_items'],
  ['POST', /^\/v1\/checkout\/sessions\/([^/]+)\/expire$/, 'checkout.expire'],
  ['GET', /^\/v1\/payment_intents\/([^/]+)$/, 'payment_intent.retrieve'],
  ['GET', /^\/v1\/charges\/([^/]+)$/, 'charge.retrieve'],
  ['POST', /^\/v1\/refunds$/, 'refund.create'],
  ['GET', /^\/v1\/refunds$/, 'refund.list'],
  ['GET', /^\/v1\/refunds\/([^/]+)$/, 'refund.retrieve'],
  ['GET', /^\/v1\/events$/, 'event.list'],
  ['GET', /^\/v1\/events\/([^/]+)$/, 'event.retrieve'],
];

export class StripeDouble extends StripeMoney {
  name = 'stripe';
  #keys_under_way = new Set();

  constructor(options) {
    super(options);
    const secrets = options.secrets ?? {};
    this.apiKeys = [secrets.api ?? 'sk_test_standin'].flat();
    this.webhookSecrets = [secrets.webhook ?? 'whsec_standin'].flat();
  }

  signature(body, skew_s) {
    const t = Math.floor(Date.now() / 1000) + skew_s;
    return {
      'stripe-signature': [
        `t=${t}`,
        ...this.webhookSecrets.map((secret) => `v1=${stripeSignature(body, secret, t)}`),
      ].join(','),
    };
  }

  // -- the API ----------------------------------------------------------------------------------------------

  operation_of(ctx) {
    for (const [method, pattern, operation] of routes) {
      const found = method === ctx.method && pattern.exec(ctx.path);
      if (!found) continue;
      ctx.id = found[1];
      return operation;
    }
    return 'unknown';
  }

  error_body(status) {
    const error =
      status === 429
        ? { type: 'invalid_request_error', code: 'rate_limit', message: 'Request rate limit exceeded.' }
        : undefined;
    return { error: error ?? { type: 'api_error', message: 'An unknown error occurred' } };
  }

  /** An answer without execution: no key, a repeated or busy idempotency key. */
  admit(ctx) {
    ctx.request_id = `req_${randomText(14)}`;
    const { authorization, 'idempotency-key': key, 'stripe-version': version } = ctx.request.headers;
    ctx.version = version ?? stripeApiVersion;
    try {
      this.#check_key(authorization);
      ctx.params = parseForm(ctx.method === 'GET' ? ctx.url.search.slice(1) : ctx.body);
      if (key === undefined || ctx.method !== 'POST') return undefined;
      return this.#admit_key(ctx, key);
    } catch (error) {
      return this.#refusal(ctx, error);
    }
  }

  #check_key(authorization) {
    if (authorization === undefined)
      throw new StripeError(
        401,
        'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.',
      );
    const key =
      /^Bearer (.+)$/.exec(authorization)?.[1] ??
      Buffer.from(authorization.slice(6), 'base64').toString().split(':')[0];
    if (this.apiKeys.includes(key)) return;
    throw new StripeError(401, `Invalid API Key provided: ${key.slice(0, 8)}****${key.slice(-4)}`);
  }

  #admit_key(ctx, key) {
    if (key.length > 255) throw new StripeError(400, 'The idempotency key can have up to 255 characters.');
    ctx.key = key;
    ctx.fingerprint = crypto
      .createHash('sha256')
      .update(JSON.stringify([ctx.method, ctx.path, ctx.params]))
      .digest('hex');
    const before = this.get('idempotency', key);
    if (before && this.now() - before.at < day_ms) {
      if (before.fingerprint !== ctx.fingerprint) {
        this.violations.push(`${ctx.operation}: idempotency key ${key} used again with other parameters`);
        const message = `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`;
        throw new StripeError(400, message, { type: 'idempotency_error' });
      }
      const replayed = { 'idempotent-replayed': 'true', 'original-request': before.request_id };
      return { status: before.status, headers: { ...this.#headers(ctx), ...replayed }, body: before.body };
    }
    if (this.#keys_under_way.has(key)) {
      const message = `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}.`;
      throw new StripeError(409, message, { type: 'idempotency_error', code: 'idempotency_key_in_use' });
    }
    this.#keys_under_way.add(key);
    ctx.finally.push(() => this.#keys_under_way.delete(key));
    return undefined;
  }

  #headers(ctx) {
    const key = ctx.key && { 'idempotency-key': ctx.key, 'original-request': ctx.request_id };
    return {
      'content-type': 'application/json',
      'request-id': ctx.request_id,
      'stripe-version': ctx.version,
      ...key,
    };
  }

  #refusal(ctx, error) {
    if (!(error instanceof StripeError)) throw error;
    if (error.status === 400 && error.error.type === 'invalid_request_error' && !error.is_business)
      this.violations.push(
        `${ctx.operation}: ${error.message}${error.error.param ? ` (${error.error.param})` : ''}`,
      );
    return {
      status: error.status,
      headers: this.#headers(ctx),
      body: JSON.stringify({ error: error.error }, null, 2),
    };
  }

  perform(ctx) {
    try {
      const { result, changes, money, events } = this.#do(ctx);
      const answer = {
        status: 200,
        headers: this.#headers(ctx),
        body: JSON.stringify(this.#expanded(result, ctx.params.expand), null, 2),
      };
      if (!changes) return answer;
      this.commit([...changes, ...(events ?? []), ...this.#stored(ctx, answer)], money);
      if (events?.length > 0) ctx.told = this.tell(events);
      return this.#autopaid(ctx, result, answer);
    } catch (error) {
      return this.#refusal(ctx, error);
    }
  }

  /**
   * `autopay` pays as soon as the page exists; 'before_answer': the webhook arrives before the answer with
   * the page.
   */
  async #autopaid(ctx, { id }, answer) {
    if (ctx.operation !== 'checkout.create' || !this.autopay) return answer;
    if (this.autopay === 'before_answer') await this.pay(id, { awaitWebhook: true });
    else ctx.response.on('finish', () => this.pay(id).catch(() => {}));
    return answer;
  }

  #stored(ctx, { status, body }) {
    if (ctx.key === undefined) return [];
    const { fingerprint, request_id } = ctx;
    return [['idempotency', ctx.key, { fingerprint, request_id, status, body, at: this.now() }]];
  }

  /** For faults that Stripe repeats under the same key: its 500s. */
  store_answer(ctx, answer) {
    if (ctx.request_id === undefined && this.admit(ctx)) return;
    this.commit(this.#stored(ctx, answer));
  }

  #do(ctx) {
    switch (ctx.operation) {
      case 'checkout.create':
        return this.create_session(ctx);
      case 'checkout.expire':
        return this.expire(this.found('checkout.session', ctx.id, 'session'), ctx);
      case 'refund.create':
        return this.create_refund(ctx);
      case 'checkout.retrieve':
        return { result: this.found('checkout.session', ctx.id, 'session') };
      case 'payment_intent.retrieve':
        return { result: this.found('payment_intent', ctx.id, 'intent') };
      case 'charge.retrieve':
        return { result: this.found('charge', ctx.id, 'id') };
      case 'refund.retrieve':
        return { result: this.found('refund', ctx.id, 'id') };
      case 'event.retrieve':
        return { result: this.found('event', ctx.id, 'id') };
      case 'checkout.line_items':
        this.found('checkout.session', ctx.id, 'session');
        return { result: this.#page_of(this.line_items(ctx.id), ctx) };
      case 'checkout.list':
        return {
          result: this.#list(
            'checkout.session',
            ['payment_intent', 'status', 'payment_link', 'customer'],
            ctx,
          ),
        };
      case 'refund.list':
        return { result: this.#list('refund', ['payment_intent', 'charge'], ctx) };
      case 'event.list':
        return { result: this.#list('event', ['type'], ctx) };
      default:
        throw new StripeError(404, `Unrecognized request URL (${ctx.method}: ${ctx.path}).`);
    }
  }

  #list(type, filters, ctx) {
    const wanted = filters.filter((name) => ctx.params[name] !== undefined);
    const passes = (object) =>
      wanted.every((name) => object[name] === ctx.params[name]) &&
      (ctx.params.types?.includes(object.type) ?? true);
    return this.#page_of([...this.all(type)].filter(passes).reverse(), ctx);
  }

  #page_of(all, ctx) {
    const { limit, starting_after, ending_before } = checkedPage(ctx.params);
    const at = (id) => all.findIndex((object) => object.id === id);
    const from = starting_after ? at(starting_after) + 1 : 0;
    const part = ending_before ? all.slice(0, Math.max(0, at(ending_before))) : all.slice(from);
    const data = ending_before ? part.slice(-limit) : part.slice(0, limit);
    return { object: 'list', data, has_more: part.length > limit, url: ctx.path };
  }

  /**
   * The object with the wanted ids replaced by their objects: `expand[]=payment_intent`, also in lists
   * (`data.charge`).
   */
  #expanded(object, paths) {
    const wanted = Array.isArray(paths) ? paths : paths ? Object.values(paths) : [];
    return wanted.reduce((expanded, path) => this.#expand(expanded, path.split('.')), object);
  }

  #expand(value, [name, ...rest]) {
    if (name === undefined || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => this.#expand(one, [name, ...rest]));
    let inner = value[name];
    if (name === 'line_items' && value.object === 'checkout.session')
      inner ??= {
        object: 'list',
        data: this.line_items(value.id),
        has_more: false,
        url: `/v1/checkout/sessions/${value.id}/line_items`,
      };
    if (inner === undefined)
      throw new StripeError(400, `This property cannot be expanded (${name}).`, { param: 'expand' });
    if (typeof inner === 'string') inner = this.get(type_of(inner), inner) ?? inner;
    return { ...value, [name]: this.#expand(inner, rest) };
  }
}

/**
 * Starts a stand-in. Options: {port = 0, webhookUrl, secrets, ledgerFile, seed, publicUrl, webhooks, taxRate,
 * taxAt, refunds, refundDelayMs, clockOffsetMs, minimum}.
 * - `secrets`: {api, webhook}, each a text or a list.
 * - `webhooks`: settings of gateway_webhooks.
 * - `taxAt`: 'pay' | 'create'.
 * - `refunds`: 'succeeded' | 'pending' | 'failed'.
 */
export const startStripe = (options = {}) => new StripeDouble(options).listen();

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const given = commandLine([
    'port',
    'ledger',
    'webhook-url',
    'secret',
    'api-key',
    'seed',
    'tax-rate',
    'public-url',
  ]);
  await runAsCommand(() =>
    startStripe({
      port: Number(given.port ?? 0),
      ledgerFile: given.ledger,
      webhookUrl: given['webhook-url'],
      secrets: { api: given['api-key']?.split(','), webhook: given.secret?.split(',') },
      seed: Number(given.seed ?? 1),
      taxRate: Number(given['tax-rate'] ?? 0),
      publicUrl: given['public-url'],
    }),
  );
}
