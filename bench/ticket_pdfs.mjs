// SPDX-License-Identifier: Apache-2.0
// The PDFs of a crowd beside joins of another event. Each customer has one ticket of an event with a picture
// and asks for its PDF, 64 at the same time; after 503 a customer asks again. Meanwhile, and for 15 s before,
// customers join at an even pace. The askers have nice 10, because they share the cores with the server.
// Prints PDFs a second, the server's CPU for each, their times and the joins' times.
// Usage: node bench/ticket_pdfs.mjs [PDFs=5000] [joins a second=100]   (after a release build)
import { execFileSync, fork } from 'node:child_process';
import os from 'node:os';
import zlib from 'node:zlib';
import { Server, sleep } from '../tests/blackbox/lib.mjs';
import { bench, cpu_seconds, start, tokens_of, waiting_event } from './parts.mjs';

const [count, joins_per_second] = [Number(process.argv[2] ?? 5_000), Number(process.argv[3] ?? 100)];
const askers = 64;
const seconds_of_peace = 15;

const spread = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
  return `p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${at(1)} ms`;
};

/** Debian 12's Node has no zlib.crc32. */
const crc32 = (bytes) =>
  Number(
    execFileSync('python3', ['-c', 'import sys, zlib; print(zlib.crc32(sys.stdin.buffer.read()))'], {
      input: bytes,
    }),
  );

/** A PNG of noise over colours, like a photograph. */
function picture(width, height) {
  const chunk = (type, content) => {
    const body = Buffer.concat([Buffer.from(type), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const pixels = Buffer.alloc(height * (1 + width * 3));
  let noise = 1;
  for (let i = 0; i < pixels.length; ++i) {
    if (i % (1 + width * 3) === 0) continue;
    noise = (noise * 48_271) % 0x7fffffff;
    pixels[i] = 128 + 90 * Math.sin(i * 0.004) + (noise % 30) - 15;
  }
  const parts = [
    chunk('IHDR', head),
    chunk('IDAT', zlib.deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

/** In a process of its own: all PDFs. Answers {times, again, bytes}. */
async function ask_for_all({ port, tickets }) {
  os.setPriority(10);
  const server = Object.assign(new Server(), { port, host: { address: '127.0.0.1' } });
  const seen = { times: [], again: 0, bytes: 0 };
  const one = async ([ticket, token]) => {
    for (;;) {
      const asked = performance.now();
      const answer = await server.get(`/event-tickets/${ticket}.pdf`, { token, unchecked: true });
      if (answer.status === 200) {
        seen.times.push(performance.now() - asked);
        seen.bytes = Math.max(seen.bytes, Number(answer.headers['content-length']));
        return;
      }
      if (answer.status !== 503) throw new Error(answer.text);
      ++seen.again;
      await sleep(Number(answer.headers['retry-after']) * 1000 * (0.5 + Math.random() / 2));
    }
  };
  let next = 0;
  const asker = async () => {
    while (next < tickets.length) await one(tickets[next++]);
  };
  await Promise.all(Array.from({ length: askers }, asker));
  process.send(seen);
}

/** Joins until stopped: {stop}, which resolves to the times. */
function join_steadily(server, event, people) {
  const [times, asked, began] = [[], [], performance.now()];
  let stopped = false;
  const join = async () => {
    const from = performance.now();
    const answer = await server.post(`/events/${event}/queue`, { token: people.pop(), unchecked: true });
    if (answer.status !== 201) throw new Error(answer.text);
    times.push(performance.now() - from);
  };
  const done = (async () => {
    for (let i = 0; !stopped; ++i) {
      await sleep(Math.max(0, began + (i * 1000) / joins_per_second - performance.now()));
      asked.push(join());
    }
    await Promise.all(asked);
    return times;
  })();
  return { stop: () => ((stopped = true), done) };
}

async function sold_tickets(server) {
  const organizer = await server.organizer();
  const event = await server.event(organizer, {
    name: 'Summer night at the lake',
    queue: { policy: 'open' },
    ticket_types: [{ name: 'Standing', price: 0, total: count }],
  });
  const put = await server.request('PUT', `/events/${event.id}/picture`, {
    token: organizer,
    body: picture(1_200, 600),
    headers: { 'Content-Type': 'image/png' },
  });
  if (put.status !== 200) throw new Error(put.text);
  const people = tokens_of(server, count);
  const tickets = [];
  const buy = async (token) => {
    const body = {
      event_id: event.id,
      items: [{ ticket_type_id: event.ticket_types[0].id, quantity: 1 }],
      contact: { email: 'ada@example.org', first_name: 'Ada', last_name: 'Obi' },
    };
    const made = await server.post('/checkout', { token, body });
    const order = await server.get(`/orders/${made.json.order_id}`, { token });
    tickets.push([order.json.event_tickets[0].id, token]);
  };
  while (people.length > 0) await Promise.all(people.splice(0, 50).map(buy));
  return tickets;
}

if (process.send) {
  process.once('message', (wish) => ask_for_all(wish).then(() => process.disconnect()));
} else {
  await bench(async (end_with) => {
    const server = await start(end_with);
    const tickets = await sold_tickets(server);
    const line = await waiting_event(server);
    const people = tokens_of(server, 20_000);
    console.log(`load average ${os.loadavg()[0].toFixed(1)}`);
    const peace = join_steadily(server, line, people);
    await sleep(seconds_of_peace * 1000);
    const before = await peace.stop();
    const [cpu, began] = [cpu_seconds(server.pid), performance.now()];
    const joining = join_steadily(server, line, people);
    const child = fork(process.argv[1]);
    end_with(() => child.kill());
    child.send({ port: server.port, tickets });
    const seen = await new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`the askers ended with ${code}`)));
    });
    const [took, spent] = [(performance.now() - began) / 1000, cpu_seconds(server.pid) - cpu];
    const during = await joining.stop();
    console.log(
      `${seen.times.length} PDFs of ${seen.bytes} bytes in ${took.toFixed(1)} s: ${(seen.times.length / took).toFixed(0)} a second, ` +
        `${((spent * 1000) / seen.times.length).toFixed(1)} ms of the server's CPU each, with ${during.length} joins`,
    );
    console.log(`a PDF     ${spread(seen.times)}; asked again after 503: ${seen.again}`);
    console.log(`a join    ${spread(before)} before, ${before.length} joins`);
    console.log(`a join    ${spread(during)} beside the PDFs`);
    console.log(`load average ${os.loadavg()[0].toFixed(1)}`);
  });
}
