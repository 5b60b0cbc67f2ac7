// SPDX-License-Identifier: Apache-2.0
// Rotation of keys while every kind of token is in use: no honest request is refused, and what a removed key
// has signed is.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as jose from 'jose';
import {
  Server,
  assert,
  eventually,
  expect_problem,
  fairqueue,
  forge,
  run,
  sleep,
  temporary_folder,
} from './lib.mjs';
import { access, cli, tenant_on, ticket_of } from './tenant.mjs';

const kinds = ['organizer', 'customer', 'ticket', 'operator', 'session', 'passes', 'sandbox'];
const kid_of = (token) => jose.decodeProtectedHeader(token).kid;

async function server_for(t) {
  const server = await Server.start({ settings: { 'rate_limits.access_per_session_per_minute': 1_000_000 } });
  t.after(() => server.stop());
  return server;
}

/** SIGHUP; waits until the keys are read. */
async function reload(server, message = '"keys read anew"') {
  const before = server.log.split(message).length;
  process.kill(server.pid, 'SIGHUP');
  await eventually(`the log says ${message}`, () => server.log.split(message).length > before);
}

/** Each of them signs in or joins, and returns honest requests that must go on to succeed. */
async function crowd_of(server) {
  const { email, password } = await server.new_organizer();
  const organizer = async () => {
    const login = await server.post('/auth/organizer/login', { body: { email, password } });
    assert.equal(login.status, 200, login.text);
    return login.json.token;
  };
  const first = await organizer();
  const event = await server.event(first);
  await server.event(first);
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ concurrency: 100 });
  const key_set = jose.createRemoteJWKSet(new URL(`${server.url}/.well-known/jwks.json`), {
    cooldownDuration: 0,
  });
  const get = async (target, token) => {
    const answer = await server.get(target, { token });
    assert.equal(answer.status, 200, `GET ${target}: ${answer.text}`);
    return answer.json;
  };
  const join = () => tenant.join_as(queue, crypto.randomUUID());
  return {
    event,
    kid_of_server: async () => kid_of((await join()).ticket_token),
    tokens: async () => {
      const ticket = await join();
      const inside = await ticket_of(server, ticket);
      const of_organizer = await organizer();
      const page = await get('/events?mine=true&limit=1', of_organizer);
      const customer = await server.customer();
      assert.equal((await server.post(`/events/${event.id}/queue`, { token: customer })).status, 201);
      return {
        customer,
        organizer: of_organizer,
        operator: (await tenant.sign_in()).token,
        ticket,
        session: inside.session_token,
        pass: inside.admission_pass,
        cursor: page.next_cursor,
      };
    },
    use: async (x) => {
      await get(`/events/${event.id}/queue/position`, x.customer);
      await get(`/events?mine=true&limit=1&cursor=${x.cursor}`, x.organizer);
      await get(`/queues/${queue.id}/stats`, x.operator);
      await ticket_of(server, x.ticket);
      const granted = await access(server, x.session);
      assert.equal(granted.status, 200, granted.text);
      await jose.jwtVerify(x.pass, key_set, { issuer: 'fairqueue', audience: queue.id });
    },
  };
}

test('all keys rotate twice under load without a refused honest request', async (t) => {
  const server = await server_for(t);
  const crowd = await crowd_of(server);
  const generations = [await crowd.tokens()];
  let rounds = 0;
  let going = true;
  const load = (async () => {
    for (; going; ++rounds) for (const x of generations) await crowd.use(x);
  })();
  let refused;
  load.catch((error) => {
    refused = error;
  });
  for (let rotation = 0; rotation < 2; ++rotation) {
    const files = (await cli(server, 'keys', 'rotate', '--delay', '1s')).split('\n');
    assert.equal(files.length, kinds.length);
    const signs_from = Number(path.parse(files[0]).name);
    await reload(server);
    const early = await crowd.tokens();
    if (Date.now() < signs_from)
      // a slow machine may be late
      assert.equal(kid_of(early.customer), kid_of(generations.at(-1).customer), 'it only verifies at first');
    // Not by the log: after a late reload there is no further line.
    const kid_before = kid_of(generations.at(-1).ticket.ticket_token);
    await eventually(
      'the keys begin to sign by themselves',
      async () => (await crowd.kid_of_server()) !== kid_before,
    );
    const late = await crowd.tokens();
    for (const kind of ['customer', 'organizer', 'operator', 'pass'])
      assert.notEqual(kid_of(late[kind]), kid_of(generations.at(-1)[kind]), kind);
    assert.notEqual(kid_of(late.ticket.ticket_token), kid_of(generations.at(-1).ticket.ticket_token));
    generations.push(early, late);
    const before = rounds;
    await eventually('two rounds with all tokens', () => {
      if (refused) throw refused;
      return rounds > before + 1;
    });
  }
  going = false;
  await load;
  t.diagnostic(`rounds=${rounds} generations=${generations.length}`);

  // A key leaked: what its kind has signed ends, all else goes on.
  const last = generations.at(-1);
  const [file] = (await cli(server, 'keys', 'rotate', '--end-old', 'customer')).split('\n');
  assert.deepEqual(
    fs.readdirSync(path.dirname(file)).map((name) => path.join(path.dirname(file), name)),
    [file],
    'no older key is left',
  );
  await reload(server);
  const position = (token) => server.get(`/events/${crowd.event.id}/queue/position`, { token });
  for (const x of generations) expect_problem(await position(x.customer), 401);
  await crowd.use({ ...last, customer: (await crowd.tokens()).customer });
});

test('nodes that do not have a new key yet refuse nobody', async (t) => {
  const a = await server_for(t);
  const keys = (server) => path.join(server.data_dir, 'keys');
  const data_dir = temporary_folder();
  fs.cpSync(keys(a), path.join(data_dir, 'keys'), { recursive: true });
  const b = await Server.start({ data_dir });
  t.after(() => b.stop());
  const event = await b.event(await b.organizer());
  const old = await a.customer();
  /** A token as node a signs it now, used at node b. */
  const joins = async () => {
    const token = await a.customer();
    const joined = await b.post(`/events/${event.id}/queue`, { token });
    assert.equal(joined.status, 201, joined.text);
    return kid_of(token);
  };
  const [file] = (await cli(a, 'keys', 'rotate', 'customer', '--delay', '1h')).split('\n');
  await reload(a);
  await joins();
  fs.cpSync(keys(a), keys(b), { recursive: true });
  await joins();
  await reload(b);
  // The hour has passed: a key signs from the time in its name on.
  const now = String(Date.now()).padStart(path.parse(file).name.length, '0');
  fs.renameSync(file, path.join(path.dirname(file), `${now}${path.extname(file)}`));
  await reload(a);
  assert.notEqual(await joins(), kid_of(old), 'node a signs with the new key');
  assert.equal((await b.post(`/events/${event.id}/queue`, { token: old })).status, 201);
});

test('a key of another installation opens nothing, and refused files change nothing', async (t) => {
  const server = await server_for(t);
  const event = await server.event(await server.organizer());
  const customer = await server.customer();
  assert.equal((await server.post(`/events/${event.id}/queue`, { token: customer })).status, 201);
  const position = (token) => server.get(`/events/${event.id}/queue/position`, { token });
  const elsewhere = temporary_folder();
  const foreign = await run(fairqueue, ['token', '--data_dir', elsewhere]);
  assert.equal(foreign.code, 0, foreign.err);
  expect_problem(await position(foreign.out.trim()), 401);
  const { k } = JSON.parse(fs.readFileSync(path.join(elsewhere, 'keys/customer.jwk'), 'utf8'));
  expect_problem(await position(forge(server, 'customer', { key: Buffer.from(k, 'base64url') })), 401);

  const [file] = (await cli(server, 'keys', 'rotate', 'customer', '--delay', '0s')).split('\n');
  fs.chmodSync(file, 0o644);
  await reload(server, '"the keys are refused; those in use stay"');
  assert.equal((await position(customer)).status, 200);
  fs.chmodSync(file, 0o600);
  await reload(server);
  assert.equal((await position(customer)).status, 200);
  assert.notEqual(kid_of(await server.customer()), kid_of(customer));

  const without_names = await run(fairqueue, ['keys', 'rotate', '--end-old', '--data_dir', server.data_dir]);
  assert.equal(without_names.code, 2, without_names.err);
  const unknown = await run(fairqueue, ['keys', 'rotate', 'stored', '--data_dir', server.data_dir]);
  assert.notEqual(unknown.code, 0);
});

test('an installation of before knows its visitors after an upgrade and a rotation', async (t) => {
  const data_dir = temporary_folder();
  const server = await Server.start({ data_dir });
  t.after(() => server.stop());
  const keys = path.join(data_dir, 'keys');
  const tenant = await tenant_on(server);
  const queue = await tenant.queue();
  await server.stop();
  // A folder of before: session.key is also the key of what is stored.
  fs.rmSync(path.join(keys, 'stored.key'));
  await server.launch();
  assert.equal(
    fs.readFileSync(path.join(keys, 'stored.key'), 'utf8'),
    fs.readFileSync(path.join(keys, 'session.key'), 'utf8'),
  );
  const ann = await tenant.join_as(queue, 'ann');
  await cli(server, 'keys', 'rotate', '--end-old', 'session');
  await reload(server);
  assert.equal((await tenant.join_as(queue, 'ann')).ticket_id, ann.ticket_id, 'the same subject');
});
