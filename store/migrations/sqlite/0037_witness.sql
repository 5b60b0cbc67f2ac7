-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 37: logs of other installations that this one cosigns as a witness.
-- needs: 11

CREATE TABLE witnessed (
  id TEXT PRIMARY KEY, -- SHA-256 of the origin in hex
  origin TEXT NOT NULL UNIQUE,
  log_key TEXT NOT NULL, -- in hex
  size INTEGER NOT NULL CHECK (size >= 0),
  root TEXT NOT NULL CHECK (length(root) = 64), -- in hex
  note TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX witnessed_of_key ON witnessed (log_key);
