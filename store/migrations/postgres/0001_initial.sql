-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 1.
--
-- Conventions: every row carries its tenant and its aggregate; times are Unix milliseconds, 0 means "never"; ids and 128-bit
-- hashes are uuid; enumerations are the numbers of domain/states.hpp and domain/rows.hpp; money is in minor units; what is
-- unsigned and 32 bits wide in the program is bigint here; what is looked up by text compares by bytes. The CHECKs repeat the
-- invariants I1-I4 that one row can tell.
-- A migration that was released is never edited: its checksum is kept in schema_migration.

CREATE TABLE tenant (
  id bigint PRIMARY KEY,
  name text NOT NULL UNIQUE
);
INSERT INTO tenant (id, name) VALUES (1, 'default');

-- The unit of ownership. `epoch` fences former owners (I17), `applied_seq` makes every batch apply exactly once. Every batch
-- updates its row: no column that it changes is in an index and half of each page is kept free, so that the new version
-- stays on the page and costs no index entry (HOT).
CREATE TABLE aggregate (
  number bigint PRIMARY KEY CHECK (number BETWEEN 1 AND 4294967295),
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 3), -- 0 accounts, 1 catalog, 2 event, 3 standalone queue
  tenant bigint NOT NULL DEFAULT 1 REFERENCES tenant (id),
  epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  applied_seq bigint NOT NULL DEFAULT 0 CHECK (applied_seq >= 0),
  committed_at bigint NOT NULL DEFAULT 0, -- the greatest time an owner ever committed
  live_entries bigint NOT NULL DEFAULT 0 CHECK (live_entries >= 0), -- entries that wait or shop: who must be woken after a restart
  lease_owner text, -- node that runs it; null: nobody
  lease_until bigint NOT NULL DEFAULT 0,
  command_schema smallint NOT NULL DEFAULT 1 -- version of the changes that were written last
) WITH (fillfactor = 50);
INSERT INTO aggregate (number, kind) VALUES (1, 0), (2, 1);

CREATE TABLE event (
  aggregate bigint PRIMARY KEY REFERENCES aggregate (number),
  tenant bigint NOT NULL DEFAULT 1,
  id uuid NOT NULL,
  organizer uuid NOT NULL,
  name text NOT NULL,
  currency text NOT NULL,
  status smallint NOT NULL CHECK (status BETWEEN 0 AND 4),
  queue_opens_at bigint NOT NULL,
  sale_start bigint NOT NULL,
  sale_end bigint NOT NULL,
  policy smallint NOT NULL CHECK (policy BETWEEN 0 AND 4),
  concurrency bigint NOT NULL CHECK (concurrency >= 0),
  rate_per_minute bigint NOT NULL CHECK (rate_per_minute >= 0),
  batch_size bigint NOT NULL CHECK (batch_size >= 0),
  admission_interval_ms bigint NOT NULL,
  over_admission_percent bigint NOT NULL CHECK (over_admission_percent >= 0),
  session_ttl_ms bigint NOT NULL,
  claim_window_ms bigint NOT NULL,
  ticket_ttl_ms bigint NOT NULL,
  claim_ttl_ms bigint NOT NULL,
  claims_per_customer bigint NOT NULL CHECK (claims_per_customer >= 0),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX event_on_sale ON event (aggregate) WHERE status IN (1, 2);
CREATE INDEX event_of_organizer ON event (organizer, aggregate);

CREATE TABLE ticket_type (
  aggregate bigint NOT NULL REFERENCES event (aggregate),
  ordinal bigint NOT NULL CHECK (ordinal >= 0),
  tenant bigint NOT NULL DEFAULT 1,
  id uuid NOT NULL,
  name text NOT NULL,
  price bigint NOT NULL CHECK (price >= 0),
  total bigint NOT NULL CHECK (total BETWEEN 0 AND 1000000000000),
  held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
  sold bigint NOT NULL DEFAULT 0 CHECK (sold >= 0),
  max_per_order bigint NOT NULL CHECK (max_per_order >= 0),
  on_sale boolean NOT NULL,
  PRIMARY KEY (aggregate, ordinal),
  CONSTRAINT no_oversell CHECK (held + sold <= total) -- I1
) WITH (fillfactor = 50); -- the counters move all the time: HOT, as above

-- The join path: an append in key order and nothing else. No index on the subject, no foreign key, no history. Uniqueness of
-- the subject is the owner's, under its epoch (I2). No column that changes is in an index, so that an admission is HOT.
CREATE TABLE queue_entry (
  aggregate bigint NOT NULL,
  queue_number bigint NOT NULL CHECK (queue_number BETWEEN 1 AND 1099511627775),
  tenant bigint NOT NULL DEFAULT 1,
  join_key bigint NOT NULL DEFAULT 0,
  joined_at bigint NOT NULL,
  admitted_at bigint NOT NULL DEFAULT 0,
  session_expires_at bigint NOT NULL DEFAULT 0,
  ended_at bigint NOT NULL DEFAULT 0,
  admission_no bigint NOT NULL DEFAULT 0,
  admission_batch bigint NOT NULL DEFAULT 0,
  subject uuid NOT NULL,
  priority_class smallint NOT NULL DEFAULT 0 CHECK (priority_class BETWEEN 0 AND 255), -- entry class
  status smallint NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 7),
  has_claimed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (aggregate, queue_number)
) WITH (fillfactor = 45); -- room for one more version of each row: an admission is then a fifth cheaper, and half the index

CREATE TABLE claim (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  customer uuid NOT NULL,
  queue_number bigint NOT NULL,
  status smallint NOT NULL CHECK (status BETWEEN 0 AND 4),
  live_slot smallint NOT NULL CHECK (live_slot BETWEEN 0 AND 255),
  item_count bigint NOT NULL,
  amount bigint NOT NULL CHECK (amount >= 0),
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id)
);
-- I2: at most one claim a customer and slot that holds or has bought (CLAIMED, EXPIRING, CONFIRMED).
CREATE UNIQUE INDEX claim_slot ON claim (aggregate, customer, live_slot) WHERE status IN (0, 1, 2);
CREATE INDEX claim_live ON claim (aggregate) WHERE status IN (0, 1);

CREATE TABLE claim_item (
  aggregate bigint NOT NULL,
  claim uuid NOT NULL,
  position bigint NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  ticket_type bigint NOT NULL,
  quantity bigint NOT NULL CHECK (quantity >= 1),
  unit_price bigint NOT NULL CHECK (unit_price >= 0),
  refunded bigint NOT NULL CHECK (refunded BETWEEN 0 AND quantity),
  PRIMARY KEY (aggregate, claim, position),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id),
  FOREIGN KEY (aggregate, ticket_type) REFERENCES ticket_type (aggregate, ordinal)
);

CREATE TABLE payment (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  claim uuid NOT NULL,
  customer uuid NOT NULL,
  status smallint NOT NULL CHECK (status BETWEEN 0 AND 9),
  gateway text NOT NULL,
  reference text COLLATE "C" NOT NULL UNIQUE,
  authorization_url text NOT NULL,
  amount bigint NOT NULL CHECK (amount >= 0),
  captured bigint NOT NULL CHECK (captured >= 0),
  refunded bigint NOT NULL CHECK (refunded >= 0),
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id),
  CONSTRAINT no_money_from_nowhere CHECK (refunded <= captured) -- I3
);
-- One open attempt a claim (INITIALIZING, PENDING).
CREATE UNIQUE INDEX payment_open ON payment (aggregate, claim) WHERE status IN (0, 1);
-- Money on its way: open, CONFIRMED_LATE, REFUND_PENDING.
CREATE INDEX payment_running ON payment (aggregate) WHERE status IN (0, 1, 5, 6);
-- What a cancelled event still has to give back.
CREATE INDEX payment_confirmed ON payment (aggregate) WHERE status = 2;

CREATE TABLE refund (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  payment uuid NOT NULL,
  status smallint NOT NULL CHECK (status BETWEEN 0 AND 2),
  amount bigint NOT NULL CHECK (amount >= 0),
  attempts bigint NOT NULL CHECK (attempts >= 0),
  next_attempt_at bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, payment) REFERENCES payment (aggregate, id)
);
CREATE INDEX refund_requested ON refund (aggregate) WHERE status = 0;

-- Answers to idempotent requests, in the order they were committed; appended only. That a key is used once is decided by the
-- owner's index: a unique index here would be a random page a row, and would outlive the key's 24 hours.
CREATE TABLE idempotency (
  aggregate bigint NOT NULL,
  seq bigint NOT NULL, -- applied_seq of the batch
  ordinal bigint NOT NULL, -- place in the batch
  tenant bigint NOT NULL DEFAULT 1,
  key uuid NOT NULL,
  body uuid NOT NULL,
  created_at bigint NOT NULL,
  answer bytea NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at, aggregate, seq, ordinal);

-- Webhooks that were applied (I9).
CREATE TABLE receipt (
  aggregate bigint NOT NULL,
  seq bigint NOT NULL,
  ordinal bigint NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  gateway text NOT NULL,
  gateway_event text COLLATE "C" NOT NULL,
  received_at bigint NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal),
  UNIQUE (gateway, gateway_event)
);
CREATE INDEX receipt_by_age ON receipt (received_at, aggregate, seq, ordinal);

CREATE TABLE organizer (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL,
  email text COLLATE "C" NOT NULL,
  password_hash text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id),
  UNIQUE (aggregate, email)
);

CREATE TABLE customer (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL,
  email text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id),
  UNIQUE (aggregate, email)
);

CREATE TABLE otp (
  aggregate bigint NOT NULL,
  email text COLLATE "C" NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  code_hash text NOT NULL,
  expires_at bigint NOT NULL,
  failures bigint NOT NULL CHECK (failures >= 0),
  PRIMARY KEY (aggregate, email)
);

-- Every step of every life cycle, for I10. An entry is named by its number, everything else by its id.
CREATE TABLE history (
  aggregate bigint NOT NULL,
  seq bigint NOT NULL,
  ordinal bigint NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 4), -- 0 event, 1 entry, 2 claim, 3 payment, 4 refund
  id uuid,
  queue_number bigint,
  from_status smallint, -- null for the first
  to_status smallint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal),
  CONSTRAINT one_name CHECK (num_nonnulls(id, queue_number) = 1)
);

-- Ends the transaction. Called by statements that did not meet every row they were given, so that COMMIT can be sent right
-- behind them: a change that finds another state than it expects changes no row. FQ001: of a row; FQ002: of an aggregate.
CREATE FUNCTION refuse_batch(code text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = code, MESSAGE = CASE code
    WHEN 'FQ001' THEN 'a row was not in the state that a change expects'
    ELSE 'a batch does not continue what is applied, or its aggregate is locked'
  END;
END $$;
