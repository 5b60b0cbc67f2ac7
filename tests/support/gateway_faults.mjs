// SPDX-License-Identifier: Apache-2.0
// Chooses which call of a gateway stand-in fails, and how. The choice depends on the seed, the operation and
// the number of its call only. So a run with the same calls has the same faults, however calls of different
// operations interleave.

/** Kinds of faults; `acted`: whether the request is executed, unless the rule overrides it. */
export const fault_kinds = {
  hang: { acted: false }, // never an answer
  delay: { acted: false }, // the answer after `ms`; executed after the wait, with acted: true before it
  status: { acted: false }, // `status` (500, 503, 429, ...), with `retry_after` seconds; `stored`: kept under the idempotency key
  html: { acted: false }, // 200 with a web page
  truncated: { acted: true }, // the first half of the JSON; `broken`: the connection ends instead of the body
  reset_before: { acted: false }, // RST before execution
  reset_after: { acted: true }, // RST after execution: the caller does not know the result
  slow_body: { acted: true }, // the body arrives slowly over `ms`
};

/** 32-bit FNV-1a with a finalizer: neighbouring call numbers give unrelated values. */
function hash_of(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** In [0, 1), the same for the same arguments. */
export const chance = (...what) => hash_of(what.join('|')) / 2 ** 32;

export class Faults {
  /** {operation, number, kind} of every applied fault. */
  log = [];
  #rules = [];
  #calls = new Map();

  constructor(seed) {
    this.seed = seed;
  }

  /**
   * `rule`: {operation = '*', kind, skip = 0, count = Infinity, probability = 1, acted, ms, status,
   * retry_after, stored, broken}. It skips the first `skip` calls of the operation, then applies to at most
   * `count` calls, each with this probability.
   */
  add(rule) {
    if (!(rule.kind in fault_kinds)) throw new Error(`no such fault: ${rule.kind}`);
    const known = { operation: '*', skip: 0, count: Infinity, probability: 1, ms: 1000, status: 500 };
    this.#rules.push({ ...known, acted: fault_kinds[rule.kind].acted, ...rule, seen: 0 });
  }

  clear() {
    this.#rules = [];
  }

  /** The fault of this call, or undefined. The first matching rule wins. */
  choose(operation) {
    const number = (this.#calls.get(operation) ?? 0) + 1;
    this.#calls.set(operation, number);
    for (const [index, rule] of this.#rules.entries()) {
      if (rule.operation !== '*' && rule.operation !== operation) continue;
      if (rule.count <= 0 || ++rule.seen <= rule.skip) continue;
      if (chance(this.seed, operation, number, index) >= rule.probability) continue;
      --rule.count;
      this.log.push({ operation, number, kind: rule.kind });
      return rule;
    }
    return undefined;
  }
}
