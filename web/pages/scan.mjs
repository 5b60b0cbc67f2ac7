// SPDX-License-Identifier: Apache-2.0
// /scan: a phone at a gate. It asks the server about each code. Without a network it decides by what it knows
// (scan_gate.mjs), keeps the scan, and sends it later with its time.
import { each, language, state } from './page.mjs';
import { start_camera } from './scan_camera.mjs';
import {
  after_sending,
  asked_pause_ms,
  gate,
  in_order,
  is_answer,
  kept_code,
  new_nonce,
  reason_of_problem,
  round_pause_ms,
  send_scans,
  to_try_again,
} from './scan_gate.mjs';
import { allow_sounds, play } from './scan_sounds.mjs';
import { open_store } from './scan_store.mjs';

const answer_ms = 4_000; // a holder waits no longer; then the phone decides
const sync_ms = 10_000;
const same_code_ms = 3_000; // the camera sees one code in many frames
const batch = 100;

const find = (name) => document.querySelector(`[data-${name}]`);
const text = (key, values = {}) =>
  Object.entries(values).reduce(
    (all, [name, value]) => all.replace(`{${name}}`, value),
    state.texts[key].other,
  );
const show = (name, content) => {
  const element = find(name);
  element.textContent = content;
  element.hidden = content === '';
};
const clock = (ms) => new Intl.DateTimeFormat(`${language}-u-nu-latn`, { timeStyle: 'medium' }).format(ms);

const store = await open_store();
let token = await store.setting('token');
let info = (await store.setting('info')) ?? null; // GET /checkin
let list = (await store.setting('list')) ?? null;
let known = null; // what this phone knows of the list
let clock_ahead = (await store.setting('clock_ahead')) ?? 0; // of the server
let is_online = false;
let is_loaded = false; // the tickets of the list, since the page or the list began
let resume_at = 0; // of performance.now(): the server wants no round before
let camera = null;
let last_refused = null; // may be let in anyway
let shown_nonce = null; // of the result on the page, if this phone decided it

const server_now = () => Date.now() + clock_ahead;

// -- the server -------------------------------------------------------------------------------------------

class no_answer extends Error {}

async function api(method, path, body) {
  let response;
  try {
    response = await fetch(state.base + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      body: body && JSON.stringify(body),
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(answer_ms),
    });
  } catch {
    set_online(false);
    throw new no_answer();
  }
  // A broken answer is none: the scan is decided here.
  const answer = await response.json().catch(() => null);
  if (!answer || !is_answer(response.status, answer.code)) {
    resume_at = performance.now() + asked_pause_ms(response);
    set_online(false);
    throw new no_answer();
  }
  set_online(true);
  if (response.status === 401) show('problem', text('scan_revoked'));
  if (!response.ok) throw Object.assign(new Error(answer.code), { status: response.status });
  if (answer.server_time) await set_clock(Date.parse(answer.server_time));
  return answer;
}

async function set_clock(server_time) {
  clock_ahead = server_time - Date.now();
  await store.set('clock_ahead', clock_ahead);
}

function set_online(on) {
  is_online = on;
  const element = find('connection');
  element.dataset.connection = on ? 'live' : 'offline';
  const words = token && !is_loaded ? 'scan_loading' : 'scan_online';
  element.textContent = text(on ? words : 'scan_offline');
}

// -- results ----------------------------------------------------------------------------------------------

const place_text = (earlier) =>
  earlier
    ? text('scan_earlier', { time: clock(earlier.at), place: earlier.place || text('scan_somewhere') })
    : '';

/** "Stalls, row A, seat 3", as net/pages/seat_text; empty: no seat. */
function seat_text(place) {
  if (!place) return '';
  const key = !place.row ? 'seat_place_table' : place.section ? 'seat_place' : 'seat_place_row';
  return text(key, { section: place.section, row: place.row, seat: place.seat });
}

/** With words, a sign and a colour. `nonce`: of a scan that waits to be sent; null: the server decided. */
function present({ is_admitted, reason, type, detail = '', earlier = null, nonce = null }) {
  shown_nonce = nonce;
  const card = find('result');
  const kind = is_admitted ? (type === 'exit' ? 'exit' : 'admitted') : reason;
  card.dataset.kind = is_admitted ? 'good' : 'bad';
  find('sign').textContent = is_admitted ? '✓' : '✕';
  const words = is_admitted ? `scan_${kind}` : `scan_refused_${reason}`;
  show('headline', state.texts[words] ? text(words) : text('scan_refused'));
  show('detail', detail);
  show('earlier', place_text(earlier));
  show('local', nonce ? text('scan_decided_here') : '');
  find('force').hidden = is_admitted || !last_refused || !info.may_force;
  card.hidden = false;
  play(kind);
}

/** No "let in anyway": the code proves nothing, so the ticket may belong to another person. */
const may_force = (reason) => reason !== 'wrong_key' && reason !== 'expired_code';

/** Shows it first: the holder waits. Then the phone keeps who is in, for a restart without a network. */
async function present_answer(answer, scan) {
  const ticket = answer.event_ticket;
  const is_admitted = answer.result === 'admitted';
  const { earlier } = answer;
  const is_forcible = !is_admitted && ticket && may_force(answer.reason);
  last_refused = is_forcible ? { ...scan, ticket: ticket.id } : null;
  present({
    is_admitted,
    reason: answer.reason,
    type: scan.type,
    detail: [ticket?.ticket_type, seat_text(ticket?.seat_place), ticket?.name].filter(Boolean).join(' · '),
    earlier: earlier && { at: Date.parse(earlier.at), place: earlier.gate ?? earlier.device ?? earlier.list },
  });
  const row =
    is_admitted && ticket
      ? known.note(ticket.id, scan.type, Date.parse(answer.at), info.gate ?? info.device)
      : null;
  show_counts();
  if (row) await store.keep_ticket(row);
  if (answer.reason === 'wrong_list') sync(); // it may have been removed
}

// -- scanning ---------------------------------------------------------------------------------------------

const body_of = (scan) => ({
  nonce: scan.nonce,
  list_id: scan.list,
  ...(scan.code ? { code: scan.code } : { event_ticket_id: scan.ticket }),
  at: scan.at,
  type: scan.type,
  ...(scan.force && { force: true }),
  ...(scan.passed && { passed: true }),
  ...(scan.refused && { refused: scan.refused }),
});

async function decide_here(scan) {
  const decided = await known.decide(scan, server_now());
  const is_admitted = !decided.reason || (scan.force && known.tickets.has(decided.ticket));
  const noted =
    is_admitted && known.note(decided.ticket, scan.type, Date.parse(scan.at), info.gate ?? info.device);
  const is_kept = decided.reason !== 'cannot_check' && decided.reason !== 'not_ready';
  // What the rules say is decided at the gate: the holder has passed, or was sent away.
  if (is_kept)
    await store.add_waiting(
      {
        ...scan,
        ...(scan.code && { code: kept_code(scan.code) }),
        ticket: decided.ticket,
        event: info.event_id,
        ...(is_admitted ? { passed: true } : { refused: decided.reason }),
      },
      noted,
    );
  const is_forcible = !is_admitted && known.tickets.has(decided.ticket) && may_force(decided.reason);
  last_refused = is_forcible ? { ...scan, ticket: decided.ticket } : null;
  const row = known.tickets.get(decided.ticket);
  present({
    is_admitted,
    reason: decided.shown ?? decided.reason,
    type: scan.type,
    detail: row
      ? [info.ticket_types[row[1]]?.name, known.seat_of(decided.ticket)].filter(Boolean).join(' · ')
      : '',
    earlier: decided.earlier,
    nonce: is_kept ? scan.nonce : null,
  });
  show_counts();
  await show_waiting();
}

/** The server takes no such scan, or cannot be asked. */
async function without_answer(scan, error) {
  if (error instanceof no_answer) return decide_here(scan);
  last_refused = null;
  const reason = reason_of_problem(error.message, error.status);
  present({ is_admitted: false, reason, type: scan.type });
  if (reason === 'list_gone') sync();
}

let is_busy = false;

/** Meanwhile a typed code stays in its field: the button takes no click, and so the field no Enter. */
function set_busy(busy) {
  is_busy = busy;
  find('manual').querySelector('button').disabled = busy;
}

/** `what`: {code} or {ticket}, and force. */
async function scan(what) {
  if (is_busy) return;
  if (!info || !list) {
    last_refused = null;
    return present({ is_admitted: false, reason: 'not_ready' });
  }
  set_busy(true);
  try {
    const now = server_now();
    const one = {
      force: false,
      ...what,
      nonce: new_nonce(now),
      list,
      type: document.querySelector('input[name="type"]:checked').value,
      at: new Date(now).toISOString(),
    };
    let answer;
    try {
      answer = await api('POST', '/checkin/redeem', body_of(one));
    } catch (error) {
      return await without_answer(one, error);
    }
    await present_answer(answer, one);
  } finally {
    set_busy(false);
  }
}

let last_code = { text: '', at: 0 };
async function on_camera_code(code) {
  const is_same = code === last_code.text && Date.now() - last_code.at < same_code_ms;
  last_code = { text: code, at: Date.now() };
  if (!is_same) await scan({ code: code.slice(0, 400) });
}

// -- waiting scans ----------------------------------------------------------------------------------------

async function show_waiting() {
  const waiting = await store.waiting();
  find('waiting').textContent = text('scan_waiting', { count: waiting.length });
  if (!waiting.some(({ nonce }) => nonce === shown_nonce)) show('local', '');
  const conflicts = await store.conflicts();
  find('conflicts').hidden = conflicts.length === 0;
  find('conflict-list').replaceChildren(
    ...conflicts.map((c) => {
      const item = document.createElement('li');
      const what = [c.event_ticket?.ticket_type, c.event_ticket?.seat].filter(Boolean).join(' ');
      const reason = text(`scan_refused_${c.reason}`);
      const why = text(c.sent_away ? 'scan_sent_away' : 'scan_let_in_although', { reason });
      const earlier = c.earlier && {
        at: Date.parse(c.earlier.at),
        place: c.earlier.gate ?? c.earlier.device ?? c.earlier.list,
      };
      item.textContent = [clock(Date.parse(c.at)), what, why, place_text(earlier)]
        .filter(Boolean)
        .join(' · ');
      return item;
    }),
  );
}

const ask_for = async (scans) =>
  (await api('POST', '/checkin/redeem', { scans: scans.map(body_of) })).results;

async function settle(sent, results) {
  const { gone, again, conflicts, lost } = after_sending(sent, results, server_now());
  // A scan that the server did not take stays, and people see it.
  await store.settle(gone, [...again, ...lost.map((scan) => ({ ...scan, lost: true }))], conflicts);
}

async function send_waiting() {
  const all = in_order(await store.waiting()).filter((scan) => scan.event === info.event_id && !scan.lost);
  for (let from = 0; from < all.length; from += batch) {
    await send_scans(all.slice(from, from + batch), ask_for, settle);
  }
}

// -- what the phone knows ---------------------------------------------------------------------------------

async function read_gate() {
  info = await api('GET', '/checkin');
  await store.set('info', info);
  show('problem', '');
  const is_gone = list && !info.lists.some(({ id }) => id === list);
  if (is_gone || !list) await choose(info.lists[0]?.id ?? null);
  show_info();
  if (is_gone) tell_list_gone(info.lists[0]);
}

/** People at the gate must see it: another list lets other tickets in. */
function tell_list_gone(now) {
  last_refused = null;
  present({
    is_admitted: false,
    reason: 'list_gone',
    detail: now ? text('scan_list_now', { list: now.name }) : '',
  });
}

async function read_state() {
  if (!list) return set_loaded();
  const asked = list;
  for (;;) {
    const since = known.state ? `?since=${known.state.version}` : '';
    const page = await api('GET', `/checkin/${asked}/state${since}`);
    if (asked !== list) return;
    await store.keep_state({ list, ...known.take(page) }, page.tickets, page.reset);
    if (!page.more) break;
  }
  show_counts();
  set_loaded();
}

function set_loaded() {
  is_loaded = true;
  set_online(is_online);
}

async function load_known() {
  const kept = await store.setting('state');
  const is_ours = kept && kept.list === list;
  known = new gate(info?.event_id, is_ours ? kept : null, is_ours ? await store.tickets() : []);
  known.apply_waiting(await store.waiting(), info?.gate ?? info?.device);
}

async function choose(id) {
  list = id;
  is_loaded = false;
  await store.set('list', list);
  await load_known();
}

function show_info() {
  show('event', info.event_name);
  show('place', [info.device, info.gate].filter(Boolean).join(' · '));
  const select = find('list');
  select.replaceChildren(
    ...info.lists.map(({ id, name }) => {
      const option = document.createElement('option');
      option.value = id;
      option.textContent = name;
      option.selected = id === list;
      return option;
    }),
  );
  const chosen = info.lists.find(({ id }) => id === list);
  find('types').hidden = chosen?.mode !== 'entry_and_exit';
  if (chosen?.mode === 'entry') document.querySelector('input[name="type"][value="entry"]').checked = true;
  show_counts();
}

/** Of the list, as this phone knows it: also what it has just decided. */
function show_counts() {
  find('counts').textContent = known.state ? text('scan_counts', known.counts()) : '';
}

let syncing = null;
function sync() {
  syncing ??= (async () => {
    try {
      if (!token || performance.now() < resume_at) return;
      await read_gate();
      await send_waiting();
      await read_state();
    } catch {
      // the connection's line says so; the next round tries again
    } finally {
      syncing = null;
    }
    if (info) await show_waiting();
  })();
  return syncing;
}

function begin_rounds() {
  const pause = round_pause_ms(performance.now(), resume_at, sync_ms);
  setTimeout(() => sync().finally(begin_rounds), pause);
}

// -- the page ---------------------------------------------------------------------------------------------

function listen() {
  find('camera').addEventListener('click', async () => {
    allow_sounds();
    if (camera) {
      camera.stop();
      camera = null;
    } else {
      try {
        camera = await start_camera(find('video'), state.decoder, on_camera_code);
      } catch {
        show('problem', text('scan_no_camera'));
      }
    }
    find('video').hidden = !camera;
    find('torch').hidden = !camera?.torch;
    find('camera').textContent = text(camera ? 'scan_camera_off' : 'scan_camera_on');
  });
  find('torch').addEventListener('click', ({ currentTarget }) => {
    const on = currentTarget.getAttribute('aria-pressed') !== 'true';
    currentTarget.setAttribute('aria-pressed', String(on));
    camera?.torch?.(on);
  });
  find('manual').addEventListener('submit', async (event) => {
    event.preventDefault();
    allow_sounds();
    const field = event.currentTarget.elements.code;
    const code = field.value.trim().toUpperCase();
    field.value = '';
    if (code) await scan({ code });
  });
  find('force').addEventListener('click', async () => {
    const again = last_refused;
    last_refused = null;
    if (again && confirm(text('scan_force_sure'))) await scan({ ticket: again.ticket, force: true });
  });
  find('list').addEventListener('change', async ({ currentTarget }) => {
    await choose(currentTarget.value);
    show_info();
    await sync();
  });
  find('search').addEventListener('submit', search);
  addEventListener('online', sync);
  addEventListener('hashchange', take_token);
}

/** Why a found ticket lets no holder in; empty: it does. */
function status_text({ status, refund_pending }) {
  if (refund_pending) return text('scan_refused_refund_pending');
  const words = { CHECKED_IN: 'scan_refused_already_in', CANCELLED: 'scan_refused_cancelled' }[status];
  return words ? text(words) : '';
}

async function search(event) {
  event.preventDefault();
  const words = event.currentTarget.elements.text.value.trim();
  if (words.length < 2) return;
  let items = [];
  try {
    ({ items } = await api('POST', '/checkin/search', { list_id: list, text: words }));
    show('found-none', items.length === 0 ? text('scan_found_none') : '');
  } catch {
    show('found-none', text('scan_search_offline'));
  }
  find('found').replaceChildren(
    ...items.map((ticket) => {
      const item = document.createElement('li');
      const label = document.createElement('div');
      label.textContent = [
        ticket.name,
        ticket.ticket_type,
        seat_text(ticket.seat_place),
        ticket.order_id?.slice(-8),
        ticket.id.slice(-8),
        status_text(ticket),
      ]
        .filter(Boolean)
        .join(' · ');
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'button plain';
      button.textContent = text('scan_check_in');
      button.setAttribute('aria-label', `${text('scan_check_in')}: ${label.textContent}`);
      button.addEventListener('click', () => scan({ ticket: ticket.id }));
      item.append(label, button);
      return item;
    }),
  );
}

/** The token comes once, in the fragment, and leaves the address bar. */
async function take_token() {
  const given = location.hash.slice(1);
  if (!given.startsWith('gate_')) return;
  history.replaceState(null, '', location.pathname);
  if (given !== token) {
    token = given;
    info = null;
    await store.set('token', token);
    await store.set('info', null);
    await store.settle([], to_try_again(await store.waiting()), []);
    await choose(null);
  }
  await sync();
}

async function begin() {
  listen();
  set_online(navigator.onLine);
  await load_known();
  if (info) show_info();
  await take_token();
  if (!token) show('problem', text('scan_no_token'));
  await sync();
  begin_rounds();
  each('[data-ready]', (element) => (element.dataset.ready = 'true'));
}

if ('serviceWorker' in navigator && isSecureContext)
  navigator.serviceWorker
    .register(`${state.base}/scan/worker.js`, { scope: `${state.base}/scan` })
    .catch(() => {});
else show('insecure', text('scan_insecure'));
navigator.storage?.persist?.().catch(() => {});
await begin();
