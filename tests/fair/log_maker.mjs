// SPDX-License-Identifier: Apache-2.0
// Makes public logs, honest and not, with code of its own: neither the server's nor the checker's.
import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto';

const sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const number = (value, size) => {
  const bytes = Buffer.alloc(size);
  for (let i = size - 1, rest = BigInt(value); i >= 0; --i, rest >>= 8n) bytes[i] = Number(rest & 255n);
  return bytes;
};
const text = (value) => Buffer.concat([number(Buffer.byteLength(value), 2), Buffer.from(value)]);

export const kinds = {
  begin: 1,
  lobby: 2,
  joined: 3,
  changed: 4,
  left: 5,
  away: 6,
  back: 7,
  closed: 8,
  drawn: 9,
  admitted: 10,
  session_ended: 11,
  hand: 12,
};
export const actions = {
  advance: 1,
  revoke: 2,
  priority: 3,
  block: 4,
  pause: 5,
  resume: 6,
  settings: 7,
  end_wait: 8,
  end: 9,
  cancel: 10,
  access: 11,
  waiting_list: 12,
};

/** Signs notes as `name`: kind 1 of a log, 4 of a witness. */
export class Signer {
  constructor(name, kind, seed) {
    const der = Buffer.concat([
      Buffer.from('302e020100300506032b657004220420', 'hex'),
      Buffer.alloc(32, seed),
    ]);
    this.private_key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const public_key = createPublicKey(this.private_key)
      .export({ format: 'der', type: 'spki' })
      .subarray(-32);
    const material = Buffer.concat([number(kind, 1), public_key]);
    this.name = name;
    this.id = sha256(`${name}\n`, material).subarray(0, 4);
    this.text = `${name}+${this.id.toString('hex')}+${material.toString('base64')}`;
  }
  line(bytes) {
    return `— ${this.name} ${Buffer.concat([this.id, bytes]).toString('base64')}\n`;
  }
  sign(body) {
    return this.line(sign(null, Buffer.from(body), this.private_key));
  }
  cosign(body, seconds) {
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${body}`), this.private_key);
    return this.line(Buffer.concat([number(seconds, 8), signature]));
  }
}

export const event = '07070707-0707-0707-0707-070707070707';
export const begins_at = 1_750_000_000_000;
export const opens_at = begins_at + 60_000;

/** What an entrant is in the tree that the closing publishes. */
const entrant_leaf = (e) =>
  Buffer.concat([
    number(e.number, 8),
    number(e.priority_class, 1),
    number(e.opens, 8),
    number(e.party, 8),
    e.commitment,
  ]);
const leaf_hash = (bytes) => sha256(number(0, 1), bytes);

/** A root and an inclusion proof straight from the definitions of RFC 6962. */
export function root_of(leaves) {
  if (leaves.length === 0) return sha256('');
  if (leaves.length === 1) return leaves[0];
  const k = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return sha256(number(1, 1), root_of(leaves.slice(0, k)), root_of(leaves.slice(k)));
}
export function proof_of(index, leaves) {
  if (leaves.length === 1) return [];
  const k = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return index < k
    ? [...proof_of(index, leaves.slice(0, k)), root_of(leaves.slice(k))]
    : [...proof_of(index - k, leaves.slice(k)), root_of(leaves.slice(0, k))];
}

export class Log {
  constructor({
    id = event,
    origin = `tickets.example/events/${id}/log`,
    seed = 1,
    draw_seed = Buffer.alloc(32, 9),
  } = {}) {
    this.id = Buffer.from(id.replaceAll('-', ''), 'hex');
    this.origin = origin;
    this.signer = new Signer(origin, 1, seed);
    this.witness = new Signer('witness.example', 4, 2);
    this.draw_seed = draw_seed;
    this.records = [];
    this.leaves = [];
    this.entries = new Map();
    this.seconds = 0;
    this.step = 1; ///< seconds from one record to the next
    this.sequence = 0;
    this.shared = undefined; ///< the sequence of all records of a decision
  }
  add(kind, ...fields) {
    const head = [
      number(kinds[kind], 1),
      number(this.shared ?? ++this.sequence, 8),
      number(begins_at + Math.floor((this.seconds += this.shared ? 0 : this.step) * 1000), 8),
    ];
    const record = Buffer.concat([...head, ...fields]);
    this.records.push(record);
    this.leaves.push(leaf_hash(record));
    return record;
  }
  /** The records that `make` adds are of one decision: they share sequence and time. */
  at_once(make) {
    this.seconds += this.step;
    this.shared = ++this.sequence;
    make(this);
    this.shared = undefined;
    return this;
  }
  begin(settings = 'policy=capacity\n', lost = '') {
    this.add('begin', number(1, 1), this.id, text(settings), text(lost));
    return this;
  }
  lobby({ beacon = 0, source = Buffer.alloc(0), party_max = 6, draws = 1 } = {}) {
    const commitment = sha256(this.draw_seed);
    this.add(
      'lobby',
      number(opens_at, 8),
      number(draws, 1),
      number(party_max, 1),
      commitment,
      number(beacon, 1),
      text_bytes(source),
    );
    return this;
  }
  /** `person`: who has the place; it decides the commitment. */
  join(n, { priority_class = 1, party = 0, opens = 0, person = n } = {}) {
    const nonce = Buffer.alloc(16, person % 251);
    const id = Buffer.concat([Buffer.alloc(8), number(person, 8)]);
    const entry = { number: n, priority_class, opens, party, commitment: sha256(nonce, id), nonce, id };
    entry.index = this.records.length;
    entry.record = this.add('joined', number(n, 8), ...this.#place(entry), entry.commitment);
    this.entries.set(n, entry);
    return this;
  }
  #place(e) {
    return [number(e.priority_class, 1), number(e.opens, 8), number(e.party, 8)];
  }
  change(n, priority_class, by_hand = 1) {
    const entry = this.entries.get(n);
    entry.priority_class = priority_class;
    this.add('changed', number(n, 8), ...this.#place(entry), number(by_hand, 1));
    return this;
  }
  /** What numbers may buy, by one hand that names `count` of them. */
  open(numbers, opens, count = numbers.length) {
    return this.at_once(() => {
      this.hand('access', 0, count);
      for (const n of numbers) {
        this.entries.get(n).opens = opens;
        this.change(n, this.entries.get(n).priority_class);
      }
    });
  }
  hand(action, n = 0, count = 0, reason = 'because', change = '') {
    this.add('hand', number(actions[action], 1), number(n, 8), number(count, 8), text(change), text(reason));
    return this;
  }
  leave(n, why = 0) {
    this.entries.delete(n);
    this.add('left', number(n, 8), number(why, 1));
    return this;
  }
  /** The entrants are the entries in line, and `also`. */
  close(also = [], second = 60) {
    this.seconds = Math.max(this.seconds, second);
    const entrants = [...this.entries.values(), ...also];
    this.root = root_of(entrants.map((e) => leaf_hash(entrant_leaf(e))));
    this.entrants = entrants;
    this.add('closed', number(entrants.length, 8), this.root);
    return this;
  }
  draw({ beacon = 0, value = Buffer.alloc(0), seed = this.draw_seed, closing = '' } = {}) {
    this.add('drawn', seed, this.root, number(beacon, 1), text_bytes(value), text(closing));
    const key = Buffer.concat([seed, this.root, beacon === 1 ? sha256(value) : value]);
    const lot = (e) =>
      createHmac('sha256', key)
        .update(number(e.party || e.number, 8))
        .digest('hex');
    const classes = new Map();
    for (const e of this.entrants)
      if (e.party) classes.set(e.party, Math.max(e.priority_class, classes.get(e.party) ?? 0));
    const party_class = (e) => classes.get(e.party) ?? e.priority_class;
    this.order = this.entrants
      .map((e) => ({ n: e.number, key: `${party_class(e)} ${lot(e)} ${String(e.number).padStart(12, '0')}` }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map((e) => e.n);
    return this;
  }
  admit(numbers, { units = 1000, hidden = [], splits = 0 } = {}) {
    const pools = hidden.map(([type, count]) => Buffer.concat([number(type, 1), number(count, 8)]));
    this.add(
      'admitted',
      number(1, 4),
      number(splits, 1),
      number(units, 8),
      number(hidden.length, 1),
      ...pools,
      number(numbers.length, 2),
      ...numbers.map((n) => number(n, 8)),
    );
    return this;
  }
  end_session(n, why) {
    this.add('session_ended', number(n, 8), number(why, 1));
    return this;
  }

  body(size = this.leaves.length) {
    return `${this.origin}\n${size}\n${root_of(this.leaves.slice(0, size)).toString('base64')}\n`;
  }
  checkpoint({ size, cosigned_at } = {}) {
    const body = this.body(size);
    return `${body}\n${this.signer.sign(body)}${cosigned_at ? this.witness.cosign(body, cosigned_at) : ''}`;
  }
  receipt(n, options) {
    const entry = this.entries.get(n);
    const extra = Buffer.concat([entry.nonce, entry.id, entry.record]).toString('base64');
    const proof = proof_of(entry.index, this.leaves).map((h) => `${h.toString('base64')}\n`);
    return `c2sp.org/tlog-proof@v1\nextra ${extra}\nindex ${entry.index}\n${proof.join('')}\n${this.checkpoint(options)}`;
  }
  /** What a server serves: path -> bytes. */
  files(options) {
    const files = new Map([
      ['key', Buffer.from(`${this.signer.text}\n`)],
      ['checkpoint', Buffer.from(this.checkpoint(options))],
    ]);
    if (options?.cosigned) files.set('checkpoint.cosigned', Buffer.from(options.cosigned.join('\n')));
    for (let first = 0; first < this.records.length; first += 256) {
      const some = this.records.slice(first, first + 256);
      const index = String(first / 256)
        .padStart(6, '0')
        .replace(/^000/, '')
        .replace(/^(\d{3})(\d{3})$/, 'x$1/$2');
      const name = `tile/entries/${index}${some.length < 256 ? `.p/${some.length}` : ''}`;
      files.set(name, Buffer.concat(some.flatMap((r) => [number(r.length, 2), r])));
    }
    return files;
  }
  reader(options) {
    const files = this.files(options);
    return async (name) => {
      if (!files.has(name)) throw Object.assign(new Error(`${name} is not there`), { code: 'ENOENT' });
      return files.get(name);
    };
  }
}

const text_bytes = (bytes) => Buffer.concat([number(bytes.length, 2), bytes]);
