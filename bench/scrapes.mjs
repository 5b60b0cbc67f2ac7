// SPDX-License-Identifier: Apache-2.0
// The cost of metrics: the server's CPU a durable join with /metrics scraped every second and never, in turn;
// and the cost of a scrape alone, with this many events.
// Usage: node bench/scrapes.mjs [joins=60000] [rounds=5] [events=100]   (after a release build)
import { fairqueue_load, run } from '../tests/blackbox/lib.mjs';
import { bench, cost_of, median, start, waiting_event } from './parts.mjs';

const [joins, rounds, events] = [process.argv[2] ?? 60_000, process.argv[3] ?? 5, process.argv[4] ?? 100].map(
  Number,
);
const scrape_every_ms = 1_000;
const scrapes_alone = 200;

async function join_crowd(server, event) {
  const args = [
    '--url',
    server.url,
    '--event',
    event,
    '--data-dir',
    server.data_dir,
    '--join-only',
    '--connections',
    '64',
    '--fans',
    String(joins),
    '--quiet',
    '--json',
    '-',
  ];
  const { code, out, err } = await run(fairqueue_load, args, { timeout_ms: 300_000 });
  if (code !== 0) throw new Error(`fairqueue-load: ${out}${err}`);
  return JSON.parse(out);
}

await bench(async (end_with) => {
  const server = await start(end_with);
  for (let n = 1; n < events; ++n) await waiting_event(server);
  const scrape = () => server.get('/metrics', { admin: true });
  await scrape();
  const alone = await cost_of(server, async () => {
    let bytes = 0;
    for (let n = 0; n < scrapes_alone; ++n) bytes = (await scrape()).text.length;
    return bytes;
  });
  console.log(
    `a scrape of ${alone.result} bytes with ${events} events: ${((alone.cpu * 1000) / scrapes_alone).toFixed(2)} ms of CPU`,
  );
  const seen = { never: [], scraped: [] };
  const ratios = [];
  for (let round = 1; round <= rounds; ++round) {
    for (const how of round % 2 ? ['never', 'scraped'] : ['scraped', 'never']) {
      const event = await waiting_event(server);
      const timer =
        how === 'scraped' &&
        setInterval(
          () => scrape().catch((error) => console.error(`a scrape failed: ${error.message}`)),
          scrape_every_ms,
        );
      const joined = await cost_of(server, () => join_crowd(server, event)).finally(() =>
        clearInterval(timer),
      );
      seen[how].push((joined.cpu * 1e6) / joins);
    }
    ratios.push(seen.scraped.at(-1) / seen.never.at(-1));
    console.log(
      `round ${round}: CPU us a join, never scraped ${seen.never.at(-1).toFixed(1)}, every second ${seen.scraped.at(-1).toFixed(1)}, ratio ${ratios.at(-1).toFixed(3)}`,
    );
  }
  console.log(
    `median ratio ${median(ratios).toFixed(3)}; CPU us a join ${median(seen.never).toFixed(1)} and ${median(seen.scraped).toFixed(1)}`,
  );
});
