// SPDX-License-Identifier: Apache-2.0
// Numbers, money and times as people read and type them. Money is an integer of minor units everywhere else; no floats on the way.

const locale = 'en-GB';
const whole = new Intl.NumberFormat(locale);
const one_digit = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const long_time = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });

export const number = (value) => (value === null || value === undefined ? '–' : whole.format(value));
export const rate = (value) => one_digit.format(value ?? 0);
export const time = (text) => (text ? long_time.format(new Date(text)) : '–');
export const clock_of = (seconds) => clock.format(new Date(seconds * 1000));
/** "Europe/Zagreb": in which zone times are shown and typed. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

let unusual_decimals = {};
/** `table`: the decimals of each currency that has not 2, as the server knows them. Before the first amount. */
export const know_decimals = (table) => (unusual_decimals = table);
/** Of the minor unit: 2 for EUR, 0 for JPY. Not Intl's: its HUF and COP have none, because nobody pays with smaller coins. */
export const digits_of = (currency) =>
  Object.hasOwn(unusual_decimals, currency) ? unusual_decimals[currency] : 2;

/** 14900, EUR: "149.00". */
export function amount_text(minor, currency) {
  const digits = digits_of(currency);
  const text = String(Math.abs(minor)).padStart(digits + 1, '0');
  const sign = minor < 0 ? '-' : '';
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** "149.00 EUR" with groups: "1,234,567.00 EUR". */
export function money(minor, currency) {
  if (minor === null || minor === undefined) return '–';
  const [units, rest] = amount_text(minor, currency).split('.');
  const grouped = units.replace(/\B(?=(\d{3})+$)/g, ',');
  return `${rest === undefined ? grouped : `${grouped}.${rest}`} ${currency}`;
}

/** "149", "149.5", "1,200.00" in minor units; null for what is no such amount. */
export function parse_amount(text, currency) {
  const digits = digits_of(currency);
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text.trim().replaceAll(',', ''));
  if (!match || (match[2]?.length ?? 0) > digits) return null;
  const minor = Number(match[1] + (match[2] ?? '').padEnd(digits, '0'));
  return Number.isSafeInteger(minor) ? minor : null;
}

const two = (n) => String(n).padStart(2, '0');
/** For <input type="datetime-local">, in our zone, in the form that browsers give back: without seconds that are zero. */
export function local_input(text) {
  if (!text) return '';
  const t = new Date(text);
  const date = `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())}`;
  return `${date}T${two(t.getHours())}:${two(t.getMinutes())}${t.getSeconds() > 0 ? `:${two(t.getSeconds())}` : ''}`;
}
/** Back again; null if it is empty. */
export const from_local_input = (text) => (text ? new Date(text).toISOString() : null);

/** Numbers as they stand in a field, where empty is "none", which the API calls null. */
export const typed = (value) => (value === null || value === undefined ? '' : String(value));
export const untyped = (text) => (text === '' ? null : Number(text));

/** "8 min 20 s" of seconds. */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${one_digit.format(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** "in_line" and "IN_LINE" as words: "in line". */
export const words = (name) => name.toLowerCase().replaceAll('_', ' ').replaceAll('.', ' ');
