// SPDX-License-Identifier: Apache-2.0
// The draw of a lobby, and drand's beacons.
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { big_endian, compare, concat, equal, from_hex, to_hex, utf8, write_number } from './bytes.mjs';
import { Tree } from './merkle.mjs';
import { hmac_sha256, sha256 } from './sha256.mjs';

/** The chain of drand that servers use: a round each 3 s, signatures in G1 without predecessor. */
export const quicknet = {
  public_key:
    '83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451' +
    '0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a',
  period: 3,
  genesis_time: 1692803367,
  groupHash: 'f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e',
  metadata: { beaconID: 'quicknet' },
};

/** The hash that names a chain, from what drand's /info says of it. */
export function chain_hash(info) {
  const name = info.metadata?.beaconID ?? 'default';
  const head = concat(big_endian(info.period, 4), big_endian(info.genesis_time, 8));
  const keys = concat(from_hex(info.public_key), from_hex(info.groupHash));
  return to_hex(sha256(concat(head, keys, name === 'default' ? new Uint8Array() : utf8(name))));
}

/** When a round is due, in milliseconds. */
export const due_at = (info, round) => (info.genesis_time + (round - 1) * info.period) * 1000;

const suite = 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_';
export const round_message = (round) => bls12_381.shortSignatures.hash(sha256(big_endian(round, 8)), suite);

/** Bytes of a signature in G1. */
export const short_signature = 48;

/** Whether this is the round's signature in its only encoding: two would be two values to choose from. */
export function is_round(info, round, signature) {
  try {
    const bls = bls12_381.shortSignatures;
    const canonical = bls.Signature.fromBytes(signature).toBytes(true);
    if (!equal(canonical, signature)) return false;
    return bls.verify(signature, round_message(round), from_hex(info.public_key));
  } catch {
    return false;
  }
}

const no_types = new Uint8Array(8);

/** The root over the entrants, in ascending order of number. */
export function entrants_root(entrants) {
  const tree = new Tree();
  const leaf = new Uint8Array(57);
  for (const e of entrants) {
    write_number(leaf, 0, e.number);
    leaf[8] = e.priority_class;
    leaf.set(e.opens === 0n ? no_types : big_endian(e.opens, 8), 9);
    write_number(leaf, 17, e.party);
    leaf.set(e.commitment, 25);
    tree.append(leaf);
  }
  return tree.root();
}

/** The members of a party all get the lowest of their classes, which has the highest number. */
export function level_parties(entrants) {
  const lowest = new Map();
  for (const e of entrants)
    if (e.party) lowest.set(e.party, Math.max(e.priority_class, lowest.get(e.party) ?? 0));
  for (const e of entrants) if (e.party) e.priority_class = lowest.get(e.party);
}

/** Whether an announced value has the spelling that is allowed: words of printable ASCII, single spaces. */
export const is_spelled = (bytes) => /^[!-~]+( [!-~]+)*$/.test(String.fromCharCode(...bytes));

/** What goes into the key: the randomness of drand's round, or the announced value. */
export const beacon_value = (kind, value) => (kind === 'drand' ? sha256(value) : value);

/** The entrants by rank. Their class goes before it and does not matter here. */
export function draw_order(seed, root, beacon, entrants) {
  const mac = hmac_sha256(concat(seed, root, beacon));
  const message = new Uint8Array(8);
  const lot = new Uint8Array(32);
  const lot_of = (entrant, out) => {
    write_number(message, 0, entrant.party || entrant.number);
    return mac(message, out);
  };
  // Sorted by the first 48 bits; where these are equal, by all.
  const first = Float64Array.from(entrants, (entrant) => {
    lot_of(entrant, lot);
    return ((lot[0] << 16) | (lot[1] << 8) | lot[2]) * 2 ** 24 + ((lot[3] << 16) | (lot[4] << 8) | lot[5]);
  });
  const order = Uint32Array.from(entrants.keys());
  order.sort((i, j) => {
    const [a, b] = [entrants[i], entrants[j]];
    return (
      first[i] - first[j] ||
      compare(lot_of(a), lot_of(b)) ||
      (a.party || a.number) - (b.party || b.number) ||
      a.number - b.number
    );
  });
  return Array.from(order, (i) => entrants[i]);
}
