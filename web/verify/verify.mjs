// SPDX-License-Identifier: Apache-2.0
// Checks the public log of a line. Shares no code with the server; docs/design/fairness.md has the formats.
import { concat, equal } from './bytes.mjs';
import { sha256 } from './sha256.mjs';
import { Findings, results, time_text } from './findings.mjs';
import { bundles, is_included, leaf_hash, Tail, Tree } from './merkle.mjs';
import {
  key_of_log,
  log_of_note,
  parse_checkpoint,
  parse_checkpoints,
  parse_log_key,
  parse_origin,
  parse_receipt,
  parse_witness_key,
  signed_at,
} from './note.mjs';
import { parse_bundle, parse_record } from './records.mjs';
import { Replay } from './replay.mjs';

const text_of = (bytes) => new TextDecoder().decode(bytes);
const requests_max = 8;
/** A Map has no more; nor could a machine keep it. */
const records_max = 2 ** 24;
/** Of all bundles: that many joins, and no more texts than a machine can keep. */
const bytes_max = 2 ** 31;
/** Of a log that grows all the time witnesses have signed an earlier checkpoint, of at most this long ago. */
const cosigned_lag_s = 60;
/** Honest clocks differ by at most so much. */
const ahead_ms = 60_000;
/** More witnesses than a log has: each signature takes time. */
const cosigned_max = 50;

/**
 * Yields the entries of the log in order, a bundle at a time. A few are on the way at a time.
 * `read(path, cache)`: as of verify().
 */
async function* entries_of(read, size, cache) {
  const list = bundles(size);
  const coming = [];
  const load_next = () => {
    const { value: bundle } = list.next();
    if (!bundle) return;
    const { path, full } = bundle;
    const bytes = read(path, cache).catch((error) => {
      if (path === full) throw error;
      return read(full, cache);
    });
    bytes.catch(() => {}); // reported where it is awaited
    coming.push({ bundle, bytes });
  };
  for (let i = 0; i < requests_max; ++i) load_next();
  let left = bytes_max;
  for (let next = coming.shift(); next; next = coming.shift()) {
    const bytes = await next.bytes;
    const { count, path } = next.bundle;
    if ((left -= bytes.length) < 0) throw new Error(`up to ${path} the log is too large for this checker`);
    const entries = parse_bundle(bytes, count);
    load_next();
    if (entries.length < count) throw new Error(`${path} has too few entries`);
    yield entries;
  }
}

/** Each checkpoint seen: its note, and where it was seen. */
function collect(served, cosigned, receipts, options) {
  const seen = [{ where: 'the served checkpoint', ...served }];
  for (const c of cosigned) seen.push({ where: 'the cosigned checkpoint', ...c });
  for (const [i, receipt] of receipts.entries())
    seen.push({ where: `the checkpoint of receipt ${i + 1}`, ...receipt.checkpoint });
  for (const [i, note] of (options.checkpoints ?? []).entries())
    seen.push({ where: `checkpoint ${i + 1} seen before`, ...parse_checkpoint(note) });
  return seen;
}

/** Whether the log is that of the event: its first record and its origin name it, and nothing was lost. */
function check_event(findings, replay, { served, key, last }, wanted) {
  const origin = key.name;
  const of_record = replay.event;
  const { event: of_origin, number } = parse_origin(origin);
  if (served.origin !== origin)
    findings.fail('event', `The key is of the log ${origin}, and the served checkpoint of ${served.origin}.`);
  if (of_record === undefined) return findings.unproven('event', 'The log has no first record yet.');
  if (of_record !== of_origin)
    findings.fail('event', `The log ${origin} begins as that of event ${of_record}.`);
  if (wanted !== undefined && wanted !== of_record)
    findings.fail('event', `This is the log of event ${of_record}, and you asked for ${wanted}.`);
  if (last ? parse_origin(last.origin).number >= number : number > 1)
    findings.fail(
      'event',
      `The first record names ${last ? last.origin : 'no log'} as the one before ${origin}.`,
    );
  else if (last)
    findings.unproven(
      'event',
      `This log replaces an older one that was lost. It ${began_text(replay, last)}. That it has all of these is not proven.`,
    );
  findings.pass('event', `The log is that of event ${of_record}, from its beginning.`);
}
const began_text = ({ began_at }, { origin, size }) =>
  `began at ${time_text(began_at)} with the last checkpoint of ${origin}, over ${size} records`;

function check_signatures(findings, seen, key, pinned) {
  for (const c of seen)
    if (log_of_note(c, key.name) === 'another')
      findings.fail('signature', `${c.where} is of another log: ${c.origin} instead of ${key.name}.`);
    else if (signed_at(c, key_of_log(key, c.origin)) === null)
      findings.fail('signature', `${c.where} is not signed by the log's key ${c.origin}.`);
  if (pinned && !equal(pinned.key, key.key))
    findings.fail('signature', 'The log has another key than the one you named.');
  const whose = pinned ? 'the key you named' : 'the key that the server names; pin it with --log-key';
  findings.pass('signature', `All ${seen.length} checkpoints seen are signed by ${whose}.`);
}

/**
 * Of each witness that signed the served checkpoint, or an earlier one lately, the largest size and when.
 * `now`: when the checkpoint was read, in ms. An old cosignature does not count: a server that shows two logs
 * has one from before they differ.
 */
function signatures_of(witnesses, { served, cosigned }, now = Infinity) {
  const is_new = ({ size, at }) => size === served.size || at >= now / 1000 - cosigned_lag_s;
  return witnesses.flatMap((w) => {
    const own = [served, ...cosigned.filter((c) => c.origin === served.origin)];
    const all = own.map((c) => ({ size: c.size, at: signed_at(c, w) }));
    const good = all.filter((signed) => signed.at !== null && is_new(signed));
    return good.sort((a, b) => b.size - a.size).slice(0, 1);
  });
}

/** The same, by the clock of this machine and by that of the server, if it says its time. */
function signatures_by_clock(witnesses, shown) {
  const { now, server_now } = shown;
  const own = signatures_of(witnesses, shown, now);
  return { own, server: server_now === undefined ? own : signatures_of(witnesses, shown, server_now) };
}

/**
 * A cosignature that is new by one clock only, or later than this machine's clock: one clock is wrong, and
 * which one is not known. Returns what that is, or nothing.
 */
function clocks_text({ own, server }, { served, now, server_now }, quorum) {
  const here = `By the clock of this machine it is ${time_text(now)}`;
  if (own.length >= quorum !== server.length >= quorum)
    return `${here}, by that of the server ${time_text(server_now)}. One of them is wrong. If yours is right, ${own.length} of the ${quorum} witnesses needed have signed lately; if the server's is right, ${server.length}.`;
  const newest = Math.max(...own.filter(({ size }) => size < served.size).map(({ at }) => at)) * 1000;
  if (own.length >= quorum && newest > now + ahead_ms)
    return `${here}, and a witness signed at ${time_text(newest)}. One of the two clocks is wrong: that the witnesses have signed lately is not proven.`;
  return undefined;
}

/** The user relies on witnesses that the user named. Those that only the server names may be away. */
function check_witnesses(findings, shown, witnesses, quorum, of_server) {
  if (witnesses.length === 0)
    return findings.skip(
      'witnesses',
      'No witness was named: only people who compare receipts can notice that they were shown two logs.',
    );
  const by_clock = signatures_by_clock(witnesses, shown);
  const unclear = clocks_text(by_clock, shown, quorum);
  if (unclear) return findings.unproven('witnesses', unclear);
  const signed = by_clock.own;
  if (signed.length < quorum) {
    const what = `the served checkpoint, or an earlier one in the last ${cosigned_lag_s} s`;
    const few = `${signed.length} of the ${quorum} witnesses needed have signed ${what}`;
    const is_undated = shown.now === undefined && signatures_of(witnesses, shown, 0).length >= quorum;
    if (is_undated)
      return findings.unproven(
        'witnesses',
        `${few}: they signed earlier ones, and a copy of a log does not show when it was made.`,
      );
    if (!of_server) return findings.fail('witnesses', `${few}.`);
    const why = 'The server names these witnesses itself, and one of them may be away';
    return findings.unproven('witnesses', `Only ${few}. ${why}: that all see the same log is not proven.`);
  }
  const oldest = time_text(Math.min(...signed.map(({ at }) => at)) * 1000);
  const covered = signed.map(({ size }) => size).sort((a, b) => b - a)[quorum - 1];
  const { size } = shown.served;
  const part = covered < size ? ` The first ${covered} of ${size} records are cosigned so far.` : '';
  findings.pass(
    'witnesses',
    `${signed.length} of the witnesses saw this log grow without a change, the first at ${oldest}.${part}`,
  );
}

/** No record of a checkpoint is younger than the checkpoint. The checker's own clock may be the wrong one. */
function check_clocks(findings, { served, now = Date.now() }, witnesses, last) {
  const text = (who, at) =>
    `The newest record is dated ${time_text(last)}, but afterwards ${who} said ${time_text(at)}.`;
  for (const w of witnesses) {
    const signed = signed_at(served, w);
    if (signed !== null && last > signed * 1000 + ahead_ms)
      findings.fail('records', text(`the witness ${w.name}`, signed * 1000));
  }
  if (last > now + ahead_ms)
    findings.unproven('records', `${text('the clock of this machine', now)} One of the two is wrong.`);
}

/**
 * Compares each checkpoint seen with the root of the served log at that size. Of lost logs there are only
 * the checkpoints: two of a size must be the same.
 */
function check_consistency(findings, replay, seen, roots, { served, key, last }) {
  const { size } = served;
  const lost = new Map(); // the first of an origin and size
  let own = 0;
  for (const c of seen) {
    if (log_of_note(c, key.name) === 'lost') {
      check_lost(findings, replay, c, last, lost);
      continue;
    }
    ++own;
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
  findings.pass('consistency', `All ${own} checkpoints seen are of this one log, which only grew.`);
}

function check_lost(findings, replay, c, last, lost) {
  const id = `${c.origin} ${c.size}`;
  const first = lost.get(id);
  lost.set(id, first ?? c);
  const what = `${c.where} over ${c.size} records`;
  if (first && !equal(first.root, c.root))
    return findings.fail('consistency', `${what} and ${first.where} differ, and both are of ${c.origin}.`);
  if (c === last) return; // check_event says it
  const began = last ? ` This log ${began_text(replay, last)}.` : '';
  const missing = c.origin === last?.origin ? c.size - last.size : 0;
  const more =
    missing > 0
      ? ` At least ${missing} records were lost, and only the operator's word says that this was an accident.`
      : '';
  findings.unproven('consistency', `${what} is of ${c.origin}, a log that was lost.${began}${more}`);
}

/** When witnesses saw the closed entrants, in milliseconds. */
function closing_times(replay, closing, witnesses) {
  if (!closing || closing.size <= replay.closed_index) return [];
  const times = witnesses.map((w) => signed_at(closing, w));
  return times.filter((at) => at !== null).map((at) => at * 1000);
}
const first_text = (times) =>
  `${times.length} of the witnesses saw the closed entrants, the first at ${time_text(Math.min(...times))}`;

/**
 * A checkpoint over the closing that the quorum cosigned before the beacon was public proves that no entrant
 * came later.
 */
function check_closing(findings, replay, closing, witnesses, quorum) {
  const times = closing_times(replay, closing, witnesses);
  if (replay.drawn_record?.beacon === 'announced')
    return check_announced_closing(findings, replay, times, witnesses, quorum);
  if (replay.round_due === undefined) return;
  if (witnesses.length === 0)
    return findings.unproven(
      'closing',
      'No witness was named: nobody but the server says that the entrants were closed before the beacon was public.',
    );
  const before = times.filter((at) => at < replay.round_due);
  if (before.length >= quorum)
    findings.pass('closing', `${first_text(before)}, before the beacon was public.`);
  else
    findings.unproven(
      'closing',
      "Only the server's word says that the entrants were closed before the beacon was public.",
    );
}

/** The log does not know when a value was announced: the reader compares with what witnesses say. */
function check_announced_closing(findings, replay, times, witnesses, quorum) {
  if (witnesses.length > 0 && times.length >= quorum)
    return findings.skip('closing', `${first_text(times)}. Compare with when the value was announced.`);
  const nobody = witnesses.length === 0 ? 'No witness was named: nobody' : 'Nobody';
  findings.unproven(
    'closing',
    `${nobody} but the server says that the entrants were closed at ${time_text(replay.closed_record.at)}. A server that knew the value by then could choose them.`,
  );
}

const leave_texts = {
  holder: 'its holder left',
  expired: 'it expired',
  over: 'the event was over',
  hand: 'an operator removed it',
};

function fate_of(entry) {
  const drew = entry.rank && entry.rank !== entry.number ? ` Its rank is ${entry.rank}.` : '';
  const joined = `Number ${entry.number} joined at ${time_text(entry.joined_at)}.${drew}`;
  if (entry.admitted_at) return `${joined} It was admitted at ${time_text(entry.admitted_at)}.`;
  if (entry.ended_at)
    return `${joined} It left the line at ${time_text(entry.ended_at)}: ${leave_texts[entry.left_why]}.`;
  return `${joined} It is ${entry.state}.`;
}

function check_receipt(findings, receipt, records, replay, origin) {
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
  const entry = replay.entries.get(join.number);
  const has_place = entry !== undefined && equal(entry.commitment, join.commitment);
  if (log_of_note(checkpoint, origin) === 'lost') {
    const there = `there it is record ${index}, number ${join.number}, which joined at ${time_text(join.at)}`;
    const here = has_place
      ? `This log has this place: ${fate_of(entry)}`
      : 'This log does not have this place: its holder had left the line, the place was lost, or its record comes later.';
    return findings.unproven(
      'receipt',
      `The receipt is of ${checkpoint.origin}, a log that was lost: ${there}. ${here}`,
    );
  }
  if (!records.get(index) || !equal(records.get(index), record))
    return fail(`Number ${join.number} has a receipt, and the served log does not have its record ${index}.`);
  if (!has_place)
    return fail(`Number ${join.number} is in the log twice, and that of the receipt is the second.`);
  findings.pass('receipt', `The receipt is in the log as record ${index}. ${fate_of(entry)}`);
  return { index, entry };
}

/**
 * Reads all entries: fills `kept` (index -> entry), replays the records and returns the roots at the sizes
 * seen, and the checkpoint over the closing.
 */
async function follow(read, size, { findings, seen, kept, replay, progress, cache }) {
  const wanted = new Set(seen.map((c) => c.size));
  const roots = new Map();
  const tree = new Tree();
  let tail; // since the closing: the draw says at which of these sizes the closing's checkpoint is
  let closing;
  if (wanted.has(0)) roots.set(0, tree.root());
  for await (const entries of entries_of(read, size, cache)) {
    for (const entry of entries) {
      const index = tree.size;
      if (kept.has(index)) kept.set(index, entry);
      const leaf = leaf_hash(entry);
      tree.append_leaf(leaf);
      if (!replay.drawn_record) tail?.add(leaf);
      if (wanted.has(tree.size)) roots.set(tree.size, tree.root());
      const record = read_record(findings, entry, index);
      if (record) replay.take(record, index);
      if (replay.closed_record) tail ??= new Tail(tree);
      if (record && record === replay.drawn_record && record.closing)
        closing = read_closing(findings, record, seen, tail, roots);
    }
    progress?.(tree.size, size);
  }
  replay.finish();
  return { roots, closing };
}

/**
 * Checks a log.
 * `read(path, cache)`: the bytes of "checkpoint", "checkpoint.cosigned", "key", "tile/entries/…"; rejects
 * with status 404 or code ENOENT where there is none. `cache`: "default" if a cache may have them.
 * `read.date`: when the server says that it answered last, in ms, if it does.
 * `options`: now (a clock, in ms; without it only the served checkpoint counts);
 * event (its id); receipts and checkpoints (texts seen before); log_key and witnesses (verifier
 * keys); witnesses_of_server (true: only the server names them, so that too few signatures are no failure);
 * quorum (how many witnesses; default all); chains (drand's /info); announced (the value that was); promised
 * ({draw: none or at_opening, beacon: none, drand:CHAIN:ROUND or announced:TEXT}, as it was
 * promised); patience
 * (how often to read the checkpoints again, a second later, until the quorum has signed); progress (called
 * with the records read so far and all).
 * Returns {findings, result, checkpoint, size, replay, receipts}, of each good receipt its index and entry;
 * throws if the log cannot be read.
 */
export async function verify(read, options = {}) {
  const findings = new Findings();
  const receipts = (options.receipts ?? []).map(parse_receipt);
  const witnesses = [...new Set((options.witnesses ?? []).map((w) => w.trim()))].map(parse_witness_key);
  const quorum = read_quorum(options.quorum, witnesses.length);
  const pinned = options.log_key && parse_log_key(options.log_key);
  const key = parse_log_key(text_of(await read('key')));
  const shown = await read_checkpoints(read, witnesses, quorum, options);
  const { served } = shown;
  if (served.size > records_max)
    throw new Error(`the log has ${served.size} records; this checker reads ${records_max}`);
  const seen = collect(served, shown.cosigned, receipts, options);

  const kept = new Map(receipts.map((r) => [r.index, null]));
  const replay = new Replay(findings, options.chains, options.announced, options.promised);
  const { roots, closing } = await follow(read, served.size, {
    findings,
    seen,
    kept,
    replay,
    progress: options.progress,
    // The logs of an event have the same addresses, and a cache keeps a tile for ever.
    cache: parse_origin(key.name).number === 1 ? 'default' : undefined,
  });
  const last = replay.lost && read_note(findings, seen, 'the last checkpoint of the lost log', replay.lost);
  const log = { served, key, last };

  check_event(findings, replay, log, options.event);
  check_signatures(findings, seen, key, pinned);
  check_witnesses(findings, shown, witnesses, quorum, options.witnesses_of_server);
  check_clocks(findings, shown, witnesses, replay.last.at);
  check_consistency(findings, replay, seen, roots, log);
  check_closing(findings, replay, closing?.origin === key.name ? closing : undefined, witnesses, quorum);
  const good = receipts
    .map((receipt) => check_receipt(findings, receipt, kept, replay, key.name))
    .filter(Boolean);
  const list = findings.list();
  const result = list.reduce(
    (worst, f) => (results.indexOf(f.result) > results.indexOf(worst) ? f.result : worst),
    'passed',
  );
  return {
    findings: list,
    result: result === 'skipped' ? 'passed' : result,
    checkpoint: served.note,
    size: served.size,
    replay,
    receipts: good,
  };
}

/** Witnesses sign a checkpoint a moment after it is served. */
async function read_checkpoints(read, witnesses, quorum, { patience = 0, now }) {
  for (let left = patience; ; --left) {
    const notes = witnesses.length > 0 ? await read_cosigned(read) : [];
    const served = parse_checkpoint(text_of(await read('checkpoint')));
    const cosigned = notes.filter((c) => c.size < served.size); // a cache may have an older checkpoint
    const shown = { served, cosigned, now: now?.(), server_now: now && read.date };
    const { own, server } = signatures_by_clock(witnesses, shown);
    if (left <= 0 || Math.min(own.length, server.length) >= quorum) return shown;
    await new Promise((done) => setTimeout(done, 1000));
  }
}

async function read_cosigned(read) {
  try {
    const notes = text_of(await read('checkpoint.cosigned'));
    return parse_if_any(notes).slice(0, cosigned_max);
  } catch (error) {
    if (error.status === 404 || error.code === 'ENOENT') return [];
    throw error;
  }
}

/** None of a page that is no note: some mirrors answer to every path. */
function parse_if_any(notes) {
  try {
    return parse_checkpoints(notes);
  } catch {
    return [];
  }
}

/** Without a number all must sign. */
function read_quorum(quorum, witnesses) {
  if (quorum === undefined) return witnesses;
  if (!Number.isInteger(quorum) || quorum < 1 || quorum > witnesses)
    throw new Error(`the quorum must be a number from 1 to ${witnesses}, the witnesses named`);
  return quorum;
}

function read_record(findings, entry, index) {
  try {
    return parse_record(entry);
  } catch (error) {
    findings.fail('records', `Record ${index} cannot be read: ${error.message}.`);
    return null;
  }
}

/** A checkpoint in a record; it is among those seen. */
function read_note(findings, seen, where, note) {
  try {
    const read = { where, ...parse_checkpoint(note) };
    seen.push(read);
    return read;
  } catch (error) {
    findings.fail('consistency', `${where} cannot be read: ${error.message}.`);
    return undefined;
  }
}

function read_closing(findings, record, seen, tail, roots) {
  const closing = read_note(findings, seen, 'the checkpoint over the closing', record.closing);
  const root = closing && tail?.root_at(closing.size);
  if (root) roots.set(closing.size, root);
  return closing;
}
