// SPDX-License-Identifier: Apache-2.0
// The public logs of simulated sales, read by web/verify: it accuses none of these servers, and finds changed
// records. Usage: node logs.test.mjs TEST_SIM [SEEDS]
import test from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bundles } from '../../web/verify/merkle.mjs';
import { parse_checkpoint } from '../../web/verify/note.mjs';
import { parse_bundle, parse_record } from '../../web/verify/records.mjs';
import { verify } from '../../web/verify/verify.mjs';
import { Log } from '../fair/log_maker.mjs';

const [program, seeds = '200'] = process.argv.slice(2);
const cli = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../web/verify/cli.mjs');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sim-logs-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));
const made = spawnSync(program, ['--logs', folder, '--seeds', seeds], { encoding: 'utf8' });

const reader = (seed) => (name) => fs.promises.readFile(path.join(folder, seed, name));
const now = () => 4e12; // the time of simulated sales is ahead of ours
const check = (read) => verify(read, { now });
const failed = ({ findings }) => findings.filter((f) => f.result === 'failed').map((f) => f.check);
const text = (outcome) => JSON.stringify(outcome.findings, null, 1);

/** The records of a log, as bytes. */
async function records_of(seed) {
  const read = reader(seed);
  const { size } = parse_checkpoint(String(await read('checkpoint')));
  const all = [];
  for (const bundle of bundles(size)) all.push(...parse_bundle(await read(bundle.path)));
  return all.map((bytes) => Buffer.from(bytes));
}

/** A log of these records under a key of ours. */
async function log_of(seed, records) {
  const { origin } = parse_checkpoint(String(await reader(seed)('checkpoint')));
  const leaf = (record) => createHash('sha256').update(Buffer.of(0)).update(record).digest();
  return Object.assign(new Log({ origin }), { records, leaves: records.map(leaf) });
}

const place_of = (records, kind, suits = () => true) =>
  records.findIndex((bytes, i) => {
    const record = parse_record(bytes);
    return record.kind === kind && suits(record, i);
  });
/** The records with others in place of that at `at`; nothing if there is none. */
const put = (records, at, ...others) =>
  at < 0 ? undefined : [...records.slice(0, at), ...others, ...records.slice(at + 1)];
function flip(records, at, byte) {
  if (at < 0) return undefined;
  const record = Buffer.from(records[at]);
  record[byte] ^= 1;
  return put(records, at, record);
}
const head = 17; // kind, sequence, time
/** The check that finds a change; changed records, or nothing if the log has not what is changed. */
const changes = {
  'a join is dropped': [
    'numbers',
    (records) => {
      const last = records.findLastIndex((bytes) => parse_record(bytes).kind === 'joined');
      return put(
        records,
        place_of(records, 'joined', (_, i) => i < last),
      );
    },
  ],
  'the closing has another root': [
    'entrants',
    (records) => flip(records, place_of(records, 'closed'), head + 8),
  ],
  'the draw has another seed': ['seed', (records) => flip(records, place_of(records, 'drawn'), head)],
  'those admitted at once are in another order': [
    /^(admissions|units)$/,
    (records) => {
      const at = place_of(records, 'admitted', ({ numbers }) => numbers.length > 1);
      if (at < 0) return undefined;
      const { numbers } = parse_record(records[at]);
      const list = records[at].subarray(records[at].length - 8 * numbers.length);
      const turned = numbers.map((_, i) => list.subarray(8 * i, 8 * i + 8)).reverse();
      return put(records, at, Buffer.concat([records[at].subarray(0, -list.length), ...turned]));
    },
  ],
  'somebody is admitted twice': [
    'admissions',
    (records) => {
      const at = place_of(records, 'admitted', ({ numbers }) => numbers.length > 0);
      return put(records, at, records[at], records[at]);
    },
  ],
};
const logs_max = 40; ///< of each change

test('the checker accuses no simulated server', async () => {
  assert.equal(made.status, 0, `${made.stdout}${made.stderr}${made.error ?? ''}`);
  const seen = { drawn: 0, parties: 0, admissions: 0, interventions: 0 };
  for (const seed of fs.readdirSync(folder)) {
    const outcome = await check(reader(seed));
    assert.deepEqual(failed(outcome), [], `seed ${seed}: ${text(outcome)}`);
    const { drawn_record, parties, admissions, interventions } = outcome.replay;
    seen.drawn += drawn_record ? 1 : 0;
    seen.parties += parties.size;
    seen.admissions += admissions;
    seen.interventions += interventions.length;
  }
  for (const [what, count] of Object.entries(seen)) assert.ok(count > 0, `no ${what}`);
});

test('the command line reads the folder of such a log', () => {
  const [seed] = fs.readdirSync(folder);
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, '--from', path.join(folder, seed)], {
    encoding: 'utf8',
  });
  assert.ok(status === 0 || status === 3, stdout + stderr); // 3: dated after our clock, for example
});

for (const [name, [caught, change]] of Object.entries(changes))
  test(`${name}: the checker finds it`, async () => {
    let count = 0;
    for (const seed of fs.readdirSync(folder)) {
      const records = change(await records_of(seed));
      if (!records) continue;
      const outcome = await check((await log_of(seed, records)).reader());
      const is_caught = (found) => (typeof caught === 'string' ? found === caught : caught.test(found));
      assert.ok(failed(outcome).some(is_caught), `seed ${seed}: ${text(outcome)}`);
      if (++count === logs_max) break;
    }
    assert.ok(count > 0, 'no log has what is changed');
  });
