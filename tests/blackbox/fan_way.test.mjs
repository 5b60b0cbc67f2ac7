// SPDX-License-Identifier: Apache-2.0
// A fan's whole way in a real browser: find the event, wait in line, choose seats, pay, print, give a ticket
// away, and come in at the gate. On a desktop, on a phone in Arabic, and without script.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { browser_for, check_page, fits, person, person_without_script, shoot } from './browser.mjs';
import {
  address,
  find_event,
  give,
  order,
  pay,
  program,
  read_qr,
  read_qr_of_pdf,
  shot_of,
  sign_in,
} from './fan_pages.mjs';
import { after, assert, patience, Server, temporary_folder } from './lib.mjs';
import { read_states, seat_states } from '../../web/sdk/seats.mjs';

const wishes = {
  name: 'Aurora Open Air 2036',
  currency: 'EUR',
  starts_at: '2036-07-18T14:00:00Z',
  doors_at: '2036-07-18T12:30:00Z',
  time_zone: 'Europe/Zagreb',
  venue: { name: 'Jarun Lake', address: 'Zagreb' },
  ticket_types: [{ name: 'Stand', price: 14_900, total: 50, max_per_order: 4 }],
  queue: { policy: 'operator', claim_window_seconds: 300, session_ttl_seconds: 1200 },
};

const hall = { sections: [{ section: 'N', name: 'North', ticket_type: 'Stand', rows: 5, seats: 10 }] };

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

let site;
test.before(async () => {
  const server = await Server.start();
  site = { server, organizer: await server.organizer() };
});
test.after(() => site?.server.kill());

/** An event with a gate; `let_in` admits who is next in its line. */
async function sale_for() {
  const { server, organizer } = site;
  const event = await server.seated_event(organizer, { ...wishes, sale_end: after(3600) }, hall);
  const made = async (what, body) => {
    const answer = await server.post(`/events/${event.id}/${what}`, { token: organizer, body });
    assert.ok(answer.status < 300, answer.text);
    return answer.json;
  };
  await made('checkin/lists', { name: 'Main entrance', gates: ['West'], mode: 'entry' });
  const scanner = await made('checkin/devices', { label: 'Phone 1', gate: 'West' });
  return { server, event, scanner, let_in: () => made('advance', { count: 1 }) };
}

/** Nothing is cut off; a screenshot. In Arabic also axe-core: other files have it in English. */
const looker = (page, name) => async (step) => {
  assert.ok(await fits(page), `${name}: ${step} is wider than the screen`);
  await (name === 'phone-ar' ? check_page : shoot)(page, `way-${name}-${step}`);
};

/** Without script the page renews itself after some seconds (pages.test.mjs): this asks at once. */
async function come_to(page, name, locator) {
  if (name === 'without-script')
    while (!(await locator.isVisible())) await page.reload({ waitUntil: 'domcontentloaded' });
  await locator.waitFor({ timeout: 30_000 * patience });
}

const shows_price_of_two = (page) =>
  page.locator('[data-sum="subtotal"]', { hasText: '298.00' }).waitFor({ timeout: 30_000 * patience });

/** Two neighbours in the second row: on the map, in the list; without script the best that are free. */
const choosers = {
  'desktop': async (page) => {
    for (const seat of [13, 14]) await page.locator(`[data-frame] [data-seat="${seat}"]`).click();
    await shows_price_of_two(page);
  },
  'phone-ar': async (page) => {
    await page.locator('[data-view="list"]').click();
    await page.locator('details[data-section="0"] summary').click();
    for (const seat of [13, 14]) await page.locator(`[data-list] [data-seat="${seat}"]`).check();
    await shows_price_of_two(page);
  },
  'without-script': (page) => page.locator('select').first().selectOption('2'),
};

/** Buys two tickets; returns their ids. */
async function buy({ server, event, let_in }, page, name, look) {
  const email = address('ann');
  await find_event(server, page, event);
  await sign_in(server, page, email);
  await page.locator('[data-position]').waitFor();
  await look('line');
  await let_in();
  await come_to(page, name, page.locator(`a[href$="/shop/events/${event.id}"]`));
  await order(page, event, email, { choose: () => choosers[name](page), look: () => look('choose') });
  await come_to(page, name, page.locator('a.button[href*="/sandbox/"]'));
  await pay(page);
  const tickets = page.locator('a[href$="/my/tickets"].button');
  await come_to(page, name, tickets);
  await tickets.click();
  const codes = page.locator('[data-code]');
  await codes.nth(1).waitFor();
  return codes.evaluateAll((all) => all.map((e) => e.dataset.code));
}

/** Numbers of the seats that are sold, by the public map. */
async function sold_seats({ server, event }) {
  const map = (await server.get(`/events/${event.id}/seats`)).json;
  const states = [...read_states(map.states, map.seats)];
  return states.flatMap((state, number) => (seat_states[state] === 'sold' ? [number] : []));
}

/** The PDF of a ticket, as the page's link gives it. */
async function printed(page, ticket) {
  const url = await page.locator(`a[href$="/my/tickets/${ticket}.pdf"]`).evaluate((link) => link.href);
  const answer = await page.request.get(url);
  assert.equal(answer.status(), 200);
  const file = path.join(temporary_folder(), 'ticket.pdf');
  fs.writeFileSync(file, await answer.body());
  return file;
}

/** The receiver of an offer takes the ticket; returns its new code. */
async function take({ server }, page, email, ticket, look) {
  await page.goto(`${server.url}/my/tickets`);
  await sign_in(server, page, email);
  await look('offer');
  await page.locator('form:has(input[value=accept]) button').click();
  const code = page.locator(`[data-code="${ticket}"]`);
  await code.waitFor();
  return read_qr(await shot_of(code));
}

/** Shows each code to the gate; returns what it said. */
async function at_gate(t, { server, scanner }, codes) {
  const page = await (await person(t, await browser_for(), phone)).newPage();
  await page.goto(scanner.scan_url.replace(/^https?:\/\/[^/]+/, server.url));
  await page.locator('main[data-ready="true"]').waitFor();
  const check = { name: 'Check', exact: true };
  const said = [];
  for (const code of codes) {
    await page.getByLabel('Or type the code').fill(code);
    const answered = page.waitForResponse(/\/checkin\/redeem$/);
    await page.getByRole('button', check).click();
    await answered;
    await page.getByRole('button', { ...check, disabled: false }).waitFor(); // then this answer is shown
    await page.locator('[data-result]:not([hidden])').waitFor();
    said.push(await page.locator('[data-headline]').textContent());
  }
  return said;
}

const ways = {
  'desktop': (t, browser) => person(t, browser, { viewport: { width: 1280, height: 800 } }),
  'phone-ar': (t, browser) => person(t, browser, { ...phone, locale: 'ar' }),
  'without-script': (t) => person_without_script(t),
};

async function whole_way(t, name, begin) {
  const browser = await browser_for();
  const sale = await sale_for();
  const page = await (await begin(t, browser)).newPage();
  const look = looker(page, name);
  const [kept, given] = await buy(sale, page, name, look);
  const seats = await sold_seats(sale);
  assert.deepEqual(seats, name === 'without-script' ? [seats[0], seats[0] + 1] : [13, 14]);
  const file = await printed(page, kept);
  const shown = await read_qr(await shot_of(page.locator(`[data-code="${kept}"]`)));
  assert.equal(await read_qr_of_pdf(file), shown, 'paper and screen have one code');
  const paper = await program('pdftotext', file, '-');
  for (const said of [/Aurora Open Air 2036/, /North/]) assert.match(paper, said);
  const old = await read_qr(await shot_of(page.locator(`[data-code="${given}"]`)));
  const bob = address('bob');
  await give(page, given, bob);
  await look('given');
  const friend = await (await person(t, browser, phone)).newPage();
  const code = await take(sale, friend, bob, given, looker(friend, name));
  assert.notEqual(code, old);
  assert.deepEqual(await at_gate(t, sale, [shown, code, old, shown]), [
    'Let in',
    'Let in',
    'This ticket has another holder now',
    'Already in',
  ]);
}

test('from the shop to the gate', { concurrency: true }, async (t) => {
  await Promise.all(
    Object.entries(ways).map(([name, begin]) => t.test(name, (way) => whole_way(way, name, begin))),
  );
});
