// SPDX-License-Identifier: Apache-2.0
// Tests of the chaos proxy: each toxic has its effect and no other. The COMMIT toxic runs against a real
// Postgres.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ChaosProxy } from './chaos_proxy.mjs';
import { Services, postgres_programs, sql, execute, through } from './services.mjs';

const deadline_ms = 10_000;

/** An echo server behind a proxy, both closed with the test. */
async function echo_behind_proxy(t) {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = await ChaosProxy.start(server.address().port);
  t.after(() => {
    proxy.close();
    server.close();
  });
  return proxy;
}

/** A client: the bytes that it received, and its end: 'end' or an error code. */
async function connect(t, port) {
  const socket = net.connect({ port, host: '127.0.0.1' });
  t.after(() => socket.destroy());
  const client = { socket, parts: [], bytes: 0 };
  client.over = new Promise((resolve) => {
    socket.on('end', () => resolve('end'));
    socket.on('error', (error) => resolve(error.code));
  });
  socket.on('data', (part) => {
    client.parts.push(part);
    client.bytes += part.length;
  });
  client.received = async (count) => {
    const end = Date.now() + deadline_ms;
    while (client.bytes < count && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 2));
    assert.ok(client.bytes >= count, `received ${client.bytes} of ${count} bytes`);
    return Buffer.concat(client.parts);
  };
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return client;
}

/** How a connection ends, which can be before `connect` returns. */
const end_of_connection = (t, port) =>
  connect(t, port).then(
    (client) => client.over,
    (error) => error.code,
  );

test('without toxics every byte passes, in order, and so does the end', async (t) => {
  const proxy = await echo_behind_proxy(t);
  const client = await connect(t, proxy.port);
  const sent = crypto.randomBytes(8 << 20);
  client.socket.end(sent);
  assert.ok((await client.received(sent.length)).equals(sent));
  assert.equal(await client.over, 'end');
  assert.equal(proxy.accepted, 1);
});

test('latency delays both directions and keeps the order', async (t) => {
  const proxy = await echo_behind_proxy(t);
  proxy.latency(50, 20);
  const client = await connect(t, proxy.port);
  const sent = crypto.randomBytes(3 << 20);
  const begin = performance.now();
  client.socket.write(sent.subarray(0, 1));
  await client.received(1);
  assert.ok(performance.now() - begin >= 99, 'there and back');
  for (let at = 1; at < sent.length; at += 100_000) client.socket.write(sent.subarray(at, at + 100_000));
  assert.ok((await client.received(sent.length)).equals(sent));
  proxy.heal();
  let fastest_ms = Infinity; // with latency each takes 100 ms
  for (let echo = 1; echo <= 10; ++echo) {
    const again = performance.now();
    client.socket.write('x');
    await client.received(sent.length + echo);
    fastest_ms = Math.min(fastest_ms, performance.now() - again);
  }
  assert.ok(fastest_ms < 90, 'healed');
});

test('cut ends every connection, with RST or with FIN', async (t) => {
  const proxy = await echo_behind_proxy(t);
  for (const [reset, end] of [
    [true, 'ECONNRESET'],
    [false, 'end'],
  ]) {
    const clients = [await connect(t, proxy.port), await connect(t, proxy.port)];
    for (const client of clients) {
      client.socket.write('x');
      await client.received(1);
    }
    assert.equal(proxy.cut({ reset }), 2);
    for (const client of clients) assert.equal(await client.over, end);
  }
  const client = await connect(t, proxy.port);
  client.socket.write('x');
  await client.received(1);
});

test('half-open: connections stay, nothing arrives; healing cuts those that lost bytes', async (t) => {
  const proxy = await echo_behind_proxy(t);
  const [old, idle] = [await connect(t, proxy.port), await connect(t, proxy.port)];
  for (const client of [old, idle]) {
    client.socket.write('x');
    await client.received(1);
  }
  proxy.half_open();
  const young = await connect(t, proxy.port);
  for (const client of [old, young]) client.socket.write('y');
  const silence = new Promise((resolve) => setTimeout(() => resolve('silence'), 300));
  assert.equal(await Promise.race([old.over, young.over, silence]), 'silence');
  assert.deepEqual([old.bytes, young.bytes], [1, 0]);
  while ([...proxy.links].filter((link) => link.has_lost_bytes).length < 2)
    await new Promise((resolve) => setTimeout(resolve, 5));
  proxy.heal();
  assert.deepEqual(await Promise.all([old.over, young.over]), ['ECONNRESET', 'ECONNRESET']);
  idle.socket.write('z');
  await idle.received(2);
});

test('limit_data ends a connection after a number of bytes in that direction', async (t) => {
  const proxy = await echo_behind_proxy(t);
  for (const direction of ['to_server', 'to_client']) {
    proxy.limit_data({ [direction]: 1000 });
    const client = await connect(t, proxy.port);
    client.socket.write(Buffer.alloc(1500));
    assert.match(await client.over, /^(end|ECONNRESET)$/, direction);
    assert.ok(client.bytes <= 1000, `${direction}: ${client.bytes}`);
    if (direction === 'to_client') assert.equal(client.bytes, 1000);
  }
});

test('refuse: new connections are reset, open ones stay, until it is healed', async (t) => {
  const proxy = await echo_behind_proxy(t);
  const client = await connect(t, proxy.port);
  proxy.refuse();
  assert.equal(await end_of_connection(t, proxy.port), 'ECONNRESET');
  client.socket.write('x');
  await client.received(1);
  proxy.heal();
  const late = await connect(t, proxy.port);
  late.socket.write('x');
  await late.received(1);
});

test('a server that refuses shows as a reset', async (t) => {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  const proxy = await ChaosProxy.start(port);
  t.after(() => proxy.close());
  assert.equal(await end_of_connection(t, proxy.port), 'ECONNRESET');
});

/** Runs one of Postgres' own clients: {code, err}. */
function run(program, args, input) {
  return new Promise((resolve) => {
    const child = execFile(
      path.join(postgres_programs, program),
      args,
      { timeout: deadline_ms },
      (_, __, err) => resolve({ code: child.exitCode, err }),
    );
    child.stdin.end(input);
  });
}

const transaction = 'BEGIN;\nINSERT INTO seen VALUES (1);\nCOMMIT;\n';

/** The same transaction by two clients: psql with simple queries, pgbench with the extended protocol. */
const ways = {
  simple: (url) => run('psql', ['--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', url], transaction),
  extended: (url, script) =>
    run('pgbench', [...pgbench_arguments, '--protocol=extended', `--file=${script}`, url]),
  prepared: (url, script) =>
    run('pgbench', [...pgbench_arguments, '--protocol=prepared', `--file=${script}`, url]),
  pipeline: (url, _, script) =>
    run('pgbench', [...pgbench_arguments, '--protocol=extended', `--file=${script}`, url]),
};
const pgbench_arguments = ['--no-vacuum', '--transactions=1', '--client=1'];

test(
  'a commit is cut before the server hears of it, or after it has happened',
  { timeout: 300_000 },
  async (t) => {
    const services = await Services.start('postgres');
    t.after(() => services.stop());
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fq-chaos-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const script = path.join(folder, 'transaction.sql');
    const pipeline = path.join(folder, 'pipeline.sql');
    fs.writeFileSync(script, transaction);
    fs.writeFileSync(pipeline, `\\startpipeline\n${transaction}\\endpipeline\n`);
    const proxy = await ChaosProxy.start(Number(new URL(services.postgres_url).port), {
      speaks_postgres: true,
    });
    t.after(() => proxy.close());
    const url = through(services.postgres_url, proxy.port);
    await execute(services.postgres_url, 'CREATE TABLE seen (n int)');

    for (const [name, client] of Object.entries(ways))
      for (const [when, rows] of [
        ['before', 0],
        ['after', 1],
        [undefined, 1],
      ]) {
        await execute(services.postgres_url, 'TRUNCATE seen');
        const struck = when && proxy.cut_at_commit(when);
        const { code, err } = await client(url, script, pipeline);
        const about = `${name}, cut ${when}: ${err}`;
        if (when) {
          await struck;
          assert.notEqual(code, 0, about);
          assert.match(err, /connection|server closed|backend died/i, about);
        } else {
          assert.equal(code, 0, about);
        }
        // The server notices the cut connection; its transaction ends with its session.
        const others = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = 'fairqueue' AND pid <> pg_backend_pid()`;
        while ((await sql(services.postgres_url, others))[0].n > 0);
        assert.deepEqual(
          await sql(services.postgres_url, 'SELECT count(*)::int AS n FROM seen'),
          [{ n: rows }],
          about,
        );
      }
  },
);
