// SPDX-License-Identifier: Apache-2.0
// Checks the public log of a line. Shares no code with the server; docs/design/fairness.md has the formats.
import { concat, equal } from './bytes.mjs';
import { sha256 } from './sha256.mjs';
import { Findings, results, time_text } from './findings.mjs';
import { bundles, is_included, leaf_hash, Tree } from './merkle.mjs';
import { parse_checkpoint, parse_key, parse_receipt, signed_at } from './note.mjs';
import { parse_bundle, parse_record } from './records.mjs';
import { Replay } from './replay.mjs';

const text_of = (bytes) => new TextDecoder().decode(bytes);
const requests_max = 8;

/**
 * Yields the entries of the log in order, a bundle at a time. A few are on the way at a time.
 * `read(path)`: the bytes below the log's address, or a rejected promise.
 */
async function* entries_of(read, size) {
  const list = bundles(size);
  const load = ({ path, full }) => {
    const bytes = read(path).catch((error) => (path === full ? Promise.reject(error) : read(full)));
    bytes.catch(() => {}); // reported where it is awaited
    return bytes;
  };
  const coming = list.slice(0, requests_max).map(load);
  for (let i = 0; i < list.length; ++i) {
    const entries = parse_bundle(await coming.shift());
    if (i + requests_max < list.length) coming.push(load(list[i + requests_max]));
    if (entries.length < list[i].count) throw new Error(`${list[i].path} has too few entries`);
    yield entries.slice(0, list[i].count);
  }
}

/** Each checkpoint seen: its note, and where it was seen. */
function collect(served, receipts, options) {
  const seen = [{ where: 'the served checkpoint', ...served }];
  for (const [i, receipt] of receipts.entries())
    seen.push({ where: `the checkpoint of receipt ${i + 1}`, ...receipt.checkpoint });
  for (const [i, note] of (options.checkpoints ?? []).entries())
    seen.push({ where: `checkpoint ${i + 1} seen before`, ...parse_checkpoint(note) });
  return seen;
}

function check_signatures(findings, seen, key, pinned) {
  for (const c of seen)
    if (c.origin !== key.name || signed_at(c, key) === null)
      findings.fail('signature', `${c.where} is not signed by the log's key ${key.name}.`);
  if (pinned && !equal(pinned.key, key.key))
    findings.fail('signature', 'The log has another key than the one you named.');
  const whose = pinned ? 'the key you named' : 'the key that the server names; pin it with --log-key';
  findings.pass('signature', `All ${seen.length} checkpoints seen are signed by ${whose}.`);
}

function check_witnesses(findings, served, witnesses, quorum) {
  if (witnesses.length === 0)
    return findings.skip(
      'witnesses',
      'No witness was named: only people who compare receipts can notice that they were shown two logs.',
    );
  const times = witnesses.map((w) => signed_at(served, w)).filter((at) => at !== null);
  if (times.length < quorum)
    return findings.fail(
      'witnesses',
      `${times.length} of the ${quorum} witnesses needed have signed the served checkpoint.`,
    );
  const oldest = time_text(Math.min(...times) * 1000);
  findings.pass(
    'witnesses',
    `${times.length} witnesses saw this log grow without a change, the first at ${oldest}.`,
  );
}

/** Compares each checkpoint seen with the root of the served log at that size. */
function check_consistency(findings, seen, roots, size) {
  for (const c of seen) {
    const root = roots.get(c.size);
    if (c.size > size)
      findings.fail(
        'consistency',
        `${c.where} has ${c.size} records, and the served log only ${size}: it became shorter.`,
      );
    else if (!root || !equal(root, c.root))
      findings.fail(
        'consistency',
        `${c.where} over ${c.size} records is of another log: records were rewritten, or two people were shown two logs.`,
      );
  }
  findings.pass('consistency', `All ${seen.length} checkpoints seen are of this one log, which only grew.`);
}

/** A cosigned checkpoint over the closing, older than the beacon, proves that no entrant came later. */
function check_closing(findings, replay, closing, witnesses) {
  if (replay.round_due === undefined || witnesses.length === 0) return;
  const times =
    closing && closing.size > replay.closed_index ? witnesses.map((w) => signed_at(closing, w)) : [];
  const at = times.filter((t) => t !== null).map((t) => t * 1000);
  if (at.some((t) => t < replay.round_due))
    findings.pass(
      'closing',
      `A witness saw the closed entrants at ${time_text(Math.min(...at))}, before the beacon was public.`,
    );
  else
    findings.unproven(
      'closing',
      "Only the server's word says that the entrants were closed before the beacon was public.",
    );
}

function fate_of(entry) {
  const drew = entry.rank && entry.rank !== entry.number ? ` Its rank is ${entry.rank}.` : '';
  const joined = `Number ${entry.number} joined at ${time_text(entry.joined_at)}.${drew}`;
  if (entry.admitted_at) return `${joined} It was admitted at ${time_text(entry.admitted_at)}.`;
  if (entry.ended_at) return `${joined} It left the line at ${time_text(entry.ended_at)} (${entry.state}).`;
  return `${joined} It is ${entry.state}.`;
}

function check_receipt(findings, receipt, records, replay) {
  const fail = (text) => findings.fail('receipt', text);
  const { index, proof, checkpoint, record } = receipt;
  let join;
  try {
    join = parse_record(record);
  } catch {
    return fail('The receipt has no readable record.');
  }
  if (join.kind !== 'joined' || !equal(join.commitment, sha256(receipt.nonce, receipt.entry)))
    return fail('The record of the receipt is not that of its entry.');
  if (!is_included(leaf_hash(record), index, checkpoint.size, checkpoint.root, proof))
    return fail(`The receipt does not prove its record ${index}.`);
  if (!records.get(index) || !equal(records.get(index), record))
    return fail(`Number ${join.number} has a receipt, and the served log does not have its record ${index}.`);
  findings.pass(
    'receipt',
    `The receipt is in the log as record ${index}. ${fate_of(replay.entries.get(join.number))}`,
  );
}

/**
 * Reads all entries: fills `kept` (index -> entry), replays the records and returns the roots at the sizes
 * seen, and the checkpoint over the closing.
 */
async function follow(read, size, { findings, seen, kept, replay }) {
  const wanted = new Set(seen.map((c) => c.size));
  const roots = new Map();
  const closing_roots = new Map(); // at which of these sizes the closing's checkpoint is, the draw says
  const tree = new Tree();
  let closing;
  if (wanted.has(0)) roots.set(0, tree.root());
  for await (const entries of entries_of(read, size)) {
    for (const entry of entries) {
      const index = tree.size;
      if (kept.has(index)) kept.set(index, entry);
      tree.append(entry);
      if (wanted.has(tree.size)) roots.set(tree.size, tree.root());
      const record = read_record(findings, entry, index);
      if (record) replay.take(record, index);
      if (replay.closed_record && !replay.drawn_record) closing_roots.set(tree.size, tree.root());
      if (record?.kind === 'drawn' && record.closing)
        closing = read_closing(findings, record, seen, closing_roots, roots);
    }
  }
  replay.finish();
  return { roots, closing };
}

/**
 * Checks a log.
 * `read(path)`: the bytes of "checkpoint", "key", "tile/entries/…".
 * `options`: receipts and checkpoints (texts seen before); log_key and witnesses (verifier keys); quorum (how
 * many witnesses; default all); chains (drand's /info).
 * Returns {findings, result, checkpoint, replay}; throws if the log cannot be read.
 */
export async function verify(read, options = {}) {
  const findings = new Findings();
  const key = parse_key(text_of(await read('key')));
  const served = parse_checkpoint(text_of(await read('checkpoint')));
  const receipts = (options.receipts ?? []).map(parse_receipt);
  const witnesses = (options.witnesses ?? []).map(parse_key);
  const seen = collect(served, receipts, options);

  const kept = new Map(receipts.map((r) => [r.index, null]));
  const replay = new Replay(findings, options.chains);
  const { roots, closing } = await follow(read, served.size, { findings, seen, kept, replay });

  check_signatures(findings, seen, key, options.log_key && parse_key(options.log_key));
  check_witnesses(findings, served, witnesses, options.quorum ?? witnesses.length);
  check_consistency(findings, seen, roots, served.size);
  check_closing(findings, replay, closing, witnesses);
  for (const receipt of receipts) check_receipt(findings, receipt, kept, replay);
  const list = findings.list();
  const result = list.reduce(
    (worst, f) => (results.indexOf(f.result) > results.indexOf(worst) ? f.result : worst),
    'passed',
  );
  return {
    findings: list,
    result: result === 'skipped' ? 'passed' : result,
    checkpoint: served.note,
    replay,
  };
}

function read_record(findings, entry, index) {
  try {
    return parse_record(entry);
  } catch (error) {
    findings.fail('records', `Record ${index} cannot be read: ${error.message}.`);
    return null;
  }
}

function read_closing(findings, record, seen, closing_roots, roots) {
  try {
    const closing = parse_checkpoint(record.closing);
    seen.push({ where: 'the checkpoint over the closing', ...closing });
    if (closing_roots.has(closing.size)) roots.set(closing.size, closing_roots.get(closing.size));
    return closing;
  } catch (error) {
    findings.fail('consistency', `The checkpoint over the closing cannot be read: ${error.message}.`);
    return undefined;
  }
}
