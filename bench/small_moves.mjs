// SPDX-License-Identifier: Apache-2.0
// The hub's cost of a small move of a long line: one customer is admitted every second, and all waiting
// sockets get their new place. CPU and frames a move, above the same sockets without moves.
// Usage: node bench/small_moves.mjs [sockets=10000] [seconds=30]   (after a release build)
import net from 'node:net';
import { sleep } from '../tests/blackbox/lib.mjs';
import { bench, cost_of, start, tokens_of } from './parts.mjs';

const [count, seconds] = [process.argv[2] ?? 10_000, process.argv[3] ?? 30].map(Number);
const at_once = 100;

/** Opens a socket and waits for its `state`; ignores later frames. */
function follow(server, event, token, number) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({
      port: server.port,
      host: '127.0.0.1',
      localAddress: `127.0.0.${1 + (number % 4)}`,
    }); // one address has too few ports
    let head = '';
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      if (head === null) return;
      head += chunk.toString('latin1');
      if (head.includes('"type":"state"')) {
        head = null;
        resolve(socket);
      } else if (head.length > 4 && !head.startsWith('HTTP/1.1 101')) reject(new Error(head.slice(0, 200)));
    });
    socket.write(
      `GET /ws/queue/${event} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n` +
        `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: fairqueue.v1, ${token}\r\n\r\n`,
    );
  });
}

await bench(async (end_with) => {
  const server = await start(end_with);
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const tokens = tokens_of(server, count);
  const sockets = [];
  end_with(() => sockets.forEach((socket) => socket.destroy()));
  for (let from = 0; from < count; from += at_once) {
    const opened = tokens.slice(from, from + at_once).map(async (token, i) => {
      await server.join(token, event);
      return follow(server, event, token, from + i);
    });
    sockets.push(...(await Promise.all(opened)));
  }
  const frames = async () =>
    Number(
      /^fairqueue_websocket_frames_sent_total (\S+)$/m.exec(
        (await server.get('/metrics', { admin: true })).text,
      )[1],
    );
  await sleep(3_000);
  const still = await cost_of(server, () => sleep(seconds * 1000));
  const before = await frames();
  const moving = await cost_of(server, async () => {
    for (let n = 0; n < seconds; ++n) {
      const called = await server.post(`/events/${event}/advance`, { token: organizer, body: { count: 1 } });
      if (called.status !== 200) throw new Error(called.text);
      await sleep(1_000);
    }
  });
  const sent = (await frames()) - before;
  const ms = (cost) => (cost.cpu * 1000) / cost.seconds; // of each second
  console.log(
    `${count} sockets: still ${(ms(still) / 10).toFixed(2)} % of a core, one move a second ${(ms(moving) / 10).toFixed(2)} %; a move: ${((ms(moving) - ms(still)) * (moving.seconds / seconds)).toFixed(1)} ms of CPU, ` +
      `${(sent / seconds).toFixed(0)} frames, ${(((moving.cpu - (still.cpu * moving.seconds) / still.seconds) * 1e6) / Math.max(sent, 1)).toFixed(2)} us a frame`,
  );
});
