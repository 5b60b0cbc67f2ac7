-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 38: the public log of a line. Older programs note nothing in it: run
-- this version on all nodes before a sale whose log counts.
-- needs: 11

-- How far each log has come; its checkpoint follows from it.
CREATE TABLE log_state (
  aggregate INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL DEFAULT 1,
  number INTEGER NOT NULL CHECK (number > 0), -- of the origin
  origin TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size >= 0),
  root BLOB NOT NULL,
  taken_seq INTEGER NOT NULL, -- the last row of log_batch that is in it
  taken_ordinal INTEGER NOT NULL,
  last_number INTEGER NOT NULL,
  cosignatures TEXT NOT NULL, -- of witnesses, over the checkpoint of this size
  is_lost INTEGER NOT NULL
) STRICT;

-- What was noted and is not in the log yet: a few seconds.
CREATE TABLE log_batch (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  content BLOB NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
) STRICT, WITHOUT ROWID;

-- Bundles of records (level 255) and tiles of hashes.
CREATE TABLE log_tile (
  aggregate INTEGER NOT NULL,
  number INTEGER NOT NULL,
  level INTEGER NOT NULL,
  position INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  last_number INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (aggregate, number, level, position)
) STRICT;
-- The bundle of an entry's join.
CREATE INDEX log_bundle_of_number ON log_tile (aggregate, number, last_number) WHERE level = 255;
