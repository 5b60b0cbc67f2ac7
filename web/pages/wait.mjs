// SPDX-License-Identifier: Apache-2.0
// Script of the waiting page: the SDK keeps the server's page up to date. When the place changes its state,
// the page reloads, so that only the server draws states. Also the page that moves a place to another device.
import { chance_text, counted, number_text, odds_text, wait_text } from '../sdk/estimate.mjs';
import { FairQueue } from '../sdk/fairqueue.mjs';
import { count_down, each, language, localise_times, reload, state } from './page.mjs';

const { texts } = state;
const announce_every_ms = 10_000;
const find = (name) => document.querySelector(`[data-${name}]`);
const set = (name, text) =>
  each(`[data-${name}]`, (element) => element.textContent !== text && (element.textContent = text));

// -- sound and notification -----------------------------------------------------------------------------

let audio;
function unlock_audio() {
  audio ??= globalThis.AudioContext && new AudioContext();
  audio?.resume();
}

/** Three rising tones, synthesised: no file to load. */
function chime() {
  if (audio?.state !== 'running') return;
  [523, 659, 784].forEach((frequency, index) => {
    const [tone, loudness, at] = [
      audio.createOscillator(),
      audio.createGain(),
      audio.currentTime + index * 0.22,
    ];
    tone.frequency.value = frequency;
    loudness.gain.setValueAtTime(0.0001, at);
    loudness.gain.exponentialRampToValueAtTime(0.25, at + 0.03);
    loudness.gain.exponentialRampToValueAtTime(0.0001, at + 0.45);
    tone.connect(loudness).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.5);
  });
}

const wants_telling = 'fairqueue.tell';
const kept = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

const scope = `${state.base}/wait/`;
/** Null if impossible: an old browser, a page without https. */
const worker = (what, ...how) => navigator.serviceWorker?.[what](...how).catch(() => undefined);
const prepare_worker = () => worker('register', `${scope}worker.js`, { scope });

function offer_telling() {
  const box = find('tell');
  if (!box) return;
  find('tell-row').hidden = false;
  box.checked = kept(wants_telling) === '1';
  if (box.checked) {
    addEventListener('pointerdown', unlock_audio, { once: true });
    prepare_worker();
  }
  box.addEventListener('change', async () => {
    try {
      localStorage.setItem(wants_telling, box.checked ? '1' : '0');
    } catch {
      // then for this page only
    }
    if (!box.checked) return;
    unlock_audio();
    prepare_worker();
    if (globalThis.Notification?.permission === 'default') await Notification.requestPermission();
  });
}

async function notify(title) {
  const note = {
    body: state.name,
    tag: `fairqueue-${state.line}`,
    requireInteraction: true,
    data: location.pathname,
  };
  try {
    const registration = await worker('getRegistration', scope);
    // Android supports only this way. Other systems also support a page without a worker.
    if (registration?.active) return await registration.showNotification(title, note);
    new Notification(title, note).onclick = () => window.focus();
  } catch {
    // Not permitted, or only for installed pages: sound and title remain.
  }
}

/** Milliseconds that the page must stay open for the sound. */
function tell() {
  document.title = `● ${texts.your_turn.other}`;
  const is_wanted = find('tell')?.checked ?? kept(wants_telling) === '1'; // the page for another device has no box
  if (!is_wanted) return 0;
  chime();
  navigator.vibrate?.([200, 100, 200]);
  notify(texts.your_turn.other);
  return 1_200;
}

// -- the place ------------------------------------------------------------------------------------------

let announced_at = 0;
let announced = '';
/** Screen readers announce the position at most every ten seconds. */
function announce(text) {
  if (text === announced || Date.now() - announced_at < announce_every_ms) return;
  [announced, announced_at] = [text, Date.now()];
  set('announce', text);
}

/** In a lobby no place has a position. The server draws the page of the line, as soon as there is one. */
function show_lobby(place) {
  if (!place.lobby || place.lobby.status !== lobby_shown) return show_anew();
  const people = number_text(language, place.lobby.people);
  set('people', people);
  find('people').classList.toggle('long', people.length > 5);
  set('message', place.message ?? '');
  find('message-card').hidden = !place.message;
}

let lobby_shown;
function show(place) {
  if (find('people')) {
    lobby_shown ??= place.lobby?.status;
    return show_lobby(place);
  }
  if (place.position === null || !find('position')) return; // or the page shows another state
  const number = number_text(language, place.position);
  const ahead = place.ahead ? counted(texts, language, 'ahead', place.ahead) : texts.next.other;
  set('position', number);
  find('position').classList.toggle('long', number.length > 5);
  set('ahead', ahead);
  set('wait', wait_text(texts, language, place.eta));
  set('message', place.message ?? '');
  find('message-card').hidden = !place.message;
  find('paused').hidden = !place.paused;
  find('sold-out').hidden = !place.soldOut || place.waitingList;
  find('waiting-list').hidden = !place.waitingList;
  const odds = place.waitingList ? '' : odds_text(texts, language, place.outlook);
  set('odds', odds);
  set('chance', odds && chance_text(texts, language, place.outlook));
  find('odds-card').hidden = !odds;
  document.title = `${number} · ${state.name}`;
  announce(place.paused ? texts.paused.other : `${texts.place_label.other}: ${number}. ${ahead}`);
}

function show_connection(connection) {
  if (connection === 'closed') return;
  const element = find('connection');
  if (!element) return;
  element.dataset.connection = connection;
  element.textContent = texts[`connection_${connection}`].other;
  element.hidden = false;
  if (connection === 'offline') announce(texts.connection_offline.other);
}

/** The cookie identifies the place; this script stores nothing. */
function memory_storage(content) {
  const all = new Map(Object.entries(content));
  return {
    getItem: (k) => all.get(k) ?? null,
    setItem: (k, v) => all.set(k, v),
    removeItem: (k) => all.delete(k),
  };
}

/** The place changed its state; the server draws it. */
const show_anew = () => (state.back ? location.replace(state.back) : reload());

function follow() {
  const { base, event, queue, token, place } = state;
  const storage = memory_storage(
    queue ? { [`fairqueue.${queue}`]: JSON.stringify({ id: place, token }) } : {},
  );
  const line = new FairQueue({
    server: location.origin + base,
    event,
    queue,
    token: event && token,
    storage,
  });
  line.addEventListener('connection', ({ detail }) => show_connection(detail));
  line.addEventListener('change', ({ detail }) => (detail.ended ? show_anew() : show(detail)));
  line.addEventListener('admitted', () => setTimeout(show_anew, tell()));
  line.addEventListener('end', show_anew);
  line.resume().catch(show_anew);
  // Left or joined in another tab: the server decides.
  if (globalThis.BroadcastChannel) {
    const tabs = new BroadcastChannel('fairqueue.pages');
    tabs.onmessage = ({ data }) => data === state.line && show_anew();
  }
}

/** After a form changed the place, the page of its answer notifies the other tabs. */
function tell_tabs() {
  if (!globalThis.BroadcastChannel) return;
  const name = `fairqueue.state.${state.line}`;
  const now = state.follow ? 'waiting' : 'else';
  if (kept(name) !== now) new BroadcastChannel('fairqueue.pages').postMessage(state.line);
  try {
    localStorage.setItem(name, now);
  } catch {
    // other tabs see it at their next poll
  }
}

const link_life_ms = 600_000; // of the token; the server refuses an older one
const retry_max_s = 30;

/** Shows a message above everything else and announces it. */
function say(text) {
  const note = document.createElement('p');
  note.className = 'card notice wide';
  note.setAttribute('role', 'status');
  document.getElementById('main').prepend(note);
  note.textContent = text;
}

/**
 * Requests the place until an answer comes, because only this page has the token. Retries after 429, 5xx and
 * no answer.
 */
async function take_over(page, token) {
  const given_up_at = Date.now() + link_life_ms;
  for (let attempt = 0; Date.now() < given_up_at; ++attempt) {
    const answer = await fetch(page, {
      method: 'POST',
      body: new URLSearchParams({ action: 'adopt', token }),
    }).catch(() => undefined);
    if (answer?.ok) return location.replace(answer.url);
    if (answer && answer.status !== 429 && answer.status < 500) break;
    if (attempt === 0) say(texts.device_waits.other);
    const asked_s = Number(answer?.headers.get('retry-after')) || 2 ** attempt;
    await new Promise((over) => setTimeout(over, (Math.min(asked_s, retry_max_s) + Math.random()) * 1_000));
  }
  reload();
}

/**
 * Adopts a place from another device in the address, and removes it from the address. True: the page will
 * show it.
 */
function adopt() {
  const [, token] = /^#place=([\w.-]+)$/.exec(location.hash) ?? [];
  if (!token) return false;
  const page = location.pathname;
  history.replaceState(history.state, '', page);
  take_over(page, token);
  return true;
}

/** Shows the reason of the visit once. */
if (location.search) history.replaceState(history.state, '', location.pathname + location.hash);

localise_times();
count_down(reload);
offer_telling();
tell_tabs();
if (adopt()) {
  // the request is in flight
} else if (state.follow) follow();
else if (state.reload_after_ms) setTimeout(reload, state.reload_after_ms);
