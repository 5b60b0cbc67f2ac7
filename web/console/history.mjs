// SPDX-License-Identifier: Apache-2.0
// The points of the charts: those that the server has stored, then those that the live views have received
// while this page is open. Bounded. Ends with the page and at sign-out.

const points_max = 7_200; // of the live views: two hours at one point a second
const lines_max = 20;

const all = new Map();

export function forget_histories() {
  all.clear();
}

/** The history of an event or queue. The least recently used one makes room. */
export function history_of(id) {
  const known = all.get(id) ?? { times: [], values: new Map(), stored: 0, has_begun: false };
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
  if (times.length - history.stored <= points_max) return;
  times.splice(history.stored, 1);
  for (const column of values.values()) column.splice(history.stored, 1);
}

/**
 * The points of stored statistics, as [seconds, numbers]. Nothing changed between two rows that are far
 * apart: two more points keep the line level there.
 */
export function stored_points({ points, step_seconds: step }) {
  const shown = [];
  let before = null;
  for (const { at, arrivals, admissions, waiting_peak, ...state } of points) {
    const seconds = Date.parse(at) / 1000;
    if (before && seconds - before.seconds > 2 * step)
      for (const quiet of [before.seconds + step, seconds - step])
        shown.push([quiet, { ...before.state, arrival_rate_per_minute: 0, admission_rate_per_minute: 0 }]);
    shown.push([
      seconds,
      {
        ...state,
        arrival_rate_per_minute: (arrivals * 60) / step,
        admission_rate_per_minute: (admissions * 60) / step,
      },
    ]);
    before = { seconds, state };
  }
  return shown;
}

/** Puts stored points before those that the page has received; once. */
export function begin_with(history, points) {
  if (history.has_begun) return;
  history.has_begun = true;
  const older = points.filter(([seconds]) => seconds < (history.times[0] ?? Infinity));
  const names = new Set([...history.values.keys(), ...older.flatMap(([, numbers]) => Object.keys(numbers))]);
  for (const name of names)
    history.values.set(name, [
      ...older.map(([, numbers]) => numbers[name] ?? null),
      ...(history.values.get(name) ?? new Array(history.times.length).fill(null)),
    ]);
  history.times.unshift(...older.map(([seconds]) => seconds));
  history.stored = older.length;
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
