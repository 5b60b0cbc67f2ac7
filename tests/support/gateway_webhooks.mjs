// SPDX-License-Identifier: Apache-2.0
// Delivery of webhooks by a gateway stand-in: at least once, with back-off until a 2xx. A test may have them
// duplicated, shuffled, held, dropped or late. Does not read the events.
import http from 'node:http';
import https from 'node:https';
import { chance } from './gateway_faults.mjs';

/** Limits: parallel deliveries, answers in the log. */
const concurrent_max = 32;
const log_max = 20_000;

export const webhook_defaults = {
  duplicates: 0, // further copies of each event, sent at the same time
  shuffle: false, // events of one window leave in a random order
  shuffle_window_ms: 50,
  hold: false, // holds all events until a release
  drop: 0, // number of next events that are never sent
  drop_probability: 0,
  drop_types: [], // types that are never sent
  only_types: undefined, // list of the only types that the endpoint wants
  delay_ms: 0, // delay of every event
  timeout_ms: 10_000, // for an answer
  skew_s: 0, // offset of the time in signatures
  before_answer: false, // delivers the events of an API call before its answer
  retry: { first_ms: 200, factor: 2, max_ms: 5_000, attempts: 12 },
};

export class Webhooks {
  /**
   * One line for each attempt and each dropped event: {event, type, copy, attempt, status | error | dropped,
   * ms, at}.
   */
  log = [];
  settings = structuredClone(webhook_defaults);
  #held = [];
  #window = [];
  #waiting = [];
  #timers = new Map(); // timer -> delivery
  #under_way = 0;
  #chains = 0;
  #number = 0;
  #is_closed = false;

  /**
   * `sign(body, skew_s)` returns the headers; `done(event)` is called when an event needs no further attempt.
   */
  constructor({ url, seed, sign, done }) {
    Object.assign(this, { url, seed, sign, done });
    this.agents = {
      'http:': new http.Agent({ keepAlive: true }),
      'https:': new https.Agent({ keepAlive: true }),
    };
  }

  /** Changes some settings; `retry` may be given in parts. */
  set(changes) {
    for (const name of Object.keys(changes))
      if (!(name in webhook_defaults)) throw new Error(`webhooks have no setting ${name}`);
    const retry = { ...this.settings.retry, ...changes.retry };
    Object.assign(this.settings, changes, { retry });
    if (changes.hold === false) this.release();
  }

  /**
   * `event`: {id, type, body}, `body`: the bytes to send. Resolves after its first attempt, or if there is
   * none.
   */
  send(event, { delayMs = 0, hold = false } = {}) {
    if (this.#is_closed) return Promise.resolve();
    if (this.url === undefined || this.settings.only_types?.includes(event.type) === false) {
      this.done(event);
      return Promise.resolve();
    }
    const number = ++this.#number;
    if (this.#is_dropped(event, number)) {
      this.#log({ event: event.id, type: event.type, dropped: true });
      this.done(event);
      return Promise.resolve();
    }
    event.open = this.settings.duplicates + 1;
    const copies = Array.from({ length: event.open }, (_, copy) =>
      this.#first_attempt({ event, copy, number, attempt: 0 }, delayMs, hold),
    );
    return Promise.all(copies);
  }

  #first_attempt(delivery, delay_ms, hold) {
    return new Promise((resolve) => {
      delivery.attempted = resolve;
      if (hold) return this.#hold(delivery);
      this.#later(delivery, delay_ms + this.settings.delay_ms, () => {
        if (this.settings.shuffle) this.#shuffle(delivery);
        else this.#attempt(delivery);
      });
    });
  }

  #is_dropped(event, number) {
    const { drop_types, drop_probability } = this.settings;
    if (drop_types.includes(event.type)) return true;
    if (this.settings.drop > 0) {
      --this.settings.drop;
      return true;
    }
    return chance(this.seed, 'drop', number) < drop_probability;
  }

  #hold(delivery) {
    delivery.attempted(); // no one waits for a late release
    this.#held.push(delivery);
  }

  #shuffle(delivery) {
    this.#window.push(delivery);
    if (this.#window.length > 1) return;
    this.#later(delivery, this.settings.shuffle_window_ms, () => {
      for (const one of this.#ordered(this.#window.splice(0), 'shuffle')) this.#attempt(one);
    });
  }

  #ordered(deliveries, order) {
    const rank = ({ number, copy }) => chance(this.seed, 'order', number, copy);
    if (order === 'reverse') return deliveries.reverse();
    if (order === 'shuffle') return deliveries.sort((a, b) => rank(a) - rank(b));
    return deliveries;
  }

  /**
   * Releases the held events in `order`: 'fifo', 'reverse' or 'shuffle'; returns their number. Each waits for
   * the answer to the previous one, so that none overtakes; `parallel`: all at once.
   */
  release({ order = 'fifo', parallel = false } = {}) {
    this.settings.hold = false;
    const held = this.#ordered(this.#held.splice(0), order);
    if (parallel) for (const delivery of held) this.#attempt(delivery);
    else this.#one_by_one(held);
    return held.length;
  }

  async #one_by_one(deliveries) {
    ++this.#chains;
    for (const delivery of deliveries) await this.#attempt(delivery);
    --this.#chains;
  }

  get heldCount() {
    return this.#held.length;
  }

  #later(delivery, ms, what) {
    if (this.#is_closed) return;
    if (ms <= 0) return what();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      what();
    }, ms);
    timer.unref();
    this.#timers.set(timer, delivery);
  }

  async #attempt(delivery) {
    if (this.#is_closed) return;
    if (this.settings.hold) return this.#hold(delivery);
    if (this.#under_way >= concurrent_max) await new Promise((resolve) => this.#waiting.push(resolve));
    else ++this.#under_way;
    ++delivery.attempt;
    const answer = this.#is_closed ? undefined : await this.#post(delivery);
    // Its place goes directly to the next waiting delivery, so that the count never dips.
    if (this.#waiting.length > 0) this.#waiting.shift()();
    else --this.#under_way;
    this.#judge(delivery, answer);
  }

  #judge(delivery, answer) {
    const { event, copy, attempt } = delivery;
    if (this.#is_closed) return delivery.attempted(); // the next run sends unanswered events again
    this.#log({ event: event.id, type: event.type, copy, attempt, ...answer });
    delivery.attempted();
    const { first_ms, factor, max_ms, attempts } = this.settings.retry;
    if (answer.status >= 200 && answer.status < 300) return this.#copy_is_over(event);
    if (attempt >= attempts) {
      this.#log({ event: event.id, type: event.type, copy, attempt, gave_up: true });
      return this.#copy_is_over(event);
    }
    this.#later(delivery, Math.min(first_ms * factor ** (attempt - 1), max_ms), () =>
      this.#attempt(delivery),
    );
  }

  #copy_is_over(event) {
    if (--event.open === 0) this.done(event);
  }

  #log(line) {
    this.log.push({ ...line, at: Date.now() });
    if (this.log.length > log_max) this.log.shift();
  }

  /**
   * One attempt: {status, ms} or {error, ms}; never throws. A redirect counts as any other answer that is not
   * 2xx.
   */
  #post({ event }) {
    const begin = performance.now();
    const { body } = event;
    const url = new URL(this.url);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...this.sign(body, this.settings.skew_s),
    };
    const timeout = this.settings.timeout_ms;
    return new Promise((resolve) => {
      const over = (answer) => {
        clearTimeout(deadline);
        resolve({ ...answer, ms: Math.round(performance.now() - begin) });
      };
      const client = url.protocol === 'https:' ? https : http;
      const request = client.request(
        url,
        { method: 'POST', headers, agent: this.agents[url.protocol] },
        (response) => {
          response.on('error', () => {}).resume();
          over({ status: response.statusCode });
        },
      );
      request.on('error', (error) => over({ error: error.code ?? error.message }));
      const deadline = setTimeout(() => request.destroy(new Error('no answer in time')), timeout);
      deadline.unref();
      request.end(body);
    });
  }

  /** Nothing is in flight or planned; held events do not count. */
  get isQuiet() {
    return this.#under_way === 0 && this.#chains === 0 && this.#timers.size === 0;
  }

  close() {
    this.#is_closed = true;
    for (const [timer, delivery] of this.#timers) {
      clearTimeout(timer);
      delivery.attempted();
    }
    this.#timers.clear();
    for (const delivery of this.#window) delivery.attempted();
    for (const agent of Object.values(this.agents)) agent.destroy();
  }
}
