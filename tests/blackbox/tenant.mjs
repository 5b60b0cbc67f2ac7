// SPDX-License-Identifier: Apache-2.0
// A tenant of the waiting room for black-box tests: its keys, its operator, its queues and visitors.
import crypto from 'node:crypto';
import { assert, fairqueue, run } from './lib.mjs';

export async function cli(server, ...args) {
  const done = await run(fairqueue, [...args, '--data_dir', server.data_dir]);
  assert.equal(done.code, 0, `fairqueue ${args.join(' ')}: ${done.out}${done.err}`);
  return done.out.trim();
}

/** A tenant with a key of each scope and an operator's token. */
export async function tenant_on(server, name = `t${crypto.randomBytes(4).toString('hex')}`, ...options) {
  await cli(server, 'tenant', 'add', '--name', name, ...options);
  const key = (scope) => cli(server, 'apikey', 'issue', '--tenant', name, '--scope', scope);
  const tenant = {
    name,
    join: await key('join'),
    server: await key('server'),
    operator: await key('operator'),
  };
  tenant.sign_in = async () => {
    const session = await server.post('/sessions', { token: tenant.operator });
    assert.equal(session.status, 201, session.text);
    tenant.token = session.json.token;
    return session.json;
  };
  assert.ok(Date.parse((await tenant.sign_in()).expires_at) > Date.now());
  tenant.queue = async (changes = {}) => {
    const made = await server.post('/queues', {
      token: tenant.token,
      body: { name: 'Match', concurrency: 1, ...changes },
    });
    assert.equal(made.status, 201, made.text);
    return made.json;
  };
  tenant.join_as = async (queue, subject, key = tenant.server) => {
    const body = subject === undefined ? undefined : { subject };
    const joined = await server.insist('POST', `/queues/${queue.id}/tickets`, { token: key, body });
    assert.ok(joined.status === 201 || joined.status === 200, joined.text);
    return joined.json;
  };
  return tenant;
}

export const ticket_of = async (server, ticket) => {
  const found = await server.insist('GET', `/tickets/${ticket.ticket_id}`, { token: ticket.ticket_token });
  assert.equal(found.status, 200, found.text);
  return found.json;
};
export const access = (server, token, query = '', headers = {}) =>
  server.get(`/access${query}`, { token, headers });
