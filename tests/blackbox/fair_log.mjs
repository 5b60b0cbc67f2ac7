// SPDX-License-Identifier: Apache-2.0
// The public log of an event or queue in black-box tests: proofs of places, the checker, and the order of a
// draw, computed here again.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { assert, eventually, root, run } from './lib.mjs';

export const verify_cli = path.join(root, 'web/verify/cli.mjs');

/** The proof of a place, once the join is in the log. `place`: /events/ID/queue or /tickets/ID. */
export const receipt_of = (server, token, place) =>
  eventually('the place has a proof', async () => {
    const answer = await server.insist('GET', `${place}/receipt`, { token });
    return answer.status === 200 && answer.text;
  });

/**
 * The checker takes the log, with all checkpoints and receipts that were given out; returns its text.
 * `which`: ['--event', ID] or ['--queue', ID]. `announced`: the value of the draw. Without a witness the
 * closing before it, and nothing else, is unproven.
 */
export async function check_log(server, which, { receipts = [], checkpoints = [], announced }) {
  const folder = fs.mkdtempSync(path.join(server.data_dir, 'log-'));
  const args = [verify_cli, server.url, ...which];
  if (announced !== undefined) args.push('--announced', announced);
  const add = (option, texts) =>
    texts.forEach((text, i) => {
      const file = path.join(folder, `${option}-${i}`);
      fs.writeFileSync(file, text);
      args.push(`--${option}`, file);
    });
  add('receipt', receipts);
  add('checkpoint', checkpoints);
  const end = await run(process.execPath, args);
  const unproven = [...end.out.matchAll(/^unproven +(\S+)/gm)].map(([, check]) => check);
  const is_compared = announced !== undefined && !/^skipped +draw /m.test(end.out);
  assert.deepEqual(unproven, is_compared ? ['closing'] : [], end.out + end.err);
  assert.equal(end.code, is_compared ? 3 : 0, end.out + end.err);
  return end.out;
}

/** The queue numbers by rank, from what was published, as docs/design/fairness.md says; without drand. */
export function drawn_order({ seed, root: closed, beacon_value }, entrants) {
  const key = Buffer.concat([Buffer.from(seed + closed, 'hex'), Buffer.from(beacon_value ?? '')]);
  const lot = ({ number, party }) => {
    const message = Buffer.alloc(8);
    message.writeBigUInt64BE(BigInt(party ?? number));
    return crypto.createHmac('sha256', key).update(message).digest('hex');
  };
  return entrants
    .map((e) => ({ ...e, lot: lot(e) }))
    .sort((a, b) => (a.lot < b.lot ? -1 : a.lot > b.lot ? 1 : a.number - b.number))
    .map((e) => e.number);
}
