// SPDX-License-Identifier: Apache-2.0
// Runs measures (measures.mjs) and prints a table; scripts/bench builds the programs and calls it. The rounds
// of all sides alternate, and every second turn goes backwards, so that a slower minute hits all of them.
// Usage: node bench/run.mjs [--rounds N] [--to FILE] NAME=COMMIT:BUILD_FOLDER... [MEASURE...]
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { measures } from './measures.mjs';
import { bench, median, ratio_to } from './parts.mjs';

function options_of(words) {
  const options = { rounds: 7, builds: [], wanted: [] };
  for (let i = 0; i < words.length; ++i) {
    const build = /^([^=]+)=([^:]+):(.+)$/.exec(words[i]);
    if (words[i] === '--rounds') options.rounds = Number(words[++i]);
    else if (words[i] === '--to') options.file = words[++i];
    else if (build) options.builds.push({ name: build[1], commit: build[2], folder: path.resolve(build[3]) });
    else options.wanted.push(words[i]);
  }
  const unknown = options.wanted.filter((name) => !measures[name]);
  if (unknown.length > 0 || options.builds.length === 0 || !(options.rounds > 0)) {
    console.error(`scripts/bench: the measures are ${Object.keys(measures).join(', ')}`);
    process.exit(2);
  }
  options.is_whole = options.wanted.length === 0;
  if (options.is_whole) options.wanted = Object.keys(measures);
  return options;
}

const machine = () => ({
  cpu: os.cpus()[0].model,
  cores: os.cpus().length,
  memory_gib: Math.round(os.totalmem() / 2 ** 30),
  kernel: os.release(),
  compiler: execFileSync('c++', ['-dumpfullversion']).toString().trim(),
});

/** {side: [figures of each round]} */
async function rounds_of(sides, rounds) {
  const seen = Object.fromEntries(sides.map((side) => [side.name, []]));
  for (let round = 0; round < rounds; ++round)
    for (const side of round % 2 ? [...sides].reverse() : sides) seen[side.name].push(await side.round());
  return seen;
}

const medians_of = (rounds) =>
  Object.fromEntries(Object.keys(rounds[0]).map((key) => [key, median(rounds.map((r) => r[key]))]));

const shown = (value) => (value >= 1000 ? Math.round(value).toLocaleString('en') : value.toFixed(2));

function print(name, { sides }) {
  console.log(`\n${name}: ${measures[name].about}`);
  const [first, ...others] = Object.entries(sides);
  for (const [side, rounds] of [first, ...others]) {
    const figures = Object.entries(medians_of(rounds)).map(([key, value]) => `${key} ${shown(value)}`);
    const ratios = Object.keys(rounds[0]).map(
      (key) => `${ratio_to(first[1], rounds, key).toFixed(3)} x its ${key}`,
    );
    const of = side === first[0] ? '' : `  ${first[0]} has ${ratios.join(', ')}`;
    console.log(`  ${side.padEnd(12)} ${figures.join('  ')}${of}`);
  }
}

const { rounds, file, builds, wanted, is_whole } = options_of(process.argv.slice(2));
const commits = builds.map((build) => ({ name: build.name, commit: build.commit }));
const result = { date: new Date().toISOString(), builds: commits, machine: machine(), rounds, measures: {} };
for (const name of wanted)
  await bench(async (end_with) => {
    const sides = await measures[name].sides(builds, end_with);
    result.measures[name] = { about: measures[name].about, sides: await rounds_of(sides, rounds) };
    print(name, result.measures[name]);
  });
if (file && is_whole) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
}
