-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 5: what checkout, refunds of some tickets and the people who look after both need.

-- -1: as the installation has it. Version 4 gave every event 100 and nobody could choose.
ALTER TABLE event
  ALTER COLUMN async_percent SET DEFAULT -1,
  DROP CONSTRAINT event_async_percent_check,
  ADD CONSTRAINT event_async_percent_check CHECK (async_percent BETWEEN -1 AND 100);
UPDATE event SET async_percent = -1 WHERE async_percent = 100;

ALTER TABLE payment
  ADD COLUMN gateway_id text NOT NULL DEFAULT '',
  ADD COLUMN tax bigint NOT NULL DEFAULT 0 CHECK (tax BETWEEN 0 AND captured);

-- "ordinal:quantity" pairs with a blank between them; empty: everything that is left.
ALTER TABLE refund ADD COLUMN items text NOT NULL DEFAULT '' CHECK (items !~ '[^0-9: ]|:0');

ALTER TABLE orders ADD COLUMN payment_link_at bigint NOT NULL DEFAULT 0;
-- A customer's orders at all events, newest first.
CREATE INDEX order_of_customer ON orders (customer, id);

-- What failed after its retries and waits for a person.
CREATE TABLE dead_letter (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 2), -- 0 refund refused, 1 payment quarantined, 2 domain event undelivered
  subject uuid NOT NULL,
  status smallint NOT NULL CHECK (status BETWEEN 0 AND 2), -- 0 open, 1 retried, 2 dismissed
  detail text NOT NULL,
  payload text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id)
);
CREATE INDEX dead_letter_of_tenant ON dead_letter (tenant, id);
CREATE INDEX dead_letter_open_of_tenant ON dead_letter (tenant, id) WHERE status = 0;
CREATE INDEX dead_letter_open ON dead_letter (aggregate, id) WHERE status = 0; -- what an owner loads

-- Customers who are served before or after the rest of an event.
CREATE TABLE event_priority (
  aggregate bigint NOT NULL REFERENCES event (aggregate),
  customer uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  priority_class smallint NOT NULL CHECK (priority_class BETWEEN 0 AND 255),
  created_at bigint NOT NULL,
  PRIMARY KEY (aggregate, customer)
);

-- What of the installation's configuration is changed while it runs.
CREATE TABLE setting (
  name text COLLATE "C" PRIMARY KEY CHECK (name <> ''),
  value text NOT NULL,
  updated_at bigint NOT NULL
);

-- The connected account that Stripe passes the tenant's money on to.
ALTER TABLE tenant ADD COLUMN stripe_account text NOT NULL DEFAULT '';
