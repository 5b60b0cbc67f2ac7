-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 28: check-in lists, devices that scan, and scans.
-- needs: 11

CREATE TABLE checkin_list (
  aggregate bigint NOT NULL REFERENCES event (aggregate),
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  name text NOT NULL CHECK (name <> ''),
  ticket_types bigint NOT NULL, -- bits by ordinal; 0: all
  gates text NOT NULL, -- one a line
  mode smallint NOT NULL CHECK (mode IN (0, 1)), -- 0 entry, 1 entry and exit
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  removed_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id)
);

CREATE TABLE checkin_device (
  aggregate bigint NOT NULL REFERENCES event (aggregate),
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  label text NOT NULL,
  gate text NOT NULL,
  lists text NOT NULL, -- ids with a blank between them; empty: all
  secret_hash text NOT NULL CHECK (secret_hash <> ''),
  created_at bigint NOT NULL,
  revoked_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id)
);

-- The scanner chooses the id, so that the same scan is recorded once.
CREATE TABLE checkin_scan (
  aggregate bigint NOT NULL REFERENCES event (aggregate),
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  list uuid NOT NULL,
  device uuid NOT NULL,
  ticket uuid NOT NULL, -- zeros: an unreadable code
  type smallint NOT NULL CHECK (type IN (0, 1)), -- 0 entry, 1 exit
  is_admitted boolean NOT NULL,
  is_forced boolean NOT NULL,
  objection smallint NOT NULL,
  earlier uuid NOT NULL,
  scanned_at bigint NOT NULL,
  received_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id),
  CHECK (is_admitted OR objection <> 0)
);
-- For deletion by age.
CREATE INDEX checkin_scan_received ON checkin_scan (received_at, aggregate, id);
-- For the export of a customer.
CREATE INDEX checkin_scan_ticket ON checkin_scan (ticket, id);
