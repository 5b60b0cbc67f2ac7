// SPDX-License-Identifier: Apache-2.0
// The browser SDK without a browser, with scripted answers, for cases that a real server seldom has.
// pages.test.mjs tests it in Chromium.
import test from 'node:test';
import { createHash, webcrypto } from 'node:crypto';
import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { assert, eventually, root, run, server_for, sleep } from './lib.mjs';
import { chance_text, counted, odds_text, wait_text } from '../../web/sdk/estimate.mjs';
import { is_current, is_signed, read_code, rotating_code } from '../../web/sdk/event_ticket_code.mjs';
import { FairQueue, place_after, place_of, reconnect_delay } from '../../web/sdk/fairqueue.mjs';
import { languages, read_texts } from '../../web/texts.mjs';

const ticket = (changes = {}) => ({
  ticket_id: '01990000-0000-7000-8000-000000000001',
  queue_id: '01990000-0000-7000-8000-000000000002',
  status: 'WAITING',
  queue_number: 7,
  position: 5,
  eta: { low_seconds: 60, high_seconds: 120 },
  poll_after_ms: 60,
  ticket_token: 'a.b.c',
  ...changes,
});

/**
 * fetch() that answers by script: each entry is {status, body, headers}, an Error, or a function of the
 * request; the last one repeats.
 */
function scripted(answers) {
  const requests = [];
  const fetch = async (url, options) => {
    requests.push({ url, at: Date.now(), ...options });
    const next = answers.length > 1 ? answers.shift() : answers[0];
    const answer = typeof next === 'function' ? next(options) : next;
    if (answer instanceof Error) throw answer;
    const { status = 200, body = {}, headers = {} } = answer;
    return new Response(status === 204 ? null : JSON.stringify(body), { status, headers });
  };
  return { fetch, requests };
}

function memory() {
  const kept = new Map();
  return {
    kept,
    getItem: (k) => kept.get(k) ?? null,
    setItem: (k, v) => kept.set(k, v),
    removeItem: (k) => kept.delete(k),
  };
}

function line_for(t, answers, more = {}) {
  const script = scripted(answers);
  const storage = more.storage ?? memory();
  const line = new FairQueue({
    server: 'http://x/',
    queue: ticket().queue_id,
    key: 'wr_x_y',
    polling: true,
    ...script,
    storage,
    ...more,
  });
  const said = [];
  for (const type of ['change', 'admitted', 'end', 'connection'])
    line.addEventListener(type, ({ detail }) => said.push([type, detail]));
  t.after(() => line.close());
  return { line, said, storage, ...script };
}

test('a reconnection waits from 0 to its cap, which doubles up to 30 s', () => {
  assert.equal(
    reconnect_delay(0, () => 0),
    0,
  );
  assert.equal(
    reconnect_delay(0, () => 0.5),
    250,
  );
  assert.equal(
    reconnect_delay(3, () => 0.5),
    2000,
  );
  for (const attempt of [6, 20, 2000])
    assert.equal(
      reconnect_delay(attempt, () => 1),
      30_000,
    );
  const drawn = Array.from({ length: 2000 }, () => reconnect_delay(4));
  assert.ok(Math.min(...drawn) < 400 && Math.max(...drawn) > 7_600, 'the whole range is used');
});

test('polls at the time of the server, waits for Retry-After, and ends at a terminal state', async (t) => {
  const s = line_for(t, [
    { status: 201, body: ticket() },
    { body: ticket({ position: 4 }) },
    { status: 503, body: { code: 'unavailable' }, headers: { 'Retry-After': '1' } },
    { body: ticket({ position: null, status: 'ADMITTED', session_token: 's.t', poll_after_ms: 50 }) },
    { body: ticket({ position: null, status: 'SESSION_EXPIRED' }) },
  ]);
  await s.line.join();
  assert.equal(s.line.place.position, 4);
  await eventually('the end', () => s.said.some(([type]) => type === 'end'));
  const [, poll, refused, admitted] = s.requests;
  assert.ok(refused.at - poll.at >= 55, 'poll_after_ms');
  assert.ok(admitted.at - refused.at >= 990, 'Retry-After');
  assert.deepEqual(
    s.said.filter(([type]) => type === 'admitted').map(([, place]) => place.token),
    ['s.t'],
  );
  assert.equal(s.said.at(-1)[1].why, 'session_expired');
  const count = s.requests.length;
  await sleep(150);
  assert.equal(s.requests.length, count, 'nobody asks any more');
  for (const { credentials } of s.requests) assert.equal(credentials, 'omit');
});

const required = { status: 403, body: { code: 'challenge_required', title: 'Solve a challenge first.' } };
const body_of = ({ body }) => body && JSON.parse(body);

test('a join that needs a challenge is repeated with its solution, and a harder one if it was too easy', async (t) => {
  const salt = '00000000000000ab?expires=1795000300&n=17&max=30000&';
  const work = {
    body: {
      type: 'proof_of_work',
      algorithm: 'SHA-256',
      challenge: createHash('sha256').update(`${salt}777`).digest('hex'),
      salt,
      signature: 'ab',
      maxnumber: 1_000,
    },
  };
  const s = line_for(t, [required, work, required, work, { status: 201, body: ticket() }]);
  await s.line.join();
  const [first, asked, second, , third] = s.requests;
  assert.equal(first.body, undefined);
  assert.equal(asked.url, `http://x/queues/${ticket().queue_id}/challenge`);
  for (const { body, headers } of [second, third]) {
    const { number, signature } = JSON.parse(atob(JSON.parse(body).challenge));
    assert.deepEqual([number, signature], [777, 'ab']);
    assert.equal(headers['Idempotency-Key'], first.headers['Idempotency-Key']);
  }
  const stubborn = line_for(t, [required, work, required, work, required, work, required]);
  await assert.rejects(stubborn.line.join(), { code: 'challenge_required' });
  assert.equal(stubborn.requests.length, 7);
});

test('a captcha is shown by the page, and its response is exchanged', async (t) => {
  const captcha = { body: { type: 'turnstile', site_key: 'k', action: 'join', bound_to: 'q' } };
  const answers = () => [
    required,
    captcha,
    { status: 201, body: { challenge: 'c' } },
    { status: 201, body: ticket() },
  ];
  const s = line_for(t, answers(), { solve: async ({ site_key }) => `response to ${site_key}` });
  await s.line.join();
  assert.deepEqual(body_of(s.requests[2]), { captcha: 'response to k' });
  assert.deepEqual(body_of(s.requests[3]), { challenge: 'c' });
  await assert.rejects(line_for(t, answers()).line.join(), { code: 'challenge_required' });
});

test('a join with a lost answer is repeated with the same key; a refusal has its code', async (t) => {
  const storage = memory();
  const lost = line_for(t, [new TypeError('network')], { storage });
  await assert.rejects(lost.line.join(), /network/);
  const again = line_for(
    t,
    [
      { status: 409, body: { code: 'queue_full', title: 'Full' } },
      { status: 201, body: ticket() },
    ],
    { storage },
  );
  await assert.rejects(
    again.line.join(),
    (no) => no.name === 'FairQueueError' && no.status === 409 && no.code === 'queue_full',
  );
  await again.line.join();
  const keys = [...lost.requests, ...again.requests].map((r) => r.headers['Idempotency-Key']).filter(Boolean);
  assert.equal(keys.length, 3);
  assert.match(keys[0], /^[0-9a-f]{32}$/);
  assert.equal(new Set(keys).size, 1);
});

test('a stored place is found again, also by another tab; one unknown to the server is forgotten', async (t) => {
  const first = line_for(t, [{ status: 201, body: ticket() }, { body: ticket() }]);
  await first.line.join();
  const second = line_for(t, [{ body: ticket({ position: 3 }) }], { storage: first.storage });
  assert.equal((await second.line.resume()).position, 3);
  assert.equal(second.requests[0].method, 'GET');
  assert.equal(second.requests[0].headers.Authorization, 'Bearer a.b.c');
  const third = line_for(t, [{ status: 404, body: { code: 'not_found' } }], { storage: first.storage });
  assert.equal(await third.line.resume(), null);
  assert.deepEqual(third.said.at(-1), ['end', { why: 'gone', place: null }]);
  assert.equal(first.storage.kept.size, 0);
});

test('a late answer never raises a position, a new place may', () => {
  const known = place_of(ticket({ position: 3 }));
  assert.equal(place_of(ticket({ position: 5 }), known).position, 3);
  assert.equal(place_of(ticket({ position: 5, ticket_id: 'another' }), known).position, 5);
  assert.equal(place_of(ticket({ position: 2 }), known).position, 2);
});

test('every frame of the socket', () => {
  const waiting = place_after(null, { type: 'state', ticket: ticket(), queue_status: 'PAUSED' });
  assert.deepEqual([waiting.position, waiting.paused, waiting.ended], [5, true, false]);
  const moved = place_after(waiting, { type: 'position_changed', position: 2, ahead: 1, eta: null });
  assert.deepEqual([moved.position, moved.ahead, moved.eta, moved.paused], [2, 1, null, true]);
  assert.equal(place_after(moved, { type: 'resumed' }).paused, false);
  assert.equal(place_after(moved, { type: 'sold_out', sold_out: true }).soldOut, true);
  assert.equal(place_after(moved, { type: 'message', message: 'Hello' }).message, 'Hello');
  assert.equal(place_after(moved, { type: 'ended' }).ended, true);
  assert.equal(place_after(moved, { type: 'something new' }), moved, 'what it does not know changes nothing');
  const admitted = place_after(moved, {
    type: 'admitted',
    admission_token: 'x',
    session_expires_at: 'later',
    claim_by: 'soon',
  });
  assert.deepEqual(
    [admitted.status, admitted.token, admitted.position, admitted.claimBy],
    ['ADMITTED', 'x', null, 'soon'],
  );
  assert.equal(
    place_after(admitted, { type: 'position_changed', position: 9, ahead: 8 }),
    admitted,
    'too late',
  );
  for (const type of ['expired', 'cancelled', 'completed', 'session_expired', 'revoked']) {
    const over = place_after(admitted, { type });
    assert.deepEqual([over.status, over.token], [type.toUpperCase(), null]);
  }
});

test('odds are a sentence, in every language', () => {
  const texts = read_texts();
  const outlook = {
    tickets_free: 700,
    tickets_held: 100,
    people_ahead: 2000,
    buying_percent: { low: 30, high: 34 },
    buyers_ahead: 640,
    tickets_ahead: 650,
    chance_percent: { low: 60, high: 80 },
    chance: 'likely',
    waiting_list: false,
  };
  const place = place_after(null, { type: 'state', ticket: ticket({ outlook }), queue_status: 'ACTIVE' });
  assert.equal(
    odds_text(texts.en, 'en', place.outlook),
    'About 640 of the 2,000 people ahead of you will probably buy 650 tickets in total. 800 tickets are left.',
  );
  assert.equal(
    chance_text(texts.en, 'en', place.outlook),
    'Chance that a ticket is left for you: 60 to 80 % (likely).',
  );
  const moved = { type: 'position_changed', position: 2, ahead: 1, eta: null };
  assert.equal(place_after(place, moved).outlook.buyersAhead, 640, 'a frame without odds leaves them');
  const early = {
    ...outlook,
    buying_percent: null,
    buyers_ahead: null,
    chance_percent: null,
    chance: 'unknown',
  };
  const unknown = place_after(place, { ...moved, outlook: early }).outlook;
  assert.equal(odds_text(texts.en, 'en', unknown), 'Tickets left: 800.');
  assert.equal(chance_text(texts.en, 'en', unknown), '');
  assert.equal(odds_text(texts.en, 'en', null), '');
  const listed = place_after(place, { type: 'waiting_list', waiting_list: true });
  assert.deepEqual([listed.waitingList, listed.outlook], [true, null]);
  for (const language of languages)
    for (const text of [odds_text, chance_text])
      assert.doesNotMatch(text(texts[language], language, place.outlook), /[{}]|undefined/);
});

test('waits are ranges, in every language', () => {
  const texts = read_texts();
  const say = (low, high, language = 'en') => wait_text(texts[language], language, { low, high });
  assert.equal(wait_text(texts.en, 'en', null), 'It is too early to say');
  assert.equal(say(0, 59), 'Less than a minute');
  assert.equal(say(30, 61), 'Up to 2 minutes');
  assert.equal(say(60, 60), 'About 1 minute');
  assert.equal(say(119, 301), '1 to 6 minutes');
  assert.equal(say(3500, 7200), 'Up to 2 hours');
  assert.equal(say(3600, 7201), '1 to 3 hours');
  assert.equal(say(60, 120, 'ar'), 'من دقيقة إلى دقيقتين');
  assert.equal(counted(texts.hr, 'hr', 'ahead', 1234), '1.234 osobe ispred vas');
  for (const language of languages)
    for (const high of [1, 60, 120, 180, 660, 3600, 7200, 36_000, 360_000])
      assert.doesNotMatch(say(high / 3, high, language), /[{}]|undefined/);
});

const buyer = { first_name: 'Ada', last_name: 'Obi', email: 'ada@example.org' };
const event_line = (t, answers, more) =>
  line_for(t, answers, { queue: undefined, key: undefined, event: 'e1', token: 'c.t', ...more });

test('a checkout with a lost answer is repeated with the same key, another one has its own', async (t) => {
  const placed = { status: 202, body: { order_id: 'o1', status: 'processing', poll_after_ms: 5 } };
  const lost = event_line(t, [new TypeError('network')]);
  await assert.rejects(lost.line.checkout({ contact: buyer }), /network/);
  assert.ok(![...lost.storage.kept.values()].some((text) => text.includes(buyer.email)), 'no person is kept');
  const again = event_line(
    t,
    [
      { status: 503, body: { code: 'unavailable' } },
      { status: 409, body: { code: 'idempotency_in_progress' } },
      { status: 401, body: { code: 'unauthenticated' } },
      placed,
      { status: 409, body: { code: 'none_free' } },
      placed,
    ],
    { storage: lost.storage },
  );
  for (let i = 0; i < 3; ++i) await assert.rejects(again.line.checkout({ contact: buyer }));
  assert.equal((await again.line.checkout({ contact: buyer })).order_id, 'o1');
  assert.equal(lost.storage.kept.size, 0);
  await assert.rejects(again.line.checkout({ contact: buyer }), (no) => no.code === 'none_free');
  const answers = [{ question_id: 2, attendee: 1, value: 'M' }];
  await again.line.checkout({ contact: buyer, answers, promo_code: 'TEN' });
  const keys = [...lost.requests, ...again.requests].map((r) => r.headers['Idempotency-Key']);
  assert.equal(new Set(keys.slice(0, 5)).size, 1);
  assert.equal(new Set(keys.slice(4)).size, 3);
  assert.deepEqual(JSON.parse(again.requests.at(-1).body), {
    contact: buyer,
    answers,
    promo_code: 'TEN',
    event_id: 'e1',
  });
  const queue = line_for(t, [placed]);
  await assert.rejects(queue.line.checkout({ contact: buyer }), /only an event has orders/);
});

test('the changes of an order: at the pace of the server, across failures, until it is over', async (t) => {
  const status = (name, changes = {}) => ({
    body: { order_id: 'o1', status: name, payment_url: null, poll_after_ms: 40, ...changes },
  });
  const s = event_line(t, [
    status('pending'),
    status('pending'),
    new TypeError('network'),
    { status: 429, body: { code: 'rate_limited' }, headers: { 'Retry-After': '1' } },
    status('awaiting_payment', { payment_url: 'https://pay' }),
    status('awaiting_payment', { payment_url: 'https://pay' }),
    status('success'),
  ]);
  const seen = [];
  const { signal } = new AbortController();
  for await (const order of s.line.orderChanges('o1', { signal })) {
    seen.push([order.status, order.payment_url]);
    assert.equal(getEventListeners(signal, 'abort').length, 0, 'a passed pause listens no longer');
  }
  assert.deepEqual(seen, [
    ['pending', null],
    ['awaiting_payment', 'https://pay'],
    ['success', null],
  ]);
  assert.ok(s.requests[1].at - s.requests[0].at >= 35, 'poll_after_ms');
  assert.ok(s.requests[4].at - s.requests[3].at >= 990, 'Retry-After');
  const missing = event_line(t, [{ status: 404, body: { code: 'not_found' } }]);
  await assert.rejects(missing.line.orderChanges('o2').next(), (no) => no.code === 'not_found');
  for (const leave of [(then) => setTimeout(then, 5), (then) => then()]) {
    const leaving = new AbortController();
    const endless = event_line(t, [status('pending', { poll_after_ms: 60_000 })]);
    for await (const order of endless.line.orderChanges('o1', { signal: leaving.signal })) {
      assert.equal(order.status, 'pending');
      leave(() => leaving.abort());
    }
  }
});

/** A new customer's way through the event, by polling. */
async function line_of(t, server, event) {
  const token = await server.customer();
  const line = new FairQueue({
    server: server.url,
    event: event.id,
    token,
    storage: memory(),
    polling: true,
  });
  t.after(() => line.close());
  return line;
}

test('from the line to the ticket with a real server', async (t) => {
  const server = await server_for(t);
  const event = await server.event(await server.organizer(), { price: 2500 });
  const line = await line_of(t, server, event);
  await line.join();
  await eventually('admitted', () => line.place?.status === 'ADMITTED');
  const items = [{ ticket_type_id: event.ticket_types[0].id, quantity: 2 }];
  const price = await line.quote({ items });
  assert.equal(price.subtotal, 5000);
  const { order_id } = await line.checkout({ contact: buyer, items });
  assert.equal((await line.order(order_id)).event_id, event.id);
  const seen = [];
  for await (const { status, payment_url } of line.orderChanges(order_id)) {
    seen.push(status);
    if (status === 'awaiting_payment')
      await server.settle(new URL(payment_url).pathname.split('/').at(-1), 'pay');
  }
  assert.equal(seen.at(-1), 'success');
  assert.match(await line.receipt(), /^c2sp\.org\/tlog-proof@v1\n/);
  const [ticket] = (await line.eventTickets()).items;
  const held = await line.eventTicket(ticket.id);
  assert.equal(read_code(held.code).ticket, ticket.id);
  const offer = await line.transfer(ticket.id, 'ben@example.org');
  assert.equal((await line.transfers()).items[0].email, 'ben@example.org');
  assert.equal((await line.answerTransfer(offer.transfer_id, 'withdraw')).status, 'WITHDRAWN');
});

test('the best seats of a map are priced and bought with a real server', async (t) => {
  const server = await server_for(t);
  const event = await server.seated_event(
    await server.organizer(),
    { ticket_types: [{ name: 'Stalls', price: 2500, total: 1, max_per_order: 4 }] },
    {
      sections: [{ section: 'P', name: 'Parket', ticket_type: 'Stalls', rows: 1, seats: 6 }],
      lettered_rows: true,
    },
  );
  const line = await line_of(t, server, event);
  const map = await line.seats();
  t.after(() => map.close());
  assert.equal(map.seats.length, 6);
  const states = () => map.seats.map((_, n) => map.seat(n).state);
  assert.deepEqual(new Set(states()), new Set(['free']));
  const { name, section, row, ticket_type_id } = map.seat(0);
  assert.deepEqual([name, section, row, ticket_type_id], ['P-A-1', 'Parket', 'A', event.ticket_types[0].id]);
  await line.join();
  await eventually('admitted', () => line.place?.status === 'ADMITTED');
  const price = await line.quoteBest(2, { section: 'P' });
  assert.deepEqual([price.subtotal, price.items[0].quantity], [5000, 2]);
  await map.refresh();
  assert.deepEqual(new Set(states()), new Set(['free']), 'a price holds nothing');
  await assert.rejects(line.quoteBest(2, { section: 'Q' }), { code: 'invalid_field' });
  const { order_id } = await line.checkoutBest(2, { contact: buyer, section: 'P' });
  const [first, second] = await eventually('two held seats', async () => {
    await map.refresh();
    const held = states().flatMap((state, n) => (state === 'held' ? [n] : []));
    return held.length === 2 && held;
  });
  assert.equal(second - first, 1, 'side by side');
  assert.equal((await line.order(order_id)).event_id, event.id);
});

test('friends in the lobby form a party with a real server', async (t) => {
  const server = await server_for(t);
  const opens_at = new Date(Date.now() + 600_000).toISOString();
  const event = await server.event(await server.organizer(), {
    lobby_opens_at: new Date(Date.now() - 1000).toISOString(),
    queue_opens_at: opens_at,
    sale_start: opens_at,
    draw: 'at_opening',
  });
  const fan = async () => {
    const token = await server.customer();
    const line = new FairQueue({
      server: server.url,
      event: event.id,
      token,
      storage: memory(),
      polling: true,
    });
    t.after(() => line.close());
    return line;
  };
  const [ann, bob, eve] = [await fan(), await fan(), await fan()];
  await assert.rejects(ann.party(), { code: 'not_in_queue' });
  assert.equal((await ann.join()).lobby.status, 'OPEN');
  const { code } = (await ann.party()).party;
  await bob.join();
  assert.deepEqual((await bob.party(code)).party, { code, members: 2 });
  await eve.join({ partyCode: code });
  assert.equal(eve.place.party.members, 3);
  await assert.rejects(eve.party('2-00000000'), { code: 'party_unknown' });
});

test('the types compile', async () => {
  const web = path.join(root, 'web');
  const { code, out, err } = await run('npm', ['run', '--silent', 'check'], { cwd: web });
  assert.equal(code, 0, out + err);
});

// -- codes of event tickets: the vectors of docs/design/tickets.md

globalThis.crypto ??= webcrypto; // Node 18

const vectors = (() => {
  const document = fs.readFileSync(path.join(root, 'docs/design/tickets.md'), 'utf8');
  const vector = (name) => new RegExp(`^${name} +(\\S.*)$`, 'm').exec(document)[1];
  const bytes = (name) => Uint8Array.from(Buffer.from(vector(name), 'hex'));
  const rotating = [...document.matchAll(/^ +at Unix time .*\n +(\S.*)$|^rotating code .*\n +(\S.*)$/gm)];
  return {
    public_key: bytes('public key'),
    secret: bytes('ticket secret'),
    fixed: vector('fixed code'),
    rotating: rotating.map(([, later, first]) => first ?? later),
    claims: {
      event: '01234567-89ab-cdef-fedc-ba9876543210',
      ticket: '019ab2c3-d4e5-7f60-a1b2-c3d4e5f60718',
      generation: 7,
    },
  };
})();

test('a fixed code of an event ticket is verified in the browser', async () => {
  const { fixed, claims, public_key } = vectors;
  const code = read_code(fixed);
  const { kind, event, ticket, generation } = code;
  assert.deepEqual({ kind, event, ticket, generation }, { kind: 'fixed', ...claims });
  assert.equal(await is_signed(code, public_key), true);
  assert.equal(await is_current(code, vectors.secret, 1_795_000_000_000), false);
  for (let i = 0; i < fixed.length; i += 1) {
    const changed = read_code(fixed.slice(0, i) + (fixed[i] === 'A' ? 'B' : 'A') + fixed.slice(i + 1));
    assert.ok(!changed || !(await is_signed(changed, public_key)), `changed at ${i}`);
  }
  for (const text of ['', `${fixed}0`, `${fixed}00`, ` ${fixed}`, fixed.toLowerCase(), fixed.slice(3), 'GGW'])
    assert.equal(read_code(text), null, text);
});

test('a rotating code of an event ticket is made and verified in the browser', async () => {
  const { rotating, claims, secret, public_key } = vectors;
  assert.equal(rotating.length, 2);
  assert.equal(await rotating_code(secret, claims, 1_795_000_000_000), rotating[0]);
  assert.equal(await rotating_code(secret, claims, 1_795_000_029_000), rotating[1]);
  const code = read_code(rotating[0]);
  assert.equal(await is_signed(code, public_key), false);
  for (const [second, expected] of [
    [1_794_999_959, false],
    [1_794_999_960, true],
    [1_795_000_049, true],
    [1_795_000_050, false],
  ])
    assert.equal(await is_current(code, secret, second * 1000), expected, `${second}`);
  assert.equal(
    await is_current(
      code,
      secret.map((b) => b ^ 1),
      1_795_000_000_000,
    ),
    false,
  );
});
