// SPDX-License-Identifier: Apache-2.0
// The waiting pages' service worker: phones show notifications by way of one only, and touching it must lead back to the page. It keeps
// nothing, and no request goes through it.

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
