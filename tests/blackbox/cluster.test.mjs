// SPDX-License-Identifier: Apache-2.0
// Three nodes on one Postgres, connected by mutual TLS. Any node takes any request and any socket, each event
// has one owner, and the loss of a node loses nothing. Without Redis unless a test uses it.
import test from 'node:test';
import { Services, sql } from '../support/services.mjs';
import { Cluster, authority, is_connected } from './cluster.mjs';
import {
  after,
  assert,
  Socket,
  eventually,
  fairqueue,
  patience,
  run,
  sleep,
  temporary_folder,
} from './lib.mjs';
import { check_log, drawn_order, receipt_of } from './fair_log.mjs';
import { access, tenant_on, ticket_of } from './tenant.mjs';

/** Two thirds of a lease remain at least: others that serve within 19 s did not wait for its end. */
const long_lease = { 'ledger.lease': '30s' };
const before_its_end_ms = 19_000;

/** An event of a sale that is open, made at `server`. */
async function open_sale(server, changes = {}) {
  const organizer = await server.organizer();
  const event = await server.event(organizer, changes);
  return { organizer, event: event.id, ticket_types: event.ticket_types };
}

test('any node takes any request; each event has one owner', async (t) => {
  const cluster = await Cluster.start(t);
  const [a, b, c] = cluster.nodes;
  const { organizer, event } = await open_sale(a, { total: 5, queue: { policy: 'operator' } });
  const fans = await a.customers(6);
  const places = [];
  for (const [i, fan] of fans.entries())
    places.push((await cluster.nodes[i % 3].join(fan, event)).queue_number);
  assert.deepEqual(places, [1, 2, 3, 4, 5, 6]);
  for (const server of cluster.nodes) assert.equal((await server.position(fans[5], event)).position, 6);
  for (const server of [b, c]) {
    const stats = await server.get(`/events/${event}/stats`, { token: organizer });
    assert.equal(stats.status, 200); // although it signed up at another node just before
    assert.equal(stats.json.waiting, 6);
  }
  const owner = await cluster.owner_of(event);
  assert.ok(owner);
  const edge = cluster.nodes.find((n) => n !== owner);
  const { text } = await edge.get('/metrics', { admin: true });
  assert.match(text, new RegExp(`^fairqueue_cluster_link_up\\{peer="${owner.name}"\\} 1$`, 'm'));
  assert.match(
    text,
    new RegExp(`^fairqueue_cluster_link_requests_total\\{peer="${owner.name}"\\} [1-9]`, 'm'),
  );
  assert.match(text, new RegExp(`^fairqueue_cluster_link_in_flight\\{peer="${owner.name}"\\} 0$`, 'm'));
  assert.match(text, /^fairqueue_cluster_nodes 3$/m);
  const made_elsewhere = await open_sale(c); // the catalog and the accounts have one owner too
  assert.equal((await b.get(`/events/${made_elsewhere.event}`)).status, 200);
  assert.equal((await a.get(`/events/0197f0c2-6d1a-7000-8000-0004ffffff00`)).status, 404);
});

test('a sale from the first place to the ticket, each step at another node', async (t) => {
  const cluster = await Cluster.start(t);
  const { event } = await open_sale(cluster.nodes[0]);
  for (const [i, fan] of (await cluster.nodes[0].customers(3)).entries()) {
    const at = (k) => cluster.nodes[(i + k) % 3];
    await at(0).join(fan, event);
    const place = await at(1).admitted(fan, event);
    const claim = await at(2).claim(fan, event, place.admission_token);
    const payment = await at(0).open_payment(fan, claim.claim_id);
    const owner = await cluster.owner_of(event);
    await owner.settle(payment.reference, 'pay');
    await eventually(
      'the ticket',
      async () => (await at(1).get(`/claims/${claim.claim_id}`, { token: fan })).json.status === 'CONFIRMED',
    );
  }
});

test('sockets anywhere: a customer at another node gets the admission at once', async (t) => {
  const cluster = await Cluster.start(t);
  const { event } = await open_sale(cluster.nodes[0], {
    queue: { policy: 'capacity', concurrency: 1, admission_interval_ms: 100 },
  });
  const fans = await cluster.nodes[0].customers(4);
  for (const fan of fans) await cluster.nodes[0].join(fan, event);
  const owner = await cluster.owner_of(event);
  const others = cluster.nodes.filter((n) => n !== owner);
  const sockets = [];
  for (const [i, fan] of fans.entries())
    sockets.push(await Socket.open(others[i % 2], `/ws/queue/${event}`, fan));
  t.after(() => sockets.forEach((s) => s.close()));
  for (const socket of sockets) await socket.frame('state');
  const late = [];
  for (const i of [1, 2, 3]) {
    const left = Date.now();
    assert.equal((await owner.delete(`/events/${event}/queue`, { token: fans[i - 1] })).status, 204);
    const told = await sockets[i].frame('admitted');
    late.push(told.received_at - left);
  }
  t.diagnostic(`admitted after ${late.join(', ')} ms`);
});

test('GET /access anywhere, without Redis: at once, and no longer than 5 s after its end', async (t) => {
  const cluster = await Cluster.start(t, { settings: long_lease });
  const tenant = await tenant_on(cluster.nodes[0]);
  const queue = await tenant.queue({ concurrency: 3, session_ttl_seconds: 600 });
  const tickets = [];
  for (const name of ['ann', 'bob', 'eve']) tickets.push(await tenant.join_as(queue, name));
  const tokens = await Promise.all(
    tickets.map(async (ticket) => (await ticket_of(cluster.nodes[0], ticket)).session_token),
  );
  const owner = await cluster.owner_of(queue.id);
  const others = cluster.nodes.filter((n) => n !== owner);
  for (const server of cluster.nodes)
    for (const token of tokens) assert.equal((await access(server, token)).status, 200);
  assert.equal((await others[0].delete('/access', { token: tokens[0] })).status, 204);
  for (const server of others)
    await eventually('the end is known', async () => (await access(server, tokens[0])).status === 410, {
      timeout_ms: 5000,
    });
  const froze = Date.now();
  owner.signal('SIGSTOP');
  t.after(() => owner.signal('SIGCONT'));
  const served = new Set();
  while (served.size < others.length) {
    assert.ok(Date.now() < froze + before_its_end_ms, 'another node answers for it');
    for (const server of others) {
      const asked = Date.now();
      const { status, text } = await access(server, tokens[1]);
      assert.ok(status === 200 || status === 503, text);
      if (status === 503 || asked < froze + 2500) continue; // its vouch was valid for 1.5 s
      assert.notEqual(
        (await cluster.owner_of(queue.id))?.name,
        owner.name,
        'nobody answers from what the frozen owner said',
      );
      served.add(server);
    }
    await sleep(50);
  }
  t.diagnostic(`served by the others ${Date.now() - froze} ms after the owner stood still`);
  owner.signal('SIGCONT');
});

test('the owner of a lobby is killed before the value is entered: another draws, and its log goes on', async (t) => {
  const settings = { 'http.public_url': 'http://tickets.example' }; // the log has one name at all nodes
  const cluster = await Cluster.start(t, { settings });
  const [owner, ...others] = cluster.nodes;
  const fans = await owner.customers(9);
  const organizer = await owner.organizer();
  const opens_at = after(8 * patience); // by then all have joined
  const { id: event } = await owner.event(organizer, {
    total: 100,
    lobby_opens_at: after(-1),
    queue_opens_at: opens_at,
    sale_start: opens_at,
    draw: 'at_opening',
    beacon: { kind: 'announced', announced: 'the numbers of the lottery' },
    queue: { policy: 'operator' },
  });
  await cluster.hand_off(event, owner);
  for (const [i, fan] of fans.entries())
    assert.equal((await cluster.nodes[i % 3].join(fan, event)).position, null);
  const receipt = (server, i) => receipt_of(server, fans[i], `/events/${event}/queue`);
  const receipts = [await receipt(owner, 0), await receipt(others[0], 8)];
  await eventually(
    'the lobby is closed',
    async () => (await owner.get(`/events/${event}`)).json.lobby.status === 'WAITS_FOR_BEACON',
    { timeout_ms: 20_000 },
  );
  const checkpoints = [(await owner.get(`/events/${event}/log/checkpoint`)).text];
  await owner.kill();

  const announced = '4 8 15 16 23 42';
  const entered = await others[0].insist('POST', `/events/${event}/draw/beacon`, {
    token: organizer,
    body: { value: announced },
  });
  assert.equal(entered.status, 200, entered.text);
  const { lobby } = entered.json;
  assert.deepEqual([lobby.status, lobby.people], ['DRAWN', 9]);
  assert.deepEqual((await others[1].get(`/events/${event}`)).json.lobby, lobby);
  const order = drawn_order(
    lobby,
    fans.map((_, i) => ({ number: i + 1 })),
  );
  for (const [i, number] of order.entries()) {
    const place = await eventually('a position', async () => {
      const now = await others[i % 2].position(fans[number - 1], event);
      return now.position && now;
    });
    assert.deepEqual([place.queue_number, place.position], [number, i + 1]);
  }
  const body = { count: 4 };
  assert.equal((await others[1].post(`/events/${event}/advance`, { token: organizer, body })).status, 200);
  receipts.push(await receipt(others[1], 4));
  const told = await eventually('the log has the admissions', async () => {
    const text = await check_log(others[1], ['--event', event], { receipts, checkpoints, announced });
    return /All 4 admissions/.test(text) && text;
  });
  assert.match(told, /passed +entrants +The 9 entrants/);
  assert.match(told, /passed +receipt .* Number 1 joined/); // of several it shows the first, and checks all
});

test('the owner is killed: another takes over before its lease could end, and every place is kept', async (t) => {
  const cluster = await Cluster.start(t, { settings: long_lease });
  const { event } = await open_sale(cluster.nodes[0], { queue: { policy: 'operator' } });
  const other_event = (await open_sale(cluster.nodes[1], { queue: { policy: 'operator' } })).event;
  const fans = await cluster.nodes[0].customers(5);
  for (const [i, fan] of fans.entries()) await cluster.nodes[i % 3].join(fan, event);
  const owner = await cluster.owner_of(event);
  const others = cluster.nodes.filter((n) => n !== owner);
  const killed = Date.now();
  await owner.kill();
  for (const server of others)
    await eventually(
      'it is served again',
      async () => (await server.get(`/events/${event}/queue/position`, { token: fans[4] })).status === 200,
      { timeout_ms: before_its_end_ms },
    );
  t.diagnostic(`served again after ${Date.now() - killed} ms`);
  for (const [i, fan] of fans.entries()) {
    const place = await others[i % 2].position(fan, event);
    assert.equal(place.queue_number, i + 1);
    assert.equal(place.position, i + 1);
  }
  for (const server of others)
    assert.equal((await server.insist('GET', `/events/${other_event}`, {})).status, 200);
  await owner.launch();
  await cluster.whole();
  assert.equal((await owner.position(fans[0], event)).position, 1);
});

test('a node is killed under 3,000 sockets: all reconnect to others within 10 s, each at its place, and none is admitted twice', async (t) => {
  const cluster = await Cluster.start(t, { settings: no_limits });
  const [a, b, c] = cluster.nodes;
  const { event, organizer } = await open_sale(a, {
    total: 5000,
    queue: { policy: 'operator', concurrency: 1000 },
  });
  await cluster.hand_off(event, c);
  const fans = await a.customers(3000);
  const numbers = [];
  for (let begin = 0; begin < fans.length; begin += 200)
    numbers.push(
      ...(await Promise.all(
        fans.slice(begin, begin + 200).map(async (fan) => (await a.join(fan, event)).queue_number),
      )),
    );
  assert.equal(new Set(numbers).size, 3000);
  const admitted = new Map(); // number -> admission numbers it received
  const listen = (socket, number) =>
    socket.ws.on('message', (data) => {
      const frame = JSON.parse(data.toString());
      if (frame.type === 'admitted')
        admitted.set(number, (admitted.get(number) ?? new Set()).add(frame.admission_token));
    });
  const open = async (server, i) => {
    const socket = await Socket.open(server, `/ws/queue/${event}`, fans[i]);
    listen(socket, numbers[i]);
    await socket.frame('state', { timeout_ms: 20_000, every_ms: 50 });
    return socket;
  };
  const sockets = [];
  t.after(() => sockets.forEach((s) => s.close()));
  for (let begin = 0; begin < fans.length; begin += 200)
    sockets.push(...(await Promise.all(fans.slice(begin, begin + 200).map((_, k) => open(b, begin + k)))));
  const back = sockets.map(async (socket, i) => {
    await socket.closed;
    for (;;) {
      await sleep(Math.random() * 1500); // full jitter, as the SDK's
      const again = await open([a, c][i % 2], i).catch(() => undefined);
      if (again) return again;
    }
  });
  const killed = Date.now();
  await b.kill();
  const returned = await Promise.all(back);
  returned.forEach((socket, i) => (sockets[i] = socket));
  const state_of = (socket) => socket.frames.find((f) => f.type === 'state');
  const took = returned.map((socket) => state_of(socket).received_at - killed).sort((x, y) => x - y);
  t.diagnostic(`back after ${took[1500]} ms (half), ${took[2970]} ms (99 %), ${took.at(-1)} ms (all)`);
  assert.ok(took.at(-1) <= 10_000, `the last was back after ${took.at(-1)} ms`);
  sockets.forEach((socket, i) => assert.equal(state_of(socket).entry.queue_number, numbers[i]));
  const advanced = await a.post(`/events/${event}/advance`, { token: organizer, body: { count: 500 } });
  assert.equal(advanced.json?.admitted, 500, advanced.text);
  await eventually('500 are told', () => admitted.size === 500, { timeout_ms: 10_000 });
  await sleep(500);
  assert.deepEqual(
    [...admitted.keys()].sort((x, y) => x - y),
    [...numbers].sort((x, y) => x - y).slice(0, 500),
  );
  for (const tokens of admitted.values()) assert.equal(tokens.size, 1);
});

/** A load over all events at the nodes of `servers()`; `stop()` returns the failures. */
async function load_on(cluster, events, servers, fans_count = 20) {
  const fans = await cluster.nodes[0].customers(fans_count);
  const failures = [];
  let asked = 0;
  let over = false;
  const ask = async (fan, i) => {
    for (let k = i; !over; ++k) {
      const among = servers();
      const server = among[k % among.length];
      const event = events[k % events.length];
      const answer =
        k % 2
          ? await server.post(`/events/${event}/queue`, { token: fan })
          : await server.get(`/events/${event}`);
      ++asked;
      if (answer.status >= 300) failures.push(`${answer.status} ${answer.text}`);
      await sleep(5);
    }
  };
  const running = fans.map(ask);
  return async (t) => {
    over = true;
    await Promise.all(running);
    t.diagnostic(`${asked} requests`);
    assert.deepEqual(failures.slice(0, 5), [], `${failures.length} of ${asked} failed`);
  };
}

const no_limits = Object.fromEntries(
  ['anonymous_requests_per_ip', 'customer_requests', 'joins_per_customer'].map((name) => [
    `rate_limits.${name}_per_minute`,
    0,
  ]),
);

async function events_at(server, count, changes = {}) {
  const organizer = await server.organizer();
  const events = [];
  for (let i = 0; i < count; ++i)
    events.push((await server.event(organizer, { queue: { policy: 'operator' }, ...changes })).id);
  return events;
}

test('a node is drained under load: its events go to the others, and no request fails', async (t) => {
  const cluster = await Cluster.start(t, { settings: no_limits });
  const [a, b, c] = cluster.nodes;
  const events = await events_at(a, 12);
  const [fan] = await a.customers(1);
  for (const event of events) await a.join(fan, event);
  const before = await cluster.owners_of(events);
  const leaving = [a, b, c].find((n) => before.includes(n));
  const stop = await load_on(cluster, events, () => cluster.nodes);
  await sleep(500);
  const drained = await run(fairqueue, ['cluster', 'drain', '--data_dir', leaving.data_dir]);
  await sleep(500);
  await stop(t);
  assert.equal(drained.code, 0, drained.err);
  const after = await cluster.owners_of(events);
  assert.ok(!after.includes(leaving), 'it owns nothing');
  assert.ok(after.every(Boolean), 'everything has an owner');
  for (const event of events)
    assert.equal((await leaving.position(fan, event)).position, 1, 'it still takes requests for all');
});

test('a rolling restart: no request to the nodes that are up fails', async (t) => {
  const cluster = await Cluster.start(t, { settings: no_limits });
  const events = await events_at(cluster.nodes[0], 9);
  let up = cluster.nodes;
  const stop = await load_on(cluster, events, () => up);
  for (const node of cluster.nodes) {
    up = cluster.nodes.filter((n) => n !== node);
    await sleep(300); // time for a load balancer to notice
    await node.stop();
    await node.launch();
    await cluster.whole();
    up = cluster.nodes;
  }
  await stop(t);
});

test('a node joins and takes its share, a node leaves and gives it back, and no request fails', async (t) => {
  const cluster = await Cluster.start(t, { nodes: 2, settings: no_limits });
  const long_ago = { sale_start: new Date(Date.now() - 86_400_000).toISOString() }; // around its opening an event stays where it is
  const settled = async () =>
    Number((await sql(cluster.ledger_url, 'SELECT count(*) AS n FROM node WHERE is_settled'))[0].n);
  await eventually('both have settled', async () => (await settled()) === 2, { timeout_ms: 15_000 });
  await sleep(2500); // after a heartbeat each node sees that the other accepts events; before, one would start all
  const events = await events_at(cluster.nodes[0], 200, long_ago);
  for (const event of events) assert.equal((await cluster.nodes[0].get(`/events/${event}`)).status, 200);
  const shares = async () => {
    const owners = await cluster.owners_of(events);
    return cluster.nodes.map((n) => owners.filter((o) => o === n).length);
  };
  const stop = await load_on(cluster, events, () => cluster.nodes.slice(0, 2));
  await cluster.add('node-c');
  await cluster.whole();
  const even = await eventually(
    'an even share',
    async () => {
      const counts = await shares();
      return Math.min(...counts) >= 54 && Math.max(...counts) <= 80 && counts; // of 66.7, within 20 %
    },
    { timeout_ms: 90_000, every_ms: 500 }, // about 40 s if one node starts with all
  );
  t.diagnostic(`shares ${even}`);
  await cluster.nodes[2].stop();
  cluster.nodes.pop();
  await eventually(
    'the others have everything',
    async () => (await shares()).reduce((sum, n) => sum + n, 0) === 200,
    { timeout_ms: 20_000 },
  );
  await stop(t);
});

test('the operator moves an event to a node, from any node', async (t) => {
  const cluster = await Cluster.start(t, { settings: no_limits });
  const { event } = await open_sale(cluster.nodes[0], { queue: { policy: 'operator' } });
  const [fan] = await cluster.nodes[0].customers(1);
  const { queue_number } = await cluster.nodes[0].join(fan, event);
  const stop = await load_on(cluster, [event], () => cluster.nodes);
  for (const to of [...cluster.nodes, ...cluster.nodes]) await cluster.hand_off(event, to);
  await stop(t);
  for (const server of cluster.nodes)
    assert.equal((await server.position(fan, event)).queue_number, queue_number);
  const hand_off = (id, to) =>
    run(fairqueue, [
      'cluster',
      'handoff',
      '--data_dir',
      cluster.nodes[0].data_dir,
      '--event',
      id,
      '--to',
      to,
    ]);
  for (const [id, to, why] of [
    [event, 'node-z', /no such node/],
    ['0197f0c2-6d1a-7000-8000-0004ffffff00', 'node-a', /no such event/],
    ['nonsense', 'node-a', /UUID/],
  ]) {
    const refused = await hand_off(id, to);
    assert.equal(refused.code, 2);
    assert.match(refused.err, why);
  }
});

test('a node with another authority’s certificate is refused', async (t) => {
  const cluster = await Cluster.start(t, { nodes: 2 });
  const stranger = await cluster.add('node-z', { certificates: await authority() });
  await sleep(3000);
  assert.equal(await is_connected(stranger, 2), false);
  await eventually('node-z is listed', async () => {
    const status = await run(fairqueue, ['cluster', 'status', '--data_dir', cluster.nodes[0].data_dir]);
    return status.code === 1 && /node-z\t.*not connected/.test(status.out);
  });
  assert.ok((await is_connected(cluster.nodes[0], 1)) === false, 'not all are connected');
  const { event } = await open_sale(cluster.nodes[0]);
  const seen = await cluster.nodes[1].get(`/events/${event}`);
  assert.equal(seen.status, 200, `${seen.text} ${(await cluster.owner_of(event))?.name}`);
});

test('a node with other keys gets no connection, and the log gives the reason', async (t) => {
  const cluster = await Cluster.start(t, { nodes: 1 });
  const [a] = cluster.nodes;
  const b = await cluster.add('node-b', { own_keys: true });
  const told = await eventually('the reason', async () => {
    const { out } = await run(fairqueue, ['cluster', 'status', '--data_dir', a.data_dir]);
    return out.includes('it has other keys') && out;
  });
  assert.match(told, /node-b.*not connected: it has other keys: copy <data_dir>\/keys/);
  assert.equal(await is_connected(b, 1), false);
});

test('a cluster without certificates is refused, except on this machine with the option for it', async (t) => {
  const services = await Services.start('postgres');
  t.after(() => services.stop());
  const check = (settings) =>
    run(fairqueue, [
      'check-config',
      ...Object.entries({
        'ledger.url': services.postgres_url,
        'data_dir': temporary_folder(),
        ...settings,
      }).flatMap(([k, v]) => [`--${k}`, v]),
    ]);
  const refused = await check({ 'cluster.listen': '127.0.0.1:4700' });
  assert.equal(refused.code, 2);
  assert.match(refused.err, /cluster\.certificate/);
  assert.equal((await check({ 'cluster.listen': '127.0.0.1:4700', 'cluster.insecure': 'true' })).code, 0);
  for (const settings of [
    { 'cluster.listen': '0.0.0.0:4700' },
    { 'cluster.listen': '127.0.0.1:4700', 'cluster.advertise': 'db.example:4700' },
  ]) {
    const open = await check({ ...settings, 'cluster.insecure': 'true' });
    assert.equal(open.code, 2, JSON.stringify(settings));
    assert.match(open.err, /cluster\.insecure/);
  }
});
