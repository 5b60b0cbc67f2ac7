// SPDX-License-Identifier: Apache-2.0
// Twenty thousand customers behind one address: none is limited because of the others, but clients that
// cannot be told apart are.
import test from 'node:test';
import { assert, expect_problem, server_for } from './lib.mjs';
import { tenant_on } from './tenant.mjs';

const crowd = 20_000;
const at_once = 200;

/** Runs `ask(i)` for every i below `crowd`, a fixed number at a time. */
async function all_of(ask) {
  const answers = new Array(crowd);
  let next = 0;
  const one_after_another = async () => {
    for (let i = next++; i < crowd; i = next++) answers[i] = await ask(i);
  };
  await Promise.all(Array.from({ length: at_once }, one_after_another));
  return answers;
}

/** Asserts that all are in line, once each, without a refusal. */
function check_all_in(answers) {
  const other = answers.find((answer) => answer.status !== 201);
  assert.equal(other, undefined, other?.text);
  assert.equal(new Set(answers.map((answer) => answer.json.queue_number)).size, crowd);
}

test('customers join an event', { timeout: 300_000 }, async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const event = await server.event(organizer, { total: 10 });
  const fans = await server.customers(crowd);
  check_all_in(await all_of((i) => server.post(`/events/${event.id}/queue`, { token: fans[i] })));
  assert.equal((await server.stats(organizer, event.id)).joined_total, crowd);
});

test(
  'a backend with a server key joins its visitors; a browser with a join key is limited, honestly',
  { timeout: 300_000 },
  async (t) => {
    const server = await server_for(t);
    const tenant = await tenant_on(server);
    const queue = await tenant.queue({ concurrency: 10 });
    const tickets = `/queues/${queue.id}/tickets`;
    check_all_in(
      await all_of((i) => server.post(tickets, { token: tenant.server, body: { subject: `fan-${i}` } })),
    );
    const anonymous = [];
    for (let i = 0; i < 40; ++i) anonymous.push(await server.post(tickets, { token: tenant.join }));
    const limited = anonymous.find((answer) => answer.status !== 201);
    expect_problem(limited, 429, 'rate_limited');
    assert.ok(anonymous.indexOf(limited) >= 30, 'thirty a minute are in');
    assert.match(limited.headers['retry-after'], /^[1-3]$/);
  },
);
