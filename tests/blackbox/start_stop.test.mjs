// SPDX-License-Identifier: Apache-2.0
// The whole server started and stopped repeatedly, with work in progress each time. FAIRQUEUE_START_STOP:
// repetitions (default 20; the run under AddressSanitizer uses hundreds).
import test from 'node:test';
import { assert, patience, Server, server_for, sleep } from './lib.mjs';

const times = Number(process.env.FAIRQUEUE_START_STOP ?? 20);

test(`started and stopped ${times} times`, { timeout: (30_000 + times * 10_000) * patience }, async (t) => {
  const server = await Server.start({ settings: { 'http.header_timeout': '500ms' } });
  t.after(() => server.kill());
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const fans = await server.customers(times + 1);
  let log = '';
  for (let i = 0; i < times; ++i) {
    await server.join(fans[i], event);
    const socket = i % 3 === 0 ? await server.socket(event, fans[i]) : undefined;
    const half = i % 3 === 1 ? (await server.connect()).send('GET /livez HTT') : undefined;
    const polls =
      i % 2
        ? Array.from({ length: 20 }, () =>
            server.get(`/events/${event}/queue/position`, { token: fans[i] }).catch(() => null),
          )
        : [];
    if (i % 5 === 4) {
      await Promise.all(polls);
      assert.equal((await server.kill()).signal, 'SIGKILL');
    } else {
      await server.stop();
    }
    await Promise.all(polls);
    socket?.close();
    half?.destroy();
    log += server.log;
    await server.launch();
  }
  for (let i = 0; i < times; ++i) assert.equal((await server.position(fans[i], event)).queue_number, i + 1);
  await server.stop();
  assert.ok(
    !/Sanitizer|terminate called|runtime error/.test(log + server.log),
    (log + server.log).slice(-4000),
  );
});

test('stopped at once, before it is ready', { timeout: 120_000 * patience }, async () => {
  for (let i = 0; i < Math.min(times, 40); ++i) {
    const server = await Server.start({ wait: false });
    await sleep(i * 5 * patience);
    server.signal('SIGTERM');
    const end = await Promise.race([server.ended, sleep(20_000 * patience, undefined, { ref: false })]);
    assert.ok(end, `still running: ${server.log}`);
    assert.ok(end.code === 0 || end.signal === 'SIGTERM', `${JSON.stringify(end)} ${server.log}`);
  }
});

test('refused if the limit of open files is too low for the connections', async (t) => {
  const limited = (connections) => ({
    settings: { 'http.max_connections': connections },
    before: ['/bin/bash', '-c', 'ulimit -n 1024 && exec "$@"', '-'],
  });
  const refused = await Server.start({ ...limited(600), wait: false });
  assert.notEqual((await refused.ended).code, 0);
  assert.match(
    refused.log,
    /http\.max_connections is 600, which needs a limit of 1100 open files; the limit is 1024/,
  );
  assert.doesNotMatch(refused.log, /"serving"/);
  await server_for(t, limited(500));
});
