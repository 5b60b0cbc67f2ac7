-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 7: the nodes that share it, so that they find one another.

CREATE TABLE node (
  id text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
  address text NOT NULL, -- host:port; empty: it takes no connections
  wire_version bigint NOT NULL, -- of its messages: nodes of different ones do not talk
  owners bigint NOT NULL, -- aggregates it owns
  is_settled boolean NOT NULL, -- connected to every other
  is_draining boolean NOT NULL,
  seen_at bigint NOT NULL -- by the database's clock
);
