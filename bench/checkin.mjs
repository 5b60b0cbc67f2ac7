// SPDX-License-Identifier: Apache-2.0
// A gate under load. Usage (after a release build; FAIRQUEUE_BIN and FAIRQUEUE_LOAD_BIN name others):
//   node bench/checkin.mjs sale [redeems a second=500] [seconds=20] [postgres]
//     redeems by 20 scanners beside a running sale of another event with a crowd of fairqueue-load
//   node bench/checkin.mjs hour [tickets=20000] [seconds=120] [postgres]
//     an hour of 10 scanners in two minutes; kill -9 of the server in the middle, and each scanner repeats a
//     scan until it is answered
// Every second ticket (sale: every ticket) is presented twice: one scan must be admitted, the other refused.
// Prints redeems a second, p50/p95/p99 of first answers, and what is wrong: then it ends with 1.
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import path from 'node:path';

const root = path.dirname(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname));
process.env.FAIRQUEUE_BIN ??= path.join(root, 'build/release/app/fairqueue');
process.env.FAIRQUEUE_LOAD_BIN ??= path.join(root, 'build/release/load/fairqueue-load');
const { fairqueue_load, Server, sleep } = await import('../tests/blackbox/lib.mjs');
const { ticket_codes } = await import('../tests/blackbox/ticket_codes.mjs');
const { Services } = await import('../tests/support/services.mjs');

const of_order = 50;

const must = (answer, ...wanted) => {
  if (!wanted.includes(answer.status)) throw new Error(answer.text);
  return answer.json;
};

/** An event with `count` sold tickets, a list and tokens of `scanners`. */
async function gate_of(server, count, scanners) {
  const organizer = await server.organizer();
  const event = await server.event(organizer, {
    queue: { policy: 'open' },
    ticket_types: [{ name: 'Standing', price: 0, total: count, max_per_order: of_order }],
  });
  const tickets = [];
  for (const token of await server.customers(Math.ceil(count / of_order))) {
    const body = {
      event_id: event.id,
      items: [
        { ticket_type_id: event.ticket_types[0].id, quantity: Math.min(of_order, count - tickets.length) },
      ],
      contact: { email: 'ada@example.org', first_name: 'Ada', last_name: 'Obi' },
    };
    const made = must(await server.post('/checkout', { token, body }), 200, 201, 202);
    const order = must(await server.get(`/orders/${made.order_id}`, { token }), 200);
    tickets.push(...order.event_tickets.map(({ id }) => id));
  }
  const checkin = `/events/${event.id}/checkin`;
  const list = must(await server.post(`${checkin}/lists`, { token: organizer, body: { name: 'All' } }), 201);
  const tokens = [];
  for (let n = 1; n <= scanners; n += 1) {
    const body = { label: `Phone ${n}` };
    tokens.push(must(await server.post(`${checkin}/devices`, { token: organizer, body }), 201).token);
  }
  const code = ticket_codes(server, event.id);
  const codes = new Map(tickets.map((ticket) => [ticket, code(ticket)]));
  const numbers = async () => must(await server.get(checkin, { token: organizer }), 200);
  return { server, organizer, tickets, list: list.id, tokens, codes, numbers };
}

/** Scans `work` at an even pace, [ticket, scanner] each, until all are answered. */
async function scan_all(gate, work, seconds) {
  const seen = { times: [], repeated: 0, admitted: new Map(), failed: 0 };
  const began = performance.now();
  await Promise.all(
    work.map(async ([ticket, scanner], i) => {
      await sleep(Math.max(0, (i * seconds * 1000) / work.length - (performance.now() - began)));
      const body = {
        list_id: gate.list,
        nonce: crypto.randomUUID(),
        code: gate.codes.get(ticket),
        at: new Date().toISOString(),
      };
      for (let attempt = 0; ; attempt += 1) {
        const asked = performance.now();
        const answer = await gate.server
          .post('/checkin/redeem', { token: gate.tokens[scanner], body, unchecked: true })
          .catch(() => undefined);
        if (answer?.status === 200) {
          if (attempt === 0) seen.times.push(performance.now() - asked);
          else seen.repeated += 1;
          if (answer.json.result === 'admitted')
            seen.admitted.set(ticket, (seen.admitted.get(ticket) ?? 0) + 1);
          return;
        }
        if (answer && answer.status < 500) {
          seen.failed += 1;
          return;
        }
        await sleep(50);
      }
    }),
  );
  return { ...seen, took: (performance.now() - began) / 1000 };
}

async function report(gate, work, seen) {
  const times = seen.times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(1);
  const wrong = gate.tickets.filter((ticket) => seen.admitted.get(ticket) !== 1).length;
  const { lists, ticket_types, conflicts } = await gate.numbers();
  const counted = [lists[0].entries, lists[0].refused, ticket_types[0].in, conflicts];
  const wanted = [gate.tickets.length, work.length - gate.tickets.length, gate.tickets.length, 0];
  console.log(`redeems/s ${(work.length / seen.took).toFixed(0)} in ${seen.took.toFixed(0)} s`);
  console.log(`p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${at(1)} ms; sent again ${seen.repeated}`);
  console.log(`tickets not let in exactly once ${wrong}, refused requests ${seen.failed}`);
  console.log(`entries, refused, in, conflicts: ${counted.join(', ')}; wanted ${wanted.join(', ')}`);
  return wrong === 0 && seen.failed === 0 && counted.join() === wanted.join();
}

async function beside_a_sale(server, per_second, seconds) {
  const scanners = 20;
  const gate = await gate_of(server, Math.ceil((per_second * seconds) / 2), scanners);
  const sale = await server.event(gate.organizer, {
    ticket_types: [{ name: 'Seat', price: 100, total: 2_000 }],
  });
  const crowd = spawn(
    fairqueue_load,
    ['--url', server.url, '--event', sale.id, '--fans', '2000', '--data-dir', server.data_dir, '--quiet'],
    { stdio: 'ignore' },
  );
  const work = [...gate.tickets, ...gate.tickets].map((ticket, i) => [ticket, i % scanners]);
  const seen = await scan_all(gate, work, seconds);
  crowd.kill();
  const { sold, waiting } = await server.stats(gate.organizer, sale.id);
  console.log(`the sale beside it: ${sold} sold, ${waiting} wait`);
  return report(gate, work, seen);
}

async function an_hour(server, count, seconds) {
  const scanners = 10;
  const gate = await gate_of(server, count, scanners);
  // A second scan follows at another gate.
  const work = gate.tickets.flatMap((ticket, i) =>
    i % 2 === 0
      ? [[ticket, i % scanners]]
      : [
          [ticket, i % scanners],
          [ticket, (i + 1) % scanners],
        ],
  );
  const killed = sleep(seconds * 500).then(() => server.restart());
  const seen = await scan_all(gate, work, seconds);
  await killed;
  const is_right = await report(gate, work, seen);
  await server.verified();
  return is_right;
}

const [mode = 'sale', ...rest] = process.argv.slice(2);
const [first, second] = rest.filter((each) => each !== 'postgres').map(Number);
const services = rest.includes('postgres') ? await Services.start('postgres') : undefined;
const server = await Server.start({
  settings: {
    'rate_limits.device_requests_per_minute': 0,
    ...(services && { 'ledger.url': services.postgres_url }),
  },
});
const is_right =
  mode === 'hour'
    ? await an_hour(server, first ?? 20_000, second ?? 120)
    : await beside_a_sale(server, first ?? 500, second ?? 20);
await server.stop();
await services?.stop();
process.exit(is_right ? 0 : 1);
