// SPDX-License-Identifier: Apache-2.0
// Tests of check_ledger: a small sound ledger passes, and each planted violation is reported.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { check_ledger } from './check_ledger.mjs';
import { Services, execute } from './services.mjs';

const migrations = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '../../store/migrations/postgres',
);

const id = (kind, n) => `'${kind.repeat(8)}-0000-7000-8000-00000000000${n}'`;

/** One sale: 1 bought and paid, 2 claimed and released, 3 was refunded, 4 waits. A claim costs 100. */
const sound = `
  INSERT INTO aggregate (number, kind, epoch, applied_seq, live_entries) VALUES (16, 2, 1, 9, 1);
  INSERT INTO event VALUES
    (16, 1, ${id('e', 1)}, ${id('f', 1)}, 'Sale', 'NGN', 1, 0, 0, 9, 0, 0, 0, 5, 100, 110, 1, 1, 0, 1, 1, 0, 0);
  INSERT INTO ticket_type VALUES (16, 0, 1, ${id('d', 1)}, 'Standard', 100, 2, 0, 1, 4, true);
  INSERT INTO queue_entry (aggregate, queue_number, subject, status, joined_at, admission_batch) VALUES
    (16, 1, ${id('c', 1)}, 5, 1, 1), (16, 2, ${id('c', 2)}, 6, 1, 1),
    (16, 3, ${id('c', 3)}, 5, 1, 2), (16, 4, ${id('c', 4)}, 0, 1, 0);
  INSERT INTO claim VALUES
    (16, ${id('a', 1)}, 1, ${id('c', 1)}, 1, 2, 0, 1, 100, 1, 2, 2),
    (16, ${id('a', 2)}, 1, ${id('c', 2)}, 2, 3, 0, 1, 100, 1, 2, 2),
    (16, ${id('a', 3)}, 1, ${id('c', 3)}, 3, 4, 0, 1, 100, 1, 2, 2);
  INSERT INTO claim_item VALUES
    (16, ${id('a', 1)}, 0, 1, 0, 1, 100, 0), (16, ${id('a', 2)}, 0, 1, 0, 1, 100, 0), (16, ${id('a', 3)}, 0, 1, 0, 1, 100, 1);
  INSERT INTO event_ticket (aggregate, id, claim, ticket_type, holder, status, generation, created_at, updated_at) VALUES
    (16, ${id('8', 1)}, ${id('a', 1)}, 0, ${id('c', 1)}, 0, 1, 1, 1);
  INSERT INTO payment VALUES
    (16, ${id('b', 1)}, 1, ${id('a', 1)}, ${id('c', 1)}, 2, 'sandbox', 'r1', '', 100, 100, 0, 1, 1),
    (16, ${id('b', 2)}, 1, ${id('a', 2)}, ${id('c', 2)}, 3, 'sandbox', 'r2', '', 100, 0, 0, 1, 1),
    (16, ${id('b', 3)}, 1, ${id('a', 3)}, ${id('c', 3)}, 7, 'sandbox', 'r3', '', 100, 100, 100, 1, 1);
  INSERT INTO history (aggregate, seq, ordinal, kind, id, queue_number, from_status, to_status, at) VALUES
    (16, 1, 0, 0, ${id('e', 1)}, null, null, 0, 1), (16, 2, 0, 0, ${id('e', 1)}, null, 0, 1, 1),
    (16, 3, 0, 1, null, 1, 0, 2, 1), (16, 3, 1, 1, null, 2, 0, 2, 1), (16, 3, 2, 1, null, 3, 0, 2, 1),
    (16, 4, 0, 2, ${id('a', 1)}, null, null, 0, 1), (16, 4, 1, 3, ${id('b', 1)}, null, null, 0, 1),
    (16, 4, 2, 3, ${id('b', 1)}, null, 0, 1, 1), (16, 4, 3, 3, ${id('b', 1)}, null, 1, 2, 1),
    (16, 4, 4, 2, ${id('a', 1)}, null, 0, 2, 1), (16, 4, 5, 1, null, 1, 2, 5, 1),
    (16, 5, 0, 2, ${id('a', 2)}, null, null, 0, 1), (16, 5, 1, 3, ${id('b', 2)}, null, null, 0, 1),
    (16, 5, 2, 3, ${id('b', 2)}, null, 0, 3, 1), (16, 5, 3, 2, ${id('a', 2)}, null, 0, 3, 1), (16, 5, 4, 1, null, 2, 2, 6, 1),
    (16, 6, 0, 2, ${id('a', 3)}, null, null, 0, 1), (16, 6, 1, 3, ${id('b', 3)}, null, null, 0, 1),
    (16, 6, 2, 3, ${id('b', 3)}, null, 0, 2, 1), (16, 6, 3, 2, ${id('a', 3)}, null, 0, 2, 1), (16, 6, 4, 1, null, 3, 2, 5, 1),
    (16, 7, 0, 3, ${id('b', 3)}, null, 2, 6, 1), (16, 8, 0, 3, ${id('b', 3)}, null, 6, 7, 1),
    (16, 8, 1, 2, ${id('a', 3)}, null, 2, 4, 1);
  INSERT INTO outbox (aggregate, seq, ordinal, id, topic, payload, created_at, delivered_at) VALUES
    (16, 3, 0, ${id('9', 1)}, 't', '{}', 1, 2), (16, 3, 1, ${id('9', 2)}, 't', '{}', 1, 2)`;

/** Planted violation -> expected report. Database constraints of the same invariant are removed first. */
const planted = {
  'UPDATE ticket_type SET sold = 3': 'I1: held + sold above the total',
  'UPDATE ticket_type SET held = 1': 'I1: counters that differ from the claims',
  'UPDATE event_ticket SET status = 4': 'I3: bought units that are not its valid event tickets',
  [`UPDATE queue_entry SET status = 2, subject = ${id('c', 4)} WHERE queue_number = 3`]:
    'I2: two live places of one subject',
  [`UPDATE claim SET status = 0, customer = ${id('c', 1)} WHERE queue_number = 2`]:
    'I2: more claims than a customer may have',
  "UPDATE payment SET status = 2, captured = 100 WHERE reference = 'r2'":
    'I3: a confirmed payment without its ticket',
  "UPDATE payment SET status = 3, captured = 0 WHERE reference = 'r1'":
    'I3: a ticket that was not paid exactly once',
  "UPDATE payment SET captured = 150 WHERE reference = 'r1'":
    'I3: money kept that is not the value of the tickets',
  "UPDATE payment SET captured = 100 WHERE reference = 'r2'": 'I3: money kept for nothing',
  'UPDATE claim SET amount = 90 WHERE queue_number = 2': 'I4: a claim that is not the sum of its items',
  "UPDATE payment SET amount = 90 WHERE reference = 'r2'": 'I4: a payment of another amount than its claim',
  'UPDATE queue_entry SET admission_batch = 3 WHERE queue_number = 1': 'I6: overtaken',
  'DELETE FROM queue_entry WHERE queue_number = 3': 'I7: places that are gone',
  'DELETE FROM history WHERE seq = 7': 'I10: a history with a gap',
  'UPDATE history SET to_status = 3 WHERE seq = 4 AND ordinal = 5': 'I10: a step that no state machine has',
  'UPDATE claim SET status = 1 WHERE queue_number = 2': 'I10: a row that is not where its history ends',
  'UPDATE queue_entry SET status = 3 WHERE queue_number = 4': 'I10: a row that is not where its history ends',
  [`UPDATE outbox SET id = ${id('9', 1)}`]: 'I16: one id for two domain events',
  'UPDATE aggregate SET live_entries = 2 WHERE number = 16': 'the count of live entries',
  'UPDATE claim SET status = 0 WHERE queue_number = 2': 'I13: claims that still hold stock',
  'UPDATE queue_entry SET status = 2 WHERE queue_number = 1': 'I13: sessions that have not ended',
  "UPDATE payment SET status = 5 WHERE reference = 'r2'": 'I3: money on its way',
  'UPDATE outbox SET delivered_at = 0': 'I16: domain events that were not delivered',
};

test('a sound ledger passes, and each planted violation is reported', { timeout: 300_000 }, async (t) => {
  const services = await Services.start('postgres');
  t.after(() => services.stop());
  const url = await services.database('sound');
  for (const file of fs.readdirSync(migrations).sort())
    await execute(url, fs.readFileSync(path.join(migrations, file), 'utf8'));
  await execute(url, sound);
  assert.deepEqual(await check_ledger(url, { is_settled: true }), []);

  await execute(url, 'ALTER TABLE ticket_type DROP CONSTRAINT no_oversell');
  await execute(url, 'ALTER TABLE payment DROP CONSTRAINT no_money_from_nowhere');
  await execute(url, 'DROP INDEX claim_slot');
  for (const [number, [violation, name]] of Object.entries(planted).entries()) {
    await execute(services.postgres_url, `CREATE DATABASE broken_${number} TEMPLATE sound`);
    const broken = url.replace(/sound$/, `broken_${number}`);
    await execute(broken, violation);
    const said = await check_ledger(broken, { is_settled: true });
    assert.ok(
      said.some((line) => line.startsWith(`${name}:`)),
      `${violation}: ${said.join('\n')}`,
    );
  }
});
