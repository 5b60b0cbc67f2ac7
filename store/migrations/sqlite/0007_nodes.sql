-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 7: the nodes that share it, so that they find one another.

CREATE TABLE node (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  address TEXT NOT NULL, -- host:port; empty: it takes no connections
  wire_version INTEGER NOT NULL, -- of its messages: nodes of different ones do not talk
  owners INTEGER NOT NULL, -- aggregates it owns
  is_settled INTEGER NOT NULL, -- connected to every other
  is_draining INTEGER NOT NULL,
  seen_at INTEGER NOT NULL -- by the database's clock
);
