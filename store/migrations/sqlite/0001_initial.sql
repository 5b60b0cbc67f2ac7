-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 1.
--
-- Conventions: every row carries its tenant and its aggregate; times are Unix milliseconds, 0 means "never"; ids are
-- 16-byte blobs in network order, so they sort as they compare; enumerations are the numbers of domain/states.hpp and
-- domain/rows.hpp; money is in minor units. The CHECKs repeat the invariants I1-I4 that one row can tell.
-- A migration that was released is never edited: its checksum is kept in schema_migration.

CREATE TABLE tenant (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO tenant (id, name) VALUES (1, 'default');

-- The unit of ownership. `epoch` fences former owners (I17), `applied_seq` makes every batch apply exactly once.
CREATE TABLE aggregate (
  number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 4294967295),
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3), -- 0 accounts, 1 catalog, 2 event, 3 standalone queue
  tenant INTEGER NOT NULL DEFAULT 1 REFERENCES tenant (id),
  epoch INTEGER NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  applied_seq INTEGER NOT NULL DEFAULT 0 CHECK (applied_seq >= 0),
  committed_at INTEGER NOT NULL DEFAULT 0, -- the greatest time an owner ever committed
  -- Entries that wait or shop: who must be woken after a restart. Counted here, where every batch writes anyway, because
  -- an index of them would make a join a third dearer (measured).
  live_entries INTEGER NOT NULL DEFAULT 0 CHECK (live_entries >= 0),
  lease_owner TEXT, -- node that runs it; null on one node
  lease_until INTEGER NOT NULL DEFAULT 0,
  command_schema INTEGER NOT NULL DEFAULT 1 -- version of the changes that were written last
) STRICT;
INSERT INTO aggregate (number, kind) VALUES (1, 0), (2, 1);

CREATE TABLE event (
  aggregate INTEGER PRIMARY KEY REFERENCES aggregate (number),
  tenant INTEGER NOT NULL DEFAULT 1,
  id BLOB NOT NULL CHECK (length(id) = 16),
  organizer BLOB NOT NULL CHECK (length(organizer) = 16),
  name TEXT NOT NULL,
  currency TEXT NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 4),
  queue_opens_at INTEGER NOT NULL,
  sale_start INTEGER NOT NULL,
  sale_end INTEGER NOT NULL,
  policy INTEGER NOT NULL CHECK (policy BETWEEN 0 AND 4),
  concurrency INTEGER NOT NULL CHECK (concurrency >= 0),
  rate_per_minute INTEGER NOT NULL CHECK (rate_per_minute >= 0),
  batch_size INTEGER NOT NULL CHECK (batch_size >= 0),
  admission_interval_ms INTEGER NOT NULL,
  over_admission_percent INTEGER NOT NULL CHECK (over_admission_percent >= 0),
  session_ttl_ms INTEGER NOT NULL,
  claim_window_ms INTEGER NOT NULL,
  ticket_ttl_ms INTEGER NOT NULL,
  claim_ttl_ms INTEGER NOT NULL,
  claims_per_customer INTEGER NOT NULL CHECK (claims_per_customer >= 0),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX event_on_sale ON event (aggregate) WHERE status IN (1, 2);
CREATE INDEX event_of_organizer ON event (organizer, aggregate);

CREATE TABLE ticket_type (
  aggregate INTEGER NOT NULL REFERENCES event (aggregate),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  tenant INTEGER NOT NULL DEFAULT 1,
  id BLOB NOT NULL CHECK (length(id) = 16),
  name TEXT NOT NULL,
  price INTEGER NOT NULL CHECK (price >= 0),
  total INTEGER NOT NULL CHECK (total BETWEEN 0 AND 1000000000000),
  held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
  sold INTEGER NOT NULL DEFAULT 0 CHECK (sold >= 0),
  max_per_order INTEGER NOT NULL CHECK (max_per_order >= 0),
  on_sale INTEGER NOT NULL CHECK (on_sale IN (0, 1)),
  PRIMARY KEY (aggregate, ordinal),
  CONSTRAINT no_oversell CHECK (held + sold <= total) -- I1
) STRICT, WITHOUT ROWID;

-- The join path: an append in key order and nothing else. No index on the subject, no foreign key, no history: each
-- would dirty about a page a join. Uniqueness of the subject is the owner's, under its epoch (I2).
CREATE TABLE queue_entry (
  aggregate INTEGER NOT NULL,
  queue_number INTEGER NOT NULL CHECK (queue_number BETWEEN 1 AND 1099511627775),
  tenant INTEGER NOT NULL DEFAULT 1,
  priority_class INTEGER NOT NULL DEFAULT 0 CHECK (priority_class BETWEEN 0 AND 255), -- entry class
  status INTEGER NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 7),
  has_claimed INTEGER NOT NULL DEFAULT 0,
  subject BLOB NOT NULL,
  join_key INTEGER NOT NULL DEFAULT 0,
  joined_at INTEGER NOT NULL,
  admitted_at INTEGER NOT NULL DEFAULT 0,
  session_expires_at INTEGER NOT NULL DEFAULT 0,
  ended_at INTEGER NOT NULL DEFAULT 0,
  admission_no INTEGER NOT NULL DEFAULT 0,
  admission_batch INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (aggregate, queue_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE claim (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  customer BLOB NOT NULL CHECK (length(customer) = 16),
  queue_number INTEGER NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 4),
  live_slot INTEGER NOT NULL CHECK (live_slot BETWEEN 0 AND 255),
  item_count INTEGER NOT NULL,
  amount INTEGER NOT NULL CHECK (amount >= 0),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id)
) STRICT, WITHOUT ROWID;
-- I2: at most one claim a customer and slot that holds or has bought (CLAIMED, EXPIRING, CONFIRMED).
CREATE UNIQUE INDEX claim_slot ON claim (aggregate, customer, live_slot) WHERE status IN (0, 1, 2);
CREATE INDEX claim_live ON claim (aggregate) WHERE status IN (0, 1);

CREATE TABLE claim_item (
  aggregate INTEGER NOT NULL,
  claim BLOB NOT NULL,
  position INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  ticket_type INTEGER NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity >= 1),
  unit_price INTEGER NOT NULL CHECK (unit_price >= 0),
  refunded INTEGER NOT NULL CHECK (refunded BETWEEN 0 AND quantity),
  PRIMARY KEY (aggregate, claim, position),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id),
  FOREIGN KEY (aggregate, ticket_type) REFERENCES ticket_type (aggregate, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE payment (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  claim BLOB NOT NULL,
  customer BLOB NOT NULL CHECK (length(customer) = 16),
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 9),
  gateway TEXT NOT NULL,
  reference TEXT NOT NULL UNIQUE,
  authorization_url TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount >= 0),
  captured INTEGER NOT NULL CHECK (captured >= 0),
  refunded INTEGER NOT NULL CHECK (refunded >= 0),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id),
  CONSTRAINT no_money_from_nowhere CHECK (refunded <= captured) -- I3
) STRICT, WITHOUT ROWID;
-- One open attempt a claim (INITIALIZING, PENDING).
CREATE UNIQUE INDEX payment_open ON payment (aggregate, claim) WHERE status IN (0, 1);
-- Money on its way: open, CONFIRMED_LATE, REFUND_PENDING.
CREATE INDEX payment_running ON payment (aggregate) WHERE status IN (0, 1, 5, 6);
-- What a cancelled event still has to give back.
CREATE INDEX payment_confirmed ON payment (aggregate) WHERE status = 2;

CREATE TABLE refund (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  payment BLOB NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2),
  amount INTEGER NOT NULL CHECK (amount >= 0),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  next_attempt_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, payment) REFERENCES payment (aggregate, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX refund_requested ON refund (aggregate) WHERE status = 0;

-- Answers to idempotent requests, in the order they were committed; appended only. That a key is used once is decided
-- by the owner's index: a unique index here would be a random page a row, and would outlive the key's 24 hours.
CREATE TABLE idempotency (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL, -- applied_seq of the batch
  ordinal INTEGER NOT NULL, -- place in the batch
  tenant INTEGER NOT NULL DEFAULT 1,
  key BLOB NOT NULL CHECK (length(key) = 16),
  body BLOB NOT NULL CHECK (length(body) = 16),
  created_at INTEGER NOT NULL,
  answer BLOB NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at, aggregate, seq, ordinal);

-- Webhooks that were applied (I9).
CREATE TABLE receipt (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  gateway TEXT NOT NULL,
  gateway_event TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal),
  UNIQUE (gateway, gateway_event)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_by_age ON receipt (received_at, aggregate, seq, ordinal);

CREATE TABLE organizer (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL,
  email TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id),
  UNIQUE (aggregate, email)
) STRICT, WITHOUT ROWID;

CREATE TABLE customer (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL,
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id),
  UNIQUE (aggregate, email)
) STRICT, WITHOUT ROWID;

CREATE TABLE otp (
  aggregate INTEGER NOT NULL,
  email TEXT NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  code_hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  failures INTEGER NOT NULL CHECK (failures >= 0),
  PRIMARY KEY (aggregate, email)
) STRICT, WITHOUT ROWID;

-- Every step of every life cycle, for I10. `key` is the id, or the queue number of an entry.
CREATE TABLE history (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 4), -- 0 event, 1 entry, 2 claim, 3 payment, 4 refund
  key ANY NOT NULL,
  from_status INTEGER, -- null for the first
  to_status INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
) STRICT, WITHOUT ROWID;

-- Domain events on their way out (I16): a row goes out only after its predecessor of the same aggregate.
CREATE TABLE outbox (
  aggregate INTEGER NOT NULL REFERENCES aggregate (number),
  aggregate_seq INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  id BLOB NOT NULL CHECK (length(id) = 16),
  topic TEXT NOT NULL,
  payload BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  PRIMARY KEY (aggregate, aggregate_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_waiting ON outbox (aggregate, aggregate_seq) WHERE delivered_at = 0;
