// SPDX-License-Identifier: Apache-2.0
// Admissions notified by push: a line whose places have devices, and three witnesses of their notices: the
// log of deliveries, the metrics and the provider.
import { assert, eventually } from './lib.mjs';

/** Runs `work` on each item, at most `at_once` in parallel; returns the results in order. */
export async function each(items, at_once, work) {
  const results = new Array(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const i = next++;
      results[i] = await work(items[i], i);
    }
  };
  await Promise.all(Array.from({ length: Math.min(at_once, items.length) }, worker));
  return results;
}

/**
 * A queue in operator mode with `count` in line: {queue, tickets}, the tickets in order. `name`: prefix of
 * visitors. `has_devices`: each place has a device (`device` of the ticket); its token is the visitor's name.
 */
export async function line(server, tenant, name, count, { has_devices, session_ttl_seconds = 3600 }) {
  const queue = await tenant.queue({ mode: 'operator', concurrency: null, session_ttl_seconds });
  const subjects = Array.from({ length: count }, (_, i) => `${name}-${i}`);
  const tickets = await each(subjects, 64, async (subject) => {
    const ticket = await tenant.join_as(queue, subject);
    if (!has_devices) return ticket;
    const added = await server.post(`/tickets/${ticket.ticket_id}/devices`, {
      token: ticket.ticket_token,
      body: { platform: 'fcm', token: subject },
    });
    assert.equal(added.status, 201, added.text);
    return { ...ticket, subject, device: added.json.device_id };
  });
  tickets.sort((a, b) => a.queue_number - b.queue_number);
  return { queue, tickets };
}

export async function advance(server, tenant, queue, count, options) {
  const called = await server.post(`/queues/${queue.id}/advance`, {
    token: tenant.token,
    body: { count },
    ...options,
  });
  assert.deepEqual(called.json, { admitted: count }, called.text);
}

/**
 * The FCM deliveries in the tenant's log, optionally of one `state`. Pages may be short or empty; only the
 * cursor shows whether more follow.
 */
export async function log_of(server, tenant, state) {
  const all = [];
  for (let cursor = ''; cursor !== null;) {
    const query = new URLSearchParams({
      channel: 'fcm',
      limit: 200,
      ...(state && { state }),
      ...(cursor && { cursor }),
    });
    const { json } = await server.get(`/deliveries?${query}`, { token: tenant.token });
    all.push(...json.deliveries);
    cursor = json.next_cursor;
  }
  return all;
}

/** Attempts at FCM by result, from /metrics. */
export async function counted(server) {
  const { text } = await server.get('/metrics', { admin: true });
  const tries = [...text.matchAll(/^fairqueue_deliveries_total\{channel="fcm",result="(\w+)"\} (\d+)$/gm)];
  assert.equal(tries.length, 5, text);
  return Object.fromEntries(tries.map(([, result, number]) => [result, Number(number)]));
}

/**
 * Waits until each turn is delivered or expired. Returns the log, the metrics and the provider's count, for
 * `judge`.
 */
export async function all_told(server, tenant, provider, people, options) {
  let metrics;
  await eventually(
    `${people} are told, or it is too late`,
    async () => {
      metrics = await counted(server);
      return metrics.delivered + metrics.expired >= people;
    },
    options,
  );
  const log = await eventually('the log has it', async () => {
    const all = await log_of(server, tenant); // written after the counter
    return !all.some(({ topic, state }) => topic === 'queue.turn_granted' && state === 'pending') && all;
  });
  return { metrics, log, tally: await provider.tally() };
}

/**
 * Asserts:
 * - The turns of `lucky` are delivered.
 * - The turns of `unlucky`, which the provider always refuses, expired with the session.
 * - No turn is lost or sent twice.
 * - Log, metrics and the provider's count agree.
 *
 * Returns {tries, refused}.
 */
export function judge({ lucky, unlucky, log, tally, metrics }) {
  assert.deepEqual(tally.wrong, []);
  assert.equal(tally.early, 0, 'a Retry-After is heeded');
  const turns = new Map(log.filter(({ topic }) => topic === 'queue.turn_granted').map((d) => [d.target, d]));
  const logged = log.filter(({ topic }) => topic === 'queue.turn_granted').length;
  assert.equal(turns.size, logged, 'one delivery for each device');
  assert.equal(turns.size, lucky.length + unlucky.length, 'each place has its delivery');
  for (const { device, subject } of lucky) {
    const turn = turns.get(device);
    assert.equal(turn?.state, 'delivered', `${subject}: ${JSON.stringify(turn)}`);
    assert.deepEqual(
      tally.taken[subject],
      { [turn.delivery_id]: 1 },
      `${subject} is told once: ${JSON.stringify(tally.taken[subject])} ${JSON.stringify(turn)}`,
    );
  }
  for (const { device, subject, session_ms } of unlucky) {
    const turn = turns.get(device);
    assert.equal(turn?.state, 'expired', `${subject}: ${JSON.stringify(turn)}`);
    assert.equal(tally.taken[subject], undefined);
    assert.ok(turn.attempts >= 2, `${subject} was tried again: ${JSON.stringify(turn)}`);
    const { last_at } = tally.tried['queue.turn_granted'][subject];
    const tried_for = last_at - Date.parse(turn.created_at);
    assert.ok(tried_for <= session_ms + 2000, `${subject} is not tried after the session: ${tried_for} ms`);
  }
  const answers = tally.answers['queue.turn_granted'];
  const refused = (answers[429] ?? 0) + (answers[503] ?? 0);
  const tries = [...turns.values()].reduce((sum, d) => sum + d.attempts, 0);
  assert.equal(answers[200], lucky.length);
  assert.equal(tries, answers[200] + refused, 'the log knows each try');
  assert.deepEqual(
    [metrics.delivered, metrics.expired, metrics.failed, metrics.dropped],
    [lucky.length, unlucky.length, 0, 0],
  );
  return { tries, refused };
}
