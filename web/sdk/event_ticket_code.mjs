// SPDX-License-Identifier: Apache-2.0
// Codes of event tickets in browsers, without a network: what a scanner checks and what a holder's page
// shows. docs/design/tickets.md has format, keys and vectors; crypto/event_ticket_code.cpp does the same.
// Needs WebCrypto with Ed25519 (Chromium 137, Firefox 130, Safari 17, Node 18) and a secure context.

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
const claims_bytes = 37;
const mac_bytes = 16;
const kinds = { 1: ['fixed', claims_bytes + 64], 2: ['rotating', claims_bytes + mac_bytes] };
const signing_context = new TextEncoder().encode('fairqueue event ticket');
const step_ms = 30_000;

/** Base45 (RFC 9285), strict; null for any other text. */
function from_base45(text) {
  if (text.length % 3 === 1) return null;
  const bytes = [];
  for (let at = 0; at < text.length; at += 3) {
    const digits = [...text.slice(at, at + 3)].map((c) => alphabet.indexOf(c));
    const n = digits.reduceRight((sum, digit) => sum * 45 + digit, 0);
    if (digits.includes(-1) || n > (digits.length === 3 ? 0xffff : 0xff)) return null;
    if (digits.length === 3) bytes.push(n >> 8);
    bytes.push(n & 0xff);
  }
  return Uint8Array.from(bytes);
}

function to_base45(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += 2) {
    const is_pair = at + 1 < bytes.length;
    let n = is_pair ? bytes[at] * 256 + bytes[at + 1] : bytes[at];
    for (let digits = is_pair ? 3 : 2; digits > 0; digits -= 1, n = Math.floor(n / 45))
      text += alphabet[n % 45];
  }
  return text;
}

const hex = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, '0')).join('');
const uuid_of = (bytes) => hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

function claims_of(kind, { event, ticket, generation }) {
  const bytes = new Uint8Array(claims_bytes);
  const put = (id, at) =>
    id
      .replaceAll('-', '')
      .match(/../g)
      .forEach((pair, i) => {
        bytes[at + i] = parseInt(pair, 16);
      });
  bytes[0] = kind;
  put(event, 1);
  put(ticket, 17);
  new DataView(bytes.buffer).setUint32(33, generation);
  return bytes;
}

function joined(...parts) {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** {kind: 'fixed' | 'rotating', event, ticket, generation, …}, not verified; null for any other text. */
export function read_code(text) {
  const bytes = from_base45(text);
  const [kind, size] = kinds[bytes?.[0]] ?? [];
  if (!kind || bytes.length !== size) return null;
  return {
    kind,
    event: uuid_of(bytes.subarray(1, 17)),
    ticket: uuid_of(bytes.subarray(17, 33)),
    generation: new DataView(bytes.buffer).getUint32(33),
    signed: bytes.subarray(0, claims_bytes),
    proof: bytes.subarray(claims_bytes),
  };
}

/** Whether a fixed code has this event's signature. `public_key`: 32 bytes. */
export async function is_signed(code, public_key) {
  if (code.kind !== 'fixed') return false;
  const { subtle } = globalThis.crypto;
  const key = await subtle.importKey('raw', public_key, { name: 'Ed25519' }, false, ['verify']);
  return subtle.verify({ name: 'Ed25519' }, key, code.proof, joined(signing_context, code.signed));
}

/** HMAC key of a ticket's secret, 32 bytes. */
const hmac_key = (secret) =>
  globalThis.crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);

async function mac_of(key, signed, step) {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, BigInt(step));
  const mac = await globalThis.crypto.subtle.sign('HMAC', key, joined(signing_context, signed, number));
  return new Uint8Array(mac).subarray(0, mac_bytes);
}

/** What the holder's page shows at `now` (Unix time in milliseconds, the server's). */
export async function rotating_code(secret, claims, now) {
  const signed = claims_of(2, claims);
  const mac = await mac_of(await hmac_key(secret), signed, Math.floor(now / step_ms));
  return to_base45(joined(signed, mac));
}

/** Whether a rotating code is of the step of `now`, the one before or the one after. */
export async function is_current(code, secret, now) {
  if (code.kind !== 'rotating') return false;
  const key = await hmac_key(secret);
  let found = false;
  for (const shift of [-1, 0, 1]) {
    const mac = await mac_of(key, code.signed, Math.floor(now / step_ms) + shift);
    let difference = 0; // every byte is compared
    for (let i = 0; i < mac_bytes; i += 1) difference |= mac[i] ^ code.proof[i];
    found ||= difference === 0;
  }
  return found;
}
