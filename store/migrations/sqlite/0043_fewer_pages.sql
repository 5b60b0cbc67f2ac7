-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 43: joins and checkouts write fewer pages.
-- needs: 11

-- Notes of public logs: in a table without row numbers, a row above 1,000 bytes takes a page of its own.
CREATE TABLE log_batch_numbered (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  content BLOB NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
) STRICT;
INSERT INTO log_batch_numbered SELECT aggregate, seq, ordinal, tenant, content FROM log_batch;
DROP TABLE log_batch;
ALTER TABLE log_batch_numbered RENAME TO log_batch;

-- For a list of more than two values in an index's condition, SQLite made a temporary table at each change of a
-- row. The conditions mean what they meant.
DROP INDEX claim_slot;
CREATE UNIQUE INDEX claim_slot ON claim (aggregate, customer, live_slot) WHERE status <= 2;
DROP INDEX payment_running;
CREATE INDEX payment_running ON payment (aggregate) WHERE status <= 1 OR status BETWEEN 5 AND 6;
