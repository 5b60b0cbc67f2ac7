// SPDX-License-Identifier: Apache-2.0
// The checker of public logs: honest logs pass, each cheating server is caught, and it agrees with the
// server's code over tests/vectors/fairness.json.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import http from 'node:http';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createHash, createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { bls12_381 } from '../../web/node_modules/@noble/curves/esm/bls12-381.js';
import { from_hex, to_hex } from '../../web/verify/bytes.mjs';
import { chain_hash, due_at, is_round, quicknet, round_message } from '../../web/verify/draw.mjs';
import { bundles, is_included, leaf_hash, Tail, Tree } from '../../web/verify/merkle.mjs';
import { parse_checkpoint, parse_key, parse_receipt, signed_at } from '../../web/verify/note.mjs';
import { hmac_sha256, sha256 } from '../../web/verify/sha256.mjs';
import { checks, Findings, results } from '../../web/verify/findings.mjs';
import { actions, parse_bundle, parse_record } from '../../web/verify/records.mjs';
import { http_reader } from '../../web/verify/http.mjs';
import { verify } from '../../web/verify/verify.mjs';
import { cheats, honest } from './cheats.mjs';
import { begins_at, event, Log, opens_at, Signer } from './log_maker.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const cli = path.join(here, '../../web/verify/cli.mjs');
const vectors = JSON.parse(fs.readFileSync(path.join(here, '../vectors/fairness.json'), 'utf8'));
const people = [1, 2, 3, 4, 5, 6, 7, 8];

/** A lobby of eight, drawn. */
function lobby(options, joins = (log) => people.forEach((n) => log.join(n))) {
  const log = new Log(options).begin().lobby(options);
  joins(log);
  return log;
}
const drawn = (options) => lobby(options).close().draw();

const check = (log, options) => verify(log.reader(), options);
const failed = ({ findings }) => findings.filter((f) => f.result === 'failed').map((f) => f.check);
const not_passed = ({ findings }) =>
  findings
    .filter((f) => f.result !== 'passed')
    .map((f) => `${f.result} ${f.check}`)
    .sort();
async function caught_by(log, options, ...checks) {
  const outcome = await check(log, options);
  assert.equal(outcome.result, 'failed');
  assert.deepEqual(failed(outcome).sort(), checks.sort(), JSON.stringify(outcome.findings, null, 1));
}
const sentence = (outcome, name) => outcome.findings.find((f) => f.check === name).text;

// -- the same as the server's code

test('hashes are those of Node for messages and keys of every length', () => {
  for (let size = 0; size < 200; ++size) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 7 + size) & 255);
    assert.equal(to_hex(sha256(bytes)), createHash('sha256').update(bytes).digest('hex'));
    const mac = hmac_sha256(bytes);
    assert.equal(to_hex(mac(bytes)), createHmac('sha256', bytes).update(bytes).digest('hex'));
    assert.equal(
      to_hex(mac(new Uint8Array(8))),
      createHmac('sha256', bytes).update(Buffer.alloc(8)).digest('hex'),
    );
  }
  const large = new Uint8Array(300_000).fill(5);
  assert.equal(to_hex(sha256(large, large)), createHash('sha256').update(large).update(large).digest('hex'));
});

test('records, keys, checkpoints and receipts of the vectors are read', () => {
  const records = vectors.records.map((hex) => parse_record(from_hex(hex)));
  assert.equal(new Set(records.map((r) => r.kind)).size, 12);
  const key = parse_key(vectors.log_key);
  const checkpoint = parse_checkpoint(vectors.checkpoint);
  assert.equal(signed_at(checkpoint, key), 0);
  assert.equal(signed_at(checkpoint, parse_key(vectors.witness_key)), 1692806900);
  const receipt = parse_receipt(vectors.receipt);
  assert.equal(to_hex(sha256(receipt.nonce, receipt.entry)), vectors.commitment);
  const { index, record, proof } = receipt;
  assert.ok(is_included(leaf_hash(record), index, checkpoint.size, checkpoint.root, proof));
  assert.deepEqual(
    [...bundles(checkpoint.size)].map((b) => b.path),
    vectors.paths.filter((p) => p.startsWith('tile/entries/')),
  );
});

test('inclusion proofs of the vectors hold, and no other place for them', () => {
  for (const { size, index, root, inclusion } of vectors.proofs) {
    const leaf = leaf_hash(from_hex(vectors.records[index]));
    const proof = inclusion.map(from_hex);
    assert.ok(is_included(leaf, index, size, from_hex(root), proof));
    assert.ok(!is_included(leaf, index + 1, size, from_hex(root), proof));
  }
});

/** The log of the vectors, as the server would serve it. */
function sample_reader() {
  const files = new Map([
    ['key', Buffer.from(vectors.log_key)],
    ['checkpoint', Buffer.from(vectors.checkpoint)],
  ]);
  const records = vectors.records.map((hex) => Buffer.from(hex, 'hex'));
  for (const { path: name } of bundles(records.length)) {
    const some = records.splice(0, 256);
    const prefixed = some.flatMap((r) => [Buffer.from([r.length >> 8, r.length & 255]), r]);
    files.set(name, Buffer.concat(prefixed));
  }
  return async (name) =>
    files.get(name) ?? Promise.reject(Object.assign(new Error(name), { code: 'ENOENT' }));
}

test("the server's sample log passes with drand's real round, and its order is the same", async () => {
  const witnesses = [vectors.witness_key];
  const outcome = await verify(sample_reader(), { receipts: [vectors.receipt], witnesses });
  assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
  const ranked = [...outcome.replay.entrants].sort((a, b) => a.rank - b.rank);
  assert.deepEqual(
    ranked.map((e) => e.number),
    vectors.order,
  );
  assert.match(sentence(outcome, 'receipt'), /Number 7 joined .* Its rank is 11/);
  assert.match(sentence(outcome, 'closing'), /1 of the witnesses saw/);
});

// -- honest logs

test('an honest log passes', async () => {
  const log = drawn();
  log
    .join(9)
    .admit(log.order.slice(0, 3))
    .admit([...log.order.slice(3), 9]);
  const outcome = await check(log, { receipts: [log.receipt(4), log.receipt(9)] });
  assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
  assert.match(sentence(outcome, 'receipt'), /Number 4 joined .* It was admitted at/);
});

test('a log without a lobby passes: the number is the order', async () => {
  const log = new Log().begin();
  for (const n of people) log.join(n);
  const outcome = await check(log.leave(2).admit([1, 3]));
  assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
  // A server may show an old state of its log: the reader sees how old.
  assert.match(sentence(outcome, 'records'), /in order, the newest of 2025-06-15 15:06:51 UTC\.$/);
});

test('classes, groups, parties and hands that are in the log pass', async () => {
  const log = lobby({}, (l) => {
    people.forEach((n) => l.join(n, { party: n <= 3 ? 1 : 0, opens: n === 8 ? 4 : 0 }));
    l.hand('priority', 5).change(5, 0);
  });
  log.close().draw();
  assert.equal(log.order[0], 5);
  log.admit([8], { units: 0, hidden: [[2, 1]] }); // the only one who may buy what is left
  log.admit(
    log.order.filter((n) => n !== 8),
    { units: 7 },
  );
  log.hand('revoke', 5).end_session(5, 2);
  const outcome = await check(log);
  assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
});

// -- cheating servers

test('overtaking is caught by "admissions"', async () => {
  const log = drawn();
  const [first, second, third] = log.order;
  await caught_by(log.admit([first, third, second]), {}, 'admissions');
});

test('a dropped entry is caught by "numbers", and with its receipt by "receipt" and "consistency"', async () => {
  const honest = drawn();
  const without = lobby({}, (l) => people.filter((n) => n !== 4).forEach((n) => l.join(n)));
  await caught_by(without.close().draw(), {}, 'numbers');
  const renumbered = lobby({}, (l) => people.slice(0, 7).forEach((n) => l.join(n)));
  renumbered.close().draw();
  assert.equal((await check(renumbered)).result, 'passed'); // only who holds the receipt can know
  await caught_by(renumbered, { receipts: [honest.receipt(8)] }, 'receipt', 'consistency');
});

test('an entry left out of the draw is caught by "entrants"', async () => {
  const log = lobby();
  log.entries.delete(4);
  const outcome = await check(log.close().draw());
  assert.ok(failed(outcome).includes('entrants'));
});

test('an entry added after the closing is caught by "entrants"', async () => {
  const friend = new Log().join(9).entries.get(9);
  const late = lobby().close([friend]);
  late.join(9);
  const outcome = await check(late.draw());
  assert.ok(failed(outcome).includes('entrants'));
});

test('a draw that is repeated is caught by "draw", one with another seed by "seed"', async () => {
  await caught_by(drawn().draw(), {}, 'draw');
  await caught_by(
    lobby()
      .close()
      .draw({ seed: Buffer.alloc(32, 10) }),
    {},
    'seed',
  );
});

test('a log drawn anew until a friend wins is caught by "consistency" and its entrants\' receipts', async () => {
  const shown = lobby(); // receipts are given out in the lobby, before the draw
  const redrawn = drawn({ draw_seed: Buffer.alloc(32, 11) });
  await caught_by(redrawn, { receipts: [shown.receipt(8)] }, 'consistency');
});

test('a rewritten log is caught by "consistency" with a checkpoint of before', async () => {
  const before = drawn().checkpoint();
  const rewritten = lobby({}, (l) => [2, 1].forEach((n, i) => l.join(i + 1, { opens: n })));
  people.slice(2).forEach((n) => rewritten.join(n));
  await caught_by(rewritten.close().draw().join(9), { checkpoints: [before] }, 'consistency');
  const shorter = new Log().begin().join(1);
  await caught_by(shorter, { checkpoints: [before] }, 'consistency');
});

test('who may buy what changes by a hand that says how many, in its batch and nothing else', async () => {
  const line = () => people.reduce((log, n) => log.join(n), new Log().begin());
  const shown = line()
    .open([7, 8], 4)
    .admit([7], { units: 0, hidden: [[2, 1]] });
  const outcome = await check(shown);
  assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
  assert.match(sentence(outcome, 'hands'), /^1 interventions/);
  await caught_by(line().open([7, 8], 4, 1), {}, 'hands');
  await caught_by(line().open([7], 4, 2).change(8, 1), {}, 'hands'); // in a later batch
  const promoted = line().at_once((l) => l.hand('access', 0, 1).change(8, 0));
  await caught_by(promoted, {}, 'hands');
});

test('a hidden intervention is caught by "hands"', async () => {
  const priority = lobby({}, (l) => people.forEach((n) => l.join(n)));
  await caught_by(priority.change(5, 0).close().draw(), {}, 'hands');
  const silent = lobby();
  await caught_by(silent.change(5, 0, 0).close().draw(), {}, 'hands');
  const revoked = drawn();
  const first = revoked.order[0];
  await caught_by(revoked.admit([first]).end_session(first, 2), {}, 'hands');
  await caught_by(drawn().leave(3, 3), {}, 'hands');
  const paused = drawn().hand('pause');
  await caught_by(paused.admit(paused.order.slice(0, 1)), {}, 'hands');
  const operated = new Log().begin('policy=operator\n').join(1).join(2).hand('advance', 0, 1);
  await caught_by(operated.admit([1, 2]), {}, 'hands');
});

test('who was called is admitted in the same decision; what is left of a call lapses', async () => {
  const operated = () => {
    const log = new Log().begin('policy=operator\n').join(1).join(2).join(3);
    return log.at_once((l) => l.hand('advance', 0, 100).admit([1, 2, 3]));
  };
  assert.equal((await check(operated())).result, 'passed');
  const silent = operated().join(4).admit([4]);
  await caught_by(silent, {}, 'hands');
  assert.match(
    sentence(await check(silent), 'hands'),
    /Record \d+ admits 1 more than an operator had called/,
  );
  const later = new Log().begin('policy=operator\n').join(1).hand('advance', 0, 1).admit([1]);
  await caught_by(later, {}, 'hands');
  const hoarded = new Log().begin('policy=operator\n').join(1).join(2);
  hoarded.at_once((l) => l.hand('advance', 0, 100).admit([1]));
  --hoarded.sequence; // as if it were still the decision of the call
  await caught_by(hoarded.admit([2]), {}, 'hands');
});

test('with the policy of the waiting list nobody has to be called', async () => {
  const line = () => new Log().begin('policy=operator\n').join(1);
  const listed = line().hand('waiting_list', 0, 0, 'no unit is left to sell or held', 'policy=waiting_list');
  assert.equal((await check(listed.admit([1]))).result, 'passed');
  await caught_by(line().admit([1]), {}, 'hands');
});

test('an admission after the end is caught by "admissions"; a cancellation revokes sessions and removes nobody', async () => {
  const over = (action) => new Log().begin().join(1).join(2).admit([1]).hand(action);
  for (const action of ['end', 'cancel']) {
    await caught_by(over(action).admit([2]), {}, 'admissions');
    assert.equal((await check(over(action).leave(2, 2))).result, 'passed');
    await caught_by(over(action).leave(2, 3), {}, 'hands');
  }
  assert.equal((await check(over('cancel').end_session(1, 2))).result, 'passed');
  await caught_by(over('end').end_session(1, 2), {}, 'hands');
});

test('a log dated after its witness is caught by "records", and is unproven against the own clock', async () => {
  const dated = (ahead) => {
    const log = new Log();
    log.seconds = (Date.now() - begins_at) / 1000 + ahead;
    return log.begin();
  };
  assert.equal((await check(dated(20))).result, 'passed'); // clocks differ
  assert.equal((await check(dated(90))).result, 'unproven'); // the own clock may be slow
  const log = drawn(); // its last record is of second 62
  const witnesses = [log.witness.text];
  const at = (second) => verify(log.reader({ cosigned_at: begins_at / 1000 + second }), { witnesses });
  assert.equal((await at(1)).result, 'failed');
  assert.match(
    sentence(await at(1), 'records'),
    /but afterwards the witness witness\.example said 2025-06-15 15:06:41/,
  );
  assert.equal((await at(2)).result, 'passed');
});

test('two logs for two people are caught by "consistency" when they compare, and by "witnesses"', async () => {
  const cosigned_at = begins_at / 1000 + 100;
  const mine = drawn();
  const yours = drawn({ draw_seed: Buffer.alloc(32, 12) });
  await caught_by(mine, { receipts: [mine.receipt(1), yours.receipt(2)] }, 'consistency');
  // A witness has signed one of them, and refuses another of the same size.
  const witnesses = [mine.witness.text];
  assert.equal((await verify(mine.reader({ cosigned_at }), { witnesses })).result, 'passed');
  await caught_by(yours, { witnesses }, 'witnesses');
});

test('a witness that only the server names and that has not signed makes the log not proven', async () => {
  const log = drawn();
  const witnesses = [log.witness.text, new Signer('other.example', 4, 9).text];
  const by_page = (reader, quorum) => verify(reader, { witnesses, witnesses_of_server: true, quorum });
  const outcome = await by_page(log.reader(), 1);
  assert.equal(outcome.result, 'unproven');
  assert.match(sentence(outcome, 'witnesses'), /Only 0 of the 1 .* may be away: .* not proven/);
  const cosigned = log.reader({ cosigned_at: begins_at / 1000 + 100 });
  assert.equal((await by_page(cosigned, 1)).result, 'passed');
  assert.equal((await by_page(cosigned, 2)).result, 'unproven');
  await caught_by(log, { witnesses, quorum: 1 }, 'witnesses'); // the user relies on it
});

/** A log of eight, and what two witnesses signed of it while it grew: the first records of each. */
function grown(mine, theirs, options) {
  const other = new Signer('other.example', 4, 9);
  const log = drawn(options);
  const cosign = (signer, { size, at }) => log.checkpoint({ size }) + signer.cosign(log.body(size), at);
  const cosigned = [cosign(log.witness, mine), cosign(other, theirs)];
  return { log, cosigned, witnesses: [log.witness.text, other.text] };
}
const last_second = begins_at / 1000 + 61; // of drawn()

test('a busy log passes with what its witnesses signed a moment ago, each of another size', async () => {
  const { log, cosigned, witnesses } = grown(
    { size: 6, at: last_second - 9 },
    { size: 4, at: last_second - 59 },
  );
  const now = () => last_second * 1000;
  const read = log.reader({ cosigned });
  const outcome = await verify(read, { witnesses, now });
  assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
  const size = log.records.length;
  const said = new RegExp(`^2 of the witnesses saw .* The first 4 of ${size} records are cosigned so far`);
  assert.match(sentence(outcome, 'witnesses'), said);
  assert.match(sentence(outcome, 'consistency'), /All 3 checkpoints seen/);
  const one = await verify(read, { witnesses, quorum: 1, now });
  assert.match(sentence(one, 'witnesses'), new RegExp(`The first 6 of ${size} records`));
  const server = await verify(log.reader({ cosigned: cosigned.slice(0, 1) }), { witnesses, now });
  assert.deepEqual(failed(server), ['witnesses']); // the other has not signed
  const complete = log.reader({ cosigned, cosigned_at: last_second });
  const whole = await verify(complete, { witnesses, quorum: 1, now });
  assert.doesNotMatch(sentence(whole, 'witnesses'), /The first/);
  assert.equal((await verify(read, { witnesses })).result, 'unproven'); // a copy shows no time
});

test('a cosignature from before a minute ago does not cover a log that has grown since', async () => {
  const { log, cosigned, witnesses } = grown(
    { size: 6, at: last_second - 9 },
    { size: 4, at: last_second - 61 },
  );
  const now = () => last_second * 1000;
  const read = log.reader({ cosigned });
  assert.deepEqual(failed(await verify(read, { witnesses, now })), ['witnesses']);
  const at = (seconds) => ({ witnesses, quorum: 1, now: () => (last_second + seconds) * 1000 });
  assert.equal((await verify(read, at(51))).result, 'passed');
  assert.deepEqual(failed(await verify(read, at(52))), ['witnesses']);
  let reads = 0; // a moment later the newest checkpoint is signed, too
  const later = log.reader({ cosigned, cosigned_at: last_second + 52 });
  const slow = (name) => (name === 'checkpoint' && reads++ > 0 ? later(name) : read(name));
  assert.equal((await verify(slow, { ...at(52), patience: 2 })).result, 'passed');
  assert.equal(reads, 2);
});

test('a wrong clock, fast or slow, leaves "witnesses" unproven: it accuses no honest server and passes no old cosignature', async () => {
  const cosigned_at = (ago) => {
    const at = { size: 6, at: last_second - ago };
    return grown(at, at);
  };
  const outcome_of = ({ log, cosigned, witnesses }, { mine, server = 0 }) => {
    const read = log.reader({ cosigned });
    read.date = (last_second + server) * 1000;
    return verify(read, { witnesses, now: () => (last_second + mine) * 1000 });
  };
  const busy = cosigned_at(9);
  assert.equal((await outcome_of(busy, { mine: 3 })).result, 'passed');
  const fast = await outcome_of(busy, { mine: 600 });
  assert.deepEqual(not_passed(fast), ['skipped beacon', 'unproven witnesses']);
  assert.match(
    sentence(fast, 'witnesses'),
    /By the clock of this machine it is .* 15:17:41 UTC, by that of the server .* 15:07:41 UTC\. One of them is wrong\. If yours is right, 0 of the 2 .* if the server's is right, 2\.$/,
  );
  const slow = await outcome_of(busy, { mine: -600 });
  assert.deepEqual(not_passed(slow), ['skipped beacon', 'unproven records', 'unproven witnesses']);
  assert.match(sentence(slow, 'witnesses'), /a witness signed at .* One of the two clocks is wrong/);
  const old = cosigned_at(61);
  assert.deepEqual(failed(await outcome_of(old, { mine: 3 })), ['witnesses']);
  assert.deepEqual(not_passed(await outcome_of(old, { mine: -55 })), [
    'skipped beacon',
    'unproven witnesses',
  ]);
  // A server that lies about its time gains no more than that.
  const lies = await outcome_of(old, { mine: 3, server: -30 });
  assert.deepEqual(not_passed(lies), ['skipped beacon', 'unproven witnesses']);
});

test('the clock is read when the checkpoint is there: a server that waits makes no cosignature newer', async () => {
  const at = { size: 6, at: last_second - 59 };
  const { log, cosigned, witnesses } = grown(at, at);
  const read = log.reader({ cosigned });
  let seconds = 0;
  const late = (name) => ((seconds += name === 'checkpoint' ? 30 : 0), read(name));
  const now = () => (last_second + seconds) * 1000;
  assert.deepEqual(failed(await verify(late, { witnesses, now })), ['witnesses']);
});

test('a cosigned checkpoint of another log is caught by "consistency", one of another key by "signature"', async () => {
  const fresh = { size: 6, at: last_second };
  const now = () => last_second * 1000;
  const { log, cosigned, witnesses } = grown(fresh, fresh);
  const yours = lobby({}, (l) => people.forEach((n) => l.join(n, { opens: 1 })));
  const read = yours.close().draw().reader({ cosigned });
  assert.deepEqual(failed(await verify(read, { witnesses, now })), ['consistency']);
  const forged = grown(fresh, fresh, { seed: 3 });
  const foreign = log.reader({ cosigned: forged.cosigned });
  assert.deepEqual(failed(await verify(foreign, { witnesses, now })), ['signature']);
  const newer = log.reader({ cosigned: [drawn().join(9).checkpoint({ cosigned_at: last_second })] });
  assert.deepEqual(failed(await verify(newer, { witnesses, quorum: 1, now })), ['witnesses']); // a cache is behind
  const garbage = log.reader({ cosigned: ['no note'] }); // as from a mirror that answers to every path
  assert.deepEqual(failed(await verify(garbage, { witnesses, now })), ['witnesses']);
});

test('a foreign signature is caught by "signature"', async () => {
  const log = drawn();
  await caught_by(log, { log_key: drawn({ seed: 3 }).signer.text }, 'signature');
  const files = log.reader();
  const forged = async (name) => (name === 'key' ? Buffer.from(drawn({ seed: 3 }).signer.text) : files(name));
  assert.deepEqual(failed(await verify(forged)), ['signature']);
});

test('an admission without a free unit is caught by "units"', async () => {
  const log = drawn();
  await caught_by(log.admit(log.order.slice(0, 3), { units: 2 }), {}, 'units');
});

test('a party that is torn apart is caught by "parties"', async () => {
  const log = lobby({}, (l) => [1, 2, 3].forEach((n) => l.join(n, { party: 1 })));
  await caught_by(log.close().draw().admit([1, 2]), {}, 'parties');
  const large = lobby({ party_max: 2 }, (l) => [1, 2, 3].forEach((n) => l.join(n, { party: 1 })));
  await caught_by(large.close().draw(), {}, 'parties');
});

test('an admission or a closing before its time is caught', async () => {
  await caught_by(lobby().admit([1]), {}, 'admissions');
  await caught_by(lobby().close([], 20).draw(), {}, 'entrants');
});

test('a log of nonsense fails and does not end the checker', async () => {
  const log = drawn();
  log.add('admitted', Buffer.alloc(3));
  log.add('joined', Buffer.alloc(57, 255));
  log.leave(99);
  log.admit([77]);
  const outcome = await check(log);
  assert.deepEqual(failed(outcome).sort(), ['admissions', 'records']);
  const strange = lobby({ beacon: 1, source: Buffer.from('no chain') }).close();
  assert.ok(failed(await check(strange.draw({ beacon: 1 }))).includes('records'));
});

// -- what the checker itself must not overlook

test('a check that does not apply hides nothing that it has found', async () => {
  const twice = new Log().begin().lobby({ draws: 0 }).lobby({ draws: 0 }).join(1);
  await caught_by(twice, {}, 'draw');
  const late = new Log().begin().join(1).lobby();
  assert.ok(failed(await check(late)).includes('draw'));
  const findings = new Findings();
  findings.unproven('beacon', 'first');
  findings.skip('beacon', 'second');
  assert.deepEqual(findings.list(), [{ check: 'beacon', result: 'unproven', text: 'first' }]);
});

test('the log of another event is caught by "event"', async () => {
  await caught_by(drawn(), { event: '00000000-0000-0000-0000-000000000001' }, 'event');
  const disguised = drawn({ origin: 'tickets.example/events/00000000-0000-0000-0000-000000000001/log' });
  await caught_by(disguised, {}, 'event');
  assert.equal((await check(drawn(), { event })).result, 'passed');
});

test('every check has a sentence for the page in every language', () => {
  for (const language of ['en', 'fr', 'es', 'hr', 'ar']) {
    const file = path.join(here, `../../web/texts/${language}.json`);
    const texts = JSON.parse(fs.readFileSync(file, 'utf8'));
    for (const check of checks) {
      assert.ok(texts[`fair_check_${check}`], `${language}: ${check}`);
      const worst = check === 'witnesses' ? 'unproven' : 'failed'; // on the page
      assert.ok(check === 'closing' || texts[`fair_${worst}_${check}`], `${language}: ${check}`); // it never fails
    }
    const of_lost = ['event', 'consistency', 'receipt'];
    for (const check of of_lost) assert.ok(texts[`fair_unproven_${check}`], `${language}: ${check}`);
    assert.ok(texts.fair_compare_beacon, language);
    for (const action of actions.filter(Boolean)) assert.ok(texts[`fair_hand_${action}`], action);
    for (const result of results) assert.ok(texts[`fair_is_${result}`], result);
  }
});

test('all leave when the event is over, by a hand or by its published end, and not before', async () => {
  const passes = async (log, reason = /left the line at .*: the event was over\./) => {
    const outcome = await check(log, { receipts: [log.early] });
    assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
    assert.match(sentence(outcome, 'receipt'), reason);
  };
  const line = (settings = '') => {
    const log = new Log().begin(`policy=capacity\n${settings}`).join(1).join(2);
    return Object.assign(log, { early: log.receipt(1) });
  };
  const ends_at = (second) => `sale_end=${begins_at + second * 1000}\n`;
  for (const action of ['end', 'cancel']) await passes(line().hand(action).leave(1, 2).leave(2, 2));
  await passes(line(ends_at(4)).leave(1, 2).leave(2, 2));
  await passes(line(ends_at(90)).hand('settings', 0, 0, 'shorter', ends_at(4).trim()).leave(1, 2));
  await passes(line().leave(1), /: its holder left\./);
  await passes(line().hand('block', 1).leave(1, 3), /: an operator removed it\./);
  await caught_by(line().leave(1, 2), {}, 'hands');
  await caught_by(line('sale_end=\n').leave(1, 2), {}, 'hands');
  await caught_by(line(ends_at(5)).leave(1, 2), {}, 'hands');
  await caught_by(line(ends_at(4)).leave(1, 2).admit([2]), {}, 'admissions');
  const late = new Log().begin('policy=capacity\njoined_before=1').join(1).leave(1, 2);
  assert.ok(not_passed(await check(late)).includes('unproven hands'));
});

test('a promised draw or beacon that the log has not, or has otherwise, is found', async () => {
  const plain = () => new Log().begin().join(1).join(2);
  const at_opening = { draw: 'at_opening' };
  assert.equal((await check(plain(), { promised: { draw: 'none' } })).result, 'passed');
  assert.equal((await check(drawn(), { promised: { ...at_opening, beacon: 'none' } })).result, 'passed');
  const early = await check(new Log().begin(), { promised: at_opening });
  assert.match(sentence(early, 'draw'), /not open yet/);
  assert.equal(early.result, 'passed');
  await caught_by(plain(), { promised: at_opening }, 'draw');
  await caught_by(new Log().begin().lobby({ draws: 0 }).join(1), { promised: at_opening }, 'draw');
  await caught_by(drawn(), { promised: { draw: 'none' } }, 'draw');
  const drand = `drand:${'ab'.repeat(32)}:7`;
  await caught_by(plain(), { promised: { beacon: drand } }, 'draw');
  await caught_by(drawn(), { promised: { ...at_opening, beacon: drand } }, 'beacon');
  const lobby_of = (beacon, source) => new Log().begin().lobby({ beacon, source }).join(1);
  const source = Buffer.from(`${'ab'.repeat(32)}0000000000000007`, 'hex');
  assert.deepEqual(failed(await check(lobby_of(1, source), { promised: { beacon: drand } })), []);
  await caught_by(lobby_of(1, source), { promised: { beacon: `drand:${'ab'.repeat(32)}:8` } }, 'beacon');
  const lottery = lobby_of(2, Buffer.from('the lottery'));
  assert.deepEqual(failed(await check(lottery, { promised: { beacon: 'announced:the lottery' } })), []);
  await caught_by(lottery, { promised: { beacon: 'announced:the weather' } }, 'beacon');
});

// -- a log that replaces a lost one

const origin = (number) => `tickets.example/events/${event}/log${number > 1 ? `/${number}` : ''}`;
/** The log `number`, which begins with `lost`. */
const replacing = (lost, { number = 2, settings = 'policy=capacity\n' } = {}) =>
  new Log({ origin: origin(number) }).begin(settings, lost);
/** A line that was lost after 5 of its 9 records, and the log after it: numbers 5 to 8 are given again. */
function lost_line() {
  const old = people.reduce((log, n) => log.join(n), new Log().begin());
  const line = replacing(old.checkpoint({ size: 5 }), { settings: 'policy=capacity\njoined_before=4\n' });
  line.seconds = -500; // who was in line has joined before
  [1, 2, 4].forEach((n) => line.join(n)); // 3 has left it
  line.seconds = 10;
  return { old, line: line.join(5, { person: 55 }) };
}
const replaced = ['skipped draw', 'skipped witnesses', 'unproven event', 'unproven numbers'];
async function is_unproven(log, options, ...more) {
  const outcome = await check(log, options);
  assert.equal(outcome.result, 'unproven');
  assert.deepEqual(not_passed(outcome), [...replaced, ...more].sort(), JSON.stringify(outcome.findings));
  return outcome;
}

test('an empty log, and one that replaces a lost one, prove nothing', async () => {
  assert.equal((await check(new Log())).result, 'unproven');
  const { line } = lost_line();
  const outcome = await is_unproven(line, { log_key: new Log().signer.text });
  assert.match(
    sentence(outcome, 'event'),
    /^This log replaces an older one that was lost\. It began at .* with the last checkpoint of \S+log, over 5 records\./,
  );
  assert.match(sentence(outcome, 'consistency'), /^All 1 checkpoints seen are of this one log/);
});

test('a checkpoint of the lost log is unproven, also one over records that were lost', async () => {
  const { old, line } = lost_line();
  const mine = line.checkpoint({ size: 3 });
  for (const [size, said] of [
    [2, /^checkpoint 1 seen before over 2 records is of \S+log, a log that was lost\. .* 5 records\.$/],
    [5, /over 5 records is of \S+log, a log that was lost/],
    [9, /over 9 records is of \S+log, a log that was lost\. .* At least 4 records were lost/],
  ]) {
    const seen = old.checkpoint({ size });
    const outcome = await is_unproven(line, { checkpoints: [seen, mine] }, 'unproven consistency');
    assert.match(sentence(outcome, 'consistency'), said);
    const { findings } = await check(line, { checkpoints: [mine, seen] });
    assert.match(findings.find((f) => f.check === 'consistency').text, /^checkpoint 2 seen before/);
    assert.match(sentence(outcome, 'signature'), /^All 4 checkpoints seen are signed/);
  }
});

test('a log whose first record is not written yet does not accuse the one before', async () => {
  const checkpoints = [new Log().begin().checkpoint()];
  const outcome = await check(new Log({ origin: origin(2) }), { checkpoints });
  assert.deepEqual(failed(outcome), []);
  assert.match(sentence(outcome, 'consistency'), /over 1 records is of \S+log, a log that was lost\.$/);
});

test('two checkpoints of the lost log over as many records that differ are caught by "consistency"', async () => {
  const { old, line } = lost_line();
  const other = new Log().begin().join(1).join(2, { opens: 1 }).join(3).join(4).join(5);
  await caught_by(line, { checkpoints: [other.checkpoint({ size: 5 })] }, 'consistency'); // as that in "begin"
  const both = [old, other].map((log) => log.checkpoint({ size: 4 }));
  await is_unproven(line, { checkpoints: both.slice(1) }, 'unproven consistency');
  await caught_by(line, { checkpoints: both }, 'consistency');
});

test('a note that names the lost log, and that its key has not signed under this name, is caught by "signature"', async () => {
  const { old, line } = lost_line();
  const forged = new Log({ seed: 3 }).begin().join(1);
  await caught_by(line, { checkpoints: [forged.checkpoint()] }, 'signature');
  const new_name = `${old.body()}\n${line.signer.sign(old.body())}`;
  await caught_by(line, { checkpoints: [new_name] }, 'signature');
  await caught_by(line, { receipts: [forged.receipt(1)] }, 'signature');
  for (const number of [0, 1, 3]) {
    const name = number === 3 ? origin(3) : `${origin(1)}/${number}`; // newer, or as no server writes it
    const foreign = new Log({ origin: name }).begin();
    assert.ok(failed(await check(line, { checkpoints: [foreign.checkpoint()] })).includes('signature'));
  }
  const elsewhere = new Log({ id: '00000000-0000-0000-0000-000000000001' }).begin();
  assert.ok(failed(await check(line, { checkpoints: [elsewhere.checkpoint()] })).includes('signature'));
  assert.ok(failed(await check(old, { checkpoints: [line.checkpoint()] })).includes('signature'));
});

test('a receipt of the lost log is unproven, and says whether this log has the place', async () => {
  const { old, line } = lost_line();
  line.admit([1]);
  const more = ['unproven consistency', 'unproven receipt'];
  const said = async (n) =>
    sentence(await is_unproven(line, { receipts: [old.receipt(n)] }, ...more), 'receipt');
  assert.match(
    await said(1),
    /^The receipt is of \S+log, a log that was lost: there it is record 1, number 1, which joined at .* UTC\. This log has this place: Number 1 joined at .* It was admitted at/,
  );
  assert.match(
    await said(3),
    /number 3, .* This log does not have this place: its holder had left the line, the place was lost, or/,
  );
  assert.match(await said(5), /number 5, .* This log does not have this place/); // another person has the number
  assert.match(await said(8), /number 8, .* This log does not have this place/);
  const outcome = await check(line, { receipts: [line.receipt(5), old.receipt(8)] });
  assert.equal(outcome.receipts.length, 1);
  assert.match(sentence(outcome, 'consistency'), /^the checkpoint of receipt 2 over 9 records/);
});

test('a receipt of the lost log that does not prove its record is caught by "receipt"', async () => {
  const { old, line } = lost_line();
  const another_index = old.receipt(4).replace('\nindex 4\n', '\nindex 5\n');
  await caught_by(line, { receipts: [another_index] }, 'receipt');
  const extra = /(?<=extra )\S+/;
  const other_record = old.receipt(4).replace(extra, extra.exec(old.receipt(5))[0]);
  await caught_by(line, { receipts: [other_record] }, 'receipt');
});

test('after several losses the notes of all logs before are unproven', async () => {
  const { old, line } = lost_line();
  const third = replacing(line.checkpoint({ size: 3 }), { number: 3, settings: 'joined_before=4\n' });
  const outcome = await is_unproven(
    third,
    { checkpoints: [old.checkpoint(), line.checkpoint()] },
    'unproven consistency',
  );
  assert.match(
    sentence(outcome, 'consistency'),
    /over 9 records is of \S+log, a log that was lost\. [^.]* UTC with the last checkpoint of \S+log\/2, over 3 records\D+checkpoint 2 seen before over 5 records is of \S+log\/2, .* At least 2 records were lost/,
  );
  // As after a backup that does not know the second one; numbers come from the clock.
  const settings = 'joined_before=8\n';
  const gap = replacing(old.checkpoint(), { number: 29_921_040, settings });
  await is_unproven(gap, { checkpoints: [line.checkpoint()] }, 'unproven consistency');
  const moved = new Log({ origin: origin(1).replace('tickets', 'shop') }).begin().join(1); // to another host
  const after = replacing(moved.checkpoint(), { settings: 'joined_before=4\n' });
  await is_unproven(after, { checkpoints: [moved.checkpoint({ size: 1 })] }, 'unproven consistency');
});

test('a log that begins with a false checkpoint of the lost one, or with none, is caught', async () => {
  const old = new Log().begin().join(1);
  const forged = new Log({ seed: 3 }).begin();
  await caught_by(replacing(forged.checkpoint()), {}, 'signature');
  await caught_by(replacing(''), {}, 'event');
  await caught_by(replacing('no note'), {}, 'consistency', 'event');
  for (const number of [2, 3])
    // no lower one
    assert.ok(
      failed(await check(replacing(new Log({ origin: origin(number) }).begin().checkpoint()))).includes(
        'event',
      ),
    );
  const elsewhere = new Log({ id: '00000000-0000-0000-0000-000000000001' }).begin();
  await caught_by(replacing(elsewhere.checkpoint()), {}, 'signature', 'consistency');
  const first = new Log().begin('', old.checkpoint({ size: 1 }));
  assert.ok(failed(await check(first)).includes('event'));
});

test('a server that shows the checkpoint of the lost log as that of the new one is caught by "event"', async () => {
  const { old, line } = lost_line();
  const read = line.reader();
  const mixed = (size) => async (name) =>
    name === 'checkpoint' ? Buffer.from(old.checkpoint({ size })) : read(name);
  assert.deepEqual(failed(await verify(mixed(5))), ['event']);
});

test('a cosignature of the lost log proves nothing of the new one', async () => {
  const { old, line } = lost_line();
  const at = begins_at / 1000;
  const witnesses = [old.witness.text];
  const cosigned = [old.checkpoint({ size: 2, cosigned_at: at })];
  const now = () => at * 1000;
  const outcome = await verify(line.reader({ cosigned }), { witnesses, now });
  assert.deepEqual(failed(outcome), ['witnesses']);
  assert.match(
    sentence(outcome, 'consistency'),
    /^the cosigned checkpoint over 2 records is of \S+log, a log/,
  );
});

test('a quorum that is no number of the witnesses named is refused; a witness counts once', async () => {
  const log = drawn();
  const witnesses = [log.witness.text, `${log.witness.text}\n`];
  for (const quorum of [0, 1.5, 2, NaN]) await assert.rejects(check(log, { witnesses, quorum }), /quorum/);
  await assert.rejects(check(log, { witnesses: [log.signer.text] }), /not the verifier key of a witness/);
  await assert.rejects(check(log, { log_key: log.witness.text }), /not the verifier key of a log/);
});

test('a checkpoint over more records than there are asks for no more than the first that is missing', async () => {
  const files = drawn().reader();
  const over = (size) => {
    const vast = new Log();
    vast.leaves = { length: size, slice: () => [Buffer.alloc(32)] };
    return async (name) => (name === 'checkpoint' ? Buffer.from(vast.checkpoint()) : files(name));
  };
  await assert.rejects(verify(over(2 ** 24)), /tile\/entries\/000 is not there/);
  for (const size of [2 ** 24 + 1, 9e15])
    await assert.rejects(verify(over(size)), /the log has \d+ records; this checker reads 16777216/);
  const empty = new Uint8Array(2 ** 28); // 256 records without a byte, and a long rest
  const large = async (name) => (name.startsWith('tile/') ? empty : over(9 * 256)(name));
  await assert.rejects(verify(large), /up to tile\/entries\/008 the log is too large/);
  assert.equal(parse_bundle(empty).length, 256);
});

test('a note of many signatures or many bytes is not read: each signature takes time', async () => {
  const log = drawn();
  const more = (line, count) => log.checkpoint() + line.repeat(count);
  const line = log.signer.sign(log.body());
  assert.equal(parse_checkpoint(more(line, 99)).signatures.length, 100);
  assert.throws(() => parse_checkpoint(more(line, 100)), /too many signatures/);
  assert.throws(() => parse_checkpoint(more('nothing\n', 10_000)), /too large/);
});

test('only the first draw has the checkpoint over the closing; others cost no root', async (t) => {
  const root = t.mock.method(Tail.prototype, 'root_at');
  const log = lottery();
  const closing = log.checkpoint({ cosigned_at: opens_at / 1000 + 5 });
  log.draw({ beacon: 2, value: Buffer.from('3 11') });
  for (let n = 0; n < 5; ++n) log.draw({ beacon: 2, value: Buffer.from('3 11'), closing });
  const witnesses = [log.witness.text];
  const read = log.reader({ cosigned_at: opens_at / 1000 + 50 });
  const outcome = await verify(read, { announced: '3 11', witnesses });
  assert.deepEqual(not_passed(outcome), ['failed draw', 'unproven closing']);
  assert.equal(root.mock.callCount(), 0);
});

test('more groups of hidden types than a line has at a time are refused; those that have gone are forgotten', async () => {
  const log = new Log().begin();
  for (let n = 1; n <= 300; ++n) log.join(n, { opens: n }).leave(n);
  const outcome = await check(log.join(301).admit([301]));
  assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
  assert.ok(outcome.replay.order.groups.size <= 256);
  const crowd = new Log().begin();
  for (let n = 1; n <= 300; ++n) crowd.join(n, { opens: n });
  const found = await check(crowd);
  assert.deepEqual(failed(found), ['records']);
  assert.match(sentence(found, 'records'), /more combinations of hidden types/);
  assert.equal(found.replay.order.groups.size, 256);
});

test('a party of thousands is caught, and admissions do not look at each of its members', async () => {
  const members = Array.from({ length: 400 }, (_, i) => i + 1);
  const log = lobby({ party_max: 255 }, (l) => members.forEach((n) => l.join(n, { party: 1 })));
  const outcome = await check(log.close().draw());
  assert.deepEqual(failed(outcome), ['parties']);
  assert.equal(outcome.replay.parties.get(1).size, 256);
});

test('what fails is named before what is unproven, however much of that comes first', () => {
  const findings = new Findings();
  for (let n = 0; n < 9; ++n) findings.unproven('entrants', `late ${n}.`);
  findings.fail('entrants', 'First.');
  findings.fail('entrants', 'Second.');
  const [{ result, text }] = findings.list();
  assert.equal(result, 'failed');
  assert.equal(text, 'First. Second. late 0. late 1. late 2. And 6 more.');
});

test('who joined in a class of its own is told, and who came into the lobby after the opening', async () => {
  const log = new Log().begin().join(1).join(2, { priority_class: 0 }).admit([2, 1]);
  assert.match(sentence(await check(log), 'hands'), /1 numbers joined in class 0/);
  const late = lobby();
  late.seconds = 200;
  late.join(9);
  const outcome = await check(late.close().draw());
  assert.equal(outcome.result, 'unproven');
  assert.match(sentence(outcome, 'entrants'), /Number 9 came into the lobby/);
});

// -- beacons

/** A chain of our own, so that a test can choose its rounds. */
const secret = from_hex('7'.padStart(64, '0'));
const chain = {
  public_key: to_hex(bls12_381.shortSignatures.getPublicKey(secret).toBytes(true)),
  period: 3,
  genesis_time: opens_at / 1000,
  groupHash: '11'.repeat(32),
  metadata: { beaconID: 'test' },
};
const value_of = (round) => bls12_381.shortSignatures.sign(round_message(round), secret).toBytes(true);
const with_round = (round) => ({
  beacon: 1,
  source: Buffer.from(`${chain_hash(chain)}${round.toString(16).padStart(16, '0')}`, 'hex'),
});

test('the hash of quicknet is what drand says, and round 1000 is valid', () => {
  assert.equal(chain_hash(quicknet), '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971');
  const hex =
    'b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39';
  assert.ok(is_round(quicknet, 1000, from_hex(hex)));
  assert.ok(!is_round(quicknet, 1001, from_hex(hex)));
  assert.equal(due_at(quicknet, 1000), 1692806364000);
});

test('a second encoding of a round is not its signature', () => {
  const flags = 7n << 381n;
  const as_number = (bytes) => BigInt(`0x${to_hex(bytes)}`);
  const p = bls12_381.fields.Fp.ORDER;
  const other = (bytes) => {
    const value = as_number(bytes);
    const x = (value & ~flags) + p;
    return x >> 381n ? null : from_hex(((value & flags) | x).toString(16));
  };
  let round = 1;
  while (!other(value_of(round))) ++round; // x + p fits into the 381 bits of one in six
  const second = other(value_of(round));
  const { verify: verify_bls, getPublicKey } = bls12_381.shortSignatures;
  assert.ok(verify_bls(second, round_message(round), getPublicKey(secret)));
  assert.ok(is_round(chain, round, value_of(round)));
  assert.ok(!is_round(chain, round, second));
});

test('a beacon of drand passes; another value, an early round or an unknown chain does not', async () => {
  const options = { chains: [chain] };
  const good = lobby(with_round(10)).close();
  const witnesses = [good.witness.text];
  const closing = good.checkpoint({ cosigned_at: opens_at / 1000 + 5 });
  good.draw({ beacon: 1, value: value_of(10), closing });
  const alone = await check(good, options);
  assert.deepEqual(not_passed(alone), ['skipped witnesses', 'unproven closing']);
  assert.match(sentence(alone, 'closing'), /No witness was named: nobody but the server says/);
  const cosigned = await verify(good.reader({ cosigned_at: opens_at / 1000 + 50 }), {
    ...options,
    witnesses,
  });
  assert.equal(cosigned.result, 'passed', JSON.stringify(cosigned.findings, null, 1));
  assert.match(sentence(cosigned, 'closing'), /1 of the witnesses saw the closed entrants/);
  assert.equal((await check(good)).result, 'unproven');
  await caught_by(
    lobby(with_round(10))
      .close()
      .draw({ beacon: 1, value: value_of(11) }),
    options,
    'beacon',
  );
  const early = lobby(with_round(1)).close();
  const outcome = await check(early.draw({ beacon: 1, value: value_of(1) }), options);
  assert.equal(outcome.result, 'unproven');
  assert.match(sentence(outcome, 'beacon'), /draw_not_proven: round 1 of drand was public/);
  const long = lobby(with_round(10)).close();
  const chained = await check(long.draw({ beacon: 1, value: Buffer.alloc(96, 1) }), options);
  assert.match(sentence(chained, 'beacon'), /draw_not_proven: the chain .* not known here/);
  await caught_by(lobby(with_round(10)).close().draw(), options, 'hands');
});

test('roots of sizes after a copy of a tree are those of the tree', () => {
  const [tree, roots] = [new Tree(), new Map()];
  const leaves = Array.from({ length: 1500 }, (_, i) => leaf_hash(Uint8Array.of(i, i >> 8)));
  leaves.slice(0, 5).forEach((leaf) => tree.append_leaf(leaf));
  const tail = new Tail(tree);
  roots.set(5, to_hex(tree.root()));
  for (const leaf of leaves.slice(5)) {
    tree.append_leaf(leaf);
    tail.add(leaf);
    roots.set(tree.size, to_hex(tree.root()));
  }
  for (const size of [5, 6, 7, 8, 1023, 1024, 1029, 1030, 1500])
    assert.equal(to_hex(tail.root_at(size)), roots.get(size));
  assert.equal(tail.root_at(4), undefined);
  assert.equal(tail.root_at(1501), undefined);
});

test('joins while a beacon is awaited cost no root each, and the closing is found at any size', async (t) => {
  const root = t.mock.method(Tree.prototype, 'root');
  for (const size of [10, 11, 60, 110]) {
    const log = lobby(with_round(10)).close();
    log.step = 0.01;
    for (let n = 9; n < 109; ++n) log.join(n);
    const closing = log.checkpoint({ size, cosigned_at: opens_at / 1000 + 5 });
    log.draw({ beacon: 1, value: value_of(10), closing });
    const options = { chains: [chain], witnesses: [log.witness.text] };
    const outcome = await verify(log.reader({ cosigned_at: opens_at / 1000 + 50 }), options);
    const is_over_closing = size > 10;
    assert.equal(outcome.result, is_over_closing ? 'passed' : 'failed', JSON.stringify(outcome.findings));
  }
  assert.ok(root.mock.callCount() < 20, `${root.mock.callCount()} roots`);
});

test('a wait for the beacon that an operator ended is draw_not_proven', async () => {
  const outcome = await check(lobby(with_round(10)).close().hand('end_wait').draw(), { chains: [chain] });
  assert.equal(outcome.result, 'unproven');
  assert.match(sentence(outcome, 'beacon'), /draw_not_proven/);
});

const lottery = () => lobby({ beacon: 2, source: Buffer.from('the state lottery of Saturday') }).close();
const lottery_of = (value) => lottery().draw({ beacon: 2, value: Buffer.from(value) });

test('an announced value passes only if the reader names the same bytes', async () => {
  const value = '3 11 19 24 40 45';
  const outcome = await check(lottery_of(value));
  assert.deepEqual(not_passed(outcome), ['skipped witnesses', 'unproven beacon', 'unproven closing']);
  assert.match(sentence(outcome, 'beacon'), /"3 11 19 24 40 45" as "the state lottery of Saturday"/);
  assert.match(
    sentence(outcome, 'closing'),
    /^No witness was named: nobody but the server says .* 15:07:41 UTC\. A server that knew/,
  );
  const named = await check(lottery_of(value), { announced: value });
  assert.deepEqual(not_passed(named), ['skipped witnesses', 'unproven closing']);
  await caught_by(lottery_of(value), { announced: '3, 11, 19, 24, 40, 45' }, 'beacon');
  await caught_by(drawn(), { announced: value }, 'beacon'); // the lobby promised none
  await caught_by(new Log().begin().join(1), { announced: value }, 'beacon');
  assert.deepEqual(not_passed(await check(lottery(), { announced: value })), [
    'skipped beacon',
    'skipped draw',
    'skipped witnesses',
  ]);
});

test('an announced value has one spelling only', async () => {
  for (const value of ['', ' 3 11', '3 11 ', '3  11', '3\u00a011', '3\t11', '3 11\n', '3\u200b 11', 'Ž 3'])
    await caught_by(lottery_of(value), { announced: value }, 'beacon');
  const bytes = lottery().draw({ beacon: 2, value: Buffer.from([0x33, 0xff]) });
  await caught_by(bytes, { announced: '3\ufffd' }, 'beacon');
});

test('with an announced value a named witness says when it first saw the closing', async () => {
  const log = lottery();
  const closing = log.checkpoint({ cosigned_at: opens_at / 1000 + 5 });
  log.draw({ beacon: 2, value: Buffer.from('3 11'), closing });
  const options = { announced: '3 11', witnesses: [log.witness.text] };
  const outcome = await verify(log.reader({ cosigned_at: opens_at / 1000 + 50 }), options);
  assert.equal(outcome.result, 'passed', JSON.stringify(outcome.findings, null, 1));
  assert.match(sentence(outcome, 'closing'), /1 of the witnesses .* 15:07:45 UTC\. Compare/);
  const unseen = lottery_of('3 11').reader({ cosigned_at: opens_at / 1000 + 50 });
  const alone = await verify(unseen, options);
  assert.deepEqual(not_passed(alone), ['unproven closing']);
  assert.match(sentence(alone, 'closing'), /^Nobody but the server says/);
});

test('a checkpoint over the closing that is of the lost log proves no closing', async () => {
  const old = lottery();
  const cosigned_at = opens_at / 1000 + 5;
  const log = replacing(old.checkpoint({ size: 5 })).lobby({ beacon: 2, source: Buffer.from('the lottery') });
  people.forEach((n) => log.join(n));
  const closing = old.join(9).checkpoint({ cosigned_at });
  log.close().draw({ beacon: 2, value: Buffer.from('3 11'), closing });
  const options = { announced: '3 11', witnesses: [log.witness.text] };
  const outcome = await verify(log.reader({ cosigned_at: opens_at / 1000 + 50 }), options);
  assert.deepEqual(not_passed(outcome), ['unproven closing', 'unproven consistency', 'unproven event']);
  assert.match(sentence(outcome, 'closing'), /^Nobody but the server says/);
  assert.match(
    sentence(outcome, 'consistency'),
    /^the checkpoint over the closing over 12 records is of \S+log, a/,
  );
});

test('a log that begins after its draw says what it cannot prove, and nothing in it fails', async () => {
  const log = new Log().begin('policy=capacity\njoined_before=9\n').lobby();
  log.seconds = -500; // who was in line has joined before
  log.join(2, { party: 1 }).join(3).join(5, { party: 1 }); // 1, who opened the party, has gone
  log.close([{ number: 1, priority_class: 1, opens: 0, party: 1, commitment: Buffer.alloc(32) }], 100);
  log.draw().join(10).end_session(1, 0);
  const line = log.order.filter((n) => n !== 1);
  const outcome = await check(log.admit([...line, 10]));
  assert.equal(outcome.result, 'unproven', JSON.stringify(outcome.checks));
  assert.match(sentence(outcome, 'entrants'), /began after the lobby had opened/);
  const unproven = ['skipped beacon', 'skipped witnesses', 'unproven draw', 'unproven entrants'];
  assert.deepEqual(not_passed(outcome), [...unproven, 'unproven numbers', 'unproven seed']);
  assert.match(sentence(outcome, 'seed'), /fixed before is not in it/);
  assert.match(sentence(outcome, 'draw'), /drawn only once is not in it/);
  await caught_by(log.join(11).join(12).admit([12]), {}, 'admissions');
});

// -- over HTTP and on the command line

/** Serves logs, each of the event and below its name. `before(request, response)`: true if it answers. */
async function serve(logs, before = () => false) {
  const server = http.createServer((request, response) => {
    if (before(request, response)) return;
    const [, name, path_below] = /^\/([^/]+)\/events\/[^/]+\/log\/(.*)$/.exec(request.url) ?? [];
    const bytes = logs.get(name)?.get(path_below);
    response.writeHead(bytes ? 200 : 404).end(bytes);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const close = () => (server.closeAllConnections(), server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

async function run_cli(args) {
  const program = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  program.stdout.on('data', (bytes) => (printed += bytes));
  const [code] = await once(program, 'close');
  return { code, printed };
}

/** As a mirror of the log has it. */
function write_log(folder, log) {
  for (const [name, bytes] of log.files()) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), bytes);
  }
}

test('the command line reads a folder and says with its exit code what it found', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verify-'));
  const log = drawn();
  const below = path.join(folder, `events/${event}/log`);
  write_log(below, log);
  fs.writeFileSync(path.join(folder, 'mine.tlog-proof'), log.receipt(3));
  const run = (...more) =>
    spawnSync(process.execPath, [cli, ...more], {
      encoding: 'utf8',
      cwd: folder,
    });
  const common = ['--from', folder, '--event', event, '--receipt', 'mine.tlog-proof', '--seen', 'seen'];
  const honest = run(...common);
  assert.equal(honest.status, 0, honest.stdout + honest.stderr);
  assert.match(honest.stdout, /passed +receipt +The receipt is in the log as record 4/);
  write_log(below, new Log().begin().join(1));
  const rewritten = run(...common);
  assert.equal(rewritten.status, 1, rewritten.stdout + rewritten.stderr);
  assert.match(rewritten.stdout, /failed +consistency/);
  assert.equal(run('--from', path.join(folder, 'nowhere')).status, 2);
  fs.rmSync(folder, { recursive: true });
});

test('the command line takes the announced value', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verify-'));
  write_log(folder, lottery_of('3 11'));
  const code = (...more) => spawnSync(process.execPath, [cli, '--from', folder, ...more]).status;
  // No witness saw the closing: nothing proves that it was before the value was known.
  assert.deepEqual([code(), code('--announced', '3 11'), code('--announced', '3 12')], [3, 3, 1]);
  const log = lottery();
  const closing = log.checkpoint({ cosigned_at: opens_at / 1000 + 5 });
  log.draw({ beacon: 2, value: Buffer.from('3 11'), closing });
  fs.writeFileSync(path.join(folder, 'checkpoint'), log.checkpoint({ cosigned_at: opens_at / 1000 + 50 }));
  for (const [name, bytes] of log.files())
    if (name.startsWith('tile/')) fs.writeFileSync(path.join(folder, name), bytes);
  const seen = ['--announced', '3 11', '--witness', log.witness.text];
  assert.deepEqual([code(...seen), code(...seen.slice(2))], [0, 3]);
  fs.rmSync(folder, { recursive: true });
});

test('a server writes nothing to the terminal that it would obey, also not in an error', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verify-'));
  write_log(folder, drawn());
  const run = (...args) => spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
  fs.writeFileSync(path.join(folder, 'key'), 'a\u001b[2J\u009b1m\nkey');
  const { status, stderr } = run('--from', folder);
  assert.equal(status, 2);
  assert.equal(stderr, 'not a verifier key: a?[2J?1m?key\n');
  assert.match(run('--help').stderr, /^usage: .*\n.*URL/);
  fs.rmSync(folder, { recursive: true });
});

test('--seen keeps the checkpoints of each run over a log that grows, and finds that it was rewritten', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verify-'));
  const seen = path.join(folder, 'seen');
  const run = (log) => {
    write_log(folder, log);
    return spawnSync(process.execPath, [cli, '--from', folder, '--seen', seen], { encoding: 'utf8' });
  };
  const log = new Log().begin();
  for (let n = 1; n <= 4; ++n) {
    const { status, stdout, stderr } = run(log.join(n));
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, new RegExp(`passed +consistency +All ${n} checkpoints`));
  }
  assert.match(run(log).stdout, /All 5 checkpoints/); // a checkpoint is kept once
  const rewritten = new Log().begin().join(1).join(2, { opens: 1 }).join(3).join(4);
  assert.match(run(rewritten).stdout, /failed +consistency .* 3 records .* 4 records/);
  fs.rmSync(folder, { recursive: true });
});

test('the command line reads a server, also where a bundle has become full since', async () => {
  const log = new Log().begin();
  for (let n = 1; n <= 300; ++n) log.join(n);
  const files = log.files();
  const grown = new Log().begin();
  for (let n = 1; n <= 600; ++n) grown.join(n);
  files.delete('tile/entries/001.p/45');
  files.set('tile/entries/001', grown.files().get('tile/entries/001'));
  const site = await serve(new Map([['base', files]]));
  const { code, printed } = await run_cli([`${site.url}/base`, '--event', event]);
  site.close();
  assert.equal(code, 0, printed);
  assert.match(printed, /passed +numbers +Numbers 1 to 300 each joined once/);
});

test('a server that is busy or breaks off for a moment is asked again; one that sends without end is not read', async () => {
  const files = drawn().files();
  let refused = 0;
  const site = await serve(new Map([['base', files]]), (request, response) => {
    if (!request.url.endsWith('/key') || refused++ > 0) return false;
    response.writeHead(429, { 'Retry-After': '0' }).end();
    return true;
  });
  const read = http_reader(`${site.url}/base/events/${event}/log/`);
  assert.equal((await verify(read, { event })).result, 'passed');
  assert.ok(Number.isInteger(read.date)); // the server's clock
  site.close();
  const broken = await serve(new Map([['base', files]]), (request, response) => {
    if (!request.url.endsWith('/key') || refused++ > 2) return false;
    response.writeHead(200, { 'Content-Length': '100' }).write('half', () => response.destroy());
    return true;
  });
  refused = 2;
  const again = http_reader(`${broken.url}/base/events/${event}/log/`);
  assert.equal((await verify(again, { event })).result, 'passed');
  broken.close();
  const endless = await serve(new Map(), (request, response) => {
    const more = () => response.writable && response.write(Buffer.alloc(1 << 20), more);
    more(response.writeHead(200));
    return true;
  });
  await assert.rejects(verify(http_reader(`${endless.url}/`)), /too large/);
  endless.close();
});

test('a cached tile of a lost log is not read as one of the log that replaces it', async () => {
  const { old, line } = lost_line();
  const asked = [];
  const sites = new Map([
    ['old', old.files()],
    ['new', line.files()],
  ]);
  const site = await serve(sites, (request) => {
    asked.push(`${request.url.split('/log/')[1]} ${request.headers['cache-control']}`);
  });
  const requests_of = async (below) => {
    await verify(http_reader(`${site.url}/${below}/events/${event}/log/`));
    return asked.splice(0);
  };
  const [of_old, of_new] = [await requests_of('old'), await requests_of('new')];
  site.close();
  const fresh = 'max-age=0'; // as a browser asks that asks again for what it has
  const first = [`key ${fresh}`, `checkpoint ${fresh}`];
  // A tile of the first log stays the same for ever; the next log has the same addresses.
  assert.deepEqual(of_old, [...first, 'tile/entries/000.p/9 undefined']);
  assert.deepEqual(of_new, [...first, `tile/entries/000.p/5 ${fresh}`]);
});

/** Cheating servers, each below its number, as a client on the command line sees them. */
test('each cheating server is caught over HTTP, by the checks that say so', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cheats-'));
  const sites = new Map();
  const made = [honest, ...cheats].map(({ name, make }, i) => ({ name, path: String(i), ...make() }));
  for (const { path: below, log, also } of made) {
    sites.set(below, log.files());
    if (also) sites.set(`${below}-also`, also.log.files(also.options));
  }
  const site = await serve(sites);
  for (const { name, path: below, know = {}, also, caught, unproven = [] } of made)
    await t.test(`${name}: ${[...caught, ...unproven].join(' and ') || 'nothing'}`, async () => {
      const options = ['--event', event];
      const add = (option, texts = []) =>
        texts.forEach((text, i) => {
          const file = path.join(folder, `${below}-${option}-${i}`);
          fs.writeFileSync(file, text);
          options.push(`--${option}`, file);
        });
      add('receipt', know.receipts);
      add('checkpoint', know.checkpoints);
      if (know.draw) options.push('--draw', know.draw);
      for (const key of know.witnesses ?? []) options.push('--witness', key);
      const { code, printed } = await run_cli([`${site.url}/${below}`, ...options]);
      const checks_of = (result) =>
        [...printed.matchAll(new RegExp(`^${result} +(\\S+)`, 'gm'))].map(([, check]) => check);
      assert.deepEqual(checks_of('failed').sort(), caught, printed);
      assert.deepEqual(checks_of('unproven'), unproven, printed);
      assert.equal(code, caught.length > 0 ? 1 : unproven.length > 0 ? 3 : 0);
      if (also) assert.equal((await run_cli([`${site.url}/${below}-also`, ...options])).code, 0);
    });
  site.close();
  fs.rmSync(folder, { recursive: true });
});
