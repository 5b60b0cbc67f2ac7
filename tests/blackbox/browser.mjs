// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium for black-box tests: pages without errors, accessibility by axe-core, screenshots in the
// build folder.
import { after } from 'node:test';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { assert, patience, root, temporary_folder } from './lib.mjs';

const sandboxed = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']; // tests run as root in containers, where Chromium's sandbox fails
const executable = process.env.FAIRQUEUE_CHROMIUM ?? '/usr/bin/chromium';
const axe_source = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shots = process.env.FAIRQUEUE_SCREENSHOTS ?? path.join(root, 'build/screenshots');

let launched;
/** One browser for all tests of a file: each person has a profile of their own (`person`). */
export function browser_for() {
  assert.ok(fs.existsSync(executable), `no ${executable}; run scripts/setup`);
  launched ??= chromium.launch({ executablePath: executable, args: sandboxed });
  return launched;
}
after(async () => (await launched)?.close());

/** A separate browser profile. Errors of scripts and violations of the policy fail the test at its end. */
export async function person(t, browser, options = {}) {
  const context = await browser.newContext({
    locale: 'en-GB',
    viewport: { width: 1100, height: 800 },
    ...options,
  });
  context.setDefaultTimeout(10_000 * patience);
  const complaints = [];
  context.on('page', (page) => {
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && /Content.Security.Policy|Refused to/i.test(message.text()))
        complaints.push(message.text());
    });
  });
  t.after(async () => {
    await context.close().catch(() => {});
    assert.deepEqual(complaints, [], 'pages complained');
  });
  return context;
}

/**
 * A browser with one persistent profile; it ends with the test. `settings`: of the profile. `args`: more
 * switches.
 */
export async function persistent_browser(t, { settings = {}, args = [] } = {}) {
  const folder = temporary_folder();
  fs.mkdirSync(path.join(folder, 'Default'));
  fs.writeFileSync(path.join(folder, 'Default/Preferences'), JSON.stringify(settings));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: executable,
    args: [...sandboxed, ...args],
    locale: 'en-GB',
  });
  context.setDefaultTimeout(10_000 * patience);
  t.after(() => context.close());
  return context;
}

/**
 * A profile with scripts off in the settings, so that <noscript> applies. Playwright's own switch ignores it.
 */
export const person_without_script = (t) =>
  persistent_browser(t, { settings: { profile: { default_content_setting_values: { javascript: 2 } } } });

/** Saves a screenshot for people. */
export async function shoot(page, name) {
  fs.mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
}

/** Asserts no serious or critical finding of axe-core; saves a screenshot. */
export async function check_page(page, name) {
  await shoot(page, name);
  // Playwright's evaluation ignores the page's policy.
  await page.evaluate(axe_source);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ['violations'] }),
  );
  const bad = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical');
  assert.deepEqual(
    bad.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`),
    [],
    `axe-core on ${name}`,
  );
}

/** Whether content is cut off or needs horizontal scrolling. */
export const fits = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

/**
 * Texts and controls covered by other elements, as far as they are on the screen. A point of each must belong
 * to it or its content.
 */
export const covered = (page) =>
  page.evaluate(() => {
    const bad = [];
    for (const element of document.querySelectorAll(
      'h1, h2, p, li, button, a, input:not([type=hidden]), select, summary, label, dt, dd',
    )) {
      if (element.closest('.quiet, .skip, [hidden], details:not([open]) > :not(summary)')) continue;
      const box = element.getClientRects()[0];
      if (!box || box.width === 0) continue;
      const [x, y] = [box.left + Math.min(box.width / 2, 8), box.top + box.height / 2];
      if (y < 0 || y >= innerHeight || x < 0 || x >= innerWidth) continue;
      const seen = document.elementFromPoint(x, y);
      if (seen && !element.contains(seen) && !seen.contains(element))
        bad.push(`${element.outerHTML.slice(0, 120)} under ${seen.outerHTML.slice(0, 80)}`);
    }
    return bad;
  });
