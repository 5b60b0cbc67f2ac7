// SPDX-License-Identifier: Apache-2.0
// Kinds of cheating servers, and how a client finds each.
import { Log } from './log_maker.mjs';

const people = [1, 2, 3, 4, 5, 6, 7, 8];
const friend = 8;

function lobby(options, joins = (log) => people.forEach((n) => log.join(n))) {
  const log = new Log(options).begin().lobby();
  joins(log);
  return log;
}
const drawn = (options) => lobby(options).close().draw();
const seed_of = (n) => Buffer.alloc(32, n);

/** The first log whose draw the friend wins. Tries seeds or values, as a server would. */
function draw_until_friend_wins(draw) {
  for (let n = 20; ; ++n) {
    const log = draw(seed_of(n));
    if (log.order[0] === friend) return log;
  }
}

const cosigned_at = 1_750_000_300;

/** A log that says that `old` was lost after its first `size` records. */
const replacing = (old, size, draw_seed) =>
  new Log({ origin: `${old.origin}/29921040`, draw_seed }).begin(
    '',
    size > 0 ? old.checkpoint({ size }) : '',
  );

/**
 * `log`: what the server shows. `know`: receipts, checkpoints, witnesses and the promised draw
 * that the client has, as texts.
 * `also`: the log that it shows to another person, who finds nothing. `caught`: the checks that fail.
 * `unproven`: those that say that they prove nothing.
 */
export const cheats = [
  {
    name: 'overtakes',
    make() {
      const log = drawn();
      const [first, second, third] = log.order;
      return { log: log.admit([first, third, second]), caught: ['admissions'] };
    },
  },
  {
    name: 'drops an entry',
    make() {
      const log = lobby({}, (l) => people.filter((n) => n !== 4).forEach((n) => l.join(n)));
      return { log: log.close().draw(), caught: ['numbers'] };
    },
  },
  {
    name: 'drops an entry and renumbers the others',
    make() {
      const log = lobby({}, (l) => people.slice(0, 7).forEach((n) => l.join(n)));
      const know = { receipts: [drawn().receipt(8)] };
      return { log: log.close().draw(), know, caught: ['consistency', 'receipt'] };
    },
  },
  {
    name: 'drops an entry and says that the event is over',
    make() {
      const log = drawn();
      const [first, second, third] = log.order;
      return { log: log.leave(first, 2).admit([second, third]), caught: ['admissions', 'hands'] };
    },
  },
  {
    name: 'adds an entry after the closing',
    make() {
      const late = new Log().join(9).entries.get(9);
      const log = lobby().close([late]);
      log.join(9);
      return { log: log.draw(), caught: ['entrants'] };
    },
  },
  {
    name: 'draws with another seed until a friend wins',
    make: () => ({
      log: draw_until_friend_wins((seed) => lobby().close().draw({ seed })),
      caught: ['seed'],
    }),
  },
  {
    name: 'draws without a beacon, with values of its own until a friend wins',
    make: () => ({
      log: draw_until_friend_wins((value) => lobby().close().draw({ value })),
      caught: ['beacon'],
    }),
  },
  {
    name: 'ends the wait for a beacon and draws with a value of its own',
    make() {
      const log = new Log().begin().lobby({ beacon: 2, source: Buffer.from('the lottery') });
      people.forEach((n) => log.join(n));
      log.close().hand('end_wait');
      return { log: log.draw({ value: seed_of(1) }), caught: ['beacon'] };
    },
  },
  {
    name: 'leaves out the draw that it promised',
    make() {
      const log = new Log().begin();
      people.forEach((n) => log.join(n));
      return { log: log.admit([1, 2]), know: { draw: 'at_opening' }, caught: ['draw'] };
    },
  },
  {
    name: 'draws twice, because the first draw did not suit it',
    make: () => ({ log: drawn().draw({ seed: seed_of(30) }), caught: ['draw'] }),
  },
  {
    name: 'writes the lobby anew until a friend wins',
    make: () => ({
      log: draw_until_friend_wins((draw_seed) => drawn({ draw_seed })),
      know: { receipts: [lobby().receipt(3)] }, // from the lobby, before the draw
      caught: ['consistency'],
    }),
  },
  {
    name: 'rewrites the log',
    make() {
      const log = lobby({}, (l) => people.forEach((n) => l.join(n, { opens: n === 2 ? 1 : 0 })));
      return {
        log: log.close().draw().join(9),
        know: { checkpoints: [drawn().checkpoint()] },
        caught: ['consistency'],
      };
    },
  },
  {
    name: 'hides an intervention',
    make: () => ({ log: lobby().change(5, 0).close().draw(), caught: ['hands'] }),
  },
  {
    name: 'shows two logs to two people, who compare',
    make() {
      const [mine, yours] = [drawn(), drawn({ draw_seed: seed_of(12) })];
      return { log: mine, know: { receipts: [mine.receipt(1), yours.receipt(2)] }, caught: ['consistency'] };
    },
  },
  {
    name: 'shows two logs to two people, of which a witness has signed one',
    make() {
      const [mine, yours] = [drawn(), drawn({ draw_seed: seed_of(12) })];
      const know = { witnesses: [mine.witness.text] };
      return { log: yours, also: { log: mine, options: { cosigned_at } }, know, caught: ['witnesses'] };
    },
  },
  {
    name: 'says that its log was lost, and draws anew until a friend wins',
    make() {
      const old = drawn();
      const log = draw_until_friend_wins((draw_seed) => {
        const anew = replacing(old, 1, draw_seed).lobby();
        people.forEach((n) => anew.join(n));
        return anew.close().draw();
      });
      const know = { receipts: [old.receipt(3)], checkpoints: [old.checkpoint()] };
      return { log, know, caught: [], unproven: ['event', 'consistency', 'receipt'] };
    },
  },
  {
    name: 'begins another log and does not name the one before',
    make: () => ({ log: replacing(drawn(), 0).join(1), caught: ['event'] }),
  },
];

export const honest = { name: 'an honest server', make: () => ({ log: drawn(), caught: [] }) };
