-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 28: check-in lists, devices that scan, and scans.
-- needs: 11

CREATE TABLE checkin_list (
  aggregate INTEGER NOT NULL REFERENCES event (aggregate),
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  name TEXT NOT NULL CHECK (name <> ''),
  ticket_types INTEGER NOT NULL, -- bits by ordinal; 0: all
  gates TEXT NOT NULL, -- one a line
  mode INTEGER NOT NULL CHECK (mode IN (0, 1)), -- 0 entry, 1 entry and exit
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  removed_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkin_device (
  aggregate INTEGER NOT NULL REFERENCES event (aggregate),
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  label TEXT NOT NULL,
  gate TEXT NOT NULL,
  lists TEXT NOT NULL, -- ids with a blank between them; empty: all
  secret_hash TEXT NOT NULL CHECK (secret_hash <> ''),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id)
) STRICT, WITHOUT ROWID;

-- The scanner chooses the id, so that the same scan is recorded once.
CREATE TABLE checkin_scan (
  aggregate INTEGER NOT NULL REFERENCES event (aggregate),
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  list BLOB NOT NULL,
  device BLOB NOT NULL,
  ticket BLOB NOT NULL, -- zeros: an unreadable code
  type INTEGER NOT NULL CHECK (type IN (0, 1)), -- 0 entry, 1 exit
  is_admitted INTEGER NOT NULL CHECK (is_admitted IN (0, 1)),
  is_forced INTEGER NOT NULL CHECK (is_forced IN (0, 1)),
  objection INTEGER NOT NULL,
  earlier BLOB NOT NULL,
  scanned_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id),
  CHECK (is_admitted = 1 OR objection <> 0)
) STRICT, WITHOUT ROWID;
-- For deletion by age.
CREATE INDEX checkin_scan_received ON checkin_scan (received_at, aggregate, id);
-- For the export of a customer.
CREATE INDEX checkin_scan_ticket ON checkin_scan (ticket, id);
