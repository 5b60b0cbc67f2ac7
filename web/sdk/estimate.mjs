// SPDX-License-Identifier: Apache-2.0
// Numbers and waiting times in words, equal to net/pages/texts.cpp on the server, so that a page reads the
// same before and after its script runs. `texts` maps a key to its plural forms in one language.

/** Latin digits in every language, as on the server. */
export const number_text = (language, n) => new Intl.NumberFormat(`${language}-u-nu-latn`).format(n);

/** The plural form of `key` for `n`, with {name}s replaced. */
export function counted(texts, language, key, n, more = {}) {
  const forms = texts[key];
  const form = forms[new Intl.PluralRules(language).select(n)] || forms.other;
  return fill(form, { n: number_text(language, n), ...more });
}

export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

/** A range: the low end rounded down, the high end up; in minutes, from two hours on in hours. */
export function wait_text(texts, language, eta) {
  if (!eta) return texts.wait_unknown.other;
  if (eta.high < 60) return texts.wait_short.other;
  const [key, unit] = eta.high < 7200 ? ['minutes', 60] : ['hours', 3600];
  const low = Math.floor(eta.low / unit);
  const high = Math.ceil(eta.high / unit);
  if (low === 0) return counted(texts, language, `wait_up_to_${key}`, high);
  if (low === high) return counted(texts, language, `wait_${key}`, high);
  return counted(texts, language, `wait_range_${key}`, high, { low: number_text(language, low) });
}

/** What is left, and what those before a place will buy; empty for a place without odds. */
export function odds_text(texts, language, odds) {
  if (!odds) return '';
  const n = (value) => number_text(language, value);
  const left = n(odds.ticketsFree + odds.ticketsHeld);
  if (odds.buyersAhead === null || odds.peopleAhead < 2) return fill(texts.odds_left.other, { left });
  return fill(texts.odds_line.other, {
    buyers: n(odds.buyersAhead),
    ahead: n(odds.peopleAhead),
    wanted: n(odds.ticketsAhead),
    left,
  });
}

/** The chance that a ticket is left; empty: not known. */
export function chance_text(texts, language, odds) {
  if (!odds?.chancePercent) return '';
  const { low, high } = odds.chancePercent;
  return fill(texts.odds_chance.other, {
    low: number_text(language, low),
    high: number_text(language, high),
    word: texts[`chance_${odds.chance}`].other,
  });
}
