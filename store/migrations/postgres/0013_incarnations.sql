-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 13: how many processes have begun under each node's name. The latest one owns, the earlier ones
-- never again. A row is kept when its node is forgotten. Older programs can do without.
-- needs: 11

CREATE TABLE node_incarnation (node text PRIMARY KEY, incarnation bigint NOT NULL CHECK (incarnation > 0));
ALTER TABLE node ADD COLUMN incarnation bigint NOT NULL DEFAULT 0;
