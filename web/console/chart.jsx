// SPDX-License-Identifier: Apache-2.0
// A live chart by uPlot: up to three lines over time, distinguished by dashes and colour, with their current
// values as text.
import uPlot from 'uplot';
import { useEffect, useRef, useState } from 'preact/hooks';
import { clock_of } from './format.mjs';

const height = 190;
const dashes = [[], [7, 5], [2, 4]];
const dark = matchMedia('(prefers-color-scheme: dark)');

function use_dark() {
  const [is_dark, set] = useState(dark.matches);
  useEffect(() => {
    const changed = () => set(dark.matches);
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }, []);
  return is_dark;
}

const columns_of = (history, lines) => [
  history.times,
  ...lines.map((line) => history.values.get(line.key) ?? []),
];
/** Range from 0 to somewhat above the maximum, so that a flat line is visible. */
const heights = (least) => (_, low, high) => [0, Math.max(least, (high ?? 0) * 1.1)];
/** At least a minute, so that the first seconds are not stretched over the whole width. */
const moments = (_, first, last) => (first === null ? [0, 60] : [first, Math.max(last, first + 60)]);
const powers = (digits) =>
  Array.from({ length: 13 }, (_, power) => digits.map((digit) => digit * 10 ** power)).flat();

function options_of(lines, format, least, width) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--faint'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { range: moments }, y: { range: heights(least) } },
    axes: [
      {
        ...axis,
        size: 28,
        space: 90,
        incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400],
        values: (_, splits) => splits.map(clock_of),
      },
      { ...axis, size: 62, incrs: powers([1, 2, 5]), values: (_, splits) => splits.map(format) },
    ],
    series: [
      {},
      ...lines.map((_, index) => ({
        stroke: colour(`--line-${index + 1}`),
        width: 2,
        dash: dashes[index],
        points: { show: false },
        spanGaps: true,
      })),
    ],
  };
}

/** The chart in words, for screen readers. */
function summary(history, lines, format) {
  if (history.times.length === 0) return 'no values yet';
  const since = clock_of(history.times[0]);
  return lines
    .map(({ key, name }) => {
      const seen = (history.values.get(key) ?? []).filter((value) => value !== null);
      return `${name} ${format(seen[seen.length - 1] ?? 0)}, highest ${format(Math.max(0, ...seen))}`;
    })
    .join('; ')
    .concat(`, since ${since}`);
}

/**
 * `lines`: [{key, name}] of `history` (history.mjs). `tick` changes with new points. `format(value)` returns
 * text. `least`: minimum of the upper bound.
 */
export function Chart({ title, lines, history, tick, format, axis_format = format, least = 4 }) {
  const box = useRef();
  const plot = useRef();
  const is_dark = use_dark();
  useEffect(() => {
    const made = new uPlot(
      options_of(lines, axis_format, least, box.current.clientWidth),
      columns_of(history, lines),
      box.current,
    );
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: box.current.clientWidth, height }));
    watch.observe(box.current);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [history, is_dark]);
  useEffect(() => plot.current.setData(columns_of(history, lines)), [history, tick]);
  return (
    <figure class="chart card">
      <figcaption>
        <h3>{title}</h3>
        <ul class="legend">
          {lines.map(({ key, name }, index) => (
            <li key={key}>
              <span class={`mark mark-${index + 1}`} aria-hidden="true" /> {name}{' '}
              <b>{format(history.values.get(key)?.at(-1) ?? 0)}</b>
            </li>
          ))}
        </ul>
      </figcaption>
      <div class="plot" ref={box} role="img" aria-label={`${title}: ${summary(history, lines, format)}`} />
    </figure>
  );
}
