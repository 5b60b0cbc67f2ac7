// SPDX-License-Identifier: Apache-2.0
// From a replayed log to the figures of the page. Pure.

const minute = 60_000;
/** Points of a chart; a longer line has longer steps. */
const points_max = 240;

/** People per minute, in steps of equal length: {step, times (ms), joined, admitted}. */
export function rates_of(replay) {
  const joined = [];
  const admitted = [];
  for (const entry of replay.entries.values()) {
    joined.push(entry.joined_at);
    if (entry.admitted_at) admitted.push(entry.admitted_at);
  }
  if (joined.length === 0) return { step: minute, times: [], joined: [], admitted: [] };
  const least = (times) => times.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (times) => times.reduce((a, b) => Math.max(a, b), -Infinity);
  const first = Math.floor(least(joined) / minute);
  const minutes = Math.floor(Math.max(most(joined), most(admitted)) / minute) - first + 1;
  const step = Math.ceil(minutes / points_max);
  const count = Math.ceil(minutes / step);
  const spread = (times) => {
    const sums = new Array(count).fill(0);
    for (const at of times) ++sums[Math.floor((Math.floor(at / minute) - first) / step)];
    return sums.map((sum) => sum / step);
  };
  return {
    step: step * minute,
    times: Array.from({ length: count }, (_, i) => (first + i * step) * minute),
    joined: spread(joined),
    admitted: spread(admitted),
  };
}

/** `over`: whose turn is over; `completed`: those of them that finished what they came for. */
export function counts_of(replay) {
  const counts = { joined: replay.entries.size, waiting: 0, admitted: 0, over: 0, completed: 0 };
  for (const entry of replay.entries.values()) {
    if (entry.state === 'waiting' || entry.state === 'away') ++counts.waiting;
    if (!entry.admitted_at) continue;
    ++counts.admitted;
    if (entry.ended_at) ++counts.over;
    if (entry.state === 'completed') ++counts.completed;
  }
  return counts;
}
