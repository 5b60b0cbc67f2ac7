// SPDX-License-Identifier: Apache-2.0
// Solves a challenge of the kind proof_of_work: the number whose SHA-256, behind the salt, is given (ALTCHA's
// protocol, version 1). The browser hashes beside the page, so that nothing stands still.

const at_once = 256;
const encoder = new TextEncoder();

const hex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, '0')).join('');

async function hash(text) {
  return hex(await crypto.subtle.digest('SHA-256', encoder.encode(text)));
}

/** The text to send with a join. Rejects if there is no such number. */
export async function solve_work({ algorithm, challenge, salt, signature, maxnumber }) {
  for (let first = 0; first <= maxnumber; first += at_once) {
    const numbers = Array.from({ length: Math.min(at_once, maxnumber + 1 - first) }, (_, i) => first + i);
    const hashes = await Promise.all(numbers.map((number) => hash(salt + number)));
    const found = hashes.indexOf(challenge);
    if (found >= 0)
      return btoa(JSON.stringify({ algorithm, challenge, number: first + found, salt, signature }));
  }
  throw new Error('FairQueue: the challenge has no solution');
}
