// SPDX-License-Identifier: Apache-2.0
// The figures of the fairness page.
import test from 'node:test';
import assert from 'node:assert/strict';
import { counts_of, rates_of } from '../../web/pages/fairness_report.mjs';

const minute = 60_000;
const entries = (list) => ({ entries: new Map(list.map((e, i) => [i, e])) });

test('people per minute are counted by minute, and by longer steps for a long line', () => {
  const short = rates_of(
    entries([
      { joined_at: 10 * minute + 1 },
      { joined_at: 10 * minute + 59_999, admitted_at: 12 * minute },
      { joined_at: 11 * minute },
    ]),
  );
  assert.deepEqual(short, {
    step: minute,
    times: [10 * minute, 11 * minute, 12 * minute],
    joined: [2, 1, 0],
    admitted: [0, 0, 1],
  });
  const long = rates_of(entries([{ joined_at: 0 }, { joined_at: 479 * minute }]));
  assert.equal(long.step, 2 * minute);
  assert.equal(long.times.length, 240);
  assert.equal(long.joined[239], 0.5);
  assert.deepEqual(rates_of(entries([])).times, []);
  const crowd = rates_of(entries(Array.from({ length: 200_000 }, () => ({ joined_at: 5 }))));
  assert.deepEqual(crowd.joined, [200_000]);
});

test('conversion is of those whose turn is over', () => {
  const line = entries([
    { state: 'waiting' },
    { state: 'away' },
    { state: 'expired', ended_at: 2 }, // left the line without a turn
    { state: 'admitted', admitted_at: 1 },
    { state: 'completed', admitted_at: 1, ended_at: 2 },
    { state: 'expired', admitted_at: 1, ended_at: 2 },
  ]);
  assert.deepEqual(counts_of(line), { joined: 6, waiting: 2, admitted: 3, over: 2, completed: 1 });
});
