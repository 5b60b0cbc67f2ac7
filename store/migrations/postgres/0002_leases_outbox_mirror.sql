-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 2: claim windows that are promised once, names for the cache's keys, and the
-- outbox. Leases of aggregates have had their columns since version 1.

-- Fixed when admitted. Who was admitted before gets the window that was in force until now.
ALTER TABLE queue_entry ADD COLUMN claim_by bigint NOT NULL DEFAULT 0;
UPDATE queue_entry SET claim_by = least(admitted_at + event.claim_window_ms, session_expires_at)
  FROM event WHERE event.aggregate = queue_entry.aggregate AND admitted_at <> 0;

-- Part of the names of the aggregate's keys in the cache; raised when they can no longer be trusted.
ALTER TABLE aggregate ADD COLUMN cache_generation bigint NOT NULL DEFAULT 0 CHECK (cache_generation >= 0);

-- Domain events on their way out (I16), in the order of their aggregate.
CREATE TABLE outbox (
  aggregate bigint NOT NULL,
  seq bigint NOT NULL, -- applied_seq of the batch
  ordinal bigint NOT NULL, -- counts the outbox rows of the batch
  tenant bigint NOT NULL DEFAULT 1,
  id uuid NOT NULL,
  topic text NOT NULL,
  payload text NOT NULL,
  created_at bigint NOT NULL,
  delivered_at bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (aggregate, seq, ordinal)
) WITH (autovacuum_vacuum_scale_factor = 0.02); -- each row dies once: the index of undelivered ones must stay short
CREATE INDEX outbox_undelivered ON outbox (aggregate, seq, ordinal) WHERE delivered_at = 0;
-- For pruning: it only grows at its end, and only by what was delivered.
CREATE INDEX outbox_delivered ON outbox (delivered_at, aggregate, seq, ordinal) WHERE delivered_at <> 0;

-- Who sends the rows of the aggregates whose number modulo 16 is `partition`. Shared by all tenants.
CREATE TABLE outbox_partition (
  partition bigint PRIMARY KEY CHECK (partition BETWEEN 0 AND 15),
  lease_owner text,
  lease_until bigint NOT NULL DEFAULT 0
);
INSERT INTO outbox_partition (partition) SELECT generate_series(0, 15);
