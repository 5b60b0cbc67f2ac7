-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 10: whom an organizer does not serve, and who is invited to a quota.
-- needs: 9

CREATE TABLE blocked_customer (
  tenant bigint NOT NULL,
  organizer uuid NOT NULL, -- nil: at all events of the tenant
  customer uuid NOT NULL,
  reason text NOT NULL,
  includes_ended boolean NOT NULL, -- what was bought from sales that have ended goes back too
  created_at bigint NOT NULL,
  PRIMARY KEY (tenant, organizer, customer)
);
-- What a blocked customer has paid is looked for by the customer.
CREATE INDEX payment_of_customer ON payment (customer) WHERE status IN (2, 8);

CREATE TABLE event_invitation (
  aggregate bigint NOT NULL,
  customer uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  ticket_type bigint NOT NULL,
  quantity bigint NOT NULL CHECK (quantity > 0),
  valid_until bigint NOT NULL,
  told_at bigint NOT NULL,
  PRIMARY KEY (aggregate, customer),
  FOREIGN KEY (aggregate, ticket_type) REFERENCES ticket_type (aggregate, ordinal)
);
