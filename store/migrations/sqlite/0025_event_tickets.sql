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

-- The history tells of event tickets as well (kind 6). A new table would copy every row while nothing is served. SQLite documents this way to
-- change a CHECK: https://sqlite.org/lang_altertable.html#otheralter
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'kind BETWEEN 0 AND 5', 'kind >= 0') WHERE type = 'table' AND name = 'history';
PRAGMA writable_schema = RESET;
-- Refuses to go on if another text was in its place.
CREATE TEMP TABLE history_is_changed (n INTEGER CONSTRAINT history_is_changed CHECK (n = 1));
INSERT INTO history_is_changed SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = 'history' AND instr(sql, 'CHECK (kind >= 0)') > 0;
DROP TABLE temp.history_is_changed;
