// SPDX-License-Identifier: Apache-2.0
// The event bus in tests: the messages of a stream, checked against docs/events.md and
// docs/events.schema.json.
import fs from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv/dist/2020.js';
import { connect } from 'nats';
import { assert, root } from './lib.mjs';

export const schema = JSON.parse(fs.readFileSync(path.join(root, 'docs/events.schema.json'), 'utf8'));
const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
export const is_valid = ajv.compile(schema);
export const topics = schema.properties.type.enum;

export function check(event) {
  assert.ok(is_valid(event), `${JSON.stringify(event)}\n${ajv.errorsText(is_valid.errors)}`);
}

export async function nats_for(t, services) {
  const { username, password, host } = new URL(services.nats_url);
  const nats = await connect({
    servers: host,
    user: username,
    pass: password,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
  });
  t.after(() => nats.close());
  return nats;
}

/** All messages of a stream in order: {subject, id, type, event, at}. */
export async function held(nats, stream = 'fairqueue') {
  const manager = await nats.jetstreamManager();
  const { state } = await manager.streams.info(stream);
  const all = [];
  if (state.messages === 0) return all; // a new stream says first_seq 0, which no request may name
  for (let seq = state.first_seq; seq <= state.last_seq; ++seq) {
    const m = await manager.streams.getMessage(stream, { seq });
    all.push({
      subject: m.subject,
      id: m.header.get('Nats-Msg-Id'),
      type: m.header.get('content-type'),
      event: m.json(),
      at: m.time.getTime(),
    });
  }
  return all;
}

/** Asserts the documented form of a message. */
function judge_form({ subject, id, type, event }) {
  check(event);
  assert.equal(subject, `fairqueue.${event.type}`);
  assert.equal(id, event.id);
  assert.match(type, /^application\/cloudevents\+json/);
  assert.equal(event.subject, event.data.event_id ?? event.data.customer_id);
}

/**
 * The messages that a consumer processes if it skips, for each aggregate, all that are not greater than its
 * greatest sequence.
 */
function not_seen_before(messages) {
  const last = new Map();
  return messages.filter(({ event: { partitionkey, sequence } }) => {
    if ((last.get(partitionkey) ?? '') >= sequence) return false;
    last.set(partitionkey, sequence);
    return true;
  });
}

/** Asserts: every message has the documented form, is stored once, and is in the order of its aggregate. */
export function judge(messages) {
  for (const message of messages) judge_form(message);
  assert.deepEqual(not_seen_before(messages), messages, 'in order, each once');
  assert.equal(new Set(messages.map(({ id }) => id)).size, messages.length, 'each once');
}

/**
 * Asserts:
 * - Every message has the documented form.
 * - A repeat has the same content and came after the duplicate window.
 * - A consumer that skips by sequence misses nothing.
 *
 * Returns the messages without repeats.
 */
export function judge_repeats(messages, window_ms) {
  const before = new Map();
  for (const message of messages) {
    judge_form(message);
    const { id, event, at } = message;
    const known = before.get(id);
    if (known) {
      assert.deepEqual(event, known.event, 'a repeat has the same content');
      assert.ok(at - known.at > window_ms * 0.9, `${id} was stored again after ${at - known.at} ms`);
    }
    before.set(id, message);
  }
  const taken = not_seen_before(messages);
  assert.deepEqual(new Set(taken.map(({ id }) => id)), new Set(before.keys()), 'never B A alone');
  return taken;
}

export const of = (messages, topic) =>
  messages.filter(({ event }) => event.type === topic).map(({ event }) => event.data);
