// SPDX-License-Identifier: Apache-2.0
// fairqueue-load against the real server: it finds a sound sale sound, and it detects a server that lies.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import {
  assert,
  fairqueue_load,
  free_port,
  patience,
  random_of,
  run,
  seed,
  server_for,
  sleep,
  temporary_folder,
} from './lib.mjs';

const small_sale = {
  total: 100,
  claim_ttl_seconds: 4,
  queue: {
    batch_size: 25,
    admission_interval_ms: 200,
    claim_window_seconds: 2,
    session_ttl_seconds: 8,
    over_admission_factor: 1.1,
  },
};

/**
 * Runs the crowd to its end. `options`: by name, override those of a small sale; a list repeats its option.
 */
function crowd(url, server, event, options = {}, flags = []) {
  const all = { 'fans': 300, 'timeout': 60, 'seed': 7, url, event, 'data-dir': server.data_dir, ...options };
  const args = Object.entries(all).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => [`--${name}`, String(each)]),
  );
  return run(fairqueue_load, [...args, ...flags, '--quiet'], { timeout_ms: 90_000 });
}

test('300 fans for 100 tickets: every check holds', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, small_sale);
  const folder = temporary_folder();
  const end = await crowd(server.url, server, event, {
    json: path.join(folder, 'report.json'),
    html: path.join(folder, 'report.html'),
  });
  assert.equal(end.code, 0, `${end.out}\n${end.err}`);
  assert.ok(JSON.parse(fs.readFileSync(path.join(folder, 'report.json'), 'utf8')), 'a JSON report');
  const html = fs.readFileSync(path.join(folder, 'report.html'), 'utf8');
  assert.match(html, /<svg|<canvas/);
  assert.ok(!/https?:\/\/(?!127\.0\.0\.1)[^"' ]*\.(js|css)/.test(html), 'the report needs no network');
  const stats = await server.stats(organizer, event);
  assert.equal(stats.sold, 100);
  const fees = 150 + 149 + 30; // a ticket: platform fee, 2.9 % of 51.50, and the fixed part
  assert.equal(stats.revenue, 100 * (5000 + fees));
});

test('more tickets than fans, all on WebSockets', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { ...small_sale, total: 150 });
  const end = await crowd(server.url, server, event, {
    'fans': 100,
    'websocket': 100,
    'no-show': 0,
    'abandon': 0,
    'decline': 0,
  });
  assert.equal(end.code, 0, `${end.out}\n${end.err}`);
  assert.equal((await server.stats(organizer, event)).sold, 100);
});

/** A sale of a hall of 120 seats. */
async function seat_sale(server, changes = {}) {
  const organizer = await server.organizer();
  const hall = { sections: [{ section: 'P', ticket_type: 'Standard', rows: 10, seats: 12 }], aisles: 1 };
  const { id: event } = await server.seated_event(organizer, { ...small_sale, ...changes }, hall);
  return { organizer, event };
}

/** Asserts that all seats are sold, none twice, and that all maps are the server's. */
async function expect_seats_sound(server, { organizer, event }, end) {
  assert.equal(end.code, 0, `${end.out}\n${end.err}`);
  for (const name of ['seat_twice', 'seat_map', 'sold_equals_stock'])
    assert.match(end.out, new RegExp(`${name} .* ok `), `${name} was judged`);
  assert.match(end.out, /[1-9]\d* fans' maps/);
  assert.equal((await server.stats(organizer, event)).sold, 120);
}

/** Kills and starts the server again, at most `most` times, until `running` ends: {end, kills}. */
async function under_kills(server, running, most) {
  const random = random_of(seed + 200);
  let over = false;
  const done = running.finally(() => (over = true));
  let kills = 0;
  while (kills < most && !over) {
    await sleep((500 + random() * 1200) * patience);
    if (over) break;
    await server.restart();
    ++kills;
  }
  const end = await done;
  assert.ok(kills >= 2, `the sale was over after ${kills} kills`);
  return end;
}

test('300 fans for 120 seats: no seat twice, all sold, the maps converge', async (t) => {
  const server = await server_for(t);
  const sale = await seat_sale(server);
  const end = await crowd(server.url, server, sale.event, { websocket: 70 }, ['--seats']);
  await expect_seats_sound(server, sale, end);
  assert.match(end.out, /[1-9]\d* by changes alone/);
});

test(
  'seats by checkout with required questions while the server is killed and started again',
  { timeout: 120_000 * patience },
  async (t) => {
    const server = await server_for(t);
    const sale = await seat_sale(server, {
      queue: { ...small_sale.queue, batch_size: 15, admission_interval_ms: 300 },
      questions: [
        { label: 'Diet', kind: 'choice', to: 'attendee', required: true, choices: ['any', 'vegan'] },
        { label: 'I accept the rules', kind: 'consent', required: true },
      ],
    });
    const running = crowd(
      server.url,
      server,
      sale.event,
      { 'buy-by': 'checkout', 'websocket': 70, 'timeout': 90, 'arrival-seconds': 2, seed },
      ['--seats'],
    );
    await expect_seats_sound(server, sale, await under_kills(server, running, 4));
    await server.verified();
  },
);

// -- checkout -------------------------------------------------------------------------------------------

const three_types = {
  total: undefined,
  price: undefined,
  currency: 'EUR',
  ticket_types: [
    { name: 'Standard', price: 1000, total: 60, max_per_order: 4 },
    { name: 'Seat', price: 2505, total: 30, max_per_order: 2 },
    { name: 'Box', price: 9999, total: 10, max_per_order: 1 },
  ],
};

/** An event of three types with a limited code for half the price, and an unlimited one. */
async function promoted_sale(server, changes = {}, uses_max = 15) {
  const organizer = await server.organizer();
  const event = await server.event(organizer, { ...small_sale, ...three_types, ...changes });
  for (const body of [
    { code: 'HALF', discount: { type: 'percent', percent: 50 }, uses_max },
    {
      code: 'LESS',
      discount: { type: 'amount', amount: 333 },
      ticket_type_ids: event.ticket_types.slice(0, 2).map(({ id }) => id),
    },
  ]) {
    const made = await server.post(`/events/${event.id}/promo-codes`, { token: organizer, body });
    assert.equal(made.status, 201, made.text);
  }
  return { organizer, event: event.id };
}

const by_checkout = {
  'buy-by': 'checkout',
  'promo-code': ['half', 'LESS'],
  'json': '-',
  'decline': 10,
  'abandon': 10,
};

/** Asserts that all checks of orders ran and that the gateway's file agrees with the answers to the fans. */
async function expect_sound(server, s, end) {
  assert.equal(end.code, 0, `${end.out}\n${end.err}`);
  const report = JSON.parse(end.out);
  const names = [
    'lost_orders',
    'order_reverted',
    'order_amounts',
    'orders_confirmed',
    'order_stock',
    'promo_uses',
    'order_money',
  ];
  for (const name of names) {
    const check = report.checks.find((each) => each.check === name);
    assert.equal(check.result, 'ok', `${JSON.stringify(check)}\n${end.err}`);
  }
  const stats = await server.stats(s.organizer, s.event);
  assert.equal(stats.sold, report.sold);
  const ledger = execFileSync('sqlite3', [
    '-readonly',
    path.join(server.data_dir, 'sandbox.db'),
    "SELECT coalesce(sum(amount), 0) FROM ledger WHERE kind = 'charge'",
  ]);
  assert.equal(Number(ledger), report.orders.gateway_paid, "the gateway's ledger");
  const codes = await server.get(`/events/${s.event}/promo-codes`, { token: s.organizer });
  for (const code of codes.json.items)
    assert.ok(code.uses > 0 && (code.uses_max === null || code.uses <= code.uses_max), codes.text);
  return report;
}

test('300 fans check out 100 tickets of three types', async (t) => {
  const server = await server_for(t);
  const s = await promoted_sale(server, {}, 8); // about twenty use it
  const end = await crowd(server.url, server, s.event, { ...by_checkout, abandon: 30 });
  const report = await expect_sound(server, s, end);
  assert.equal(report.sold, 100);
  assert.ok(report.checkouts.promo_code_exhausted > 0, 'the limit of the code was felt');
  assert.ok(report.orders.cancelled > 0 && report.orders.success > 0);
});

test('an open event is sold by checkout alone', async (t) => {
  const server = await server_for(t);
  const s = await promoted_sale(server, { queue: { policy: 'open' } });
  const end = await crowd(server.url, server, s.event, { ...by_checkout, 'arrival-seconds': 1 });
  const report = await expect_sound(server, s, end);
  assert.equal(report.sold, 100);
});

test('claims and checkouts side by side', async (t) => {
  const server = await server_for(t);
  const s = await promoted_sale(server);
  const end = await crowd(server.url, server, s.event, { ...by_checkout, 'buy-by': 'mixed' });
  assert.equal(end.code, 0, `${end.out}\n${end.err}`);
  assert.equal((await server.stats(s.organizer, s.event)).sold, 100);
});

test('checkouts while the server is killed and started again', { timeout: 120_000 * patience }, async (t) => {
  const server = await server_for(t);
  const s = await promoted_sale(server, {
    queue: { ...small_sale.queue, batch_size: 15, admission_interval_ms: 300 },
  });
  const running = crowd(server.url, server, s.event, {
    ...by_checkout,
    'timeout': 90,
    seed,
    'arrival-seconds': 2,
  });
  const report = await expect_sound(server, s, await under_kills(server, running, 4));
  assert.equal(report.sold, 100);
});

/** A proxy between crowd and server; `tamper` may change the JSON of answers. */
async function liar(t, server, tamper) {
  const port = await free_port();
  const proxy = http.createServer((incoming, outgoing) => {
    const forward = http.request(
      {
        host: '127.0.0.1',
        port: server.port,
        method: incoming.method,
        path: incoming.url,
        headers: incoming.headers,
        agent: server.agent,
      },
      (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () => {
          let body = Buffer.concat(parts);
          if (/json/.test(answer.headers['content-type'] ?? '') && body.length > 0)
            body = Buffer.from(JSON.stringify(tamper(incoming, JSON.parse(body.toString()))));
          const headers = { ...answer.headers, 'content-length': body.length };
          outgoing.writeHead(answer.statusCode, headers).end(body);
        });
      },
    );
    forward.on('error', () => outgoing.destroy());
    incoming.pipe(forward);
  });
  await new Promise((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${port}`;
}

const lies = {
  'an overtaking (I6)': () => {
    let told = 0;
    return (_, json) => {
      if (json.status === 'ADMITTED' && json.admission_batch && json.queue_number > 20 && told++ < 20)
        json.admission_batch = 1;
      return json;
    };
  },
  'a place that was lost (I7)': () => {
    const seen = new Map();
    return (_, json) => {
      if (json.entry_id && json.status === 'WAITING') {
        const times = (seen.get(json.entry_id) ?? 0) + 1;
        seen.set(json.entry_id, times);
        if (times > 1) json.queue_number += 1000;
      }
      return json;
    };
  },
};

const lies_about_orders = {
  'an order of another price (I4)': {
    check: 'order_amounts',
    tamper: (_, json) => (json.total > 0 && json.contact ? { ...json, total: json.total + 1 } : json),
  },
  'a success taken back (I3)': {
    check: 'orders_confirmed',
    tamper: (incoming, json) => {
      if (/\/orders\?/.test(incoming.url))
        for (const order of json.items) if (order.status === 'success') order.status = 'failed';
      return json;
    },
  },
  'a promo code used once too often': {
    check: 'promo_uses',
    tamper: (incoming, json) => {
      if (/\/promo-codes$/.test(incoming.url)) json.items[0].uses = json.items[0].uses_max + 1;
      return json;
    },
  },
};

for (const [name, make] of Object.entries(lies))
  test(`exit 1 when it sees ${name}`, async (t) => {
    const server = await server_for(t);
    const organizer = await server.organizer();
    const { id: event } = await server.event(organizer, small_sale);
    const url = await liar(t, server, make());
    const end = await crowd(url, server, event, { websocket: 0, fans: 150 });
    assert.equal(end.code, 1, `${end.out}\n${end.err}`);
  });

test('exit 1 when it sees a seat map without a change', async (t) => {
  const server = await server_for(t);
  const sale = await seat_sale(server);
  let told = 0;
  const url = await liar(t, server, (incoming, json) => {
    if (/\/seats\?since=/.test(incoming.url) && json.sold && told++ < 2) delete json.sold;
    return json;
  });
  const all_buy = { 'websocket': 0, 'no-show': 0, 'abandon': 0, 'decline': 0 };
  const end = await crowd(url, server, sale.event, all_buy, ['--seats']);
  assert.equal(end.code, 1, `${end.out}\n${end.err}`);
  assert.match(end.out, /seat_map .* BROKEN /);
});

for (const [name, { check, tamper }] of Object.entries(lies_about_orders))
  test(`exit 1 when it sees ${name}`, async (t) => {
    const server = await server_for(t);
    const s = await promoted_sale(server, { queue: { policy: 'open' } });
    const url = await liar(t, server, tamper);
    const end = await crowd(url, server, s.event, {
      ...by_checkout,
      'fans': 30,
      'abandon': 0,
      'decline': 0,
      'arrival-seconds': 1,
    });
    assert.equal(end.code, 1, `${end.out}\n${end.err}`);
    assert.equal(JSON.parse(end.out).checks.find((each) => each.check === check).result, 'BROKEN', end.err);
  });

test('exit 2 without a server', async () => {
  const end = await run(fairqueue_load, [
    '--url',
    `http://127.0.0.1:${await free_port()}`,
    '--event',
    '0190a000-0000-7000-8000-000000000001',
    '--data-dir',
    temporary_folder(),
    '--fans',
    '5',
    '--timeout',
    '5',
    '--quiet',
  ]);
  assert.equal(end.code, 2, `${end.out}\n${end.err}`);
});
