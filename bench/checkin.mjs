// SPDX-License-Identifier: Apache-2.0
// 500 redeems a second at one event, by 20 scanners, beside a running sale of another event with a crowd of
// fairqueue-load. Every ticket is presented twice: one scan must be admitted, one refused.
// Prints redeems a second, p50/p95/p99 of the answers, and tickets that were not let in exactly once.
// Usage: node bench/checkin.mjs [redeems a second=500] [seconds=20]   (after a release build; FAIRQUEUE_BIN
// and FAIRQUEUE_LOAD_BIN name others)
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import path from 'node:path';

const root = path.dirname(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname));
process.env.FAIRQUEUE_BIN ??= path.join(root, 'build/release/app/fairqueue');
process.env.FAIRQUEUE_LOAD_BIN ??= path.join(root, 'build/release/load/fairqueue-load');
const { fairqueue_load, Server, sleep } = await import('../tests/blackbox/lib.mjs');
const { ticket_codes } = await import('../tests/blackbox/ticket_codes.mjs');

const [per_second, seconds] = [Number(process.argv[2] ?? 500), Number(process.argv[3] ?? 20)];
const scanners = 20;
const of_order = 50;

const must = (answer, ...wanted) => {
  if (!wanted.includes(answer.status)) throw new Error(answer.text);
  return answer.json;
};

const server = await Server.start({ settings: { 'rate_limits.device_requests_per_minute': 0 } });
const organizer = await server.organizer();
const count = Math.ceil((per_second * seconds) / 2 / of_order) * of_order;
const event = await server.event(organizer, {
  queue: { policy: 'open' },
  ticket_types: [{ name: 'Standing', price: 0, total: count, max_per_order: of_order }],
});
const tickets = [];
for (const token of await server.customers(count / of_order)) {
  const body = {
    event_id: event.id,
    items: [{ ticket_type_id: event.ticket_types[0].id, quantity: of_order }],
    contact: { email: 'ada@example.org', first_name: 'Ada', last_name: 'Obi' },
  };
  const made = must(await server.post('/checkout', { token, body }), 200, 201, 202);
  const order = must(await server.get(`/orders/${made.order_id}`, { token }), 200);
  tickets.push(...order.event_tickets.map(({ id }) => id));
}
const checkin = `/events/${event.id}/checkin`;
const list = must(await server.post(`${checkin}/lists`, { token: organizer, body: { name: 'All' } }), 201).id;
const tokens = [];
for (let n = 1; n <= scanners; n += 1) {
  const body = { label: `Phone ${n}` };
  tokens.push(must(await server.post(`${checkin}/devices`, { token: organizer, body }), 201).token);
}

const sale = await server.event(organizer, { ticket_types: [{ name: 'Seat', price: 100, total: 2_000 }] });
const crowd = spawn(
  fairqueue_load,
  ['--url', server.url, '--event', sale.id, '--fans', '2000', '--data-dir', server.data_dir, '--quiet'],
  { stdio: 'ignore' },
);

const code = ticket_codes(server, event.id);
const work = [...tickets, ...tickets].map((ticket) => ({ ticket, nonce: crypto.randomUUID() }));
const codes = new Map(tickets.map((ticket) => [ticket, code(ticket)]));
const times = [];
const admitted = new Map();
let failed = 0;
const began = performance.now();
await Promise.all(
  work.map(async ({ ticket, nonce }, i) => {
    await sleep(Math.max(0, (i * 1000) / per_second - (performance.now() - began)));
    const asked = performance.now();
    const answer = await server.post('/checkin/redeem', {
      token: tokens[i % scanners],
      body: { list_id: list, nonce, code: codes.get(ticket) },
      unchecked: true,
    });
    times.push(performance.now() - asked);
    if (answer.status !== 200) failed += 1;
    else if (answer.json.result === 'admitted') admitted.set(ticket, (admitted.get(ticket) ?? 0) + 1);
  }),
);
const took = (performance.now() - began) / 1000;
crowd.kill();
times.sort((a, b) => a - b);
const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(1);
const wrong = tickets.filter((ticket) => admitted.get(ticket) !== 1).length;
console.log(`redeems/s ${(work.length / took).toFixed(0)} p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} ms`);
console.log(`tickets not let in exactly once ${wrong}, requests without an answer ${failed}`);
await server.stop();
process.exit(wrong === 0 && failed === 0 ? 0 : 1);
