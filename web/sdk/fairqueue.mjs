// SPDX-License-Identifier: Apache-2.0
// The browser SDK: one visitor's place in a FairQueue line. The place survives reloads, sleep, lost networks,
// second tabs and server restarts. Uses only the public API (docs/openapi.yaml), no dependencies and no DOM.
// Types: fairqueue.d.ts.

import { solve_work } from './challenge.mjs';
import { SeatMap } from './seats.mjs';

const reconnect_base_ms = 500;
const reconnect_cap_ms = 30_000;
const poll_default_ms = 5_000;
/** Silence after which the SDK polls: a socket may be dead without notice (a laptop that slept). */
const silence_max_ms = 45_000;
const heartbeat_ms = 5_000;
/** Delay of a heartbeat that means a sleeping machine or a frozen page. */
const sleep_min_ms = 20_000;

/** States of an order that its buyer need not wait for any longer. */
const order_over = new Set(['success', 'failed', 'cancelled', 'refunded', 'partially_refunded']);

const over = new Set(['EXPIRED', 'CANCELLED', 'COMPLETED', 'SESSION_EXPIRED', 'REVOKED']);

/** Full jitter from 0 to the cap of this attempt, so that a crowd does not return at once. */
export const reconnect_delay = (attempt, random = Math.random) =>
  random() * Math.min(reconnect_cap_ms, reconnect_base_ms * 2 ** Math.min(attempt, 16));

/** Seconds until the next attempt after a refusal (Retry-After), or nothing. */
export const retry_after_ms = (response) => {
  const seconds = Number(response.headers.get('Retry-After'));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
};

const range_of = (range) => (range ? { low: range.low, high: range.high } : null);

/** The odds of a place in SDK form; null: not told. */
const outlook_of = (odds) =>
  odds
    ? {
        ticketsFree: odds.tickets_free,
        ticketsHeld: odds.tickets_held,
        peopleAhead: odds.people_ahead,
        buyingPercent: range_of(odds.buying_percent),
        buyersAhead: odds.buyers_ahead,
        ticketsAhead: odds.tickets_ahead,
        chancePercent: range_of(odds.chance_percent),
        chance: odds.chance,
      }
    : null;

/** A place of either API in SDK form. `known`: the current place, for members that an answer omits. */
export function place_of(answer, known = {}) {
  const { eta, lobby } = answer;
  const id = answer.entry_id ?? answer.ticket_id;
  // Ignores a late answer: within a class a position never grows.
  const is_older =
    known.id === id &&
    known.status === 'WAITING' &&
    answer.status === 'WAITING' &&
    answer.position > known.position;
  const position = is_older ? known.position : (answer.position ?? null);
  return {
    id,
    line: answer.event_id ?? answer.queue_id,
    status: answer.status,
    number: answer.queue_number,
    position,
    ahead: position === null ? null : position - 1,
    eta: eta ? { low: eta.low_seconds, high: eta.high_seconds } : null,
    lobby: lobby
      ? { status: lobby.status, draw: lobby.draw, people: lobby.people, opensAt: lobby.opens_at }
      : null,
    party: answer.party ?? null,
    outlook: outlook_of(answer.outlook),
    waitingList: answer.outlook?.waiting_list ?? known.waitingList ?? false,
    message: answer.message ?? null,
    token: answer.admission_token ?? answer.session_token ?? null,
    pass: answer.admission_pass ?? null,
    sessionExpiresAt: answer.session_expires_at ?? null,
    claimBy: answer.claim_by ?? null,
    soldOut: known.soldOut ?? false,
    paused: known.paused ?? false,
    ended: known.ended ?? false,
  };
}

const no_position = { position: null, lobby: null, party: null, ahead: null, eta: null };

/** The place after a frame of the WebSocket; the same object if the frame changes nothing. */
export function place_after(place, frame) {
  switch (frame.type) {
    case 'state': {
      const status = frame.event_status ?? frame.queue_status;
      return {
        ...place_of(frame.entry ?? frame.ticket, place ?? {}),
        soldOut: frame.sold_out ?? false,
        paused: status === 'PAUSED',
        ended: status === 'ENDED' || status === 'CANCELLED',
      };
    }
    case 'position_changed':
      if (!place || (place.status !== 'WAITING' && place.status !== 'AWAY')) return place;
      return {
        ...place,
        position: frame.position,
        lobby: null,
        party: null,
        ahead: frame.ahead,
        eta: frame.eta ? { low: frame.eta.low_seconds, high: frame.eta.high_seconds } : null,
        outlook: outlook_of(frame.outlook) ?? place.outlook,
        waitingList: frame.outlook?.waiting_list ?? place.waitingList,
      };
    case 'admitted':
      return {
        ...place,
        status: 'ADMITTED',
        ...no_position,
        token: frame.admission_token ?? frame.session_token,
        sessionExpiresAt: frame.session_expires_at,
        claimBy: frame.claim_by ?? null,
      };
    case 'expired':
    case 'cancelled':
    case 'completed':
    case 'session_expired':
    case 'revoked':
      return {
        ...place,
        status: frame.type.toUpperCase(),
        ...no_position,
        token: null,
      };
    case 'paused':
    case 'resumed':
      return { ...place, paused: frame.type === 'paused' };
    case 'sold_out':
      return { ...place, soldOut: frame.sold_out };
    case 'waiting_list':
      return { ...place, waitingList: frame.waiting_list, outlook: null };
    case 'ended':
      return { ...place, ended: true };
    case 'message':
      return { ...place, message: frame.message };
    default:
      return place;
  }
}

class Refused extends Error {
  constructor(status, code, detail, wait) {
    super(detail ?? code);
    Object.assign(this, { name: 'FairQueueError', status, code, wait });
  }
}

/** localStorage if the page may use it, else this page's memory. */
function default_storage() {
  try {
    const probe = 'fairqueue.probe';
    localStorage.setItem(probe, '1');
    localStorage.removeItem(probe);
    return localStorage;
  } catch {
    const kept = new Map();
    return {
      getItem: (k) => kept.get(k) ?? null,
      setItem: (k, v) => kept.set(k, v),
      removeItem: (k) => kept.delete(k),
    };
  }
}

const random_key = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');

/** Undefined if no member has a value. */
const body_of = (members) =>
  Object.values(members).some((value) => value !== undefined) ? members : undefined;

/** Recognises a text again without keeping it: it names a person. */
function digest(text) {
  let hash = 0x811c9dc5; // FNV-1a
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return `${text.length}.${hash >>> 0}`;
}

/** Until the time has passed or the signal is aborted. */
function pause(ms, signal) {
  return new Promise((passed) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      passed();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

export class FairQueue extends EventTarget {
  #options;
  #storage;
  #channel;
  #socket;
  #timer;
  #heartbeat;
  #attempt = 0;
  #heard_at = 0;
  #beat_at = 0;
  #running = false;
  #asking = false;
  #place = null;
  #connection = 'closed';
  #wake = () => this.#look_again();
  #wake_when_seen = () => document.visibilityState === 'visible' && this.#look_again();

  constructor(options) {
    super();
    const { server, event, queue, token } = options;
    if (!server || !event === !queue)
      throw new TypeError('FairQueue: give server, and either event or queue');
    if (event && !token) throw new TypeError("FairQueue: an event needs the customer's token");
    this.#options = { ...options, server: server.replace(/\/+$/, '') };
    this.#storage = options.storage ?? default_storage();
  }

  /** The current place; null: none. */
  get place() {
    return this.#place;
  }

  /** 'live' (WebSocket), 'polling', 'offline' or 'closed'. */
  get connection() {
    return this.#connection;
  }

  /**
   * Joins, or finds the visitor's place, and follows it. `accessCode` opens hidden types of an event; with
   * `partyCode` a new place joins a party of the lobby.
   */
  async join({ accessCode, partyCode } = {}) {
    const { event, queue, key, subjectToken } = this.#options;
    const party_code = partyCode || undefined;
    await this.#alone(async () => {
      if (queue && this.#kept()?.token) return;
      const answer = await this.#solving(({ challenge }) =>
        event
          ? this.#call('POST', `/events/${event}/queue`, {
              token: this.#options.token,
              body: body_of({ access_code: accessCode || undefined, party_code, challenge }),
            })
          : this.#call('POST', `/queues/${queue}/tickets`, {
              token: key,
              // The same key returns the same place: also after a lost answer, and in another tab.
              idempotency: subjectToken ? undefined : this.#join_key(),
              body: body_of({ subject_token: subjectToken, party_code, challenge }),
            }),
      );
      if (queue) this.#keep({ ...this.#kept(), id: answer.ticket_id, token: answer.ticket_token });
      this.#take(place_of(answer));
    });
    this.#tell_tabs('joined');
    return this.resume();
  }

  /** Follows the visitor's place. Resolves to it, or to null if there is none. */
  async resume() {
    this.#adopt_handoff();
    if (this.#options.queue && !this.#kept()?.token) return null;
    this.#start();
    await this.#poll();
    if (this.#running) this.#open();
    return this.#place;
  }

  /** Gives the place up, in all tabs. */
  async leave() {
    const where = this.#where();
    if (!where) return;
    await this.#call('DELETE', where.path, { token: where.token }).catch((no) => {
      if (no.status !== 404) throw no;
    });
    this.#forget();
    this.#tell_tabs('left');
    this.#end(null);
  }

  /** The proof of the visitor's place in the public log, as a text to keep: a moment after joining. */
  async receipt() {
    const where = this.#own();
    for (let left = 5; ; --left) {
      try {
        return await this.#call('GET', `${where.path}/receipt`, { token: where.token, as: 'text' });
      } catch (no) {
        if (no.status !== 503 || left === 0) throw no;
        await new Promise((done) => setTimeout(done, no.wait || 2000));
      }
    }
  }

  /** In a lobby with a draw: opens a party, or joins the one with this code. Resolves to the place. */
  async party(code) {
    const { path, token } = this.#own();
    const body = body_of({ party_code: code || undefined });
    this.#take(place_of(await this.#call('POST', `${path}/party`, { token, body }), this.#place ?? {}));
    return this.#place;
  }

  /** Stops following; the place is kept. */
  close() {
    this.#stop();
    this.#say('closed');
  }

  /** A URL fragment with the place's own token, for another device. Its holder has the place. */
  handoff() {
    const kept = this.#kept();
    return kept?.token ? `#fairqueue=${kept.id}.${kept.token}` : '';
  }

  // -- orders of an event: bodies and answers as in docs/openapi.yaml ---------------------------------

  /** Price of `{items, promo_code}`. Holds nothing. */
  quote(wish = {}) {
    return this.#call('POST', `/events/${this.#event()}/quote`, { token: this.#options.token, body: wish });
  }

  /**
   * Places an order: `{contact, answers, items, promo_code, success_url, cancel_url}`. Its tickets are held
   * then. After a lost answer the same call finds the same order, also after a reload.
   */
  async checkout(wish) {
    const body = { ...wish, event_id: this.#event() };
    if (this.#place?.token) body.admission_token = this.#place.token;
    const name = `${this.#name()}.checkout`;
    const what = digest(JSON.stringify(body));
    const [kept, kept_key] = (this.#storage.getItem(name) ?? '').split(' ');
    const key = kept === what ? kept_key : random_key();
    this.#storage.setItem(name, `${what} ${key}`);
    try {
      const order = await this.#call('POST', '/checkout', {
        token: this.#options.token,
        body,
        idempotency: key,
      });
      this.#storage.removeItem(name);
      return order;
    } catch (no) {
      // After 401 the visitor may sign in again, and an earlier try may have placed the order.
      const is_open = no.status === undefined || [401, 429].includes(no.status) || no.status >= 500;
      if (!is_open && no.code !== 'idempotency_in_progress') this.#storage.removeItem(name);
      throw no;
    }
  }

  // -- reserved seats of an event --------------------------------------------------------------------

  /**
   * The event's seats, open and followed until close(). To buy: checkout({items: [{ticket_type_id, seats:
   * ['A-3', 'A-4']}], ...}).
   */
  seats() {
    const { server, token, fetch, WebSocket, polling } = this.#options;
    const map = new SeatMap({
      server,
      event: this.#event(),
      token: polling ? undefined : token,
      fetch,
      WebSocket,
    });
    return map.open();
  }

  /** Price of the best `count` seats side by side: {section, ticket_type_id, accessible}. Holds nothing. */
  quoteBest(count, wish = {}) {
    return this.quote({ ...wish, best: count });
  }

  /** Orders the best `count` seats side by side; `wish` also has contact and addresses, as of checkout. */
  checkoutBest(count, wish) {
    return this.checkout({ ...wish, best: count });
  }

  /** The order's status now. */
  order(id) {
    return this.#call('GET', `/orders/${id}/status`, { token: this.#options.token });
  }

  /** The order's status now and after each change, until it is over. Polls at the server's pace. */
  async *orderChanges(id, { signal } = {}) {
    let before;
    for (let attempt = 0; !signal?.aborted;) {
      let wait;
      try {
        const order = await this.order(id);
        attempt = 0;
        if (signal?.aborted) return;
        if (order.status !== before?.status || order.payment_url !== before?.payment_url) yield order;
        if (order_over.has(order.status)) return;
        before = order;
        wait = order.poll_after_ms || poll_default_ms;
      } catch (no) {
        if (no.status < 500 && no.status !== 429) throw no;
        wait = no.wait ?? reconnect_delay(attempt++);
      }
      await pause(wait, signal);
    }
  }

  // -- names that the session locks at a queue: answers as in docs/openapi.yaml -----------------------

  /** Locks a name, for example of a seat, until the session ends. Rejects with code `lock_held`. */
  lock(name) {
    return this.#lock('PUT', name);
  }

  unlock(name) {
    return this.#lock('DELETE', name);
  }

  /** The session's own locks. */
  async locks() {
    return (await this.#lock('GET')).locks;
  }

  #lock(method, name) {
    if (!this.#options.queue) throw new TypeError('FairQueue: only a queue has locks');
    const path = `/queues/${this.#options.queue}/locks${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
    return this.#call(method, path, { token: this.#place?.token });
  }

  // -- event tickets of the customer, at all events ---------------------------------------------------

  /** A page, newest first. */
  eventTickets({ cursor } = {}) {
    const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : '';
    return this.#call('GET', `/event-tickets${query}`, { token: this.#options.token });
  }

  /** With its code, or the secret of rotating codes (event_ticket_code.mjs). */
  eventTicket(id) {
    return this.#call('GET', `/event-tickets/${id}`, { token: this.#options.token });
  }

  /** Offers it to a person, who gets a mail and accepts. */
  transfer(id, email) {
    return this.#call('POST', `/event-tickets/${id}/transfer`, {
      token: this.#options.token,
      body: { email },
    });
  }

  /** Open offers, given and received. */
  transfers() {
    return this.#call('GET', '/event-tickets/transfers', { token: this.#options.token });
  }

  /** `how`: 'accept' or 'decline' by the receiver, 'withdraw' by the giver. */
  answerTransfer(id, how) {
    return this.#call('POST', `/event-tickets/transfers/${id}/${how}`, { token: this.#options.token });
  }

  #event() {
    if (!this.#options.event) throw new TypeError('FairQueue: only an event has orders');
    return this.#options.event;
  }

  // -- storage ----------------------------------------------------------------------------------------

  #name() {
    return `fairqueue.${this.#options.queue ?? this.#options.event}`;
  }
  #kept() {
    try {
      return JSON.parse(this.#storage.getItem(this.#name())) ?? undefined;
    } catch {
      return undefined;
    }
  }
  #keep(what) {
    this.#storage.setItem(this.#name(), JSON.stringify(what));
  }
  #forget() {
    this.#storage.removeItem(this.#name());
  }
  #join_key() {
    const kept = this.#kept() ?? {};
    if (!kept.key) this.#keep({ ...kept, key: random_key() });
    return this.#kept().key;
  }
  /** Adopts a place from another device in the address, and removes it from the address. */
  #adopt_handoff() {
    const [, id, token] =
      /^#fairqueue=([0-9a-f-]{36})\.([\w.-]+)$/.exec(globalThis.location?.hash ?? '') ?? [];
    if (!token || !this.#options.queue) return;
    this.#keep({ id, token });
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  /** Serialises two tabs that join at once, if the browser has locks. */
  #alone(work) {
    return globalThis.navigator?.locks ? navigator.locks.request(this.#name(), work) : work();
  }
  #tell_tabs(what) {
    this.#channel?.postMessage(what);
  }
  #hear_tab({ data }) {
    if (data === 'left') this.#end(null);
    else this.#look_again();
  }

  // -- requests ---------------------------------------------------------------------------------------

  #where() {
    const { event, queue, token } = this.#options;
    if (event)
      return {
        token,
        path: `/events/${event}/queue`,
        poll: `/events/${event}/queue/position`,
        socket: `/ws/queue/${event}`,
      };
    const kept = queue && this.#kept();
    return kept?.token
      ? {
          token: kept.token,
          path: `/tickets/${kept.id}`,
          poll: `/tickets/${kept.id}`,
          socket: `/tickets/${kept.id}/ws`,
        }
      : undefined;
  }

  #own() {
    const where = this.#where();
    if (!where) throw new Refused(404, 'not_in_queue', 'There is no place.');
    return where;
  }

  /** Repeats a join with a solved challenge where one is asked for; the first may be too easy by now. */
  async #solving(join) {
    for (let given = {}, left = 3; ; --left) {
      try {
        return await join(given);
      } catch (no) {
        if (no.code !== 'challenge_required' || left === 0) throw no;
        given = { challenge: await this.#solved(no) };
      }
    }
  }

  /** The solution of a new challenge; `no` is thrown if it takes a person and the page has no captcha. */
  async #solved(no) {
    const { event, queue, solve } = this.#options;
    const path = `${event ? `/events/${event}` : `/queues/${queue}`}/challenge`;
    const challenge = await this.#call('GET', path, {});
    if (challenge.type === 'none') return undefined;
    if (challenge.type === 'proof_of_work') return solve_work(challenge);
    if (!solve) throw no;
    const captcha = await solve(challenge);
    return (await this.#call('POST', path, { body: { captcha } })).challenge;
  }

  async #call(method, path, { token, body, idempotency, as = 'json' }) {
    const headers = {};
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers['Content-Type'] = 'application/json';
    if (idempotency) headers['Idempotency-Key'] = idempotency;
    const response = await (this.#options.fetch ?? fetch)(this.#options.server + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout?.(20_000),
    });
    if (response.ok && as === 'text') return response.text();
    const answer = response.status === 204 ? {} : await response.json().catch(() => ({}));
    if (response.ok) return answer;
    throw new Refused(
      response.status,
      answer.code ?? 'unknown',
      answer.detail ?? answer.title,
      retry_after_ms(response),
    );
  }

  /** Polls once; the server sets the next time. */
  async #poll() {
    const where = this.#where();
    if (!where || this.#asking) return;
    this.#asking = true;
    clearTimeout(this.#timer);
    let wait;
    try {
      const answer = await this.#call('GET', where.poll, where);
      this.#heard_at = Date.now();
      wait = answer.poll_after_ms ?? poll_default_ms;
      if (this.#connection !== 'live') this.#say('polling');
      this.#take(place_of(answer, this.#place ?? {}));
    } catch (no) {
      if (no.status === 401 || no.status === 403) this.#end(null, 'unauthorized');
      else if (no.status === 404) this.#lose();
      else {
        wait = no.wait ?? poll_default_ms + reconnect_delay(this.#attempt);
        if (no.status === undefined && this.#connection !== 'live') this.#say('offline');
      }
    } finally {
      this.#asking = false;
    }
    // No frame says how many are in a lobby.
    const is_told = this.#connection === 'live' && !this.#place?.lobby;
    if (this.#running && !is_told && wait !== undefined) this.#timer = setTimeout(() => this.#poll(), wait);
  }

  // -- following ----------------------------------------------------------------------------------------

  #start() {
    if (this.#running) return;
    this.#running = true;
    this.#beat_at = Date.now();
    this.#heartbeat = setInterval(() => this.#beat(), heartbeat_ms);
    if (globalThis.BroadcastChannel && !this.#channel) {
      this.#channel = new BroadcastChannel(this.#name());
      this.#channel.onmessage = (message) => this.#hear_tab(message);
    }
    globalThis.addEventListener?.('online', this.#wake);
    globalThis.addEventListener?.('pageshow', this.#wake);
    globalThis.document?.addEventListener('visibilitychange', this.#wake_when_seen);
  }

  #stop() {
    this.#running = false;
    clearTimeout(this.#timer);
    clearInterval(this.#heartbeat);
    this.#drop_socket();
    this.#channel?.close();
    this.#channel = undefined;
    globalThis.removeEventListener?.('online', this.#wake);
    globalThis.removeEventListener?.('pageshow', this.#wake);
    globalThis.document?.removeEventListener('visibilitychange', this.#wake_when_seen);
  }

  #drop_socket() {
    const socket = this.#socket;
    this.#socket = undefined;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #open() {
    const where = this.#where();
    const Socket = this.#options.WebSocket ?? globalThis.WebSocket;
    if (!this.#running || this.#socket || !where || !Socket || this.#options.polling) return;
    const socket = new Socket(this.#options.server.replace(/^http/, 'ws') + where.socket, [
      'fairqueue.v1',
      where.token,
    ]);
    this.#socket = socket;
    let come_back;
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      this.#heard_at = Date.now();
      if (frame.type === 'draining') come_back = frame.reconnect_after_ms;
      if (frame.type === 'state') {
        this.#attempt = 0;
        clearTimeout(this.#timer);
        this.#say('live');
      }
      this.#take(place_after(this.#place, frame), frame);
      if (frame.type === 'state' && this.#place?.lobby)
        this.#timer = setTimeout(() => this.#poll(), poll_default_ms);
    };
    socket.onclose = ({ code }) => {
      this.#socket = undefined;
      if (code === 4401) return this.#end(null, 'unauthorized');
      if (!this.#running) return;
      if (this.#connection === 'live') this.#say('polling');
      const delay = (come_back ?? 0) + reconnect_delay(this.#attempt++);
      setTimeout(() => this.#open(), delay);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#poll(), come_back === undefined ? Math.min(delay, 1_000) : delay);
    };
  }

  /** Polls now and reconnects, because updates may have been missed. */
  #look_again() {
    if (!this.#running) return;
    this.#attempt = 0;
    if (this.#socket && this.#socket.readyState !== 1) this.#drop_socket();
    this.#poll();
    this.#open();
  }

  #beat() {
    const now = Date.now();
    const slept = now - this.#beat_at > sleep_min_ms;
    this.#beat_at = now;
    if (slept) {
      this.#drop_socket(); // looks open, but the server has dropped it
      if (this.#connection === 'live') this.#say('polling');
      this.#look_again();
    } else if (this.#connection === 'live' && now - this.#heard_at > silence_max_ms) this.#poll();
  }

  #take(place, frame) {
    if (!this.#running && !place) return;
    const before = this.#place;
    if (place === before) return this.#emit('frame', frame);
    this.#place = place;
    this.#emit('change', place);
    if (place.status === 'ADMITTED' && before?.status !== 'ADMITTED') this.#emit('admitted', place);
    if (over.has(place.status)) this.#end(place, place.status.toLowerCase());
    this.#emit('frame', frame);
  }

  /** The server no longer knows the place. */
  #lose() {
    this.#forget();
    this.#end(null, 'gone');
  }

  #end(place, why = 'left') {
    this.#stop();
    if (place === null || this.#options.queue) this.#forget();
    this.#place = place;
    this.#say('closed');
    this.#emit('end', { why, place });
  }

  #say(connection) {
    if (connection === this.#connection) return;
    this.#connection = connection;
    this.#emit('connection', connection);
  }

  #emit(type, detail) {
    if (detail !== undefined) this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
