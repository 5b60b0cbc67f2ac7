-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 42: tiles of public logs are stored as they are. Hashes cannot be
-- compressed, and trying takes more time than a join's row.
-- needs: 11

ALTER TABLE log_tile ALTER COLUMN content SET STORAGE EXTERNAL;
