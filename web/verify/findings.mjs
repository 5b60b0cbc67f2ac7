// SPDX-License-Identifier: Apache-2.0
// What the checks found: for each check one result and a sentence in plain words.

/** By severity. `unproven`: nothing is wrong, but the log cannot show that all is right. */
export const results = ['passed', 'skipped', 'unproven', 'failed'];
const problems_max = 5;
/** The checks in the order in which people read them. */
export const checks = [
  'event',
  'signature',
  'witnesses',
  'consistency',
  'receipt',
  'records',
  'numbers',
  'hands',
  'entrants',
  'seed',
  'draw',
  'beacon',
  'closing',
  'parties',
  'admissions',
  'units',
];

export class Findings {
  constructor() {
    this.checks = new Map();
  }
  #of(check) {
    if (!this.checks.has(check))
      this.checks.set(check, { check, result: 'passed', text: '', problems: [], more: 0 });
    return this.checks.get(check);
  }
  #raise(finding, result) {
    if (results.indexOf(result) > results.indexOf(finding.result)) finding.result = result;
  }
  /** Keeps the first problems, and of these the failures before what is unproven. */
  #report(check, result, text) {
    const finding = this.#of(check);
    this.#raise(finding, result);
    const { problems } = finding;
    const place = result === 'failed' ? problems.findIndex((p) => p.result !== 'failed') : -1;
    problems.splice(place < 0 ? problems.length : place, 0, { result, text });
    if (problems.length > problems_max) finding.more += problems.splice(problems_max).length;
  }
  fail(check, text) {
    this.#report(check, 'failed', text);
  }
  unproven(check, text) {
    this.#report(check, 'unproven', text);
  }
  /** The sentence of a check that does not apply. What the check has found already stays. */
  skip(check, text) {
    const finding = this.#of(check);
    this.#raise(finding, 'skipped');
    finding.text ||= text;
  }
  /** The sentence of a check that found no problem. */
  pass(check, text) {
    this.#of(check).text ||= text;
  }
  list() {
    const place = ({ check }) => checks.indexOf(check);
    return [...this.checks.values()]
      .sort((a, b) => place(a) - place(b))
      .map(({ check, result, text, problems, more }) => ({
        check,
        result,
        text: problems.length
          ? problems.map((p) => p.text).join(' ') + (more ? ` And ${more} more.` : '')
          : text,
      }));
  }
}

const last_date = 8.64e15;
export function time_text(ms) {
  if (!(Math.abs(ms) <= last_date)) return `${ms} ms`;
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/(\.000)?Z$/, ' UTC');
}
