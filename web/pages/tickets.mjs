// SPDX-License-Identifier: Apache-2.0
// Script of the page with a customer's tickets: rotating codes, and a copy of the page for when there is no
// network. Of a page that a link opens there is no copy: the device may be borrowed.
import { rotating_code } from '../sdk/event_ticket_code.mjs';
import { clock_key, each, kept_name, localise_times, reload, state } from './page.mjs';
import { qr_path } from './qr.mjs';

const step_ms = 30_000;
const page = location.pathname;

// -- the server's clock ---------------------------------------------------------------------------------

/** {now, ahead}: of the kept copy; `now` is the time in it, so it tells whether this page is that copy. */
function kept_clock() {
  try {
    return JSON.parse(localStorage.getItem(clock_key)) ?? {};
  } catch {
    return {};
  }
}

const kept = kept_clock();
const is_copy = kept.now === state.now;
const clock_ahead = is_copy ? kept.ahead : Date.parse(state.now) - Date.now();
const server_now = () => Date.now() + clock_ahead;

// -- rotating codes -------------------------------------------------------------------------------------

const bytes_of = (base64url) =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));

async function draw({ ticket, event, generation, secret }) {
  const code = await rotating_code(bytes_of(secret), { event, ticket, generation }, server_now());
  each(`[data-code="${ticket}"]`, (svg) => {
    svg.setAttribute('viewBox', '-4 -4 41 41');
    for (const [name, value] of Object.entries({ x: -4, y: -4, width: 41, height: 41 }))
      svg.querySelector('rect').setAttribute(name, value);
    svg.querySelector('path').setAttribute('d', qr_path(code));
    svg.dataset.text = code;
  });
}

async function rotate() {
  await Promise.all(state.rotating.map(draw));
  setTimeout(rotate, step_ms - (server_now() % step_ms) + 50);
}

// -- without a network ----------------------------------------------------------------------------------

/** Keeps what this page needs, as the server gives it now. */
async function keep() {
  // Before the request: a sign-out deletes this cache, and what enters it afterwards is never found.
  const cache = await caches.open(kept_name);
  const answer = await fetch(page, { headers: { Accept: 'text/html' } });
  if (!answer.ok || answer.redirected) return caches.delete(kept_name);
  const copy = answer.clone();
  const text = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const { now } = JSON.parse(text.getElementById('fairqueue').textContent);
  const files = [...document.querySelectorAll('script[src], link[rel="icon"]')].map((e) => e.src || e.href);
  await cache.addAll(files.filter((url) => new URL(url).origin === location.origin));
  await cache.put(page, copy);
  localStorage.setItem(clock_key, JSON.stringify({ now, ahead: Date.parse(now) - Date.now() }));
  document.documentElement.dataset.kept = '';
  return true;
}

localise_times();
if (state.rotating.length > 0) rotate();
if (state.keeps && 'serviceWorker' in navigator && 'caches' in window) {
  navigator.serviceWorker.register(`${state.base}/my/worker.js`, { scope: page }).catch(() => {});
  if (is_copy) {
    each('[data-offline]', (note) => {
      note.hidden = false;
    });
    addEventListener('online', reload);
  } else keep().catch(() => {});
}
