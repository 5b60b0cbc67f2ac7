// SPDX-License-Identifier: Apache-2.0
// The cost of a cluster on one machine: joins to one hot event at a single node, and through two edge nodes
// with the owner on a third. Rounds alternate, so the ratio is of one run. Prints the CPU of a join on edge
// and owner, and the CPU of idle nodes.
// Usage: node bench/cluster.mjs [joins=20000] [rounds=3]   (after a release build)
import fs from 'node:fs';
import { Cluster } from '../tests/blackbox/cluster.mjs';
import { fairqueue_load, run, sleep } from '../tests/blackbox/lib.mjs';

const [joins, rounds] = [Number(process.argv[2] ?? 20_000), Number(process.argv[3] ?? 3)];
const idle_seconds = 20;
const ticks_per_second = 100; // USER_HZ
const endings = [];
const t = { after: (f) => endings.unshift(f) };
const settings = Object.fromEntries(
  ['anonymous_requests_per_ip', 'customer_requests', 'joins_per_customer'].map((name) => [
    `rate_limits.${name}_per_minute`,
    0,
  ]),
);

const cpu_seconds = (pid) => {
  const fields = fs
    .readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticks_per_second;
};
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function join_through(node, event, count) {
  const args = [
    '--url',
    node.url,
    '--event',
    event,
    '--data-dir',
    node.data_dir,
    '--join-only',
    '--connections',
    '128',
    '--fans',
    String(count),
    '--quiet',
    '--json',
    '-',
  ];
  const { code, out, err } = await run(fairqueue_load, args, { timeout_ms: 300_000 });
  if (code !== 0) throw new Error(`fairqueue-load: ${out}${err}`);
  return JSON.parse(out);
}

/** Joins a second, and CPU µs a join on each node. */
async function measure(cluster, edges, owner) {
  const organizer = await owner.organizer();
  const { id: event } = await owner.event(organizer, { queue: { policy: 'operator' } });
  if (cluster.nodes.length > 1) await cluster.hand_off(event, owner);
  for (const edge of edges) await edge.get(`/events/${event}`);
  const before = cluster.nodes.map((n) => cpu_seconds(n.pid));
  const reports = await Promise.all(edges.map((edge) => join_through(edge, event, joins / edges.length)));
  const seconds = Math.max(...reports.map((r) => r.elapsed_seconds));
  const cpu = Object.fromEntries(
    cluster.nodes.map((n, i) => [n.name, ((cpu_seconds(n.pid) - before[i]) * 1e6) / joins]),
  );
  return { rate: joins / seconds, cpu, reports };
}

async function main() {
  const one = await Cluster.start(t, { nodes: 1, settings });
  const three = await Cluster.start(t, { nodes: 3, settings });
  const [a, b, c] = three.nodes;

  await sleep(5000);
  const nodes = [...one.nodes, ...three.nodes];
  const before = nodes.map((n) => cpu_seconds(n.pid));
  await sleep(idle_seconds * 1000);
  const idle = nodes.map((n, i) => ((cpu_seconds(n.pid) - before[i]) / idle_seconds) * 100);
  console.log(
    `idle: ${idle.map((x) => x.toFixed(2)).join(', ')} % of a core (the first is a cluster of one)`,
  );

  const ratios = [],
    edge = [],
    owner = [],
    single = [];
  for (let round = 0; round < rounds; ++round) {
    const alone = await measure(one, one.nodes, one.nodes[0]);
    const apart = await measure(three, [a, b], c);
    ratios.push(apart.rate / alone.rate);
    single.push(alone.cpu[one.nodes[0].name]);
    edge.push(apart.cpu[a.name] + apart.cpu[b.name]);
    owner.push(apart.cpu[c.name]);
    console.log(
      `round ${round + 1}: single ${alone.rate.toFixed(0)}/s, ${single.at(-1).toFixed(0)} us CPU a join; through two edges ${apart.rate.toFixed(0)}/s, ` +
        `edge ${edge.at(-1).toFixed(0)} us, owner ${owner.at(-1).toFixed(0)} us; ratio ${ratios.at(-1).toFixed(2)}`,
    );
  }
  console.log(
    `median ratio ${median(ratios).toFixed(2)}; CPU a join: single ${median(single).toFixed(0)} us, edge ${median(edge).toFixed(0)} us, owner ${median(owner).toFixed(0)} us`,
  );
}

try {
  await main();
} finally {
  for (const end of endings) await end();
}
