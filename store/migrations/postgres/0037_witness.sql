-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 37: logs of other installations that this one cosigns as a witness.
-- needs: 11

CREATE TABLE witnessed (
  id text COLLATE "C" PRIMARY KEY, -- SHA-256 of the origin in hex
  origin text NOT NULL UNIQUE,
  log_key text COLLATE "C" NOT NULL, -- in hex
  size bigint NOT NULL CHECK (size >= 0),
  root text NOT NULL CHECK (length(root) = 64), -- in hex
  note text NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX witnessed_of_key ON witnessed (log_key);
