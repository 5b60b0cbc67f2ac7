-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 42: tiles of public logs are stored as they are. Postgres tried
-- to compress them, which saves little, because most of a tile is hashes, and took a part of the time of each join.
-- needs: 11

ALTER TABLE log_tile ALTER COLUMN content SET STORAGE EXTERNAL;
