// SPDX-License-Identifier: Apache-2.0
// The invariants of docs/glossary.md, checked in the Postgres ledger by SQL that shares no code with the
// server. Each query returns the violating rows.
import { sql } from './services.mjs';

/** Numbers of the states in domain/model/states.hpp. */
const entry = {
  waiting: 0,
  away: 1,
  admitted: 2,
  expired: 3,
  cancelled: 4,
  completed: 5,
  session_expired: 6,
  revoked: 7,
};
const claim = { claimed: 0, expiring: 1, confirmed: 2, released: 3, refunded: 4 };
const payment = {
  initializing: 0,
  pending: 1,
  confirmed: 2,
  failed: 3,
  quarantined: 4,
  confirmed_late: 5,
  refund_pending: 6,
  refunded: 7,
  partially_refunded: 8,
  refund_failed: 9,
};
const cancelled_ticket = 4;
const refund = { requested: 0, succeeded: 1, failed: 2 };

/** The published state machines: kind of history and its allowed steps. */
const machines = {
  0: [
    [0, 1],
    [0, 4],
    [1, 2],
    [1, 3],
    [1, 4],
    [2, 1],
    [2, 3],
    [2, 4],
    [3, 4],
  ],
  1: [
    [entry.waiting, entry.admitted],
    [entry.waiting, entry.away],
    [entry.waiting, entry.expired],
    [entry.waiting, entry.cancelled],
    [entry.away, entry.waiting],
    [entry.away, entry.expired],
    [entry.away, entry.cancelled],
    [entry.admitted, entry.completed],
    [entry.admitted, entry.session_expired],
    [entry.admitted, entry.revoked],
  ],
  2: [
    [claim.claimed, claim.confirmed],
    [claim.claimed, claim.released],
    [claim.claimed, claim.expiring],
    [claim.expiring, claim.confirmed],
    [claim.expiring, claim.released],
    [claim.confirmed, claim.refunded],
  ],
  3: [
    [payment.initializing, payment.pending],
    [payment.initializing, payment.failed],
    [payment.initializing, payment.confirmed],
    [payment.initializing, payment.confirmed_late],
    [payment.initializing, payment.quarantined],
    [payment.pending, payment.confirmed],
    [payment.pending, payment.failed],
    [payment.pending, payment.confirmed_late],
    [payment.pending, payment.quarantined],
    [payment.failed, payment.confirmed_late],
    [payment.failed, payment.quarantined],
    [payment.quarantined, payment.confirmed],
    [payment.quarantined, payment.refund_pending],
    [payment.confirmed_late, payment.confirmed],
    [payment.confirmed_late, payment.refund_pending],
    [payment.confirmed, payment.refund_pending],
    [payment.partially_refunded, payment.refund_pending],
    [payment.refund_pending, payment.refunded],
    [payment.refund_pending, payment.partially_refunded],
    [payment.refund_pending, payment.refund_failed],
    [payment.refund_failed, payment.refund_pending],
  ],
  4: [
    [refund.requested, refund.succeeded],
    [refund.requested, refund.failed],
    [refund.failed, refund.requested],
  ],
};
const legal_steps = Object.entries(machines)
  .flatMap(([kind, steps]) => steps.map(([from, to]) => `(${kind},${from},${to})`))
  .join(',');

/** Sums of claims per ticket type; its counters must equal them. */
const stock_by_claims = `
  SELECT item.aggregate, item.ticket_type AS ordinal,
    coalesce(sum(quantity) FILTER (WHERE status IN (${claim.claimed}, ${claim.expiring})), 0) AS held,
    coalesce(sum(quantity - item.refunded) FILTER (WHERE status IN (${claim.confirmed}, ${claim.refunded})), 0) AS sold
  FROM claim_item AS item JOIN claim ON claim.aggregate = item.aggregate AND claim.id = item.claim
  GROUP BY item.aggregate, item.ticket_type`;

const value_of_claims = `
  SELECT aggregate, claim, sum((quantity - refunded) * unit_price) AS value FROM claim_item GROUP BY aggregate, claim`;

/** Payments with tickets, now or before a refund. */
const with_ticket = [
  payment.confirmed,
  payment.refund_pending,
  payment.partially_refunded,
  payment.refund_failed,
].join(', ');

/** Units of a claim that hold stock or are bought, per ticket type. */
const units_of_claims = `
  SELECT item.aggregate, item.claim, item.ticket_type, sum(quantity - item.refunded)
    FILTER (WHERE status IN (${claim.claimed}, ${claim.expiring}, ${claim.confirmed})) AS units,
    sum(quantity - item.refunded) FILTER (WHERE status = ${claim.confirmed}) AS bought
  FROM claim_item AS item JOIN claim ON claim.aggregate = item.aggregate AND claim.id = item.claim
  GROUP BY item.aggregate, item.claim, item.ticket_type`;

/** Each row with its ordered history; an entry's history begins with its row, WAITING. */
const lives = `
  SELECT aggregate, kind, coalesce(id::text, queue_number::text) AS name, from_status, to_status,
    lag(to_status, 1, CASE kind WHEN 1 THEN ${entry.waiting}::smallint END) OVER life AS before,
    row_number() OVER (PARTITION BY aggregate, kind, id, queue_number ORDER BY seq DESC, ordinal DESC) = 1 AS is_last
  FROM history WINDOW life AS (PARTITION BY aggregate, kind, id, queue_number ORDER BY seq, ordinal)`;

const present = `
  SELECT aggregate, 0 AS kind, id::text AS name, status FROM event
  UNION ALL SELECT aggregate, 1, queue_number::text, status FROM queue_entry
  UNION ALL SELECT aggregate, 2, id::text, status FROM claim
  UNION ALL SELECT aggregate, 3, id::text, status FROM payment
  UNION ALL SELECT aggregate, 4, id::text, status FROM refund`;

/** Hold at every committed state. */
const always = {
  'I1: held + sold above the total': `SELECT aggregate, ordinal, total, held, sold FROM ticket_type WHERE held + sold > total`,
  'I1: counters that differ from the claims': `
    SELECT t.aggregate, t.ordinal, t.held, t.sold, c.held AS claimed, c.sold AS confirmed
    FROM ticket_type AS t LEFT JOIN (${stock_by_claims}) AS c USING (aggregate, ordinal)
    WHERE t.held <> coalesce(c.held, 0) OR t.sold <> coalesce(c.sold, 0)`,
  'I1: a seat of two claims': `
    SELECT aggregate, seat, count(*) FROM claim_seat WHERE is_live GROUP BY aggregate, seat HAVING count(*) > 1`,
  'I1: seats of a claim that are not its units': `
    SELECT * FROM (
      SELECT aggregate, claim, ticket_type, count(*) FILTER (WHERE is_live) AS seats FROM claim_seat
      GROUP BY aggregate, claim, ticket_type) AS held
    JOIN (${units_of_claims}) AS item USING (aggregate, claim, ticket_type) WHERE seats <> coalesce(units, 0)`,
  'I3: bought units that are not its valid event tickets': `
    SELECT * FROM (${units_of_claims}) AS item LEFT JOIN (
      SELECT aggregate, claim, ticket_type, count(*) AS tickets FROM event_ticket WHERE status <> ${cancelled_ticket}
      GROUP BY aggregate, claim, ticket_type) AS valid USING (aggregate, claim, ticket_type)
    WHERE coalesce(bought, 0) <> coalesce(tickets, 0)`,
  'I1: a seat of two valid event tickets': `
    SELECT aggregate, seat, count(*) FROM event_ticket WHERE seat > 0 AND status <> ${cancelled_ticket}
    GROUP BY aggregate, seat HAVING count(*) > 1`,
  'I2: two live places of one subject': `
    SELECT aggregate, subject, count(*) FROM queue_entry
    WHERE status IN (${entry.waiting}, ${entry.away}, ${entry.admitted}) GROUP BY aggregate, subject HAVING count(*) > 1`,
  'I2: more claims than a customer may have': `
    SELECT aggregate, customer, count(*), claims_per_customer FROM claim JOIN event USING (aggregate)
    WHERE claim.status IN (${claim.claimed}, ${claim.expiring}, ${claim.confirmed})
    GROUP BY aggregate, customer, claims_per_customer HAVING count(*) > claims_per_customer`,
  'I3: a confirmed payment without its ticket': `
    SELECT p.aggregate, p.id, c.status FROM payment AS p JOIN claim AS c ON c.aggregate = p.aggregate AND c.id = p.claim
    WHERE p.status = ${payment.confirmed} AND c.status <> ${claim.confirmed}`,
  'I3: a ticket that was not paid exactly once': `
    SELECT c.aggregate, c.id, count(p.id) FROM claim AS c LEFT JOIN payment AS p
      ON p.aggregate = c.aggregate AND p.claim = c.id AND p.status IN (${with_ticket})
    WHERE c.status = ${claim.confirmed} GROUP BY c.aggregate, c.id HAVING count(p.id) <> 1`,
  'I3: money kept that is not the value of the tickets': `
    SELECT p.aggregate, p.id, p.captured, p.refunded, v.value
    FROM payment AS p JOIN (${value_of_claims}) AS v ON v.aggregate = p.aggregate AND v.claim = p.claim
    WHERE p.status IN (${payment.confirmed}, ${payment.partially_refunded}) AND p.captured - p.refunded <> v.value`,
  'I3: money kept for nothing': `
    SELECT aggregate, id, status, captured, refunded FROM payment
    WHERE status IN (${payment.initializing}, ${payment.pending}, ${payment.failed}, ${payment.refunded}) AND captured <> refunded`,
  'I4: a claim that is not the sum of its items': `
    SELECT c.aggregate, c.id, c.amount, sum(quantity * unit_price) AS items
    FROM claim AS c JOIN claim_item AS i ON i.aggregate = c.aggregate AND i.claim = c.id
    GROUP BY c.aggregate, c.id, c.amount HAVING sum(quantity * unit_price) <> c.amount`,
  'I4: a payment of another amount than its claim': `
    SELECT p.aggregate, p.id, p.amount, c.amount AS quoted
    FROM payment AS p JOIN claim AS c ON c.aggregate = p.aggregate AND c.id = p.claim
    WHERE p.amount <> c.amount OR (p.status = ${payment.confirmed} AND p.captured <> p.amount)`,
  'I6: overtaken': `
    SELECT * FROM (
      SELECT aggregate, queue_number, admission_batch,
        max(admission_batch) OVER (PARTITION BY aggregate, priority_class ORDER BY queue_number) AS latest
      FROM queue_entry WHERE admission_batch > 0) AS admitted
    WHERE admission_batch < latest`,
  'I7: places that are gone': `
    SELECT aggregate, count(*), max(queue_number) FROM queue_entry GROUP BY aggregate HAVING count(*) <> max(queue_number)`,
  'I10: a history with a gap': `SELECT * FROM (${lives}) AS life WHERE from_status IS DISTINCT FROM before`,
  'I10: a step that no state machine has': `
    SELECT * FROM history WHERE from_status IS NOT NULL AND (kind, from_status, to_status) NOT IN (VALUES ${legal_steps})`,
  'I10: a row that is not where its history ends': `
    SELECT * FROM (${present}) AS row
    FULL JOIN (SELECT * FROM (${lives}) AS life WHERE is_last) AS life USING (aggregate, kind, name)
    WHERE status IS DISTINCT FROM coalesce(to_status, CASE kind WHEN 1 THEN ${entry.waiting} END)`,
  'I16: one id for two domain events': `SELECT id, count(*) FROM outbox GROUP BY id HAVING count(*) > 1`,
  'the count of live entries': `
    SELECT a.number, a.live_entries, count(e.status) FROM aggregate AS a
    LEFT JOIN queue_entry AS e ON e.aggregate = a.number AND e.status IN (${entry.waiting}, ${entry.away}, ${entry.admitted})
    GROUP BY a.number, a.live_entries HAVING a.live_entries <> count(e.status)`,
};

/** Hold when a sale is over and all deadlines have passed. */
const settled = {
  'I13: claims that still hold stock': `
    SELECT aggregate, id, status FROM claim WHERE status IN (${claim.claimed}, ${claim.expiring})`,
  'I13: sessions that have not ended': `
    SELECT aggregate, queue_number, status FROM queue_entry WHERE status = ${entry.admitted}`,
  'I3: money on its way': `
    SELECT aggregate, id, status FROM payment WHERE status IN (
      ${payment.initializing}, ${payment.pending}, ${payment.quarantined}, ${payment.confirmed_late}, ${payment.refund_pending},
      ${payment.refund_failed})`,
  'I16: domain events that were not delivered': `SELECT aggregate, seq, ordinal, topic FROM outbox WHERE delivered_at = 0`,
};

/** Violations, one line for each row, from one snapshot; [] if sound. */
export async function check_ledger(url, { is_settled = false } = {}) {
  const asked = Object.entries(is_settled ? { ...always, ...settled } : always);
  const found = asked.map(
    ([name, query]) =>
      `SELECT '${name}' AS name, to_json(bad)::text AS bad FROM (SELECT * FROM (${query}) AS one LIMIT 5) AS bad`,
  );
  const rows = await sql(url, found.join('\nUNION ALL\n'));
  return rows.map(({ name, bad }) => `${name}: ${bad}`);
}
