// SPDX-License-Identifier: Apache-2.0
// Shared base of the stand-ins for Stripe and Paystack: an HTTP server on loopback with a ledger file,
// faults, webhooks, a payment page and a control path (/_control). The subclass defines the API and the
// meaning.
import './ends_at_once.mjs';
import crypto from 'node:crypto';
import http from 'node:http';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Faults } from './gateway_faults.mjs';
import { Ledger, capturedByReference, refundedByReference, sums } from './gateway_ledger.mjs';
import { Webhooks } from './gateway_webhooks.mjs';

/** Limits: request body, remembered requests and events, longest timer. */
const body_max = 1 << 20;
const requests_max = 20_000;
const events_max = 20_000;
const timer_max = 2 ** 31 - 1;

const require_of_blackbox = createRequire(new URL('../blackbox/package.json', import.meta.url));

/** Loads a package of tests/blackbox, which has the only lock file of the tests. */
export function packageOfBlackbox(name) {
  try {
    return require_of_blackbox(name);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error(`the package "${name}" is missing; run scripts/setup, or \`npm ci\` in tests/blackbox`);
  }
}

export const hmac = (algorithm, key, bytes) => crypto.createHmac(algorithm, key).update(bytes).digest('hex');

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
export const randomText = (length) =>
  Array.from(crypto.randomBytes(length), (byte) => letters[byte % letters.length]).join('');

export const escapeHtml = (text) =>
  String(text).replace(
    /[&<>"']/g,
    (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c],
  );

export const json = (status, value, headers = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

/** A refusal by a control function or the page: not possible in this state. */
export class Refused extends Error {}

const html_answer = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!DOCTYPE html><html><body><h1>We will be right back</h1></body></html>',
};

export class GatewayDouble {
  /** Every call of the API: {at, operation, method, path, params, idempotency_key, status | fault}. */
  requests = [];
  /** Requests outside the gateway's description, one sentence each. Tests assert that it is empty. */
  violations = [];
  isClosed = false;
  #telling = 0;
  #sockets = new Set();
  #timers = new Set();
  #abort = new AbortController();

  /** Each subclass has a start function, which describes `options`. */
  constructor(options) {
    this.options = options;
    this.seed = options.seed ?? 1;
    this.faults = new Faults(this.seed);
    this.clockOffsetMs = options.clockOffsetMs ?? 0;
    this.autopay = undefined;
    this.objects = new Map(); // type -> id -> object
  }

  async listen() {
    const { port = 0, ledgerFile, webhookUrl, webhooks } = this.options;
    this.ledger = Ledger.open(ledgerFile, (type, id, object) => this.remember(type, id, object));
    this.webhooks = new Webhooks({
      url: webhookUrl,
      seed: this.seed,
      sign: (body, skew_s) => this.signature(body, skew_s),
      done: (event) => this.#delivered(event),
    });
    if (webhooks) this.webhooks.set(webhooks);
    this.server = http.createServer((request, response) => this.#serve(request, response));
    this.server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', resolve);
    });
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}`;
    this.publicUrl = this.options.publicUrl ?? this.url;
    this.resumed();
    // Webhooks that a killed run did not deliver: delivery is at least once.
    for (const event of [...this.all('undelivered')]) this.#send_event(event);
    return this;
  }

  // -- memory -----------------------------------------------------------------------------------------------

  remember(type, id, object) {
    if (!this.objects.has(type)) this.objects.set(type, new Map());
    const same = this.objects.get(type);
    if (object === null) same.delete(id);
    else same.set(id, object);
  }

  get(type, id) {
    return this.objects.get(type)?.get(id);
  }

  all(type) {
    return this.objects.get(type)?.values() ?? [].values();
  }

  /** Commits one transaction: at most one money row, and [type, id, object] of each changed object. */
  commit(changes, money) {
    for (const [type, id, object] of changes) this.remember(type, id, object);
    const at = new Date(this.now()).toISOString();
    this.ledger.append(money && { ...money, at }, changes, at);
  }

  rows = () => [...this.ledger.rows];
  capturedByReference = () => capturedByReference(this.ledger.rows);
  refundedByReference = () => refundedByReference(this.ledger.rows);
  sums = () => sums(this.ledger.rows);

  // -- time -------------------------------------------------------------------------------------------------

  /** The gateway's clock in ms; a test may move it. Signatures use the real time and stay valid. */
  now() {
    return Date.now() + this.clockOffsetMs;
  }

  seconds() {
    return Math.floor(this.now() / 1000);
  }

  advanceClock(ms) {
    this.clockOffsetMs += ms;
    this.due();
  }

  /** Subclasses execute due work here. Called before every call and by a timer. */
  due() {}

  /** Subclasses restore their timers here after a restart. */
  resumed() {}

  /** Runs `what` after `ms`, unless the stand-in is closed before. */
  later(ms, what) {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        what();
      },
      Math.min(ms, timer_max),
    );
    timer.unref();
    this.#timers.add(timer);
    return timer;
  }

  // -- webhooks ---------------------------------------------------------------------------------------------

  /**
   * The change that stores an event until its delivery. Commit it with the change that the event describes,
   * then `tell` it.
   */
  undelivered(id, type) {
    const all = this.objects.get('event');
    if (all?.size > events_max) all.delete(all.keys().next().value); // stays in the file
    return ['undelivered', id, { id, type }];
  }

  /**
   * Sends the events of these committed changes in order when they are on disk. Resolves after one attempt of
   * each.
   */
  async tell(changes, how) {
    ++this.#telling;
    await this.ledger.durable();
    const events = changes.filter(([type]) => type === 'undelivered').map(([, , event]) => event);
    await Promise.all(events.map((event) => this.#send_event(event, how)));
    --this.#telling;
  }

  /**
   * Waits until every event so far is delivered, given up, dropped or held. Throws after `timeout_ms`.
   * Ignores planned refunds.
   */
  async quiet(timeout_ms = 10_000) {
    const end = performance.now() + timeout_ms;
    while (this.#telling > 0 || !this.webhooks.isQuiet) {
      if (performance.now() > end) throw new Error(`webhooks are still under way after ${timeout_ms} ms`);
      await sleep(5);
    }
  }

  async #send_event({ id, type }, how) {
    const event = this.get('event', id);
    if (event) await this.webhooks.send({ id, type, body: this.body_of(event) }, how);
  }

  #delivered(event) {
    if (!this.isClosed) this.commit([['undelivered', event.id, null]]);
  }

  // -- HTTP -------------------------------------------------------------------------------------------------

  async #serve(request, response) {
    response.on('error', () => {});
    try {
      const body = await this.#body_of(request);
      const url = new URL(request.url, this.url);
      const ctx = { request, response, body, url, path: url.pathname, method: request.method, finally: [] };
      response.on('close', () => ctx.finally.splice(0).forEach((what) => what()));
      this.due();
      if (ctx.path.startsWith('/_control')) return this.#send(ctx, await this.#control(ctx));
      const page = await this.#page(ctx);
      if (page) return this.#send(ctx, page);
      await this.#call(ctx);
    } catch (error) {
      if (this.isClosed || request.destroyed) return;
      console.error(`${this.name} stand-in: ${error.stack}`); // a bug of the stand-in, not a planned fault
      this.violations.push(`the stand-in itself failed: ${error.message}`);
      response.destroy();
    }
  }

  async #body_of(request) {
    const parts = [];
    let length = 0;
    for await (const part of request) {
      length += part.length;
      if (length > body_max) throw new Error('a request body above 1 MiB');
      parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  }

  /** Handles a call of the gateway's API, with its planned fault. */
  async #call(ctx) {
    ctx.operation = this.operation_of(ctx);
    const fault = this.faults.choose(ctx.operation);
    const line = {
      at: this.now(),
      operation: ctx.operation,
      method: ctx.method,
      path: ctx.path,
      fault: fault?.kind,
    };
    this.requests.push(line);
    if (this.requests.length > requests_max) this.requests.shift();

    const admitted =
      fault && !fault.acted && fault.kind !== 'delay' ? undefined : await this.#act(ctx, fault);
    Object.assign(line, {
      params: ctx.params,
      idempotency_key: ctx.request.headers['idempotency-key'],
      traceparent: ctx.request.headers.traceparent,
      tracestate: ctx.request.headers.tracestate,
    });
    const answer = this.#spoiled(ctx, fault, admitted);
    line.status = answer?.status;
    if (fault?.kind === 'delay' && fault.acted) await this.#sleep(fault.ms);
    if (answer === 'hang') return;
    ctx.finally.splice(0).forEach((what) => what()); // after the answer a client may call again at once
    if (answer === 'reset') return ctx.request.socket.resetAndDestroy();
    if (fault?.kind === 'truncated') return this.#send_half(ctx, answer, fault.broken);
    if (fault?.kind === 'slow_body') return this.#send_slowly(ctx, answer, fault.ms);
    this.#send(ctx, answer);
  }

  /** Executes the request. Resolves when its changes are on disk, so the answer may be sent. */
  async #act(ctx, fault) {
    let answer = this.admit(ctx);
    if (answer === undefined) {
      if (fault?.kind === 'delay' && !fault.acted) await this.#sleep(fault.ms);
      answer = await this.perform(ctx);
    }
    const told = ctx.told ?? Promise.resolve();
    if (this.webhooks.settings.before_answer) await told;
    await this.ledger.durable();
    return answer;
  }

  #spoiled(ctx, fault, answer) {
    switch (fault?.kind) {
      case 'hang':
        return 'hang';
      case 'reset_before':
      case 'reset_after':
        return 'reset';
      case 'html':
        return html_answer;
      case 'status': {
        const headers = fault.retry_after === undefined ? {} : { 'retry-after': String(fault.retry_after) };
        const spoiled = json(fault.status, this.error_body(fault.status), headers);
        if (fault.stored) this.store_answer(ctx, spoiled);
        return spoiled;
      }
      default:
        return answer;
    }
  }

  #send(ctx, { status, headers, body }) {
    if (ctx.response.destroyed) return;
    const length = Buffer.byteLength(body ?? '');
    ctx.response.writeHead(status, { ...headers, 'content-length': length });
    ctx.response.end(body);
  }

  #send_half(ctx, { status, headers, body }, is_broken) {
    const half = Buffer.from(body).subarray(0, Math.floor(Buffer.byteLength(body) / 2));
    if (!is_broken) return this.#send(ctx, { status, headers, body: half });
    ctx.response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
    ctx.response.write(half, () => ctx.request.socket.destroy());
  }

  async #send_slowly(ctx, { status, headers, body }, ms) {
    const bytes = Buffer.from(body);
    const pieces = 10;
    ctx.response.writeHead(status, { ...headers, 'content-length': bytes.length });
    for (let i = 0; i < pieces && !ctx.response.destroyed; ++i) {
      ctx.response.write(
        bytes.subarray(
          Math.floor((i * bytes.length) / pieces),
          Math.floor(((i + 1) * bytes.length) / pieces),
        ),
      );
      await this.#sleep(ms / pieces);
    }
    ctx.response.end();
  }

  /** Waits; ends at once when the stand-in is closed. */
  #sleep(ms) {
    return sleep(ms, undefined, { ref: false, signal: this.#abort.signal }).catch(() => {});
  }

  // -- the payment page -------------------------------------------------------------------------------------

  /**
   * GET <page address>: for browsers. POST /pay/<id> {action: pay | decline | async}, form or JSON: for the
   * page's buttons and load programs.
   */
  async #page(ctx) {
    if (ctx.method === 'GET' && this.is_page(ctx.path)) {
      const body = this.page(decodeURIComponent(ctx.path.split('/').at(-1)));
      if (body) await this.ledger.durable();
      return {
        status: body ? 200 : 404,
        headers: html_answer.headers,
        body: body ?? '<h1>No such payment</h1>',
      };
    }
    const id = ctx.method === 'POST' && /^\/pay\/([^/]+)$/.exec(ctx.path)?.[1];
    if (!id) return undefined;
    const is_json = ctx.request.headers['content-type']?.includes('json');
    const { action, ...options } = is_json
      ? JSON.parse(ctx.body)
      : Object.fromEntries(new URLSearchParams(ctx.body));
    const does = { pay: this.pay, decline: this.declineCard, async: this.payAsync }[action];
    if (!does) return json(400, { error: `no such action: ${action}` });
    try {
      const done = await does.call(this, decodeURIComponent(id), is_json ? options : {});
      if (!ctx.request.headers.accept?.includes('text/html')) return json(200, done);
      return { status: 303, headers: { location: done.redirect }, body: '' };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return json(409, { error: error.message });
    }
  }

  // -- control ----------------------------------------------------------------------------------------------

  /** Functions of /_control/<name>; the argument is the request's JSON object. Subclasses add theirs. */
  controls() {
    return {
      pay: ({ reference, ...options }) => this.pay(reference, options),
      declineCard: ({ reference, ...options }) => this.declineCard(reference, options),
      payAsync: ({ reference, ...options }) => this.payAsync(reference, options),
      settleAsync: ({ reference, ok = true, ...options }) => this.settleAsync(reference, ok, options),
      lateFailure: ({ reference }) => this.lateFailure(reference),
      settleRefund: ({ id, ok = true }) => this.settleRefund(id, ok),
      addFault: (rule) => this.faults.add(rule),
      clearFaults: () => this.faults.clear(),
      setWebhooks: (changes) => this.webhooks.set(changes),
      holdWebhooks: () => this.webhooks.set({ hold: true }),
      releaseWebhooks: (options) => this.webhooks.release(options),
      set: (changes) => this.set(changes),
      advanceClock: ({ ms }) => this.advanceClock(ms),
      rows: () => this.rows(),
      capturedByReference: () => Object.fromEntries(this.capturedByReference()),
      refundedByReference: () => Object.fromEntries(this.refundedByReference()),
      sums: () => this.sums(),
      violations: () => this.violations,
      requests: () => this.requests,
      deliveries: () => this.webhooks.log,
      faults: () => this.faults.log,
      state: () => ({
        ...this.sums(),
        violations: this.violations.length,
        requests: this.requests.length,
        held: this.webhooks.heldCount,
      }),
      quiet: ({ ms }) => this.quiet(ms),
    };
  }

  /** Options changeable at run time: webhookUrl, autopay, and those of the subclass. */
  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (name === 'webhookUrl') this.webhooks.url = value ?? undefined;
      else if (name === 'autopay' || name in this.settable) this[name] = value ?? undefined;
      else throw new Refused(`nothing called ${name} can be set`);
    }
  }

  async #control(ctx) {
    const name = ctx.path.slice('/_control/'.length) || 'state';
    const does = this.controls()[name];
    if (!does) return json(404, { error: `no such control: ${name}` });
    try {
      const done = await does(ctx.body ? JSON.parse(ctx.body) : {});
      await this.ledger.durable();
      return json(200, { result: done ?? null });
    } catch (error) {
      return json(error instanceof Refused ? 409 : 400, { error: error.message });
    }
  }

  // -- end --------------------------------------------------------------------------------------------------

  async close() {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#abort.abort();
    for (const timer of this.#timers) clearTimeout(timer);
    clearInterval(this.ticker);
    this.webhooks.close();
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    await this.ledger.close();
  }
}
