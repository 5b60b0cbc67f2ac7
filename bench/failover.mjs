// SPDX-License-Identifier: Apache-2.0
// A failover of an event's owner with default settings: three nodes and Postgres, each on its own host. Asks
// a healthy node for a place every 20 ms; prints the longest time between two answers for each fault.
// Usage: unshare --net -- node bench/failover.mjs [runs=5]   (after a release build)
import { Services } from '../tests/support/services.mjs';
import { Cluster } from '../tests/blackbox/cluster.mjs';
import { cut, hosts_for } from '../tests/blackbox/hosts.mjs';
import { sleep } from '../tests/blackbox/lib.mjs';

const runs = Number(process.argv[2] ?? 5);
const cleanups = [];
const t = { after: (run) => cleanups.push(run) };

const [ledger, ...hosts] = await hosts_for(t, 4);
const postgres = await Services.start_on(ledger, 'postgres');
t.after(() => postgres.stop());
const settings = { 'rate_limits.customer_requests_per_minute': 0 };
const cluster = await Cluster.start(t, { hosts, ledger_url: postgres.postgres_url, settings });
const [owner, watcher, third] = cluster.nodes;
const organizer = await watcher.organizer();
const event = (await watcher.event(organizer, { queue: { policy: 'operator' } })).id;
const [fan] = await watcher.customers(1);
await watcher.join(fan, event);

const faults = {
  'kill -9': { begin: () => owner.kill(), end: () => owner.launch(), limit_s: 2 },
  'SIGSTOP': { begin: () => owner.signal('SIGSTOP'), end: () => owner.signal('SIGCONT'), limit_s: 5 },
  'the host is cut off': {
    begin: () => [ledger, watcher.host, third.host].forEach((host) => cut(owner.host, host)),
    end: () => [ledger, ...hosts].forEach((host) => host.heal()),
    limit_s: 5,
  },
};

/** The longest time without an answer from now on, in ms; ends when there was an answer after `fault`. */
async function gap_of(fault) {
  let last = performance.now();
  let longest = 0;
  const until = last + 12_000;
  await fault();
  while (performance.now() < until) {
    const request = { token: fan, timeout_ms: 10_000, unchecked: true };
    const answer = await watcher.get(`/events/${event}/queue/position`, request).catch(() => ({}));
    if (answer.status === 200) {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }
    await sleep(20);
  }
  return longest;
}

try {
  for (const [name, { begin, end, limit_s }] of Object.entries(faults)) {
    const gaps = [];
    for (let run = 0; run < runs; ++run) {
      await cluster.hand_off(event, owner);
      gaps.push(await gap_of(begin));
      await end();
      await cluster.whole();
      await sleep(3000);
    }
    console.log(
      `${name} (limit ${limit_s} s): ${gaps.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', ')}`,
    );
  }
} finally {
  for (const run of cleanups.reverse()) await run();
}
process.exit(0);
