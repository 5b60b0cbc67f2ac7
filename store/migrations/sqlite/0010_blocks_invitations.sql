-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 10: whom an organizer does not serve, and who is invited to a quota.
-- needs: 9

CREATE TABLE blocked_customer (
  tenant INTEGER NOT NULL,
  organizer BLOB NOT NULL CHECK (length(organizer) = 16), -- nil: at all events of the tenant
  customer BLOB NOT NULL CHECK (length(customer) = 16),
  reason TEXT NOT NULL,
  includes_ended INTEGER NOT NULL, -- what was bought from sales that have ended goes back too
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, organizer, customer)
) STRICT;
-- What a blocked customer has paid is looked for by the customer.
CREATE INDEX payment_of_customer ON payment (customer) WHERE status IN (2, 8);

CREATE TABLE event_invitation (
  aggregate INTEGER NOT NULL,
  customer BLOB NOT NULL CHECK (length(customer) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  ticket_type INTEGER NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  valid_until INTEGER NOT NULL,
  told_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, customer),
  FOREIGN KEY (aggregate, ticket_type) REFERENCES ticket_type (aggregate, ordinal)
) STRICT;
