// SPDX-License-Identifier: Apache-2.0
// 1,000 simultaneous checkouts at an open event with 300 tickets of three types; half of them use a promo
// code of 50 uses. wrk opens one connection for each fan and sends all checkouts at once
// (checkout_burst.lua). No one pays, so held tickets are the promised ones.
// Prints tickets held, tickets oversold (I1), uses of the code, p50/p95/p99 of the answer, and the number of
// 5xx.
// Usage: node bench/checkout.mjs [fans=1000] [rounds=3]   (after a release build; FAIRQUEUE_BIN names
// another)
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

const [fans, rounds] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 3)];
const bin = process.env.FAIRQUEUE_BIN ?? 'build/release/app/fairqueue';
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('FAIRQUEUE_')),
); // the server reads them as options
const data = fs.mkdtempSync(path.join(os.tmpdir(), 'fairqueue-bench-'));
const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const port = 8099;
const server = spawn(
  bin,
  [
    'serve',
    '--demo',
    '--http.listen',
    `127.0.0.1:${port}`,
    '--http.admin_listen',
    '127.0.0.1:9099',
    '--data_dir',
    data,
  ],
  { stdio: 'ignore', env },
);
server.on('exit', () => {
  console.error('the server ended; is the port in use?');
  process.exit(1);
});
process.on('exit', () => {
  server.removeAllListeners('exit');
  server.kill('SIGKILL');
  fs.rmSync(data, { recursive: true, force: true });
});

const agent = new http.Agent({ keepAlive: true });
const request = (method, target, token, body) =>
  new Promise((resolve, reject) => {
    const bytes = body && JSON.stringify(body);
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(bytes && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
    };
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
  if (answer.status >= 300)
    throw new Error(`${args[0]} ${args[1]}: status ${answer.status}: ${JSON.stringify(answer.json)}`);
  return answer.json;
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const is_ready = () =>
  request('GET', '/readyz').then(
    (a) => a.status === 200,
    () => false,
  );
while (!(await is_ready()) || !fs.existsSync(path.join(data, 'demo.json'))) await sleep(50);

const demo = JSON.parse(fs.readFileSync(path.join(data, 'demo.json'), 'utf8'));
const organizer = (
  await must('POST', '/auth/organizer/login', undefined, {
    email: demo.organizer_email,
    password: demo.organizer_password,
  })
).token;
/// All fans check out at `event` at once. Returns the number of answers, p50, p95 and p99 in ms, and broken
/// connections.
const burst = (tokens, event) => {
  const body = (i) => ({
    event_id: event.id,
    contact: { first_name: 'Fan', last_name: String(i), email: `fan-${i}@example.org` },
    items: [{ ticket_type_id: event.ticket_types[i % 3].id }],
    ...(i % 2 && { promo_code: 'HALF' }),
  });
  const file = path.join(data, 'burst.txt');
  fs.writeFileSync(file, tokens.map((token, i) => `${token} ${JSON.stringify(body(i))}\n`).join(''));
  const args = [
    '-t1',
    `-c${tokens.length}`,
    '-d4s',
    '-s',
    path.join(here, 'checkout_burst.lua'),
    `http://127.0.0.1:${port}`,
    '--',
    file,
  ];
  return JSON.parse(execFileSync('wrk', args).toString().trim().split('\n').pop());
};
/// The server's count of 5xx.
const server_errors = async () => {
  const text = await (await fetch('http://127.0.0.1:9099/metrics')).text();
  return [...text.matchAll(/^fairqueue_http_requests_total\{[^}]*status="5[^}]*\} (\d+)/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
};
const held_orders = async (event, token) => {
  const all = [];
  for (let cursor = ''; cursor !== null;) {
    const page = await must(
      'GET',
      `/events/${event.id}/orders?limit=200${cursor && `&cursor=${cursor}`}`,
      token,
    );
    all.push(
      ...page.items.filter((order) => ['pending', 'awaiting_payment', 'success'].includes(order.status)),
    );
    cursor = page.next_cursor;
  }
  return all;
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
  await must('POST', `/events/${event.id}/promo-codes`, organizer, {
    code: 'HALF',
    discount: { type: 'percent', percent: 50 },
    uses_max: 50,
  });
  const listed = execFileSync(
    bin,
    ['token', '--kind', 'customer', '--count', String(fans), '--data_dir', data],
    { stdio: ['ignore', 'pipe', 'ignore'], env },
  );
  const tokens = listed.toString().trim().split('\n');
  const errors_before = await server_errors(); // /readyz says 503 while it starts
  const seen = burst(tokens, event);
  const broken = seen.broken + (await server_errors()) - errors_before + (fans - seen.answers);
  const orders = await held_orders(event, organizer);
  const stats = await must('GET', `/events/${event.id}/stats`, organizer);
  const [code] = (await must('GET', `/events/${event.id}/promo-codes`, organizer)).items;
  const with_code = orders.filter((order) => order.promo_code === 'HALF').length;
  const per_type = new Map(event.ticket_types.map((type) => [type.id, 0]));
  for (const item of orders.flatMap((order) => order.items))
    per_type.set(item.ticket_type_id, per_type.get(item.ticket_type_id) + item.quantity);
  const sold = [...per_type.values()].reduce((sum, n) => sum + n, 0);
  let oversold = 0;
  for (const type of event.ticket_types) oversold += Math.max(0, per_type.get(type.id) - type.total);
  console.log(
    `round ${round}: of ${fans} checkouts at once ${seen.answers} answered, POST /checkout p50 ${seen.p50}  p95 ${seen.p95}  p99 ${seen.p99} ms`,
  );
  console.log(
    `  sold ${sold} of 300 (stats: ${stats.held + stats.sold}), oversold ${oversold}, code used ${code.uses} of 50 (${with_code} orders have it), 5xx or dropped ${broken}`,
  );
  if (oversold || broken || code.uses > 50 || code.uses !== with_code || stats.held + stats.sold !== sold)
    ++bad;
}
process.exit(bad === 0 ? 0 : 1);
