// SPDX-License-Identifier: Apache-2.0
// An open event under 1,000 simultaneous checkouts for 300 tickets of three types, half of them with a promo code of 50 uses. Every fan has a
// connection of its own, open before the first checkout is sent; nobody pays, so what is held is what was promised. Prints what was sold
// (held), what was oversold (I1), the uses of the code, p50/p95/p99 of the answer and of the payment page, and 5xx.
// Usage: node bench/checkout.mjs [fans=1000] [rounds=3]   (after a release build; FAIRQUEUE_BIN names another)
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const [fans, rounds] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 3)];
const bin = process.env.FAIRQUEUE_BIN ?? 'build/release/app/fairqueue';
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FAIRQUEUE_'))); // the server takes those for options
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'fairqueue-bench-'));
const port = 8099;
const server = spawn(
  bin,
  ['serve', '--demo', '--http.listen', `127.0.0.1:${port}`, '--http.admin_listen', '127.0.0.1:9099', '--data_dir', data],
  { stdio: 'ignore', env },
);
server.on('exit', () => {
  console.error('the server ended; is the port taken?');
  process.exit(1);
});
process.on('exit', () => {
  server.removeAllListeners('exit');
  server.kill('SIGKILL');
  fs.rmSync(data, { recursive: true, force: true });
});

const shared = new http.Agent({ keepAlive: true, maxSockets: 64 });
const request = (method, target, token, body, agent = shared) =>
  new Promise((resolve, reject) => {
    const bytes = body && JSON.stringify(body);
    const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(bytes && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }) };
    const out = http.request({ host: '127.0.0.1', port, method, path: target, headers, agent }, (answer) => {
      let text = '';
      answer.on('data', (part) => (text += part));
      answer.on('end', () => resolve({ status: answer.statusCode, json: text && JSON.parse(text) }));
    });
    out.on('error', reject);
    out.end(bytes);
  });
const must = async (...args) => {
  const answer = await request(...args);
  if (answer.status >= 300) throw new Error(`${args[0]} ${args[1]} was answered ${answer.status}: ${JSON.stringify(answer.json)}`);
  return answer.json;
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const is_ready = () => request('GET', '/readyz').then((a) => a.status === 200, () => false);
while (!(await is_ready()) || !fs.existsSync(path.join(data, 'demo.json'))) await sleep(50);

const demo = JSON.parse(fs.readFileSync(path.join(data, 'demo.json'), 'utf8'));
const organizer = (await must('POST', '/auth/organizer/login', undefined, { email: demo.organizer_email, password: demo.organizer_password })).token;
const at = (sorted, share) => (sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))].toFixed(1) : '-');
const spread = (times) => {
  times.sort((a, b) => a - b);
  return `p50 ${at(times, 0.5)}  p95 ${at(times, 0.95)}  p99 ${at(times, 0.99)} ms`;
};

let bad = 0;
for (let round = 1; round <= rounds; ++round) {
  const event = await must('POST', '/events', organizer, {
    name: 'Bench',
    currency: 'EUR',
    sale_start: new Date(Date.now() - 60_000).toISOString(),
    sale_end: new Date(Date.now() + 3_600_000).toISOString(),
    ticket_types: [
      { name: 'Standard', price: 1000, total: 180 },
      { name: 'Seat', price: 2500, total: 90 },
      { name: 'Box', price: 9900, total: 30 },
    ],
    queue: { policy: 'open' },
  });
  await must('POST', `/events/${event.id}/activate`, organizer);
  await must('POST', `/events/${event.id}/promo-codes`, organizer, { code: 'HALF', discount: { type: 'percent', percent: 50 }, uses_max: 50 });
  const listed = execFileSync(bin, ['token', '--kind', 'customer', '--count', String(fans), '--data_dir', data], { stdio: ['ignore', 'pipe', 'ignore'], env });
  const tokens = listed.toString().trim().split('\n');
  const agents = tokens.map(() => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  for (let i = 0; i < fans; i += 100) await Promise.all(agents.slice(i, i + 100).map((agent) => request('GET', '/livez', undefined, undefined, agent)));

  const answers = new Map(), answered = [], pages = [];
  let broken = 0;
  const began = performance.now();
  await Promise.all(
    tokens.map(async (token, i) => {
      const body = {
        event_id: event.id,
        contact: { first_name: 'Fan', last_name: String(i), email: `fan-${i}@example.org` },
        items: [{ ticket_type_id: event.ticket_types[i % 3].id }],
        ...(i % 2 && { promo_code: 'HALF' }),
      };
      const sent = performance.now();
      const placed = await request('POST', '/checkout', token, body, agents[i]).catch(() => ({ status: 0, json: { code: 'dropped' } }));
      answered.push(performance.now() - sent);
      const what = placed.status >= 400 || placed.status === 0 ? placed.json.code : placed.json.status;
      answers.set(what, (answers.get(what) ?? 0) + 1);
      broken += placed.status >= 500 || placed.status === 0;
      for (let state = placed.json; placed.status === 202 || placed.status === 200; ) {
        if (state.payment_url) return pages.push(performance.now() - sent);
        if (state.status !== 'processing' && state.status !== 'pending') return undefined;
        await sleep(state.poll_after_ms);
        const polled = await request('GET', `/orders/${placed.json.order_id}/status`, token, undefined, agents[i]);
        broken += polled.status >= 500;
        state = polled.status === 200 ? polled.json : state;
      }
      return undefined;
    }),
  );
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const stats = await must('GET', `/events/${event.id}/stats`, organizer);
  const [code] = (await must('GET', `/events/${event.id}/promo-codes`, organizer)).items;
  let sold = 0, with_code = 0, oversold = 0;
  const per_type = new Map(event.ticket_types.map((type) => [type.id, 0]));
  for (let cursor = ''; cursor !== null; ) {
    const page = await must('GET', `/events/${event.id}/orders?limit=200${cursor && `&cursor=${cursor}`}`, organizer);
    for (const order of page.items.filter((o) => ['pending', 'awaiting_payment', 'success'].includes(o.status))) {
      with_code += order.promo_code === 'HALF';
      for (const item of order.items) {
        sold += item.quantity;
        per_type.set(item.ticket_type_id, per_type.get(item.ticket_type_id) + item.quantity);
      }
    }
    cursor = page.next_cursor;
  }
  for (const type of event.ticket_types) oversold += Math.max(0, per_type.get(type.id) - type.total);
  console.log(`round ${round}: ${fans} checkouts in ${seconds} s with their pages: ${[...answers].map(([what, n]) => `${what} ${n}`).join(', ')}`);
  console.log(`  sold ${sold} of 300 (stats: ${stats.held + stats.sold}), oversold ${oversold}, code used ${code.uses} of 50 (${with_code} orders have it), 5xx or dropped ${broken}`);
  console.log(`  POST /checkout ${spread(answered)}; to the payment page ${spread(pages)}`);
  if (oversold || broken || code.uses > 50 || code.uses !== with_code || stats.held + stats.sold !== sold) ++bad;
  for (const agent of agents) agent.destroy();
}
process.exit(bad === 0 ? 0 : 1);
