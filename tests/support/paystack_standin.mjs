// SPDX-License-Identifier: Apache-2.0
// A stand-in for Paystack on loopback: transactions, refunds and webhooks, with its own memory. Checks
// requests against paystack_facts.json and keeps differences in `violations`. Unlike Stripe it has no
// idempotency keys: a reference works once, and two requests for a refund are two refunds.
import { pathToFileURL } from 'node:url';
import { hmac, json, packageOfBlackbox } from './gateway_double.mjs';
import { PaystackError, PaystackMoney, done, facts } from './paystack_money.mjs';
import { shownRefund } from './paystack_objects.mjs';
import { commandLine, runAsCommand } from './standin_process.mjs';

/** x-paystack-signature: over the raw body, keyed with the secret API key, without a time. */
export const paystackSignature = (body, key) => hmac('sha512', key, body);

const routes = [
  ['POST', /^\/transaction\/initialize$/, 'transaction.initialize'],
  ['GET', /^\/transaction\/verify\/([^/]+)$/, 'transaction.verify', 'reference'],
  ['POST', /^\/refund$/, 'refund.create'],
  ['GET', /^\/refund$/, 'refund.list'],
  ['GET', /^\/refund\/([^/]+)$/, 'refund.retrieve', 'id'],
];

function is_url(text) {
  try {
    return /^https?:$/.test(new URL(text).protocol);
  } catch {
    return false;
  }
}

/** operation -> validating function. */
function validators() {
  const Ajv = packageOfBlackbox('ajv').default;
  const formats = { 'email': /^[^@\s]+@[^@\s]+\.[^@\s]+$/, 'http-url': is_url };
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, formats });
  return Object.fromEntries(
    Object.entries(facts.requests).map(([name, schema]) => [name, ajv.compile(schema)]),
  );
}

export class PaystackDouble extends PaystackMoney {
  name = 'paystack';
  constructor(options) {
    super(options);
    this.keys = [options.secrets?.api ?? options.secrets?.webhook ?? 'sk_test_standin'].flat();
    this.validators = validators();
  }

  signature(body) {
    return { 'x-paystack-signature': paystackSignature(body, this.keys[0]) };
  }

  // -- the API ----------------------------------------------------------------------------------------------

  operation_of(ctx) {
    for (const [method, pattern, operation, name] of routes) {
      const found = method === ctx.method && pattern.exec(ctx.path);
      if (!found) continue;
      if (name) ctx.from_path = { [name]: decodeURIComponent(found[1]) };
      return operation;
    }
    return 'unknown';
  }

  error_body(status) {
    const message = status === 429 ? 'Please wait a few minutes and try again.' : 'An error occurred';
    return { status: false, message, type: 'api_error', code: status === 429 ? 'rate_limited' : 'unknown' };
  }

  store_answer() {} // there are no idempotency keys

  admit(ctx) {
    try {
      this.#check_key(ctx.request.headers.authorization);
      ctx.params = this.#params_of(ctx);
      return undefined;
    } catch (error) {
      return this.#refusal(error);
    }
  }

  #check_key(authorization) {
    if (authorization === undefined)
      throw new PaystackError(401, 'No Authorization Header was found', 'invalid_Key');
    const key = /^Bearer (.+)$/.exec(authorization)?.[1];
    if (key === undefined)
      throw new PaystackError(401, 'Format is Authorization Bearer [secret key]', 'invalid_Key');
    if (!this.keys.includes(key)) throw new PaystackError(401, 'Invalid key', 'invalid_Key');
  }

  #params_of(ctx) {
    const query = Object.fromEntries(ctx.url.searchParams);
    if (ctx.method === 'GET') return { ...query, ...ctx.from_path };
    const type = ctx.request.headers['content-type'] ?? '';
    if (type.includes('application/x-www-form-urlencoded')) {
      const form = Object.fromEntries(new URLSearchParams(ctx.body));
      if (/^\d+$/.test(form.amount)) form.amount = Number(form.amount);
      return form;
    }
    if (!type.includes('application/json'))
      this.violations.push(`${ctx.operation}: a body of the type "${type}"`);
    try {
      return JSON.parse(ctx.body);
    } catch {
      this.violations.push(`${ctx.operation}: a body that is not JSON`);
      throw new PaystackError(400, 'Invalid JSON', 'invalid_params');
    }
  }

  #refusal(error) {
    if (!(error instanceof PaystackError)) throw error;
    return json(error.status, error.body);
  }

  async perform(ctx) {
    try {
      this.#check(ctx);
      const { answer, changes, money } = this.#do(ctx);
      if (changes) {
        this.commit(changes, money);
        ctx.told = this.tell(changes);
      }
      if (ctx.operation === 'transaction.initialize') await this.#autopay(ctx, answer.data.reference);
      return json(200, answer);
    } catch (error) {
      return this.#refusal(error);
    }
  }

  /**
   * `autopay` pays as soon as the page exists; 'before_answer': the webhook arrives before the answer with
   * the page.
   */
  async #autopay(ctx, reference) {
    if (this.autopay === 'before_answer') await this.pay(reference, { awaitWebhook: true });
    else if (this.autopay) ctx.response.on('finish', () => this.pay(reference).catch(() => {}));
  }

  /** Keeps every violation. Only unknown properties are accepted; other violations are refused. */
  #check(ctx) {
    const valid = this.validators[ctx.operation];
    if (!valid || valid(ctx.params)) return;
    for (const error of valid.errors) {
      const what = error.keyword === 'additionalProperties' ? ` (${error.params.additionalProperty})` : '';
      this.violations.push(
        `${ctx.operation}: ${error.instancePath || 'the request'} ${error.message}${what}`,
      );
    }
    const refused = valid.errors.find(({ keyword }) => keyword !== 'additionalProperties');
    if (!refused) return;
    const property =
      refused.keyword === 'required' ? refused.params.missingProperty : refused.instancePath.split('/')[1];
    const { status, message, code } = facts.refusals[property] ?? facts.refusals.other;
    throw new PaystackError(status, message, code);
  }

  #do(ctx) {
    switch (ctx.operation) {
      case 'transaction.initialize':
        return this.initialize(ctx.params);
      case 'transaction.verify':
        return this.verify(ctx.params);
      case 'refund.create':
        return this.create_refund(ctx.params);
      case 'refund.list':
        return this.list_refunds(ctx.params);
      case 'refund.retrieve': {
        const refund = this.get('refund', ctx.params.id);
        if (!refund) throw new PaystackError(404, 'Refund not found', 'refund_not_found');
        return {
          answer: done('Refund retrieved', shownRefund(refund, this.get('transaction', refund.reference))),
        };
      }
      default:
        throw new PaystackError(404, 'Endpoint not found', 'not_found', 'api_error');
    }
  }
}

/**
 * Starts a stand-in. Options: {port = 0, webhookUrl, secrets, ledgerFile, seed, publicUrl, webhooks, refunds,
 * refundDelayMs, clockOffsetMs, failureWebhooks, unknownStatus, currencies}.
 * - `secrets`: {api}, a text or a list; the first signs webhooks.
 * - `webhooks`: settings of gateway_webhooks.
 * - `refunds`: 'processed' | 'failed' | 'pending' | 'needs-attention'.
 * - `unknownStatus`: of /verify for an unknown reference (400 in practice, 404 in the description).
 */
export const startPaystack = (options = {}) => new PaystackDouble(options).listen();

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const given = commandLine(['port', 'ledger', 'webhook-url', 'secret', 'seed', 'public-url']);
  await runAsCommand(() =>
    startPaystack({
      port: Number(given.port ?? 0),
      ledgerFile: given.ledger,
      webhookUrl: given['webhook-url'],
      secrets: { api: given.secret?.split(',') },
      seed: Number(given.seed ?? 1),
      publicUrl: given['public-url'],
    }),
  );
}
