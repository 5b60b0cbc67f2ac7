-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 18: aggregates that are stopped, because the ledger went back over commits that somebody saw. Both
-- are what was seen; 0: nothing is missing. Programs before this one serve them all the same.
-- needs: 11

ALTER TABLE aggregate ADD COLUMN lost_epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE aggregate ADD COLUMN lost_seq INTEGER NOT NULL DEFAULT 0;
