// SPDX-License-Identifier: Apache-2.0
// Service worker of the waiting pages. Phones show notifications only through a worker; a tap must lead back
// to the page. It stores nothing and handles no requests.

addEventListener('install', () => skipWaiting());

async function bring(path) {
  const pages = await clients.matchAll({ type: 'window', includeUncontrolled: true });
  const open = pages.find(({ url }) => new URL(url).pathname === path);
  return open ? open.focus() : clients.openWindow(path);
}

addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(bring(event.notification.data));
});
