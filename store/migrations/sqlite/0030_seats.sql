-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 30: reserved seats. Older programs know no seats: give no event a plan before all nodes run this version.
-- needs: 11

CREATE TABLE seat_plan (
  id BLOB PRIMARY KEY CHECK (length(id) = 16),
  tenant INTEGER NOT NULL REFERENCES tenant (id),
  organizer BLOB NOT NULL CHECK (length(organizer) = 16),
  name TEXT NOT NULL,
  content TEXT NOT NULL, -- text_of(seat_plan)
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX seat_plan_of_owner ON seat_plan (tenant, organizer, id);

CREATE TABLE event_plan (
  aggregate INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL DEFAULT 1,
  content TEXT NOT NULL, -- text_of(seat_plan)
  types TEXT NOT NULL, -- ordinals of ticket types with a blank between them
  singles INTEGER NOT NULL CHECK (singles BETWEEN 0 AND 2), -- 0 strict, 1 when needed, 2 off
  may_split INTEGER NOT NULL,
  accessible_for_all INTEGER NOT NULL
) STRICT;

-- From the first plan on, programs without seats do not start.
CREATE TRIGGER plan_needs_seats AFTER INSERT ON event_plan BEGIN
  UPDATE schema_migration SET needs = 30 WHERE number = 30 AND needs < 30;
END;

CREATE TABLE claim_seat (
  aggregate INTEGER NOT NULL REFERENCES event_plan (aggregate),
  claim BLOB NOT NULL,
  seat INTEGER NOT NULL CHECK (seat >= 0),
  tenant INTEGER NOT NULL DEFAULT 1,
  ticket_type INTEGER NOT NULL,
  is_live INTEGER NOT NULL,
  PRIMARY KEY (aggregate, claim, seat),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id)
) STRICT, WITHOUT ROWID;
-- I1 for seats: at most one claim that holds or has bought a seat.
CREATE UNIQUE INDEX seat_taken ON claim_seat (aggregate, seat) WHERE is_live = 1;

CREATE TABLE seat_setting (
  aggregate INTEGER NOT NULL REFERENCES event_plan (aggregate) ON DELETE CASCADE,
  seat INTEGER NOT NULL CHECK (seat >= 0),
  tenant INTEGER NOT NULL DEFAULT 1,
  ticket_type INTEGER NOT NULL,
  is_blocked INTEGER NOT NULL,
  PRIMARY KEY (aggregate, seat)
) STRICT, WITHOUT ROWID;

-- Number in the event's plan + 1; 0: none.
ALTER TABLE event_ticket ADD COLUMN seat INTEGER NOT NULL DEFAULT 0;
