// SPDX-License-Identifier: Apache-2.0
// Replays the records of a log in their order and finds what no honest server could have written.
import { equal, id_text, Reader, to_hex, utf8 } from './bytes.mjs';
import { sha256 } from './sha256.mjs';
import { time_text } from './findings.mjs';
import {
  beacon_value,
  chain_hash,
  draw_order,
  due_at,
  entrants_root,
  is_round,
  is_spelled,
  level_parties,
  quicknet,
  short_signature,
} from './draw.mjs';
import { Order, Units } from './order.mjs';

/** The closing of a lobby may come so much after its opening. */
const late_ms = 60_000;

const live = new Set(['waiting', 'away']);

/** One more than any lobby allows: such a party is too large already, and more would cost time. */
const members_max = 256;

/** The beacon of a lobby in one line: "none", "drand:CHAIN:ROUND" or "announced:TEXT". */
function beacon_text({ beacon, source }) {
  if (beacon === 'none') return beacon;
  if (beacon === 'announced') return `announced:${new TextDecoder().decode(source)}`;
  const reader = new Reader(source);
  return `drand:${to_hex(reader.take(32))}:${reader.u64()}`;
}

export class Replay {
  /**
   * `chains`: what drand's /info says of other chains than quicknet. `announced`: the text that was.
   * `promised`: {draw, beacon} as promised before, each if known.
   */
  constructor(findings, chains = [], announced = undefined, promised = {}) {
    this.findings = findings;
    this.promised = promised;
    this.announced = announced;
    this.chains = new Map([quicknet, ...chains].map((info) => [chain_hash(info), info]));
    this.entries = new Map();
    this.order = new Order();
    this.parties = new Map(); ///< number of the opener -> entries
    this.hands = new Map(); ///< "action number" -> how many are not used yet
    this.interventions = [];
    this.called = 0;
    this.admissions = 0;
    this.classes = new Map(); ///< class at the join -> how many
    this.highest = 0;
    this.joined_before = 0; ///< the log began after this number; of those only who was in line is in it
    this.last = { sequence: 0, at: 0 };
    this.sale_end = Infinity; ///< a queue has none
    this.accessed = 0; ///< by a hand in this decision: how many it may change
    this.index = -1;
  }

  take(record, index) {
    this.index = index;
    // A log that begins later takes over joins from before.
    const is_taken_over = record.kind === 'joined' && record.number <= this.joined_before;
    const at = is_taken_over ? Math.max(record.at, this.last.at) : record.at;
    if (record.sequence < this.last.sequence || at < this.last.at)
      this.#fail('records', `Record ${this.index} is older than the one before it.`);
    if ((this.index === 0) !== (record.kind === 'begin'))
      this.#fail('records', `Record ${this.index} is "${record.kind}"; only the first is "begin".`);
    // A hand and its effects are one decision; what is left of it lapses.
    if (record.sequence !== this.last.sequence || at !== this.last.at) this.called = this.accessed = 0;
    this.last = { sequence: record.sequence, at };
    try {
      this[record.kind](record);
    } catch (error) {
      this.#fail('records', `Record ${this.index} (${record.kind}) cannot be followed: ${error.message}.`);
    }
  }

  #fail(check, text) {
    this.findings.fail(check, text);
  }
  /** A live entry; reports if there is none. */
  #live(record, states = live) {
    const entry = this.entries.get(record.number);
    if (entry && states.has(entry.state)) return entry;
    const state = entry ? `is ${entry.state}` : 'never joined';
    this.#fail(
      'records',
      `Record ${this.index} (${record.kind}) is about number ${record.number}, which ${state}.`,
    );
    return null;
  }
  #use_hand(action, number, what) {
    const key = `${action} ${number}`;
    const left = this.hands.get(key) ?? 0;
    if (left > 0) this.hands.set(key, left - 1);
    else this.#fail('hands', `${what}, and no operator's hand in the log says so (record ${this.index}).`);
  }
  /** Whether the hand just before has changed what the number may buy, and nothing else. */
  #use_access(r, entry) {
    const is_same = r.priority_class === entry.priority_class && r.party === entry.party;
    if (!is_same || this.accessed === 0) return false;
    --this.accessed;
    return true;
  }
  /** By a block or a revocation. */
  #use_removal(number, what) {
    const block = `block ${number}`;
    if ((this.hands.get(block) ?? 0) > 0) this.hands.set(block, this.hands.get(block) - 1);
    else this.#use_hand('revoke', number, what);
  }
  #read_settings(text) {
    for (const line of text.split('\n')) {
      if (line.startsWith('policy=')) this.policy = line.slice(7);
      // Empty: without an end.
      if (/^sale_end=-?\d*$/.test(line))
        this.sale_end = line === 'sale_end=' ? Infinity : Number(line.slice(9));
    }
  }

  begin(r) {
    if (r.version !== 1) this.#fail('records', `The log has the unknown version ${r.version}.`);
    this.event = id_text(r.event);
    this.began_at = r.at;
    this.lost = r.lost;
    this.#read_settings(r.settings);
    // Here only: a later change of it could hide that numbers are missing.
    this.joined_before = Number(/^joined_before=(\d{1,15})$/m.exec(r.settings)?.[1] ?? 0);
    if (this.joined_before > 0)
      this.findings.unproven(
        'numbers',
        `The log began after number ${this.joined_before} had joined; what was before is not in it.`,
      );
  }

  lobby(r) {
    if (this.lobby_record) this.#fail('draw', 'The lobby was opened twice.');
    else if (this.highest > 0) this.#fail('draw', 'The lobby was opened after the first had joined.');
    else this.lobby_record = r;
  }

  /** Entries get their rank only at the draw. */
  get #before_draw() {
    return this.lobby_record?.draws && !this.drawn_record;
  }

  joined(r) {
    const is_older = r.number > this.highest && r.number <= this.joined_before; // others had left the line
    if (!is_older && r.number !== Math.max(this.highest, this.joined_before) + 1)
      this.#fail(
        'numbers',
        `After number ${this.highest} comes ${r.number}; in between entries are missing or doubled.`,
      );
    this.highest = Math.max(this.highest, r.number);
    if (this.entries.has(r.number)) return;
    const { number, priority_class, opens, party, commitment } = r;
    const entry = {
      number,
      priority_class,
      opens,
      party,
      commitment,
      state: 'waiting',
      rank: 0,
      joined_at: r.at,
    };
    this.entries.set(number, entry);
    this.classes.set(priority_class, (this.classes.get(priority_class) ?? 0) + 1);
    const in_lobby = this.lobby_record?.draws && !this.closed_record;
    if (!in_lobby) this.#give_rank(entry, number);
    else if (r.at > this.lobby_record.opens_at + late_ms)
      this.findings.unproven(
        'entrants',
        `Number ${number} came into the lobby at ${time_text(r.at)}, after the published opening.`,
      );
    if (party !== 0) this.#enter_party(entry, in_lobby);
  }

  #give_rank(entry, rank) {
    entry.rank = rank;
    if (entry.state === 'waiting') this.order.add(entry);
  }
  #enter_party(entry, in_lobby) {
    if (!in_lobby)
      this.#fail('parties', `Number ${entry.number} came into a party after the lobby had closed.`);
    if (!this.entries.has(entry.party) && entry.party > this.joined_before)
      this.#fail(
        'parties',
        `Number ${entry.number} is in the party of number ${entry.party}, which never joined.`,
      );
    if (!this.parties.has(entry.party)) this.parties.set(entry.party, new Set());
    const members = this.parties.get(entry.party);
    if (members.size < members_max) members.add(entry);
  }

  changed(r) {
    const entry = this.#live(r);
    if (!entry) return;
    if (r.by === 'hand' && !this.#use_access(r, entry))
      this.#use_hand('priority', r.number, `Number ${r.number} got another class`);
    else if (r.priority_class !== entry.priority_class)
      this.#fail(
        'hands',
        `Number ${r.number} got another class without an operator's hand (record ${this.index}).`,
      );
    if (r.party !== entry.party) {
      this.parties.get(entry.party)?.delete(entry);
      entry.party = r.party;
      if (r.party !== 0) this.#enter_party(entry, this.lobby_record?.draws && !this.closed_record);
      else if (this.closed_record)
        this.#fail('parties', `Number ${r.number} left its party after the lobby had closed.`);
    }
    Object.assign(entry, { priority_class: r.priority_class, opens: r.opens });
    if (entry.rank && entry.state === 'waiting') this.order.add(entry);
  }

  left(r) {
    const entry = this.#live(r);
    if (!entry) return;
    if (r.why === 'hand') this.#use_removal(r.number, `Number ${r.number} was removed from the line`);
    if (r.why === 'over') this.#check_over(r);
    entry.left_why = r.why;
    this.#end(entry, r.why === 'expired' ? 'expired' : 'gone', r.at);
  }
  /** All leave because the event is over: by an operator, or by its published time. */
  #check_over(r) {
    const is_over = this.over || r.at >= this.sale_end;
    if (!is_over && r.number <= this.joined_before)
      this.findings.unproven(
        'hands',
        `Number ${r.number} left because the event was over. If it was over before the log began, the log cannot show it.`,
      );
    else if (!is_over)
      this.#fail(
        'hands',
        `Number ${r.number} was dropped because the event was over, and it was not (record ${this.index}).`,
      );
    this.has_ended = true;
  }
  #end(entry, state, at) {
    Object.assign(entry, { state, ended_at: at });
    this.parties.get(entry.party)?.delete(entry);
  }

  away(r) {
    const entry = this.#live(r, new Set(['waiting']));
    if (entry) entry.state = 'away';
  }
  back(r) {
    const entry = this.#live(r, new Set(['away']));
    if (!entry) return;
    entry.state = 'waiting';
    if (entry.rank) this.order.add(entry);
  }

  closed(r) {
    if (!this.lobby_record?.draws) return this.#fail('entrants', 'A lobby was closed that was never opened.');
    if (this.closed_record) return this.#fail('entrants', 'The lobby was closed twice.');
    this.closed_record = r;
    this.closed_index = this.index;
    if (r.at < this.lobby_record.opens_at)
      this.#fail(
        'entrants',
        `The lobby was closed at ${time_text(r.at)}, before the published ${time_text(this.lobby_record.opens_at)}.`,
      );
    this.entrants = [...this.entries.values()]
      .filter((e) => live.has(e.state))
      .sort((a, b) => a.number - b.number);
    const is_same = r.entrants === this.entrants.length && equal(r.root, entrants_root(this.entrants));
    if (!is_same && this.joined_before > 0)
      this.findings.unproven(
        'entrants',
        'The log began after the lobby had opened: who had left the line before is missing, so the root of the entrants cannot be checked.',
      );
    else if (!is_same)
      this.#fail(
        'entrants',
        'The published root of the entrants is not that of the entries in the log: one was added, dropped or changed.',
      );
    for (const [party, members] of this.parties)
      if (members.size > this.lobby_record.party_max)
        this.#fail(
          'parties',
          `The party of number ${party} has ${members.size} members; ${this.lobby_record.party_max} are allowed.`,
        );
    level_parties(this.entrants);
  }

  drawn(r) {
    if (this.drawn_record) return this.#fail('draw', 'The lobby was drawn again.');
    if (!this.closed_record)
      return this.#fail('draw', 'The lobby was drawn before its entrants were closed.');
    this.drawn_record = r;
    if (!equal(sha256(r.seed), this.lobby_record.seed_commitment))
      this.#fail('seed', 'The seed is not the one whose SHA-256 was published when the lobby opened.');
    if (!equal(r.root, this.closed_record.root))
      this.#fail('draw', 'The draw used another root than the one published at the closing.');
    this.#check_beacon(r);
    const order = draw_order(r.seed, r.root, beacon_value(r.beacon, r.value), this.entrants);
    order.forEach((entry, i) => this.#give_rank(entry, i + 1));
  }

  #check_beacon(r) {
    const planned = this.lobby_record.beacon;
    // It is in the key: the server could try values until the order suits it.
    if (r.beacon === 'none' && r.value.length > 0)
      this.#fail('beacon', 'The draw had no beacon, and yet a value of the server went into its key.');
    if (planned === 'none' && r.beacon === 'none')
      return this.findings.skip(
        'beacon',
        'The draw had no public beacon. The seed was fixed before the first joined, but the organizer, who knew it, could have added entries of its own until the order suited it.',
      );
    if (r.beacon === 'none') {
      this.#use_hand('end_wait', 0, 'The draw went on without its beacon');
      return this.findings.unproven(
        'beacon',
        `draw_not_proven: an operator ended the wait for the ${planned} beacon, and could choose between two orders.`,
      );
    }
    if (r.beacon !== planned)
      return this.#fail(
        'beacon',
        `The lobby promised the beacon "${planned}", and the draw used "${r.beacon}".`,
      );
    if (planned === 'drand') return this.#check_drand(r);
    this.#check_announced(r);
  }

  /** Bytes decide: another spelling of the same value would be another order to choose. */
  #check_announced(r) {
    const [value, source] = [r.value, this.lobby_record.source].map((b) => new TextDecoder().decode(b));
    if (!is_spelled(r.value))
      this.#fail(
        'beacon',
        `The value "${value}" is not words of printable ASCII with one space between two.`,
      );
    if (this.announced === undefined)
      this.findings.unproven(
        'beacon',
        `Compare: the draw used "${value}" as "${source}". Name with --announced what was announced there. Only if that is the same, letter by letter, the organizer could not choose.`,
      );
    else if (!equal(utf8(this.announced), r.value))
      this.#fail('beacon', `The draw used "${value}" as "${source}", and you named "${this.announced}".`);
    else
      this.findings.pass(
        'beacon',
        `The draw used "${value}" as "${source}", as you named it. The organizer could not choose if it was announced there after the closing.`,
      );
  }

  #check_drand(r) {
    const source = new Reader(this.lobby_record.source);
    const [hash, round] = [to_hex(source.take(32)), source.u64()];
    const info = this.chains.get(hash);
    if (!info)
      return this.findings.unproven(
        'beacon',
        `The beacon's chain ${hash} is unknown here; name it with --chain.`,
      );
    this.round_due = due_at(info, round);
    if (r.value.length !== short_signature)
      return this.findings.unproven(
        'beacon',
        `draw_not_proven: the chain ${hash} signs in a way that is not known here.`,
      );
    if (!is_round(info, round, r.value))
      this.#fail('beacon', `The beacon is not round ${round} of drand's chain.`);
    else if (this.round_due <= this.closed_record.at)
      this.findings.unproven(
        'beacon',
        `draw_not_proven: round ${round} of drand was public at ${time_text(this.round_due)}, before the lobby was closed at ${time_text(this.closed_record.at)}. A server that was down at the opening closes late; one that waits for a round that suits it does, too.`,
      );
    else
      this.findings.pass(
        'beacon',
        `The beacon is drand's round ${round}, signed by its network, from ${time_text(this.round_due)}, after the closing at ${time_text(this.closed_record.at)}.`,
      );
  }

  admitted(r) {
    if (this.#before_draw)
      return this.#fail('admissions', `Record ${this.index} admits before the lobby was drawn.`);
    if (this.lobby_record && r.at < this.lobby_record.opens_at)
      this.#fail('admissions', `Record ${this.index} admits before the published opening.`);
    if (this.over)
      this.#fail('admissions', `Record ${this.index} admits after an operator's "${this.over}".`);
    else if (this.has_ended)
      this.#fail('admissions', `Record ${this.index} admits after others left because the event was over.`);
    if (this.paused) this.#fail('hands', `Record ${this.index} admits while the line was paused.`);
    const units = new Units(r);
    const touched = new Set();
    for (const number of r.numbers) this.#admit(number, units, r, touched);
    for (const party of touched) {
      const waiting = [...this.parties.get(party)].filter((e) => e.state === 'waiting');
      if (waiting.length > 0 && !r.splits_party)
        this.#fail(
          'parties',
          `Number ${waiting[0].number} was left behind when its party was admitted (record ${this.index}).`,
        );
    }
    if (this.policy === 'operator') this.#use_calls(r.numbers.length);
  }
  #admit(number, units, r, touched) {
    const entry = this.entries.get(number);
    if (!entry || entry.state !== 'waiting') {
      const state = entry ? `was ${entry.state}` : 'never joined';
      return this.#fail('admissions', `Record ${this.index} admits number ${number}, which ${state}.`);
    }
    if (!units.serves(entry.opens))
      this.#fail(
        'units',
        `Number ${number} was admitted although no unit was free for it (record ${this.index}).`,
      );
    else {
      const first = this.order.next(units);
      if (first !== entry)
        this.#fail(
          'admissions',
          `Number ${number} was admitted before number ${first.number}, which was before it in the line (record ${this.index}).`,
        );
      units.book(entry.opens);
    }
    Object.assign(entry, { state: 'admitted', admitted_at: r.at });
    ++this.admissions;
    if (this.parties.has(entry.party)) {
      this.parties.get(entry.party).delete(entry);
      touched.add(entry.party);
    }
  }
  #use_calls(count) {
    this.called -= count;
    if (this.called >= 0) return;
    this.#fail('hands', `Record ${this.index} admits ${-this.called} more than an operator had called.`);
    this.called = 0;
  }

  session_ended(r) {
    // A cancelled line revokes all sessions.
    if (r.why === 'revoked' && this.over !== 'cancel')
      this.#use_removal(r.number, `The session of number ${r.number} was revoked`);
    if (r.number <= this.joined_before && !this.entries.has(r.number)) return; // admitted before the log began
    const entry = this.#live(r, new Set(['admitted']));
    if (!entry) return;
    Object.assign(entry, { state: r.why, ended_at: r.at });
  }

  hand(r) {
    this.interventions.push(r);
    const key = `${r.action} ${r.number}`;
    this.hands.set(key, (this.hands.get(key) ?? 0) + 1);
    if (r.action === 'advance') this.called += r.count;
    if (r.action === 'access') this.accessed = r.count;
    if (r.action === 'pause') this.paused = true;
    if (r.action === 'resume') this.paused = false;
    if (r.action === 'end' || r.action === 'cancel') this.over = r.action;
    if (r.action === 'settings' || r.action === 'waiting_list') this.#read_settings(r.change);
  }

  /** Of the classes that go before the usual one. */
  #classes_text() {
    const usual = [...this.classes].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])[0];
    const before = [...this.classes].filter(([c]) => c < usual).sort((a, b) => a[0] - b[0]);
    return before
      .map(([c, n]) => ` ${n} numbers joined in class ${c}, which goes before; the log does not say why.`)
      .join('');
  }

  /** Who names a value expects that it was compared. */
  #check_named_value() {
    const planned = this.lobby_record?.draws ? this.lobby_record.beacon : 'none';
    if (planned !== 'announced')
      this.#fail('beacon', `You named an announced value, and the beacon of this line is "${planned}".`);
    else if (!this.drawn_record)
      this.findings.skip('beacon', 'The lobby is not drawn yet: the value that you named is compared later.');
  }

  /** What people were promised; the log alone cannot show that a draw is missing. */
  #check_promise() {
    const { draw, beacon } = this.promised;
    if (!this.lobby_record && Math.max(this.highest, this.joined_before) === 0) return;
    const has_draw = this.lobby_record?.draws ?? false;
    const is_beacon_promised = beacon !== undefined && beacon !== 'none';
    const wants_draw = draw === undefined && is_beacon_promised ? 'at_opening' : draw;
    if (wants_draw === 'at_opening' && !has_draw)
      this.#fail('draw', 'A draw was promised, and the log has none: the number is the order.');
    if (wants_draw === 'none' && has_draw)
      this.#fail('draw', 'The promise was that the number is the order, and the log has a draw.');
    if (beacon === undefined || !has_draw) return;
    const has = beacon_text(this.lobby_record);
    if (has !== beacon)
      this.#fail('beacon', `The beacon "${beacon}" was promised, and the log has "${has}".`);
  }

  /** A lobby from before the log: it shows neither when the seed was fixed nor how often was drawn. */
  #doubt_draw() {
    this.findings.unproven(
      'seed',
      'The log began after people had joined: that the seed was fixed before is not in it.',
    );
    this.findings.unproven(
      'draw',
      'The log began after people had joined: that the lobby was drawn only once is not in it.',
    );
  }

  /** Sentences of checks that found nothing. */
  finish() {
    const f = this.findings;
    if (this.index < 0) f.unproven('records', 'The log has no records yet.');
    f.pass(
      'records',
      `All ${this.index + 1} records are well-formed and in order, the newest of ${time_text(this.last.at)}.`,
    );
    const before = this.joined_before;
    f.pass(
      'numbers',
      before === 0
        ? `Numbers 1 to ${this.highest} each joined once.`
        : `Numbers ${before + 1} to ${Math.max(before, this.highest)} each joined once. The log began after number ${before}; of those before it has who was still in line.`,
    );
    f.pass(
      'hands',
      `${this.interventions.length} interventions are in the log, and nothing needs another.${this.#classes_text()}`,
    );
    f.pass('admissions', `All ${this.admissions} admissions follow the order of the line.`);
    f.pass('units', 'Each admission had a free unit that its holder could buy.');
    if (this.announced !== undefined) this.#check_named_value();
    this.#check_promise();
    const is_open = this.lobby_record || Math.max(this.highest, before) > 0;
    if (!is_open && this.promised.draw === 'at_opening')
      return f.skip('draw', 'The lobby of the promised draw is not open yet.');
    if (!this.lobby_record?.draws) return f.skip('draw', 'This line has no draw: the number is the order.');
    if (!this.drawn_record) return f.skip('draw', 'The lobby is not drawn yet.');
    f.pass('entrants', `The ${this.entrants.length} entrants of the draw are those in the log.`);
    if (before > 0) this.#doubt_draw();
    f.pass('seed', 'The seed is the one whose SHA-256 was published before the first joined.');
    f.pass('draw', `The lobby was drawn once, and the order follows from seed, entrants and beacon.`);
    f.pass('parties', 'Each party was drawn once and admitted together, or as the log says.');
  }
}
