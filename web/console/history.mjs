// SPDX-License-Identifier: Apache-2.0
// The points that the live views have received while this page is open; the server keeps no history. Bounded.
// Ends with the page and at sign-out.

const points_max = 7_200; // two hours at one point a second
const lines_max = 20;

const all = new Map();

export function forget_histories() {
  all.clear();
}

/** The history of an event or queue. The least recently used one makes room. */
export function history_of(id) {
  const known = all.get(id) ?? { times: [], values: new Map() };
  all.delete(id);
  all.set(id, known);
  if (all.size > lines_max) all.delete(all.keys().next().value);
  return known;
}

/**
 * Adds a point. `numbers`: by name; later points have the same names or more. Times in seconds: a point with
 * the same time replaces the former, an earlier one is dropped.
 */
export function remember(history, seconds, numbers) {
  const { times, values } = history;
  const newest = times[times.length - 1] ?? -Infinity;
  if (seconds < newest) return;
  if (seconds > newest) times.push(seconds);
  for (const [name, value] of Object.entries(numbers)) {
    if (!values.has(name)) values.set(name, new Array(times.length - 1).fill(null));
    values.get(name)[times.length - 1] = value;
  }
  if (times.length <= points_max) return;
  times.shift();
  for (const column of values.values()) column.shift();
}

const rate_span_seconds = 60;
/**
 * Growth of a counter per minute, over the last minute of points; 0 with one point. A smaller value means
 * that the counter restarted.
 */
export function per_minute({ times, values }, name) {
  const column = values.get(name) ?? [];
  const last = times.length - 1;
  let first = last;
  while (
    first > 0 &&
    times[last] - times[first - 1] <= rate_span_seconds &&
    column[first - 1] !== null &&
    column[first - 1] <= column[first]
  )
    --first;
  return last > first ? ((column[last] - column[first]) / (times[last] - times[first])) * 60 : 0;
}
