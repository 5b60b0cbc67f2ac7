// SPDX-License-Identifier: Apache-2.0
// Scripts of the shop's pages: the total follows the chosen tickets, time left counts down, an order's page
// follows the order.
import { count_down, each, localise_times, reload, state } from './page.mjs';
import { show_seats } from './seat_map.mjs';

const api = async (method, path, body, headers = {}) => {
  const response = await fetch(state.base + path, {
    method,
    headers: {
      Authorization: `Bearer ${state.token}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: body && JSON.stringify(body),
    credentials: 'omit',
  });
  const answer = await response.json();
  if (!response.ok)
    throw Object.assign(new Error(answer.code), { status: response.status, code: answer.code });
  return answer;
};

// -- choosing -------------------------------------------------------------------------------------------

/** The key of a refusal's text. One seat is no group that is too large. */
function text_key(code, items, accessible) {
  const is_one = !accessible && items.every(({ seats, quantity }) => seats || quantity === 1);
  if (code === 'no_best_seats') return is_one ? 'not_alone' : 'not_together';
  return code?.startsWith('promo_code') ? 'promo_code_refused' : code;
}

/** Minor units as the server writes them: "12.50 EUR". */
function money_text(minor, currency) {
  const decimals = state.decimals;
  const text = (minor / 10 ** decimals).toFixed(decimals);
  return `${text} ${currency}`;
}

function follow_choice(form) {
  const sums = document.querySelector('[data-sums]');
  const problem = document.querySelector('[data-quote-problem]');
  document.querySelector('[data-update]').hidden = true;
  let timer;
  let turn = 0;
  let seats = null;
  /** Minor units a ticket; undefined while the text is no amount. */
  const donation = () => {
    const text = form.elements.donation?.value.trim().replace(',', '.') ?? '';
    const amount = Math.round(Number(text) * 10 ** state.decimals);
    return amount > 0 ? amount : undefined;
  };
  const chosen = () => [
    ...[...form.querySelectorAll('select[name^="t."]:enabled')]
      .map((select) => ({
        ticket_type_id: select.name.slice(2),
        quantity: Number(select.value),
        donation: donation(),
      }))
      .filter((item) => item.quantity > 0),
    ...[...form.querySelectorAll('input[name^="s."]')]
      .filter((field) => field.value)
      .map((field) => ({
        ticket_type_id: field.name.slice(2),
        seats: field.value.split(' '),
        donation: donation(),
      })),
  ];
  const quote = async () => {
    const mine = ++turn;
    const items = chosen();
    if (items.length === 0) {
      sums.hidden = true;
      return;
    }
    const promo_code = form.elements.promo_code.value.trim() || undefined;
    const named = items.reduce((sum, { seats }) => sum + (seats?.length ?? 0), 0);
    const accessible = form.elements.accessible?.checked ? Math.max(1, named) : undefined;
    try {
      const price = await api('POST', `/events/${state.line}/quote`, { items, promo_code, accessible });
      if (mine !== turn) return; // a later choice is in flight
      const fees = price.platform_fee + price.processing_fee;
      const values = { subtotal: price.subtotal, discount: -price.discount, fees, total: price.total };
      for (const [name, value] of Object.entries(values)) {
        const row = sums.querySelector(`[data-sum="${name}"]`);
        row.textContent = money_text(value, price.currency);
        row.hidden = row.previousElementSibling.hidden = value === 0 && name !== 'total';
      }
      sums.hidden = false;
      problem.textContent = '';
    } catch (no) {
      if (mine !== turn) return;
      if (no.code === 'seat_taken') seats?.refresh().catch(() => {});
      problem.textContent = (
        state.texts[text_key(no.code, items, accessible)] ?? state.texts.try_again
      ).other;
    }
  };
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(quote, 350);
  });
  // Else the form's first button would be pressed, which buys.
  form.elements.access_code?.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    form.requestSubmit(form.querySelector('[data-join]'));
  });
  quote();
  const root = form.querySelector('[data-seats]');
  if (root) show_seats(root, form).then((map) => (seats = map));
}

/** Ignores a second click. The form's own key would make it the same order anyway. */
function send_once(form) {
  let sent = false;
  form.addEventListener('submit', (event) => {
    if (sent) event.preventDefault();
    sent = true;
  });
  addEventListener('pageshow', () => (sent = false));
}

// -- an order -------------------------------------------------------------------------------------------

async function follow_order() {
  for (;;) {
    let wait = 2_000;
    try {
      const order = await api('GET', `/orders/${state.order}/status`);
      if (order.status !== state.status || (order.payment_url ?? '') !== state.payment_url) return reload();
      wait = order.poll_after_ms;
    } catch (no) {
      if (no.status === 401 || no.status === 404) return reload();
      wait = 4_000;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

localise_times();
count_down(reload);
each('form', send_once);
each('form[data-choice]', follow_choice);
if (state.order && state.follow) follow_order();
