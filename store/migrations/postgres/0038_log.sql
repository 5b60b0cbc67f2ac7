-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 38: the public log of a line. Older programs note nothing in it: run
-- this version on all nodes before a sale whose log counts.
-- needs: 11

-- How far each log has come; its checkpoint follows from it.
CREATE TABLE log_state (
  aggregate bigint PRIMARY KEY,
  tenant bigint NOT NULL DEFAULT 1,
  number bigint NOT NULL CHECK (number > 0), -- of the origin
  origin text NOT NULL,
  size bigint NOT NULL CHECK (size >= 0),
  root bytea NOT NULL,
  taken_seq bigint NOT NULL, -- the last row of log_batch that is in it
  taken_ordinal bigint NOT NULL,
  last_number bigint NOT NULL,
  cosignatures text NOT NULL, -- of witnesses, over the checkpoint of this size
  is_lost boolean NOT NULL
);

-- What was noted and is not in the log yet: a few seconds.
CREATE TABLE log_batch (
  aggregate bigint NOT NULL,
  seq bigint NOT NULL,
  ordinal bigint NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  content bytea NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
);

-- Bundles of records (level 255) and tiles of hashes.
CREATE TABLE log_tile (
  aggregate bigint NOT NULL,
  number bigint NOT NULL,
  level bigint NOT NULL,
  position bigint NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  last_number bigint NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (aggregate, number, level, position)
);
-- The bundle of an entry's join.
CREATE INDEX log_bundle_of_number ON log_tile (aggregate, number, last_number) WHERE level = 255;
