// SPDX-License-Identifier: Apache-2.0
// Steps of a fan on the pages, in any language, with or without script; and what printed and drawn tickets
// say.
import path from 'node:path';
import { assert, patience, run, temporary_folder } from './lib.mjs';

let addresses = 0;
export const address = (name = 'fan') => `${name}${++addresses}-${Date.now()}@example.org`;

const button_of = (page, action) => page.locator(`form:has(input[name=action][value=${action}]) button`);

/** Signs in on the open page with the code from the mail. */
export async function sign_in(server, page, email) {
  const known = server.mails_to(email).length;
  await page.locator('#f-email').fill(email);
  await button_of(page, 'code').click();
  await page.locator('#f-otp').waitFor();
  await page.locator('#f-otp').fill(await server.mailed_code(email, known));
  await button_of(page, 'enter').click();
}

/** From the shop's list to the event's line. */
export async function find_event(server, page, event) {
  await page.goto(`${server.url}/shop`);
  await page.locator(`a[href$="/wait/${event.id}"]`).click();
  await page.waitForURL(new RegExp(`/wait/${event.id}$`));
}

/** Orders, on the page of an admitted fan: `count` tickets of the first type, or what `choose` chooses. */
export async function order(page, event, email, { count = 1, choose, look = async () => {} } = {}) {
  await page.locator(`a[href$="/shop/events/${event.id}"]`).click({ timeout: 30_000 * patience });
  if (choose) await choose();
  else await page.locator('select').first().selectOption(String(count));
  await page.locator('#f-first_name').fill('Ada');
  await page.locator('#f-last_name').fill('Obi');
  await page.locator('#f-email').fill(email);
  await look();
  await page.locator('button[name=action][value=buy]').click();
}

/** Pays on the page of an order, and comes back to it. */
export async function pay(page, look = async () => {}) {
  await page.locator('a.button[href*="/sandbox/"]').click({ timeout: 30_000 * patience });
  await look();
  await page.locator('button.yes').click();
  await page.getByRole('link', { name: 'Back to the shop' }).click();
}

/** Offers a ticket to an address, on the page of the tickets. */
export async function give(page, ticket, email) {
  const card = page.locator(`section:has([data-code="${ticket}"])`);
  await card.locator('summary').click();
  await card.locator('input[name=email]').fill(email);
  await card.locator('details button').click();
  await page.getByText(email).waitFor();
}

// -- tickets on paper and screens

export async function program(name, ...args) {
  const { code, out, err } = await run(name, args);
  assert.equal(code, 0, `${name}: ${err}`);
  return out;
}

/** The text of the one QR code in a picture. */
export const read_qr = async (file) => (await program('zbarimg', '-q', '--raw', file)).trimEnd();

export async function shot_of(locator) {
  const file = path.join(temporary_folder(), 'code.png');
  await locator.screenshot({ path: file });
  return file;
}

/** The text of the first QR code of a PDF. */
export async function read_qr_of_pdf(file) {
  const picture = file.replace(/\.pdf$/, '');
  await program('pdftoppm', '-r', '120', '-png', '-singlefile', file, picture);
  return read_qr(`${picture}.png`);
}
