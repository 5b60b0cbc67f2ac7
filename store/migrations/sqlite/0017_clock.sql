-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 17.
-- needs: 11

ALTER TABLE aggregate ADD COLUMN clock_lag INTEGER NOT NULL DEFAULT 0;
