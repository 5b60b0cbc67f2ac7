// SPDX-License-Identifier: Apache-2.0
// One browser behind ten thousand simulated waiters, each with a WebSocket. Within two seconds of an
// admission the page shows the state of the API, for small admissions (half a percent of the line) and large
// ones, down to "your turn".
import test from 'node:test';
import { spawn } from 'node:child_process';
import { browser_for, person } from './browser.mjs';
import {
  assert,
  clean_environment,
  eventually,
  fairqueue_load,
  patience,
  server_for,
  sleep,
} from './lib.mjs';

const crowd = 10_000;
const tick_ms = 3_000;
const within_ms = 2_000;
const small = { batch: 50, ticks: 8 };
const large_batch = 700;
const look_every_ms = 100;

const places_left = (value) => (value === 'ADMITTED' ? 0 : value);

/** Joins and waits without buying. Ends with the test. */
async function crowd_for(t, server, event) {
  const args = {
    'url': server.url,
    event,
    'data-dir': server.data_dir,
    'fans': crowd,
    'websocket': 100,
    'no-show': 100,
    'abandon': 0,
    'decline': 0,
    'timeout': 600,
    'seed': 7,
  };
  const child = spawn(
    fairqueue_load,
    [...Object.entries(args).flatMap(([name, value]) => [`--${name}`, String(value)]), '--quiet'],
    {
      env: clean_environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const seen = { text: '', child };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (seen.text += text));
  seen.ended = new Promise((done) => child.on('close', done));
  t.after(async () => {
    child.kill('SIGKILL');
    await seen.ended;
  });
  return seen;
}

const sockets_of = async (server) =>
  Number(
    /^fairqueue_websockets (\d+)$/m.exec((await server.get('/metrics', { admin: true })).text)?.[1] ?? 0,
  );

/**
 * Records changes of a place in the API from now on: {value, at}; `at` is the last time with the previous
 * value.
 */
async function follow_api(server, fan, event, until) {
  const said = [];
  let asked_at = Date.now();
  for (;;) {
    const before = asked_at;
    asked_at = Date.now();
    const entry = await server.position(fan, event);
    const value = entry.status === 'WAITING' ? entry.position : entry.status;
    if (said.at(-1)?.value !== value) said.push({ value, at: said.length === 0 ? asked_at : before });
    if (await until(value, said)) return said;
    await sleep(look_every_ms);
  }
}

test(
  `the place on a page is right within ${within_ms / 1000} s of every tick, beside ${crowd} waiters`,
  { timeout: 230_000 * patience },
  async (t) => {
    const server = await server_for(t);
    const organizer = await server.organizer();
    const event = await server.event(organizer, {
      total: 3 * crowd,
      queue: { policy: 'operator', session_ttl_seconds: 1200, claim_window_seconds: 600 },
    });
    const others = await crowd_for(t, server, event.id);
    await eventually(
      `${crowd} waiters with a socket each`,
      async () => {
        assert.equal(others.child.exitCode, null, others.text);
        return (
          (await server.stats(organizer, event.id)).waiting === crowd && (await sockets_of(server)) >= crowd
        );
      },
      { timeout_ms: 60_000, every_ms: 500 },
    );
    const fan = await server.customer();
    const context = await person(t, await browser_for());
    await context.addCookies([{ name: 'fairqueue_customer', value: fan, url: server.url }]);
    await context.addInitScript(() => {
      if (!location.protocol.startsWith('http')) return; // about:blank, before the page
      const seen = JSON.parse(sessionStorage.getItem('seen') ?? '[]');
      const note = () => {
        const element = document.querySelector('[data-position]');
        const value = element
          ? Number(element.textContent.replaceAll(',', ''))
          : document.querySelector('.big')?.textContent;
        if (value === undefined || seen.at(-1)?.value === value) return;
        seen.push({ value, at: Date.now() });
        sessionStorage.setItem('seen', JSON.stringify(seen));
      };
      addEventListener('DOMContentLoaded', () => {
        note();
        new MutationObserver(note).observe(document.body, {
          subtree: true,
          childList: true,
          characterData: true,
        });
      });
    });
    const page = await context.newPage();
    await page.goto(`${server.url}/wait/${event.id}`);
    await page.getByRole('button', { name: 'Join the line' }).click();
    await page.getByText('Live').waitFor();
    const seen = () => page.evaluate(() => JSON.parse(sessionStorage.getItem('seen')));
    assert.equal((await seen()).at(-1).value, crowd + 1);

    const admit = async (batch_size) => {
      const body = { queue: { policy: 'batch', batch_size, admission_interval_ms: tick_ms } };
      const answer = await server.patch(`/events/${event.id}`, { token: organizer, body });
      assert.equal(answer.status, 200, answer.text);
    };
    await admit(small.batch);
    let is_large = false;
    const said = await follow_api(server, fan, event.id, async (value, so_far) => {
      if (!is_large && so_far.length > small.ticks) {
        is_large = true;
        await admit(large_batch);
      }
      return value === 'ADMITTED';
    });
    await page.getByText('It is your turn!').waitFor();

    const shown = (await seen()).map((s) => ({
      ...s,
      value: s.value === 'It is your turn!' ? 'ADMITTED' : s.value,
    }));
    /** The first in `list` that reached `value`: states that ended within two seconds need not be shown. */
    const reached = (list, value) => list.find((s) => places_left(s.value) <= places_left(value));
    const late = [];
    const delays = said.slice(1).map(({ value, at }) => {
      const delay = (reached(shown, value)?.at ?? Infinity) - at;
      if (delay > within_ms * patience) late.push(`${value}: ${delay} ms`);
      return delay;
    });
    const early = shown.filter(
      ({ value, at }) => (reached(said, value)?.at ?? Infinity) - at > 1000 * patience,
    );
    t.diagnostic(
      `${said.length - 1} ticks, from ${said[0].value} on; milliseconds until the page said so: ${delays.join(' ')}`,
    );
    assert.ok(said.length - 1 >= small.ticks + 10, `ticks: ${said.map((s) => s.value)}`);
    const steps = said.slice(1, small.ticks).map((s, i) => said[i].value - s.value);
    assert.ok(
      steps.every((step) => step === small.batch),
      `small ticks: ${steps}`,
    );
    assert.deepEqual(early, [], 'the page is not ahead of the API');
    assert.deepEqual(
      late,
      [],
      `the API said: ${said.map((s) => s.value)}; the page: ${shown.map((s) => s.value)}`,
    );
    for (let i = 1; i < shown.length; ++i)
      assert.ok(
        places_left(shown[i].value) < places_left(shown[i - 1].value),
        `I8: ${shown.map((s) => s.value)}`,
      );
  },
);
