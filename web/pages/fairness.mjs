// SPDX-License-Identifier: Apache-2.0
// /fairness/{id}: reads the public log of the line and checks it here, with the checker of web/verify.
import { http_reader } from '../verify/http.mjs';
import { parse_checkpoint, parse_receipt } from '../verify/note.mjs';
import { verify } from '../verify/verify.mjs';
import { draw_rates } from './fairness_chart.mjs';
import { counts_of, rates_of } from './fairness_report.mjs';
import { language, state } from './page.mjs';

/** A receipt has some kilobytes. */
const receipt_bytes_max = 100_000;
/** Checkpoints of earlier checks in this browser, the newest. */
const seen_max = 20;
const hands_max = 200;

const find = (selector) => document.querySelector(selector);
const text = (key, values = {}) =>
  state.texts[key].other.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
const number = (value, options) => new Intl.NumberFormat(`${language}-u-nu-latn`, options).format(value);
const moment = (ms, form = { dateStyle: 'short', timeStyle: 'medium' }) =>
  new Intl.DateTimeFormat(`${language}-u-nu-latn`, form).format(new Date(Math.min(ms, 8.64e15)));

function element(name, content = '', attributes = {}) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(content);
  return made;
}

// -- what this browser has seen before

const seen_key = `fairqueue-log-${state.event}`;
function seen_before() {
  try {
    const notes = JSON.parse(localStorage.getItem(seen_key)) ?? [];
    notes.forEach(parse_checkpoint);
    return notes;
  } catch {
    return [];
  }
}
function remember(checkpoint) {
  const all = [...seen_before().filter((note) => note !== checkpoint), checkpoint];
  try {
    localStorage.setItem(seen_key, JSON.stringify(all.slice(-seen_max)));
  } catch {
    // without storage this visit is not compared with the next one
  }
}

// -- the result

/** An announced value that the visitor can only compare; what it should be. */
function value_of({ lobby_record, drawn_record }) {
  const [value, source] = [drawn_record.value, lobby_record.source].map((b) => new TextDecoder().decode(b));
  const row = element('p', element('bdi', source));
  row.append(': ', element('code', value, { dir: 'ltr' }));
  return row;
}

/** The checker's sentences are English. Ours says the same in the visitor's language, without evidence. */
function check_row({ check, result, text: evidence }, replay) {
  const row = element('li', '', { className: `is-${result}` });
  const is_compared =
    check === 'beacon' && result === 'unproven' && replay.drawn_record.beacon === 'announced';
  const problem = is_compared ? 'fair_compare_beacon' : `fair_${result}_${check}`;
  const sentence = text(problem in state.texts ? problem : `fair_check_${check}`);
  row.append(element('b', text(`fair_is_${result}`)), element('span', sentence));
  if (is_compared) row.append(value_of(replay));
  if (evidence) {
    const details = element('details', element('summary', text('fair_details'), { className: 'tap' }));
    details.append(element('p', evidence, { lang: 'en', dir: 'ltr' }));
    row.append(details);
  }
  return row;
}

function show_figures(replay) {
  const counts = counts_of(replay);
  const share = counts.over > 0 && ` (${number(counts.completed / counts.over, { style: 'percent' })})`;
  const rows = [
    ['fair_joined', number(counts.joined)],
    ['fair_waiting', number(counts.waiting)],
    ['fair_admitted', number(counts.admitted)],
    ['fair_completed', `${number(counts.completed)} / ${number(counts.over)}${share || ''}`],
  ];
  find('[data-figures]').replaceChildren(
    ...rows.flatMap(([key, value]) => [element('dt', text(key)), element('dd', value)]),
  );
  const rates = rates_of(replay);
  const names = [text('fair_joined'), text('fair_admitted')];
  const highest = (values) => number(Math.max(0, ...values), { maximumFractionDigits: 1 });
  const label = `${text('fair_per_minute')}: ${names[0]} ≤ ${highest(rates.joined)}, ${names[1]} ≤ ${highest(rates.admitted)}`;
  find('[data-chart]').hidden = rates.times.length === 0;
  if (rates.times.length > 0) draw_rates(find('[data-chart]'), rates, names, label);
  const short = { dateStyle: 'short', timeStyle: 'short' };
  find('[data-minutes] tbody').replaceChildren(
    ...rates.times.map((at, i) => {
      const row = element('tr');
      row.append(element('th', moment(at, short), { scope: 'row' }));
      for (const value of [rates.joined[i], rates.admitted[i]])
        row.append(element('td', number(value, { maximumFractionDigits: 1 })));
      return row;
    }),
  );
}

function hand_row(hand) {
  const row = element('tr');
  const own = (value) => element('bdi', value);
  row.append(element('th', moment(hand.at), { scope: 'row' }));
  row.append(element('td', text(`fair_hand_${hand.action}`, { n: number(hand.count) })));
  row.append(element('td', hand.number === 0 ? '' : number(hand.number)));
  row.append(element('td', own(hand.change.trim())));
  row.append(element('td', hand.reason ? own(hand.reason) : text('fair_reason_none')));
  return row;
}

const show_rows = (interventions) =>
  find('[data-hands] tbody').replaceChildren(...[...interventions].reverse().map(hand_row));

function show_hands(interventions) {
  const newest = interventions.slice(-hands_max);
  find('[data-hands-none]').hidden = newest.length > 0;
  find('[data-hands]').hidden = newest.length === 0;
  show_rows(newest);
  const more = find('[data-hands-more]');
  more.hidden = newest.length === interventions.length;
  more.querySelector('p').textContent = text('fair_hands_more', { n: number(hands_max) });
  const button = more.querySelector('button');
  button.textContent = text('fair_hands_all', { n: number(interventions.length) });
  button.onclick = () => {
    show_rows(interventions);
    more.hidden = true;
    find('[data-hands]').focus(); // the button is gone
  };
}

function show({ findings, result, replay }) {
  say(text(`fair_result_${result}`));
  const is_bad = (finding) => finding.result === 'failed';
  const worst_first = [...findings.filter(is_bad), ...findings.filter((f) => !is_bad(f))];
  find('[data-checks]').replaceChildren(...worst_first.map((finding) => check_row(finding, replay)));
  for (const part of document.querySelectorAll('[data-result]')) part.hidden = false;
  show_figures(replay);
  show_hands(replay.interventions);
}

function say(sentence, why = '') {
  find('[data-outcome]').textContent = sentence;
  find('[data-why]').textContent = why;
}

// -- the check

async function receipts_of(files) {
  const texts = [];
  for (const file of files) {
    if (file.size > receipt_bytes_max) throw new Error('too large');
    const content = await file.text();
    parse_receipt(content);
    texts.push(content);
  }
  return texts;
}

function show_progress(read, all) {
  find('[data-progress]').textContent = text('fair_reading', { read: number(read), all: number(all) });
}

const majority = (count) => Math.floor(count / 2) + 1;

async function check_with(receipts) {
  const { witnesses } = state;
  const outcome = await verify(http_reader(new URL(state.log, location.href)), {
    event: state.event,
    promised: state.promised,
    receipts,
    checkpoints: seen_before(),
    witnesses,
    witnesses_of_server: true,
    quorum: witnesses.length > 0 ? majority(witnesses.length) : undefined,
    patience: 3,
    now: Date.now,
    progress: show_progress,
  });
  if (outcome.result !== 'failed') remember(outcome.checkpoint);
  show(outcome);
}

let is_busy = false;
async function check() {
  if (is_busy) return;
  is_busy = true;
  const [button, progress] = [find('[data-check] button'), find('[data-progress]')];
  button.setAttribute('aria-disabled', 'true');
  progress.hidden = false;
  say('');
  try {
    let receipts;
    try {
      receipts = await receipts_of(find('#receipt').files);
    } catch {
      return say(text('fair_receipt_bad'));
    }
    await check_with(receipts);
  } catch (error) {
    if (error.status === 404) say(text('fair_no_log'));
    else say(text('fair_unreadable'), error.message);
  } finally {
    is_busy = false;
    progress.hidden = true;
    button.removeAttribute('aria-disabled');
  }
}

const section = find('[data-check]');
section.hidden = false;
section.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  check();
});
find('#receipt').addEventListener('change', check);
section.addEventListener('dragover', (event) => event.preventDefault());
section.addEventListener('drop', (event) => {
  event.preventDefault();
  if (event.dataTransfer.files.length === 0) return;
  find('#receipt').files = event.dataTransfer.files;
  check();
});
