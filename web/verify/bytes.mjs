// SPDX-License-Identifier: Apache-2.0
// Bytes to text and back, and a reader of big-endian records. Runs in browsers and Node.
const encoder = new TextEncoder();
export const utf8 = (text) => encoder.encode(text);

export const to_hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
export const from_hex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** An id of 16 bytes, as addresses have it. */
export const id_text = (bytes) => to_hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

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

/** Writes a number below 2^53 in 8 bytes. */
export function write_number(to, at, value) {
  let [high, low] = [Math.floor(value / 2 ** 32), value >>> 0];
  for (let i = 3; i >= 0; --i, high >>>= 8, low >>>= 8) {
    to[at + i] = high;
    to[at + 4 + i] = low;
  }
}

/** Reads fields one after another; throws where the bytes end too early. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  u8() {
    if (this.at >= this.bytes.length) throw new Error('a record is too short');
    return this.bytes[this.at++];
  }
  u16() {
    return this.u8() * 256 + this.u8();
  }
  u32() {
    return this.u16() * 65536 + this.u16();
  }
  /** Numbers of records stay below 2^53. */
  u64() {
    const high = this.u32();
    if (high >= 1 << 21) throw new Error('a number is too large');
    return high * 2 ** 32 + this.u32();
  }
  big() {
    const high = this.u32();
    const low = this.u32();
    return high === 0 && low === 0 ? 0n : (BigInt(high) << 32n) | BigInt(low);
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
