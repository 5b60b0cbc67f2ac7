// SPDX-License-Identifier: Apache-2.0
// Check-in at gates: lists, devices, scans and their reasons; ten scanners through kill -9; two phones that
// were offline and let the same ticket in; the camera.
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { browser_for, check_page, fits, person, persistent_browser } from './browser.mjs';
import { assert, eventually, expect_problem, server_for, sleep, temporary_folder } from './lib.mjs';
import { newest } from '../../web/pages/kept_page.mjs';
import {
  after_sending,
  asked_pause_ms,
  gate,
  in_order,
  is_answer,
  kept_code,
  new_nonce,
  reason_of_problem,
  round_pause_ms,
  send_scans,
  to_try_again,
} from '../../web/pages/scan_gate.mjs';
import { as_kept_now } from '../../web/pages/scan_store.mjs';
import { rotating_code } from '../../web/sdk/event_ticket_code.mjs';
import { code_with, ticket_codes } from './ticket_codes.mjs';

/** An event whose tickets are free, with `count` of them sold; a list and `devices` tokens. */
async function gate_for(t, { count = 2, devices = 1, mode = 'entry' } = {}) {
  const server = await server_for(t, {});
  const organizer = await server.organizer();
  const event = await server.event(organizer, {
    queue: { policy: 'open' },
    ticket_types: [{ name: 'Standing', price: 0, total: 1_000, max_per_order: 50 }],
  });
  const orders = Math.ceil(count / 50);
  const tickets = [];
  for (const [i, fan] of (await server.customers(orders)).entries()) {
    const made = await server.post('/checkout', {
      token: fan,
      body: {
        event_id: event.id,
        items: [{ ticket_type_id: event.ticket_types[0].id, quantity: Math.min(50, count - i * 50) }],
        contact: { email: 'ada@example.org', first_name: 'Ada', last_name: 'Obi' },
      },
    });
    assert.ok(made.status < 300, made.text);
    const order = await server.get(`/orders/${made.json.order_id}`, { token: fan });
    tickets.push(...order.json.event_tickets.map(({ id }) => ({ id, order: made.json.order_id })));
  }
  const list = await server.post(`/events/${event.id}/checkin/lists`, {
    token: organizer,
    body: { name: 'Main entrance', gates: ['West', 'East'], mode },
  });
  assert.equal(list.status, 201, list.text);
  const scanners = [];
  for (let n = 0; n < devices; n += 1) {
    const made = await server.post(`/events/${event.id}/checkin/devices`, {
      token: organizer,
      body: { label: `Phone ${n + 1}`, gate: n % 2 === 0 ? 'West' : 'East' },
    });
    assert.equal(made.status, 201, made.text);
    scanners.push(made.json);
  }
  const code = ticket_codes(server, event.id);
  const redeem = (scanner, body) =>
    server.post('/checkin/redeem', {
      token: scanner.token,
      body: { list_id: list.json.id, nonce: crypto.randomUUID(), ...body },
    });
  const checkin = async () => (await server.get(`/events/${event.id}/checkin`, { token: organizer })).json;
  return { server, organizer, event, tickets, list: list.json, scanners, code, redeem, checkin };
}

test('a gate without a network knows the seats of tickets', () => {
  const id = '01998e3b-0000-7c11-8000-00100b2f7e55';
  const offline = new gate('e', null, [[id, 0, 0, 1, 0, null, null, null, 'P-A-3']]);
  assert.deepEqual([offline.seat_of(id), offline.seat_of('other')], ['P-A-3', '']);
});

test('a gate finds tickets by names without accents, and by whole ids also without an order', async (t) => {
  const s = await gate_for(t);
  const [buyer] = await s.server.customers(1);
  const { admission_token } = await s.server.join_and_be_admitted(buyer, s.event.id);
  const { claim_id } = await s.server.claim(buyer, s.event.id, admission_token);
  const free = await s.server.post(`/claims/${claim_id}/payments`, { token: buyer });
  assert.equal(free.status, 201, free.text);
  await s.server.claim_reaches(buyer, claim_id, 'CONFIRMED');
  const find = async (text) => {
    const answer = await s.server.post('/checkin/search', {
      token: s.scanners[0].token,
      body: { list_id: s.list.id, text },
    });
    assert.equal(answer.status, 200, answer.text);
    return answer.json.items;
  };
  assert.equal((await find('ÁDÀ óbi')).length, 2);
  assert.equal((await find(s.tickets[0].order.toUpperCase())).length, 2);
  assert.deepEqual(await find(crypto.randomUUID()), []);
  const [theirs] = await find(claim_id);
  assert.deepEqual([theirs.name, theirs.order_id], [null, null]);
  assert.deepEqual(
    (await find(theirs.id)).map(({ id }) => id),
    [theirs.id],
  );
});

test('a gate gets one answer for each nonce, and learns where the first scan was', async (t) => {
  const s = await gate_for(t, { count: 3, devices: 2, mode: 'entry_and_exit' });
  const [west, east] = s.scanners;
  const nonce = crypto.randomUUID();
  const first = { nonce, code: s.code(s.tickets[0].id), type: 'entry' };
  const let_in = await s.redeem(west, first);
  assert.equal(let_in.json.result, 'admitted', let_in.text);
  assert.equal(let_in.json.event_ticket.name, 'Ada Obi');
  assert.equal((await s.redeem(west, first)).json.replayed, true);
  const again = await s.redeem(east, { code: s.code(s.tickets[0].id) });
  assert.equal(again.json.reason, 'already_in', again.text);
  assert.deepEqual([again.json.earlier.gate, again.json.earlier.nonce], ['West', nonce]);
  const out = await s.redeem(east, { code: s.code(s.tickets[0].id), type: 'exit' });
  assert.equal(out.json.result, 'admitted', out.text);
  const reason = async (body) => (await s.redeem(east, body)).json.reason;
  const other = await s.server.event(s.organizer, { queue: { policy: 'open' } });
  assert.equal(await reason({ code: 'HELLO' }), 'unreadable');
  assert.equal(await reason({ code: ticket_codes(s.server, other.id)(s.tickets[1].id) }), 'other_event');
  assert.equal(await reason({ code: ticket_codes(s.server, s.event.id, 1)(s.tickets[1].id) }), 'wrong_key');
  assert.equal(await reason({ code: s.code(s.tickets[1].id, 2) }), 'transferred');
  assert.equal(await reason({ code: s.code(crypto.randomUUID()) }), 'unknown_ticket');
  assert.equal(await reason({ event_ticket_id: s.tickets[1].id, type: 'exit' }), 'not_in');
  const refund = await s.server.post(`/orders/${s.tickets[1].order}/refunds`, {
    token: s.organizer,
    body: { event_ticket_ids: [s.tickets[1].id] },
  });
  assert.equal(refund.status, 202, refund.text);
  await eventually(
    'the refunded ticket is cancelled',
    async () => (await reason({ code: s.code(s.tickets[1].id) })) === 'cancelled',
  );
  const found = await s.server.post('/checkin/search', {
    token: east.token,
    body: { list_id: s.list.id, text: 'obi' },
  });
  assert.equal(found.json.items.length, 3, found.text);
  const numbers = await s.checkin();
  assert.deepEqual(
    [numbers.ticket_types[0].valid, numbers.ticket_types[0].in, numbers.ticket_types[0].out],
    [2, 0, 1],
  );
  const gone = await s.server.request('DELETE', `/events/${s.event.id}/checkin/devices/${east.id}`, {
    token: s.organizer,
  });
  assert.equal(gone.status, 204, gone.text);
  expect_problem(await s.redeem(east, { code: 'HELLO' }), 401, 'device_unknown');
  await s.server.verified();
});

test('ten scanners send what they scanned until it is answered, and kill -9 loses and repeats nothing', async (t) => {
  const s = await gate_for(t, { count: 200, devices: 10 });
  const answers = new Map(); // ticket: results
  const work = s.scanners.map(async (scanner, n) => {
    // Every ticket is presented at two gates.
    for (const ticket of s.tickets.filter((_, i) => i % 5 === n % 5)) {
      const body = { nonce: crypto.randomUUID(), code: s.code(ticket.id), at: new Date().toISOString() };
      let answer;
      while (answer?.status !== 200) {
        answer = await s.redeem(scanner, body).catch(() => undefined);
        if (answer?.status !== 200) await sleep(20);
      }
      answers.set(ticket.id, [...(answers.get(ticket.id) ?? []), answer.json]);
    }
  });
  await eventually('forty tickets', () => answers.size > 40, { every_ms: 5 });
  await s.server.restart();
  await Promise.all(work);
  for (const ticket of s.tickets) {
    const results = answers.get(ticket.id).map(({ result }) => result);
    assert.deepEqual(results.sort(), ['admitted', 'refused'], ticket.id);
  }
  const { lists, ticket_types, conflicts } = await s.checkin();
  assert.deepEqual([lists[0].entries, lists[0].refused, ticket_types[0].in, conflicts], [200, 200, 200, 0]);
  await s.server.verified();
});

test('a scanner reads what changed since its version', async (t) => {
  const s = await gate_for(t, { count: 3 });
  const [scanner] = s.scanners;
  const state = async (since = '') => {
    const answer = await s.server.get(`/checkin/${s.list.id}/state${since && `?since=${since}`}`, {
      token: scanner.token,
    });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  let known = await state();
  assert.equal(known.reset, true);
  assert.equal(known.tickets.length, 3);
  await s.redeem(scanner, { code: s.code(s.tickets[0].id) });
  const next = await eventually('the change', async () => {
    const answer = await state(known.version);
    return answer.tickets.length > 0 && answer;
  });
  assert.deepEqual(
    next.tickets.map(([id, , status]) => [id, status]),
    [[s.tickets[0].id, 1]],
  );
  assert.equal(next.reset, false);
  known = next;
  await s.server.request('PATCH', `/events/${s.event.id}/checkin/lists/${s.list.id}`, {
    token: s.organizer,
    body: { name: 'Door' },
  });
  const after_change = await state(known.version);
  assert.deepEqual([after_change.reset, after_change.tickets.length], [true, 3]);
});

// -- what a phone decides alone ---------------------------------------------------------------------------

test('a phone without a network decides by signature, generation and state', async () => {
  const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519');
  const event = crypto.randomUUID();
  const code = code_with(event, privateKey);
  const [fresh, used, gone, moved, back] = Array.from({ length: 5 }, () => crypto.randomUUID());
  const phone = new gate(event);
  const decide = async (scan) => (await phone.decide({ type: 'entry', ...scan }, Date.now())).reason;
  assert.equal(await decide({ code: code(fresh) }), 'not_ready');
  phone.take({
    version: '1',
    reset: true,
    mode: 'entry',
    rotating_codes: false,
    public_key: publicKey.export({ format: 'jwk' }).x,
    tickets: [
      [fresh, 0, 0, 1, 0, null, null],
      [used, 0, 1, 1, 0, 1_795_000_000_000, 'West'],
      [gone, 0, 4, 1, 0, null, null],
      [moved, 0, 3, 2, 0, null, null],
      [back, 0, 0, 1, 1, null, null],
    ],
  });
  assert.equal(await decide({ code: code(fresh) }), null);
  assert.equal(await decide({ ticket: fresh, type: 'exit' }), 'no_exit');
  assert.equal(await decide({ code: code(gone) }), 'cancelled');
  assert.equal(await decide({ code: code(moved) }), 'transferred');
  assert.equal(await decide({ code: code(moved, 2) }), null);
  assert.equal(await decide({ code: code(back) }), 'refund_pending');
  assert.equal(await decide({ code: code(crypto.randomUUID()) }), 'unknown_ticket');
  assert.equal(await decide({ code: 'HELLO' }), 'unreadable');
  // Its signature is genuine: people read that it may be of another gate. A chosen ticket proves nothing.
  const elsewhere = crypto.randomUUID();
  const shown = async (scan) => (await phone.decide({ type: 'entry', ...scan }, Date.now())).shown;
  assert.equal(await shown({ code: code(elsewhere) }), 'not_here');
  assert.equal(await shown({ ticket: elsewhere }), undefined);
  assert.equal(await shown({ code: code(gone) }), undefined);
  const foreign = crypto.generateKeyPairSync('ed25519').privateKey;
  assert.equal(await decide({ code: code_with(event, foreign)(fresh) }), 'wrong_key');
  assert.equal(await decide({ code: code_with(crypto.randomUUID(), privateKey)(fresh) }), 'other_event');
  const again = await phone.decide({ code: code(used), type: 'entry' }, Date.now());
  assert.deepEqual(again.earlier, { at: 1_795_000_000_000, place: 'West' });
  phone.note(fresh, 'entry', 5, 'here');
  assert.equal(await decide({ code: code(fresh) }), 'already_in');
  // A reload builds the gate from the stored state; what waits is applied again, the latest last.
  const stored = [fresh, used, moved, back].map((id) => [id, 0, 0, 2, 0, id === back ? 6 : null, null]);
  const reloaded = new gate(event, { ...phone.state, mode: 'entry_and_exit' }, stored);
  const waiting = (ticket, n, more) => ({
    nonce: `n${n}`,
    at: new Date(n).toISOString(),
    ticket,
    event,
    ...more,
  });
  reloaded.apply_waiting(
    [
      waiting(used, 3, { type: 'exit', passed: true }),
      waiting(used, 2, { type: 'entry', passed: true }),
      waiting(fresh, 1, { type: 'entry', passed: true }),
      waiting(moved, 4, { type: 'entry', refused: 'transferred' }),
      waiting(back, 5, { type: 'entry', passed: true }), // the server knows of a later exit
    ],
    'West',
  );
  const after = async (ticket) => (await reloaded.decide({ ticket, type: 'entry' }, 9)).reason;
  assert.deepEqual(await Promise.all([fresh, used, moved, back].map(after)), [
    'already_in',
    null,
    null,
    null,
  ]);
});

test('what a phone notes is a row for its store, and a gate made of it knows who is in', async () => {
  const [fresh, gone] = [crypto.randomUUID(), crypto.randomUUID()];
  const state = { version: '1', mode: 'entry', rotating_codes: false, public_key: '' };
  const phone = new gate('e', state, [
    [fresh, 0, 0, 1, 0, null, null],
    [gone, 0, 4, 1, 0, null, null],
  ]);
  const kept = phone.note(fresh, 'entry', 5, 'West');
  assert.deepEqual(kept, [fresh, 0, 1, 1, 0, 5, 'West']);
  assert.equal(phone.note(gone, 'entry', 5, 'West'), null);
  assert.equal(phone.note(crypto.randomUUID(), 'entry', 5, 'West'), null);
  const restarted = new gate('e', state, [kept]);
  const again = await restarted.decide({ ticket: fresh, type: 'entry' }, 9);
  assert.deepEqual([again.reason, again.earlier], ['already_in', { at: 5, place: 'West' }]);
});

test('people read why the server takes no scan', () => {
  assert.equal(reason_of_problem('too_many', 409), 'too_many');
  assert.equal(reason_of_problem('not_found', 404), 'list_gone');
  assert.equal(reason_of_problem('invalid_field', 400), 'unreadable');
  assert.equal(reason_of_problem('scan_id_reused', 409), 'not_taken');
  for (const code of ['device_unknown', 'unauthenticated'])
    assert.deepEqual([is_answer(401, code), reason_of_problem(code, 401)], [true, 'revoked']);
  // The sign-in page of a network, and errors of a proxy, are no answers.
  const none = [401, 429, 500, 503].map((status) => is_answer(status, undefined));
  assert.deepEqual(
    [...none, is_answer(200), is_answer(400, 'invalid_field')],
    [...[false, false, false, false], ...[true, true]],
  );
});

test('a phone asks a busy server again when it wants, within a minute', () => {
  const pause = (headers) => asked_pause_ms({ headers: new Headers(headers) });
  assert.equal(pause({ 'Retry-After': '7' }), 7_000);
  assert.equal(pause({ 'Retry-After': '3600' }), 60_000);
  for (const headers of [{}, { 'Retry-After': '-1' }, { 'Retry-After': 'soon' }])
    assert.equal(pause(headers), 0);
  assert.equal(round_pause_ms(1_000, 8_000, 10_000), 10_000);
  assert.equal(round_pause_ms(1_000, 61_000, 10_000), 60_000);
  assert.equal(round_pause_ms(8_000, 8_000, 10_000), 10_000);
});

test('a code that the server cannot read keeps no other scan from it', async () => {
  const { privateKey } = crypto.generateKeyPairSync('ed25519');
  const genuine = code_with(crypto.randomUUID(), privateKey)(crypto.randomUUID());
  assert.equal(kept_code(genuine), genuine);
  for (const strange of ['', 'tab\t', 'é'.repeat(400), 'HELLO', 'UNREADABLE'])
    assert.equal(kept_code(strange), 'UNREADABLE');
  const scans = Array.from({ length: 7 }, (_, n) => ({ nonce: `n${n}` }));
  const taken = [];
  const send = (problem) => async (sent) => {
    if (sent.some(({ nonce }) => nonce === 'n3')) throw problem;
    return sent.map(() => ({ result: 'admitted' }));
  };
  const take = async (sent, results) => {
    sent.forEach(({ nonce }, i) => taken.push([nonce, results[i].result]));
  };
  for (const status of [400, 413]) {
    taken.length = 0;
    await send_scans(scans, send(Object.assign(new Error('invalid_field'), { status })), take);
    assert.deepEqual(
      taken,
      scans.map(({ nonce }) => [nonce, nonce === 'n3' ? 'not_recorded' : 'admitted']),
    );
  }
  taken.length = 0;
  await assert.rejects(send_scans(scans, send(new Error('no answer')), take), /no answer/);
  assert.deepEqual(taken, []);
});

test('a phone with a new token sends again what the server did not find', () => {
  const lost = { nonce: 'n1', at: 't', lost: true };
  assert.deepEqual(
    to_try_again([
      { ...lost, reason: 'not_found' },
      { ...lost, reason: 'too_many' },
      { nonce: 'n2', at: 't' },
    ]),
    [{ nonce: 'n1', at: 't' }],
  );
});

test('a phone that has a part of the list refuses no ticket as unknown', async () => {
  const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519');
  const event = crypto.randomUUID();
  const code = code_with(event, privateKey);
  const [first, last] = [crypto.randomUUID(), crypto.randomUUID()];
  const row = (id) => [id, 0, 0, 1, 0, null, null];
  const common = { version: '1', mode: 'entry', rotating_codes: false };
  common.public_key = publicKey.export({ format: 'jwk' }).x;
  const phone = new gate(event);
  const reason = async (ticket, by = phone) =>
    (await by.decide({ code: code(ticket), type: 'entry' }, 0)).reason;
  const kept = phone.take({ ...common, reset: true, more: true, tickets: [row(first)] });
  assert.deepEqual([await reason(first), await reason(last)], [null, 'not_ready']);
  assert.equal(await reason(last, new gate(event, kept, [row(first)])), 'not_ready'); // after a reload
  phone.take({ ...common, reset: false, more: false, tickets: [row(last)] });
  assert.deepEqual([await reason(last), await reason(crypto.randomUUID())], [null, 'unknown_ticket']);
  phone.take({ ...common, reset: false, more: true, tickets: [row(last)] }); // changes only
  assert.equal(await reason(crypto.randomUUID()), 'unknown_ticket');
  phone.take({ ...common, reset: true, more: true, tickets: [row(first)] }); // the list has changed
  assert.equal(await reason(last), 'not_ready');
});

test('a phone without a network checks rotating codes by the secrets of tickets', async () => {
  const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519');
  const [event, ticket, plain] = Array.from({ length: 3 }, () => crypto.randomUUID());
  const secret = crypto.randomBytes(32);
  const now = 1_795_000_000_000;
  const phone = new gate(event);
  const page = {
    ...{ version: '1', reset: true, more: false, mode: 'entry', rotating_codes: true },
    public_key: publicKey.export({ format: 'jwk' }).x,
    tickets: [
      [ticket, 0, 0, 2, 0, null, null, secret.toString('base64url')],
      [plain, 0, 0, 1, 0, null, null, null],
    ],
  };
  phone.take(page);
  const reason = async (code) => (await phone.decide({ code, type: 'entry' }, now)).reason;
  const rotating = (more = {}, at = now, key = secret) =>
    rotating_code(key, { event, ticket, generation: 2, ...more }, at);
  assert.equal(await reason(await rotating()), null);
  assert.equal(await reason(await rotating({}, now - 30_000)), null);
  assert.equal(await reason(await rotating({}, now - 90_000)), 'expired_code');
  assert.equal(await reason(await rotating({}, now, crypto.randomBytes(32))), 'expired_code');
  assert.equal(await reason(await rotating({ generation: 1 })), 'transferred');
  assert.equal(await reason(await rotating({ event: crypto.randomUUID() })), 'other_event');
  assert.equal(await reason(await rotating({ ticket: plain, generation: 1 })), 'wrong_key');
  const stranger = await rotating({ ticket: crypto.randomUUID() });
  assert.equal(await reason(stranger), 'unknown_ticket');
  assert.equal(await reason(code_with(event, privateKey)(ticket, 2)), 'wrong_key'); // a fixed one
  phone.take({ ...page, more: true });
  assert.equal(await reason(stranger), 'not_ready');
});

test('a kept page is shown if a proxy answers with an error, or nothing in time', async () => {
  const never = new Promise(() => {});
  const [copy, good, failed] = [{ kept: true }, { status: 200 }, { status: 502 }];
  for (const status of [429, 502, 503]) assert.equal(await newest(Promise.resolve({ status }), copy), copy);
  assert.equal(await newest(Promise.reject(new Error('offline')), copy), copy);
  assert.equal(await newest(never, copy, 1), copy);
  assert.equal(await newest(Promise.resolve(good), copy), good);
  assert.equal(await newest(Promise.resolve(failed), undefined), failed);
});

/**
 * The surroundings of a service worker, of the script that is imported next. `network(url)` answers what it
 * fetches. `dispatch(name, request)`: its answer after all its work; undefined: the browser fetches.
 */
function worker_surroundings(t, scope, network) {
  const kept = new Map(); // URL: answer
  const listeners = {};
  const url_of = (request) => new URL(request.url ?? request, scope).href;
  const match = async (request) => kept.get(url_of(request))?.clone();
  const cache = {
    addAll: async (urls) => {
      for (const url of urls) kept.set(url_of(url), await network(url_of(url)));
    },
    put: async (request, answer) => kept.set(url_of(request), answer),
    keys: async () => [...kept.keys()].map((url) => ({ url })),
    delete: async (request) => kept.delete(url_of(request)),
    match,
  };
  const surroundings = {
    addEventListener: (name, listener) => (listeners[name] = listener),
    caches: { open: async () => cache, match, delete: async () => kept.clear() },
    clients: { claim: async () => {} },
    fetch: async (request) => network(url_of(request)),
    registration: { scope },
    skipWaiting: () => {},
  };
  const before = Object.fromEntries(Object.keys(surroundings).map((name) => [name, globalThis[name]]));
  Object.assign(globalThis, surroundings);
  t.after(() => Object.assign(globalThis, before));
  const dispatch = async (name, request) => {
    const work = [];
    let answer;
    listeners[name]({
      request: request && { method: 'GET', ...request },
      waitUntil: (promise) => work.push(promise),
      respondWith: (promise) => (answer = promise),
    });
    const shown = await answer;
    await Promise.all(work);
    return shown;
  };
  return { kept, cache, dispatch };
}

test('the service worker of a gate keeps page and files, and shows them without a network', async (t) => {
  const scope = 'https://example.org/scan';
  let status = 200; // 0: no network
  let version = 'a';
  const { kept, dispatch } = worker_surroundings(t, scope, async (url) => {
    if (status === 0) throw new TypeError('offline');
    const page = `<script src="/assets/scan-${version}.mjs"></script>`;
    return new Response(url === scope ? page : `file ${url}`, { status });
  });
  await import('../../web/pages/scan_worker.mjs');
  await dispatch('install');
  const shown = async () => (await dispatch('fetch', { mode: 'navigate', url: scope })).text();
  for (status of [0, 429, 502]) assert.match(await shown(), /scan-a/);
  [status, version] = [200, 'b'];
  assert.match(await shown(), /scan-b/);
  const file = 'https://example.org/assets/scan-b.mjs';
  assert.deepEqual([...kept.keys()].sort(), [file, scope]);
  status = 0;
  assert.match(await shown(), /scan-b/);
  assert.equal(await (await dispatch('fetch', { url: file })).text(), `file ${file}`);
  await assert.rejects(dispatch('fetch', { url: 'https://example.org/assets/other.mjs' }), /offline/);
  const others = [
    { url: 'https://example.org/checkin' },
    { mode: 'navigate', url: 'https://example.org/shop' },
    { method: 'POST', url: file },
  ];
  for (const other of others) assert.equal(await dispatch('fetch', other), undefined, 'it answers');
});

test('the service worker of tickets shows the kept page, and forgets it when the customer signs out', async (t) => {
  const url = 'https://example.org/my/tickets';
  let network;
  const { kept, cache, dispatch } = worker_surroundings(t, url, async () => network());
  await import('../../web/pages/tickets_worker.mjs');
  const shown = async (search = '') =>
    (await dispatch('fetch', { mode: 'navigate', url: url + search })).text();
  const keep = () => cache.put(url, new Response('kept'));
  await keep();
  network = () => {
    throw new TypeError('offline');
  };
  assert.equal(await shown(), 'kept');
  network = () => new Response('a proxy', { status: 502 });
  assert.equal(await shown(), 'kept');
  network = () => new Response('newest');
  assert.equal(await shown(), 'newest');
  assert.deepEqual([...kept.keys()], [url]);
  const signed_out = [
    () => new Response('<input id="f-email">'),
    () => new Response('gone', { status: 410 }),
    () => Object.defineProperty(new Response('elsewhere'), 'clone', { value: () => ({ redirected: true }) }),
  ];
  for (network of signed_out) {
    await keep();
    await shown();
    assert.equal(kept.size, 0);
  }
  network = () => new Response('newest');
  await keep();
  assert.equal(await shown('?reason=signed_out'), 'newest');
  assert.equal(kept.size, 0);
});

test('scans that waited go first by their times, and an answer says what becomes of each', () => {
  const scan = (n, more = {}) => ({ nonce: `n${n}`, at: new Date(n * 1000).toISOString(), ...more });
  assert.deepEqual(
    in_order([scan(3), scan(1), scan(2)]).map(({ nonce }) => nonce),
    ['n1', 'n2', 'n3'],
  );
  const sent = [1, 2, 3, 4, 5, 6].map((n) => scan(n, n < 5 ? { passed: true } : { refused: 'cancelled' }));
  const out = after_sending(
    sent,
    [
      { result: 'admitted', reason: null },
      { result: 'admitted', reason: 'already_in' },
      { result: 'refused', reason: 'already_in', replayed: true }, // decided before its answer was lost
      { result: 'not_recorded', reason: 'not_found' },
      { result: 'refused', reason: 'cancelled' },
      { result: 'admitted', reason: null, replayed: true }, // let in, but the phone sent the holder away
    ],
    6_000,
  );
  assert.deepEqual(out.gone, ['n1', 'n2', 'n3', 'n4', 'n5', 'n6']);
  assert.deepEqual(
    out.conflicts.map(({ nonce, reason }) => [nonce, reason]),
    [
      ['n2', 'already_in'],
      ['n6', 'cancelled'],
    ],
  );
  assert.deepEqual(
    out.lost.map(({ nonce, reason }) => [nonce, reason]),
    [['n4', 'not_found']],
  );
  assert.equal(out.again.length, 1);
  assert.notEqual(out.again[0].nonce, 'n3');
  assert.match(new_nonce(6_000), /^00000000-1770-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

// -- phones -----------------------------------------------------------------------------------------------

const phone = { viewport: { width: 390, height: 844 } };

/** A phone that has opened the address of its QR code and knows the list. */
async function phone_at(t, s, scanner, options = {}) {
  const context = await person(t, await browser_for(), { ...phone, ...options });
  const page = await context.newPage();
  await page.goto(scanner.scan_url.replace(/^https?:\/\/[^/]+/, s.server.url));
  await page.locator('main[data-ready="true"]').waitFor();
  await page.evaluate(() => globalThis.navigator.serviceWorker.ready);
  return page;
}

async function type_code(page, code) {
  await page.getByLabel('Or type the code').fill(code);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
}

const headline = (page) => page.locator('[data-headline]');

/** Until the phone has kept the result of its last scan. */
const has_kept = (page) =>
  page.getByRole('button', { name: 'Check', exact: true, disabled: false }).waitFor();

test('a scan that an earlier page kept with force only says that its holder has passed', () => {
  assert.deepEqual(as_kept_now({ nonce: 'n', force: true }), { nonce: 'n', force: true, passed: true });
  for (const scan of [{ force: true, refused: 'unknown_ticket' }, { force: false }, { passed: true }])
    assert.equal(as_kept_now(scan), scan);
});

test('two phones let the same ticket in while they are offline: a conflict is shown and no scan is lost', async (t) => {
  const s = await gate_for(t, { count: 3, devices: 2 });
  const west = await phone_at(t, s, s.scanners[0]);
  const east = await phone_at(t, s, s.scanners[1]);
  assert.equal(new URL(west.url()).hash, '', 'the token stays in the address');
  await type_code(west, s.code(s.tickets[0].id));
  await headline(west).getByText('Let in', { exact: true }).waitFor();
  assert.equal(await west.locator('[data-counts]').textContent(), 'In: 1 of 3');
  await type_code(west, s.code(s.tickets[0].id));
  await headline(west).getByText('Already in').waitFor();
  assert.ok(await west.locator('[data-force]').isHidden(), 'this device may not force');
  await west.getByText(/First: .*West/).waitFor();
  await check_page(west, 'scan-refused');
  await s.server.kill();
  for (const page of [west, east]) {
    await page.reload(); // from the service worker
    await page.locator('main[data-ready="true"]').waitFor();
    await type_code(page, s.code(s.tickets[1].id));
    await headline(page).getByText('Let in', { exact: true }).waitFor();
    await page.getByText('Decided by this phone', { exact: false }).waitFor();
    await page.getByText('Scans waiting to be sent: 1').waitFor();
  }
  await type_code(west, s.code(s.tickets[1].id));
  await headline(west).getByText('Already in').waitFor();
  await type_code(west, ticket_codes(s.server, s.event.id, 1)(s.tickets[2].id));
  await headline(west).getByText('Not a genuine code').waitFor();
  await type_code(west, 'É'.repeat(300)); // more bytes than the server reads
  await headline(west).getByText('Not a ticket').waitFor();
  assert.ok(await fits(west));
  await check_page(west, 'scan-offline');
  await s.server.launch();
  for (const page of [west, east]) {
    await page.evaluate(() => globalThis.dispatchEvent(new Event('online')));
    await page.getByText('Scans waiting to be sent: 0').waitFor({ timeout: 30_000 });
    assert.ok(await page.locator('[data-local]').isHidden(), 'it is still to be sent');
  }
  const shown = await eventually('the conflict', async () => {
    const headings = [west, east].map((page) => page.getByRole('heading', { name: 'Conflicts' }));
    const visible = await Promise.all(headings.map((heading) => heading.isVisible()));
    return visible.includes(true) && visible;
  });
  assert.deepEqual(shown.filter(Boolean).length, 1, 'the phone that sent later shows the conflict');
  const { json } = await s.server.get(`/events/${s.event.id}/checkin/conflicts`, { token: s.organizer });
  assert.equal(json.items.length, 1);
  assert.equal(json.items[0].event_ticket.id, s.tickets[1].id);
  assert.deepEqual(json.items[0].scans.map(({ device }) => device).sort(), ['Phone 1', 'Phone 2']);
  const numbers = await s.checkin();
  assert.deepEqual([numbers.lists[0].entries, numbers.ticket_types[0].in, numbers.conflicts], [3, 2, 1]);
  await check_page(shown[0] ? west : east, 'scan-conflict');
});

test('a phone decides nothing before it knows its list, and says that it loads tickets', async (t) => {
  const s = await gate_for(t);
  // A service worker would ask instead of the page, whose requests the test stops.
  const context = await person(t, await browser_for(), { ...phone, serviceWorkers: 'block' });
  const page = await context.newPage();
  let is_away = true;
  let load;
  const loads = new Promise((resolve) => (load = resolve));
  await page.route(
    (url) => url.pathname === '/checkin',
    (route) => (is_away ? route.abort() : route.continue()),
  );
  await page.route(
    (url) => /^\/checkin\/.*\/state$/.test(url.pathname),
    async (route) => {
      await loads;
      await route.continue().catch(() => {}); // the page has given up
    },
  );
  await page.goto(s.scanners[0].scan_url.replace(/^https?:\/\/[^/]+/, s.server.url));
  await page.locator('main[data-ready="true"]').waitFor();
  await type_code(page, s.code(s.tickets[0].id));
  await headline(page).getByText('This phone has not loaded the list yet').waitFor();
  assert.ok(await page.locator('[data-force]').isHidden());
  is_away = false;
  await page.evaluate(() => globalThis.dispatchEvent(new Event('online')));
  const connection = page.locator('[data-connection]');
  await connection.getByText('Loading tickets').waitFor();
  load();
  await connection.getByText('Connected').waitFor({ timeout: 30_000 });
  await type_code(page, s.code(s.tickets[0].id));
  await headline(page).getByText('Let in', { exact: true }).waitFor();
});

test('a phone that restarts without a network knows whom the server has just let in', async (t) => {
  const s = await gate_for(t);
  const page = await phone_at(t, s, s.scanners[0]);
  await type_code(page, s.code(s.tickets[0].id));
  await headline(page).getByText('Let in', { exact: true }).waitFor();
  await has_kept(page); // before the next sync
  await s.server.kill();
  await page.reload();
  await page.locator('main[data-ready="true"]').waitFor();
  await type_code(page, s.code(s.tickets[0].id));
  await headline(page).getByText('Already in').waitFor();
  await page.getByText(/First: .*West/).waitFor();
  await type_code(page, s.code(crypto.randomUUID()));
  await headline(page).getByText('Genuine, but not on this list', { exact: false }).waitFor();
  await s.server.launch();
  await page.evaluate(() => globalThis.dispatchEvent(new Event('online')));
  await page.getByText('Scans waiting to be sent: 0').waitFor({ timeout: 30_000 });
  const numbers = await s.checkin();
  assert.deepEqual([numbers.lists[0].entries, numbers.conflicts], [1, 0]);
});

test('a phone says that a ticket has too many scans, and that its list was removed', async (t) => {
  const s = await gate_for(t, { mode: 'entry_and_exit' });
  const [scanner] = s.scanners;
  const often = s.tickets[0].id;
  for (let n = 0; n < 3; n += 1) {
    const scans = Array.from({ length: 100 }, (_, i) => ({
      nonce: crypto.randomUUID(),
      list_id: s.list.id,
      event_ticket_id: often,
      type: i % 2 === 0 ? 'entry' : 'exit',
      passed: true, // all in the same millisecond
    }));
    const sent = await s.server.post('/checkin/redeem', { token: scanner.token, body: { scans } });
    assert.ok(
      sent.json.results?.every(({ result }) => result === 'admitted'),
      sent.text,
    );
  }
  expect_problem(await s.redeem(scanner, { code: s.code(often) }), 409, 'too_many');
  const nowhere = { list_id: crypto.randomUUID(), code: s.code(often) };
  expect_problem(await s.redeem(scanner, nowhere), 404, 'not_found');
  const chief = await s.server.post(`/events/${s.event.id}/checkin/devices`, {
    token: s.organizer,
    body: { label: 'Chief', may_force: true },
  });
  assert.equal(chief.status, 201, chief.text);
  const page = await phone_at(t, s, chief.json);
  await type_code(page, s.code(s.tickets[1].id, 2));
  await headline(page).getByText('This ticket has another holder now').waitFor();
  assert.ok(await page.locator('[data-force]').isVisible());
  await type_code(page, s.code(often));
  await headline(page).getByText('Too many scans: ask the organizer').waitFor();
  assert.ok(await page.locator('[data-force]').isHidden(), 'it would let in the ticket before');
  await check_page(page, 'scan-too-many');
  const door = await s.server.post(`/events/${s.event.id}/checkin/lists`, {
    token: s.organizer,
    body: { name: 'Door', mode: 'entry' },
  });
  assert.equal(door.status, 201, door.text);
  const removed = await s.server.request('DELETE', `/events/${s.event.id}/checkin/lists/${s.list.id}`, {
    token: s.organizer,
  });
  assert.equal(removed.status, 204, removed.text);
  await type_code(page, s.code(s.tickets[1].id));
  await headline(page).getByText('This list was removed').waitFor();
  await page.getByText('This phone uses now: Door').waitFor();
  await type_code(page, s.code(s.tickets[1].id));
  await headline(page).getByText('Let in', { exact: true }).waitFor();
  const revoked = await s.server.request('DELETE', `/events/${s.event.id}/checkin/devices/${chief.json.id}`, {
    token: s.organizer,
  });
  assert.equal(revoked.status, 204, revoked.text);
  await type_code(page, s.code(s.tickets[1].id));
  await headline(page).getByText('This phone may not scan any more').waitFor();
});

/** The QR code of `qr` as a film of one picture, for Chromium's fake camera. */
function film_of({ size, path: black, quiet_zone }) {
  const [module, side] = [8, 480];
  const luma = Buffer.alloc(side * side, 235);
  for (const [, x, y, length] of black.matchAll(/M(\d+),(\d+)h(\d+)/g))
    for (let line = 0; line < module; line += 1) {
      const from = ((Number(y) + quiet_zone) * module + line) * side + (Number(x) + quiet_zone) * module;
      luma.fill(16, from, from + Number(length) * module);
    }
  assert.ok((size + 2 * quiet_zone) * module <= side, 'the code does not fit');
  const chroma = Buffer.alloc((side * side) / 2, 128);
  const file = path.join(temporary_folder(), 'camera.y4m');
  fs.writeFileSync(
    file,
    Buffer.concat([Buffer.from(`YUV4MPEG2 W${side} H${side} F10:1 Ip C420jpeg\nFRAME\n`), luma, chroma]),
  );
  return file;
}

test('the camera reads a code, in every language and from right to left', async (t) => {
  const s = await gate_for(t);
  const [scanner] = s.scanners;
  const context = await persistent_browser(t, {
    args: [
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-video-capture=${film_of(scanner.qr)}`,
    ],
  });
  const page = await context.newPage();
  await page.setViewportSize(phone.viewport);
  await page.goto(scanner.scan_url.replace(/^https?:\/\/[^/]+/, s.server.url));
  await page.locator('main[data-ready="true"]').waitFor();
  await page.getByRole('button', { name: 'Start the camera' }).click();
  await headline(page).getByText('Not a ticket').waitFor({ timeout: 20_000 }); // the film shows a device's code
  await page.getByLabel('Name, order or ticket').fill('obi');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByRole('button', { name: 'Check in: Ada Obi' }).first().click();
  await headline(page).getByText('Let in', { exact: true }).waitFor();
  for (const language of ['fr', 'es', 'hr', 'ar']) {
    await page.goto(`${s.server.url}/scan?lang=${language}`);
    await page.locator('main[data-ready="true"]').waitFor();
    assert.ok(await fits(page), language);
    await check_page(page, `scan-${language}`);
  }
});
