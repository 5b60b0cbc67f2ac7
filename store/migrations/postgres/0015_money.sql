-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 15: when a failed payment is asked about again, money in another currency than the event's, and
-- dead letters about payments whose rows are lost.
-- needs: 11

ALTER TABLE payment ADD COLUMN other_currency text NOT NULL DEFAULT '';
ALTER TABLE payment ADD COLUMN recheck_at bigint NOT NULL DEFAULT 0;
UPDATE payment SET recheck_at = updated_at + 86400000
  WHERE status = 3 AND gateway <> 'free' AND updated_at > (extract(epoch FROM now())::bigint - 86400) * 1000;
CREATE INDEX payment_recheck ON payment (aggregate) WHERE status = 3 AND recheck_at <> 0;

ALTER TABLE dead_letter DROP CONSTRAINT dead_letter_kind_check;
ALTER TABLE dead_letter ADD CONSTRAINT dead_letter_kind_check CHECK (kind BETWEEN 0 AND 3); -- 3: a payment whose row is lost
