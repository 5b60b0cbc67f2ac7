// SPDX-License-Identifier: Apache-2.0
// Makes bench/report.html (plots over commits) and the table of the latest results in bench/README.md from
// bench/results/*.json. scripts/bench calls it. Machines differ: compare figures of one file only.
// Usage: node bench/report.mjs
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../tests/blackbox/lib.mjs';
import { median, ratio_to } from './parts.mjs';
import { units } from './measures.mjs';

const folder = path.join(root, 'bench/results');
const results = fs
  .readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')))
  .sort((a, b) => a.date.localeCompare(b.date));
const latest = results.at(-1);
if (!latest) process.exit(0);

const commit_of = (result, side) => result.builds.find((build) => build.name === side)?.commit;
const figure = (rounds, key) => (rounds?.[0]?.[key] === undefined ? null : median(rounds.map((r) => r[key])));
const shown = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2));

// -- the table --------------------------------------------------------------------------------------------

const ratios_of = (first, rounds) =>
  ['rate', 'cpu_us', 'cpu_percent']
    .filter((key) => key in rounds[0] && key in first[0])
    .map((key) => ratio_to(first, rounds, key).toFixed(2))
    .join(', ');

function rows_of([name, { about, sides }]) {
  const first = Object.values(sides)[0];
  return Object.entries(sides).map(([side, rounds]) => {
    const is_first = rounds === first;
    const figures = Object.keys(units).map((key) => figure(rounds, key));
    const cells = [
      is_first ? `\`${name}\`: ${about}` : '',
      commit_of(latest, side) ?? side,
      ...figures.map((value) => (value === null ? '' : shown(value))),
      is_first ? '' : ratios_of(first, rounds),
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

const m = latest.machine;
const heads = ['measure', 'side', ...Object.values(units), 'ratio of the rates, of the CPU'];
const table = [
  `${latest.date.slice(0, 10)}, ${m.cores} cores (${m.cpu}), Linux ${m.kernel}, g++ ${m.compiler}; medians`,
  `of ${latest.rounds} interleaved rounds. The ratios are those of the first side to this one.`,
  '',
  `| ${heads.join(' | ')} |`,
  `|${heads.map(() => '---|').join('')}`,
  ...Object.entries(latest.measures).flatMap(rows_of),
];
const readme = path.join(root, 'bench/README.md');
const block = /(<!-- made by bench\/report\.mjs -->\n)[^]*?(<!-- end -->)/;
const text = fs.readFileSync(readme, 'utf8');
fs.writeFileSync(
  readme,
  text.replace(block, (_, begin, end) => `${begin}\n${table.join('\n')}\n\n${end}`),
);

// -- the plots --------------------------------------------------------------------------------------------

/** Each build of each result, the one to compare with first. */
const columns = results.flatMap((result) => [...result.builds].reverse().map((build) => ({ result, build })));

/** One plot: the builds of FairQueue are one line over the columns, and each yardstick is another. */
function plot_of(name, key) {
  const lines = new Map();
  columns.forEach(({ result, build }, i) => {
    for (const [side, rounds] of Object.entries(result.measures[name]?.sides ?? {})) {
      const of_build = commit_of(result, side);
      if (of_build && side !== build.name) continue;
      const line = of_build ? 'FairQueue' : side;
      if (!lines.has(line))
        lines.set(
          line,
          columns.map(() => null),
        );
      lines.get(line)[i] = figure(rounds, key);
    }
  });
  const has_values = [...lines.values()].flat().some((value) => value !== null);
  return has_values ? { title: `${name}: ${units[key]}`, lines: [...lines] } : null;
}

const names = [...new Set(results.flatMap((result) => Object.keys(result.measures)))];
const plots = names.flatMap((name) => Object.keys(units).map((key) => plot_of(name, key))).filter(Boolean);
const labels = columns.map(({ build }) => build.commit);
const uplot = (file) => fs.readFileSync(path.join(root, 'web/node_modules/uplot/dist', file), 'utf8');
const in_script = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');

const page = `<!doctype html>
<!-- made by bench/report.mjs -->
<html lang="en">
<meta charset="utf-8">
<title>FairQueue: benchmarks over commits</title>
<style>${uplot('uPlot.min.css')}
body { font: 15px sans-serif; margin: 2em; }
main { display: flex; flex-wrap: wrap; gap: 1em; }</style>
<h1>Benchmarks over commits</h1>
<p>Medians of each run of <code>scripts/bench</code>. Machines differ by a factor of three: compare a line with
the others of its plot, not with its own past.</p>
<main></main>
<script>${uplot('uPlot.iife.min.js')}</script>
<script>
const labels = ${in_script(labels)};
const colours = ['#0b62c4', '#c4520b', '#3a8a2e', '#8a2e7d'];
for (const { title, lines } of ${in_script(plots)}) {
  const points = { show: true, size: 7 };
  const series = lines.map(([label], i) => ({ label, stroke: colours[i % 4], points }));
  new uPlot({
    title, width: 560, height: 300,
    scales: {
      x: { time: false, range: () => [-0.5, labels.length - 0.5] },
      y: { range: (u, min, max) => [0, max * 1.1] },
    },
    axes: [
      { values: (u, at) => at.map((i) => labels[i] ?? ''), space: 70, incrs: [1, 5, 20, 100] },
      { size: 70 },
    ],
    series: [{ label: 'commit', value: (u, i) => labels[i] ?? '' }, ...series],
  }, [labels.map((_, i) => i), ...lines.map(([, values]) => values)], document.querySelector('main'));
}
</script>
</html>
`;
fs.writeFileSync(path.join(root, 'bench/report.html'), page);
console.log('bench/README.md and bench/report.html are made');
