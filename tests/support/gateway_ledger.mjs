// SPDX-License-Identifier: Apache-2.0
// The append-only file of a gateway stand-in: money rows and remembered objects. One JSON line is one
// transaction with both, so kill -9 leaves both or neither. Only the stand-in writes it, so its money rows
// are an oracle independent of FairQueue.
import fs from 'node:fs';

/** Kinds of money rows. Sums count only `capture` and `refund`; the other two moved no money, or not yet. */
const money_kinds = new Set(['capture', 'refund', 'refund_pending', 'refund_failed']);

function parse(text) {
  const lines = text.split('\n');
  lines.pop(); // torn by a kill, so its request got no answer
  return lines.map((line) => JSON.parse(line));
}

const without_state = ({ state, ...row }) => row;

/** The money rows of a ledger file, in order; the stand-in may run or be killed. */
export function readLedger(file) {
  return parse(fs.readFileSync(file, 'utf8'))
    .filter(({ kind }) => money_kinds.has(kind))
    .map(without_state);
}

/**
 * reference -> {amount, currency, count}. Two currencies under one reference give a currency that equals
 * neither.
 */
function by_reference(rows, kind) {
  const found = new Map();
  for (const row of rows) {
    if (row.kind !== kind) continue;
    const sum = found.get(row.reference) ?? { amount: 0, currency: row.currency, count: 0 };
    sum.amount += row.amount;
    sum.count += 1;
    if (!sum.currency.split('+').includes(row.currency)) sum.currency += `+${row.currency}`;
    found.set(row.reference, sum);
  }
  return found;
}

export const capturedByReference = (rows) => by_reference(rows, 'capture');
export const refundedByReference = (rows) => by_reference(rows, 'refund');

/** Refunds that were accepted and neither processed nor failed: refund id -> row. */
export function pendingRefunds(rows) {
  const pending = new Map();
  for (const row of rows) {
    if (row.kind === 'refund_pending') pending.set(row.refund_id, row);
    else if (row.refund_id) pending.delete(row.refund_id);
  }
  return pending;
}

/** {captured, refunded: {currency: amount}, captures, refunds, pending_refunds}. */
export function sums(rows) {
  const total = {
    captured: {},
    refunded: {},
    captures: 0,
    refunds: 0,
    pending_refunds: pendingRefunds(rows).size,
  };
  for (const { kind, amount, currency } of rows) {
    if (kind === 'capture') {
      total.captured[currency] = (total.captured[currency] ?? 0) + amount;
      ++total.captures;
    } else if (kind === 'refund') {
      total.refunded[currency] = (total.refunded[currency] ?? 0) + amount;
      ++total.refunds;
    }
  }
  return total;
}

export class Ledger {
  /** Money rows, oldest first. */
  rows = [];
  #waiting = [];
  #writing;
  #file;

  /**
   * Opens or creates `file`; undefined: in memory only. Calls `remember(type, id, object)` for the objects of
   * earlier runs, in the order of writing.
   */
  static open(file, remember) {
    const it = new Ledger();
    if (file === undefined) return it;
    if (fs.existsSync(file)) it.#reload(file, remember);
    it.#file = fs.openSync(file, 'a', 0o600);
    return it;
  }

  #reload(file, remember) {
    const text = fs.readFileSync(file, 'utf8');
    const whole = Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1));
    fs.truncateSync(file, whole); // otherwise the next row would continue a torn one
    for (const line of parse(text)) {
      if (money_kinds.has(line.kind)) this.rows.push(without_state(line));
      for (const [type, id, object] of line.state ?? []) remember(type, id, object);
    }
  }

  /** Appends: in memory at once, on disk when `durable` resolves. `money` undefined: only objects changed. */
  append(money, state, at) {
    if (money) this.rows.push(money);
    if (this.#file === undefined) return;
    this.#waiting.push(JSON.stringify({ ...(money ?? { kind: 'state', at }), state }));
  }

  /** Resolves when all appended rows are on disk (fsync). Waiters share one fsync. */
  async durable() {
    while (this.#writing || this.#waiting.length > 0) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  async #write() {
    // Waits for other appends of this turn of the event loop: one write and one fsync for all.
    await new Promise((resolve) => setImmediate(resolve));
    const bytes = Buffer.from(`${this.#waiting.splice(0).join('\n')}\n`);
    for (let at = 0; at < bytes.length;) at += fs.writeSync(this.#file, bytes, at);
    await new Promise((resolve, reject) => {
      fs.fdatasync(this.#file, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close() {
    await this.durable();
    if (this.#file !== undefined) fs.closeSync(this.#file);
    this.#file = undefined;
  }
}
