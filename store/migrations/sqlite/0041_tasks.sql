-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 41: the last finished tasks of all nodes.
-- needs: 11

CREATE TABLE task (
  id INTEGER PRIMARY KEY, -- in the order of commits
  ended_at INTEGER NOT NULL,
  name TEXT NOT NULL,
  result TEXT NOT NULL,
  detail TEXT NOT NULL,
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  duration INTEGER NOT NULL
) STRICT;
