// SPDX-License-Identifier: Apache-2.0
// The shop's seat map in Chromium, with answers by script: choosing by pointer, keys and list; changes of
// others; a hall of many sections; Arabic. axe on each. The server's part is in routes and sale tests.
import test from 'node:test';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { browser_for, check_page, fits, person } from './browser.mjs';
import { assert, eventually, root, temporary_folder } from './lib.mjs';
import { languages, read_texts } from '../../web/texts.mjs';
import { read_runs, SeatMap, seats_of, SeatStates } from '../../web/sdk/seats.mjs';

const event = '01998e3b-0000-7c11-8000-00100b2f7e55';
const type_ids = [1, 2].map((n) => `01998e3b-0000-7c11-8000-00100b2f7e0${n}`);
const web = path.join(root, 'web');
const bundle = temporary_folder();
execFileSync('node', ['bundle.mjs', bundle], { cwd: web });
const texts = read_texts();

/** `rows` rows of `count` seats in each of `sections` sections, one behind the other. */
function plan_of({ sections = 1, rows = 3, count = 6, areas = [] }) {
  return {
    name: 'Hall',
    focus: { x: 0, y: 0 },
    ticket_types: ['Stalls', 'Balcony'],
    areas,
    sections: Array.from({ length: sections }, (_, s) => ({
      section: `S${s}`,
      name: `Block ${s + 1}`,
      rows: Array.from({ length: rows }, (_, r) => ({
        row: String.fromCharCode(65 + r),
        ticket_type: s % 2 === 0 ? 'Stalls' : 'Balcony',
        seats: Array.from({ length: count }, (_, i) => ({
          seat: String(i + 1),
          x: 100 + i * 55,
          y: 300 + (s * (rows + 2) + r) * 90,
          ...(r === rows - 1 && i === 0 && { accessible: true }),
        })),
      })),
    })),
  };
}

/** The event's ticket types: `more_types` are of the plan, and no seat of `plan_of` has them. */
const types_of = ({ more_types = 0 }) => [
  ...type_ids,
  ...Array.from({ length: more_types }, (_, i) => `01998e3b-0000-7c11-8000-00100b2f7e1${i}`),
];

/** The part of the page's template, with its texts. */
function page_text(language, hall) {
  const template = fs.readFileSync(path.join(root, 'net/pages/templates/choice.html'), 'utf8');
  const section = /<section class="card" data-seats[\s\S]*?<\/section>/.exec(template)[0];
  const [accessible] = /<label class="check"><input type="checkbox" name="accessible".*/.exec(template);
  const said = (section + accessible)
    .replace(/\[\[(\w+)\]\]/g, (_, key) => texts[language][key].other)
    .replace(/\{\{#ACCESSIBLE\}\}.*?\{\{\/ACCESSIBLE\}\}/g, '');
  const state = {
    base: '',
    token: 'a.b.c',
    line: event,
    decimals: 2,
    types: types_of(hall).map((id, i) => ({
      id,
      name: ['Stalls', 'Balcony'][i] ?? `Type ${i}`,
      price: `${i + 1}0.00 EUR`,
      most: 4,
      on_sale: !hall.off_sale?.includes(i),
    })),
    texts: texts[language],
  };
  const fields = type_ids
    .map(
      (id) => `<input type="hidden" name="s.${id}" value="${hall.names ?? ''}"><label>${id}
      <select name="t.${id}"><option>0</option><option selected>1</option><option>2</option><option>3</option></select></label>`,
    )
    .join('');
  return `<!doctype html><html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}"><head>
    <title>Seats</title><meta name="viewport" content="width=device-width">
    <link rel="stylesheet" href="/pages.css"></head><body><main class="narrow"><h1>Seats</h1>
    <form class="fields" data-choice method="post">${said}${fields}<label>Code
    <input name="promo_code"></label><p data-quote-problem></p><dl data-sums hidden>
    ${['subtotal', 'discount', 'fees', 'total'].map((n) => `<dt>${n}</dt><dd data-sum="${n}"></dd>`).join('')}
    </dl><button data-update>Update</button></form></main>
    <script type="application/json" id="fairqueue">${JSON.stringify(state)}</script>
    <script type="module" src="/shop.mjs"></script></body></html>`;
}

/** A page with a hall; `hall.changes` is the next answer to a question for changes. */
async function open_hall(t, hall = {}, options = {}, language = 'en') {
  const context = await person(t, await browser_for(), options);
  const page = await context.newPage();
  const plan = plan_of(hall);
  const count = seats_of(plan).length;
  const state = { changes: null, quotes: [], version: 7 };
  const json = (route, body) =>
    route.fulfill({ contentType: 'application/json', body: JSON.stringify(body) });
  await page.route('**/*', (route) => {
    const url = new URL(route.request().url());
    if (url.pathname === '/')
      return route.fulfill({
        contentType: 'text/html; charset=utf-8',
        body: page_text(language, hall),
      });
    if (url.pathname.endsWith('/seat-plan'))
      return hall.has_no_plan ? route.fulfill({ status: 404, body: '{}' }) : json(route, plan);
    if (url.pathname.endsWith('/seats'))
      return json(
        route,
        url.search
          ? { from: state.version, version: state.version, ...state.changes }
          : {
              version: 7,
              seats: count,
              states: Buffer.alloc(Math.ceil(count / 4)).toString('base64url'),
              plan_types: types_of(hall).map((_, i) => i),
              ticket_type_ids: types_of(hall),
              ...(hall.for_all && { accessible_for_all: true }),
              ...(hall.areas && { areas_free: hall.areas.map(({ places }) => places) }),
            },
      );
    if (url.pathname.endsWith('/quote')) {
      state.quotes.push(route.request().postDataJSON());
      if (state.refused)
        return route.fulfill({
          status: 409,
          contentType: 'application/problem+json',
          body: JSON.stringify({ code: state.refused }),
        });
      return json(route, {
        subtotal: 0,
        discount: 0,
        platform_fee: 0,
        processing_fee: 0,
        total: 0,
        currency: 'EUR',
      });
    }
    return route.fulfill({ path: path.join(bundle, url.pathname) });
  });
  await page.goto('http://shop.example/');
  if (!hall.has_no_plan) await page.locator('[data-seats]').waitFor();
  return { page, state };
}

const value_of = (page, type = 0) => page.locator(`input[name="s.${type_ids[type]}"]`).inputValue();
/**
 * Fingers on a line through the middle of the map, at first `from` pixels apart and then `to`. One finger
 * alone moves as the left one of two. Chromium makes an event of each finger's move.
 */
async function move_fingers(page, count, from, to) {
  const frame = page.locator('[data-frame]');
  await frame.scrollIntoViewIfNeeded();
  const box = await frame.boundingBox();
  const fingers = (distance) =>
    [-1, 1].slice(0, count).map((side, id) => ({
      x: box.x + (box.width + side * distance) / 2,
      y: box.y + box.height / 2,
      id,
    }));
  const session = await page.context().newCDPSession(page);
  const send = (type, touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
  await send('touchStart', fingers(from));
  for (const part of [0.25, 0.5, 0.75, 1]) await send('touchMove', fingers(from + (to - from) * part));
  await send('touchEnd', []);
  await session.detach();
}

const focused = (page) => page.evaluate(() => document.activeElement.getAttribute('aria-label'));

test('a map and its changes are read as the server writes them', () => {
  assert.deepEqual(read_runs('5-7,9'), [5, 6, 7, 9]);
  const seats = seats_of(plan_of({ rows: 1, count: 5 }));
  assert.deepEqual([seats[1].name, seats[1].plan_type], ['S0-A-2', 0]);
  const known = new SeatStates(seats);
  // As tests/net/wire/seat_map_text_test.cpp: the second is held, the fourth blocked, three have moved.
  known.take({
    version: 10,
    seats: 5,
    states: 'hAA',
    types: { 1: '0,2-3' },
    plan_types: [0, 1],
    ticket_type_ids: type_ids,
  });
  assert.deepEqual(
    [[...known.states], [...known.types]],
    [
      [0, 1, 0, 2, 0],
      [1, 0, 1, 1, 0],
    ],
  );
  assert.ok(!known.fits({ from: 11, version: 12 }) && !known.fits({ version: 12, reload: true }));
  assert.deepEqual(
    known.take({ from: 8, version: 12, free: '1-2', sold: '0', types: { 1: '0' } }),
    [1, 2, 0],
  );
  assert.deepEqual(
    [[...known.states], [...known.types]],
    [
      [2, 0, 0, 2, 0],
      [1, 0, 0, 1, 0],
    ],
  );
  assert.deepEqual(known.take({ from: 8, version: 11, sold: '4' }), [], 'an earlier answer changes nothing');
});

test('who opens a map asks again while the server has too much to do', async (t) => {
  t.mock.method(Math, 'random', () => 0); // the shortest pauses
  const answers = [503, 200, 429, 200];
  const asked = [];
  const answer = () => ({ plan_types: [], ticket_type_ids: [], version: 7, seats: 0, states: '' });
  const fetch = async (url) => {
    asked.push(url.slice(url.lastIndexOf('/')));
    const status = answers.shift();
    const body = asked.at(-1) === '/seat-plan' ? plan_of({ sections: 0 }) : answer();
    return new Response(JSON.stringify(body), { status });
  };
  const map = new SeatMap({ server: 'http://shop.example', event, fetch });
  t.after(() => map.close());
  await map.open();
  assert.deepEqual(asked, ['/seat-plan', '/seat-plan', '/seats', '/seats']);
  const never = new SeatMap({ server: '', event, fetch: async () => new Response('{}', { status: 404 }) });
  await assert.rejects(never.open(), { status: 404 });
});

test('seats are chosen by pointer and keys and the form has their names', async (t) => {
  const { page, state } = await open_hall(t);
  await page.getByRole('checkbox', { name: 'Block 1, row A, seat 2,' }).click();
  assert.equal(await value_of(page), 'S0-A-2');
  assert.equal(await focused(page), 'Block 1, row A, seat 2, Stalls, 10.00 EUR, chosen');
  for (const key of ['ArrowDown', 'ArrowRight', 'Enter', 'End', ' ', 'Home', 'ArrowUp'])
    await page.keyboard.press(key);
  assert.equal(await value_of(page), 'S0-A-2 S0-B-3 S0-B-6');
  assert.match(await focused(page), /row A, seat 1,/);
  assert.match(await page.locator('[data-chosen]').textContent(), /Chosen: Block 1, row A, seat 2; /);
  await eventually('a quote', () => state.quotes.at(-1)?.items[1]?.seats?.length === 3);
  assert.equal(state.quotes.at(-1).items[0].ticket_type_id, type_ids[1]); // the other type's best seat
  await page.getByRole('checkbox', { name: 'Block 1, row C, seat 1,' }).click({ force: true });
  assert.match(await page.locator('[data-said]').textContent(), /for wheelchair users/);
  await page.locator('[data-accessible]').check();
  await page.getByRole('checkbox', { name: 'Block 1, row C, seat 1,' }).click();
  assert.match(await value_of(page), /S0-C-1/);
  await page.getByRole('checkbox', { name: 'Block 1, row C, seat 3,' }).click({ force: true });
  assert.match(await page.locator('[data-said]').textContent(), /more than one order may have/);
  await check_page(page, 'seats-map');
});

test('a seat that another visitor takes is taken out of the choice', async (t) => {
  const { page, state } = await open_hall(t);
  await page.getByRole('checkbox', { name: 'Block 1, row A, seat 2,' }).click();
  state.changes = { version: 9, held: '1', sold: '3' };
  await page.getByRole('checkbox', { name: /row A, seat 2,.*held by somebody/ }).waitFor();
  assert.equal(await value_of(page), '');
  assert.match(
    await page.locator('[data-said]').textContent(),
    /Somebody else has it now: Block 1, row A, seat 2/,
  );
  assert.equal(
    await page.getByRole('checkbox', { name: /row A, seat 4,/ }).getAttribute('aria-disabled'),
    'true',
  );
});

test('a chosen seat that the organizer moves goes to the field of its new type, or out of the choice', async (t) => {
  const { page, state } = await open_hall(t);
  await page.getByRole('checkbox', { name: 'Block 1, row A, seat 2,' }).click();
  assert.equal(await value_of(page), 'S0-A-2');
  state.changes = { version: 9, free: '1', types: { 1: '1' } };
  await page.getByRole('checkbox', { name: /row A, seat 2, Balcony, 20.00 EUR, chosen/ }).waitFor();
  assert.deepEqual([await value_of(page), await value_of(page, 1)], ['', 'S0-A-2']);
  const other = await open_hall(t, { off_sale: [1] });
  await other.page.getByRole('checkbox', { name: 'Block 1, row A, seat 2,' }).click();
  other.state.changes = { version: 9, free: '1', types: { 1: '1' } };
  await other.page.getByRole('checkbox', { name: /row A, seat 2, Balcony.*not on sale/ }).waitFor();
  assert.deepEqual([await value_of(other.page), await value_of(other.page, 1)], ['', '']);
  assert.match(await other.page.locator('[data-said]').textContent(), /Block 1, row A, seat 2/);
});

test('wheelchair places are free for all while the rule says so', async (t) => {
  const { page, state } = await open_hall(t, { for_all: true });
  const place = page.getByRole('checkbox', { name: 'Block 1, row C, seat 1,' });
  await place.click();
  assert.equal(await value_of(page), 'S0-C-1');
  state.changes = { version: 9 };
  await page.getByRole('checkbox', { name: /row C, seat 1,.*for wheelchair users/ }).waitFor();
  assert.equal(await value_of(page), '', 'kept again');
  state.changes = { version: 10, accessible_for_all: true };
  await page.getByRole('checkbox', { name: /row C, seat 1,.*free/ }).waitFor();
});

test('each ticket type of the plan has its own look, also beyond the colours', async (t) => {
  const { page } = await open_hall(t, { more_types: 6 });
  const drawn = await page.evaluate(() =>
    [...document.querySelectorAll('pattern')].map((p) => p.innerHTML.replace(/\s+/g, ' ')),
  );
  assert.equal(drawn.length, 8);
  assert.equal(new Set(drawn).size, 8);
  assert.equal(await page.locator('[data-legend] li').count(), 8 + 3);
});

test('places of a standing area are chosen by pointer, keys and list and follow what is free', async (t) => {
  const floor = {
    area: 'F',
    name: 'Floor',
    ticket_type: 'Balcony',
    places: 500,
    x: 100,
    y: 700,
    width: 400,
    height: 200,
  };
  const { page, state } = await open_hall(t, { areas: [floor] });
  const number = () => page.locator(`select[name="t.${type_ids[1]}"]`).inputValue();
  const area = page.getByRole('spinbutton', { name: 'Floor, free: 500, 20.00 EUR' });
  assert.equal(await area.getAttribute('aria-valuenow'), '1');
  await page.locator('[data-step="1"]').click();
  assert.equal(await number(), '2');
  assert.match(await page.locator('[data-chosen]').textContent(), /Floor × 2/);
  await page.locator('[data-step="-1"]').click();
  await page.locator('[data-step="-1"]').click();
  assert.equal(await number(), '0');
  for (const key of ['ArrowUp', 'Enter', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
  assert.equal(await number(), '3');
  assert.match(await page.locator('[data-said]').textContent(), /more than one order may have/);
  await check_page(page, 'seats-standing');
  await page.locator(`select[name="t.${type_ids[1]}"]`).selectOption('2');
  assert.equal(await area.getAttribute('aria-valuenow'), '2', 'the form leads');
  state.changes = { version: 9, areas_free: [1] };
  await page.getByRole('spinbutton', { name: 'Floor, free: 1,' }).waitFor();
  assert.equal(await number(), '1', 'no more than are free');
  await page.getByRole('button', { name: 'List' }).click();
  const listed = page.getByRole('combobox', { name: 'Floor, free: 1, 20.00 EUR' });
  assert.equal(await listed.inputValue(), '1');
  await listed.selectOption('0');
  assert.equal(await number(), '0');
  await check_page(page, 'seats-standing-list');
});

test('a hall of standing places alone has a map', async (t) => {
  const pit = { area: 'P', ticket_type: 'Stalls', places: 9, x: 0, y: 0, width: 900, height: 900 };
  const { page } = await open_hall(t, { sections: 0, areas: [pit] });
  await page.getByRole('spinbutton', { name: 'P, free: 9, 10.00 EUR' }).focus();
  await page.keyboard.press('End');
  assert.equal(await page.locator(`select[name="t.${type_ids[0]}"]`).inputValue(), '3');
});

test('two fingers zoom the map between its limits and not the page', async (t) => {
  const phone = { viewport: { width: 375, height: 700 }, hasTouch: true };
  const { page } = await open_hall(t, {}, phone);
  const look = () =>
    page.locator('[data-frame]').evaluate((frame) => {
      const drawing = frame.firstElementChild;
      const width = Number(drawing.getAttribute('width'));
      const middle = (frame.scrollLeft + frame.clientWidth / 2) / width;
      return { width, units: drawing.viewBox.baseVal.width, seen: frame.clientWidth, middle };
    });
  const is_wide = (wanted) =>
    eventually(`a map of ${wanted} pixels`, async () => Math.abs((await look()).width - wanted) <= 2);
  const { width, units, seen } = await look();
  await move_fingers(page, 2, 80, 160);
  await is_wide(2 * width);
  assert.ok(Math.abs((await look()).middle - 0.5) < 0.02, 'the middle stays');
  await move_fingers(page, 2, 160, 80);
  await is_wide(width);
  await move_fingers(page, 2, 20, 300);
  await is_wide(6 * units); // zoom_max
  await move_fingers(page, 1, 100, 40);
  assert.ok(Math.abs((await look()).width - 6 * units) <= 2, 'one finger does not zoom');
  for (let times = 0; times < 2; ++times) await move_fingers(page, 2, 300, 20);
  await is_wide(seen / 2);
  assert.equal(await page.evaluate(() => visualViewport.scale), 1);
  assert.equal(await value_of(page), '', 'a pinch chooses no seat');
});

test('wheelchair places that several ticket types could have are refused in words', async (t) => {
  const { page, state } = await open_hall(t, { has_no_plan: true });
  state.refused = 'seat_accessible_unclear';
  await page.locator('[data-accessible]').check();
  await page.getByText('We cannot tell which of these tickets is for the wheelchair place.').waitFor();
});

test('without its map the page names no seats that nobody can see', async (t) => {
  const { page, state } = await open_hall(t, { has_no_plan: true, names: 'S0-A-2' });
  await page.locator('[data-accessible]').check();
  await eventually('a quote of best seats', () => state.quotes.at(-1)?.accessible === 1);
  assert.deepEqual([await value_of(page), await value_of(page, 1)], ['', '']);
  assert.ok(state.quotes.at(-1).items.every(({ seats, quantity }) => !seats && quantity === 1));
});

test('a large hall begins with its sections and the list has the same seats', async (t) => {
  const { page } = await open_hall(
    t,
    { sections: 40, rows: 25, count: 50 },
    { viewport: { width: 375, height: 700 } },
  );
  assert.equal(await page.locator('[data-frame] [data-seat]').count(), 0);
  await check_page(page, 'seats-sections');
  const { width: section_width } = await page.locator('[data-frame] [data-section="2"]').boundingBox();
  assert.ok(section_width > 200, 'sections fill the frame');
  await page.locator('[data-frame] [data-section="2"]').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('[data-frame] [data-seat]').count(), 1_250, 'only the section is drawn');
  const width = () => page.locator('[data-frame] svg').getAttribute('width').then(Number);
  const before = await width();
  await page.getByRole('button', { name: 'Larger' }).click();
  assert.ok((await width()) > before);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await value_of(page), 'S2-A-1');
  await page.keyboard.press('Escape');
  assert.equal(await focused(page), 'Block 3, free: 1248');
  await page.getByRole('button', { name: 'List' }).click();
  await page.locator('details[data-section="2"] summary').click();
  assert.ok(await page.getByLabel('Block 3, row A, seat 1, Stalls, 10.00 EUR, chosen').isChecked());
  await page.getByLabel('Block 3, row A, seat 2, Stalls, 10.00 EUR, free').check();
  assert.equal(await value_of(page), 'S2-A-1 S2-A-2');
  for (const n of [3, 4]) await page.getByLabel(`Block 3, row A, seat ${n}, Stalls, 10.00 EUR, free`).check();
  const fifth = page.getByLabel('Block 3, row A, seat 5, Stalls, 10.00 EUR, free');
  await fifth.click();
  assert.match(await page.locator('[data-said]').textContent(), /more than one order may have/);
  assert.ok(!(await fifth.isChecked()), 'only chosen seats are ticked');
  assert.ok(await fits(page), 'the page is not wider than the screen');
});

test('every language has the map and Arabic runs from right to left', async (t) => {
  for (const language of languages) {
    const { page } = await open_hall(t, {}, { viewport: { width: 375, height: 700 } }, language);
    await page.locator('[data-frame] [data-seat="1"]').click();
    assert.equal(await value_of(page), 'S0-A-2');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.evaluate(() => document.activeElement.dataset.seat), '2', 'as in the hall');
    assert.doesNotMatch(await page.locator('[data-seats]').textContent(), /\{\w+\}/);
    if (language !== 'ar') continue;
    await page.locator('[data-view="list"]').click();
    await page.locator('details[data-section="0"] summary').click();
    await check_page(page, 'seats-list-ar');
  }
});
