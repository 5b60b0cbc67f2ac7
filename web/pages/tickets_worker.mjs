// SPDX-License-Identifier: Apache-2.0
// Service worker of the page with a customer's tickets: the network first, and without one the copy that the
// page has kept. It keeps nothing itself. It deletes the copy when the customer signs out on any page, or the
// network answers that this has happened.
import { newest } from './kept_page.mjs';

const kept_name = 'fairqueue-my-tickets';
/** Of the address by which a customer who signs out returns to the shop. */
const signed_out = '?reason=signed_out';

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

const kept = async (request) =>
  (await caches.open(kept_name)).match(request, { ignoreVary: true, ignoreSearch: false });

/** In place of the tickets there is a refusal, the form that asks for an address, or a redirect. */
async function forget_if_signed_out(answer) {
  const is_elsewhere = answer.redirected || answer.type === 'opaqueredirect';
  const is_refused = [401, 403, 404, 410].includes(answer.status);
  if (is_elsewhere || is_refused || (answer.ok && (await answer.text()).includes('id="f-email"')))
    await caches.delete(kept_name);
}

async function page(event) {
  const { request } = event;
  if (new URL(request.url).search === signed_out) await caches.delete(kept_name);
  const copy = await kept(request);
  if (!copy) return fetch(request);
  const answer = fetch(request);
  // Also when the answer comes too late to be shown.
  const forgotten = answer.then((a) => forget_if_signed_out(a.clone())).catch(() => {});
  event.waitUntil(forgotten);
  return newest(answer, copy);
}

addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate') event.respondWith(page(event));
  else if (new URL(request.url).pathname.includes('/assets/'))
    event.respondWith(kept(request).then((copy) => copy ?? fetch(request)));
});
