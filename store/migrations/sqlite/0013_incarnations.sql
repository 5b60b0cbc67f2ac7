-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 13: how many processes have begun under each node's name. The latest one owns, the earlier ones
-- never again. A row is kept when its node is forgotten. Older programs can do without.
-- needs: 11

CREATE TABLE node_incarnation (node TEXT PRIMARY KEY, incarnation INTEGER NOT NULL CHECK (incarnation > 0)) STRICT;
ALTER TABLE node ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0;
