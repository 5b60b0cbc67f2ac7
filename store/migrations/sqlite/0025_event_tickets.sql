-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 25: each bought unit is an event ticket with a holder. Purchases of older programs get theirs when
-- their event is loaded.
-- needs: 11

CREATE TABLE event_ticket (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  claim BLOB NOT NULL,
  ticket_type INTEGER NOT NULL,
  holder BLOB NOT NULL CHECK (length(holder) = 16),
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 4), -- 0 issued, 1 checked in, 2 checked out, 3 transferred, 4 cancelled
  generation INTEGER NOT NULL CHECK (generation >= 1), -- of its codes: a transfer raises it
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id)
) STRICT, WITHOUT ROWID;
-- A holder's tickets at all events, newest first.
CREATE INDEX event_ticket_of_holder ON event_ticket (holder, id);

-- Ids of event tickets with a blank between them; empty: all that are left, or chosen when the refund succeeds.
ALTER TABLE refund ADD COLUMN tickets TEXT NOT NULL DEFAULT '';

-- The history tells of event tickets as well (kind 6). SQLite cannot change a CHECK: the table is made anew, without an upper bound.
CREATE TABLE new_history (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  kind INTEGER NOT NULL CHECK (kind >= 0), -- 0 event, 1 entry, 2 claim, 3 payment, 4 refund, 5 order, 6 event ticket
  key ANY NOT NULL,
  from_status INTEGER, -- null for the first
  to_status INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO new_history SELECT * FROM history;
DROP TABLE history;
ALTER TABLE new_history RENAME TO history;
