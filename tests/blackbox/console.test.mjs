// SPDX-License-Identifier: Apache-2.0
// The organizer's console in a real browser: a sale from creation to end while a crowd queues and buys;
// orders, refunds, exports, dead letters, tasks, queues; refusals in plain words. axe on every view; keyboard
// only, zoom, narrow screens; an expired sign-in.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import { browser_for, check_page, fits, person } from './browser.mjs';
import { after, assert, eventually, fairqueue_load, patience, run, server_for, sleep } from './lib.mjs';
import { cli } from './tenant.mjs';
import { Signer } from '../fair/log_maker.mjs';
import { chain_hash, quicknet } from '../../web/verify/draw.mjs';
import {
  amount_text,
  digits_of,
  from_local_input,
  from_zoned_input,
  know_decimals,
  local_input,
  money,
  parse_amount,
  span,
  zoned_input,
} from '../../web/console/format.mjs';
import {
  begin_with,
  forget_histories,
  history_of,
  per_minute,
  remember,
  stored_points,
} from '../../web/console/history.mjs';

/** A server, its organizer (in the browser and by API), and an open, signed-in console. */
async function console_for(t, { options = {}, browser_options = {}, start = '' } = {}) {
  const server = await server_for(t, options);
  const who = await server.new_organizer();
  const login = await server.post('/auth/organizer/login', { body: who });
  const context = await person(t, await browser_for(), {
    viewport: { width: 1280, height: 900 },
    acceptDownloads: true,
    ...browser_options,
  });
  const page = await context.newPage();
  await page.goto(`${server.url}/console${start}`);
  return { server, who, token: login.json.token, context, page };
}

async function sign_in(page, { email, password }) {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

const tile = (page, name) => page.locator(`[data-tile="${name}"]`);
const number_in = async (locator) => Number((await locator.textContent()).replace(/[^\d.]/g, ''));
const tile_reaches = (page, name, wanted, options) =>
  eventually(
    `${name} ${wanted}`,
    async () => {
      const seen = await number_in(tile(page, name));
      return typeof wanted === 'function' ? wanted(seen) : seen === wanted;
    },
    options,
  );
const said = (page, text) => page.getByRole('status').getByText(text).waitFor();
const tab = (page, name) =>
  page
    .getByRole('navigation', { name: /^Views of/ })
    .getByRole('link', { name, exact: true })
    .click();
const place = (page, name) =>
  page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true }).click();

const event_of = async (s, changes = {}) => {
  const made = await s.server.post('/events', {
    token: s.token,
    body: {
      name: 'Aurora Open Air 2027',
      currency: 'EUR',
      sale_start: after(-60),
      sale_end: after(3600),
      ticket_types: [{ name: 'Weekend pass', price: 14_900, total: 20, max_per_order: 4 }],
      queue: { policy: 'operator', claim_window_seconds: 300, session_ttl_seconds: 1200 },
      claim_ttl_seconds: 600,
      ...changes,
    },
  });
  assert.equal(made.status, 201, made.text);
  assert.equal((await s.server.post(`/events/${made.json.id}/activate`, { token: s.token })).status, 200);
  return made.json;
};

/** A fan's checkout up to the payment page. */
async function order_of(s, fan, event, contact, quantity = 1, more = {}) {
  const { admission_token } = await s.server.join_and_be_admitted(fan, event.id);
  const placed = await s.server.post('/checkout', {
    token: fan,
    body: {
      event_id: event.id,
      admission_token,
      contact,
      items: [{ ticket_type_id: event.ticket_types[0].id, quantity }],
      ...more,
    },
  });
  assert.equal(placed.status, 202, placed.text);
  return eventually('the payment page', async () => {
    const { json } = await s.server.get(`/orders/${placed.json.order_id}`, { token: fan });
    return json.payment_url && json;
  });
}

async function bought(s, fan, event, contact, quantity, more) {
  const order = await order_of(s, fan, event, contact, quantity, more);
  const paid = await s.server.post(new URL(order.payment_url).pathname, {
    body: { action: 'pay' },
    headers: { Accept: 'application/json' },
  });
  assert.equal(paid.status, 200, paid.text);
  await eventually(
    'the order',
    async () => (await s.server.get(`/orders/${order.order_id}`, { token: fan })).json.status === 'success',
  );
  return order.order_id;
}

test('money is typed and shown without floats', () => {
  know_decimals({ JPY: 0, KWD: 3 });
  const read = {
    '149': 14_900,
    '149.5': 14_950,
    ' 149.50 ': 14_950,
    '1,234,567.89': 123_456_789,
    '0': 0,
    '0.01': 1,
    '90071992547409.91': 9_007_199_254_740_991,
  };
  for (const [text, minor] of Object.entries(read)) assert.equal(parse_amount(text, 'EUR'), minor, text);
  for (const text of ['', '-1', '1.234', '1.', '.5', '1e3', '12 3', '90071992547409.92', 'x'])
    assert.equal(parse_amount(text, 'EUR'), null, text);
  assert.deepEqual(
    [parse_amount('1200', 'JPY'), parse_amount('1200.5', 'JPY'), parse_amount('1.234', 'KWD')],
    [1200, null, 1234],
  );
  assert.deepEqual(
    [money(123_456_789, 'EUR'), money(5, 'EUR'), money(1200, 'JPY'), money(-5, 'EUR'), money(null, 'EUR')],
    ['1,234,567.89 EUR', '0.05 EUR', '1,200 JPY', '-0.05 EUR', '–'],
  );
  for (const minor of [0, 1, 99, 100, 14_950, 10 ** 12])
    assert.equal(parse_amount(amount_text(minor, 'EUR'), 'EUR'), minor);
});

/** The decimals of currencies in the console's page. */
async function decimals_told(server) {
  const [, attribute] = /<div id="console" data-decimals="([^"]*)"/.exec((await server.get('/console')).text);
  return JSON.parse(attribute.replaceAll('&quot;', '"'));
}

test('a price is the same in the console and at the server, in every currency', async (t) => {
  const s = await console_for(t);
  know_decimals(await decimals_told(s.server));
  const decimals = {
    HUF: 2,
    IDR: 2,
    COP: 2,
    PKR: 2,
    LBP: 2,
    MMK: 2,
    IQD: 3,
    JPY: 0,
    KWD: 3,
    EUR: 2,
    CLF: 4,
    VND: 0,
  };
  for (const [currency, wanted] of Object.entries(decimals)) {
    assert.deepEqual(
      [digits_of(currency), parse_amount('5000', currency)],
      [wanted, 5000 * 10 ** wanted],
      currency,
    );
    const event = await event_of(s, {
      currency,
      ticket_types: [{ name: 'Any', price: 1_234_567, total: 5 }],
    });
    const page = (await s.server.get(`/wait/${event.id}`)).text; // formatted by the server: domain/money/money_text
    assert.ok(
      page.includes(`>${amount_text(1_234_567, currency)} ${currency}<`),
      `${currency}: ${/[\d.]+ [A-Z]{3}</.exec(page)}`,
    );
  }
});

test('5000 typed forints are a price of 5000 forints', async (t) => {
  const s = await console_for(t, { start: '#/events/new' });
  const { page } = s;
  await sign_in(page, s.who);
  await page.getByLabel('Name', { exact: true }).first().fill('Sziget');
  await page.getByLabel('Currency').fill('HUF');
  await page.getByLabel('Sale starts').fill('2026-01-01T10:00');
  await page.getByLabel('Sale ends').fill('2037-01-01T10:00');
  await page.getByLabel('Name', { exact: true }).nth(1).fill('Day pass');
  await page.getByLabel('Price (HUF)').fill('5000');
  await page.getByLabel('Tickets', { exact: true }).fill('10');
  await page.getByRole('button', { name: 'Make the event' }).click();
  await said(page, 'is created as a draft');
  const id = new URL(page.url()).hash.split('/')[2];
  assert.equal((await s.server.get(`/events/${id}`, { token: s.token })).json.ticket_types[0].price, 500_000);
});

test('times survive their input field', () => {
  for (const text of ['2027-03-28T00:59:59.000Z', '2027-10-31T12:00:00.000Z', '2026-01-01T00:00:30.000Z'])
    assert.equal(from_local_input(local_input(text)), text);
  assert.deepEqual([local_input(null), from_local_input('')], ['', null]);
  for (const time_zone of ['Africa/Lagos', 'America/New_York', 'Asia/Kolkata', ''])
    for (const text of ['2027-03-28T00:59:59.000Z', '2027-10-31T12:00:00.000Z', '2026-01-01T00:00:30.000Z'])
      assert.equal(from_zoned_input(zoned_input(text, time_zone), time_zone), text);
  assert.equal(zoned_input('2027-10-31T12:00:00.000Z', 'Africa/Lagos'), '2027-10-31T13:00');
  assert.equal(from_zoned_input('2027-07-01T19:30', 'Europe/Zagreb'), '2027-07-01T17:30:00.000Z');
  assert.equal(from_zoned_input('2027-03-28T02:30', 'Europe/Zagreb'), '2027-03-28T01:30:00.000Z', 'skipped');
  assert.equal(zoned_input('2027-10-31T12:00:00.000Z', 'Nowhere/City'), '2027-10-31T12:00', 'still typed');
  assert.deepEqual([zoned_input(null, 'UTC'), from_zoned_input('', 'UTC')], ['', null]);
  assert.deepEqual(
    [span(0.25), span(12), span(200), span(7300), span(null)],
    ['250 ms', '12 s', '3 min 20 s', '2 h 1 min', '–'],
  );
});

test('the history of a page is bounded, ordered, and gives rates', () => {
  const h = history_of('a');
  for (let second = 0; second < 8_000; ++second)
    remember(h, second, { done: second * 2, ...(second >= 100 && { late: 1 }) });
  remember(h, 7_999, { done: 15_998, late: 2 }); // the same time again
  remember(h, 7_000, { done: 0, late: 0 }); // a late answer
  assert.equal(h.times.length, 7_200);
  assert.ok([...h.values.values()].every((column) => column.length === 7_200));
  assert.deepEqual([h.values.get('late')[0], h.values.get('late').at(-1)], [1, 2]);
  assert.equal(per_minute(h, 'done'), 120);
  remember(h, 8_000, { done: 10, late: 1 }); // the server restarted
  remember(h, 8_060, { done: 40, late: 1 });
  assert.equal(per_minute(h, 'done'), 30);
  assert.deepEqual([per_minute(history_of('b'), 'done'), per_minute(h, 'nothing')], [0, 0]);
  for (let n = 0; n < 30; ++n) history_of(`other ${n}`);
  assert.equal(history_of('a').times.length, 0, 'what was looked at longest ago made room');
  forget_histories();
});

test('charts begin with the stored points, level where nothing changed, and keep them', () => {
  const point = (minute, arrivals, waiting) => ({
    at: new Date(minute * 60_000).toISOString(),
    ...{ waiting, waiting_peak: waiting, admitted: 0, arrivals, admissions: 0 },
  });
  const points = stored_points({
    step_seconds: 60,
    points: [point(1, 30, 30), point(2, 6, 36), point(9, 1, 37)],
  });
  assert.deepEqual(
    points.map(([seconds, numbers]) => [seconds / 60, numbers.waiting, numbers.arrival_rate_per_minute]),
    [
      [1, 30, 30],
      [2, 36, 6],
      [3, 36, 0],
      [8, 36, 0],
      [9, 37, 1],
    ],
  );
  const h = history_of('stored');
  remember(h, 9 * 60, { waiting: 37, sold: 1 }); // received before the stored points
  begin_with(h, points);
  begin_with(h, points); // a second answer
  assert.deepEqual(h.times, [60, 120, 180, 480, 540]);
  assert.deepEqual(h.values.get('waiting'), [30, 36, 36, 36, 37]);
  assert.deepEqual(h.values.get('sold'), [null, null, null, null, 1]);
  for (let second = 541; second < 9_000; ++second) remember(h, second, { waiting: 1, sold: 2 });
  assert.equal(h.times.length, 4 + 7_200);
  assert.deepEqual(h.times.slice(0, 4), [60, 120, 180, 480]);
  assert.equal(h.times.at(-1), 8_999);
  forget_histories();
});

test('an organizer creates a sale, watches a crowd buy, changes it, admits by hand, pauses and ends it', async (t) => {
  const s = await console_for(t);
  const { page, server } = s;
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await check_page(page, 'console-sign-in');
  await page.getByLabel('E-mail address').fill(s.who.email);
  await page.getByLabel('Password').fill('not this one');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor();
  await sign_in(page, s.who);
  await page.getByText('No events yet.').waitFor();
  await page.getByRole('link', { name: 'New event' }).click();
  await check_page(page, 'console-new-event');

  // A new event: first invalid input, then valid input.
  await page.getByLabel('Name', { exact: true }).first().fill('Aurora Open Air 2027');
  await page.getByLabel('Currency').fill('EUR');
  await page.getByLabel('Sale starts').fill('2026-01-01T10:00');
  await page.getByLabel('Sale ends').fill('2020-01-01T10:00');
  await page.getByLabel('Name', { exact: true }).nth(1).fill('Weekend pass');
  await page.getByLabel('Price (EUR)').fill('149,5,x');
  await page.getByText('Write it like 149.00.').waitFor();
  await page.getByLabel('Price (EUR)').fill('149.50');
  await page.getByLabel('Tickets', { exact: true }).fill('60');
  await page.getByLabel('Event begins').fill('2037-06-01T20:00');
  await page.getByLabel('Venue', { exact: true }).fill('Jarun Lake');
  await page.getByLabel('Latitude').fill('45.7814');
  await page.getByLabel('Longitude').fill('15.9196');
  await page.getByLabel('Description').first().fill('Three days.\n\n* Four stages');
  await page.getByText('Times and limits').click();
  await page.getByLabel('Session (minutes)').fill('0.5');
  await page.getByLabel('Time to choose (minutes)').fill('0.1');
  await page.getByLabel('Time to pay (minutes)').fill('0.2');
  await page.getByLabel('Batch size').fill('5');
  await page.getByLabel('Every (seconds)').fill('0.5');
  await page.getByRole('button', { name: 'Make the event' }).click();
  await page.getByText('must be after sale start').first().waitFor();
  assert.equal(await page.getByLabel('Sale ends').getAttribute('aria-invalid'), 'true');
  await check_page(page, 'console-new-event-refused');
  await page.getByLabel('Sale ends').fill('2037-01-01T10:00');
  await page.getByRole('button', { name: 'Make the event' }).click();
  await said(page, 'is created as a draft');
  await page.getByRole('heading', { level: 1, name: /Aurora Open Air 2027/ }).waitFor();
  const id = new URL(page.url()).hash.split('/')[2];
  const event = (await server.get(`/events/${id}`, { token: s.token })).json;
  assert.equal(event.ticket_types[0].price, 14_950, 'decimals became minor units');
  assert.deepEqual(
    [event.claim_ttl_seconds, event.queue.claim_window_seconds, event.queue.session_ttl_seconds],
    [12, 6, 30],
  );
  const venue = { name: 'Jarun Lake', address: null, latitude: 45.7814, longitude: 15.9196 };
  assert.deepEqual([event.venue, event.description], [venue, 'Three days.\n\n* Four stages']);
  assert.ok(event.starts_at && event.time_zone, JSON.stringify(event));

  await page.getByRole('button', { name: 'Activate' }).click();
  await said(page, 'The sale is open.');
  await page.getByRole('button', { name: 'Pause' }).waitFor();

  // A crowd joins, and the page shows it.
  const crowd = run(
    fairqueue_load,
    [
      ...[
        '--fans',
        '120',
        '--event',
        id,
        '--url',
        server.url,
        '--data-dir',
        server.data_dir,
        '--timeout',
        '90',
        '--seed',
        '7',
      ],
      ...['--buy-by', 'mixed', '--think-ms', '50', '--arrival-seconds', '2', '--quiet'],
    ],
    { timeout_ms: 120_000 * patience },
  );
  await tile_reaches(page, 'Sold', (sold) => sold >= 3, { timeout_ms: 40_000 });
  await tile_reaches(page, 'Revenue', (euros) => euros >= 3 * 149.5);
  await page.getByRole('img', { name: /^People: Waiting \d+, highest \d+/ }).waitFor();
  await check_page(page, 'console-live');
  await page.getByLabel('Batch size').fill('40');
  await page.getByRole('button', { name: 'Apply now' }).click();
  await said(page, 'The change is in force.');
  assert.equal((await server.get(`/events/${id}`, { token: s.token })).json.queue.batch_size, 40);
  const end = await crowd;
  assert.equal(end.code, 0, `${end.out}\n${end.err}`);
  await eventually('all that was sold', async () => {
    const { sold, revenue } = await server.stats(s.token, id); // some of it is still given back
    const shown = [await number_in(tile(page, 'Sold')), await number_in(tile(page, 'Revenue'))];
    return shown[0] === sold && shown[1] === revenue / 100;
  });

  // Admission by hand.
  await page.getByLabel('Policy').selectOption('operator');
  await page.getByLabel('Message to all in line').fill('We call you <b>soon</b>.');
  await page.getByRole('button', { name: 'Apply now' }).click();
  await said(page, 'The change is in force.');
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Tickets', { exact: true }).fill('200');
  await page.getByLabel('Venue', { exact: true }).fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await said(page, 'Saved.');
  assert.equal((await server.get(`/events/${id}`, { token: s.token })).json.venue.name, null);
  await check_page(page, 'console-settings');
  await page.getByLabel('Tickets', { exact: true }).fill('1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('alert')
    .getByText(/The new total is below the taken tickets: \d+ held and \d+ sold/)
    .waitFor();
  await tab(page, 'Live');
  const longer = await server.patch(`/events/${id}`, {
    token: s.token,
    body: { queue: { claim_window_seconds: 300, session_ttl_seconds: 1200 } },
  });
  assert.equal(longer.status, 200, longer.text); // who is called is still admitted when asked
  const fans = await server.customers(3);
  const { waiting } = await server.stats(s.token, id); // customers of the crowd without a ticket
  for (const fan of fans) await server.join(fan, id);
  await tile_reaches(page, 'Waiting', waiting + 3);
  const called = waiting + 2;
  await page.getByLabel('How many').fill(String(called));
  await page.getByRole('button', { name: `Call next ${called}` }).click();
  await said(page, `${called} of ${called} were admitted.`);
  await tile_reaches(page, 'Waiting', 1);
  assert.equal((await server.position(fans[0], id)).status, 'ADMITTED');
  assert.equal((await server.position(fans[0], id)).message, 'We call you <b>soon</b>.');

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await said(page, 'The sale continues.');
  // Another client ends it: our attempt is refused with a message, and the page updates.
  await page.getByRole('button', { name: 'End', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This cannot be undone.').waitFor();
  await check_page(page, 'console-dialog');
  assert.equal((await server.post(`/events/${id}/end`, { token: s.token })).status, 200);
  await dialog.getByLabel('Reason').fill('Rain.');
  await dialog.getByRole('button', { name: 'End the sale' }).click();
  await dialog.getByText('That is not possible while this is ended.').waitFor();
  await dialog.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('ended', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await dialog.getByLabel('Reason').fill('The field is under water.');
  await dialog.getByRole('button', { name: 'Cancel the event' }).click();
  await said(page, 'The event is cancelled.');
  await tab(page, 'Audit log');
  for (const what of [
    'event create',
    'event activate',
    'event change',
    'event advance',
    'event pause',
    'event resume',
    'event end',
    'event cancel',
  ])
    await page.getByRole('cell', { name: what, exact: true }).first().waitFor();
  await page.getByRole('cell', { name: 'The field is under water.' }).waitFor();
  await check_page(page, 'console-audit');
});

const ada = { first_name: 'Ada', last_name: 'Obi <img src=x>', email: 'ada@example.org' };
const evil = {
  first_name: '=HYPERLINK("http://evil.example","win")',
  last_name: '@sum',
  email: 'evil@example.org',
  phone: '+385 1 2345',
};

test('orders are found, refunded, mailed again and exported; places are found and revoked', async (t) => {
  const s = await console_for(t);
  const { page, server } = s;
  const event = await event_of(s, {
    queue: {
      policy: 'batch',
      batch_size: 50,
      admission_interval_ms: 100,
      claim_window_seconds: 300,
      session_ttl_seconds: 1200,
    },
  });
  const fans = await server.customers(3);
  const order = await bought(s, fans[0], event, ada, 2);
  await bought(s, fans[1], event, evil);
  await sign_in(page, s.who);
  await page.getByRole('link', { name: event.name }).click();
  await tab(page, 'Orders');
  await page.getByRole('cell', { name: 'Ada Obi <img src=x>' }).waitFor();
  assert.equal(await page.locator('td img').count(), 0, 'what was typed is text');
  await check_page(page, 'console-orders');
  await page.getByLabel('Find').fill('ADA@');
  await page.getByRole('button', { name: 'Search' }).click();
  await eventually('one order', async () => (await page.getByRole('table').getByRole('row').count()) === 2);
  await page.getByLabel('State', { exact: true }).selectOption('failed');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No matching orders.').waitFor();
  await page.getByLabel('State', { exact: true }).selectOption('');
  await page.getByLabel('Find').fill(order.slice(-12));
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('link', { name: order.slice(-12) }).click();

  await page.getByRole('button', { name: 'Send its mail again' }).click();
  await said(page, 'The mail goes out again.');

  // One ticket is refunded, then the rest.
  await page.getByRole('button', { name: 'Refund…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Some tickets').check();
  await dialog
    .getByLabel(/^Weekend pass/)
    .first()
    .check();
  await dialog.getByLabel('Reason').fill('One is ill.');
  await check_page(page, 'console-refund');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await said(page, 'The refund is under way.');
  await page.getByText('partially refunded', { exact: true }).first().waitFor();
  assert.equal((await server.get(`/orders/${order}`, { token: s.token })).json.refunded_amount, 14_900);
  await page.getByRole('button', { name: 'Refund…' }).click();
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.getByText('refunded', { exact: true }).first().waitFor();
  const whole = (await server.get(`/orders/${order}`, { token: s.token })).json;
  assert.equal(whole.status, 'refunded');
  assert.equal(whole.refunded_amount, whole.total);
  assert.ok(await page.getByRole('button', { name: 'Refund…' }).isDisabled(), 'nothing is left to refund');
  await page.getByRole('button', { name: 'Send its mail again' }).click();
  await page.getByRole('alert').getByText('That is not possible while this is refunded.').waitFor(); // no mail about it
  await check_page(page, 'console-order');

  // The export, as a file, and no cell of it is a formula.
  await page.getByRole('link', { name: 'All orders' }).click();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export as CSV' }).click();
  const file = await saving;
  assert.equal(file.suggestedFilename(), `orders-${event.id}.csv`);
  const text = fs.readFileSync(await file.path(), 'utf8');
  assert.ok(text.startsWith('\ufeff"order_id","created_at"'), text.slice(0, 100));
  assert.ok(
    text.includes(`"'=HYPERLINK(""http://evil.example"",""win"")","'@sum","evil@example.org","'+385 1 2345"`),
    text,
  );
  assert.ok(text.includes(`"Ada","Obi <img src=x>","ada@example.org"`), text);
  assert.ok(/"298\.00"/.test(text), 'amounts are decimals');
  for (const line of text.split('\r\n').filter(Boolean))
    assert.ok(!/(^|,)"[=+\-@\t\r]/.test(line.replace('\ufeff', '')), line);

  // A place is found by address and by id, and revoked.
  const email = `waits-${Date.now()}@example.org`;
  const verified = await server.sign_in_by_mail(email);
  const waiting = await server.join_and_be_admitted(verified.json.token, event.id);
  await tab(page, 'People');
  await page.getByLabel('E-mail address or entry id').fill('nobody@example.org');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText('No one with this address has a place in this line.').waitFor();
  for (const name of [email, waiting.entry_id]) {
    await page.getByLabel('E-mail address or entry id').fill(name);
    await page.getByRole('button', { name: 'Find' }).click();
    await page.locator(`[data-place="${waiting.entry_id}"]`).waitFor();
  }
  await check_page(page, 'console-people');
  await page.getByRole('button', { name: 'Revoke the session…' }).click();
  await dialog.getByLabel('Reason').fill('A bot.');
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.locator(`[data-place="${waiting.entry_id}"]`).getByText('revoked').waitFor();
  assert.equal((await server.position(verified.json.token, event.id)).status, 'REVOKED');

  await tab(page, 'Audit log');
  await page
    .getByRole('row', { name: /event refund/ })
    .filter({ hasText: 'One is ill.' })
    .waitFor();
  await page
    .getByRole('row', { name: /event revoke/ })
    .filter({ hasText: 'A bot.' })
    .waitFor();
  const saving_audit = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export as CSV' }).click();
  assert.match(
    fs.readFileSync(await (await saving_audit).path(), 'utf8'),
    /"event\.refund","[0-9a-f-]+","One is ill\."/,
  );
});

test('an export of 450 orders is streamed, and their list has pages', async (t) => {
  const s = await console_for(t);
  const { page, server } = s;
  const count = 450; // more than two pages
  const event = await event_of(s, {
    ticket_types: [{ name: 'Free', price: 0, total: count, max_per_order: 1 }],
    queue: { policy: 'open', claim_window_seconds: 300, session_ttl_seconds: 1200 },
  });
  const fans = await server.customers(count);
  const place_one = async (fan, index) => {
    const body = {
      event_id: event.id,
      contact: { first_name: 'Fan', last_name: `No ${index}`, email: `fan${index}@example.org` },
      items: [{ ticket_type_id: event.ticket_types[0].id }],
    };
    const placed = await server.insist('POST', '/checkout', { token: fan, body });
    assert.ok(placed.status === 202 || placed.status === 200, placed.text);
  };
  for (let at = 0; at < count; at += 50)
    await Promise.all(fans.slice(at, at + 50).map((fan, i) => place_one(fan, at + i)));
  const file = await server.get(`/events/${event.id}/orders.csv`, { token: s.token });
  assert.equal(file.headers['transfer-encoding'], 'chunked');
  assert.equal(file.headers['content-length'], undefined);
  const ids = file.text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.slice(1, 37));
  assert.equal(new Set(ids).size, count, 'each order once');
  await sign_in(page, s.who);
  await page.goto(`${server.url}/console#/events/${event.id}/orders`);
  await page.getByRole('row', { name: /Fan No 449/ }).waitFor();
  assert.equal(await page.getByRole('table').getByRole('row').count(), 51);
  await page.getByRole('button', { name: 'Show more' }).click();
  await eventually(
    'the next fifty',
    async () => (await page.getByRole('table').getByRole('row').count()) === 101,
  );
  await page.getByLabel('Find').fill('fan0@example'); // the oldest
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('row', { name: /Fan No 0/ }).waitFor();
});

test('dead letters are shown and retried; tasks and gateways are shown', async (t) => {
  const s = await console_for(t);
  const { page, server } = s;
  const event = await event_of(s, {
    queue: {
      policy: 'batch',
      batch_size: 50,
      admission_interval_ms: 100,
      claim_window_seconds: 300,
      session_ttl_seconds: 1200,
    },
  });
  const fan = await server.customer();
  const order = await order_of(s, fan, event, ada);
  // The gateway reports a different amount than requested.
  const cheap = server.webhook({
    event: 'charge.success',
    data: {
      reference: new URL(order.payment_url).pathname.split('/').at(-1),
      amount: 1,
      currency: 'EUR',
      status: 'success',
    },
  });
  assert.equal((await server.post('/webhooks/sandbox', cheap)).status, 200);
  await sign_in(page, s.who);
  await place(page, 'Dead letters');
  await page
    .getByRole('row', { name: /A payment is not as quoted/ })
    .getByText('captured 0.01 EUR, quoted 155.16 EUR')
    .waitFor();
  await check_page(page, 'console-dead-letters');
  await page.getByRole('button', { name: 'Retry' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The money is sent back.').waitFor();
  await dialog.getByLabel('Reason').fill('Send it back.');
  await dialog.getByRole('button', { name: 'Retry' }).click();
  await said(page, 'It is tried again.');
  await page.getByLabel('Show').selectOption('all');
  await page
    .getByRole('row', { name: /A payment is not as quoted/ })
    .getByText('retried')
    .waitFor();
  await place(page, 'Tasks');
  await page.getByRole('row', { name: /^sandbox initialize 1 0 0$/ }).waitFor();
  await page.getByRole('row', { name: /^sandbox refund 0 1 0$/ }).waitFor(); // the gateway does not know that payment
  await page.getByRole('row', { name: /^payment pages 0/ }).waitFor();
  await eventually('calls done', async () => (await number_in(tile(page, 'Done'))) > 0);
  await page.getByRole('heading', { name: 'Workers' }).waitFor();
  await page.getByRole('row', { name: /^sandbox gateway healthy/ }).waitFor();
  await page.getByRole('row', { name: /^ledger healthy/ }).waitFor();
  await page
    .getByRole('row', { name: /\d sandbox initialize initialized 1 / })
    .first()
    .waitFor();
  assert.equal(await tile(page, 'Asynchronous checkouts').textContent(), '100 %');
  // An order that waits for its page and its call in flight count as one task.
  await page.route('**/tasks', async (route) => {
    const answer = await route.fetch();
    const now = await answer.json();
    for (const task of now.tasks)
      if (['payment pages', 'sandbox calls'].includes(task.name)) task.in_flight = 3;
    await route.fulfill({ response: answer, json: now });
  });
  await tile_reaches(page, 'In flight', 3);
  await page.unroute('**/tasks');
  // The health of the gateway, live: one call answered, one refused, and their rates in a chart.
  await eventually('calls have a pace in the chart', async () => {
    const chart = await page
      .getByRole('img', { name: /^Calls to sandbox a minute: / })
      .getAttribute('aria-label');
    return /Answered [\d.]+, highest [\d.]+; Refused [\d.]+, highest [\d.]+; Failed 0, highest 0, since/.test(
      chart,
    );
  });
  await page.getByRole('img', { name: /^Work for sandbox: Under way \d+, highest \d+; Waiting/ }).waitFor();
  const another = await server.customer();
  const before = await number_in(
    page
      .getByRole('row', { name: /^sandbox initialize/ })
      .getByRole('cell')
      .nth(1),
  );
  await order_of(s, another, event, { ...ada, email: 'another@example.org' });
  await eventually(
    'the call is counted',
    async () =>
      (await number_in(
        page
          .getByRole('row', { name: /^sandbox initialize/ })
          .getByRole('cell')
          .nth(1),
      )) > before,
  );
  await eventually('and seen in the chart', async () => {
    const chart = await page
      .getByRole('img', { name: /^Calls to sandbox a minute: / })
      .getAttribute('aria-label');
    return Number(/Answered [\d.]+, highest ([\d.]+)/.exec(chart)[1]) > 0;
  });
  await check_page(page, 'console-tasks');
  await page.goto(`${server.url}/console#/events/${event.id}`);
  await page.getByRole('img', { name: /^Calls to sandbox a minute: / }).waitFor();
  await place(page, 'Audit log');
  await page.getByRole('row', { name: /Send it back\./ }).waitFor();
});

test('promo codes are created, refused, changed, used and ended; priority customers are served first, then like all others', async (t) => {
  const s = await console_for(t);
  const { page, server } = s;
  const event = await event_of(s, {
    ticket_types: [
      { name: 'Weekend pass', price: 14_900, total: 20, max_per_order: 4 },
      { name: 'Backstage', price: 30_000, total: 5, max_per_order: 1, hidden: true },
    ],
  });
  const code_named = async (name) =>
    (await server.get(`/events/${event.id}/promo-codes`, { token: s.token })).json.items.find(
      ({ code }) => code === name,
    );
  const quoted = async (fan, promo_code) => {
    const { json } = await server.post(`/events/${event.id}/quote`, {
      token: fan,
      body: { items: [{ ticket_type_id: event.ticket_types[0].id, quantity: 1 }], promo_code },
    });
    return json.discount ?? json.code;
  };
  await sign_in(page, s.who);
  await page.goto(`${server.url}/console#/events/${event.id}/promo-codes`);
  await page.getByText('No promo codes yet.').waitFor();
  const dialog = page.getByRole('dialog');

  // A new code: first invalid input.
  await page.getByRole('button', { name: 'New promo code' }).click();
  await dialog.getByLabel('Code', { exact: true }).fill('early-10');
  await dialog.getByLabel('Percent').fill('12.5');
  await dialog.getByLabel('Valid from').fill(local_input(after(2 * 86_400)));
  await dialog.getByLabel('Valid until').fill(local_input(after(86_400)));
  assert.ok(
    await dialog.evaluate((box) => box.scrollWidth <= box.clientWidth),
    'nothing sticks out of the dialog',
  );
  await check_page(page, 'console-new-promo-code');
  await dialog.getByRole('button', { name: 'Make the code' }).click();
  await dialog.getByRole('alert').waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-invalid') === 'true'); // the form moves the focus to the wrong field; only then continue typing
  assert.equal(await code_named('EARLY-10'), undefined);
  await dialog.getByLabel('Valid from').fill('');
  await dialog.getByLabel('Orders at most').fill('100');
  await dialog.getByRole('button', { name: 'Make the code' }).click();
  await said(page, 'EARLY-10 can be used.');
  const made = await code_named('EARLY-10');
  assert.deepEqual(
    [made.discount, made.valid_from, made.uses_max, made.uses_per_customer, made.ticket_type_ids],
    [{ type: 'percent', percent: 12.5 }, null, 100, null, []],
  );
  await page
    .getByRole('row', { name: /EARLY-10 12\.5 %/ })
    .getByText('0 of 100')
    .waitFor();

  // A repeat is refused with a message; an amount is sent in minor units.
  await page.getByRole('button', { name: 'New promo code' }).click();
  await dialog.getByLabel('Code', { exact: true }).fill('EARLY-10');
  await dialog.getByLabel('What it gives').selectOption('amount');
  await dialog.getByLabel('Off each ticket (EUR)').fill('1,5,x');
  await dialog.getByText('Write it like 15.00.').waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Make the code' }).isDisabled());
  await dialog.getByLabel('Off each ticket (EUR)').fill('15.50');
  await dialog.getByRole('button', { name: 'Make the code' }).click();
  await dialog.getByRole('alert').getByText('This event has that promo code already.').waitFor();
  await dialog.getByLabel('Code', { exact: true }).fill('CREW');
  await dialog.getByLabel('Backstage (hidden)').check();
  await dialog.getByRole('button', { name: 'Make the code' }).click();
  await said(page, 'CREW can be used.');
  const crew = await code_named('CREW');
  assert.deepEqual(
    [crew.discount, crew.ticket_type_ids],
    [{ type: 'amount', amount: 1_550 }, [event.ticket_types[1].id]],
  );
  await check_page(page, 'console-promo-codes');

  // Changed: only changed fields are sent, and fans pay accordingly.
  const fan = await server.customer();
  assert.equal(await quoted(fan, 'EARLY-10'), 1_863);
  await page.getByRole('button', { name: 'Change EARLY-10' }).click();
  assert.ok(await dialog.getByRole('button', { name: 'Save' }).isDisabled(), 'nothing is changed yet');
  await dialog.getByLabel('Percent').fill('20');
  const sending = page.waitForRequest((request) => request.method() === 'PATCH');
  await dialog.getByRole('button', { name: 'Save' }).click();
  assert.deepEqual((await sending).postDataJSON(), {
    discount: { type: 'percent', percent: 20 },
    ticket_type_ids: [],
  });
  await said(page, 'Saved.');
  await page.getByRole('row', { name: /EARLY-10 20 %/ }).waitFor();
  assert.equal(await quoted(fan, 'EARLY-10'), 2_980);

  // Ended, and on again.
  await page.getByRole('button', { name: 'End EARLY-10' }).click();
  await dialog.getByLabel('Reason').fill('Too cheap.');
  await dialog.getByRole('button', { name: 'End the code' }).click();
  await said(page, 'EARLY-10 has ended.');
  await page
    .getByRole('row', { name: /EARLY-10/ })
    .getByText('ended')
    .waitFor();
  assert.equal((await code_named('EARLY-10')).is_active, false);
  assert.match(String(await quoted(fan, 'EARLY-10')), /^promo_code/);
  await page.getByRole('button', { name: 'Change EARLY-10' }).click();
  await dialog.getByLabel('It can be used').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('row', { name: /EARLY-10/ })
    .getByText('active')
    .waitFor();

  // Priority: the last to join is admitted first.
  await tab(page, 'Priority');
  await page.locator('[data-priority]').getByText('0').waitFor();
  await page.getByLabel('E-mail addresses').fill('nobody');
  await page.getByRole('button', { name: 'Serve them first' }).click();
  await page.getByText('Must be e-mail addresses.').first().waitFor();
  await page.locator('textarea:focus').waitFor(); // the wrong field takes the focus; faster typing would go there
  const email = `vip-${Date.now()}@example.org`;
  await page.getByLabel('E-mail addresses').fill(` ${email.toUpperCase()},\nother@example.org ; ${email}`);
  await page.getByLabel('Reason').fill('The band.');
  await page.getByRole('button', { name: 'Serve them first' }).click();
  await said(page, '2 customers are served first.');
  await page.locator('[data-priority]').getByText('2').waitFor();
  await page.getByText('Their ids').click();
  await check_page(page, 'console-priority');
  await server.join(fan, event.id);
  const vip = (await server.sign_in_by_mail(email)).json.token;
  await server.join(vip, event.id);
  assert.equal(
    (await server.post(`/events/${event.id}/advance`, { token: s.token, body: { count: 1 } })).status,
    200,
  );
  assert.equal((await server.position(vip, event.id)).status, 'ADMITTED');
  assert.equal((await server.position(fan, event.id)).status, 'WAITING');
  await page.getByLabel('E-mail addresses').fill('other@example.org');
  await page.getByRole('button', { name: 'Serve them like all others' }).click();
  await said(page, '1 customer is served like all others again.');
  await page.locator('[data-priority]').getByText('1').waitFor();
  await tab(page, 'Audit log');
  await page.getByRole('row', { name: /Too cheap\./ }).waitFor();
  await page.getByRole('row', { name: /The band\./ }).waitFor();
});

test('customers are invited to a quota and blocked, with visible effects', async (t) => {
  const s = await console_for(t);
  const { page, server } = s;
  const event = await event_of(s, {
    queue: { policy: 'open' },
    ticket_types: [
      { name: 'Weekend pass', price: 14_900, total: 20, max_per_order: 4 },
      { name: 'Members', price: 9_900, total: 3, max_per_order: 2, hidden: true },
    ],
  });
  const email = `member-${Date.now()}@example.org`;
  await sign_in(page, s.who);
  await page.goto(`${server.url}/console#/events/${event.id}/invitations`);
  await page.getByLabel('E-mail addresses').fill(`${email}\nother@example.org`);
  await page.getByLabel('Tickets each').fill('2');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByText('The quota has fewer free tickets than that.').waitFor();
  await page.getByLabel('Tickets each').fill('1');
  await page.getByRole('button', { name: 'Invite' }).click();
  await said(page, '2 customers invited; customers notified within a day get no second mail.');
  await page
    .getByRole('row', { name: /Members.*1 of 1/ })
    .first()
    .waitFor();
  await check_page(page, 'console-invitations');
  await page.getByLabel('E-mail addresses').fill('other@example.org');
  await page.getByRole('button', { name: 'Withdraw their invitations' }).click();
  await said(page, '1 invitation withdrawn.');

  const member = (await server.sign_in_by_mail(email)).json.token;
  const invitation = await server.get(`/events/${event.id}/invitations/me`, { token: member });
  assert.equal(invitation.json.ticket_type_id, event.ticket_types[1].id, invitation.text);
  const order = await bought(s, member, event, ada);
  await page.getByRole('link', { name: 'Blocked', exact: true }).click();
  await page.getByText('No one is blocked.').waitFor();
  await page.getByLabel('E-mail addresses').fill(email);
  await page.getByRole('button', { name: 'Block and refund' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('Resold tickets.');
  await page.getByRole('dialog').getByRole('button', { name: 'Block and refund' }).click();
  await said(page, 'They are blocked.');
  await page.getByRole('row', { name: /Resold tickets\./ }).waitFor();
  await check_page(page, 'console-blocked');
  await eventually(
    'the refund',
    async () => (await server.get(`/orders/${order}/status`, { token: member })).json.status === 'refunded',
  );
  await page.getByRole('button', { name: 'Serve again' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Serve again' }).click();
  await page.getByText('No one is blocked.').waitFor();
});

test('a draft gets seats, which are found by state and blocked, and another draft copies them', async (t) => {
  const s = await console_for(t);
  const { page, server, token } = s;
  const draft = async (name) => {
    const answer = await server.post('/events', {
      token,
      body: {
        name,
        currency: 'EUR',
        sale_start: after(-60),
        sale_end: after(3600),
        ticket_types: [{ name: 'Stalls', price: 5_000, total: 1, max_per_order: 4 }],
      },
    });
    assert.equal(answer.status, 201, answer.text);
    return answer;
  };
  const made = await draft('Seated');
  await sign_in(page, s.who);
  await page.goto(`${server.url}/console#/events/${made.json.id}/seats`);
  await page.getByLabel('Rows', { exact: true }).fill('3');
  await page.getByLabel('Seats of a row').fill('4');
  await check_page(page, 'console-seat-plan');
  await page.getByRole('button', { name: 'Make the seats' }).click();
  await said(page, 'The event has seats.');
  await page.getByLabel('State', { exact: true }).selectOption('free');
  await said(page, '12 seats');
  await page.getByLabel('Find', { exact: true }).fill('row A');
  await said(page, '4 seats');
  await page.getByRole('button', { name: 'Block these seats' }).click();
  await said(page, 'Blocked.');
  await page.getByLabel('State', { exact: true }).selectOption('blocked');
  await page.getByRole('cell', { name: 'row A, seat 4' }).waitFor();
  await check_page(page, 'console-seats');
  const event = (await server.get(`/events/${made.json.id}`, { token })).json;
  assert.equal(event.ticket_types[0].total, 8);
  await page.getByRole('button', { name: 'Save this plan for other events' }).click();
  await said(page, 'The plan is saved.');
  const second = (await draft('Next week')).json.id;
  await page.goto(`${server.url}/console#/events/${second}/seats`);
  await page.getByRole('button', { name: 'Copy Seated' }).waitFor();
  await check_page(page, 'console-saved-plans');
  await page.getByRole('button', { name: 'Copy Seated' }).click();
  await said(page, 'The event has seats.');
  const plan = (await server.get(`/events/${second}/seat-plan`, { token })).json;
  assert.equal(plan.sections[0].rows.length, 3);
  assert.equal((await server.get(`/events/${second}`, { token })).json.ticket_types[0].total, 12);
});

test('a queue is created, changed, advanced, paused and searched', async (t) => {
  const s = await console_for(t, { start: '#/queues' });
  const { page, server } = s;
  await sign_in(page, s.who);
  await page.getByText('No queues yet.').waitFor();
  await page.getByRole('link', { name: 'New queue' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Front door');
  await page.getByLabel('External id').fill('door-1');
  await page.getByLabel('Policy').selectOption('operator');
  await page.getByLabel('Inside at a time').fill('');
  await check_page(page, 'console-new-queue');
  await page.getByRole('button', { name: 'Make the queue' }).click();
  await said(page, 'is made and open');
  const id = new URL(page.url()).hash.split('/')[2];
  const key = await cli(server, 'apikey', 'issue', '--scope', 'server');
  const join = async (subject) => {
    const ticket = await eventually('the key is known', async () => {
      const joined = await server.post(`/queues/${id}/tickets`, { token: key, body: { subject } });
      return joined.status === 201 && joined.json;
    });
    return ticket;
  };
  const [ann, ben] = [await join('ann'), await join('ben')];
  await tile_reaches(page, 'Waiting', 2);
  await page.getByLabel('How many').fill('1');
  await page.getByRole('button', { name: 'Call next 1' }).click();
  await tile_reaches(page, 'Admitted now', 1);
  await check_page(page, 'console-queue');
  await tab(page, 'People');
  await page.getByLabel('Ticket id').fill(ann.ticket_id);
  await page.getByRole('button', { name: 'Find' }).click();
  await page.locator(`[data-place="${ann.ticket_id}"]`).getByText('admitted').waitFor();
  await page.getByLabel('Subject').fill('ben');
  await page.getByRole('button', { name: 'Revoke…', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await said(page, 'Revoked.');
  assert.equal(
    (await server.get(`/tickets/${ben.ticket_id}`, { token: ben.ticket_token })).json.status,
    'CANCELLED',
  );
  await tab(page, 'Settings');
  await page.getByLabel('Session (minutes)').fill('7');
  await page.getByRole('button', { name: 'Save' }).click();
  await said(page, 'Saved.');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await place(page, 'Queues');
  await page
    .getByRole('row', { name: /Front door/ })
    .getByText('paused')
    .waitFor();
  await check_page(page, 'console-queues');
});

/** A witness that cosigns each checkpoint, or never answers: its setting. */
async function witness_for(t, name, answers) {
  const signer = new Signer(name, 4, 7);
  const server = http.createServer(async (request, answer) => {
    let body = '';
    for await (const part of request) body += part;
    const note = body.slice(body.indexOf('\n\n') + 2);
    if (!answers) return;
    answer.end(signer.cosign(note.slice(0, note.indexOf('\n\n') + 1), Math.floor(Date.now() / 1000)));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${server.address().port} ${signer.text}`;
}

const card = (page, name) => page.getByRole('region', { name, exact: true });
/** The value beside a name in a card's list of facts. */
const fact = (within, name) =>
  within.locator('dt', { hasText: new RegExp(`^${name}$`) }).locator('xpath=following-sibling::dd[1]');

/** Types a lobby with a draw into a form. `shown`: a time in the form's zone. */
async function type_lobby(page, shown, people) {
  await page.getByLabel('Lobby opens').fill(shown(after(-1)));
  await page.getByLabel('Order of the lobby').selectOption('at_opening');
  await page.getByLabel('People in a party').fill(String(people));
  await page.getByLabel('Public value in the draw').selectOption('drand');
  assert.equal(await page.getByLabel('Hash of the chain').inputValue(), chain_hash(quicknet));
  await page.getByText('some minutes after the line opens').waitFor();
  await page
    .getByText('With a chained network, like drand’s default, the check says “not proven”.')
    .waitFor();
  await page.getByLabel('Public value in the draw').selectOption('announced');
  await page.getByLabel('What the value will be').fill('Lottery of 1 March');
}

/** Waits for the closing, enters the announced value and sees the draw. */
async function draw(page, name) {
  const lobby = card(page, 'Lobby');
  await lobby.getByText('The draw waits for its public value.').waitFor({ timeout: 30_000 * patience });
  await lobby.getByLabel('Lottery of 1 March').fill('4 8 15');
  await check_page(page, `${name}-waits`);
  await lobby.getByRole('button', { name: 'Draw' }).click();
  await said(page, 'The order is drawn.');
  await lobby.getByText('What is public').click();
  await lobby.getByText('4 8 15').waitFor();
  await check_page(page, `${name}-drawn`);
}

test('lobbies and draws of an event and a queue, the public log and its witnesses, the waiting list, one ticket refunded', async (t) => {
  const witnesses = [
    await witness_for(t, 'one.example/witness', true),
    await witness_for(t, 'silent.example/witness', false),
  ];
  const s = await console_for(t, { options: { settings: { 'witness.urls': witnesses.join() } } });
  const { page, server, token } = s;
  const key = await cli(server, 'apikey', 'issue', '--scope', 'server');
  await sign_in(page, s.who);
  const opens_far = after(3000);
  const event = await event_of(s, { sale_start: opens_far, queue_opens_at: opens_far });
  const fans = await server.customers(4);
  const go = async (hash) => {
    await page.evaluate((to) => (location.hash = to), `#/${hash}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  // The lobby of an event, with all else that its form has.
  await go(`events/${event.id}/settings`);
  await page.getByRole('heading', { name: 'Picture' }).waitFor();
  await page.getByRole('button', { name: 'Add a question' }).click();
  await page.getByLabel('Text of the question').fill('Your shirt?');
  await page.getByLabel('People may buy without a sign-in').check();
  await page.getByLabel('Codes change every 30 seconds').check();
  await page.getByLabel('Terms on the PDF').fill('No glass.\nNo dogs.');
  const zoned = (time) => zoned_input(time, event.time_zone);
  await type_lobby(page, zoned, 3);
  await check_page(page, 'console-lobby-settings');
  await page.getByLabel('Line opens').fill(zoned(after(2000)));
  await page.getByLabel('Sale starts').fill(zoned(after(2000)));
  await page.getByRole('button', { name: 'Save' }).click();
  await said(page, 'Saved.');
  const saved = (await server.get(`/events/${event.id}`, { token })).json;
  assert.deepEqual(
    [saved.draw, saved.party_max, saved.beacon.announced, saved.guests, saved.rotating_codes],
    ['at_opening', 3, 'Lottery of 1 March', true, true],
  );
  assert.equal(saved.ticket_terms, 'No glass.\nNo dogs.');
  for (const fan of fans.slice(0, 2)) await server.join(fan, event.id);
  await tab(page, 'Live');
  await card(page, 'Lobby').getByText('The lobby is open.').waitFor();
  await eventually(
    'two people',
    async () => (await number_in(fact(card(page, 'Lobby'), 'People in it'))) === 2,
  );

  // Another event and another queue are drawn. They open soon, and no form has to be saved before.
  const visited = (line) =>
    eventually(
      'the key is known',
      async () =>
        (await server.post(`/queues/${line}/tickets`, { token: key, body: { subject: 'ann' } })).status ===
        201,
    );
  const opens_soon = after(8 * patience);
  const lobby = { lobby_opens_at: after(-1), draw: 'at_opening' };
  const { id: drawn_event } = await event_of(s, {
    ...lobby,
    sale_start: opens_soon,
    queue_opens_at: opens_soon,
    beacon: { kind: 'announced', announced: 'Lottery of 1 March' },
  });
  for (const fan of fans.slice(0, 2)) await server.join(fan, drawn_event);
  const door = await server.post('/queues', {
    token,
    body: {
      ...lobby,
      name: 'Side door',
      mode: 'operator',
      concurrency: 10,
      opens_at: opens_soon,
      beacon: 'announced',
      beacon_announced: 'Lottery of 1 March',
    },
  });
  assert.equal(door.status, 201, door.text);
  await visited(door.json.id);

  // The lobby of a queue.
  await go('queues/new');
  await page.getByLabel('Name', { exact: true }).fill('Front door');
  await page.getByLabel('Policy').selectOption('operator');
  await page.getByLabel('Locks a session').fill('2');
  await type_lobby(page, local_input, 2);
  await check_page(page, 'console-new-queue-lobby');
  await page.getByLabel('Opens', { exact: true }).fill(local_input(after(2000)));
  await page.getByRole('button', { name: 'Make the queue' }).click();
  await said(page, 'is made and open');
  const queue = new URL(page.url()).hash.split('/')[2];
  const made = (await server.get(`/queues/${queue}`, { token })).json;
  assert.deepEqual(
    [made.draw, made.party_max, made.beacon, made.beacon_announced, made.locks_per_session],
    ['at_opening', 2, 'announced', 'Lottery of 1 March', 2],
  );
  await visited(queue);
  await eventually(
    'one visitor',
    async () => (await number_in(fact(card(page, 'Lobby'), 'People in it'))) === 1,
  );

  // Both are drawn.
  await go(`events/${drawn_event}`);
  await draw(page, 'console-lobby');
  assert.equal((await server.get(`/events/${drawn_event}`, { token })).json.lobby.status, 'DRAWN');
  assert.ok((await server.position(fans[0], drawn_event)).position > 0);

  // The log, which grows, and who has cosigned it.
  const log = card(page, 'Public log');
  const row_of = (name) => log.getByRole('row', { name: new RegExp(`^${name}`) });
  await row_of('one.example/witness').getByText('signed', { exact: true }).waitFor();
  await row_of('silent.example/witness').getByText('unsigned', { exact: true }).waitFor();
  const records = await number_in(fact(log, 'Records'));
  assert.match(await fact(log, 'Newest').textContent(), /20\d\d/);
  await server.join(fans[2], drawn_event);
  await eventually('the log has grown', async () => (await number_in(fact(log, 'Records'))) > records, {
    timeout_ms: 15_000 * patience,
  });
  const fairness = await log.getByRole('link', { name: 'Page that checks it' }).getAttribute('href');
  assert.equal(fairness, `${server.url}/fairness/${drawn_event}`);
  await go(`queues/${door.json.id}`);
  await draw(page, 'console-queue-lobby');
  await row_of('one.example/witness').getByText('signed', { exact: true }).waitFor();

  // The waiting list of a sale that is sold out by one order.
  const full = await event_of(s, {
    ticket_types: [{ name: 'Weekend pass', price: 14_900, total: 2, max_per_order: 2 }],
    questions: [{ label: 'Shirt?', kind: 'text', to: 'attendee' }],
    queue: {
      policy: 'batch',
      batch_size: 50,
      admission_interval_ms: 100,
      claim_window_seconds: 300,
      session_ttl_seconds: 1200,
    },
  });
  const shirts = ['S', 'M'].map((value, i) => ({ question_id: 1, attendee: i + 1, value }));
  const order = await bought(s, fans[0], full, ada, 2, { answers: shirts });
  await go(`events/${full.id}/settings`);
  const settings = card(page, 'The waiting list');
  await settings.getByLabel('Keep a waiting list').check();
  await settings.getByLabel('Time to choose (minutes)').fill('45');
  const hour = (in_hours) => new Date(Date.now() + in_hours * 3_600_000).toISOString().slice(11, 16);
  await settings.getByLabel('Quiet from').fill(hour(2));
  await settings.getByLabel('Quiet until').fill(hour(3));
  await page.getByRole('button', { name: 'Save' }).click();
  await said(page, 'Saved.');
  await server.join(fans[1], full.id);
  await tab(page, 'Live');
  const list = card(page, 'Waiting list');
  await list.getByText(/^Since /).waitFor();
  const list_has = (name, wanted) =>
    eventually(`${name}: ${wanted}`, async () => (await fact(list, name).textContent()) === wanted);
  await list_has('On the list', '1');
  await list_has('Open offers', '0');
  await list_has('Time to choose', '45 min 0 s');
  assert.match(await fact(list, 'Quiet hours').textContent(), /^\d\d:\d\d to \d\d:\d\d$/);
  await check_page(page, 'console-waiting-list');

  // One ticket of the order is refunded: that one, and the list offers it.
  await go(`events/${full.id}/orders/${order}`);
  const { event_tickets } = (await server.get(`/orders/${order}`, { token })).json;
  const tickets = event_tickets.map(({ id }) => id);
  const row = (id) => card(page, 'Event tickets').getByRole('row', { name: new RegExp(id.slice(-12)) });
  const holder = (await server.get(`/event-tickets/${tickets[1]}`, { token })).json.holder_id;
  await row(tickets[1]).getByText(holder).waitFor();
  for (const { id, attendee } of event_tickets)
    await row(id)
      .getByText(`${attendee}: Shirt? ${shirts[attendee - 1].value}`)
      .waitFor();
  await page.getByRole('button', { name: 'Refund…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Some tickets').check();
  await dialog.getByLabel(new RegExp(tickets[1].slice(-12))).check();
  await check_page(page, 'console-refund-ticket');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await said(page, 'The refund is under way.');
  await row(tickets[1]).getByText('cancelled').waitFor();
  await row(tickets[0]).getByText('issued').waitFor();
  await check_page(page, 'console-order-tickets');
  await tab(page, 'Live');
  await list_has('Open offers', '1');
  await list_has('Tickets that are back', '1 free, 0 held');
  await list_has('On the list', '0');
  for (const [name, shown] of [
    ['Report', 'Interventions'],
    ['Check-in', 'Devices'],
  ]) {
    await tab(page, name);
    await page.getByRole('heading', { name: shown, exact: true }).waitFor();
    await check_page(page, `console-${name.toLowerCase()}`);
  }
  const code = async () => (await server.get(`/event-tickets/${tickets[0]}`, { token: fans[0] })).json.code;
  const before = await code();
  await page.getByRole('button', { name: 'Void all codes' }).click();
  await dialog.getByLabel('Reason').fill('A phone was stolen.');
  await check_page(page, 'console-void-codes');
  await dialog.getByRole('button', { name: 'Void all codes' }).click();
  await said(page, 'All tickets have new codes.');
  assert.notEqual(await code(), before);
  await place(page, 'Logo');
  await page.locator('input[type=file]').waitFor();
  await check_page(page, 'console-logo');
});

test('with the keyboard only: sign in, skip, open an event, change it, answer a dialog', async (t) => {
  const s = await console_for(t);
  const { page } = s;
  const event = await event_of(s);
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focused = () =>
    page.evaluate(
      () =>
        document.activeElement.innerText ||
        document.activeElement.labels?.[0]?.innerText ||
        document.activeElement.tagName,
    );
  /** Presses Tab until the element with this name has the focus; every stop must be visible. */
  const tab_to = async (name) => {
    for (let i = 0; i < 60; ++i) {
      await press('Tab');
      const text = await focused();
      if (text.trim().startsWith(name)) {
        const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
        assert.notEqual(outline, 'none', `the focus on ${name} is not seen`);
        return;
      }
    }
    assert.fail(`the keyboard never comes to ${name}`);
  };
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await tab_to('E-mail address');
  await page.keyboard.type(s.who.email);
  await tab_to('Password');
  await page.keyboard.type(s.who.password);
  await press('Enter');
  await page.getByRole('link', { name: event.name }).waitFor();
  for (let i = 0; i < 20 && !/^Skip/.test(await focused()); ++i) await press('Shift+Tab');
  assert.match(await focused(), /^Skip to the content/);
  assert.ok(
    (await page.getByRole('link', { name: 'Skip to the content' }).boundingBox()).y >= 0,
    'it is seen while it has the focus',
  );
  await check_page(page, 'console-skip');
  await press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await tab_to(event.name);
  await press('Enter');
  await page.getByRole('heading', { level: 1, name: /Aurora/ }).waitFor();
  await eventually('the heading has the focus', async () => /Aurora/.test(await focused()));
  await page.getByLabel('Message to all in line').waitFor(); // after the first numbers
  await tab_to('Message to all');
  await page.keyboard.type('Typed.');
  await press('Enter');
  await said(page, 'The change is in force.');
  await page.evaluate(() => scrollTo(0, 0));
  await page.getByRole('link', { name: 'Live', exact: true }).focus();
  for (let i = 0; i < 12 && !/^End/.test(await focused()); ++i) await press('Shift+Tab');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await tab_to('Not now'); // the focus stays inside
  await press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await eventually('the focus is back', async () => /^End/.test(await focused()));
});

for (const [name, viewport] of Object.entries({
  '390px': { width: 390, height: 844 },
  'zoom-200': { width: 640, height: 450 },
}))
  test(`nothing is cut off at ${name}`, async (t) => {
    const s = await console_for(t, { browser_options: { viewport } });
    const { page, server } = s;
    const event = await event_of(s, {
      name: 'A festival with a name that is as long as names of festivals are, Donaudampfschifffahrtsgesellschaft edition',
      queue: {
        policy: 'batch',
        batch_size: 50,
        admission_interval_ms: 100,
        claim_window_seconds: 300,
        session_ttl_seconds: 1200,
      },
    });
    const order = await bought(s, await server.customer(), event, {
      ...ada,
      email: `${'a'.repeat(60)}@${'b'.repeat(40)}.example.org`,
    });
    await check_page(page, `console-sign-in-${name}`);
    await sign_in(page, s.who);
    const views = [
      'events',
      'events/new',
      `events/${event.id}`,
      `events/${event.id}/settings`,
      `events/${event.id}/report`,
      `events/${event.id}/check-in`,
      `events/${event.id}/orders`,
      `events/${event.id}/orders/${order}`,
      `events/${event.id}/people`,
      `events/${event.id}/promo-codes`,
      `events/${event.id}/priority`,
      `events/${event.id}/invitations`,
      `events/${event.id}/audit`,
      'queues',
      'queues/new',
      'logo',
      'blocked',
      'dead-letters',
      'tasks',
      'audit',
    ];
    for (const view of views) {
      await page.evaluate((hash) => (location.hash = hash), `#/${view}`);
      await sleep(300);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await eventually('what was loaded', async () => (await page.getByText('Loading…').count()) === 0);
      if (view === `events/${event.id}`) await tile(page, 'Sold').waitFor();
      assert.ok(await fits(page), `${view} must be scrolled to the side`);
      await check_page(
        page,
        `console-${view.replaceAll('/', '-').replace(event.id, 'event').replace(order, 'order')}-${name}`,
      );
    }
  });

test('dark mode, and a server that is unreachable, slow or refuses', async (t) => {
  const s = await console_for(t, { browser_options: { colorScheme: 'dark' } });
  const { page, server } = s;
  const event = await event_of(s);
  await sign_in(page, s.who);
  await page.getByRole('link', { name: event.name }).click();
  await tile(page, 'Sold').waitFor();
  await sleep(2_500);
  await check_page(page, 'console-live-dark');
  await page.route('**/stats', (route) => route.abort());
  await page.getByRole('alert').getByText('The server could not be reached.').first().waitFor();
  await tile(page, 'Sold').waitFor(); // the last numbers stay
  await page.unroute('**/stats');
  await eventually('live again', async () => (await page.getByRole('alert').count()) === 0, {
    timeout_ms: 20_000,
  });
  await page.route('**/advance', (route) => route.abort());
  await page.getByRole('button', { name: /^Call next/ }).click();
  await page.getByText('It may have been done or not').waitFor();
  await page.unroute('**/advance');
  await page.getByRole('button', { name: /^Call next/ }).click();
  await said(page, '0 of 10 were admitted.');
  await eventually('no complaint', async () => (await page.getByRole('alert').count()) === 0);
  await server.kill();
  await page.getByRole('alert').getByText('The server could not be reached.').first().waitFor();
  await check_page(page, 'console-server-away');
  await server.launch();
  await eventually('live again', async () => (await page.getByRole('alert').count()) === 0, {
    timeout_ms: 30_000,
  });
  for (const [hash, words] of [
    [`#/events/${event.id.replace(/^./, '1')}`, 'There is nothing here, or it is not yours.'],
    ['#/events/x', 'There is nothing here, or it is not yours.'],
    ['#/nowhere', 'There is nothing here'],
  ]) {
    await page.evaluate((to) => (location.hash = to), hash);
    await page.getByText(words).first().waitFor();
  }
});

test('a sign-in is kept in memory only, expires without losing the view, and leaves nothing behind', async (t) => {
  const s = await console_for(t);
  const { page, server, context } = s;
  const event = await event_of(s);
  await sign_in(page, s.who);
  await page.getByRole('link', { name: event.name }).click();
  await tile(page, 'Sold').waitFor();
  await tab(page, 'Settings');
  await page.getByLabel('Name', { exact: true }).first().fill('Half typed');
  const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie]);
  assert.deepEqual(kept, [0, 0, ''], 'nothing is kept but in memory');
  assert.deepEqual(await context.cookies(), []);
  // The token expires during typing.
  await page.route('**/events/*', (route) => {
    const headers = { ...route.request().headers(), authorization: 'Bearer over' };
    return route.continue({ headers });
  });
  const dialog = page.getByRole('dialog', { name: 'Your sign-in has ended' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await dialog.isVisible(), 'it cannot be left');
  await check_page(page, 'console-signed-out');
  await page.unroute('**/events/*');
  await dialog.getByLabel('Password').fill(s.who.password);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(
    await page.getByLabel('Name', { exact: true }).first().inputValue(),
    'Half typed',
    'what was typed is still there',
  );
  // Another account does not see it; signing out closes it.
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.equal(await page.getByText(event.name).count(), 0);
  await sign_in(page, await server.new_organizer());
  await page.getByText('No events yet.').waitFor();
  await page.evaluate((hash) => (location.hash = hash), `#/events/${event.id}/settings`);
  await page.getByRole('alert').getByText('There is nothing here, or it is not yours.').waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});
