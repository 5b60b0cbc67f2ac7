// SPDX-License-Identifier: Apache-2.0
// Shared parts of the pages' scripts: data from the server in the page, times in the visitor's zone,
// countdowns.

export const state = JSON.parse(document.getElementById('fairqueue').textContent);
export const language = document.documentElement.lang;

export const each = (selector, work) => document.querySelectorAll(selector).forEach(work);

/** The widget of a challenge is large; most pages have none. */
const challenge = document.querySelector('[data-challenge]');
if (challenge) import(challenge.dataset.module);

/** Where tickets.mjs keeps a customer's tickets for when there is no network. Also in tickets_worker.mjs. */
export const kept_name = 'fairqueue-my-tickets';
export const clock_key = 'fairqueue-my-tickets-clock';

/** What was kept belongs to the person that signs out, on whichever page. */
each('input[name="action"][value="sign_out"]', (input) =>
  input.form.addEventListener('submit', () => {
    globalThis.caches?.delete(kept_name);
    localStorage.removeItem(clock_key);
  }),
);

/** The server writes UTC, because it does not know the visitor's zone. Times of an event are the venue's. */
export function localise_times() {
  const today = new Date().toDateString();
  each('time:not([data-venue])', (element) => {
    const when = new Date(element.dateTime);
    const form =
      when.toDateString() === today ? { timeStyle: 'short' } : { dateStyle: 'long', timeStyle: 'short' };
    element.textContent = new Intl.DateTimeFormat(`${language}-u-nu-latn`, form).format(when);
  });
}

const two = (n) => String(n).padStart(2, '0');
export const clock_text = (seconds) => `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;

/**
 * Counts [data-until] down every second; calls `done` once when the first is over. No live region, which
 * would speak every second.
 */
export function count_down(done) {
  let is_over = false;
  const show = () =>
    each('[data-until]', (element) => {
      const left = Math.max(
        0,
        Math.ceil((Date.parse(element.dataset.until) - Date.now() - (state.clock_ahead ?? 0)) / 1000),
      );
      element.textContent = element.dataset.text.replace('{time}', clock_text(left));
      element.hidden = false;
      if (left === 0 && !is_over) {
        is_over = true;
        setTimeout(done, 1_500);
      }
    });
  if (!document.querySelector('[data-until]')) return;
  // The server's clock decides, not the browser's.
  if (state.now) state.clock_ahead = Date.parse(state.now) - Date.now();
  show();
  setInterval(show, 1_000);
}

/** Once. By a GET, also where the page answers a form, which a reload would send again. */
let leaving = false;
export function reload() {
  if (leaving) return;
  leaving = true;
  location.replace(location.href.split('#', 1)[0]); // with a fragment nothing would be loaded
}
