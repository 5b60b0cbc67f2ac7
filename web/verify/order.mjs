// SPDX-License-Identifier: Apache-2.0
// The order of the line: who is next, for each group of entries that may buy the same hidden ticket types.

/** Ranks, the lowest first. */
class Heap {
  constructor() {
    this.items = [];
  }
  first() {
    return this.items[0];
  }
  push(rank) {
    const items = this.items;
    let i = items.length;
    for (let up = (i - 1) >> 1; i > 0 && items[up] > rank; i = up, up = (i - 1) >> 1) items[i] = items[up];
    items[i] = rank;
  }
  pop() {
    const items = this.items;
    const last = items.pop();
    if (items.length === 0) return;
    let i = 0;
    for (let child = 1; child < items.length; child = 2 * i + 1) {
      if (items[child + 1] < items[child]) ++child;
      if (items[child] >= last) break;
      items[i] = items[child];
      i = child;
    }
    items[i] = last;
  }
}

/** A server has up to 64 at a time. The next of the line is looked for in each. */
const groups_max = 256;

export class Order {
  constructor() {
    this.by_rank = []; ///< entries
    this.groups = new Map(); ///< opens -> heaps by class
    this.is_full = false; ///< more groups than any line has
  }
  /** An entry with a rank is waiting: new, back, or in another class or group. */
  add(entry) {
    this.by_rank[entry.rank] = entry;
    if (!this.groups.has(entry.opens)) this.#add_group(entry.opens);
    const classes = this.groups.get(entry.opens);
    (classes[entry.priority_class] ??= new Heap()).push(entry.rank);
  }
  #add_group(opens) {
    if (this.groups.size === groups_max && !this.is_full) this.#drop_empty_groups();
    this.is_full ||= this.groups.size === groups_max;
    if (this.is_full)
      throw new Error('those in line may buy more combinations of hidden types than any line has');
    this.groups.set(opens, []);
  }
  #drop_empty_groups() {
    for (const [opens, classes] of this.groups)
      if (!classes.some((heap, c) => this.#first(heap, opens, c))) this.groups.delete(opens);
  }
  /** The first waiting entry that these units could serve; undefined: none. */
  next(units) {
    let best;
    for (const [opens, classes] of this.groups) {
      if (!units.serves(opens)) continue;
      for (let c = 0; c < classes.length; ++c) {
        const entry = classes[c] && this.#first(classes[c], opens, c);
        if (!entry) continue;
        if (
          !best ||
          entry.priority_class < best.priority_class ||
          (entry.priority_class === best.priority_class && entry.rank < best.rank)
        )
          best = entry;
        break;
      }
    }
    return best;
  }
  #first(heap, opens, priority_class) {
    for (let rank = heap.first(); rank !== undefined; rank = heap.first()) {
      const entry = this.by_rank[rank];
      const is_here = entry.opens === opens && entry.priority_class === priority_class;
      if (entry.state === 'waiting' && is_here) return entry;
      heap.pop();
    }
    return undefined;
  }
}

/** The units that an admission may count on: hidden ones go first, to those who may buy them. */
export class Units {
  constructor({ public_units, hidden_units }) {
    this.public_units = public_units;
    this.hidden = hidden_units.map((h) => ({ bit: 1n << BigInt(h.type), units: h.units }));
    this.#look();
  }
  /** The hidden types with units, as bits. */
  #look() {
    this.free = this.hidden.reduce((bits, h) => (h.units > 0 ? bits | h.bit : bits), 0n);
  }
  serves(opens) {
    return this.public_units > 0 || (opens & this.free) !== 0n;
  }
  book(opens) {
    const hidden = this.hidden.find((h) => h.units > 0 && (opens & h.bit) !== 0n);
    if (!hidden) --this.public_units;
    else if (--hidden.units === 0) this.#look();
  }
}
