// SPDX-License-Identifier: Apache-2.0
// Debian's Chromium as a person's browser for black-box tests: pages that must not complain, accessibility by axe-core, screenshots that are
// kept in the build folder.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { assert, patience, root, temporary_folder } from './lib.mjs';

const sandboxed = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']; // tests run as root in containers, where Chromium's own cannot
const executable = process.env.FAIRQUEUE_CHROMIUM ?? '/usr/bin/chromium';
const axe_source = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shots = process.env.FAIRQUEUE_SCREENSHOTS ?? path.join(root, 'build/screenshots');

/** A browser that ends with the test. */
export async function browser_for(t) {
  assert.ok(fs.existsSync(executable), `no ${executable}; run scripts/setup`);
  const browser = await chromium.launch({ executablePath: executable, args: sandboxed });
  t.after(() => browser.close());
  return browser;
}

/** A person's own browser profile. What its pages complain about (scripts' errors, refusals by the policy) fails the test at its end. */
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

/** A browser whose only profile is the person's own; it ends with the test. `settings`: of the profile. `args`: further switches. */
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

/** A person who has switched script off in the settings: then what is in <noscript> counts, which playwright's own switch leaves out. */
export const person_without_script = (t) =>
  persistent_browser(t, { settings: { profile: { default_content_setting_values: { javascript: 2 } } } });

/** Nothing serious or critical (axe-core), and a picture of the page. */
export async function check_page(page, name) {
  fs.mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
  // Playwright's own evaluation does not go through the page's policy.
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

/** Whether anything is cut off or must be scrolled to the side. */
export const fits = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

/** Texts and controls that something else lies upon, as far as they are on the screen: a point of each must be its own, or of what is in it. */
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
