-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 2: claim windows that are promised once, names for the cache's keys, and the
-- outbox as it is written and sent. Leases of aggregates have had their columns since version 1.

-- Fixed when admitted. Who was admitted before gets the window that was in force until now.
ALTER TABLE queue_entry ADD COLUMN claim_by INTEGER NOT NULL DEFAULT 0;
UPDATE queue_entry SET claim_by = min(admitted_at + event.claim_window_ms, session_expires_at)
  FROM event WHERE event.aggregate = queue_entry.aggregate AND admitted_at <> 0;

-- Part of the names of the aggregate's keys in the cache; raised when they can no longer be trusted.
ALTER TABLE aggregate ADD COLUMN cache_generation INTEGER NOT NULL DEFAULT 0 CHECK (cache_generation >= 0);

-- Domain events on their way out (I16), in the order of their aggregate. Version 1 wrote none.
DROP TABLE outbox;
CREATE TABLE outbox (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL, -- applied_seq of the batch
  ordinal INTEGER NOT NULL, -- counts the outbox rows of the batch
  tenant INTEGER NOT NULL DEFAULT 1,
  id BLOB NOT NULL CHECK (length(id) = 16),
  topic TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (aggregate, seq, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_undelivered ON outbox (aggregate, seq, ordinal) WHERE delivered_at = 0;
-- For pruning: it only grows at its end, and only by what was delivered.
CREATE INDEX outbox_delivered ON outbox (delivered_at, aggregate, seq, ordinal) WHERE delivered_at <> 0;

-- Who sends the rows of the aggregates whose number modulo 16 is `partition`. Shared by all tenants.
CREATE TABLE outbox_partition (
  partition INTEGER PRIMARY KEY CHECK (partition BETWEEN 0 AND 15),
  lease_owner TEXT,
  lease_until INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO outbox_partition (partition)
  VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15);
