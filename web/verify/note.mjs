// SPDX-License-Identifier: Apache-2.0
// Signed notes, checkpoints, cosignatures and receipts (c2sp.org/signed-note, tlog-checkpoint,
// tlog-cosignature, tlog-proof).
import { ed25519 } from '@noble/curves/ed25519.js';
import { concat, equal, from_base64, to_base64, to_hex, utf8 } from './bytes.mjs';
import { sha256 } from './sha256.mjs';

/** A note fits into a record. Each signature of more lines would take time. */
const note_max = 65_535;
const signatures_max = 100;
const log_kind = 1;
const witness_kind = 4;

const key_id = (name, material) => sha256(utf8(`${name}\n`), material).slice(0, 4);

/** Reads "<name>+<id>+<base64 of kind and key>". Throws for anything else. */
export function parse_key(text) {
  const [, name, id, material] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? [];
  if (!name) throw new Error(`not a verifier key: ${text.trim()}`);
  const bytes = from_base64(material);
  const computed = key_id(name, bytes);
  const known = bytes.length === 33 && (bytes[0] === log_kind || bytes[0] === witness_kind);
  if (!known || to_hex(computed) !== id) throw new Error(`not an Ed25519 verifier key: ${text.trim()}`);
  return { name, id: computed, kind: bytes[0], key: bytes.slice(1) };
}

/** As parse_key, for a log or a witness only. */
export function parse_log_key(text) {
  return key_of_kind(text, log_kind, 'a log');
}
export function parse_witness_key(text) {
  return key_of_kind(text, witness_kind, 'a witness');
}
function key_of_kind(text, kind, whose) {
  const key = parse_key(text);
  if (key.kind !== kind) throw new Error(`not the verifier key of ${whose}: ${text.trim()}`);
  return key;
}

/** The same key under the name of another log of its server. */
export function key_of_log(key, origin) {
  return { ...key, name: origin, id: key_id(origin, concat(Uint8Array.of(key.kind), key.key)) };
}

/** Of an origin: the path, the event or queue, and the number, which is 1 for the first log of the event. */
export function parse_origin(origin) {
  const [, path, event, number = 1] =
    /(\/(?:events|queues)\/([^/]+)\/log)(?:\/([2-9]|[1-9]\d{1,8}))?$/.exec(origin) ?? [];
  return { path, event, number: Number(number) };
}

/** Which log a note belongs to: 'this' with the `origin`, a 'lost' one that it replaces, or 'another'. */
export function log_of_note(note, origin) {
  if (note.origin === origin) return 'this';
  const [its, mine] = [note.origin, origin].map(parse_origin);
  return its.path === mine.path && its.number < mine.number ? 'lost' : 'another';
}

/** Reads a checkpoint. Throws if it is none. */
export function parse_checkpoint(note) {
  if (note.length > note_max) throw new Error('a checkpoint is too large');
  const end = note.lastIndexOf('\n\n') + 1;
  const text = note.slice(0, end);
  const lines = text.split('\n');
  if (end === 0 || lines.length !== 4 || !/^(0|[1-9]\d{0,15})$/.test(lines[1]))
    throw new Error('a checkpoint is not well-formed');
  if (!Number.isSafeInteger(Number(lines[1]))) throw new Error('a checkpoint has an impossible size');
  const root = from_base64(lines[2]);
  if (root.length !== 32 || to_base64(root) !== lines[2]) throw new Error('a checkpoint has no root');
  const signatures = [];
  for (const line of note.slice(end + 1).split('\n')) {
    const [, name, base64] = /^— (\S+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
    if (name) signatures.push({ name, bytes: from_base64(base64) });
  }
  if (signatures.length > signatures_max) throw new Error('a checkpoint has too many signatures');
  return { origin: lines[0], size: Number(lines[1]), root, text, note, signatures };
}

/** Reads notes with an empty line between: each is a text and its signatures. */
export function parse_checkpoints(notes) {
  const blocks = notes.replace(/\n$/, '').split('\n\n');
  const pairs = blocks.flatMap((text, i) => (i % 2 === 0 ? [`${text}\n\n${blocks[i + 1] ?? ''}\n`] : []));
  return pairs.map(parse_checkpoint);
}

function is_valid(text, key, bytes) {
  try {
    return ed25519.verify(bytes, utf8(text), key.key, { zip215: false });
  } catch {
    return false;
  }
}

/**
 * Null if this key did not sign or one of its signatures is false; else when it signed, in seconds: of a
 * log 0.
 */
export function signed_at(checkpoint, key) {
  let found = null;
  for (const { name, bytes } of checkpoint.signatures) {
    if (name !== key.name || !equal(bytes.slice(0, 4), key.id)) continue;
    let [text, signature, at] = [checkpoint.text, bytes.slice(4), 0];
    if (key.kind === witness_kind) {
      if (bytes.length !== 76) return null;
      at = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(4));
      signature = bytes.slice(12);
      text = `cosignature/v1\ntime ${at}\n${text}`;
    }
    if (!is_valid(text, key, signature)) return null;
    found = at;
  }
  return found;
}

/** Reads a receipt: a tlog-proof whose extra data are nonce, entry id and record of the join. */
export function parse_receipt(text) {
  const [, extra, index, hashes, note] =
    /^c2sp\.org\/tlog-proof@v1\nextra (\S+)\nindex (0|[1-9]\d{0,15})\n((?:\S+\n)*)\n([^]+)$/.exec(text) ?? [];
  if (!extra) throw new Error('a receipt is not well-formed');
  const bytes = from_base64(extra);
  return {
    index: Number(index),
    proof: hashes.split('\n').slice(0, -1).map(from_base64),
    checkpoint: parse_checkpoint(note),
    nonce: bytes.slice(0, 16),
    entry: bytes.slice(16, 32),
    record: bytes.slice(32),
  };
}
