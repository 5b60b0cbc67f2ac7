// SPDX-License-Identifier: Apache-2.0
// Service worker of the page with a customer's tickets: the network first, and without one the copy that the
// page has kept. It keeps nothing itself.

const kept_name = 'fairqueue-my-tickets';
const patience_ms = 5_000;

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

const kept = async (request) =>
  (await caches.open(kept_name)).match(request, { ignoreVary: true, ignoreSearch: false });

async function page(request) {
  const copy = await kept(request);
  if (!copy) return fetch(request);
  const slow = new Promise((resolve) => {
    setTimeout(() => resolve(copy), patience_ms);
  });
  try {
    return await Promise.race([fetch(request), slow]);
  } catch {
    return copy;
  }
}

addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate') event.respondWith(page(request));
  else if (new URL(request.url).pathname.includes('/assets/'))
    event.respondWith(kept(request).then((copy) => copy ?? fetch(request)));
});
