// SPDX-License-Identifier: Apache-2.0
// Every page in left-to-right and right-to-left languages, on a phone, at 200 % zoom and on a desktop.
// Nothing is cut off or covered, axe-core finds nothing serious, and screenshots are kept for people
// (build/<preset>/screenshots).
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { browser_for, check_page, covered, fits, person } from './browser.mjs';
import { after, assert, eventually, server_for, temporary_folder } from './lib.mjs';
import { tenant_on } from './tenant.mjs';

/** 1,280 pixels at 200 % are 640. */
const sizes = { desk: [1280, 900], zoomed: [640, 450], phone: [390, 844] };

const logo = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><circle cx="24" cy="24" r="22" fill="#2c1d6b"/></svg>').toString('base64')}`;

async function look_at(page, name) {
  for (const [size, [width, height]] of Object.entries(sizes)) {
    await page.setViewportSize({ width, height });
    const about = `${name}, ${size}`;
    assert.ok(await fits(page), `${about}: something is cut off`);
    assert.deepEqual(await covered(page), [], `${about}: something lies upon it`);
    await check_page(page, `looks-${name}-${size}`);
  }
}

/** The whole way of a buyer, found by forms and not by texts. */
async function buy(t, browser, server, organizer, locale) {
  const sale = await server.event(organizer, {
    name: locale === 'ar' ? 'مهرجان الشفق القطبي ٢٠٢٧' : 'Aurora Open Air 2027',
    currency: 'EUR',
    ticket_types: [
      { name: 'Weekend pass', price: 14_900, total: 20, max_per_order: 4 },
      { name: 'Saturday', price: 7_900, total: 20, max_per_order: 4 },
      { name: 'Friend of the festival', price: 0, total: 1, max_per_order: 1 },
    ],
    queue: { policy: 'operator', claim_window_seconds: 300, session_ttl_seconds: 1200 },
    claim_ttl_seconds: 600,
    claims_per_customer: 3,
  });
  const let_in = (count) => server.post(`/events/${sale.id}/advance`, { token: organizer, body: { count } });
  for (const fan of await server.customers(11)) await server.join(fan, sale.id);
  const page = await (await person(t, browser, { locale })).newPage();
  const look = (name) => look_at(page, `${name}-${locale}`);
  const send = () => page.locator('main button[type=submit]').first().click();
  const email = `looks-${locale}-${Date.now()}@example.org`;
  await page.goto(`${server.url}/shop`);
  await look('shop');
  await page.goto(`${server.url}/wait/${sale.id}`);
  await look('sign-in');
  await page.locator('input[name=email]').fill(email);
  await send();
  await page.locator('input[name=otp]').waitFor();
  await page.locator('input[name=otp]').fill('000000');
  await send();
  await page.locator('[aria-invalid=true]').waitFor();
  await look('wrong-code');
  await page.locator('input[name=otp]').fill(await server.mailed_code(email));
  await send();
  await page.locator('[data-connection=live]').waitFor();
  await server.patch(`/events/${sale.id}`, {
    token: organizer,
    body: { message: 'Doors open at 18:00. Please bring a photo ID.' },
  });
  await page.locator('[data-message]').getByText('Doors open').waitFor();
  await look('waiting');
  await page.locator('summary').click();
  await look('leaving');
  await server.post(`/events/${sale.id}/pause`, { token: organizer });
  await page.locator('[data-paused]').waitFor();
  await look('paused');
  await server.post(`/events/${sale.id}/resume`, { token: organizer });
  await let_in(12);
  await page.locator('.hero a.button').waitFor();
  await look('your-turn');
  await page.locator('.hero a.button').click();
  await page.locator('select').first().selectOption('2');
  await page.locator('input[name=first_name]').fill('Ada');
  await page.locator('input[name=last_name]').fill('Obi');
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=promo_code]').fill('NOSUCH');
  await page.locator('[data-quote-problem]:not(:empty)').waitFor();
  await look('choose-refused');
  await page.locator('input[name=promo_code]').fill('');
  await page.locator('[data-sums]:not([hidden])').waitFor();
  await look('choose');
  await page.locator('button[value=buy]').click();
  const pay_now = page.locator('.hero a.button[href*="/sandbox/pay/"]');
  await pay_now.waitFor();
  await look('reserved');
  await pay_now.click();
  await look('sandbox');
  await page.locator('button.yes').click();
  await page.locator('main a').click();
  await page.waitForURL('**/shop/orders/*');
  await eventually('the receipt', async () => (await page.locator('.hero [role=timer]').count()) === 0);
  await look('receipt');
  await page.goto(`${server.url}/shop/orders`);
  await look('orders');
  await page.goto(`${server.url}/wait/${sale.id}`);
  await look('over');
  await server.post(`/events/${sale.id}/end`, { token: organizer });
  await page.reload();
  await look('ended');
  await page.goto(`${server.url}/shop/events/x`);
  await look('error');
}

/** The hosted page of a queue with its tenant's branding: a light colour, a logo, a note. */
async function wait_in_queue(t, browser, server, tenant, locale) {
  const queue = await tenant.queue({ name: 'Stadium shop', mode: 'operator', concurrency: 10 });
  await tenant.join_as(queue, 'before me');
  const page = await (await person(t, browser, { locale })).newPage();
  const look = (name) => look_at(page, `queue-${name}-${locale}`);
  await page.goto(`${server.url}/wait/${queue.id}`);
  await look('join');
  await page.locator('.hero button').click();
  await page.locator('[data-connection=live]').waitFor();
  await look('waiting');
  await page.locator('a[href$="/device"]').click();
  await page.locator('svg[role=img]').waitFor();
  await look('device');
  await server.post(`/queues/${queue.id}/advance`, { token: tenant.token, body: { count: 2 } });
  await page.locator('.hero form[method=post] button').waitFor();
  await look('your-turn');
}

for (const locale of ['en', 'ar'])
  test(`a purchase, ${locale}`, async (t) => {
    const server = await server_for(t);
    await buy(t, await browser_for(), server, await server.organizer(), locale);
  });

for (const locale of ['en', 'ar'])
  test(`the page of a queue, ${locale}`, async (t) => {
    const looks = path.join(temporary_folder(), 'looks.toml');
    fs.writeFileSync(
      looks,
      `[stadium]\nname = "Stadium Shop"\ncolour = "#ffd23f"\nlogo_url = "${logo}"\nhome_url = "https://stadium.example"\nreturn_url = "https://stadium.example/enter"\nnote = "Tickets are personal."\n`,
    );
    const server = await server_for(t, { settings: { 'pages.branding': looks } });
    await wait_in_queue(t, await browser_for(), server, await tenant_on(server, 'stadium'), locale);
  });

test('before the line opens, dark', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const sale = await server.event(organizer, {
    name: 'Aurora Open Air 2027',
    queue_opens_at: after(7200),
    sale_start: after(7200),
    sale_end: after(9000),
  });
  const page = await (await person(t, await browser_for(), { colorScheme: 'dark' })).newPage();
  await page.goto(`${server.url}/wait/${sale.id}`);
  await look_at(page, 'not-open-dark');
});
