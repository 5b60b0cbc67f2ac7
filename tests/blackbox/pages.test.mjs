// SPDX-License-Identifier: Apache-2.0
// The pages in a real browser: from the line to the receipt with and without script; tabs, devices, offline,
// restarts, keyboard, zoom, right-to-left, accessibility and size.
import test from 'node:test';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import zlib from 'node:zlib';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { browser_for, check_page, fits, person, person_without_script } from './browser.mjs';
import { address, sign_in } from './fan_pages.mjs';
import {
  after,
  assert,
  eventually,
  expect_problem,
  free_port,
  patience,
  root,
  run,
  server_for,
  temporary_folder,
  text_of_mail,
} from './lib.mjs';
import { tenant_on } from './tenant.mjs';
import { Log } from '../fair/log_maker.mjs';

/** A sale with admission by the test. */
const by_hand = {
  name: 'Aurora Open Air 2027',
  currency: 'EUR',
  starts_at: '2036-07-18T14:00:00Z',
  ends_at: '2036-07-20T21:00:00Z',
  doors_at: '2036-07-18T12:30:00Z',
  time_zone: 'Europe/Zagreb',
  venue: { name: 'Jarun Lake', address: 'Zagreb', latitude: 45.7814, longitude: 15.9196 },
  description: 'Three days of music **by the water**.\n\n* Four stages\n* [Camping](https://example.org)',
  ticket_types: [
    { name: 'Weekend pass', price: 14_900, total: 20, max_per_order: 4 },
    { name: 'Saturday', price: 7_900, total: 20, max_per_order: 4 },
  ],
  queue: { policy: 'operator', claim_window_seconds: 300, session_ttl_seconds: 1200 },
  claim_ttl_seconds: 600,
};

/** A server with a sale; `let_in` admits the next customer. */
async function sale_for(t, { event = {}, options = {} } = {}) {
  const server = await server_for(t, options);
  const organizer = await server.organizer();
  const made = await server.post('/events', { token: organizer, body: { ...by_hand, ...times(), ...event } });
  assert.equal(made.status, 201, made.text);
  const active = await server.post(`/events/${made.json.id}/activate`, { token: organizer });
  assert.equal(active.status, 200, active.text);
  const let_in = async (count = 1) => {
    const called = await server.post(`/events/${made.json.id}/advance`, {
      token: organizer,
      body: { count },
    });
    assert.equal(called.status, 200, called.text);
  };
  return { server, organizer, event: made.json, let_in, url: `${server.url}/wait/${made.json.id}` };
}

const times = () => ({ sale_start: new Date(Date.now() - 1000).toISOString(), sale_end: after(3600) });

/** Customers who joined before. */
async function crowd(s, count) {
  for (const fan of await s.server.customers(count)) await s.server.join(fan, s.event.id);
}

const position = (page) => page.locator('[data-position]');
const place_is = async (page, wanted) => {
  await eventually(
    `place ${wanted}`,
    async () =>
      (await position(page)
        .textContent({ timeout: 2000 })
        .catch(() => '')) === wanted,
  );
};
const turn = (page) => page.getByText('It is your turn!');

/** Chooses tickets and orders, on the page of an admitted customer. */
async function choose(page, { types = 1, email }) {
  await page.getByRole('link', { name: 'Choose tickets' }).click();
  await page.getByLabel('How many: Weekend pass').selectOption('2');
  if (types > 1) await page.getByLabel('How many: Saturday').selectOption('1');
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Obi <script>');
  await page.getByLabel('E-mail address').fill(email);
}

async function pay(page, name) {
  await page.getByRole('link', { name: 'Pay now' }).click();
  if (name) await check_page(page, name);
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
  await page.getByRole('link', { name: 'Back to the shop' }).click();
}

test('a person buys a ticket, from the waiting page to the receipt', async (t) => {
  const s = await sale_for(t);
  await crowd(s, 3);
  const promo = await s.server.post(`/events/${s.event.id}/promo-codes`, {
    token: s.organizer,
    body: { code: 'EARLY', discount: { type: 'percent', percent: 10 } },
  });
  assert.equal(promo.status, 201, promo.text);
  const page = await (await person(t, await browser_for())).newPage();
  await page.goto(`${s.server.url}/shop`);
  await check_page(page, 'shop');
  await page.getByRole('link', { name: 'Go to the line' }).click();
  await check_page(page, 'sign-in');
  const email = address();
  await sign_in(s.server, page, email);
  await place_is(page, '4');
  assert.equal(await page.locator('[data-ahead]').textContent(), '3 people ahead of you');
  await page.getByText('Live').waitFor();
  const said = await s.server.patch(`/events/${s.event.id}`, {
    token: s.organizer,
    body: { message: 'Doors open at 18:00.' },
  });
  assert.equal(said.status, 200, said.text);
  await page.getByText('Doors open at 18:00.').waitFor();
  await check_page(page, 'waiting');
  await s.let_in(1);
  await place_is(page, '3');
  await s.let_in(3);
  await turn(page).waitFor();
  await check_page(page, 'your-turn');
  await choose(page, { types: 2, email });
  await page.getByLabel('Promo code').fill('EARLY');
  await page.locator('[data-sum=total]').getByText('EUR').waitFor();
  await eventually(
    'the discount',
    async () => (await page.locator('[data-sum=discount]').textContent()) === '-37.70 EUR',
  );
  await check_page(page, 'choose');
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByText('Your tickets are reserved').waitFor();
  await check_page(page, 'order-reserved');
  await pay(page, 'sandbox');
  await page.getByText('The tickets are yours').waitFor();
  await page.getByText(`We have sent a receipt to ${email}.`).waitFor();
  await page.getByText('2 × Weekend pass').waitFor();
  assert.equal(await page.getByText('Obi <script>').count(), 1, 'what was typed is text');
  await check_page(page, 'receipt');
  await page.getByRole('link', { name: 'Your orders' }).click();
  await page.getByRole('link', { name: 'Aurora Open Air 2027' }).waitFor();
  await check_page(page, 'orders');
  await page.goto(s.url);
  await page.getByText('You have your tickets. Enjoy!').waitFor();
  await check_page(page, 'over');
  await page.goto(`${s.server.url}/wait/x`);
  await page.getByText('There is nothing here.').waitFor();
  await check_page(page, 'error');
  const stats = await s.server.stats(s.organizer, s.event.id);
  assert.equal(stats.sold, 3);
});

/** A sale with tickets that the access code FANCLUB opens. */
async function fan_club_sale(t, event = {}) {
  const hidden = { name: 'Fan club', price: 9_900, total: 3, hidden: true };
  const s = await sale_for(t, { event: { ticket_types: [...by_hand.ticket_types, hidden], ...event } });
  const { json } = await s.server.get(`/events/${s.event.id}`, { token: s.organizer });
  const code = await s.server.post(`/events/${s.event.id}/promo-codes`, {
    token: s.organizer,
    body: {
      code: 'FANCLUB',
      discount: { type: 'none' },
      ticket_type_ids: [json.ticket_types.find(({ name }) => name === hidden.name).id],
    },
  });
  assert.equal(code.status, 201, code.text);
  return s;
}

test('an access code at the ticket choice opens hidden tickets and keeps what was typed', async (t) => {
  const s = await fan_club_sale(t);
  for (const context of [await person_without_script(t), await person(t, await browser_for())]) {
    const page = await context.newPage();
    await page.goto(s.url);
    await sign_in(s.server, page, address());
    await position(page).waitFor();
    await s.let_in(1);
    await turn(page).waitFor({ timeout: 30_000 * patience });
    await page.getByRole('link', { name: 'Choose tickets' }).click();
    await page.getByLabel('How many: Saturday').selectOption('2');
    const typed = { first_name: 'Ada', phone: '555 123', donation: '2.50' };
    for (const [name, value] of Object.entries(typed)) await page.locator(`[name=${name}]`).fill(value);
    await page.getByText('I have an access code').click();
    await page.getByLabel('Access code', { exact: true }).fill('fanclub');
    // With script the Enter key uses the code; without, a browser asks for the last name first.
    if (await page.locator('[data-update]').isHidden()) await page.keyboard.press('Enter');
    else await page.getByRole('button', { name: 'Use the code' }).click();
    await page.getByLabel('How many: Fan club').waitFor();
    await page.getByRole('status').getByText('The code fanclub is in use.').waitFor();
    assert.equal(await page.getByLabel('How many: Saturday').inputValue(), '2');
    for (const [name, value] of Object.entries(typed))
      assert.equal(await page.locator(`[name=${name}]`).inputValue(), value);
  }
});

test('a page that answers a form is loaded anew by a GET, once', async (t) => {
  const gone_to = [];
  globalThis.document = {
    getElementById: () => ({ textContent: '{}' }),
    documentElement: { lang: 'en' },
    querySelector: () => null,
    querySelectorAll: () => [],
  };
  globalThis.location = {
    href: 'https://example.org/shop/events/1#main',
    replace: (url) => gone_to.push(url),
    reload: () => gone_to.push('the form again'),
  };
  t.after(() => {
    delete globalThis.document;
    delete globalThis.location;
  });
  const { reload } = await import('../../web/pages/page.mjs');
  reload();
  reload();
  assert.deepEqual(gone_to, ['https://example.org/shop/events/1']);
});

test('a person gives an access code while waiting and sees the hidden ticket', async (t) => {
  const s = await fan_club_sale(t, { queue: { policy: 'capacity', concurrency: 1 } });
  await crowd(s, 1);
  const page = await (await person_without_script(t)).newPage();
  await page.goto(s.url);
  await sign_in(s.server, page, address());
  for (const [typed, answer] of [
    ['NOSUCH', 'This access code cannot be used.'],
    ['fanclub', 'Fan club'],
  ]) {
    const soon = { timeout: 3000 * patience };
    const use_code = async () => {
      await page.getByText('I have an access code').click();
      await page.getByLabel('Access code', { exact: true }).fill(typed, soon);
      // the form's answer is a page of its own
      await Promise.all([
        page.waitForEvent('load'),
        page.getByRole('button', { name: 'Use the code' }).click(soon),
      ]);
    };
    // The page renews itself after some seconds: what was opened may be closed again.
    await use_code().catch(async () => {
      await page.goto(s.url);
      await use_code();
    });
    if (typed === 'fanclub') {
      const wider = await s.server.request('PATCH', `/events/${s.event.id}`, {
        token: s.organizer,
        body: { queue: { concurrency: 5 } },
      });
      assert.equal(wider.status, 200, wider.text);
      await page.reload();
      await turn(page).waitFor();
      await page.getByRole('link', { name: 'Choose tickets' }).click();
    }
    await page.getByText(answer).first().waitFor();
  }
});

test('a person without script buys a ticket', async (t) => {
  const s = await sale_for(t);
  await crowd(s, 1);
  const page = await (await person_without_script(t)).newPage();
  await page.goto(s.url);
  const email = address();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await page.getByLabel('Code from the mail').fill('000000');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('That code is not right, or it is too old.').waitFor();
  await page.getByLabel('Code from the mail').fill(await s.server.mailed_code(email));
  await page.getByRole('button', { name: 'Continue' }).click();
  assert.equal(await position(page).textContent(), '2');
  const renews = await page.locator('noscript p').evaluate((e) => e.getClientRects().length); // playwright reports it as hidden
  assert.equal(renews, 1, 'it says that it renews itself');
  assert.equal(
    await page.locator('[data-tell-row]').isVisible(),
    false,
    'nothing is offered that needs script',
  );
  const link = page.getByRole('link', { name: 'Keep the proof of my place' });
  const proof = new URL(await link.getAttribute('href'), s.url);
  await eventually('the place has a proof', async () => {
    const answer = await page.request.get(proof.href);
    return answer.status() === 200 && (await answer.text()).startsWith('c2sp.org/tlog-proof@v1\n');
  });
  await s.let_in(2);
  await turn(page).waitFor({ timeout: 30_000 * patience }); // without a click
  await page.getByRole('link', { name: 'Choose tickets' }).click();
  await page.getByRole('button', { name: 'Update the total' }).click();
  await page.getByText('Please choose at least one ticket.').waitFor();
  await page.getByLabel('How many: Weekend pass').selectOption('2');
  await page.getByRole('button', { name: 'Update the total' }).click();
  await page.getByText('298.00 EUR').first().waitFor();
  assert.equal(await page.getByLabel('How many: Weekend pass').inputValue(), '2');
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Obi');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Promo code').fill('NOSUCH');
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByText('This promo code cannot be used.').waitFor();
  await page.getByLabel('Promo code').fill('');
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await pay(page);
  await page.getByText('The tickets are yours').waitFor({ timeout: 30_000 * patience });
});

test('a person buys as a guest without script', async (t) => {
  const s = await sale_for(t, { event: { guests: true } });
  const page = await (await person_without_script(t)).newPage();
  const checked = await (await person(t, await browser_for())).newPage(); // axe needs script
  await checked.goto(s.url);
  await check_page(checked, 'guest_wait');
  await page.goto(s.url);
  await page.getByRole('button', { name: 'Continue as a guest' }).click();
  assert.equal(await position(page).textContent(), '1');
  await s.let_in();
  await turn(page).waitFor({ timeout: 30_000 * patience });
  await page.getByRole('link', { name: 'Choose tickets' }).click();
  await page.getByLabel('E-mail address again').waitFor();
  await checked.context().addCookies(await page.context().cookies());
  await checked.goto(page.url());
  await check_page(checked, 'guest_choice');
  const email = address();
  await page.getByLabel('How many: Weekend pass').selectOption('1');
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Obi');
  await page.getByLabel('E-mail address', { exact: true }).fill(email);
  await page.getByLabel('E-mail address again').fill(`x${email}`);
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await page.getByText('The two e-mail addresses differ.').waitFor();
  await page.getByLabel('E-mail address again').fill(email);
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await pay(page);
  await page.getByText('The tickets are yours').waitFor({ timeout: 30_000 * patience });
  assert.equal(await page.getByRole('link', { name: 'My tickets' }).count(), 0, 'they are in the mail only');
  await page.goto(`${s.server.url}/my/tickets`);
  await page.getByRole('button', { name: 'Send me a code' }).waitFor();
  const mail = await eventually('the receipt', () =>
    s.server.mails_to(email).find((text) => text.includes('tickets.pdf')),
  );
  const [link] = /\/my\/orders\/[0-9a-f-]{36}\/[\w-]{43}/.exec(mail.replaceAll('=\r\n', ''));
  await page.goto(s.server.url + link);
  await page.getByRole('img', { name: 'Code of this ticket' }).waitFor();
  await checked.goto(s.server.url + link);
  await check_page(checked, 'guest_tickets');
});

test('two tabs and a second device have one place; leaving in one leaves in all', async (t) => {
  const s = await sale_for(t);
  await crowd(s, 1);
  const browser = await browser_for();
  const home = await person(t, browser);
  const first = await home.newPage();
  await first.goto(s.url);
  const email = address();
  await sign_in(s.server, first, email);
  await place_is(first, '2');
  const second = await home.newPage();
  await second.goto(s.url);
  await place_is(second, '2');
  const phone = await (
    await person(t, browser, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
  ).newPage();
  await phone.goto(s.url);
  await sign_in(s.server, phone, email);
  await place_is(phone, '2');
  assert.ok(await fits(phone));
  await check_page(phone, 'waiting-phone');
  assert.equal((await s.server.stats(s.organizer, s.event.id)).waiting, 2);
  await second.getByText('Leave the line').click();
  await second.getByRole('button', { name: 'Yes, leave' }).click();
  for (const page of [first, second, phone]) await page.getByRole('button', { name: /Join/ }).waitFor();
  assert.equal((await s.server.stats(s.organizer, s.event.id)).waiting, 1);
});

test('offline and back: the page shows it and catches up', async (t) => {
  const s = await sale_for(t);
  await crowd(s, 3);
  const home = await person(t, await browser_for());
  const page = await home.newPage();
  await page.goto(s.url);
  await sign_in(s.server, page, address());
  await place_is(page, '4');
  await page.getByText('Live').waitFor();
  await home.setOffline(true);
  await s.server.kill(); // an open WebSocket survives the browser's offline switch
  await page
    .locator('[data-connection]')
    .getByText('You are offline.')
    .waitFor({ timeout: 30_000 * patience });
  await check_page(page, 'offline');
  await s.server.launch();
  await s.let_in(2);
  await home.setOffline(false);
  await place_is(page, '2');
  await page.getByText('Live').waitFor();
});

test('the server is restarted while a customer waits', async (t) => {
  const s = await sale_for(t);
  await crowd(s, 2);
  const page = await (await person(t, await browser_for())).newPage();
  await page.goto(s.url);
  await sign_in(s.server, page, address());
  await place_is(page, '3');
  await page.getByText('Live').waitFor();
  await s.server.stop(); // an orderly end: "come back later"
  await s.server.launch();
  await page.getByText('Live').waitFor({ timeout: 40_000 * patience });
  assert.equal(await position(page).textContent(), '3');
  await s.server.restart(); // kill -9
  await s.let_in(3);
  await turn(page).waitFor({ timeout: 40_000 * patience });
});

/** Waits in a background tab with notifications on, and is admitted. */
async function admitted_in_background(s, home) {
  await crowd(s, 1);
  const page = await home.newPage();
  await page.goto(s.url);
  await sign_in(s.server, page, address());
  await page.getByText('Live').waitFor();
  await page.getByLabel('Tell me with a sound and a notification').check();
  await page.waitForFunction(() => (globalThis.sound?.state ?? 'running') === 'running'); // else it is silent
  const other = await home.newPage();
  await other.goto('about:blank');
  await other.bringToFront();
  await page.waitForFunction(
    async () => !navigator.serviceWorker || (await navigator.serviceWorker.getRegistration())?.active,
  );
  await s.let_in(2);
  await turn(page).waitFor();
  return page;
}

test('admitted in a background tab of a phone: the service worker notifies, and brings the page back', async (t) => {
  const s = await sale_for(t);
  const home = await person(t, await browser_for(), { permissions: ['notifications'] });
  await home.addInitScript(() => {
    // As on Android.
    globalThis.Notification = class {
      static permission = 'granted';
      constructor() {
        throw new TypeError("Failed to construct 'Notification': Illegal constructor.");
      }
    };
  });
  const page = await admitted_in_background(s, home);
  const noted = () =>
    page.evaluate(async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      return (await registration.getNotifications()).map(({ title, body, tag, data }) => ({
        title,
        body,
        tag,
        data,
      }));
    });
  const where = new URL(s.url).pathname;
  await eventually('the notification', async () => (await noted()).length > 0);
  assert.deepEqual(await noted(), [
    { title: 'It is your turn!', body: 'Aurora Open Air 2027', tag: `fairqueue-${s.event.id}`, data: where },
  ]);
  // focus() and openWindow() need a real touch, which no tool can make, so they only record calls.
  const [worker] = home.serviceWorkers();
  assert.equal(worker.url(), `${s.server.url}/wait/worker.js`);
  const touch = () =>
    worker.evaluate(async () => {
      const called = [];
      WindowClient.prototype.focus = async function () {
        called.push(['focus', this.url]);
      };
      clients.openWindow = async (url) => called.push(['open', url]);
      const [notification] = await registration.getNotifications();
      const waits = [];
      const event = new NotificationEvent('notificationclick', { notification });
      event.waitUntil = (work) => waits.push(work);
      dispatchEvent(event);
      await Promise.all(waits);
      return called;
    });
  assert.deepEqual(await touch(), [['focus', s.url]]);
  assert.deepEqual(await noted(), [], 'it is put away');
  const file = await s.server.get('/wait/worker.js', { unchecked: true });
  assert.match(file.headers['content-type'], /^text\/javascript/);
  assert.equal(file.headers['content-security-policy'], "default-src 'none'");
});

test('admitted in a background tab without a service worker: a sound, a notification, the title', async (t) => {
  const s = await sale_for(t);
  const home = await person(t, await browser_for(), {
    permissions: ['notifications'],
    serviceWorkers: 'block',
  });
  await home.addInitScript(() => {
    globalThis.Notification = class {
      static permission = 'granted';
      constructor(title, options) {
        localStorage.setItem('notified', JSON.stringify([title, options.body]));
      }
    };
    globalThis.AudioContext = class extends AudioContext {
      constructor() {
        super();
        globalThis.sound = this;
      }
    };
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...at) {
      localStorage.setItem('tones', Number(localStorage.getItem('tones')) + 1);
      return start.apply(this, at);
    };
  });
  const page = await admitted_in_background(s, home);
  assert.deepEqual(await page.evaluate(() => JSON.parse(localStorage.getItem('notified'))), [
    'It is your turn!',
    'Aurora Open Air 2027',
  ]);
  assert.equal(await page.evaluate(() => localStorage.getItem('tones')), '3');
  assert.match(await page.title(), /^It is your turn!/);
});

test('with the keyboard only', async (t) => {
  const s = await sale_for(t);
  const page = await (await person(t, await browser_for())).newPage();
  await page.goto(s.url);
  await page.keyboard.press('Tab');
  assert.equal(
    await page.evaluate(() => document.activeElement.className),
    'skip',
    'the first stop skips the head',
  );
  await page.keyboard.press('Enter');
  /** Presses Tab until the element with this name has the focus; every stop must be visible. */
  const tab_to = async (name) => {
    for (let stops = 0; stops < 40; ++stops) {
      await page.keyboard.press('Tab');
      const seen = await page.evaluate(() => {
        const e = document.activeElement;
        const label = e === document.body ? '' : (e.labels?.[0]?.textContent ?? e.textContent); // the body: end of the page
        const outline = getComputedStyle(e).outlineStyle;
        return { label: label.trim(), outline, shown: e.getClientRects().length > 0 };
      });
      if (seen.label === 'Skip to the content' || seen.label === '') continue;
      assert.ok(seen.shown && seen.outline !== 'none', `focus cannot be seen on ${seen.label}`);
      if (seen.label.startsWith(name)) return;
    }
    assert.fail(`no way to ${name} by Tab`);
  };
  const email = address();
  await tab_to('E-mail address');
  await page.keyboard.type(email);
  await page.keyboard.press('Enter');
  await page.getByLabel('Code from the mail').waitFor();
  await check_page(page, 'code');
  const code = await s.server.mailed_code(email);
  assert.equal(
    await page.evaluate(() => document.activeElement.name),
    'otp',
    'the field to fill in has the focus',
  );
  await page.keyboard.type(code);
  await page.keyboard.press('Enter');
  await place_is(page, '1');
  await page.getByLabel('Tell me with a sound and a notification').waitFor(); // the script offers it
  await tab_to('Tell me');
  await tab_to('Leave the line');
  await page.keyboard.press('Enter');
  await tab_to('Yes, leave');
  await s.let_in(1);
  await turn(page).waitFor();
  await tab_to('Choose tickets');
  await page.keyboard.press('Enter');
  await page.getByLabel('First name').waitFor();
  await tab_to('How many: Weekend pass');
  await page.keyboard.press('ArrowDown');
  await tab_to('First name');
  await page.keyboard.type('Ada');
  await tab_to('Last name');
  await page.keyboard.type('Obi');
  await tab_to('E-mail address');
  await page.keyboard.type(email);
  await tab_to('Continue to payment');
  await page.keyboard.press('Enter');
  await page.getByText('Your tickets are reserved').waitFor();
  await tab_to('Pay now');
  await page.keyboard.press('Enter');
  await page.getByText('Sandbox payment').first().waitFor();
  await tab_to('Pay');
  await page.keyboard.press('Enter');
  await page.getByText('This payment is complete.').waitFor();
  await tab_to('Back to the shop');
  await page.keyboard.press('Enter');
  await page.getByText('The tickets are yours').waitFor();
  await tab_to('Your orders');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/shop\/orders$/);
  await tab_to('Aurora Open Air 2027');
  await tab_to('Sign out');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Go to the line' }).waitFor();
});

test('at 200 % zoom, on a small phone and in the dark nothing is cut off', async (t) => {
  const s = await sale_for(t, {
    event: { name: 'Internationales Donaudampfschifffahrtsgesellschaftsjubiläum '.repeat(2).trim() },
  });
  await crowd(s, 1);
  const browser = await browser_for();
  const email = address();
  // 1,280 pixels at 200 % are 640; WCAG 1.4.10 requires 320.
  for (const [name, options] of [
    ['zoomed', { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
    ['narrow', { viewport: { width: 320, height: 640 }, isMobile: true }],
    ['dark', { viewport: { width: 1100, height: 800 }, colorScheme: 'dark' }],
  ]) {
    const page = await (await person(t, browser, options)).newPage();
    await page.goto(s.url);
    assert.ok(await fits(page), `${name}: signing in`);
    await sign_in(s.server, page, email);
    await place_is(page, '2');
    assert.ok(await fits(page), `${name}: waiting`);
    await check_page(page, `waiting-${name}`);
  }
  const enlarged = await (await person(t, browser)).newPage();
  await enlarged.goto(s.url);
  await enlarged.evaluate(() => (document.documentElement.style.fontSize = '200%')).catch(() => {});
  assert.ok(await fits(enlarged), 'text alone at 200 %');
});

test('a lobby: friends without script form a party, and with script the page changes at the draw', async (t) => {
  const lobby_until = (opens_at) => ({
    lobby_opens_at: after(-1),
    queue_opens_at: opens_at,
    sale_start: opens_at,
    draw: 'at_opening',
    beacon: { kind: 'announced', announced: 'Numbers of 1 March' },
  });
  const s = await sale_for(t, { event: lobby_until(after(3000)) });
  const browser = await browser_for();
  const plain = await (await person_without_script(t)).newPage();
  await plain.goto(s.url);
  await sign_in(s.server, plain, address());
  await plain.getByText('Coming earlier gives no advantage').waitFor();
  const open = plain.getByRole('button', { name: 'Open a party' });
  await Promise.all([plain.waitForEvent('load'), open.click()]);
  const code = await plain.locator('.figure[dir=ltr]').textContent();
  assert.match(code, /^[0-9A-Z]+-[0-9A-Z]{8}$/);

  const friend = await (await person(t, browser)).newPage();
  await friend.goto(s.url);
  await sign_in(s.server, friend, address());
  await friend.getByText('I have the code of a party').click();
  await friend.getByLabel('Code of the party').fill(code.toLowerCase());
  await friend.getByRole('button', { name: 'Join the party' }).click();
  await friend.getByText('2 people are in it.').waitFor();
  await check_page(friend, 'lobby');
  const { seed_commitment } = (await s.server.get(`/events/${s.event.id}`)).json.lobby;
  await friend.getByText(seed_commitment).waitFor(); // fixed before the draw
  await keep_proof(friend);
  const visitors = await (await person(t, browser)).newPage();
  await visitors.goto(s.url);
  await visitors.getByText('2 people are in the lobby.').waitFor();
  await visitors.getByText('The line opens on').waitFor();
  assert.ok(await fits(visitors));
  const cookies = await friend.context().cookies();
  for (const [locale, words] of Object.entries({
    ar: 'الحضور المبكر لا يمنح أفضلية',
    hr: 'Raniji dolazak ne donosi prednost',
    fr: 'Arriver plus tôt ne donne aucun avantage',
    es: 'Llegar antes no da ventaja',
  })) {
    const context = await person(t, browser, { locale });
    await context.addCookies(cookies);
    const page = await context.newPage();
    const answer = await page.goto(s.url);
    assert.ok((await answer.text()).includes(words), locale);
    assert.ok(await fits(page));
    await check_page(page, `lobby-${locale}`);
  }

  // Another event is drawn. It opens soon, and no check above has to be done before.
  const opener = await s.server.customer();
  const { id: drawn_event } = await s.server.event(s.organizer, {
    ...lobby_until(after(10 * patience)),
    queue: { policy: 'operator' },
  });
  await s.server.join(opener, drawn_event);
  const opened = await s.server.post(`/events/${drawn_event}/queue/party`, { token: opener });
  assert.equal(opened.status, 200, opened.text);
  const joined = await s.server.post(`/events/${drawn_event}/queue`, {
    token: cookies.find(({ name }) => name === 'fairqueue_customer').value,
    body: { party_code: opened.json.party.code },
  });
  assert.equal(joined.status, 201, joined.text);
  await friend.goto(`${s.server.url}/wait/${drawn_event}`);
  await friend.getByText('2 people are in it.').waitFor();
  await friend.getByText('Numbers of 1 March').waitFor({ timeout: 40_000 * patience }); // the draw waits
  const drawn = await eventually('the value is taken', async () => {
    const answer = await s.server.post(`/events/${drawn_event}/draw/beacon`, {
      token: s.organizer,
      body: { value: '4 8 15' },
    });
    return answer.status === 200 && answer.json.lobby;
  });
  assert.deepEqual([drawn.beacon, drawn.beacon_value], ['announced', '4 8 15']);
  await position(friend).waitFor({ timeout: 30_000 * patience });
  await place_is(friend, '2');

  const tenant = await tenant_on(s.server); // a standalone queue: by tickets
  const queue = await tenant.queue({
    lobby_opens_at: after(-1),
    opens_at: after(600),
    draw: 'at_opening',
  });
  const visitor = async () => {
    const page = await (await person_without_script(t)).newPage();
    await page.goto(`${s.server.url}/wait/${queue.id}`);
    await page.getByRole('button', { name: 'Join the line' }).click();
    await page.getByText('Coming earlier gives no advantage').waitFor();
    return page;
  };
  const [ann, bob] = [await visitor(), await visitor()];
  await Promise.all([ann.waitForEvent('load'), ann.getByRole('button', { name: 'Open a party' }).click()]);
  await bob.getByText('I have the code of a party').click();
  await bob.getByLabel('Code of the party').fill(await ann.locator('.figure[dir=ltr]').textContent());
  await bob.getByRole('button', { name: 'Join the party' }).click();
  await bob.getByText('2 people are in it.').waitFor();
});

test("in the visitor's language, right to left where needed", async (t) => {
  const s = await sale_for(t);
  await crowd(s, 2);
  const browser = await browser_for();
  const email = address();
  const english = await (await person(t, browser)).newPage();
  await english.goto(s.url);
  await sign_in(s.server, english, email);
  await place_is(english, '3');
  const cookies = await english.context().cookies();
  const expected = {
    ar: ['rtl', 'شخصان أمامك'],
    hr: ['ltr', '2 osobe ispred vas'],
    fr: ['ltr', '2 personnes devant vous'],
    es: ['ltr', '2 personas delante de ti'],
  };
  for (const [locale, [direction, ahead]] of Object.entries(expected)) {
    const context = await person(t, browser, { locale });
    await context.addCookies(cookies);
    const page = await context.newPage();
    const plain = await page.goto(s.url);
    assert.ok((await plain.text()).includes(ahead), `${locale}: the server says it`);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).direction), direction);
    await page.locator('[data-connection=live]').waitFor();
    assert.equal(
      await page.locator('[data-ahead]').textContent(),
      ahead,
      `${locale}: the script says the same`,
    );
    assert.ok(await fits(page));
    await check_page(page, `waiting-${locale}`);
  }
  await english.getByRole('link', { name: 'Hrvatski' }).click();
  await english.getByText('2 osobe ispred vas', { exact: true }).waitFor();
  assert.equal(new URL(english.url()).search, '');
  await english.reload();
  assert.equal(await english.evaluate(() => document.documentElement.lang), 'hr', 'what was chosen stays');
});

test("a standalone queue with its tenant's branding hands the session over outside the address", async (t) => {
  const folder = temporary_folder();
  const looks = path.join(folder, 'looks.toml');
  fs.writeFileSync(
    looks,
    `[stadium]
name = "Stadium <Shop>"
colour = "#ffd23f"
return_url = "http://127.0.0.1:9/enter"
note = "Tickets are personal."
`,
  );
  const server = await server_for(t, { settings: { 'pages.branding': looks } });
  const tenant = await tenant_on(server, 'stadium');
  const queue = await tenant.queue({
    name: 'Final',
    mode: 'operator',
    concurrency: 10,
    external_id: 'final-27',
  });
  await tenant.join_as(queue, 'before me');
  const context = await person(t, await browser_for());
  const page = await context.newPage();
  const url = `${server.url}/wait/${queue.id}`;
  await page.goto(url);
  await page.getByText('Stadium <Shop>').waitFor();
  await check_page(page, 'queue-join');
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '2');
  await page.getByText('Live').waitFor();
  await check_page(page, 'queue-waiting');
  await page.reload();
  await place_is(page, '2');
  const tab = await context.newPage();
  await tab.goto(url);
  await place_is(tab, '2');
  const stats = await server.get(`/queues/${queue.id}/stats`, { token: tenant.token });
  assert.equal(stats.json.waiting, 2, 'two tabs are one place');
  const called = await server.post(`/queues/${queue.id}/advance`, {
    token: tenant.token,
    body: { count: 2 },
  });
  assert.equal(called.json.admitted, 2, called.text);
  await turn(page).waitFor();
  await check_page(page, 'queue-your-turn');
  const handed = new Promise((resolve) => {
    context.route('http://127.0.0.1:9/**', (route) => {
      resolve({ url: route.request().url(), body: new URLSearchParams(route.request().postData()) });
      return route.fulfill({ body: 'in' });
    });
  });
  await page.getByRole('button', { name: 'Go in' }).click();
  const { url: where, body } = await handed;
  assert.equal(where, 'http://127.0.0.1:9/enter');
  assert.equal(body.get('external_id'), 'final-27');
  const access = await server.get(`/access?queue_id=${queue.id}`, { token: body.get('session_token') });
  assert.equal(access.status, 200, access.text);
  assert.ok(!server.log.includes(body.get('session_token')));
  const keys = createLocalJWKSet((await server.get('/.well-known/jwks.json')).json);
  const { payload } = await jwtVerify(body.get('admission_pass'), keys, { audience: queue.id });
  assert.equal(payload.jti, access.json.ticket_id, 'the pass is of the same place');
});

test('a queue without a return address shows what to do', async (t) => {
  const { page, tenant, server, queue } = await visitor_of_queue(t);
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '1');
  await server.post(`/queues/${queue.id}/advance`, { token: tenant.token, body: { count: 1 } });
  await turn(page).waitFor();
  await page.getByText('Please go back to the site that you came from').waitFor();
});

/** A queue in operator mode, and a browser on its page. */
async function visitor_of_queue(t, { queue: changes = {}, context: options = {}, settings = {} } = {}) {
  const server = await server_for(t, { settings });
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ name: 'Final', mode: 'operator', concurrency: 10, ...changes });
  const browser = await browser_for();
  const context = await person(t, browser, options);
  const page = await context.newPage();
  const url = `${server.url}/wait/${queue.id}`;
  await page.goto(url);
  const waiting = async () =>
    (await server.get(`/queues/${queue.id}/stats`, { token: tenant.token })).json.waiting;
  return { server, tenant, queue, browser, context, page, url, waiting };
}

test('two tabs that join one after the other get one place', async (t) => {
  const { context, page, url, waiting } = await visitor_of_queue(t);
  const tab = await context.newPage();
  await tab.goto(url); // its form has its own key
  const forms = await Promise.all([page, tab].map((p) => p.locator('input[name=key]').inputValue()));
  assert.notEqual(forms[0], forms[1]);
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '1');
  // The request of the other tab if its button is pressed before it is notified.
  const status = await page.evaluate(
    async ([where, key]) =>
      (await fetch(where, { method: 'POST', body: new URLSearchParams({ action: 'join', key }) })).status,
    [url, forms[1]],
  );
  assert.equal(status, 200);
  await tab.goto(url);
  await place_is(tab, '1');
  assert.equal(await waiting(), 1);
});

test('a full line shows it, and accepts the visitor later', async (t) => {
  const { server, tenant, queue, page } = await visitor_of_queue(t, { queue: { capacity: 1 } });
  const first = await tenant.join_as(queue, 'first');
  await page.getByRole('button', { name: 'Join the line' }).click();
  await page.getByText('The line is full just now.').waitFor();
  await check_page(page, 'queue-full');
  assert.equal(
    (await server.delete(`/tickets/${first.ticket_id}`, { token: first.ticket_token })).status,
    204,
  );
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '1');
});

/** All hashes from 0 on, as a client of the API. */
function solved({ algorithm, challenge, salt, signature, maxnumber }) {
  for (let number = 0; number <= maxnumber; ++number)
    if (crypto.createHash('sha256').update(`${salt}${number}`).digest('hex') === challenge)
      return Buffer.from(JSON.stringify({ algorithm, challenge, number, salt, signature })).toString(
        'base64',
      );
  throw new Error('no solution');
}

test('a queue with a challenge: the page solves it under its policy, and each solution counts once', async (t) => {
  const { server, tenant, queue, page, waiting } = await visitor_of_queue(t, {
    queue: { challenge: 'proof_of_work' },
  });
  await page.locator('altcha-widget').first().getByText('I am a person').waitFor();
  await check_page(page, 'challenge');
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '1');
  // The same over the API.
  const join = (challenge, token = tenant.join) =>
    server.post(`/queues/${queue.id}/tickets`, { token, body: challenge ? { challenge } : undefined });
  const refused = await join();
  expect_problem(refused, 403, 'challenge_required');
  assert.equal(refused.json.challenge_url, `/queues/${queue.id}/challenge`);
  const opened = await server.get(refused.json.challenge_url);
  assert.equal(opened.json.type, 'proof_of_work');
  const solution = solved(opened.json);
  const joined = await join(solution);
  assert.equal(joined.status, 201, joined.text);
  expect_problem(await join(solution), 403, 'challenge_required');
  assert.equal((await join(undefined, tenant.server)).status, 201, 'a backend needs none');
  assert.equal(await waiting(), 3);
  const captcha = await server.post(refused.json.challenge_url, { body: { captcha: 'x' } });
  expect_problem(captcha, 400, 'invalid_field');
  const without_keys = await server.patch(`/queues/${queue.id}`, {
    token: tenant.token,
    body: { challenge: 'turnstile' },
  });
  expect_problem(without_keys, 400, 'invalid_field');
});

test('an event with a challenge: a customer joins with it, and without a script by a link from a mail', async (t) => {
  const s = await sale_for(t, { event: { challenge: 'proof_of_work' } });
  const page = await (await person(t, await browser_for())).newPage();
  await page.goto(s.url);
  await sign_in(s.server, page, address());
  await page.getByText('One more step before you get a place').waitFor();
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '1');

  const plain = await (await person_without_script(t)).newPage();
  await plain.goto(s.url);
  const email = address();
  await sign_in(s.server, plain, email);
  await plain.getByText('One more step before you get a place').waitFor();
  const mails = s.server.mails_to(email).length;
  await plain.getByText('No check appears, or it takes too long?').click();
  await plain.getByRole('button', { name: 'Get a link by mail' }).click();
  await plain.getByText('The mail is on its way.').waitFor();
  const mail = await eventually('the mail with the link', () => s.server.mails_to(email)[mails]);
  const [link] = /http\S+solved=[\w-]+/.exec(
    text_of_mail(mail).replaceAll('=\r\n', '').replaceAll('=3D', '='),
  );
  await plain.goto(link);
  await plain.getByRole('button', { name: 'Join the line' }).click();
  await place_is(plain, '2');
});

/** A provider of captchas: its script, and siteverify, which takes a response once. */
async function turnstile_for(t) {
  const provider = { away: false, used: new Set() };
  const script = `window.turnstile = { render(place, { action, cData, callback }) {
    place.textContent = 'Captcha';
    callback(action + ' ' + cData + ' ' + Math.random());
  } };`;
  const answer = (body) => {
    const response = new URLSearchParams(body).get('response');
    if (provider.used.has(response)) return { 'success': false, 'error-codes': ['timeout-or-duplicate'] };
    provider.used.add(response);
    const [action, cdata] = response.split(' ');
    return { 'success': true, action, cdata, 'error-codes': [] };
  };
  const stand_in = http.createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'Content-Type': 'text/javascript' });
        return response.end(script);
      }
      response.writeHead(provider.away ? 503 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer(body)));
    });
  });
  await new Promise((listening) => stand_in.listen(0, '127.0.0.1', listening));
  t.after(() => {
    stand_in.closeAllConnections();
    stand_in.close();
  });
  provider.settings = {
    'challenges.turnstile_site_key': 'site',
    'challenges.turnstile_secret': 'secret',
    'challenges.turnstile_url': `http://127.0.0.1:${stand_in.address().port}`,
  };
  return provider;
}

test('a captcha: the page allows its provider alone, a response counts once, and an outage is no yes', async (t) => {
  const provider = await turnstile_for(t);
  const { server, tenant, queue, page, waiting } = await visitor_of_queue(t, {
    queue: { challenge: 'turnstile' },
    settings: provider.settings,
  });
  await page.getByText('Captcha').waitFor();
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '1');
  const path = `/queues/${queue.id}/challenge`;
  const opened = await server.get(path);
  assert.deepEqual(opened.json, { type: 'turnstile', site_key: 'site', action: 'join', bound_to: queue.id });
  const exchange = (captcha) => server.post(path, { body: { captcha } });
  const given = await exchange(`join ${queue.id} 1`);
  assert.equal(given.status, 201, given.text);
  const join = () =>
    server.post(`/queues/${queue.id}/tickets`, {
      token: tenant.join,
      body: { challenge: given.json.challenge },
    });
  assert.equal((await join()).status, 201);
  expect_problem(await join(), 403, 'challenge_required');
  expect_problem(await exchange(`join ${queue.id} 1`), 403, 'challenge_required');
  expect_problem(await exchange(`join ${server.url} 2`), 403, 'challenge_required');
  provider.away = true;
  const refused = await exchange(`join ${queue.id} 3`);
  expect_problem(refused, 503, 'unavailable');
  assert.equal(refused.headers['retry-after'], '10');
  assert.equal(await waiting(), 2);
});

test('a customer with the maximum of tickets sees it and a link to the order', async (t) => {
  const s = await sale_for(t);
  const fan = await s.server.customer();
  await s.server.join(fan, s.event.id);
  await s.let_in(1);
  const { admission_token } = await s.server.admitted(fan, s.event.id);
  const order = await s.server.post('/checkout', {
    token: fan,
    body: {
      event_id: s.event.id,
      admission_token,
      contact: { first_name: 'Ada', last_name: 'Obi', email: address() },
      items: [{ ticket_type_id: s.event.ticket_types[0].id, quantity: 1 }],
    },
  });
  assert.equal(order.status, 202, order.text);
  const paid = await eventually('its payment', async () => {
    const { json } = await s.server.get(`/orders/${order.json.order_id}/status`, { token: fan });
    return json.payment_url && json;
  });
  assert.equal((await s.server.settle(paid.payment_url.split('/').at(-1), 'pay')).status, 200);
  await eventually(
    'the tickets',
    async () =>
      (await s.server.get(`/orders/${order.json.order_id}/status`, { token: fan })).json.status === 'success',
  );
  const context = await person(t, await browser_for());
  await context.addCookies([{ name: 'fairqueue_customer', value: fan, url: s.server.url }]);
  const page = await context.newPage();
  await page.goto(s.url);
  await page.getByText('You have your tickets. Enjoy!').waitFor();
  await page.getByRole('button', { name: 'Join again' }).click();
  await page.getByText('You have tickets from this sale already').waitFor();
  assert.equal(
    await page.getByRole('button', { name: 'Join' }).count(),
    0,
    'nothing is offered that would be refused again',
  );
  await check_page(page, 'already-claimed');
  await page.getByRole('link', { name: 'To your order' }).click();
  await page.getByText('The tickets are yours').waitFor();
});

test('a gate sends its visitors with a reason', async (t) => {
  const { page, url } = await visitor_of_queue(t);
  await page.goto(`${url}?reason=expired`);
  await page.getByText('Your visit is over.').waitFor();
  assert.equal(new URL(page.url()).search, '', 'it is said once');
  assert.equal((await page.goto(`${url}?reason=unknown`)).status(), 200);
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '1');
  await page.goto(`${url}?reason=expired`);
  await place_is(page, '1');
  assert.equal(await page.getByText('Your visit is over.').count(), 0, 'who has a place is not sent away');
});

test('another device gets the place by a code or a link', async (t) => {
  const { server, tenant, queue, browser, page, url, waiting } = await visitor_of_queue(t);
  await tenant.join_as(queue, 'before me');
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '2');
  await page.getByRole('link', { name: 'Continue on another device' }).click();
  await page.locator('svg[role=img]').waitFor();
  await check_page(page, 'queue-device');
  assert.ok(await fits(page));
  const link = await page.locator('[data-device-link]').getAttribute('href');
  assert.match(link, /#place=[\w-]+\.[\w-]+\.[\w-]+$/);
  // The code contains the link.
  const picture = path.join(temporary_folder(), 'code.png');
  await page.locator('svg[role=img]').screenshot({ path: picture });
  const seen = await run('/usr/bin/zbarimg', ['--quiet', '--raw', picture]);
  assert.equal(seen.out.trim(), link, seen.err);
  const on = async (where, device = {}) => {
    const opened = await (await person(t, browser, device)).newPage();
    await opened.goto(where);
    return opened;
  };
  const phone = await on(link, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await place_is(phone, '2');
  await phone.getByText('Live').waitFor();
  assert.equal(new URL(phone.url()).hash, '', 'the token leaves the address at once');
  await phone.reload();
  await place_is(phone, '2');
  assert.equal(await waiting(), 2);
  // A waiting customer keeps the own place after opening a link.
  const other = await on(url);
  await other.getByRole('button', { name: 'Join the line' }).click();
  await place_is(other, '3');
  await other.goto('about:blank');
  await other.goto(link);
  await other.getByText('This browser has a place of its own').waitFor();
  await place_is(other, '3');
  const late = await on(`${url}#place=${link.split('=').at(-1).slice(0, -4)}AAAA`);
  await late.getByText('That link does not work any more.').waitFor();
  assert.ok(!server.log.includes(link.split('=').at(-1)));
  await server.post(`/queues/${queue.id}/advance`, { token: tenant.token, body: { count: 2 } });
  for (const device of [page, phone]) await turn(device).waitFor(); // the first one still shows the code
  assert.equal(await other.getByText('It is your turn!').count(), 0);
});

test('a link of another device survives a busy server and a lost network', async (t) => {
  const { tenant, queue, browser, page, url } = await visitor_of_queue(t);
  await tenant.join_as(queue, 'before me');
  await page.getByRole('button', { name: 'Join the line' }).click();
  await place_is(page, '2');
  await page.getByRole('link', { name: 'Continue on another device' }).click();
  const link = await page.locator('[data-device-link]').getAttribute('href');
  for (const trouble of [
    (route) => route.fulfill({ status: 503, headers: { 'retry-after': '1' }, body: '' }),
    (route) => route.fulfill({ status: 429, headers: { 'retry-after': '1' }, body: '' }),
    (route) => route.abort(),
  ]) {
    const device = await (await person(t, browser)).newPage();
    let asked = 0;
    let held;
    await device.route(url, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      asked += 1;
      if (asked === 1) return trouble(route);
      if (asked === 2) await held; // until the test has read the page
      return route.continue();
    });
    let go_on;
    held = new Promise((resolve) => {
      go_on = resolve;
    });
    await device.goto(link);
    await device.getByRole('status').getByText('The server does not answer just now.').waitFor();
    assert.equal(new URL(device.url()).hash, '', 'the token left the address all the same');
    go_on();
    await place_is(device, '2');
    assert.equal(asked, 2);
  }
});

test('the shop has the branding of its tenant if all events are of one', async (t) => {
  const looks = path.join(temporary_folder(), 'looks.toml');
  fs.writeFileSync(
    looks,
    '[default]\nname = "The House"\n[stadium]\nname = "The Stadium"\ncolour = "#ffd23f"\n',
  );
  const server = await server_for(t, { settings: { 'pages.branding': looks } });
  const brand = async (target = '/shop') => {
    const { text } = await server.get(target, { headers: { Accept: 'text/html' }, unchecked: true });
    return /class="brand" href="[^"]*">([^<]*)</.exec(text)[1];
  };
  assert.equal(await brand(), 'The House');
  assert.equal(await brand('/wait/x'), 'The House', 'a page that is of nobody');
  const tenant = await tenant_on(server, 'stadium');
  const sale = async (token) => {
    const made = await server.post('/events', { token, body: { ...by_hand, ...times() } });
    assert.equal(made.status, 201, made.text);
    const active = await server.post(`/events/${made.json.id}/activate`, { token });
    assert.equal(active.status, 200, active.text);
    return made.json.id;
  };
  const theirs = await sale(tenant.token);
  assert.equal(await brand(), 'The Stadium');
  const ours = await sale(await server.organizer());
  assert.equal(await brand(), 'The House', "of two tenants: the installation's");
  assert.equal(await brand(`/wait/${theirs}`), 'The Stadium');
  assert.equal(await brand(`/wait/${ours}`), 'The House');
});

test('a newcomer with the demo and a browser: from the address in the README to a ticket and its receipt, while the organizer watches', async (t) => {
  const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
  assert.match(readme, /`scripts\/run`, then <http:\/\/127\.0\.0\.1:8080\/shop>/);
  assert.match(fs.readFileSync(path.join(root, 'scripts/run'), 'utf8'), /exec .*fairqueue serve --demo/);
  const server = await server_for(t, { demo: true });
  const advised = /Buy a ticket\s+open (\S+)/.exec(server.log)?.[1];
  assert.equal(advised, `${server.url}/shop`, server.log);
  const browser = await browser_for();

  // The organizer: the console links to the address and password.
  const desk = await person(t, browser);
  const console_page = await desk.newPage();
  await console_page.goto(`${server.url}/console`);
  const [credentials] = await Promise.all([
    desk.waitForEvent('page'),
    console_page.getByRole('link', { name: 'its organizer’s address and password' }).click(),
  ]);
  await credentials.getByRole('heading', { name: 'The organizer of the demo' }).waitFor();
  await console_page
    .getByLabel('E-mail address')
    .fill(await credentials.locator('[data-demo=email]').textContent());
  await console_page
    .getByLabel('Password')
    .fill(await credentials.locator('[data-demo=password]').textContent());
  await console_page.getByRole('button', { name: 'Sign in' }).click();
  await console_page.getByRole('link', { name: 'Demo open air' }).click();
  const sold = console_page.locator('[data-tile="Sold"]');
  await sold.getByText('0', { exact: true }).waitFor();

  // The fan: the code is in the demo's mailbox.
  const home = await person(t, browser);
  const page = await home.newPage();
  await page.goto(advised);
  await check_page(page, 'demo-shop');
  const card = page.locator('section', { hasText: 'Demo open air' });
  await card.getByRole('link', { name: 'Go to the line' }).click();
  const email = address();
  await page.getByLabel('E-mail address').fill(email);
  await page.getByRole('button', { name: 'Send me a code' }).click();
  await check_page(page, 'demo-code');
  const [mailbox] = await Promise.all([
    home.waitForEvent('page'),
    page.getByRole('link', { name: /Read the code in the demo’s mailbox/ }).click(),
  ]);
  const mail = (text) => mailbox.locator('article', { hasText: email }).filter({ hasText: text });
  /** Reloads until a mail to the fan has the text. */
  const mailed = (text) =>
    eventually(`a mail that says ${text}`, async () => {
      await mailbox.getByRole('link', { name: 'Look again' }).click();
      return (await mail(text).count()) > 0 && (await mail(text).first().textContent());
    });
  const code = /Your sign-in code is (\d{6})\./.exec(await mailed('Your sign-in code is'))?.[1];
  assert.ok(code);
  await check_page(mailbox, 'demo-mailbox');
  await page.getByLabel('Code from the mail').fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
  await turn(page).waitFor({ timeout: 30_000 * patience });
  await choose(page, { types: 2, email });
  await page.getByRole('button', { name: 'Continue to payment' }).click();
  await pay(page);
  await page.getByText('The tickets are yours').waitFor();
  await mailed('2 x Weekend pass');
  assert.doesNotMatch(await mailed('is confirmed'), /\bAda\b/, 'a buyer’s text opens no mail');

  await sold.getByText('3', { exact: true }).waitFor();
  await check_page(console_page, 'demo-console');
});

test('the first address leads a browser somewhere: in a demo to a page of links, else where pages.root says', async (t) => {
  const server = await server_for(t, { demo: true });
  const page = await (await person(t, await browser_for(t))).newPage();
  await page.goto(server.url);
  await check_page(page, 'demo-welcome');
  assert.ok(await fits(page));
  const links = await page.locator('main a').evaluateAll((all) => all.map((a) => new URL(a.href).pathname));
  assert.deepEqual(links, ['/shop', '/console', '/demo/mail', '/docs']);
  for (const link of links)
    assert.equal((await page.goto(server.url + link, { waitUntil: 'commit' })).status(), 200, link);
  await page.goto(`${server.url}/?lang=ar`);
  assert.equal(page.url(), `${server.url}/`);
  await page.getByRole('link', { name: 'شراء تذكرة' }).waitFor();
  assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
  await check_page(page, 'demo-welcome-ar');
  const seen_from_afar = await server.get('/', {
    headers: { 'Accept': 'text/html', 'X-Forwarded-For': '192.0.2.1' },
  });
  assert.equal(seen_from_afar.status, 200);
  assert.ok(!seen_from_afar.text.includes('/demo/mail'), 'the mailbox is for this machine only');

  const html = { headers: { Accept: 'text/html,*/*;q=0.8' } };
  const plain = await (await server_for(t)).get('/', html);
  assert.deepEqual([plain.status, plain.headers.location, plain.headers.vary], [303, '/shop', 'Accept']);
  for (const [root_page, location] of [
    ['/wait/abc', '/tickets/wait/abc'],
    ['https://www.example.com/a?b=c', 'https://www.example.com/a?b=c'],
  ]) {
    const settings = { 'http.base_path': '/tickets', 'pages.root': root_page };
    const elsewhere = await server_for(t, { settings, wait: false });
    const sent = async (path) =>
      elsewhere.get(path, html).then(
        ({ status, headers }) => [status, headers.location],
        () => [],
      );
    for (const path of ['/tickets', '/tickets/'])
      await eventually(
        `${path} leads to ${location}`,
        async () => JSON.stringify(await sent(path)) === JSON.stringify([303, location]),
      );
    assert.match(
      (await elsewhere.get('/tickets/robots.txt', { unchecked: true })).text,
      /\nAllow: \/tickets\/shop\n/,
    );
  }
});

test("the demo's mailbox without script, in another language, on a phone; and not for other machines", async (t) => {
  const server = await server_for(t, { demo: true });
  const page = await (await person_without_script(t)).newPage();
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${server.url}/demo/mail?lang=ar`);
  await page.getByText('لا بريد بعد.').waitFor();
  assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
  const demo = JSON.parse(fs.readFileSync(path.join(server.data_dir, 'demo.json'), 'utf8'));
  const email = address();
  const asked_for = await server.post('/auth/customer/otp/request', { body: { email } });
  assert.ok(asked_for.status < 300, asked_for.text);
  await eventually('the mail', async () => {
    await page.getByRole('link', { name: 'انظر مرة أخرى' }).click();
    return (await page.locator('article', { hasText: email }).count()) === 1;
  });
  assert.ok(await fits(page));
  assert.ok(await page.getByText(demo.organizer_password).isVisible());
  const asked = (headers) => server.get('/demo/mail', { headers });
  expect_problem(await asked({ Origin: 'https://evil.example' }), 404, 'not_found');
  expect_problem(await asked({ Host: 'evil.example' }), 404, 'not_found');
  const proxied = await server_for(t, { demo: true, settings: { 'http.trusted_proxies': '127.0.0.1' } });
  assert.equal((await proxied.get('/demo/mail')).status, 200);
  expect_problem(
    await proxied.get('/demo/mail', { headers: { 'X-Forwarded-For': '192.0.2.1' } }),
    404,
    'not_found',
  );
  const open = await server_for(t, { demo: true, host: { address: '0.0.0.0', enter: [] } });
  expect_problem(await open.get('/demo/mail', { headers: { Host: '127.0.0.1' } }), 404, 'not_found');
  const behind = await server_for(t, {
    demo: true,
    settings: { 'http.public_url': 'https://tickets.example' },
  });
  expect_problem(await behind.get('/demo/mail'), 404, 'not_found');
  assert.match(behind.log, /what it mails: \S+\/mail\)/, 'the folder is told instead');
  const plain = await server_for(t);
  expect_problem(await plain.get('/demo/mail'), 404, 'not_found');
});

test('assets have the best encoding for the browser and are cached without limit', async (t) => {
  const s = await sale_for(t);
  const { text } = await s.server.get(new URL(s.url).pathname, { headers: { Accept: 'text/html' } });
  const script = /src="(\/assets\/wait\.[0-9a-f]{16}\.mjs)"/.exec(text)[1];
  const fetch_as = (accepts, where = script) =>
    new Promise((resolve, reject) => {
      http
        .get(
          `${s.server.url}${where}`,
          { headers: accepts === undefined ? {} : { 'Accept-Encoding': accepts } },
          (answer) => {
            const parts = [];
            answer.on('data', (part) => parts.push(part));
            answer.on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(parts) }));
          },
        )
        .on('error', reject);
    });
  const plain = await fetch_as(undefined);
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const [accepts, coding, unpack] of [
    ['gzip, deflate, br, zstd', 'br', zlib.brotliDecompressSync],
    ['gzip, deflate', 'gzip', zlib.gunzipSync],
    ['br;q=0.5, gzip', 'gzip', zlib.gunzipSync],
    ['gzip;q=0, br;q=0', undefined, (body) => body],
  ]) {
    const got = await fetch_as(accepts);
    assert.equal(got.headers['content-encoding'], coding, accepts);
    assert.ok(unpack(got.body).equals(plain.body), accepts);
    assert.match(got.headers.vary, /Accept-Encoding/);
    assert.equal(got.headers['cache-control'], 'public, max-age=31536000, immutable');
    t.diagnostic(`${accepts}: ${got.body.length} of ${plain.body.length} bytes`);
    if (coding) assert.ok(got.body.length < plain.body.length / 2);
  }
  assert.ok((await fetch_as('br')).body.length < (await fetch_as('gzip')).body.length);
});

test('the widget on another site: joins, survives a reload, is admitted, hands over to another device', async (t) => {
  // The strictest policy of a site.
  const shop = http.createServer((request, response) => {
    const policy = `default-src 'none'; img-src data:; script-src ${server.url}; connect-src ${server.url} ${server.url.replace('http', 'ws')}`;
    response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy });
    response.end(`<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><main><h1>Shop</h1>
<fair-queue server="${server.url}" queue="${request.url === '/lobby' ? lobby.id : queue.id}" key="${tenant.join}"></fair-queue></main>
<script type="module" src="${server.url}/sdk/fair-queue-element.mjs"></script></html>`);
  });
  const port = await free_port();
  await new Promise((listening) => shop.listen(port, '127.0.0.1', listening));
  t.after(() => {
    shop.closeAllConnections();
    shop.close();
  });
  const site = `http://127.0.0.1:${port}`;
  const server = await server_for(t, { settings: { 'http.allowed_origins': site } });
  const tenant = await tenant_on(server);
  const queue = await tenant.queue({ mode: 'operator', concurrency: 10, challenge: 'proof_of_work' });
  await tenant.join_as(queue, 'before me');
  const browser = await browser_for();
  const visit = async (hash = '') => {
    const page = await (await person(t, browser)).newPage();
    await page.goto(`${site}/${hash}`);
    return page;
  };
  const page = await visit();
  await page.getByRole('button', { name: 'Join the line' }).click();
  await page.getByText('1 person ahead of you').waitFor();
  // It opens soon: the browser runs already.
  const lobby = await tenant.queue({
    lobby_opens_at: after(-1),
    opens_at: after(10 * patience),
    draw: 'at_opening',
    beacon: 'announced',
    beacon_announced: 'Numbers of 1 March',
  });
  const early = await visit('lobby');
  await early.getByRole('button', { name: 'Join the line' }).click();
  await early.getByText('Coming earlier gives no advantage').waitFor();
  await check_page(page, 'widget');
  await page.reload();
  await page.getByText('1 person ahead of you').waitFor();
  const hash = await page.evaluate(() => document.querySelector('fair-queue').line.handoff());
  assert.match(hash, /^#fairqueue=/);
  const phone = await visit(hash);
  await phone.getByText('1 person ahead of you').waitFor();
  assert.equal(new URL(phone.url()).hash, '', 'the token leaves the address at once');
  const stats = await server.get(`/queues/${queue.id}/stats`, { token: tenant.token });
  assert.equal(stats.json.waiting, 2);
  await page.evaluate(() => {
    globalThis.admitted = new Promise((resolve) =>
      document
        .querySelector('fair-queue')
        .addEventListener('admitted', ({ detail }) => resolve(detail.token)),
    );
  });
  await server.post(`/queues/${queue.id}/advance`, { token: tenant.token, body: { count: 2 } });
  const access = await server.get(`/access?queue_id=${queue.id}`, {
    token: await page.evaluate(() => globalThis.admitted),
  });
  assert.equal(access.status, 200, access.text);
  await phone.getByText('It is your turn!').waitFor();
  await early.getByText('The draw waits for its public value.').waitFor({ timeout: 30_000 * patience });
});

test('sizes: the SDK fits in 10 KB, a waiting page in 60 KB with everything', async (t) => {
  const s = await sale_for(t);
  await crowd(s, 1);
  for (const name of ['fairqueue.mjs', 'fair-queue-element.mjs']) {
    const file = await s.server.get(`/sdk/${name}`, { unchecked: true });
    assert.equal(file.status, 200, file.text);
    assert.match(file.headers['cache-control'], /^public, max-age=\d+$/);
    const packed = zlib.gzipSync(file.text, { level: 9 }).length;
    t.diagnostic(`${name}: ${file.text.length} bytes, ${packed} gzipped`);
    assert.ok(packed <= 10 * 1024, `${name} is ${packed} bytes`);
  }
  const context = await person(t, await browser_for());
  const page = await context.newPage();
  await page.goto(s.url);
  await sign_in(s.server, page, address());
  await place_is(page, '2');
  const requests = [];
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.clearBrowserCache');
  let bytes = 0;
  session.on('Network.requestWillBeSent', ({ request }) => requests.push(request.url));
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.reload();
  await page.getByText('Live').waitFor();
  t.diagnostic(
    `the waiting page: ${bytes} bytes in ${requests.length} requests: ${requests.map((r) => new URL(r).pathname)}`,
  );
  assert.ok(bytes > 1_000 && bytes <= 60 * 1024, `${bytes} bytes`);
  const blocking = await page.evaluate(
    () =>
      performance.getEntriesByType('resource').filter((r) => r.renderBlockingStatus === 'blocking').length,
  );
  assert.equal(blocking, 0, 'the first paint needs the page only');
});

test('pages have a strict policy and refuse forms of other sites', async (t) => {
  const s = await sale_for(t);
  const target = new URL(s.url).pathname;
  const seen = await s.server.get(target, { headers: { Accept: 'text/html' } });
  assert.equal(seen.status, 200);
  const policy = seen.headers['content-security-policy'];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.doesNotMatch(seen.text, / on[a-z]+=| style=/);
  assert.equal(seen.headers['cache-control'], 'no-store');
  const send = (fields, headers = {}, more = {}) =>
    s.server.post(target, {
      ...more,
      body: new URLSearchParams(fields).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    });
  for (const headers of [
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
  ])
    expect_problem(
      await send({ action: 'join' }, headers),
      403,
      'origin_not_allowed',
      JSON.stringify(headers),
    );
  assert.equal((await send({ action: 'join' }, { Origin: s.server.url })).status, 303);
  expect_problem(await send({ action: 'dance' }), 400, 'invalid_field');
  expect_problem(await send({ action: 'code', email: 'x'.repeat(20_000) }), 413, 'body_too_large');
  const misspelt = await send({ action: 'code', email: 'nobody' }, {}, { unchecked: true });
  assert.equal(misspelt.status, 400);
  assert.match(misspelt.text, /aria-invalid/);
  expect_problem(await s.server.post(target, { body: { action: 'join' } }), 415, 'unsupported_media_type');
  expect_problem(
    await s.server.post(target, {
      body: 'action=%zz',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    }),
    400,
    'invalid_field',
  );
  expect_problem(
    await s.server.post(target, {
      body: 'action=join&action=leave',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    }),
    400,
    'duplicate_field',
  );
  expect_problem(await s.server.get(`${target}?lang=xx`), 400, 'invalid_parameter');
  expect_problem(await s.server.get(`${target}?token=x`), 400, 'unknown_parameter');
  expect_problem(await s.server.get('/wait/x'), 404, 'not_found');
  expect_problem(await s.server.get('/sdk/api.mjs'), 404, 'not_found');
  const page = await s.server.get('/wait/x', { unchecked: true, headers: { Accept: 'text/html' } });
  assert.equal(page.status, 404);
  assert.match(page.headers['content-type'], /^text\/html/);
  assert.match(page.text, /not_found/);
  // A page's cookie opens no part of the API.
  const fan = await s.server.customer();
  const by_cookie = await s.server.get(`/events/${s.event.id}/queue/position`, {
    headers: { Cookie: `fairqueue_customer=${fan}` },
  });
  expect_problem(by_cookie, 401, 'unauthenticated');
  const signed_in = await s.server.get(target, {
    headers: { Cookie: `fairqueue_customer=${fan}`, Accept: 'text/html' },
  });
  assert.match(signed_in.text, /Join the line/);
  const broken = await s.server.get(target, {
    headers: { Cookie: 'fairqueue_customer=x.y.z', Accept: 'text/html' },
  });
  assert.match(broken.text, /Send me a code/);
  assert.ok(!s.server.log.includes(fan));
});

/** A browser that gets this log instead of the server's. */
async function with_log(context, log, options) {
  const files = log.files(options);
  await context.route('**/events/*/log/**', (route) => {
    const bytes = files.get(new URL(route.request().url()).pathname.replace(/^.*?\/log\//, ''));
    return route.fulfill(bytes ? { body: bytes } : { status: 404 });
  });
}

/** The page compares a log with what its event promises. */
const promised_draw = () => ({
  lobby_opens_at: after(-1),
  queue_opens_at: after(600),
  sale_start: after(600),
  draw: 'at_opening',
});

function drawn_log(id) {
  const log = new Log({ id }).begin().lobby();
  for (let n = 1; n <= 8; ++n) log.join(n);
  log.hand('pause', 0, 0, 'Stage <b>two</b> is not ready').hand('resume');
  return log.close().draw();
}

test('anybody checks in the browser that a line is fair: what was checked, its figures, each intervention', async (t) => {
  const s = await sale_for(t, { event: promised_draw() });
  const url = `${s.server.url}/fairness/${s.event.id}`;
  const log = drawn_log(s.event.id);
  log.admit(log.order.slice(0, 3)).end_session(log.order[0], 0);
  const receipt = { name: 'place.tlog-proof', mimeType: 'text/plain', buffer: Buffer.from(log.receipt(4)) };
  const titles = {
    'en-GB': ['Is this line fair?', 'Check the log', 'Everything that was checked is right.'],
    'fr': ['Cette file est-elle équitable ?', 'Vérifier le journal', 'Tout ce qui a été vérifié est juste.'],
    'es': ['¿Es justa esta fila?', 'Comprobar el registro', 'Todo lo que se comprobó es correcto.'],
    'hr': ['Je li ovaj red pošten?', 'Provjeri zapisnik', 'Sve što je provjereno ispravno je.'],
    'ar': ['هل هذا الصف عادل؟', 'تحقق من السجل', 'كل ما جرى التحقق منه صحيح.'],
  };
  for (const [locale, [title, button, outcome]] of Object.entries(titles)) {
    const context = await person(t, await browser_for(), { locale });
    await with_log(context, log);
    const page = await context.newPage();
    await page.goto(url);
    await page.getByText(title, { exact: true }).waitFor();
    await page.getByRole('button', { name: button }).click();
    await page.getByText(outcome).waitFor();
    assert.ok(await fits(page), locale);
    await page.locator('details').evaluateAll((all) => all.forEach((d) => (d.open = true)));
    await check_page(page, `fairness-${locale}`);
  }
  const context = await person(t, await browser_for());
  await with_log(context, log);
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('#receipt').setInputFiles(receipt); // checks without the button
  const place = page.locator('li.is-passed', { hasText: 'Your place is in the log.' });
  await place.getByText('Details').click();
  await place.getByText(/Number 4 joined at/).waitFor();
  await page.getByRole('cell', { name: 'Stage <b>two</b> is not ready' }).waitFor();
  assert.equal(await page.locator('[data-figures] dd').nth(3).textContent(), '1 / 1 (100%)');
  await page.locator('#receipt').setInputFiles({ ...receipt, buffer: Buffer.from('no receipt') });
  await page.getByText('This file is no proof of a place in a line.').waitFor();

  // The same browser is shown another log: it remembers the first one.
  await context.unroute('**/events/*/log/**');
  const other = new Log({ id: s.event.id, draw_seed: Buffer.alloc(32, 3) }).begin().lobby();
  for (let n = 1; n <= 12; ++n) other.join(n);
  await with_log(context, other.close().draw());
  await page.goto(url);
  await page.getByRole('button', { name: 'Check the log' }).click();
  await page.getByText('Something is wrong. The list says what.').waitFor();
  await page.locator('li.is-failed', { hasText: 'The log was rewritten' }).waitFor();
  await check_page(page, 'fairness-failed');
  await context.unroute('**/events/*/log/**');
  await context.route('**/events/*/log/**', (route) => route.fulfill({ status: 404 }));
  await page.goto(url);
  await page.getByRole('button', { name: 'Check the log' }).click();
  await page.getByText('This line has no public log yet.').waitFor();
});

test('of many interventions the newest are shown, and all on demand', async (t) => {
  const s = await sale_for(t);
  const log = new Log({ id: s.event.id }).begin().join(1);
  for (let n = 1; n <= 150; ++n) log.hand('pause', 0, 0, `reason ${n}`).hand('resume');
  const context = await person(t, await browser_for());
  await with_log(context, log);
  const page = await context.newPage();
  await page.goto(`${s.server.url}/fairness/${s.event.id}`);
  await page.locator('[data-check] button').click();
  await page.getByText('Only the newest 200 are shown.').waitFor();
  const rows = page.locator('[data-hands] tbody tr');
  assert.equal(await rows.count(), 200);
  assert.equal(await page.getByRole('cell', { name: 'reason 1', exact: true }).count(), 0);
  await page.getByRole('button', { name: 'Show all: 300' }).click();
  await page.getByRole('cell', { name: 'reason 1', exact: true }).waitFor();
  assert.equal(await rows.count(), 300);
  assert.ok(!(await page.locator('[data-hands-more]').isVisible()));
  await page.locator('[data-check] button').click(); // checked again it is short again
  await page.getByText('Only the newest 200 are shown.').waitFor();
});

test('an announced value is shown for comparison, and is not called proven', async (t) => {
  const beacon = { kind: 'announced', announced: 'Numbers of <b>1 March</b>' };
  const s = await sale_for(t, { event: { ...promised_draw(), beacon } });
  const announced = { beacon: 2, source: Buffer.from('Numbers of <b>1 March</b>') };
  const log = new Log({ id: s.event.id }).begin().lobby(announced);
  for (let n = 1; n <= 8; ++n) log.join(n);
  log.close().draw({ beacon: 2, value: Buffer.from('4 8 15 16') });
  for (const [locale, sentence] of Object.entries({
    'en-GB': 'Compare: the draw used this value.',
    'fr': 'Comparez : le tirage a utilisé cette valeur.',
    'es': 'Compara: el sorteo usó este valor.',
    'hr': 'Usporedite: u ždrijebu je upotrijebljena ova vrijednost.',
    'ar': 'قارن: استخدمت القرعة هذه القيمة.',
  })) {
    const context = await person(t, await browser_for(), { locale });
    await with_log(context, log);
    const page = await context.newPage();
    await page.goto(`${s.server.url}/fairness/${s.event.id}`);
    await page.locator('[data-check] button').click();
    const row = page.locator('li.is-unproven', { hasText: sentence });
    await row.locator('p', { hasText: 'Numbers of <b>1 March</b>: 4 8 15 16' }).first().waitFor();
    assert.ok(await fits(page), locale);
  }
});

/** Follows the link to the proof; its file. The proof is there about a second after the join. */
async function keep_proof(page) {
  const link = page.getByRole('link', { name: 'Keep the proof of my place' });
  const target = new URL(await link.getAttribute('href'), page.url()).href;
  await eventually('the join is in the log', async () => (await page.context().request.get(target)).ok());
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
  assert.equal(download.suggestedFilename(), 'place.tlog-proof');
  const file = path.join(temporary_folder(), download.suggestedFilename());
  await download.saveAs(file);
  return file;
}

/** Drags files from outside the browser onto the middle of an element. */
async function drop_files(page, locator, files) {
  const session = await page.context().newCDPSession(page);
  await locator.scrollIntoViewIfNeeded();
  const box = await locator.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  for (const type of ['dragEnter', 'dragOver', 'drop'])
    await session.send('Input.dispatchDragEvent', {
      type,
      x,
      y,
      data: { items: [], files, dragOperationsMask: 1 },
    });
}

test("the fairness page reads the server's own log, with the proof that the page of the turn gave", async (t) => {
  const s = await sale_for(t);
  await crowd(s, 3);
  const page = await (await person(t, await browser_for())).newPage();
  await page.goto(s.url);
  await sign_in(s.server, page, address());
  await place_is(page, '4');
  const waiting = await keep_proof(page);
  await s.let_in(4);
  await turn(page).waitFor({ timeout: 30_000 * patience });
  const proof = await keep_proof(page);
  assert.match(fs.readFileSync(waiting, 'utf8'), /^c2sp\.org\/tlog-proof@v1\n/);
  await page.getByRole('link', { name: 'Check that this line is fair' }).click();
  await page.getByText('Is this line fair?', { exact: true }).waitFor();
  await drop_files(page, page.locator('[data-check]'), [waiting, proof]); // checks without the button
  await page.getByText('Everything that was checked is right.').waitFor({ timeout: 20_000 * patience });
  const place = page.locator('li.is-passed', { hasText: 'Your place is in the log.' });
  await place.getByText('Details').click();
  await place
    .getByText(/Number 4 joined at/)
    .first()
    .waitFor();
  await eventually('the log has the admissions', async () => {
    const figures = await page.locator('[data-figures] dd').allTextContents();
    if (figures.slice(0, 3).join() === '4,0,4') return true; // joined, waiting, admitted
    await page.getByRole('button', { name: 'Check the log' }).click();
    return false;
  });
  await page.getByText('Everything that was checked is right.').waitFor();
  await page.getByRole('cell', { name: 'Called the next: 4' }).waitFor();
});

test('without script the fairness page has the address of the log and how to check it elsewhere', async (t) => {
  const s = await sale_for(t);
  const page = await (await person_without_script(t)).newPage();
  await page.goto(`${s.server.url}/fairness/${s.event.id}`);
  await page.getByText('Aurora Open Air 2027').waitFor();
  const notice = page.locator('noscript p', { hasText: 'your browser runs none' }); // playwright reports it as hidden
  assert.equal(await notice.evaluate((e) => e.getClientRects().length), 1);
  await page.getByText(`node web/verify/cli.mjs ${s.server.url} --event ${s.event.id}`).waitFor();
  assert.equal(await page.getByRole('button').count(), 0);
  const none = await fetch(`${s.server.url}/fairness/00000000-0000-7000-8000-000000000000`);
  assert.equal(none.status, 404);
});
