-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 42: hashes are stored as they are, because compressing them is in vain.
-- needs: 11

ALTER TABLE log_tile ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE log_batch ALTER COLUMN content SET STORAGE EXTERNAL;
