-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 27: what an event's tickets are like, and offers of tickets to other people.
-- needs: 11

ALTER TABLE event ADD COLUMN rotating_codes boolean NOT NULL DEFAULT false;
ALTER TABLE event ADD COLUMN transfers_max bigint NOT NULL DEFAULT 1;
ALTER TABLE event ADD COLUMN key_number bigint NOT NULL DEFAULT 0;

CREATE TABLE event_ticket_transfer (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  ticket uuid NOT NULL,
  giver uuid NOT NULL,
  receiver uuid NOT NULL,
  giver_email text NOT NULL, -- both empty once it has ended
  receiver_email text NOT NULL,
  status smallint NOT NULL CHECK (status BETWEEN 0 AND 4), -- 0 offered, 1 accepted, 2 declined, 3 withdrawn, 4 expired
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, ticket) REFERENCES event_ticket (aggregate, id)
);
-- One offer of a ticket at a time.
CREATE UNIQUE INDEX event_ticket_offered ON event_ticket_transfer (aggregate, ticket) WHERE status = 0;
-- A customer's, for pages, exports and erasure.
CREATE INDEX transfer_of_giver ON event_ticket_transfer (giver, id);
CREATE INDEX transfer_of_receiver ON event_ticket_transfer (receiver, id);
