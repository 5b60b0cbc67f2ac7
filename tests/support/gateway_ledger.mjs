// SPDX-License-Identifier: Apache-2.0
// The append-only file of a gateway stand-in: what moved money, and what the gateway remembers. One JSON line is one transaction,
// money and memory together, so that kill -9 leaves both or neither. It is written by the stand-in alone: what it says of money is
// an oracle independent of FairQueue.
import fs from 'node:fs';

/** Kinds of rows that say something about money. Sums count `capture` and `refund` only: the other two moved nothing, or not yet. */
const money_kinds = new Set(['capture', 'refund', 'refund_pending', 'refund_failed']);

function parse(text) {
  const lines = text.split('\n');
  lines.pop(); // what follows the last newline was torn by a kill, and never answered for
  return lines.map((line) => JSON.parse(line));
}

const without_state = ({ state, ...row }) => row;

/** The money rows of a ledger file, in order; also of a stand-in that runs, or was killed. */
export function readLedger(file) {
  return parse(fs.readFileSync(file, 'utf8'))
    .filter(({ kind }) => money_kinds.has(kind))
    .map(without_state);
}

/** reference -> {amount, currency, count}. Money in two currencies under one reference gets a currency that equals neither. */
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
   * Opens or makes `file`; undefined: kept in memory only. `remember(type, id, object)` is told what earlier runs remembered, in the
   * order of its being written.
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
    fs.truncateSync(file, whole); // else the next row would be glued to a torn one
    for (const line of parse(text)) {
      if (money_kinds.has(line.kind)) this.rows.push(without_state(line));
      for (const [type, id, object] of line.state ?? []) remember(type, id, object);
    }
  }

  /** In memory at once; on disk when `durable` resolves. `money` undefined: only what is remembered has changed. */
  append(money, state, at) {
    if (money) this.rows.push(money);
    if (this.#file === undefined) return;
    this.#waiting.push(JSON.stringify({ ...(money ?? { kind: 'state', at }), state }));
  }

  /** Everything appended so far is on disk (fsync'ed). Many waiters share one fsync. */
  async durable() {
    while (this.#writing || this.#waiting.length > 0) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  async #write() {
    // Others of this turn of the event loop may still append: one write, one fsync for all of them.
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
