// SPDX-License-Identifier: Apache-2.0
// Service worker of /scan: the page and its files without a network. Answers of the API are never kept.

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

/** The network first, so that a new version of the server is seen. */
async function page_answer(request) {
  try {
    const answer = await fetch(request);
    if (answer.ok) await keep_page();
    return answer;
  } catch {
    return (await caches.match(page, { ignoreVary: true })) ?? Response.error();
  }
}

addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (event.request.mode === 'navigate' && url.pathname === page.pathname)
    event.respondWith(page_answer(event.request));
  else if (event.request.method === 'GET' && url.pathname.includes('/assets/'))
    event.respondWith(
      caches.match(event.request, { ignoreVary: true }).then((kept) => kept ?? fetch(event.request)),
    );
});
