// SPDX-License-Identifier: Apache-2.0
// Numbers, money and times in the form that people read and type. Money is an integer of minor units
// everywhere else; no floats.

const locale = 'en-GB';
const whole = new Intl.NumberFormat(locale);
const one_digit = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const long_time = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });

export const number = (value) => (value === null || value === undefined ? '–' : whole.format(value));
export const rate = (value) => one_digit.format(value ?? 0);
export const time = (text) => (text ? long_time.format(new Date(text)) : '–');
export const clock_of = (seconds) => clock.format(new Date(seconds * 1000));
/** Time zone of displayed and typed times: "Europe/Zagreb". */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

let unusual_decimals = {};
/** Sets the decimals of currencies that do not have 2, from the server. Call before the first amount. */
export const know_decimals = (table) => (unusual_decimals = table);
/**
 * Decimals of the minor unit: 2 for EUR, 0 for JPY. Intl has none for HUF and COP, which differs from
 * gateways.
 */
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

/** Parses "149", "149.5", "1,200.00" into minor units; null if it is no amount. */
export function parse_amount(text, currency) {
  const digits = digits_of(currency);
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text.trim().replaceAll(',', ''));
  if (!match || (match[2]?.length ?? 0) > digits) return null;
  const minor = Number(match[1] + (match[2] ?? '').padEnd(digits, '0'));
  return Number.isSafeInteger(minor) ? minor : null;
}

const two = (n) => String(n).padStart(2, '0');
/** Value of <input type="datetime-local"> in our zone, in the form of browsers: without zero seconds. */
export function local_input(text) {
  if (!text) return '';
  const t = new Date(text);
  const date = `${t.getFullYear()}-${two(t.getMonth() + 1)}-${two(t.getDate())}`;
  return `${date}T${two(t.getHours())}:${two(t.getMinutes())}${t.getSeconds() > 0 ? `:${two(t.getSeconds())}` : ''}`;
}
/** Inverse of the above; null if empty. */
export const from_local_input = (text) => (text ? new Date(text).toISOString() : null);

/** A zone that browsers know; UTC for others. */
function known_zone(name) {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name || 'UTC' }).resolvedOptions().timeZone;
  } catch {
    return 'UTC';
  }
}
/** What clocks in a zone show, as if it were UTC. */
function wall_clock(ms, time_zone) {
  const parts = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
    timeZone: known_zone(time_zone),
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(ms);
  const [year, month, day, hour, minute, second] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map(
    (type) => Number(parts.find((part) => part.type === type).value),
  );
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
/** As local_input, in a zone; empty: UTC. */
export function zoned_input(text, time_zone) {
  if (!text) return '';
  const shown = new Date(wall_clock(Date.parse(text), time_zone)).toISOString();
  return shown.slice(17, 19) === '00' ? shown.slice(0, 16) : shown.slice(0, 19);
}
/** Inverse of the above; null if empty. A time that clocks skip becomes the one after. */
export function from_zoned_input(text, time_zone) {
  if (!text) return null;
  const wanted = Date.parse(`${text}Z`);
  let ms = wanted;
  for (let tries = 0; tries < 2; ++tries) ms = wanted - (wall_clock(ms, time_zone) - ms);
  return new Date(ms).toISOString();
}

/** Numbers of a field; empty means none, null in the API. */
export const typed = (value) => (value === null || value === undefined ? '' : String(value));
export const untyped = (text) => (text === '' ? null : Number(text));

/** Seconds as "8 min 20 s". */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${one_digit.format(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** "in_line" and "IN_LINE" as "in line". */
export const words = (name) => name.toLowerCase().replaceAll('_', ' ').replaceAll('.', ' ');

/** "Stalls, row A, seat 3". */
export const seat_text = ({ section, row, seat }) =>
  [section, row && `row ${row}`, `seat ${seat}`].filter(Boolean).join(', ');
