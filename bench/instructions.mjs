// SPDX-License-Identifier: Apache-2.0
// Counts the server's instructions a request, outside the kernel, by callgrind of Debian's package valgrind.
// Two runs of joins differ by less than 0.1 %, so it shows savings that the noise of timed runs hides. It
// shows neither the kernel nor waits nor cache misses. SHA-256 counts too much: valgrind's CPU has no
// instruction for it.
// Usage: node bench/instructions.mjs joins|checkouts NAME=BUILD_FOLDER [NAME=BUILD_FOLDER]
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { run, sleep, temporary_folder } from '../tests/blackbox/lib.mjs';
import { checkout_request, load } from './measures.mjs';
import { crowd } from './parts.mjs';
import { server_of } from './sides.mjs';

const fans = 20_000;
const seconds_of_checkouts = 10;
const functions_shown = 40;

const join = (side, count) =>
  run(
    load,
    ['--url', side.url, '--data-dir', side.data_dir, '--fans', String(count), '--join-only', '--quiet'],
    {
      timeout_ms: 600_000,
    },
  ).then(({ code, err }) => {
    if (code !== 0) throw new Error(`fairqueue-load ended with ${code}: ${err}`);
  });

/** Each prepares the server, and returns what is counted: work that returns the number of its requests. */
const counted = {
  async joins(side) {
    await join(side, 2_000); // memory has been taken, statements are prepared
    return () => join(side, fans).then(() => fans);
  },
  async checkouts(side) {
    const { url, ...request } = await checkout_request(side);
    return () => crowd(url, { seconds: seconds_of_checkouts, ...request }).then((seen) => seen.requests);
  },
};

const library_of = (line) => /\[([^\]]*)\]$/.exec(line)?.[1].split('/').pop() ?? '';
const short = (name) =>
  name
    .replaceAll('std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >', 'string')
    .replaceAll('std::basic_string_view<char, std::char_traits<char> >', 'string_view');

/** Instructions a request by "library function". */
function costs_in(file, requests) {
  const text = execFileSync('callgrind_annotate', ['--threshold=99.9', '--auto=no', file], {
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();
  const costs = new Map();
  for (const line of text.split('\n')) {
    const [, count, where] = /^\s*([\d,]+) \([ \d.]+%\)\s+[^:]*:(.*)$/.exec(line) ?? [];
    if (!where) continue;
    const name = `${library_of(where)} ${short(where.replace(/ \[[^\]]*\]$/, ''))}`;
    costs.set(name, (costs.get(name) ?? 0) + Number(count.replaceAll(',', '')) / requests);
  }
  return costs;
}

async function costs_of(build, what) {
  const file = path.join(temporary_folder(), 'callgrind.out');
  const tool = ['valgrind', '--tool=callgrind', '--instr-atstart=no', `--callgrind-out-file=${file}`];
  const side = await server_of(build, { before: tool });
  const control = (...words) =>
    execFileSync('callgrind_control', [...words, String(side.server.pid)], { stdio: 'ignore' });
  try {
    const work = await counted[what](side);
    control('-i', 'on');
    const requests = await work();
    await sleep(3_000); // what the requests left to do
    control('-i', 'off');
    control('-d');
    await sleep(1_000);
    return costs_in(`${file}.1`, requests);
  } finally {
    await side.server.kill();
  }
}

const sum = (costs) => [...costs.values()].reduce((all, n) => all + n, 0);
const of_library = (costs) => {
  const all = new Map();
  for (const [name, n] of costs) {
    const library = name.split(' ')[0];
    all.set(library, (all.get(library) ?? 0) + n);
  }
  return all;
};
const row = (numbers, name) =>
  console.log(`${numbers.map((n) => n.toFixed(0).padStart(9)).join('')}  ${name.slice(0, 150)}`);

/** The largest; of two builds, those that differ most. */
function print(maps, shown) {
  const names = [...new Set(maps.flatMap((costs) => [...costs.keys()]))];
  const numbers = (name) => maps.map((costs) => costs.get(name) ?? 0);
  const weight = (name) => Math.abs(numbers(name).reduce((before, after) => after - before));
  names.sort((a, b) => weight(b) - weight(a));
  for (const name of names.slice(0, shown)) row(numbers(name), name);
}

const [what, ...words] = process.argv.slice(2);
const builds = words.map((word) => /^([^=]+)=(.+)$/.exec(word)).map((m) => m && { name: m[1], folder: m[2] });
if (!counted[what] || builds.length === 0 || builds.length > 2 || builds.includes(null)) {
  console.error('usage: node bench/instructions.mjs joins|checkouts NAME=BUILD_FOLDER [NAME=BUILD_FOLDER]');
  process.exit(2);
}
const all = [];
for (const build of builds) all.push(await costs_of({ ...build, folder: path.resolve(build.folder) }, what));
console.log(`${builds.map(({ name }) => name.padStart(9)).join('')}  instructions of ${what}, a request`);
row(all.map(sum), 'all');
console.log();
print(all.map(of_library), 12);
console.log();
print(all, functions_shown);
