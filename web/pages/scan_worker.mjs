// SPDX-License-Identifier: Apache-2.0
// Service worker of /scan: the page and its files without a network. Answers of the API are never kept.
import { newest } from './kept_page.mjs';

const name = 'fairqueue-scan';
const page = new URL(registration.scope);

/** The page names its files; their names change with their content. */
async function keep_page() {
  const kept = await caches.open(name);
  const answer = await fetch(page, { cache: 'no-cache' });
  if (!answer.ok) return;
  const files = [...(await answer.clone().text()).matchAll(/[^"'\s]*\/assets\/[^"'\s]+/g)].map(([url]) =>
    url.replaceAll('\\/', '/'),
  );
  await kept.addAll([...new Set(files)]);
  await kept.put(page, answer);
  for (const request of await kept.keys())
    if (request.url.includes('/assets/') && !files.some((file) => request.url.endsWith(file)))
      await kept.delete(request);
}

addEventListener('install', (event) => {
  skipWaiting();
  event.waitUntil(keep_page());
});
addEventListener('activate', (event) => event.waitUntil(clients.claim()));

function page_answer(event) {
  const answer = fetch(event.request);
  event.waitUntil(answer.then((a) => a.ok && keep_page()).catch(() => {}));
  return caches.match(page, { ignoreVary: true }).then((copy) => newest(answer, copy));
}

addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (event.request.mode === 'navigate' && url.pathname === page.pathname)
    event.respondWith(page_answer(event));
  else if (event.request.method === 'GET' && url.pathname.includes('/assets/'))
    event.respondWith(
      caches.match(event.request, { ignoreVary: true }).then((kept) => kept ?? fetch(event.request)),
    );
});
