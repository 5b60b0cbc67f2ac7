// SPDX-License-Identifier: Apache-2.0
// SHA-256 and HMAC-SHA256 (FIPS 180-4, RFC 2104), made for millions of short messages: no object for each.

const primes = [];
for (let n = 2; primes.length < 64; ++n) if (primes.every((p) => n % p !== 0)) primes.push(n);
/** The first 32 bits of the fraction. */
const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const constants = Int32Array.from(primes, (p) => fraction(Math.cbrt(p)));
const initial = Int32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p)));

const words = new Int32Array(64);

/** Adds the 64 bytes of `bytes` from `at` on to `state`. */
function compress(state, bytes, at) {
  const w = words;
  for (let i = 0; i < 16; ++i, at += 4)
    w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  for (let i = 16; i < 64; ++i) {
    const x = w[i - 15];
    const y = w[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
  }
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let i = 0; i < 64; ++i) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + constants[i] + w[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

let scratch = new Uint8Array(1 << 17);
const state = new Int32Array(8);

/** Writes the digest of scratch[0, size), after `before` bytes that `state` has already, to out[to]. */
function finish(size, before, out, to) {
  const end = (size + 9 + 63) & ~63;
  scratch.fill(0, size, end);
  scratch[size] = 0x80;
  const total = size + before;
  const high = Math.floor(total / 2 ** 29);
  for (let i = 0; i < 4; ++i) {
    scratch[end - 1 - i] = (total << 3) >>> (8 * i);
    scratch[end - 5 - i] = high >>> (8 * i);
  }
  for (let at = 0; at < end; at += 64) compress(state, scratch, at);
  for (let i = 0; i < 8; ++i, to += 4) {
    const word = state[i];
    out[to] = word >>> 24;
    out[to + 1] = word >>> 16;
    out[to + 2] = word >>> 8;
    out[to + 3] = word;
  }
  return out;
}

function copy(parts) {
  let size = 0;
  for (const part of parts) size += part.length;
  if (size + 72 > scratch.length) scratch = new Uint8Array(2 * size + 72);
  let at = 0;
  for (const part of parts) {
    scratch.set(part, at);
    at += part.length;
  }
  return size;
}

/** Of all parts, one after another. */
export function sha256(...parts) {
  return sha256_into(new Uint8Array(32), 0, ...parts);
}

export function sha256_into(out, to, ...parts) {
  state.set(initial);
  return finish(copy(parts), 0, out, to);
}

/** Replaces two digests at bytes[at] by their node in a tree: the digest of 1 and both. */
export function join_pair(bytes, at) {
  scratch[0] = 1;
  for (let i = 0; i < 64; ++i) scratch[1 + i] = bytes[at + i];
  state.set(initial);
  finish(65, 0, bytes, at);
}

/** HMAC under one key: a function of the message, and of where the digest goes. */
export function hmac_sha256(key) {
  const padded = new Uint8Array(64);
  padded.set(key.length > 64 ? sha256(key) : key);
  const [inner, outer] = [0x36, 0x5c].map((byte) => {
    const begun = initial.slice();
    compress(
      begun,
      padded.map((k) => k ^ byte),
      0,
    );
    return begun;
  });
  return (message, out = new Uint8Array(32)) => {
    state.set(inner);
    finish(copy([message]), 64, out, 0);
    state.set(outer);
    return finish(copy([out]), 64, out, 0);
  };
}
