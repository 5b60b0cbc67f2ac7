-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 17: how far an owner's clock is behind the ledger's, so that the next owner continues it.
-- needs: 11

ALTER TABLE aggregate ADD COLUMN clock_lag INTEGER NOT NULL DEFAULT 0; -- ms, at the last commit, plus the silence of owners that ended without one
