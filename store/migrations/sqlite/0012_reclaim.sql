-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 12: the window to claim again after a claim ended without a purchase.
-- needs: 11

ALTER TABLE event ADD COLUMN reclaim_window_ms INTEGER NOT NULL DEFAULT 60000;
ALTER TABLE event ADD COLUMN reclaims_max INTEGER NOT NULL DEFAULT 3;
ALTER TABLE queue_entry ADD COLUMN reclaims INTEGER NOT NULL DEFAULT 0;
