// SPDX-License-Identifier: Apache-2.0
// What the live views have seen while this page is open: the server keeps no history of its numbers. Bounded; forgotten with the page and at
// sign-out.

const points_max = 7_200; // two hours at one look a second
const lines_max = 20;

const all = new Map();

export function forget_histories() {
  all.clear();
}

/** Of an event or a queue. The one looked at longest ago makes room. */
export function history_of(id) {
  const known = all.get(id) ?? { times: [], values: new Map() };
  all.delete(id);
  all.set(id, known);
  if (all.size > lines_max) all.delete(all.keys().next().value);
  return known;
}

/** `numbers`: by name, the same names each time or more. Times in seconds: of the same moment the later word counts, an earlier moment is not kept. */
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
/** How much a count grew by a minute, over the last minute of what was seen; 0 while only one look was taken. A count that fell began anew. */
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
