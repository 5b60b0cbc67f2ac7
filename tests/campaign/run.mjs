// SPDX-License-Identifier: Apache-2.0
// The campaign: every fault of rows.mjs, as often as it says. Each finished run is a line of the state file,
// so an interrupted campaign goes on where it stopped, and repeats the runs that failed.
//
//   node tests/campaign/run.mjs [OPTION...]
//     --state FILE     default build/campaign.jsonl
//     --again          begins anew: the former state becomes FILE.old
//     --rows F01,F07   only these rows
//     --times N        each row only N times at most
//     --parallel N     tests at once, default 3; some run alone in any case
//     --until TIME     begins no run after this time of day, such as 08:20
//     --table          only prints the table
import { spawn, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rows } from './rows.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const { values: options } = parseArgs({
  options: {
    state: { type: 'string', default: path.join(root, 'build/campaign.jsonl') },
    again: { type: 'boolean' },
    rows: { type: 'string', default: rows.map((row) => row.id).join() },
    times: { type: 'string', default: 'Infinity' },
    parallel: { type: 'string', default: '3' },
    until: { type: 'string', default: '' },
    table: { type: 'boolean' },
  },
});
const logs = path.join(path.dirname(options.state), 'campaign-logs');
const commit = execFileSync('git', ['-C', root, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

// -- state ----------------------------------------------------------------------------------------------

const read_state = () =>
  fs.existsSync(options.state)
    ? fs
        .readFileSync(options.state, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];

const key_of = ({ row, run }) => `${row} ${run}`;
/** The last result of each run, by key. */
const last_results = () => new Map(read_state().map((result) => [key_of(result), result]));

/** Every run of the campaign: the first of each row, then the second of each row and so on. */
function all_runs() {
  const wanted = rows.filter((row) => options.rows.split(',').includes(row.id));
  const most = (row) => Math.min(Number(options.times), Math.max(row.times, row.tests.length));
  const runs = wanted.flatMap((row) =>
    Array.from({ length: most(row) }, (_, i) => ({
      row: row.id,
      run: i + 1,
      seed: 1000 * (rows.indexOf(row) + 1) + i + 1,
      test: row.tests[i % row.tests.length],
    })),
  );
  return runs.sort((a, b) => a.run - b.run); // stable
}

// -- one run --------------------------------------------------------------------------------------------

const name_of = ({ file, program, name }) => `${file ?? program}: ${name || 'every test'}`;

function command_of({ file, program, name, hosts }) {
  if (program)
    return [
      path.join(root, `build/release/tests/${program}/test_${program}`),
      '-s',
      name,
      '--max-runtime=1200',
    ];
  const pattern = name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const node = [process.execPath, '--test', '--test-reporter=tap', `--test-name-pattern=${pattern || '.'}`];
  return [
    ...(hosts ? ['unshare', '--net', '--mount', '--'] : []),
    ...node,
    path.join(root, `tests/blackbox/${file}.test.mjs`),
  ];
}

/** The text's number behind `what`; undefined if there is none. */
const number_after = (what, text) => {
  const found = [...text.matchAll(new RegExp(`${what}(\\d+)`, 'g'))].map(([, number]) => Number(number));
  return found.length > 0 ? Math.max(...found) : undefined;
};

/** The first error of a failed run. */
function reason_in(out) {
  const [, short, long] = /^ *error: (?:['"](.*)['"]|\|-\n *(.*))$/m.exec(out) ?? [];
  return (short ?? long ?? out.trim().split('\n').at(-1)).slice(0, 200);
}

function execute({ row, run, seed, test }) {
  const [file, ...args] = command_of(test);
  const env = {
    ...process.env,
    FAIRQUEUE_TEST_SEED: String(seed),
    FQ_STORE_SEED: String(seed), // of tests/store/sqlite/sqlite_power_random_test.cpp
    FQ_STORE_RUNS: '12',
    FAIRQUEUE_LONG: test.long ? '1' : '',
  };
  const begun = Date.now();
  return new Promise((resolve) => {
    // A group of its own, so that an interrupt ends the run by `stop` and not as a failed test.
    const child = spawn(file, args, { env, cwd: logs, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    children.add(child);
    let out = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        out += text;
      });
    child.on('close', (code) => {
      children.delete(child);
      const ran = number_after(test.program ? 'checks:\\s+' : '(?:^|\\n)# pass ', out) ?? 0;
      if (ran === 0) out += '\nNo test of that name has passed.\n';
      const passed = code === 0 && ran > 0;
      fs.writeFileSync(path.join(logs, `${row}-${run}.${passed ? 'log' : 'failed'}`), out);
      resolve({
        row,
        run,
        test: name_of(test),
        seed,
        seconds: Math.round((Date.now() - begun) / 1000),
        outage_ms: number_after('outage_ms=', out),
        passed,
        why: passed ? undefined : reason_in(out),
        commit,
        at: new Date().toISOString(),
      });
    });
  });
}

// -- all runs -------------------------------------------------------------------------------------------

const children = new Set();
let is_over = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    is_over = true; // what is under way has no line, and runs again the next time
    for (const child of children) process.kill(-child.pid, 'SIGTERM');
    process.exit(130);
  });

function is_late() {
  if (!options.until) return false;
  const [hours, minutes] = options.until.split(':').map(Number);
  return Date.now() >= new Date().setHours(hours, minutes, 0, 0);
}

/** A note on standard error, and the result as a line of the state file. */
function keep(result) {
  if (is_over) return;
  fs.appendFileSync(options.state, `${JSON.stringify(result)}\n`);
  const outage = result.outage_ms === undefined ? '' : `, outage ${result.outage_ms} ms`;
  console.error(
    `${result.passed ? 'passed' : 'FAILED'} ${result.row}-${result.run} ${result.test} (seed ${result.seed}, ${result.seconds} s${outage})`,
  );
}

async function run_all() {
  if (options.again && fs.existsSync(options.state)) fs.renameSync(options.state, `${options.state}.old`);
  fs.mkdirSync(logs, { recursive: true });
  const done = last_results();
  const left = all_runs().filter((run) => !done.get(key_of(run))?.passed);
  console.error(`${left.length} runs are left`);
  const work = async (queue) => {
    for (let next = queue.shift(); next && !is_late(); next = queue.shift()) keep(await execute(next));
  };
  const shared = left.filter(({ test }) => !test.alone);
  await Promise.all(Array.from({ length: Number(options.parallel) }, () => work(shared)));
  await work(left.filter(({ test }) => test.alone));
}

// -- the table ------------------------------------------------------------------------------------------

function table() {
  const everything = read_state();
  const last = [...last_results().values()];
  const lines = rows.map(({ id, fault, times, tests }) => {
    const results = last.filter(({ row }) => row === id);
    const failed = results.filter(({ passed }) => !passed);
    const outages = results.map(({ outage_ms }) => outage_ms).filter((ms) => ms !== undefined);
    const worst = outages.length > 0 ? `${(Math.max(...outages) / 1000).toFixed(1)} s` : '–';
    const runs = `${results.length} of ${Math.max(times, tests.length)}`;
    return `| ${id} | ${fault} | ${runs} | ${worst} | ${failed.length} |`;
  });
  const bad = last.filter(({ passed }) => !passed);
  const mended = everything.filter(
    (result) => !result.passed && last.find((other) => key_of(other) === key_of(result))?.passed,
  );
  const listed = (title, results) =>
    results.length === 0
      ? []
      : [
          '',
          title,
          '',
          ...results.map(
            (r) => `- ${r.row}-${r.run}, ${r.test.split(':')[0]}, seed ${r.seed}, at ${r.commit}: ${r.why}`,
          ),
        ];
  const hours = everything.reduce((sum, { seconds }) => sum + seconds, 0) / 3600;
  return [
    '| row | fault | runs | worst outage | failed |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    '',
    `${everything.length} runs in ${hours.toFixed(1)} hours of tests, at commit ${[...new Set(everything.map((r) => r.commit))].join(', ')}.`,
    ...listed('Failed:', bad),
    ...listed('Failed, and passed when repeated:', mended),
  ].join('\n');
}

if (!options.table) await run_all();
console.log(table());
process.exitCode = [...last_results().values()].every(({ passed }) => passed) ? 0 : 1;
