// SPDX-License-Identifier: Apache-2.0
// Build step: `node bundle.mjs <folder>` bundles the scripts and the style of the pages into <folder>, each
// as one small file without imports.
import esbuild from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { read_texts } from './texts.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder || folder.startsWith('-')) {
  console.error('usage: node bundle.mjs <folder>');
  process.exit(2);
}

/** The texts of <fair-queue>, out of all texts. */
const widget_keys =
  /^(place_label|ahead|next|paused|join|leave|your_turn|queue_full|widget_failed|lobby_(people|draw|number|closed|beacon)|wait_(label|unknown|short|(range_|up_to_)?(minutes|hours)))$/;

const widget_texts = {
  name: 'widget-texts',
  setup(build) {
    build.onResolve({ filter: /^widget-texts$/ }, () => ({ path: 'widget-texts', namespace: 'texts' }));
    build.onLoad({ filter: /.*/, namespace: 'texts' }, () => {
      const all = read_texts();
      const keys = Object.keys(all.en).filter((key) => widget_keys.test(key));
      // Short: each key once, and a language as one string. Forms that are like "other" are left out, because
      // counted() takes that one instead; "zero" too, because the element counts nothing that is zero.
      const forms = ['other', 'one', 'two', 'few', 'many'];
      const short = (text) =>
        forms.map((form, i) => (i > 0 && text[form] === text.other ? '' : (text[form] ?? ''))).join('|');
      const row = (texts) => keys.map((key) => short(texts[key]).replace(/\|+$/, '')).join('~');
      const rows = Object.entries(all).map(([language, texts]) => [language, row(texts)]);
      const contents = `const keys = '${keys.join('~')}'.split('~');
        const forms = '${forms.join('~')}'.split('~');
        const named = (names, list) => Object.fromEntries(list.map((text, i) => [names[i], text]));
        const rows = ${JSON.stringify(Object.fromEntries(rows))};
        for (const language in rows)
          rows[language] = named(
            keys,
            rows[language].split('~').map((text) => named(forms, text.split('|'))),
          );
        export default rows;`;
      return { contents, loader: 'js' };
    });
  },
};

const license = '/* FairQueue, Apache-2.0 */';
const license_of = (name) =>
  ['LICENSE', 'LICENSE.txt']
    .map((file) => path.join(here, 'node_modules', name, file))
    .filter((file) => fs.existsSync(file))
    .map((file) => fs.readFileSync(file, 'utf8'))[0];
/** Licences of the libraries bundled into a script. */
const license_with = (...packages) =>
  [license, ...packages.map((name) => `/* ${name}: ${license_of(name).trim()} */`)].join('\n');
const common = {
  bundle: true,
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  target: ['es2022', 'chrome100', 'firefox100', 'safari15.4'],
  plugins: [widget_texts],
  jsx: 'automatic',
  jsxImportSource: 'preact',
};

fs.mkdirSync(folder, { recursive: true });
const script = (from, to, banner = license, more = {}) =>
  esbuild.build({
    ...common,
    ...more,
    entryPoints: [path.join(here, from)],
    outfile: path.join(folder, to),
    format: 'esm',
    banner: { js: banner },
  });
const style = (from, to) =>
  esbuild.build({ ...common, entryPoints: [path.join(here, from)], outfile: path.join(folder, to) });
await Promise.all([
  script('sdk/fairqueue.mjs', 'fairqueue.mjs'),
  script('sdk/widget.mjs', 'fair-queue-element.mjs'),
  script('pages/wait.mjs', 'wait.mjs'),
  script('pages/shop.mjs', 'shop.mjs'),
  script(
    'pages/tickets.mjs',
    'tickets.mjs',
    `${license}\n/* qrcode-generator 2.0.4 by Kazuhiko Arase, MIT */`,
  ),
  script('pages/worker.mjs', 'worker.js'),
  script('pages/tickets_worker.mjs', 'tickets-worker.js'),
  script('pages/fairness.mjs', 'fairness.mjs', license_with('@noble/curves', '@noble/hashes', 'uplot')),
  script('pages/scan.mjs', 'scan.mjs'),
  script('pages/scan_worker.mjs', 'scan-worker.js'),
  script('pages/challenge.mjs', 'challenge.mjs', license_with('altcha'), { loader: { '.css': 'text' } }),
  script('node_modules/altcha/dist_external/worker.js', 'challenge-worker.js', license_with('altcha')),
  script('pages/qr_decoder.mjs', 'qr-decoder.mjs', `${license}\n/* jsQR 1.4.0 by Cosmo Wolfe, Apache-2.0 */`),
  script(
    'console/main.jsx',
    'console.mjs',
    license_with('preact', 'uplot', '@noble/curves', '@noble/hashes'),
  ),
  style('pages/pages.css', 'pages.css'),
  style('pages/plain.css', 'plain.css'),
  style('console/console.css', 'console.css'),
]);
