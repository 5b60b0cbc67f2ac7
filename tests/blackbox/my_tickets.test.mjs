// SPDX-License-Identifier: Apache-2.0
// Tickets in hand: codes, PDFs, the page with and without script and network, and a ticket that changes
// hands. QR codes are read back from what was drawn.
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { is_current, is_signed, read_code } from '../../web/sdk/event_ticket_code.mjs';
import { browser_for, check_page, person, person_without_script } from './browser.mjs';
import { program, read_qr, shot_of } from './fan_pages.mjs';
import { assert, eventually, expect_problem, server_for, temporary_folder } from './lib.mjs';

const facts = {
  starts_at: '2036-07-18T17:30:00Z',
  doors_at: '2036-07-18T16:00:00Z',
  time_zone: 'Europe/Zagreb',
  venue: { name: 'Šalata', address: 'Schlosserove stube 2, Zagreb' },
};

async function sign_in(server, email) {
  const { status, json, text } = await server.sign_in_by_mail(email);
  assert.equal(status, 200, text);
  return { email, ...json };
}

/** A free sale, and a customer with two tickets of it. */
async function in_hand(t, settings = {}, answers = []) {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const event = await server.event(organizer, {
    name: 'Ljetna večer',
    currency: 'EUR',
    ticket_types: [{ name: 'Parter', price: 0, total: 50, max_per_order: 4 }],
    queue: { policy: 'open' },
    ...facts,
    ...settings,
  });
  const mark = crypto.randomBytes(4).toString('hex');
  const ann = await sign_in(server, `ann-${mark}@example.org`);
  const order = await server.post('/checkout', {
    token: ann.token,
    headers: { 'Prefer': 'wait=5', 'Idempotency-Key': crypto.randomUUID() },
    body: {
      event_id: event.id,
      items: [{ ticket_type_id: event.ticket_types[0].id, quantity: 2 }],
      contact: { first_name: 'Ann', last_name: 'Bee', email: ann.email },
      answers,
    },
  });
  assert.equal(order.status, 200, order.text);
  const { items } = (await server.get('/event-tickets', { token: ann.token })).json;
  assert.equal(items.length, 2);
  return { server, organizer, event, ann, mark, order: order.json.order_id, ticket: items[0].id };
}

const ticket_of = async (h, token = h.ann.token) =>
  (await h.server.get(`/event-tickets/${h.ticket}`, { token })).json;

/** Cookies of a signed-in visitor. */
const cookies_of = (h, { token }) => [
  { name: 'fairqueue_customer', value: token, url: h.server.url, httpOnly: true, sameSite: 'Lax' },
];

async function pdf_of(h, where, headers = {}) {
  const answer = await fetch(h.server.url + where, {
    headers: { Authorization: `Bearer ${h.ann.token}`, ...headers },
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const file = path.join(temporary_folder(), 'tickets.pdf');
  fs.writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  return file;
}

test('a printed ticket has its code and its facts', async (t) => {
  const h = await in_hand(t, { ticket_terms: 'Bez stakla.\nDjeca uz pratnju.' });
  const shown = await ticket_of(h);
  const file = await pdf_of(h, `/event-tickets/${h.ticket}.pdf`, { 'Accept-Language': 'hr' });
  assert.ok(fs.statSync(file).size <= 150_000, `${fs.statSync(file).size} bytes`);
  const text = await program('pdftotext', file, '-');
  for (const part of ['Ljetna večer', 'Parter', 'Šalata', h.order, '19:30', '18:00', 'Ulaznica'])
    assert.ok(text.includes(part), `${part} in ${text}`);
  for (const part of ['Uvjeti', 'Bez stakla.', 'Djeca uz pratnju.'])
    assert.ok(text.includes(part), `${part} in ${text}`);
  const fonts = (await program('pdffonts', file)).trim().split('\n').slice(2);
  assert.ok(fonts.length > 0);
  for (const line of fonts) assert.equal(line.trim().split(/ +/).at(-5), 'yes', line); // emb
  const picture = path.join(temporary_folder(), 'page');
  await program('pdftoppm', '-r', '120', '-png', '-singlefile', file, picture);
  assert.equal(await read_qr(`${picture}.png`), shown.code);
  const code = read_code(shown.code);
  assert.deepEqual([code.ticket, code.event, code.generation], [h.ticket, h.event.id, 1]);
  assert.equal(await is_signed(code, new Uint8Array(32)), false);
  const both = await pdf_of(h, `/orders/${h.order}/event-tickets.pdf`);
  assert.match(await program('pdfinfo', both), /^Pages: +2$/m);
});

test('the logo of a tenant is on pages, tickets and mails', async (t) => {
  const h = await in_hand(t);
  const images_of = async () => {
    const list = await program('pdfimages', '-list', await pdf_of(h, `/event-tickets/${h.ticket}.pdf`));
    return list.trim().split('\n').length - 2; // of a header
  };
  const before = await images_of();
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==',
    'base64',
  );
  const headers = { 'Content-Type': 'image/png' };
  const set = await h.server.request('PUT', '/tenant/logo', { token: h.organizer, body: pixel, headers });
  assert.equal(set.status, 200, set.text);
  const address = `/pictures/${set.json.logo}-small`;
  const shown = await eventually('the nodes know it', async () => {
    const page = await h.server.get('/shop', { unchecked: true, headers: { Accept: 'text/html' } });
    return (
      page.text.includes(`<img alt="" src="${address}">`) &&
      h.server.get('/tenant/logo', { token: h.organizer })
    );
  });
  assert.deepEqual(shown.json, set.json);
  assert.equal(await images_of(), before + 1);
  await sign_in(h.server, `bob-${h.mark}@example.org`);
  const [mail] = h.server.mails_to(`bob-${h.mark}@example.org`);
  const html = mail
    .slice(mail.indexOf('Content-Type: text/html'))
    .replaceAll('=\r\n', '')
    .replaceAll('=3D', '=');
  assert.ok(html.includes(`<img src="${h.server.url}${address}"`), mail);
  const gone = await h.server.delete('/tenant/logo', { token: h.organizer });
  assert.deepEqual(gone.json, { logo: null });
});

test('the receipt brings the tickets with their terms and a calendar file', async (t) => {
  const h = await in_hand(t, { ticket_terms: 'No glass.' });
  const mail = await eventually('the receipt', () =>
    h.server.mails_to(h.ann.email).find((text) => text.includes('tickets.pdf')),
  );
  assert.match(mail, /^Content-Type: multipart\/mixed/im);
  assert.match(mail, /event\.ics/);
  const coded = /filename="?tickets\.pdf"?[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(mail)[1];
  const file = path.join(temporary_folder(), 'mailed.pdf');
  fs.writeFileSync(file, Buffer.from(coded, 'base64'));
  assert.match(await program('pdfinfo', file), /^Pages: +2$/m);
  assert.equal((await program('pdftotext', file, '-')).match(/No glass\./g)?.length, 2, 'on each page');
  for (const row of fs.readdirSync(h.server.data_dir).filter((name) => name.startsWith('ledger.db')))
    assert.ok(!fs.readFileSync(path.join(h.server.data_dir, row)).includes((await ticket_of(h)).code));
});

/** As people read it: without the soft line breaks of a mail. */
const plain = (mail) => mail.replaceAll('=\r\n', '').replaceAll('=3D', '=');

test('a guest buys without a code, and the link in the mail opens the tickets', async (t) => {
  const ticket_types = [
    { name: 'Parter', price: 0, total: 50, max_per_order: 4 },
    { name: 'Loge', price: 1500, total: 50, max_per_order: 4 },
  ];
  const h = await in_hand(t, { guests: true, ticket_types });
  const email = `gil-${h.mark}@example.org`;
  const begin = async () => {
    const made = await h.server.post('/guests');
    assert.equal(made.status, 201, made.text);
    return made.json.token;
  };
  const buys = (token, address = email, type = 1) =>
    h.server.post('/checkout', {
      token,
      headers: { 'Prefer': 'wait=5', 'Idempotency-Key': crypto.randomUUID() },
      body: {
        event_id: h.event.id,
        items: [{ ticket_type_id: h.event.ticket_types[type].id, quantity: 2 }],
        contact: { first_name: 'Gil', last_name: 'Bee', email: address },
      },
    });
  const guest = await begin();
  expect_problem(await buys(guest, email, 0), 409, 'sign_in_required', 'free tickets');
  const order = await buys(guest);
  const id = order.json.order_id;
  await h.server.settle(order.json.payment_url.split('/').at(-1), 'pay');
  await eventually('the payment', async () => {
    const status = await h.server.get(`/orders/${id}/status`, { token: guest });
    return status.json.status === 'success';
  });
  for (const where of ['/event-tickets', `/orders/${id}`, `/orders/${id}/event-tickets.pdf`, '/customers/me'])
    expect_problem(await h.server.get(where, { token: guest }), 403, 'forbidden', where);
  expect_problem(await buys(await begin()), 409, 'sign_in_required');
  expect_problem(await buys(await begin(), email.toUpperCase()), 409, 'sign_in_required');
  expect_problem(await buys(await begin(), h.ann.email), 409, 'sign_in_required');

  const mail = await eventually('the receipt', () =>
    h.server.mails_to(email).find((text) => text.includes('tickets.pdf')),
  );
  const [link, secret] = /\/my\/orders\/[0-9a-f-]{36}\/([\w-]{43})/.exec(plain(mail));
  const page = await h.server.get(link, { headers: { Accept: 'text/html' } });
  assert.equal(page.status, 200, page.text);
  assert.equal(page.text.match(/class="qr large"/g).length, 2);
  assert.ok(!page.text.includes('Give it to somebody'), 'that needs a sign-in');
  const pdf = await fetch(`${h.server.url}${link}.pdf`);
  assert.equal(pdf.status, 200);
  assert.equal(pdf.headers.get('content-type'), 'application/pdf');
  const wrong = link.slice(0, -1) + (link.endsWith('A') ? 'B' : 'A');
  const other = link.replace(id, h.order); // Ann has signed in, so her order has no link
  for (const no of [wrong, other]) expect_problem(await h.server.get(no), 404, 'not_found', no);
  for (const row of fs.readdirSync(h.server.data_dir).filter((name) => name.startsWith('ledger.db')))
    assert.ok(
      !fs.readFileSync(path.join(h.server.data_dir, row)).includes(secret),
      'no ledger has the secret',
    );

  const owner = await sign_in(h.server, email);
  const { items } = (await h.server.get('/event-tickets', { token: owner.token })).json;
  assert.equal(items.length, 2, 'they are the tickets of whoever proves the address');
  const orders = (await h.server.get('/orders', { token: owner.token })).json;
  assert.deepEqual(
    orders.items.map((o) => o.order_id),
    [id],
  );
  const closed = await h.server.event(h.organizer, { queue: { policy: 'open' } });
  expect_problem(
    await h.server.post(`/events/${closed.id}/queue`, { token: guest }),
    409,
    'sign_in_required',
  );
});

test('a reserved seat is on every paper and other shoppers see it go', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const made = await server.event(
    organizer,
    { ticket_types: [{ name: 'Parter', price: 0, total: 1, max_per_order: 4 }], ...facts },
    { activate: false },
  );
  const target = `/events/${made.id}`;
  const [{ id: type }] = made.ticket_types;
  const hall = await server.request('PUT', `${target}/seat-plan/hall?singles=off`, {
    token: organizer,
    body: {
      sections: [{ section: 'P', name: 'Parket', ticket_type: 'Parter', rows: 2, seats: 6 }],
      lettered_rows: true,
    },
  });
  assert.equal(hall.status, 204, hall.text);
  assert.equal((await server.post(`${target}/activate`, { token: organizer })).status, 200);

  const watcher = await server.customer();
  await server.join_and_be_admitted(watcher, made.id);
  const map = (await server.get(`${target}/seats`)).json;
  assert.deepEqual([map.seats, map.plan_types, map.ticket_type_ids], [12, [0], [type]]);
  const socket = await server.socket_at(`/ws/queue/${made.id}?seats=${map.version}`, watcher);

  const ann = await sign_in(server, `ann-${crypto.randomBytes(4).toString('hex')}@example.org`);
  const { admission_token } = await server.join_and_be_admitted(ann.token, made.id);
  const order = await server.post('/checkout', {
    token: ann.token,
    headers: { 'Prefer': 'wait=5', 'Idempotency-Key': crypto.randomUUID() },
    body: {
      event_id: made.id,
      admission_token,
      items: [{ ticket_type_id: type, seats: ['P-A-2', 'P-A-3'] }],
      contact: { first_name: 'Ann', last_name: 'Bee', email: ann.email },
    },
  });
  assert.equal(order.status, 200, order.text);
  const frame = await socket.frame('seats');
  socket.close();
  const news = frame.reload ? (await server.get(`${target}/seats?since=${map.version}`)).json : frame;
  assert.equal(news.sold ?? news.held, '1-2', JSON.stringify(news));

  const whole = (await server.get(`/orders/${order.json.order_id}`, { token: ann.token })).json;
  assert.deepEqual(whole.seat_places[1], { section: 'Parket', row: 'A', seat: '3' });
  const { items } = (await server.get('/event-tickets', { token: ann.token })).json;
  assert.deepEqual(items.map(({ seat }) => seat).sort(), ['P-A-2', 'P-A-3']);
  const h = { server, ann };
  const file = await pdf_of(h, `/orders/${order.json.order_id}/event-tickets.pdf`, {
    'Accept-Language': 'hr',
  });
  assert.match(await program('pdftotext', file, '-'), /Parket, red A, sjedalo 2/);
  const Cookie = `fairqueue_customer=${ann.token}`;
  for (const page of ['/my/tickets', `/shop/orders/${order.json.order_id}`])
    assert.match(
      (await server.get(page, { headers: { Cookie }, unchecked: true })).text,
      /Parket, row A, seat 3/,
      page,
    );
  await eventually('the seats in the receipt', () =>
    server.mails_to(ann.email).some((mail) => mail.replaceAll('=\r\n', '').includes('row A, seat 2')),
  );
});

test('a ticket changes hands', async (t) => {
  const h = await in_hand(t, { questions: [{ label: 'Meal?', kind: 'text', to: 'attendee' }] }, [
    { question_id: 1, attendee: 1, value: 'Rice' },
    { question_id: 1, attendee: 2, value: 'Yam' },
  ]);
  const before = await ticket_of(h);
  const bob = await sign_in(h.server, `bob-${h.mark}@example.org`);
  const offer = await h.server.post(`/event-tickets/${h.ticket}/transfer`, {
    token: h.ann.token,
    body: { email: bob.email },
  });
  assert.equal(offer.status, 201, offer.text);
  await eventually('a mail', () => h.server.mails_to(bob.email).some((text) => text.includes('/my/tickets')));
  const browser = await browser_for();
  const context = await person(t, browser);
  await context.addCookies(cookies_of(h, bob));
  const page = await context.newPage();
  await page.goto(`${h.server.url}/my/tickets`);
  await check_page(page, 'my-tickets-offer');
  assert.ok((await page.locator('main').innerText()).includes(h.ann.email));
  await page.locator('button', { hasText: 'Take the ticket' }).click();
  await page.locator('[data-code]').waitFor();
  const after = await ticket_of(h, bob.token);
  assert.equal(after.status, 'TRANSFERRED');
  assert.equal(after.attendee, before.attendee);
  assert.doesNotMatch(JSON.stringify(after), /"(Rice|Yam)"/, 'the receiver sees no answers');
  expect_problem(await h.server.get(`/orders/${h.order}`, { token: bob.token }), 404, 'not_found');
  assert.equal(await read_qr(await shot_of(page.locator('[data-code]'))), after.code);
  const [old, now] = [before.code, after.code].map((text) => read_code(text));
  assert.deepEqual([old.generation, now.generation], [1, 2]);
  expect_problem(await h.server.get(`/event-tickets/${h.ticket}`, { token: h.ann.token }), 404, 'not_found');
  for (const { email } of [h.ann, bob])
    await eventually(`a mail to ${email}`, () =>
      h.server.mails_to(email).some((text) => /^Subject: Your ticket/m.test(text)),
    );
});

/** Ann gives her ticket to `receiver`. */
async function give_away(h, receiver, ticket = h.ticket) {
  const offer = await h.server.post(`/event-tickets/${ticket}/transfer`, {
    token: h.ann.token,
    body: { email: receiver.email },
  });
  assert.equal(offer.status, 201, offer.text);
  const taken = await h.server.post(`/event-tickets/transfers/${offer.json.transfer_id}/accept`, {
    token: receiver.token,
  });
  assert.equal(taken.status, 200, taken.text);
}

test('who was given a ticket sees nothing of the purchase', async (t) => {
  const h = await in_hand(t);
  const seen = await ticket_of(h);
  assert.equal(seen.order_id, h.order);
  const printed_for = async (person) => {
    const file = await pdf_of({ server: h.server, ann: person }, `/event-tickets/${h.ticket}.pdf`);
    return program('pdftotext', file, '-');
  };
  const own = await printed_for(h.ann);
  for (const part of ['Price', h.order]) assert.ok(own.includes(part), `${part} in ${own}`);
  const bob = await sign_in(h.server, `bob-${h.mark}@example.org`);
  await give_away(h, bob);
  const given = await ticket_of(h, bob.token);
  assert.deepEqual([given.order_id, given.claim_id], [null, null]);
  const { items } = (await h.server.get('/event-tickets', { token: bob.token })).json;
  assert.equal(items[0].claim_id, null);
  const text = await printed_for(bob);
  assert.ok(text.includes('Parter'), text);
  for (const part of ['Price', 'Ann Bee', h.order]) assert.ok(!text.includes(part), `${part} in ${text}`);
  const managed = await ticket_of(h, h.organizer);
  assert.equal(managed.order_id, h.order);
});

const with_subject = (h, { email }, subject) =>
  h.server.mails_to(email).filter((mail) => mail.includes(`\r\nSubject: ${subject}`));

test('who holds a ticket that another customer bought gets a mail when it is refunded', async (t) => {
  const h = await in_hand(t, { name: 'Summer night' });
  const bob = await sign_in(h.server, `bob-${h.mark}@example.org`);
  await give_away(h, bob);
  const refund = await h.server.post(`/orders/${h.order}/refunds`, {
    token: h.organizer,
    body: { event_ticket_ids: [h.ticket] },
  });
  assert.equal(refund.status, 202, refund.text);
  const subject = 'Your ticket is cancelled:';
  const [mail] = await eventually('a mail to the holder', () => {
    const mails = with_subject(h, bob, subject);
    return mails.length > 0 && mails;
  });
  for (const part of ['1 x Parter', '/my/tickets'])
    assert.ok(plain(mail).includes(part), `${part} in ${mail}`);
  assert.equal(with_subject(h, h.ann, subject).length, 0);
});

test('an offer ends with its ticket, and the receiver gets a mail', async (t) => {
  const h = await in_hand(t, { name: 'Summer night' });
  const bob = await sign_in(h.server, `bob-${h.mark}@example.org`);
  const offer = await h.server.post(`/event-tickets/${h.ticket}/transfer`, {
    token: h.ann.token,
    body: { email: bob.email },
  });
  assert.equal(offer.status, 201, offer.text);
  const offers_to_bob = async () =>
    (await h.server.get('/event-tickets/transfers', { token: bob.token })).json.items.length;
  assert.equal(await offers_to_bob(), 1);
  const refund = await h.server.post(`/orders/${h.order}/refunds`, {
    token: h.organizer,
    body: { event_ticket_ids: [h.ticket] },
  });
  assert.equal(refund.status, 202, refund.text);
  await eventually('a mail', () => with_subject(h, bob, 'An offer has been withdrawn:').length === 1);
  assert.equal(await offers_to_bob(), 0);
  const taken = await h.server.post(`/event-tickets/transfers/${offer.json.transfer_id}/accept`, {
    token: bob.token,
  });
  expect_problem(taken, 409, 'not_transferable');
});

test('who holds a ticket that another customer bought gets one mail when the event is cancelled', async (t) => {
  const h = await in_hand(t, { name: 'Summer night' });
  const { items } = (await h.server.get('/event-tickets', { token: h.ann.token })).json;
  const bob = await sign_in(h.server, `bob-${h.mark}@example.org`);
  for (const { id } of items) await give_away(h, bob, id);
  const cancelled = await h.server.post(`/events/${h.event.id}/cancel`, { token: h.organizer });
  assert.equal(cancelled.status, 200, cancelled.text);
  for (const person of [h.ann, bob])
    await eventually(`a mail to ${person.email}`, () => with_subject(h, person, 'Cancelled:').length === 1);
  await eventually('the refund', async () => {
    const order = await h.server.get(`/orders/${h.order}`, { token: h.ann.token });
    return order.json.status === 'refunded';
  });
  assert.equal(with_subject(h, bob, 'Cancelled:').length, 1);
  assert.equal(with_subject(h, bob, 'Your tickets are cancelled:').length, 0);
});

test('the page works without script', async (t) => {
  const h = await in_hand(t);
  const context = await person_without_script(t);
  await context.addCookies(cookies_of(h, h.ann));
  const page = await context.newPage();
  await page.goto(`${h.server.url}/my/tickets`);
  const codes = page.locator('[data-code]');
  assert.equal(await codes.count(), 2);
  const read = await read_qr(await shot_of(codes.first()));
  assert.equal(read, (await ticket_of(h)).code);
  await page.locator('summary').first().click();
  await page.locator('input[name=email]').first().fill('someone@example.org');
  await page.locator('details[open] button').first().click();
  await page.getByText('someone@example.org').waitFor();
  await page.locator('button', { hasText: 'Withdraw' }).click();
  await page.locator('summary').nth(1).waitFor();
  assert.deepEqual((await h.server.get('/event-tickets/transfers', { token: h.ann.token })).json.items, []);
});

test('rotating codes are made by the page, also without a network', async (t) => {
  const h = await in_hand(t, { rotating_codes: true });
  const browser = await browser_for();
  const context = await person(t, browser, { locale: 'ar' });
  await context.addCookies(cookies_of(h, h.ann));
  const page = await context.newPage();
  await page.goto(`${h.server.url}/my/tickets`);
  await page.locator('html[data-kept]').waitFor();
  await check_page(page, 'my-tickets-ar');
  await page.setViewportSize({ width: 390, height: 844 });
  await check_page(page, 'my-tickets-ar-phone');
  const shown = await ticket_of(h);
  assert.equal(shown.code, null);
  const secret = Buffer.from(shown.rotating_code.secret, 'base64url');
  const svg = page.locator(`[data-code="${h.ticket}"]`);
  const judge = async () => {
    const code = read_code(await read_qr(await shot_of(svg)));
    assert.equal(code.kind, 'rotating');
    assert.ok(await is_current(code, secret, Date.now()));
    assert.equal(await is_current(code, crypto.randomBytes(32), Date.now()), false);
  };
  await judge();
  await h.server.stop();
  await page.reload();
  await page.locator('[data-offline]:not([hidden])').waitFor();
  await svg.and(page.locator('[data-text]')).waitFor();
  await judge();
  await check_page(page, 'my-tickets-offline');
});

test('who signs out on a page without script leaves no tickets for when there is no network', async (t) => {
  const h = await in_hand(t);
  const context = await person(t, await browser_for());
  await context.addCookies(cookies_of(h, h.ann));
  const page = await context.newPage();
  await page.goto(`${h.server.url}/my/tickets`);
  await page.locator('html[data-kept]').waitFor();
  await page.evaluate(() => globalThis.navigator.serviceWorker.ready);
  await page.goto(`${h.server.url}/shop`);
  assert.equal(await page.locator('script[src]').count(), 0);
  const sign_out = page.getByRole('button', { name: 'Sign out' });
  await sign_out.click();
  await sign_out.waitFor({ state: 'detached' });
  await h.server.stop();
  await assert.rejects(page.goto(`${h.server.url}/my/tickets`), /ERR_CONNECTION_REFUSED|ERR_FAILED/);
});

test('a copy of the tickets that is on its way does not outlive the sign-out', async (t) => {
  const h = await in_hand(t);
  const context = await person(t, await browser_for());
  await context.addCookies(cookies_of(h, h.ann));
  const page = await context.newPage();
  await page.addInitScript(() => {
    const { fetch } = globalThis;
    const may_arrive = new Promise((resolve) => (globalThis.let_arrive = resolve));
    globalThis.fetch = async (...wish) => {
      const answer = await fetch(...wish);
      globalThis.has_answer = true;
      await may_arrive;
      return answer;
    };
  });
  await page.goto(`${h.server.url}/my/tickets`);
  await page.waitForFunction(() => globalThis.has_answer);
  await page.evaluate(() => globalThis.navigator.serviceWorker.ready);
  const tab = await context.newPage();
  await tab.goto(`${h.server.url}/shop`);
  const sign_out = tab.getByRole('button', { name: 'Sign out' });
  await sign_out.click();
  await sign_out.waitFor({ state: 'detached' });
  await page.evaluate(() => globalThis.let_arrive());
  await page.locator('html[data-kept]').waitFor();
  assert.ok(!(await page.evaluate(async () => Boolean(await globalThis.caches.match('/my/tickets')))));
});

test('a visitor signs in on the page', async (t) => {
  const server = await server_for(t);
  const page = await (await person(t, await browser_for())).newPage();
  const email = `eve-${crypto.randomBytes(4).toString('hex')}@example.org`;
  await page.goto(`${server.url}/my/tickets`);
  await check_page(page, 'my-tickets-sign-in');
  await page.locator('input[name=email]').fill(email);
  await page.locator('main button').click();
  await page.locator('input[name=otp]').fill(await server.mailed_code(email));
  await page.locator('main button').click();
  await page.getByText('You have no tickets yet.').waitFor();
});
