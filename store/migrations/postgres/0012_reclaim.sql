-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 12: the window to claim again after a claim ended without a purchase.
-- needs: 11

ALTER TABLE event ADD COLUMN reclaim_window_ms bigint NOT NULL DEFAULT 60000;
ALTER TABLE event ADD COLUMN reclaims_max bigint NOT NULL DEFAULT 3;
ALTER TABLE queue_entry ADD COLUMN reclaims smallint NOT NULL DEFAULT 0;
