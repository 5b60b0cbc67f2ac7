// SPDX-License-Identifier: Apache-2.0
// Two nodes on one Postgres and one Redis. The node that does not own a queue admits visitors by the owner's
// data in Redis, never by data older than 5 s (I15). Both count a client's requests together.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { ChaosProxy } from '../support/chaos_proxy.mjs';
import { Services, redis, through } from '../support/services.mjs';
import { assert, eventually, expect_problem, server_for, sleep, temporary_folder } from './lib.mjs';
import { access, tenant_on, ticket_of } from './tenant.mjs';

/** I15's five seconds, less the two seconds of nginx's cache. */
const bound_ms = 3000;

/**
 * Two nodes; the first owns a queue of three with four visitors. The first reaches Redis through a proxy that
 * can break.
 */
async function two_nodes(t, { lease = '20s' } = {}) {
  const services = await Services.start('postgres', 'redis');
  t.after(() => services.stop());
  const proxy = await ChaosProxy.start(Number(new URL(services.redis_url).port));
  t.after(() => proxy.close());
  const settings = {
    'ledger.url': services.postgres_url,
    'ledger.lease': lease,
    'workers.reconciliation_interval': '5s',
  };
  const owner = await server_for(t, {
    settings: { ...settings, 'cache.url': through(services.redis_url, proxy.port) },
  });
  const folder = temporary_folder();
  fs.cpSync(path.join(owner.data_dir, 'keys'), path.join(folder, 'keys'), { recursive: true });
  const other = await server_for(t, {
    settings: { ...settings, 'cache.url': services.redis_url },
    data_dir: folder,
  });
  const tenant = await tenant_on(owner);
  const queue = await tenant.queue({ concurrency: 3, session_ttl_seconds: 600 });
  const tickets = [];
  for (const name of ['Zoë 足球', 'bob', 'eve', 'dan']) tickets.push(await tenant.join_as(queue, name));
  const token = async (i) => (await ticket_of(owner, tickets[i])).session_token;
  const tokens = await Promise.all([0, 1, 2].map(token));
  const at_other = (i, query = '') => access(other, tokens[i], query);
  await eventually('the other node lets them in', async () => (await at_other(0)).status === 200);
  /** Asks again while the other node does not know: an owner that stands still tells it nothing. */
  const word_of_other = (of, query = '') => other.insist('GET', `/access${query}`, { token: of });
  return { services, proxy, owner, other, tenant, queue, tickets, tokens, token, at_other, word_of_other };
}

/** Milliseconds after `what` in which the other node still admits visitor `i`; it must end with `status`. */
async function let_in_for_ms({ at_other }, i, status, what) {
  await what();
  const from = Date.now();
  let let_in = from; // when the last visit that was let in was asked for
  const last = await eventually('an end', async () => {
    const asked = Date.now();
    const answer = await at_other(i);
    if (answer.status === 200) let_in = asked;
    const knows_nothing = answer.status === 503 && status !== 503; // the owner stood still
    return answer.status !== 200 && !knows_nothing && answer;
  });
  assert.equal(last.status, status, last.text);
  return let_in - from;
}

test('a visitor and the end of the visit are known at the other node', async (t) => {
  const nodes = await two_nodes(t);
  const { other, owner, queue, tickets, tenant, tokens, word_of_other } = nodes;
  const granted = await word_of_other(tokens[0], `?queue_id=${queue.id}`);
  assert.equal(granted.status, 200, granted.text);
  assert.equal(granted.json.ticket_id, tickets[0].ticket_id);
  assert.equal(granted.json.subject, 'Zoë 足球');
  assert.equal(decodeURIComponent(granted.headers['x-fairqueue-subject']), 'Zoë 足球');
  assert.match(granted.headers['cache-control'], /^private, max-age=[01]$/);
  assert.deepEqual(granted.json, (await access(owner, tokens[0])).json, 'as the owner says');
  const with_key = () => access(other, tokens[0], '', { 'X-API-Key': tenant.server });
  await eventually('the key is known there', async () => (await with_key()).status === 200);
  const match_b = await tenant.queue();
  expect_problem(await word_of_other(tokens[0], `?queue_id=${match_b.id}`), 403, 'wrong_queue');
  const forged = tokens[0].replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  expect_problem(await word_of_other(forged), 401, 'unauthenticated');
  const gone = await let_in_for_ms(nodes, 1, 410, async () =>
    assert.equal((await owner.delete('/access', { token: tokens[1] })).status, 204),
  );
  t.diagnostic(`refused ${gone} ms after the end`);
  assert.ok(gone < 2500);
  const next = (await ticket_of(owner, tickets[3])).session_token;
  assert.equal((await word_of_other(next)).status, 200, 'whom the freed slot went to');
});

test('the owner cannot reach Redis: no visitor enters by old data', async (t) => {
  const nodes = await two_nodes(t);
  const { proxy, owner, queue, tenant, tickets, tokens, at_other, word_of_other } = nodes;
  proxy.refuse();
  proxy.cut();
  const took = await let_in_for_ms(nodes, 0, 503, async () => {
    const body = { ticket_id: tickets[0].ticket_id, reason: 'a test' };
    const revoked = await owner.post(`/queues/${queue.id}/revocations`, { token: tenant.token, body });
    assert.equal(revoked.status, 200, revoked.text);
  });
  t.diagnostic(`refused ${took} ms after the revocation`);
  assert.ok(took <= bound_ms, `${took} ms`);
  proxy.heal();
  await eventually('the mirror is whole again', async () => (await at_other(2)).status === 200, {
    timeout_ms: 20_000,
  });
  expect_problem(await word_of_other(tokens[0]), 410, 'session_over');
});

test('the owner admits while it cannot reach Redis: the other does not report that session as ended', async (t) => {
  const { proxy, owner, other, queue, tickets, tenant, tokens, token } = await two_nodes(t);
  proxy.refuse();
  proxy.cut();
  assert.equal((await owner.delete('/access', { token: tokens[2] })).status, 204);
  const admitted = await token(3);
  for (const end = Date.now() + 3000; Date.now() < end; await sleep(100)) {
    const answer = await access(other, admitted);
    assert.notEqual(answer.status, 410, 'the session is in force');
  }
  proxy.heal();
  await eventually('the other knows it', async () => (await access(other, admitted)).status === 200, {
    timeout_ms: 20_000,
  });
  assert.equal((await tenant.join_as(queue, 'dan')).ticket_id, tickets[3].ticket_id);
});

test('Redis stalls, with the owner’s data in its socket: no revoked session returns', async (t) => {
  const nodes = await two_nodes(t);
  const { services, owner, queue, tenant, tickets, tokens, at_other, word_of_other } = nodes;
  await services.pause('redis');
  await sleep(200);
  const body = { ticket_id: tickets[0].ticket_id, reason: 'a test' };
  const revoked = await owner.post(`/queues/${queue.id}/revocations`, { token: tenant.token, body });
  assert.equal(revoked.status, 200, revoked.text);
  const from = Date.now();
  await sleep(bound_ms + 500);
  await services.resume('redis');
  while (Date.now() - from < bound_ms + 6000) {
    assert.notEqual((await at_other(0)).status, 200, `let in ${Date.now() - from} ms after the revocation`);
    await sleep(50);
  }
  await eventually('the others are let in again', async () => (await at_other(1)).status === 200, {
    timeout_ms: 20_000,
  });
  expect_problem(await word_of_other(tokens[0]), 410, 'session_over');
});

test('the owner is frozen: its data is valid for at most 5 s; then the other takes over, and all are still inside', async (t) => {
  const nodes = await two_nodes(t, { lease: '10s' });
  const { owner, at_other } = nodes;
  const took = await let_in_for_ms(nodes, 0, 503, () => owner.child.kill('SIGSTOP'));
  t.diagnostic(`refused ${took} ms after the owner stopped`);
  assert.ok(took <= bound_ms, `${took} ms`);
  await eventually('the other has taken over', async () => (await at_other(0)).status === 200, {
    timeout_ms: 30_000,
  });
  for (const i of [1, 2]) assert.equal((await at_other(i)).status, 200);
  const { other, tokens } = nodes;
  assert.equal((await other.delete('/access', { token: tokens[1] })).status, 204);
  owner.child.kill('SIGCONT');
  for (const end = Date.now() + 3000; Date.now() < end; await sleep(50)) {
    assert.notEqual(
      (await access(owner, tokens[1])).status,
      200,
      'the zombie lets in whom its successor sent away',
    );
  }
});

test('Redis is killed: the owner continues, the other answers that it does not know, and recovers', async (t) => {
  const { services, owner, tokens, at_other } = await two_nodes(t);
  await services.kill('redis');
  const answer = await eventually('no word', async () => {
    const got = await at_other(0);
    return got.status !== 200 && got;
  });
  expect_problem(answer, 503, 'not_owner');
  assert.equal((await access(owner, tokens[0])).status, 200);
  await services.up('redis');
  await eventually('word again', async () => (await at_other(0)).status === 200, { timeout_ms: 20_000 });
});

test('a client has one limit over both nodes', async (t) => {
  const { services, owner, other, tenant, queue } = await two_nodes(t);
  const event = await owner.event(await owner.organizer());
  const fan = await owner.customer();
  const ask = (node) => node.post(`/queues/${queue.id}/tickets`, { token: tenant.join });
  const taken = async (node, most) => {
    let count = 0;
    for (let i = 0; i < most; ++i) {
      const answer = await ask(node);
      if (answer.status === 429) break;
      ++count; // here or not_owner: it counts
      await sleep(100);
    }
    return count;
  };
  const began = Date.now();
  const first = await taken(owner, 40);
  const second = await taken(other, 40);
  assert.ok(first >= 30, `${first} at the first node`);
  const most = 30 + (Date.now() - began) / 2000 + 2 * 4; // one request in two seconds, and an eighth that each node may keep
  assert.ok(first + second <= most, `${first} and ${second}: at most ${most}`);
  assert.ok((await redis(services.redis_url, 'KEYS', 'fairqueue:*:limit:*')).length >= 1);
  assert.equal((await owner.join(fan, event.id)).queue_number, 1, 'others are not limited');
});
