// SPDX-License-Identifier: Apache-2.0
// The chart of people per minute, by uPlot as in the console.
import uPlot from 'uplot';

const height = 200;

/** Draws `rates` (fairness_report.mjs) into `box`. `names`: of the two lines. `label`: the chart in words. */
export function draw_rates(box, rates, names, label) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--faint'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const lines = [
    { stroke: colour('--focus'), dash: [] },
    { stroke: colour('--good'), dash: [7, 5] },
  ];
  const legend = document.createElement('figcaption');
  names.forEach((name, i) => {
    const mark = document.createElement('span');
    mark.className = `mark mark-${i + 1}`;
    legend.append(mark, ` ${name} `);
  });
  const plot = document.createElement('div');
  plot.role = 'img';
  plot.dir = 'ltr';
  plot.ariaLabel = label;
  box.replaceChildren(legend, plot);
  const made = new uPlot(
    {
      width: box.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { range: (_, low, high) => [low ?? 0, Math.max(high ?? 0, (low ?? 0) + 60)] },
        y: { range: (_, low, high) => [0, Math.max(4, (high ?? 0) * 1.1)] },
      },
      axes: [axis, { ...axis, size: 56 }],
      series: [
        {},
        ...lines.map((line) => ({ ...line, width: 2, points: { show: rates.times.length === 1 } })),
      ],
    },
    [rates.times.map((ms) => ms / 1000), rates.joined, rates.admitted],
    plot,
  );
  new ResizeObserver(() => made.setSize({ width: box.clientWidth, height })).observe(box);
}
