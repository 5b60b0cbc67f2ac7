-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 27: what an event's tickets are like, and offers of tickets to other people.
-- needs: 11

ALTER TABLE event ADD COLUMN rotating_codes INTEGER NOT NULL DEFAULT 0 CHECK (rotating_codes IN (0, 1));
ALTER TABLE event ADD COLUMN transfers_max INTEGER NOT NULL DEFAULT 1;
ALTER TABLE event ADD COLUMN key_number INTEGER NOT NULL DEFAULT 0;

CREATE TABLE event_ticket_transfer (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  ticket BLOB NOT NULL,
  giver BLOB NOT NULL CHECK (length(giver) = 16),
  receiver BLOB NOT NULL CHECK (length(receiver) = 16),
  giver_email TEXT NOT NULL, -- both empty once it has ended
  receiver_email TEXT NOT NULL,
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 4), -- 0 offered, 1 accepted, 2 declined, 3 withdrawn, 4 expired
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, ticket) REFERENCES event_ticket (aggregate, id)
) STRICT, WITHOUT ROWID;
-- One offer of a ticket at a time.
CREATE UNIQUE INDEX event_ticket_offered ON event_ticket_transfer (aggregate, ticket) WHERE status = 0;
-- A customer's, for pages, exports and erasure.
CREATE INDEX transfer_of_giver ON event_ticket_transfer (giver, id);
CREATE INDEX transfer_of_receiver ON event_ticket_transfer (receiver, id);
