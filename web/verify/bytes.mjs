// SPDX-License-Identifier: Apache-2.0
// Bytes to text and back, and a reader of big-endian records. Runs in browsers and Node.
import { sha256 as hash } from '@noble/hashes/sha2.js';

export const sha256 = hash;

const encoder = new TextEncoder();
export const utf8 = (text) => encoder.encode(text);

export const to_hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
export const from_hex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

export const to_base64 = (bytes) => btoa(String.fromCharCode(...bytes));
export const from_base64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

export function concat(...parts) {
  const all = new Uint8Array(parts.reduce((size, p) => size + p.length, 0));
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return all;
}

export function equal(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Below, at or above 0 as `a` is before, equal to or after `b`. */
export function compare(a, b) {
  for (let i = 0; i < a.length; ++i) if (a[i] !== b[i]) return a[i] - b[i];
  return 0;
}

export function big_endian(value, size) {
  const bytes = new Uint8Array(size);
  for (let i = size - 1, rest = BigInt(value); i >= 0; --i, rest >>= 8n) bytes[i] = Number(rest & 255n);
  return bytes;
}

/** Reads fields one after another; throws where the bytes end too early. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
  }
  u8() {
    return this.view.getUint8(this.at++);
  }
  u16() {
    return this.view.getUint16((this.at += 2) - 2);
  }
  u32() {
    return this.view.getUint32((this.at += 4) - 4);
  }
  /** Numbers of records stay below 2^53. */
  u64() {
    const high = this.u32();
    if (high >= 1 << 21) throw new Error('a number is too large');
    return high * 2 ** 32 + this.u32();
  }
  big() {
    return this.view.getBigUint64((this.at += 8) - 8);
  }
  take(size) {
    if (this.at + size > this.bytes.length) throw new Error('a record is too short');
    return this.bytes.subarray(this.at, (this.at += size));
  }
  blob() {
    return this.take(this.u16());
  }
  text() {
    return new TextDecoder('utf-8', { fatal: true }).decode(this.blob());
  }
  end() {
    if (this.at !== this.bytes.length) throw new Error('a record is too long');
  }
}
