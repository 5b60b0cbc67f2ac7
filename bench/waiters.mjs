// SPDX-License-Identifier: Apache-2.0
// A million waiters of one event, 100,000 of them on sockets over six nodes; a seventh node owns the event.
// How late sockets hear a move of one percent, and what positions cost the owner and the edges. The owner's
// part is the difference to the same moves without sockets.
// Usage: node bench/waiters.mjs [waiting=1000000] [sockets=100000]   (after a release build)
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { Cluster } from '../tests/blackbox/cluster.mjs';
import { fairqueue_load, run, sleep, temporary_folder } from '../tests/blackbox/lib.mjs';
import { bench, exact_cpu_seconds, median, status_of, tokens_of, without_limits } from './parts.mjs';

const [waiting, count] = [process.argv[2] ?? 1_000_000, process.argv[3] ?? 100_000].map(Number);
const parts = 20; // owners of sockets join in so many groups, among the others
const [moves, steady_moves, steady_seconds, call_max] = [waiting / 100, 100, 20, 1000];
const frame_bytes = 110;
const program = path.resolve(import.meta.dirname, '../build/release/bench/socket_crowd');

async function join(owner, event, fans, token_file) {
  const args = ['--url', owner.url, '--event', event, '--data-dir', owner.data_dir, '--join-only', '--quiet'];
  args.push(
    '--connections',
    '256',
    '--fans',
    String(fans),
    ...(token_file ? ['--token-file', token_file] : []),
  );
  const { code, out, err } = await run(fairqueue_load, args, { timeout_ms: 600_000 });
  if (code !== 0) throw new Error(`fairqueue-load: ${out}${err}`);
}

/** The sockets of one node: {move(n), tell(), end()}. */
async function crowd(event, tokens, node) {
  const file = path.join(temporary_folder(), 'tokens');
  fs.writeFileSync(file, tokens.join('\n') + '\n');
  const child = spawn(program, [event, file, String(node.port)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  if ((await lines.next()).value !== 'ready') throw new Error('socket_crowd ended');
  return {
    move: (n) => child.stdin.write(`move ${n}\n`),
    tell: async () => {
      child.stdin.write('tell\n');
      return JSON.parse((await lines.next()).value);
    },
    end: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

const cpu_of = (nodes) => nodes.reduce((sum, n) => sum + exact_cpu_seconds(n.pid), 0);
const memory_of = (nodes) => nodes.reduce((sum, n) => sum + status_of(n.pid, 'RssAnon'), 0);

await bench(async (end_with) => {
  const settings = { ...without_limits, 'rate_limits.joins_per_ip_per_minute': 0 };
  const cluster = await Cluster.start({ after: end_with }, { nodes: 7, settings });
  const edges = cluster.nodes.slice(0, 6);
  const owner = cluster.nodes[6];
  const organizer = await owner.organizer();
  const queue = { policy: 'operator', session_ttl_seconds: 3000, claim_window_seconds: 2900 };
  const { id: event } = await owner.event(organizer, { total: waiting, queue });
  await cluster.hand_off(event, owner);
  const advance = async (n) => {
    for (let left = n; left > 0; left -= call_max) {
      const body = { count: Math.min(left, call_max) };
      const called = await owner.post(`/events/${event}/advance`, { token: organizer, body });
      if (called.status !== 200) throw new Error(called.text);
    }
  };
  /** The owner's CPU during a steady sale, in ms a second. */
  const owners_cost = async () => {
    const began = cpu_of([owner]);
    for (let s = 0; s < steady_seconds; ++s) {
      await advance(steady_moves);
      await sleep(1000);
    }
    return ((cpu_of([owner]) - began) * 1000) / steady_seconds;
  };

  const tokens = tokens_of(owner, count);
  const group = Math.ceil(count / parts);
  const folder = temporary_folder();
  for (let p = 0; p < parts; ++p) {
    const own = tokens.slice(p * group, (p + 1) * group);
    fs.writeFileSync(`${folder}/${p}`, own.join('\n') + '\n');
    await join(owner, event, own.length, `${folder}/${p}`);
    await join(owner, event, Math.floor((waiting - count) / parts));
  }
  const alone = await owners_cost();

  const before = memory_of(edges);
  const crowds = await Promise.all(
    edges.map((node, i) =>
      crowd(
        event,
        tokens.filter((_, t) => t % edges.length === i),
        node,
      ),
    ),
  );
  await sleep(5000);
  console.log(
    `${count} sockets over ${edges.length} nodes: ${((memory_of(edges) - before) / count).toFixed(2)} KiB each`,
  );
  const quiet = cpu_of(edges);
  await sleep(10_000);
  const idle = (cpu_of(edges) - quiet) / 10;
  const told = [];
  for (let i = 0; i < 6; ++i) {
    const [cpu, began] = [cpu_of(edges), performance.now()];
    for (const c of crowds) c.move(moves);
    await advance(moves);
    await sleep(4000);
    const heard = await Promise.all(crowds.map((c) => c.tell()));
    const sum = (key) => heard.reduce((all, h) => all + h[key], 0);
    const worst = (key) => Math.max(...heard.map((h) => h[key]));
    const spent = cpu_of(edges) - cpu - (idle * (performance.now() - began)) / 1000;
    told.push((spent * 1e6) / sum('frames'));
    console.log(
      `${moves} places forward: ${sum('due')} sockets due, ${sum('heard')} heard, p99 ${worst('p99_ms')} ms, ` +
        `last ${worst('max_ms')} ms; ${sum('frames')} frames, ${told.at(-1).toFixed(2)} us each; ${sum('lost')} lost`,
    );
  }
  const { send_us } = JSON.parse(execFileSync(program, ['--send', '8000', String(frame_bytes)]));
  const us = median(told);
  console.log(
    `edges: ${us.toFixed(2)} us a frame, a bare send ${send_us} us: ${(us / send_us).toFixed(2)} times`,
  );
  const followed = await owners_cost();
  console.log(
    `owner, ${steady_moves} admissions a second: ${(followed / 10).toFixed(2)} % of a core, without sockets ${(alone / 10).toFixed(2)} %`,
  );
  await Promise.all(crowds.map((c) => c.end()));
});
