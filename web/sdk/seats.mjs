// SPDX-License-Identifier: Apache-2.0
// Reserved seats of an event: the plan, the map and its changes. The pages draw it; a site of one's own may
// draw what it likes. Uses only the public API and no DOM. Types: fairqueue.d.ts.

const poll_ms = 2_000;
const retry_cap_ms = 30_000;
/** Of the first reading, while the server has too much to do. */
const open_tries = 5;
const open_retry_ms = 1_000;
/** A crowd that must read again does not come at once. */
const reload_spread_ms = 500;

/** By the map's two bits. */
export const seat_states = ['free', 'held', 'sold', 'blocked'];

/** "5-9,12": 5, 6, 7, 8, 9, 12. */
export function read_runs(text = '') {
  const numbers = [];
  for (const part of text ? text.split(',') : []) {
    const [first, last = first] = part.split('-').map(Number);
    for (let n = first; n <= last; ++n) numbers.push(n);
  }
  return numbers;
}

/** Four seats a byte, from its lowest bits on. */
export function read_states(text, count) {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from({ length: count }, (_, n) => (bytes.charCodeAt(n >> 2) >> (2 * (n & 3))) & 3);
}

/** The seats of a plan by number, each with its section's and row's index and its name in the API. */
export function seats_of(plan) {
  const seats = [];
  const types = new Map(plan.ticket_types.map((name, index) => [name, index]));
  plan.sections.forEach((section, section_index) =>
    section.rows.forEach((row, row_index) =>
      row.seats.forEach((seat) =>
        seats.push({
          ...seat,
          number: seats.length,
          name: [section.section, row.row, seat.seat].filter(Boolean).join('-'),
          section: section_index,
          row: row_index,
          plan_type: types.get(seat.ticket_type ?? row.ticket_type),
        }),
      ),
    ),
  );
  return seats;
}

/** What is known of the seats; `take` returns the numbers of those that an answer changed. */
export class SeatStates {
  version = 0;
  states = new Uint8Array();
  /** Of each seat: the ticket type's place in `type_ids`. */
  types = new Uint8Array();
  type_ids = [];
  /** Free places of each standing area of the plan. */
  areas_free = [];
  #plan_types;

  constructor(seats) {
    this.#plan_types = Uint8Array.from(seats, (seat) => seat.plan_type);
    this.states = new Uint8Array(seats.length);
    this.types = new Uint8Array(seats.length);
  }

  /** Whether `answer` can be applied: a map, or changes that begin at or before what is known. */
  fits(answer) {
    return answer.states !== undefined || (answer.from <= this.version && !answer.reload);
  }

  take(answer) {
    if (answer.states === undefined && answer.version <= this.version) return [];
    this.areas_free = answer.areas_free ?? [];
    // Accessible seats and their companions' are sold like all others.
    this.accessible_for_all = answer.accessible_for_all ?? false;
    if (answer.states !== undefined) return this.#take_all(answer);
    const moved = this.#moved(answer);
    const changed = [];
    seat_states.forEach((name, state) =>
      read_runs(answer[name]).forEach((n) => {
        this.states[n] = state;
        this.types[n] = moved.get(n) ?? this.#type_in_plan(n);
        changed.push(n);
      }),
    );
    this.version = answer.version;
    return changed;
  }

  #take_all(answer) {
    const before = this.states;
    const types_before = this.types;
    this.version = answer.version;
    this.type_ids = answer.ticket_type_ids;
    this.plan_types = answer.plan_types;
    this.states = read_states(answer.states, answer.seats);
    const moved = this.#moved(answer);
    this.types = Uint8Array.from(this.states, (_, n) => moved.get(n) ?? this.#type_in_plan(n));
    return [...this.states.keys()].filter(
      (n) => this.states[n] !== before[n] || this.types[n] !== types_before[n],
    );
  }

  #type_in_plan(n) {
    return this.plan_types[this.#plan_types[n]];
  }

  #moved({ types = {} }) {
    const moved = new Map();
    for (const [type, seats] of Object.entries(types))
      read_runs(seats).forEach((n) => moved.set(n, Number(type)));
    return moved;
  }
}

const pause = (ms, signal) =>
  new Promise((passed) => {
    const end = () => {
      clearTimeout(timer);
      passed();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });

/**
 * The seats of an event, followed until close(). Emits `change` with the numbers of changed seats, none
 * if only the free places of standing areas or a rule changed.
 * Options: {server, event, token, fetch, WebSocket}; without a token, or without a place in line, it polls.
 */
export class SeatMap extends EventTarget {
  plan = null;
  seats = [];
  known = null;
  #options;
  #ended = new AbortController();
  #socket;
  #failures = 0;

  constructor(options) {
    super();
    this.#options = { ...options, server: options.server.replace(/\/+$/, '') };
  }

  /** Reads plan and map, then follows the map. */
  async open() {
    this.plan = await this.#get_patiently('/seat-plan');
    this.seats = seats_of(this.plan);
    this.known = new SeatStates(this.seats);
    this.known.take(await this.#get_patiently('/seats'));
    this.#follow();
    return this;
  }

  close() {
    this.#ended.abort();
    this.#socket?.close();
  }

  /** {name, section, row, seat, state, ticket_type_id, accessible, ...} of a seat. */
  seat(number) {
    const { known, plan } = this;
    const seat = this.seats[number];
    const section = plan.sections[seat.section];
    return {
      ...seat,
      section: section.name || section.section || '',
      row: section.rows[seat.row].row ?? '',
      state: seat_states[known.states[number]],
      ticket_type_id: known.type_ids[known.types[number]],
    };
  }

  /** {area, name, places, free, ticket_type_id, x, y, width, height} of a standing area. */
  area(index) {
    const { known, plan } = this;
    const area = plan.areas[index];
    return {
      ...area,
      name: area.name || area.area,
      free: known.areas_free[index] ?? 0,
      ticket_type_id: known.type_ids[known.plan_types[plan.ticket_types.indexOf(area.ticket_type)]],
    };
  }

  /** Reads what has changed; also for after a refusal. */
  async refresh() {
    this.#take(await this.#get(`/seats?since=${this.known.version}`));
  }

  #take(answer) {
    const shared = () => `${this.known.areas_free} ${this.known.accessible_for_all}`;
    const before = shared();
    const changed = this.known.take(answer);
    const has_changed = changed.length > 0 || before !== shared();
    if (has_changed) this.dispatchEvent(new CustomEvent('change', { detail: changed }));
  }

  async #get(path) {
    const { server, event, token } = this.#options;
    const response = await (this.#options.fetch ?? fetch)(`${server}/events/${event}${path}`, {
      headers: token ? { Authorization: `Bearer ${token}` } : {},
      credentials: 'omit',
      signal: AbortSignal.timeout?.(20_000),
    });
    if (response.ok) return response.json();
    throw Object.assign(new Error(`seats: ${response.status}`), { status: response.status });
  }

  /** Tries again after 503 and 429, each time later, until close(). */
  async #get_patiently(path) {
    const { signal } = this.#ended;
    for (let tries = 1; ; ++tries) {
      try {
        return await this.#get(path);
      } catch (no) {
        const is_busy = no.status === 503 || no.status === 429;
        if (!is_busy || tries === open_tries || signal.aborted) throw no;
      }
      await pause(open_retry_ms * 2 ** (tries - 1) * (0.5 + Math.random()), signal);
    }
  }

  /** Polls while there is no socket. */
  async #follow() {
    const { signal } = this.#ended;
    let socket_at = 0;
    while (!signal.aborted) {
      if (!this.#socket && Date.now() >= socket_at) {
        this.#open_socket();
        socket_at = Date.now() + Math.min(retry_cap_ms, poll_ms * 2 ** Math.min(this.#failures, 8));
      }
      await pause(poll_ms * (0.75 + Math.random() / 2), signal);
      if (!signal.aborted && this.#socket?.readyState !== 1) await this.refresh().catch(() => {});
    }
  }

  #open_socket() {
    const { server, event, token } = this.#options;
    const Socket = this.#options.WebSocket ?? globalThis.WebSocket;
    if (!token || !Socket) return;
    const url = `${server.replace(/^http/, 'ws')}/ws/queue/${event}?seats=${this.known.version}`;
    const socket = new Socket(url, ['fairqueue.v1', token]);
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      this.#failures = 0;
      if (frame.type === 'seats') this.#hear(frame);
    };
    socket.onclose = () => {
      this.#socket = undefined;
      ++this.#failures;
    };
  }

  async #hear(frame) {
    if (this.known.fits(frame)) return this.#take(frame);
    if (frame.version === this.known.version) return;
    await pause(Math.random() * reload_spread_ms, this.#ended.signal);
    if (!this.#ended.signal.aborted) await this.refresh().catch(() => {});
  }
}
