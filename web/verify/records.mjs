// SPDX-License-Identifier: Apache-2.0
// The records of a log (docs/design/fairness.md).
import { Reader } from './bytes.mjs';

const kinds = [
  null,
  'begin',
  'lobby',
  'joined',
  'changed',
  'left',
  'away',
  'back',
  'closed',
  'drawn',
  'admitted',
  'session_ended',
  'hand',
];
export const beacons = ['none', 'drand', 'announced'];
export const actions = [
  null,
  'advance',
  'revoke',
  'priority',
  'block',
  'pause',
  'resume',
  'settings',
  'end_wait',
  'end',
  'cancel',
  'access',
  'waiting_list',
];

function one_of(list, code) {
  const name = list[code];
  if (name == null) throw new Error(`a record has the unknown code ${code}`);
  return name;
}

const place = (r) => ({ number: r.u64(), priority_class: r.u8(), opens: r.big(), party: r.u64() });
const many = (count, read) => Array.from({ length: count }, read);

const bodies = {
  begin: (r) => ({ version: r.u8(), event: r.take(16), settings: r.text(), lost: r.text() }),
  lobby: (r) => ({
    opens_at: r.u64(),
    draws: one_of([false, true], r.u8()),
    party_max: r.u8(),
    seed_commitment: r.take(32),
    beacon: one_of(beacons, r.u8()),
    source: r.blob(),
  }),
  joined: (r) => ({ ...place(r), commitment: r.take(32) }),
  changed: (r) => ({ ...place(r), by: one_of(['holder', 'hand'], r.u8()) }),
  left: (r) => ({ number: r.u64(), why: one_of(['holder', 'expired', 'over', 'hand'], r.u8()) }),
  away: (r) => ({ number: r.u64() }),
  back: (r) => ({ number: r.u64() }),
  closed: (r) => ({ entrants: r.u64(), root: r.take(32) }),
  drawn: (r) => ({
    seed: r.take(32),
    root: r.take(32),
    beacon: one_of(beacons, r.u8()),
    value: r.blob(),
    closing: r.text(),
  }),
  admitted: (r) => ({
    batch: r.u32(),
    splits_party: one_of([false, true], r.u8()),
    public_units: r.u64(),
    hidden_units: many(r.u8(), () => ({ type: r.u8(), units: r.u64() })),
    numbers: many(r.u16(), () => r.u64()),
  }),
  session_ended: (r) => ({ number: r.u64(), why: one_of(['completed', 'expired', 'revoked'], r.u8()) }),
  hand: (r) => ({
    action: one_of(actions, r.u8()),
    number: r.u64(),
    count: r.u64(),
    change: r.text(),
    reason: r.text(),
  }),
};

/** Throws for bytes that are not exactly a record. */
export function parse_record(bytes) {
  const r = new Reader(bytes);
  const kind = one_of(kinds, r.u8());
  const record = { kind, sequence: r.u64(), at: r.u64(), ...bodies[kind](r) };
  r.end();
  return record;
}

/** The first entries of a bundle, `count` or as many as there are: 16-bit length, bytes. */
export function parse_bundle(bytes, count = 256) {
  const r = new Reader(bytes);
  const entries = [];
  while (r.at < bytes.length && entries.length < count) entries.push(r.blob());
  return entries;
}
