// SPDX-License-Identifier: Apache-2.0
// Reserved seats under a crowd of fairqueue-load --seats. Usage (after a release build):
//   node bench/seat_sale.mjs crash [fans=5000] [postgres] [checkout]
//     one plan of 2,000 seats; kill -9 of the server every 5 s until all are sold. No seat twice, the maps of
//     the fans are the server's, `admin verify` finds no difference, and the ledger is sound. `checkout`:
//     orders with answers to required questions instead of claims.
//   node bench/seat_sale.mjs map [fans=3000] [postgres]
//     one plan of 50,000 seats, all fans on WebSockets, twenty claims a second for 35 s, with no fault. How
//     late do the fans' maps show a claim? Budget: 1 s from the answer to the claim, by the oldest claim of a
//     frame.
// Ends with 1 if a check fails.
import { spawn } from 'node:child_process';
import os from 'node:os';
import { fairqueue_load, eventually, sleep } from '../tests/blackbox/lib.mjs';
import { check_ledger } from '../tests/support/check_ledger.mjs';
import { Services } from '../tests/support/services.mjs';
import { bench, cpu_seconds, start } from './parts.mjs';

const [mode = 'crash', ...rest] = process.argv.slice(2);
const [on_postgres, by_checkout] = ['postgres', 'checkout'].map((word) => rest.includes(word));
const questions = [
  { label: 'Diet', kind: 'choice', to: 'attendee', required: true, choices: ['any', 'vegan'] },
  { label: 'I accept the rules', kind: 'consent', required: true },
];
const kill_every_ms = 5_000;

const modes = {
  crash: {
    fans: 5_000,
    hall: { sections: [{ section: 'P', ticket_type: 'Standard', rows: 40, seats: 50 }], aisles: 2 },
    sale: {
      total: 2_000,
      claim_ttl_seconds: 12,
      queue: {
        batch_size: 25,
        admission_interval_ms: 500,
        claim_window_seconds: 8,
        session_ttl_seconds: 20,
        over_admission_factor: 1.2,
      },
    },
    crowd: {
      'no-show': 10,
      'abandon': 5,
      'decline': 5,
      'websocket': 50,
      'arrival': 'ramp',
      'arrival-seconds': 30,
    },
  },
  map: {
    fans: 3_000,
    hall: {
      sections: Array.from({ length: 40 }, (_, i) => ({
        section: `S${i}`,
        ticket_type: 'Standard',
        rows: 50,
        seats: 25,
      })),
      aisles: 1,
      radius: 8_000,
      row_depth: 20,
      section_gap: 0,
    },
    sale: {
      total: 50_000,
      claim_ttl_seconds: 100,
      queue: {
        batch_size: 10,
        admission_interval_ms: 500,
        session_ttl_seconds: 300,
        claim_window_seconds: 100,
      },
    },
    crowd: {
      'no-show': 0,
      'abandon': 0,
      'decline': 0,
      'websocket': 100,
      'arrival': 'ramp',
      'arrival-seconds': 5,
    },
    open_for_ms: 40_000,
  },
};

/** fairqueue-load with these options: {child, done}, done resolves to its exit code. */
function send_crowd(server, event, fans, options) {
  const all = { 'url': server.url, event, fans, 'data-dir': server.data_dir, 'timeout': 400, ...options };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(fairqueue_load, [...args, '--seats', '--quiet'], { stdio: 'inherit' });
  return { child, done: new Promise((resolve) => child.on('close', resolve)) };
}

/** Kills and restarts the server until `is_over`; returns how often. */
async function kill_again_and_again(server, is_over) {
  for (let kills = 0; ; ++kills) {
    await sleep(kill_every_ms);
    if (is_over()) return kills;
    await server.restart();
  }
}

await bench(async (end_with) => {
  const wanted = modes[mode];
  const fans = Number(rest.find((each) => /^\d+$/.test(each)) ?? wanted.fans);
  const services = on_postgres ? await Services.start('postgres') : undefined;
  end_with(() => services?.stop());
  const server = await start(end_with, {
    'checkout.fees': '*:0:0:0', // check_ledger compares with prices
    ...(services && { 'ledger.url': services.postgres_url }),
  });
  const organizer = await server.organizer();
  const { id: event } = await server.seated_event(
    organizer,
    { ...wanted.sale, ...(by_checkout && { questions }) },
    wanted.hall,
  );
  const [load_before, began] = [os.loadavg()[0], performance.now()];
  const crowd = send_crowd(server, event, fans, {
    ...wanted.crowd,
    ...(by_checkout && { 'buy-by': 'checkout' }),
  });
  let is_over = false;
  const code = crowd.done.then((got) => {
    is_over = true;
    return got;
  });
  let kills = 0;
  if (mode === 'crash') {
    kills = await kill_again_and_again(server, () => is_over);
  } else {
    await sleep(wanted.open_for_ms);
    const ended = await server.post(`/events/${event}/end`, { token: organizer });
    if (ended.status !== 200) throw new Error(ended.text);
  }
  const failed = [];
  if ((await code) !== 0) failed.push(`fairqueue-load ended with ${await code}`);
  const seconds = (performance.now() - began) / 1000;
  const stats = () => server.stats(organizer, event);
  if (mode === 'crash')
    await eventually('all is sold', async () => (await stats()).sold === wanted.sale.total, {
      timeout_ms: 60_000,
    });
  console.log(
    `${mode} on ${on_postgres ? 'Postgres' : 'SQLite'}: ${kills} kills, ${(await stats()).sold} sold, ${seconds.toFixed(0)} s, ` +
      `CPU of the last server ${cpu_seconds(server.pid).toFixed(1)} s; load average ${load_before.toFixed(1)} before, ` +
      `${os.loadavg()[0].toFixed(1)} after`,
  );
  await server.verified();
  await server.stop();
  if (services) failed.push(...(await check_ledger(services.postgres_url)));
  for (const each of failed) console.error(each);
  if (failed.length > 0) process.exitCode = 1;
});
