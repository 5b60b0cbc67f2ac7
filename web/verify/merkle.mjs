// SPDX-License-Identifier: Apache-2.0
// The Merkle tree of RFC 6962, and where a log's tiles are (c2sp.org/tlog-tiles).
import { equal } from './bytes.mjs';
import { join_pair, sha256, sha256_into } from './sha256.mjs';

const zero = Uint8Array.of(0);
const one = Uint8Array.of(1);
export const leaf_hash = (entry) => sha256(zero, entry);
export const node_hash = (left, right) => sha256(one, left, right);

/** The right edge of a growing tree. */
export class Tree {
  constructor() {
    this.size = 0;
    this.height = 0; ///< how many complete subtrees
    this.hashes = new Uint8Array(64 * 32); ///< of complete subtrees, the largest first
  }
  append(entry) {
    sha256_into(this.hashes, 32 * this.height, zero, entry);
    this.#join();
  }
  append_leaf(hash) {
    this.hashes.set(hash, 32 * this.height);
    this.#join();
  }
  copy() {
    return Object.assign(new Tree(), this, { hashes: this.hashes.slice() });
  }
  /** The leaf behind the complete subtrees becomes part of them. */
  #join() {
    ++this.height;
    for (let n = this.size; n % 2 === 1; n = (n - 1) / 2) join_pair(this.hashes, 32 * (--this.height - 1));
    ++this.size;
  }
  root() {
    if (this.size === 0) return sha256();
    const hashes = this.hashes.slice(0, 32 * this.height);
    for (let last = this.height - 2; last >= 0; --last) join_pair(hashes, 32 * last);
    return hashes.slice(0, 32);
  }
}

/** The leaves that a tree gets from now on: a root for a size that is known later, without all the others. */
export class Tail {
  constructor(tree) {
    this.before = tree.copy();
    this.leaves = new Uint8Array(32 * 1024);
    this.count = 0;
  }
  add(leaf) {
    if (32 * this.count === this.leaves.length) {
      const larger = new Uint8Array(2 * this.leaves.length);
      larger.set(this.leaves);
      this.leaves = larger;
    }
    this.leaves.set(leaf, 32 * this.count++);
  }
  /** Undefined for a size that is not in it. */
  root_at(size) {
    const tree = this.before.copy();
    const missing = size - tree.size;
    if (missing < 0 || missing > this.count) return undefined;
    for (let i = 0; i < missing; ++i) tree.append_leaf(this.leaves.subarray(32 * i, 32 * i + 32));
    return tree.root();
  }
}

/** Whether `leaf` is at `index` of the tree (RFC 9162 section 2.1.3.2). */
export function is_included(leaf, index, size, root, proof) {
  if (index >= size) return false;
  let [first, last, hash] = [index, size - 1, leaf];
  const up = () => ([first, last] = [Math.floor(first / 2), Math.floor(last / 2)]);
  for (const sibling of proof) {
    if (last === 0) return false;
    if (first % 2 === 1 || first === last) {
      hash = node_hash(sibling, hash);
      while (first % 2 === 0 && first !== 0) up();
    } else {
      hash = node_hash(hash, sibling);
    }
    up();
  }
  return last === 0 && equal(hash, root);
}

const width = 256;

/**
 * Yields the bundles of entries of a log with `size` entries: path, and the path once it is full. One at a
 * time: a server may claim any size.
 */
export function* bundles(size) {
  for (let first = 0; first < size; first += width) {
    const index = first / width;
    let path = String(index % 1000).padStart(3, '0');
    for (let n = Math.floor(index / 1000); n > 0; n = Math.floor(n / 1000))
      path = `x${String(n % 1000).padStart(3, '0')}/${path}`;
    const count = Math.min(width, size - first);
    const full = `tile/entries/${path}`;
    yield { count, full, path: count === width ? full : `${full}.p/${count}` };
  }
}
