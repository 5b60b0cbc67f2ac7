// SPDX-License-Identifier: Apache-2.0
// The part of the Postgres protocol (version 3, without TLS) that detects a COMMIT: the limits of messages,
// the client's messages that request a commit (simple and extended protocol), and the server's message that
// confirms it.

/** Bytes of a message that are inspected; a COMMIT is short. */
const looked_at_max = 8192;

const encryption_requests = new Set([80877103, 80877104]); // SSLRequest, GSSENCRequest: the answer is one byte
const ends_transaction = /(^|;)\s*(commit|end)\b/i;

const text_until_zero = (bytes, from = 0) => bytes.toString('latin1', from, bytes.indexOf(0, from));

/**
 * Splits chunks of bytes into messages {type, body, start}. `start`: offset in this chunk; negative: in an
 * earlier one.
 */
class Messages {
  #header = Buffer.alloc(5);
  #header_bytes = 0;
  #body = [];
  #body_bytes = 0;
  #left;
  #start = 0;

  /** `is_typed`: the first messages of a client have no type byte. */
  constructor(is_typed) {
    this.is_typed = is_typed;
  }

  *of(chunk) {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === undefined) {
        if (this.#header_bytes === 0) this.#start = at;
        const offset = this.is_typed ? 0 : 1;
        this.#header[offset + this.#header_bytes++] = chunk[at++];
        if (offset + this.#header_bytes < 5) continue;
        this.#left = this.#header.readInt32BE(1) - 4;
      }
      const taken = chunk.subarray(at, at + this.#left);
      at += taken.length;
      this.#left -= taken.length;
      this.#body.push(taken.subarray(0, Math.max(0, looked_at_max - this.#body_bytes)));
      this.#body_bytes += taken.length;
      if (this.#left > 0) continue;
      const message = {
        type: this.is_typed ? String.fromCharCode(this.#header[0]) : '',
        body: Buffer.concat(this.#body),
        start: this.#start,
      };
      this.#header_bytes = 0;
      this.#body = [];
      this.#body_bytes = 0;
      this.#left = undefined;
      yield message;
    }
    this.#start -= chunk.length;
  }
}

/** Watches one connection for a commit. `trap.springs_at_commit(when)`: whether to cut it there. */
export class CommitWatch {
  #from_client = new Messages(false);
  #from_server = new Messages(true);
  #single_bytes = 0; // outstanding answers to encryption requests
  #committing_statements = new Map(); // by name

  constructor(trap) {
    this.trap = trap;
  }

  /** The part of the bytes that may pass, and whether the connection ends there. */
  look(direction, bytes) {
    return direction === 'to_server' ? this.#look_at_client(bytes) : this.#look_at_server(bytes);
  }

  #look_at_client(bytes) {
    for (const { type, body, start } of this.#from_client.of(bytes)) {
      if (type === '') this.#begin(body);
      else if (this.#asks_for_commit(type, body) && this.trap.springs_at_commit('before'))
        return { passed: bytes.subarray(0, Math.max(0, start)), struck: true };
    }
    return { passed: bytes, struck: false };
  }

  #begin(body) {
    if (encryption_requests.has(body.readInt32BE(0))) ++this.#single_bytes;
    else this.#from_client.is_typed = true;
  }

  #asks_for_commit(type, body) {
    if (type === 'Q') return ends_transaction.test(text_until_zero(body));
    if (type === 'P') {
      const name = text_until_zero(body);
      this.#committing_statements.set(name, ends_transaction.test(text_until_zero(body, name.length + 1)));
    }
    if (type !== 'B') return false;
    const portal = text_until_zero(body);
    return this.#committing_statements.get(text_until_zero(body, portal.length + 1)) ?? false;
  }

  #look_at_server(bytes) {
    const singles = Math.min(this.#single_bytes, bytes.length);
    this.#single_bytes -= singles;
    for (const { type, body, start } of this.#from_server.of(bytes.subarray(singles)))
      if (type === 'C' && text_until_zero(body) === 'COMMIT' && this.trap.springs_at_commit('after'))
        return { passed: bytes.subarray(0, Math.max(0, singles + start)), struck: true };
    return { passed: bytes, struck: false };
  }
}
