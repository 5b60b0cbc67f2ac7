// SPDX-License-Identifier: Apache-2.0
// Whole sales against the real server, from the organizer's sign-in to the confirmed ticket, with all their
// variants.
import test from 'node:test';
import { after, assert, eventually, expect_problem, sale, server_for, sleep } from './lib.mjs';

test('a sale from login to ticket', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const [fan, other] = await server.customers(2);

  const draft = await server.event(organizer, { total: 2, price: 12345 }, { activate: false });
  assert.equal(draft.status, 'DRAFT');
  assert.equal(draft.currency, 'NGN');
  assert.equal(draft.total_inventory, 2);
  assert.equal(draft.available, 2);
  assert.equal(draft.sold_out, false);
  assert.equal(draft.ticket_types.length, 1);
  expect_problem(
    await server.get(`/events/${draft.id}`, { token: fan }),
    404,
    'not_found',
    "a draft is its organizer's",
  );
  expect_problem(await server.post(`/events/${draft.id}/queue`, { token: fan }), 404, 'not_found');
  assert.equal((await server.get(`/events/${draft.id}`, { token: organizer })).status, 200);

  const active = await server.post(`/events/${draft.id}/activate`, { token: organizer });
  assert.equal(active.json.status, 'ACTIVE');
  const event = draft.id;
  assert.equal((await server.get(`/events/${event}`)).json.status, 'ACTIVE', 'now everybody sees it');
  const listed = await server.get('/events');
  assert.ok(
    listed.json.items.some((e) => e.id === event),
    listed.text,
  );

  const joined = await server.post(`/events/${event}/queue`, { token: fan });
  assert.equal(joined.status, 201, joined.text);
  assert.equal(joined.json.event_id, event);
  assert.equal(joined.json.queue_number, 1);
  assert.equal(typeof joined.json.ticket_token, 'string');
  assert.ok(joined.json.poll_after_ms > 0);
  const again = await server.post(`/events/${event}/queue`, { token: fan });
  assert.equal(again.status, 200, again.text);
  assert.equal(again.json.entry_id, joined.json.entry_id);
  assert.equal(again.json.queue_number, 1);
  expect_problem(await server.get(`/events/${event}/queue/position`, { token: other }), 404, 'not_in_queue');

  const entry = await server.admitted(fan, event);
  assert.equal(entry.position, null);
  assert.equal(entry.queue_number, 1);
  assert.ok(entry.admission_batch >= 1);
  assert.ok(Date.parse(entry.admitted_at) > 0);
  assert.ok(Date.parse(entry.session_expires_at) > Date.parse(entry.claim_by));
  assert.equal(entry.ticket_token, undefined);

  const created = await server.post(`/events/${event}/claims`, {
    token: fan,
    body: { admission_token: entry.admission_token },
  });
  assert.equal(created.status, 201, created.text);
  const claim = created.json;
  assert.equal(created.headers.location, `/claims/${claim.claim_id}`);
  assert.equal(claim.status, 'CLAIMED');
  assert.equal(claim.amount, 12345);
  assert.equal(claim.currency, 'NGN');
  assert.deepEqual(claim.items, [
    { ticket_type_id: draft.ticket_types[0].id, quantity: 1, unit_price: 12345 },
  ]);
  expect_problem(await server.delete(`/events/${event}/queue`, { token: fan }), 409, 'claim_live');
  const second = await server.post(`/events/${event}/claims`, {
    token: fan,
    body: { admission_token: entry.admission_token },
  });
  expect_problem(second, 409, 'already_claimed');
  assert.equal(second.json.claim_id, claim.claim_id);

  const opened = await server.post(`/claims/${claim.claim_id}/payments`, { token: fan });
  assert.equal(opened.status, 201, opened.text);
  const payment = opened.json;
  assert.equal(payment.status, 'PENDING');
  assert.equal(payment.amount, 12345);
  assert.equal(payment.gateway, 'sandbox');
  assert.equal(payment.authorization_url, `${server.url}/sandbox/pay/${payment.reference}`);
  const same = await server.post(`/claims/${claim.claim_id}/payments`, { token: fan });
  assert.equal(same.status, 200, same.text);
  assert.equal(same.json.payment_id, payment.payment_id);
  expect_problem(await server.delete(`/claims/${claim.claim_id}`, { token: fan }), 409, 'payment_open');

  const page = await server.get(`/sandbox/pay/${payment.reference}`);
  assert.equal(page.status, 200);
  assert.match(page.headers['content-type'], /^text\/html/);
  assert.match(page.text, /<form/);
  const paid = await server.post(`/sandbox/pay/${payment.reference}`, {
    body: 'action=pay',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  assert.equal(paid.status, 303, paid.text);
  assert.match(paid.headers.location, new RegExp(`/sandbox/pay/${payment.reference}$`));
  const repeated = await server.settle(payment.reference, 'pay');
  assert.equal(repeated.status, 200, repeated.text);
  assert.equal(repeated.json.status, 'paid');
  expect_problem(await server.settle(payment.reference, 'decline'), 409, 'sandbox_settled');

  await server.payment_reaches(fan, payment.payment_id, 'CONFIRMED');
  assert.equal((await server.get(`/claims/${claim.claim_id}`, { token: fan })).json.status, 'CONFIRMED');
  assert.equal((await server.position(fan, event)).status, 'COMPLETED');
  expect_problem(await server.delete(`/claims/${claim.claim_id}`, { token: fan }), 409, 'invalid_transition');
  const stats = await server.stats(organizer, event);
  assert.equal(stats.sold, 1);
  assert.equal(stats.held, 0);
  assert.equal(stats.available, 1);
  assert.equal(stats.claims_confirmed, 1);
  assert.equal(stats.completed_total, 1);
  assert.equal(stats.revenue, 12345);
  assert.equal(stats.payments_open, 0);
  await server.stop();
});

test('statistics and the report of a sale survive a kill', async (t) => {
  const server = await server_for(t, {
    settings: { 'workers.statistics_interval': '1s', 'checkout.fees': '*:0:0:0' },
  });
  const organizer = await server.organizer();
  const event = (await server.event(organizer, { total: 2, price: 12345 })).id;
  const [fan] = await server.customers(1);
  await server.join(fan, event);
  await server.buy(fan, event, (await server.admitted(fan, event)).admission_token);
  const read = async (what) => {
    const answer = await server.insist('GET', `/events/${event}/${what}`, { token: organizer });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const sums = ({ points }) => ({
    arrivals: points.reduce((sum, point) => sum + point.arrivals, 0),
    admissions: points.reduce((sum, point) => sum + point.admissions, 0),
    sold: points.at(-1)?.sold,
    revenue: points.at(-1)?.revenue,
  });
  const all = { arrivals: 1, admissions: 1, sold: 1, revenue: 12345 };
  const stored = await eventually('the purchase is stored', async () => {
    const { json } = await read('statistics');
    return json.points.at(-1)?.sold === 1 && json;
  });
  assert.deepEqual(sums(stored), all);
  assert.equal(stored.step_seconds, 60);
  assert.equal(stored.next_from, null);
  await server.restart();
  assert.deepEqual(sums((await read('statistics')).json), all);
  const day = (await read(`statistics?step=86400&to=${encodeURIComponent(stored.to)}`)).json;
  assert.deepEqual(sums(day), all);

  const report = (await read('report')).json;
  assert.deepEqual(
    [report.sold, report.total, report.purchases, report.buyers, report.conversion_percent, report.revenue],
    [1, 2, 1, 1, 100, 12345],
  );
  assert.equal(report.minutes_to_sold_out, null);
  assert.deepEqual(
    report.ticket_types.map(({ sold, refunded, revenue }) => [sold, refunded, revenue]),
    [[1, 0, 12345]],
  );
  assert.deepEqual(report.interventions.counts, { 'event.activate': 1, 'event.create': 1 });
  assert.match((await read('report.csv')).text, /"sale","","revenue","123\.45"\r\n/);
  const pdf = await read('report.pdf');
  assert.equal(pdf.headers['content-type'], 'application/pdf');
  assert.match(pdf.text, /^%PDF-/);
});

test('positions: numbers never change, positions only fall, leaving makes room', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'operator' } });
  const fans = await server.customers(6);
  for (let i = 0; i < fans.length; ++i) {
    const entry = await server.join(fans[i], event);
    assert.equal(entry.status, 'WAITING');
    assert.equal(entry.queue_number, i + 1);
    assert.equal(entry.position, i + 1);
    assert.equal(entry.ahead, i);
    assert.equal(entry.admission_token ?? null, null);
  }
  assert.equal((await server.delete(`/events/${event}/queue`, { token: fans[1] })).status, 204);
  assert.equal(
    (await server.delete(`/events/${event}/queue`, { token: fans[1] })).status,
    204,
    'leaving twice is leaving',
  );
  assert.equal((await server.position(fans[1], event)).status, 'CANCELLED');
  for (const [i, expected] of [
    [0, 1],
    [2, 2],
    [5, 5],
  ]) {
    const entry = await server.position(fans[i], event);
    assert.equal(entry.queue_number, i + 1);
    assert.equal(entry.position, expected);
  }
  const back = await server.join(fans[1], event);
  assert.equal(back.queue_number, 7, 'who comes back goes to the end');
  assert.equal(back.position, 6);
  assert.equal((await server.stats(organizer, event)).waiting, 6);
  expect_problem(
    await server.delete(`/events/${event}/queue`, { token: await server.customer() }),
    404,
    'not_in_queue',
  );
});

test('admission in batches, in order, limited by stock', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, {
    total: 6,
    queue: { batch_size: 2, admission_interval_ms: 150 },
  });
  const fans = await server.customers(10);
  for (const fan of fans) await server.join(fan, event);
  const entries = [];
  for (const fan of fans.slice(0, 6)) entries.push(await server.admitted(fan, event));
  const sizes = new Map();
  for (const [i, entry] of entries.entries()) {
    sizes.set(entry.admission_batch, (sizes.get(entry.admission_batch) ?? 0) + 1);
    if (i > 0)
      assert.ok(
        entry.admission_batch >= entries[i - 1].admission_batch,
        'a later number in an earlier batch',
      );
  }
  for (const [batch, size] of sizes) assert.ok(size <= 2, `batch ${batch} has ${size}`);
  await sleep(600);
  for (const fan of fans.slice(6))
    assert.equal((await server.position(fan, event)).status, 'WAITING', 'six tickets, six admitted');
});

test('an admission token works for its fan and its event only', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  const { id: elsewhere } = await server.event(organizer);
  const [fan, thief] = await server.customers(2);
  const mine = await server.join_and_be_admitted(fan, event);
  await server.join_and_be_admitted(thief, event);
  await server.join_and_be_admitted(fan, elsewhere);
  const attempt = (token, where, admission_token) =>
    server.post(`/events/${where}/claims`, { token, body: { admission_token } });
  expect_problem(await attempt(thief, event, mine.admission_token), 403, 'not_admitted', 'another fan');
  expect_problem(await attempt(fan, elsewhere, mine.admission_token), 403, 'not_admitted', 'another event');
  expect_problem(await attempt(fan, event, 'nonsense'), 403, 'not_admitted', 'nonsense');
  const [entry_part] = mine.admission_token.split('.');
  expect_problem(
    await attempt(fan, event, `${entry_part}.${'A'.repeat(43)}`),
    403,
    'not_admitted',
    'a guessed secret',
  );
  expect_problem(
    await attempt(await server.customer(), event, mine.admission_token),
    403,
    'not_admitted',
    'a stranger',
  );
  await server.claim(fan, event, mine.admission_token);
});

test('ticket types, quantities and limits', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const event = await server.event(organizer, {
    ticket_types: [
      { name: 'Standing', price: 1000, total: 5, max_per_order: 3 },
      { name: 'Seated', price: 2500, total: 2, max_per_order: 2 },
      { name: 'Later', price: 9000, total: 2, on_sale: false },
    ],
  });
  const [standing, seated, later] = event.ticket_types.map((type) => type.id);
  const [fan, second] = await server.customers(2);
  const { admission_token } = await server.join_and_be_admitted(fan, event.id);
  const attempt = (items) =>
    server.post(`/events/${event.id}/claims`, { token: fan, body: { admission_token, items } });
  expect_problem(await attempt([{ ticket_type_id: standing, quantity: 4 }]), 409, 'limit_exceeded');
  expect_problem(await attempt([{ ticket_type_id: later, quantity: 1 }]), 400, 'invalid_field');
  expect_problem(await attempt([{ ticket_type_id: event.id, quantity: 1 }]), 400, 'invalid_field');
  expect_problem(await attempt([{ ticket_type_id: standing, quantity: 0 }]), 400, 'invalid_field');
  expect_problem(
    await attempt([
      { ticket_type_id: standing, quantity: 1 },
      { ticket_type_id: standing, quantity: 1 },
    ]),
    400,
  );
  const claim = await attempt([
    { ticket_type_id: standing, quantity: 2 },
    { ticket_type_id: seated, quantity: 2 },
  ]);
  assert.equal(claim.status, 201, claim.text);
  assert.equal(claim.json.amount, 7000);
  const shown = (await server.get(`/events/${event.id}`)).json.ticket_types;
  assert.equal(shown.find((x) => x.id === standing).available, 3);
  assert.equal(shown.find((x) => x.id === seated).available, 0);
  const next = await server.join_and_be_admitted(second, event.id);
  expect_problem(
    await server.post(`/events/${event.id}/claims`, {
      token: second,
      body: {
        admission_token: next.admission_token,
        items: [{ ticket_type_id: seated, quantity: 1 }],
      },
    }),
    409,
    'none_free',
  );
});

test('a declined payment leaves the claim; the second attempt pays; attempts are counted', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { total: 2 });
  const [fan, unlucky] = await server.customers(2);
  const { admission_token } = await server.join_and_be_admitted(fan, event);
  const claim = await server.claim(fan, event, admission_token);
  const first = await server.open_payment(fan, claim.claim_id);
  assert.equal((await server.settle(first.reference, 'decline')).json.status, 'declined');
  await server.payment_reaches(fan, first.payment_id, 'FAILED');
  assert.equal((await server.get(`/claims/${claim.claim_id}`, { token: fan })).json.status, 'CLAIMED');
  const second = await server.open_payment(fan, claim.claim_id);
  assert.notEqual(second.payment_id, first.payment_id);
  await server.settle(second.reference, 'pay');
  await server.claim_reaches(fan, claim.claim_id, 'CONFIRMED');
  expect_problem(
    await server.post(`/claims/${claim.claim_id}/payments`, { token: fan }),
    409,
    'claim_not_payable',
  );

  const entry = await server.join_and_be_admitted(unlucky, event);
  const lost = await server.claim(unlucky, event, entry.admission_token);
  for (let attempt = 0; attempt < 3; ++attempt) {
    const payment = await server.open_payment(unlucky, lost.claim_id);
    await server.settle(payment.reference, 'decline');
    await server.payment_reaches(unlucky, payment.payment_id, 'FAILED');
  }
  expect_problem(
    await server.post(`/claims/${lost.claim_id}/payments`, { token: unlucky }),
    409,
    'attempts_exhausted',
  );
});

test('no-shows and unpaid claims give their stock to the next in line', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, {
    total: 1,
    claim_ttl_seconds: 3,
    queue: { claim_window_seconds: 2, reclaim_window_seconds: 1, session_ttl_seconds: 8 },
  });
  const change = async (body) => {
    const changed = await server.patch(`/events/${event}`, { token: organizer, body });
    assert.equal(changed.status, 200, changed.text);
  };
  const [no_show, dreamer, abandoner, buyer] = await server.customers(4);
  await server.join(no_show, event);
  const first = await eventually('the first is admitted', async () => {
    const entry = await server.position(no_show, event);
    return entry.admitted_at && entry; // also when its window has passed
  });
  await change({ queue: { claim_window_seconds: 60, session_ttl_seconds: 120 } }); // the others have time
  for (const fan of [dreamer, abandoner, buyer]) await server.join(fan, event);

  const second = await server.admitted(dreamer, event, { timeout_ms: 5000 });
  const waited = Date.parse(second.admitted_at) - Date.parse(first.admitted_at);
  assert.ok(waited >= 2000, `the next waits for the end of the window: ${waited} ms`);
  assert.equal((await server.position(no_show, event)).status, 'SESSION_EXPIRED');
  const unpaid = await server.claim(dreamer, event, second.admission_token);
  await server.claim_reaches(dreamer, unpaid.claim_id, 'RELEASED', { timeout_ms: 6000 });

  const third = await server.admitted(abandoner, event, { timeout_ms: 8000 });
  const opened = await server.claim(abandoner, event, third.admission_token);
  const payment = await server.open_payment(abandoner, opened.claim_id);
  await change({ claim_ttl_seconds: 60 });
  await server.claim_reaches(abandoner, opened.claim_id, 'RELEASED', { timeout_ms: 8000 });
  assert.equal(
    (await server.get(`/payments/${payment.payment_id}`, { token: abandoner })).json.status,
    'FAILED',
  );
  expect_problem(
    await server.settle(payment.reference, 'pay'),
    409,
    'sandbox_settled',
    'the page is closed, no money is taken',
  );

  const last = await server.admitted(buyer, event, { timeout_ms: 8000 });
  await server.buy(buyer, event, last.admission_token);
  const stats = await server.stats(organizer, event);
  assert.equal(stats.sold, 1);
  assert.equal(stats.available, 0);
});

test('a claim given back starts a short window, or ends with the place', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, {
    total: 1,
    queue: { reclaim_window_seconds: 2, reclaims_max: 1 },
  });
  const [first, second, third] = await server.customers(3);
  for (const fan of [first, second, third]) await server.join(fan, event);
  const give_back = async (fan, { admission_token }, query = '') => {
    const { claim_id } = await server.claim(fan, event, admission_token);
    const released = await server.delete(`/claims/${claim_id}${query}`, { token: fan });
    assert.equal(released.status, 204, released.text);
  };

  await give_back(first, await server.admitted(first, event));
  const again = await server.position(first, event);
  const is_over = again.status === 'SESSION_EXPIRED'; // when the machine stood still
  assert.ok(is_over || Date.parse(again.claim_by) - Date.now() < 2_100, again.claim_by);
  await give_back(second, await server.admitted(second, event, { timeout_ms: 8_000 }), '?leave=true');
  assert.equal((await server.position(first, event)).status, 'SESSION_EXPIRED');
  assert.equal((await server.position(second, event)).status, 'COMPLETED');
  const last = await server.admitted(third, event); // a no-show would have 30 s
  expect_problem(
    await server.delete(`/claims/${event}?leave=maybe`, { token: third }),
    400,
    'invalid_parameter',
  );
  await server.buy(third, event, last.admission_token);
});

test('sold out is pushed, and revoked when a ticket is free again', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const {
    id: event,
    ticket_types: [type],
  } = await server.event(organizer, {
    total: 1,
    queue: { over_admission_factor: 3 },
  });
  const [holder, quick, late] = await server.customers(3);
  const first = await server.join_and_be_admitted(holder, event);
  const second = await server.join_and_be_admitted(quick, event);
  const claim = await server.claim(holder, event, first.admission_token);
  expect_problem(
    await server.post(`/events/${event}/claims`, {
      token: quick,
      body: { admission_token: second.admission_token },
    }),
    409,
    'none_free',
    'held is not sold',
  );
  assert.equal((await server.get(`/events/${event}`)).json.sold_out, false);
  const released = await server.delete(`/claims/${claim.claim_id}`, { token: holder });
  assert.equal(released.status, 204, released.text);
  assert.equal((await server.delete(`/claims/${claim.claim_id}`, { token: holder })).status, 204, 'again');

  await server.buy(quick, event, second.admission_token);
  await eventually('sold_out', async () => (await server.get(`/events/${event}`)).json.sold_out);
  expect_problem(
    await server.post(`/events/${event}/claims`, {
      token: holder,
      body: { admission_token: first.admission_token },
    }),
    410,
    'event_sold_out',
  );
  const waiting = await server.join(late, event);
  assert.equal(waiting.status, 'WAITING', 'one may stay in line');

  const raised = await server.patch(`/events/${event}`, {
    token: organizer,
    body: { ticket_types: [{ id: type.id, total: 3 }] },
  });
  assert.equal(raised.status, 200, raised.text);
  assert.equal(raised.json.sold_out, false);
  const entry = await server.admitted(late, event);
  await server.buy(late, event, entry.admission_token);
  const below = await server.patch(`/events/${event}`, {
    token: organizer,
    body: { ticket_types: [{ id: type.id, total: 1 }] },
  });
  expect_problem(below, 409, 'total_below_committed');
  assert.equal(below.json.sold, 2);
});

test('pause stops admission, not joining; resume continues', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer);
  const [fan] = await server.customers(1);
  const paused = await server.post(`/events/${event}/pause`, { token: organizer });
  assert.equal(paused.json.status, 'PAUSED');
  const wrong = await server.post(`/events/${event}/pause`, { token: organizer });
  expect_problem(wrong, 409, 'invalid_transition');
  assert.equal((await server.join(fan, event)).status, 'WAITING');
  await sleep(500);
  assert.equal((await server.position(fan, event)).status, 'WAITING');
  assert.ok(
    (await server.get('/events')).json.items.some((e) => e.id === event),
    'a paused sale is listed',
  );
  const resumed = await server.request('PUT', `/events/${event}/resume`, { token: organizer });
  assert.equal(resumed.json?.status, 'ACTIVE', `PUT is an alias: ${resumed.text}`);
  await server.admitted(fan, event);
});

test('end: waiters leave, admitted fans finish', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { total: 1 });
  const [admitted, waiting] = await server.customers(2);
  const entry = await server.join_and_be_admitted(admitted, event);
  await server.join(waiting, event);
  assert.equal((await server.post(`/events/${event}/end`, { token: organizer })).json.status, 'ENDED');
  await eventually(
    'the waiter is out',
    async () => (await server.position(waiting, event)).status === 'CANCELLED',
  );
  expect_problem(await server.post(`/events/${event}/queue`, { token: waiting }), 410, 'event_ended');
  await server.buy(admitted, event, entry.admission_token);
  expect_problem(
    await server.post(`/events/${event}/resume`, { token: organizer }),
    409,
    'invalid_transition',
  );
  expect_problem(
    await server.patch(`/events/${event}`, { token: organizer, body: { name: 'x' } }),
    409,
    'invalid_transition',
  );
  assert.ok(
    !(await server.get('/events')).json.items.some((e) => e.id === event),
    'an ended sale is not listed',
  );
  assert.ok(
    (await server.get('/events?mine=true', { token: organizer })).json.items.some((e) => e.id === event),
  );
});

test('cancel: all customers get the money back', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { total: 3, price: 700 });
  const [payer, claimer, browser, waiter] = await server.customers(4);
  const bought = await server.buy(
    payer,
    event,
    (await server.join_and_be_admitted(payer, event)).admission_token,
  );
  const held = await server.claim(
    claimer,
    event,
    (await server.join_and_be_admitted(claimer, event)).admission_token,
  );
  await server.join_and_be_admitted(browser, event);
  await server.join(waiter, event);
  const cancelled = await server.post(`/events/${event}/cancel`, { token: organizer });
  assert.equal(cancelled.json.status, 'CANCELLED', cancelled.text);
  const payment = await server.payment_reaches(payer, bought.payment.payment_id, 'REFUNDED');
  assert.equal(payment.refunded_amount, 700);
  await server.claim_reaches(payer, bought.claim.claim_id, 'REFUNDED');
  await server.claim_reaches(claimer, held.claim_id, 'RELEASED');
  await eventually(
    'the session is revoked',
    async () => (await server.position(browser, event)).status === 'REVOKED',
  );
  await eventually(
    'the waiter is out',
    async () => (await server.position(waiter, event)).status === 'CANCELLED',
  );
  const stats = await server.stats(organizer, event);
  assert.equal(stats.revenue, 0);
  assert.equal(stats.refunded, 700);
  assert.equal(stats.sold, 0);
  expect_problem(await server.post(`/events/${event}/queue`, { token: waiter }), 410, 'event_ended');
});

test('late money: the ticket again while there is stock, else the money back', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, {
    total: 1,
    price: 900,
    queue: { over_admission_factor: 3 },
  });
  const [lucky, late] = await server.customers(2);

  // The gateway reports "failed", the fan gives up and pays anyway: the charge is still open at the sandbox.
  const give_up_and_pay_later = async (fan) => {
    const { admission_token } = await server.join_and_be_admitted(fan, event);
    const claim = await server.claim(fan, event, admission_token);
    const payment = await server.open_payment(fan, claim.claim_id);
    const failed = server.webhook({
      event: 'charge.failed',
      data: { reference: payment.reference, amount: 900, currency: 'NGN', status: 'failed' },
    });
    assert.equal((await server.post('/webhooks/sandbox', failed)).status, 200);
    await server.payment_reaches(fan, payment.payment_id, 'FAILED');
    assert.equal((await server.delete(`/claims/${claim.claim_id}`, { token: fan })).status, 204);
    return { claim, payment };
  };

  const first = await give_up_and_pay_later(late);
  const { admission_token } = await server.join_and_be_admitted(lucky, event);
  const taken = await server.claim(lucky, event, admission_token);
  assert.equal((await server.settle(first.payment.reference, 'pay')).json.status, 'paid');
  const refunded = await server.payment_reaches(late, first.payment.payment_id, 'REFUNDED');
  assert.equal(refunded.refunded_amount, 900);
  assert.equal(
    (await server.get(`/claims/${first.claim.claim_id}`, { token: late })).json.status,
    'RELEASED',
  );

  assert.equal((await server.delete(`/claims/${taken.claim_id}`, { token: lucky })).status, 204);
  const again = await server.customer();
  const second = await give_up_and_pay_later(again);
  await server.settle(second.payment.reference, 'pay');
  const kept = await server.payment_reaches(again, second.payment.payment_id, 'CONFIRMED');
  const ticket = await server.get(`/claims/${kept.claim_id}`, { token: again });
  assert.equal(ticket.json.status, 'CONFIRMED', 'money that came late bought the free ticket');
  const stats = await server.stats(organizer, event);
  assert.deepEqual([stats.sold, stats.held, stats.available], [1, 0, 0]);
  assert.equal(stats.revenue, 900);
  assert.equal(stats.refunded, 900);
});

test('webhooks: repeats have one effect; a different amount has none', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { total: 2, price: 800 });
  const [fan, odd] = await server.customers(2);
  const open = async (who) => {
    const { admission_token } = await server.join_and_be_admitted(who, event);
    const claim = await server.claim(who, event, admission_token);
    return { claim, payment: await server.open_payment(who, claim.claim_id) };
  };
  const mine = await open(fan);
  const success = server.webhook({
    event: 'charge.success',
    data: {
      reference: mine.payment.reference,
      amount: 800,
      currency: 'NGN',
      status: 'success',
    },
  });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => server.post('/webhooks/sandbox', success)),
  );
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  await server.payment_reaches(fan, mine.payment.payment_id, 'CONFIRMED');
  assert.equal((await server.stats(organizer, event)).sold, 1);

  const theirs = await open(odd);
  const cheap = server.webhook({
    event: 'charge.success',
    data: {
      reference: theirs.payment.reference,
      amount: 1,
      currency: 'NGN',
      status: 'success',
    },
  });
  assert.equal((await server.post('/webhooks/sandbox', cheap)).status, 200);
  await server.payment_reaches(odd, theirs.payment.payment_id, 'QUARANTINED');
  assert.equal((await server.get(`/claims/${theirs.claim.claim_id}`, { token: odd })).json.status, 'CLAIMED');
  const unknown = server.webhook({
    event: 'charge.success',
    data: {
      reference: 'no-such-reference',
      amount: 800,
      currency: 'NGN',
      status: 'success',
    },
  });
  assert.equal((await server.post('/webhooks/sandbox', unknown)).status, 200);
  for (const signature of [
    undefined,
    '',
    '00',
    'zz'.repeat(32),
    success.headers['x-fairqueue-sandbox-signature'].toUpperCase(),
  ]) {
    const headers = signature === undefined ? {} : { 'x-fairqueue-sandbox-signature': signature };
    expect_problem(
      await server.post('/webhooks/sandbox', { body: success.body, headers }),
      401,
      'invalid_signature',
      signature,
    );
  }
  const edited = { ...success, body: success.body.replace('800', '801') };
  expect_problem(await server.post('/webhooks/sandbox', edited), 401, 'invalid_signature');
  assert.equal((await server.stats(organizer, event)).sold, 1);
});

test('a free ticket needs no gateway', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { price: 0 });
  const fan = await server.customer();
  const { admission_token } = await server.join_and_be_admitted(fan, event);
  const claim = await server.claim(fan, event, admission_token);
  assert.equal(claim.amount, 0);
  const payment = await server.post(`/claims/${claim.claim_id}/payments`, { token: fan });
  assert.equal(payment.status, 201, payment.text);
  assert.equal(payment.json.status, 'CONFIRMED');
  assert.equal((await server.get(`/claims/${claim.claim_id}`, { token: fan })).json.status, 'CONFIRMED');
});

test('without a gateway nothing with a price goes on sale', async (t) => {
  const server = await server_for(t, { settings: { 'gateway.sandbox': false } });
  const organizer = await server.organizer();
  const priced = await server.event(organizer, { price: 100 }, { activate: false });
  expect_problem(
    await server.request('PUT', `/events/${priced.id}/activate`, { token: organizer }),
    409,
    'no_gateway',
  );
  assert.equal((await server.get(`/events/${priced.id}`, { token: organizer })).json.status, 'DRAFT');

  const free = await server.event(organizer, { price: 0 });
  const [type] = free.ticket_types;
  const change = { ticket_types: [{ id: type.id, price: 100 }] };
  const patched = await server.patch(`/events/${free.id}`, { token: organizer, body: change });
  expect_problem(patched, 409, 'no_gateway');
  const fan = await server.customer();
  const session = await server.join_and_be_admitted(fan, free.id);
  const ordered = await server.post('/checkout', {
    token: fan,
    body: {
      event_id: free.id,
      admission_token: session.admission_token,
      contact: { first_name: 'Ada', last_name: 'Obi', email: 'ada@example.org' },
      items: [{ ticket_type_id: type.id }],
    },
  });
  assert.equal(ordered.json.status, 'success', ordered.text);
});

test('the window of the sale', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const fan = await server.customer();
  const later = await server.event(organizer, { sale_start: after(3600), sale_end: after(7200) });
  const closed = await server.post(`/events/${later.id}/queue`, { token: fan });
  expect_problem(closed, 409, 'queue_not_open');
  assert.equal(closed.json.opens_at, later.queue_opens_at);
  assert.equal(later.queue_opens_at, later.sale_start, 'the default');

  const early = await server.event(organizer, {
    queue_opens_at: after(-10),
    sale_start: after(3600),
    sale_end: after(7200),
  });
  await server.join(fan, early.id);
  await sleep(500);
  assert.equal((await server.position(fan, early.id)).status, 'WAITING', 'nothing can be bought yet');
  const begun = await server.patch(`/events/${early.id}`, {
    token: organizer,
    body: { sale_start: after(-5) },
  });
  assert.equal(begun.status, 200, begun.text);
  const { admission_token } = await server.admitted(fan, early.id);

  const opens = after(1800);
  const [type] = early.ticket_types;
  const window = await server.patch(`/events/${early.id}`, {
    token: organizer,
    body: { ticket_types: [{ id: type.id, sale_from: opens }] },
  });
  assert.equal(window.status, 200, window.text);
  const refused = await server.post(`/events/${early.id}/claims`, { token: fan, body: { admission_token } });
  expect_problem(refused, 409, 'not_on_sale');
  assert.equal(refused.json.sale_from, new Date(opens).toISOString());

  const short = await server.event(organizer, { sale_start: after(-10) });
  const ends = await server.patch(`/events/${short.id}`, { token: organizer, body: { sale_end: after(1) } });
  assert.equal(ends.status, 200, ends.text);
  await eventually(
    'the end of the sale',
    async () => (await server.get(`/events/${short.id}`, { token: organizer })).json.status === 'ENDED',
  );
  expect_problem(await server.post(`/events/${short.id}/queue`, { token: fan }), 410, 'event_ended');
});

test('PATCH changes a running sale', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const event = await server.event(organizer, { queue: { policy: 'capacity', concurrency: 1 }, total: 5 });
  const fans = await server.customers(3);
  for (const fan of fans) await server.join(fan, event.id);
  await server.admitted(fans[0], event.id);
  await sleep(400);
  assert.equal((await server.position(fans[1], event.id)).status, 'WAITING', 'one at a time');
  const patched = await server.patch(`/events/${event.id}`, {
    token: organizer,
    body: {
      name: 'Bigger hall',
      queue: { concurrency: 2 },
      ticket_types: [
        { id: event.ticket_types[0].id, price: 4000 },
        { name: 'Balcony', price: 100, total: 7 },
      ],
    },
  });
  assert.equal(patched.status, 200, patched.text);
  assert.equal(patched.json.name, 'Bigger hall');
  assert.equal(patched.json.queue.concurrency, 2);
  assert.equal(patched.json.total_inventory, 12);
  assert.equal(patched.json.ticket_types[0].price, 4000);
  const entry = await server.admitted(fans[1], event.id);
  assert.equal((await server.position(fans[2], event.id)).status, 'WAITING');
  assert.equal((await server.claim(fans[1], event.id, entry.admission_token)).amount, 4000);
});

test('leaving an admitted place frees the slot at once', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const { id: event } = await server.event(organizer, { queue: { policy: 'capacity', concurrency: 1 } });
  const [first, second] = await server.customers(2);
  await server.join_and_be_admitted(first, event);
  await server.join(second, event);
  assert.equal((await server.delete(`/events/${event}/queue`, { token: first })).status, 204);
  await server.admitted(second, event); // a no-show would have 30 s
  assert.ok(['COMPLETED', 'CANCELLED'].includes((await server.position(first, event)).status));
});

test('idempotency keys: one effect and the same answer', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const body = JSON.stringify(sale());
  const create = (key, text = body) =>
    server.post('/events', { token: organizer, body: text, headers: { 'Idempotency-Key': key } });
  const first = await create('create-1');
  const again = await create('create-1');
  assert.equal(first.status, 201, first.text);
  assert.equal(again.status, 201, again.text);
  assert.equal(again.text, first.text);
  assert.equal(again.headers['idempotency-replayed'], 'true');
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.equal((await create('"create-1"')).json.id, first.json.id, 'the quoted form is the same key');
  expect_problem(await create('create-1', JSON.stringify(sale({ total: 9 }))), 422, 'idempotency_key_reused');
  for (const bad of ['', 'a b', 'k'.repeat(256), '"open', 'é'])
    expect_problem(
      await create(Buffer.from(bad).toString('latin1')),
      400,
      'invalid_idempotency_key',
      JSON.stringify(bad),
    );

  const { id: event } = await server.event(organizer);
  const fan = await server.customer();
  const { admission_token } = await server.join_and_be_admitted(fan, event);
  const claim_once = () =>
    server.post(`/events/${event}/claims`, {
      token: fan,
      body: { admission_token },
      headers: { 'Idempotency-Key': 'claim-1' },
    });
  const parallel = await Promise.all([claim_once(), claim_once(), claim_once(), claim_once()]);
  const made = parallel.filter((a) => a.status === 201);
  assert.ok(made.length >= 1, parallel.map((a) => a.text).join('\n'));
  assert.equal(new Set(made.map((a) => a.json.claim_id)).size, 1);
  for (const answer of parallel.filter((a) => a.status !== 201))
    expect_problem(answer, 409, 'idempotency_in_progress');
  await server.restart();
  const replay = await claim_once();
  assert.equal(replay.status, 201, replay.text);
  assert.equal(replay.text, made[0].text, 'also after kill -9');
  assert.equal(replay.headers['idempotency-replayed'], 'true');
  assert.equal((await server.stats(organizer, event)).held, 1);
});

test('lists are paged by cursor', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const made = [];
  for (let i = 0; i < 5; ++i) made.push((await server.event(organizer, { name: `Event ${i}` })).id);
  const seen = [];
  let cursor = null;
  do {
    const page = await server.get(`/events?limit=2${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
    assert.equal(page.status, 200, page.text);
    assert.ok(page.json.items.length <= 2);
    seen.push(...page.json.items.map((e) => e.id));
    cursor = page.json.next_cursor;
  } while (cursor !== null && seen.length < 20);
  assert.deepEqual([...seen].sort(), [...made].sort());
  assert.equal((await server.get('/events?limit=200')).json.items.length, 5);
  assert.equal((await server.get('/events?limit=1000000000')).status, 200, 'clamped');
  for (const bad of ['x', '!!', 'AAAA'.repeat(50)])
    expect_problem(await server.get(`/events?cursor=${bad}`), 400, 'invalid_cursor');
});

test('a ticket that comes back is offered to the first of the waiting list, by mail', async (t) => {
  const server = await server_for(t, { settings: { 'checkout.fees': '*:0:0:0' } });
  const organizer = await server.organizer();
  const event = await server.event(organizer, {
    total: 1,
    waiting_list: { enabled: true, claim_window_seconds: 3 },
    queue: { presence_timeout_seconds: 20 },
  });
  assert.deepEqual(event.waiting_list, {
    enabled: true,
    claim_window_seconds: 3,
    quiet_from_minute: null,
    quiet_until_minute: null,
    began_at: null,
  });
  const buyer = await server.customer();
  const { admission_token } = await server.join_and_be_admitted(buyer, event.id);
  const people = ['first', 'second'].map((name) => `${name}-${Date.now()}@example.org`);
  const fans = [];
  for (const email of people) fans.push((await server.sign_in_by_mail(email)).json.token);
  for (const token of fans) await server.join(token, event.id);
  const socket = await server.socket(event.id, fans[1]);
  const before = await server.position(fans[1], event.id);
  assert.equal(before.outlook.people_ahead, 1);
  assert.equal(before.outlook.tickets_free + before.outlook.tickets_held, 1);
  assert.equal(before.outlook.waiting_list, false);
  await server.buy(buyer, event.id, admission_token);
  await socket.frame('waiting_list', { where: (frame) => frame.waiting_list });
  socket.close();
  await server.restart();
  assert.ok((await server.get(`/events/${event.id}`)).json.waiting_list.began_at);
  assert.equal((await server.position(fans[1], event.id)).outlook.waiting_list, true, 'also after kill -9');

  const offered = (email) =>
    server.mails_to(email).some((mail) => mail.includes('A ticket has come back: Black-box sale'));
  const type = { id: event.ticket_types[0].id, total: 2 };
  const more = await server.patch(`/events/${event.id}`, {
    token: organizer,
    body: { ticket_types: [type] },
  });
  assert.equal(more.status, 200, more.text);
  const first = await server.admitted(fans[0], event.id);
  assert.equal(Date.parse(first.claim_by) - Date.parse(first.admitted_at), 3000);
  assert.equal(Date.parse(first.session_expires_at) - Date.parse(first.claim_by), 60_000);
  const longer = { waiting_list: { claim_window_seconds: 60 } };
  const patched = await server.patch(`/events/${event.id}`, { token: organizer, body: longer });
  assert.equal(patched.status, 200, patched.text); // the second has time
  await eventually('the mail to the first', () => offered(people[0]));
  const second = await server.admitted(fans[1], event.id);
  assert.ok(Date.parse(second.admitted_at) >= Date.parse(first.claim_by), 'when the first let it pass');
  await eventually('the mail to the second', () => offered(people[1]));
  await server.buy(fans[1], event.id, second.admission_token);
});
