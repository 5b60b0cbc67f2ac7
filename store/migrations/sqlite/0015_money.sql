-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 15: when a failed payment is asked about again, money in another currency than the event's, and
-- dead letters about payments whose rows are lost.
-- needs: 11

ALTER TABLE payment ADD COLUMN other_currency TEXT NOT NULL DEFAULT '';
ALTER TABLE payment ADD COLUMN recheck_at INTEGER NOT NULL DEFAULT 0;
UPDATE payment SET recheck_at = updated_at + 86400000
  WHERE status = 3 AND gateway <> 'free' AND updated_at > (unixepoch() - 86400) * 1000;
CREATE INDEX payment_recheck ON payment (aggregate) WHERE status = 3 AND recheck_at <> 0;

CREATE TABLE dead_letter_15 (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3), -- as before, and 3: a payment whose row is lost
  subject BLOB NOT NULL CHECK (length(subject) = 16),
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2),
  detail TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id)
) STRICT, WITHOUT ROWID;
INSERT INTO dead_letter_15 (aggregate, id, tenant, kind, subject, status, detail, payload, created_at, updated_at)
  SELECT aggregate, id, tenant, kind, subject, status, detail, payload, created_at, updated_at FROM dead_letter;
DROP TABLE dead_letter;
ALTER TABLE dead_letter_15 RENAME TO dead_letter;
CREATE INDEX dead_letter_of_tenant ON dead_letter (tenant, id);
CREATE INDEX dead_letter_open_of_tenant ON dead_letter (tenant, id) WHERE status = 0;
CREATE INDEX dead_letter_open ON dead_letter (aggregate, id) WHERE status = 0;
