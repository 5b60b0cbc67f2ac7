// SPDX-License-Identifier: Apache-2.0
// What a gate knows of a list and what it decides without a network. The server decides again when the scans
// arrive: docs/design/tickets.md.
import { is_current, is_signed, read_code } from '../sdk/event_ticket_code.mjs';
import { retry_after_ms } from '../sdk/fairqueue.mjs';

/** Places in a row of GET /checkin/{list}/state. */
const at = {
  id: 0,
  type: 1,
  status: 2,
  generation: 3,
  refund_pending: 4,
  last_at: 5,
  last_place: 6,
  secret: 7,
  seat: 8,
};
const status = { checked_in: 1, cancelled: 4 };

export const bytes_of = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));

export class gate {
  /** `kept`: {version, mode, rotating_codes, public_key, complete} of the last state; null: none. */
  constructor(event, kept = null, rows = []) {
    this.event = event;
    this.state = kept;
    this.tickets = new Map(rows.map((row) => [row[at.id], row]));
  }

  /** Takes a page of the state; returns what the store keeps. */
  take(page) {
    if (page.reset) this.tickets.clear();
    for (const row of page.tickets) this.tickets.set(row[at.id], row);
    const { version, mode, rotating_codes, public_key } = page;
    // Pages of changes leave a list complete.
    const complete = !page.more || (!page.reset && Boolean(this.state?.complete));
    this.state = { version, mode, rotating_codes, public_key, complete };
    return this.state;
  }

  /** Name of the ticket's seat; empty: none. */
  seat_of(ticket) {
    return this.tickets.get(ticket)?.[at.seat] ?? '';
  }

  /** A holder went through here, or the server said so. Returns the row for the store; null: no change. */
  note(ticket, type, when, place) {
    const row = this.tickets.get(ticket);
    if (!row || row[at.status] === status.cancelled) return null;
    row[at.status] = type === 'exit' ? 2 : status.checked_in;
    row[at.last_at] = when;
    row[at.last_place] = place;
    return row;
  }

  /** {in, all}: tickets of the list whose holders are in, and all that are not cancelled. */
  counts() {
    const sums = { in: 0, all: 0 };
    for (const row of this.tickets.values()) {
      if (row[at.status] !== status.cancelled) sums.all += 1;
      if (row[at.status] === status.checked_in) sums.in += 1;
    }
    return sums;
  }

  /** Holders that passed here and whose scans wait, after a reload. What the server knows may be later. */
  apply_waiting(scans, place) {
    for (const scan of in_order(scans)) {
      const when = Date.parse(scan.at);
      const is_latest = (this.tickets.get(scan.ticket)?.[at.last_at] ?? 0) <= when;
      if (scan.passed && scan.event === this.event && is_latest)
        this.note(scan.ticket, scan.type, when, place);
    }
  }

  /**
   * {ticket, reason, earlier, shown}: reason null lets the holder in; people read `shown` instead if there is
   * one. `scan`: {code} or {ticket}, and {type}. `now`: the server's time.
   */
  async decide(scan, now) {
    if (!this.state) return { ticket: scan.ticket ?? null, reason: 'not_ready' };
    let generation = 0;
    let { ticket } = scan;
    if (scan.code) {
      const code = read_code(scan.code);
      if (!code) return { ticket: null, reason: 'unreadable' };
      ({ ticket, generation } = code);
      const reason = await this.#check(code, now);
      if (reason) return { ticket, reason };
    }
    const row = this.tickets.get(ticket);
    if (!row && !this.state.complete) return { ticket, reason: 'not_ready' };
    // Its signature is genuine: it is of another list, or was sold later.
    if (!row) return { ticket, reason: 'unknown_ticket', ...(scan.code && { shown: 'not_here' }) };
    return { ticket, ...this.#rules(row, generation, scan.type) };
  }

  async #check(code, now) {
    if (code.event !== this.event) return 'other_event';
    const row = this.tickets.get(code.ticket);
    try {
      if (code.kind === 'fixed') {
        const is_genuine = await is_signed(code, bytes_of(this.state.public_key));
        return is_genuine && !this.state.rotating_codes ? null : 'wrong_key';
      }
      if (!row) return this.state.complete ? 'unknown_ticket' : 'not_ready';
      if (!row[at.secret]) return 'wrong_key';
      if (row[at.generation] !== code.generation) return 'transferred';
      return (await is_current(code, bytes_of(row[at.secret]), now)) ? null : 'expired_code';
    } catch {
      return 'cannot_check'; // a browser without Ed25519, or a page without HTTPS
    }
  }

  #rules(row, generation, type) {
    if (generation !== 0 && generation !== row[at.generation]) return { reason: 'transferred' };
    if (row[at.status] === status.cancelled) return { reason: 'cancelled' };
    if (row[at.refund_pending]) return { reason: 'refund_pending' };
    const is_in = row[at.status] === status.checked_in;
    if (type === 'exit') {
      if (this.state.mode === 'entry') return { reason: 'no_exit' };
      return { reason: is_in ? null : 'not_in' };
    }
    if (!is_in) return { reason: null };
    return { reason: 'already_in', earlier: { at: row[at.last_at], place: row[at.last_place] } };
  }
}

/** The server's 401; any other is of a network that wants a sign-in first. */
const reasons_of_401 = { device_unknown: 'revoked', unauthenticated: 'revoked' };

/** Whether the server itself answered; otherwise the phone decides. `code`: of the problem. */
export const is_answer = (status, code) =>
  status < 500 && status !== 429 && (status !== 401 || code in reasons_of_401);

const asked_pause_max_ms = 60_000; // a gate works on

/** For how long the server wants no question, if it says so in what is no answer. */
export const asked_pause_ms = (response) => Math.min(retry_after_ms(response) ?? 0, asked_pause_max_ms);

/** Pause before the next round: the phone's own, or longer, until `resume_at`. */
export const round_pause_ms = (now, resume_at, own_ms) => Math.max(own_ms, resume_at - now);

/** What people read if the server takes no such scan; `code` and `status` of its problem. */
export const reason_of_problem = (code, status) =>
  ({ too_many: 'too_many', not_found: 'list_gone', ...reasons_of_401 })[code] ??
  (status === 400 ? 'unreadable' : 'not_taken');

/** What is kept of a code: any text may be in a QR code, and the server does not take every text. */
export const kept_code = (code) => (read_code(code) ? code : 'UNREADABLE');

/** A UUID by time, so that a server stores scans side by side. */
export function new_nonce(now) {
  const id = crypto.randomUUID();
  const time = Math.max(0, Math.floor(now)).toString(16).padStart(12, '0').slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${id.slice(15)}`;
}

/** Sent first: the scans that happened first. */
export const in_order = (scans) =>
  [...scans].sort((a, b) => a.at.localeCompare(b.at) || a.nonce.localeCompare(b.nonce));

/**
 * What the server's results of `sent` mean: {gone, again, conflicts, lost}. A scan that let a holder in under
 * a nonce that the server had refused before is sent again under another. Also a conflict: a holder that was
 * sent away although the server had let him in.
 */
export function after_sending(sent, results, now) {
  const out = { gone: [], again: [], conflicts: [], lost: [] };
  results.forEach((result, i) => {
    const scan = sent[i];
    out.gone.push(scan.nonce);
    if (result.result === 'not_recorded') out.lost.push({ ...scan, reason: result.reason });
    else if (scan.passed && result.result === 'refused' && result.replayed)
      out.again.push({ ...scan, nonce: new_nonce(now) });
    else if (scan.refused && result.result === 'admitted')
      out.conflicts.push({ ...result, reason: scan.refused, sent_away: true, nonce: scan.nonce });
    else if (scan.passed && result.reason) out.conflicts.push({ ...result, nonce: scan.nonce });
  });
  return out;
}

/**
 * Sends scans by `send(scans)`, and `take(scans, results)` settles them. One that the server cannot read
 * makes it refuse all of a request: then halves go, so that the other scans arrive.
 */
export async function send_scans(scans, send, take) {
  let results;
  try {
    results = await send(scans);
  } catch (error) {
    if (error.status !== 400 && error.status !== 413) throw error;
    const half = Math.ceil(scans.length / 2);
    if (scans.length > 1) {
      await send_scans(scans.slice(0, half), send, take);
      return send_scans(scans.slice(half), send, take);
    }
    results = [{ result: 'not_recorded', reason: error.message }];
  }
  return take(scans, results);
}

/** Scans that the server did not find a list or device for: another token may have them. */
export const to_try_again = (scans) =>
  scans
    .filter(({ lost, reason }) => lost && reason === 'not_found')
    .map(({ lost: _, reason: __, ...scan }) => scan);
