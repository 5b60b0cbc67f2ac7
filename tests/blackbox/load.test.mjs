// SPDX-License-Identifier: Apache-2.0
// fairqueue-load against the real server: a sale it finds in order, and a server that lies, which it must notice.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { assert, fairqueue_load, free_port, run, server_for, temporary_folder } from './lib.mjs';

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

/** Runs the crowd to its end. `options`: by name, over those of a small sale. */
function crowd(url, server, event, options = {}) {
  const all = { fans: 300, timeout: 60, seed: 7, url, event, 'data-dir': server.data_dir, ...options };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return run(fairqueue_load, [...args, '--quiet'], { timeout_ms: 90_000 });
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
  assert.equal(stats.revenue, 100 * 5000);
});

test('more tickets than fans, everybody on a WebSocket', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { ...small_sale, total: 150 });
  const end = await crowd(server.url, server, event, {
    fans: 100,
    websocket: 100,
    'no-show': 0,
    abandon: 0,
    decline: 0,
  });
  assert.equal(end.code, 0, `${end.out}\n${end.err}`);
  assert.equal((await server.stats(organizer, event)).sold, 100);
});

/** Between crowd and server: passes everything on, and lets `tamper` change the JSON of answers. */
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

for (const [name, make] of Object.entries(lies))
  test(`exit 1 when it sees ${name}`, async (t) => {
    const server = await server_for(t);
    const organizer = await server.organizer();
    const { id: event } = await server.event(organizer, small_sale);
    const url = await liar(t, server, make());
    const end = await crowd(url, server, event, { websocket: 0, fans: 150 });
    assert.equal(end.code, 1, `${end.out}\n${end.err}`);
  });

test('exit 2 when there is nobody to talk to', async () => {
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
