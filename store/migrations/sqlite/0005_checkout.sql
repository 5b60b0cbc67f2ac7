-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 5: what checkout, refunds of some tickets and the people who look after both need.

-- -1: as the installation has it. Version 4 gave every event 100 and nobody could choose. SQLite cannot change a CHECK: the column
-- is made anew.
ALTER TABLE event ADD COLUMN new_async_percent INTEGER NOT NULL DEFAULT -1 CHECK (new_async_percent BETWEEN -1 AND 100);
UPDATE event SET new_async_percent = async_percent WHERE async_percent <> 100;
ALTER TABLE event DROP COLUMN async_percent;
ALTER TABLE event RENAME COLUMN new_async_percent TO async_percent;

ALTER TABLE payment ADD COLUMN gateway_id TEXT NOT NULL DEFAULT '';
ALTER TABLE payment ADD COLUMN tax INTEGER NOT NULL DEFAULT 0 CHECK (tax BETWEEN 0 AND captured);

-- "ordinal:quantity" pairs with a blank between them; empty: everything that is left.
ALTER TABLE refund ADD COLUMN items TEXT NOT NULL DEFAULT '' CHECK (items NOT GLOB '*[^0-9: ]*' AND items NOT GLOB '*:0*');

ALTER TABLE orders ADD COLUMN payment_link_at INTEGER NOT NULL DEFAULT 0;
-- A customer's orders at all events, newest first.
CREATE INDEX order_of_customer ON orders (customer, id);

-- What failed after its retries and waits for a person.
CREATE TABLE dead_letter (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2), -- 0 refund refused, 1 payment quarantined, 2 domain event undelivered
  subject BLOB NOT NULL CHECK (length(subject) = 16),
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 2), -- 0 open, 1 retried, 2 dismissed
  detail TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dead_letter_of_tenant ON dead_letter (tenant, id);
CREATE INDEX dead_letter_open_of_tenant ON dead_letter (tenant, id) WHERE status = 0;
CREATE INDEX dead_letter_open ON dead_letter (aggregate, id) WHERE status = 0; -- what an owner loads

-- Customers who are served before or after the rest of an event.
CREATE TABLE event_priority (
  aggregate INTEGER NOT NULL REFERENCES event (aggregate),
  customer BLOB NOT NULL CHECK (length(customer) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  priority_class INTEGER NOT NULL CHECK (priority_class BETWEEN 0 AND 255),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, customer)
) STRICT, WITHOUT ROWID;

-- What of the installation's configuration is changed while it runs.
CREATE TABLE setting (
  name TEXT PRIMARY KEY CHECK (name <> ''),
  value TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The connected account that Stripe passes the tenant's money on to.
ALTER TABLE tenant ADD COLUMN stripe_account TEXT NOT NULL DEFAULT '';
