-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 36: the waiting list after an event is sold out.
-- Older programs offer what comes back with the usual window: enable no list before all nodes run this version.
-- needs: 11

ALTER TABLE event ADD COLUMN waiting_list INTEGER NOT NULL DEFAULT 0 CHECK (waiting_list IN (0, 1));
ALTER TABLE event ADD COLUMN waiting_list_claim_window_ms INTEGER NOT NULL DEFAULT 1800000;
-- Minutes of the day at the venue; -1: no quiet hours.
ALTER TABLE event ADD COLUMN waiting_list_quiet_from INTEGER NOT NULL DEFAULT -1;
ALTER TABLE event ADD COLUMN waiting_list_quiet_until INTEGER NOT NULL DEFAULT -1;
-- 0: it has not begun.
ALTER TABLE event ADD COLUMN waiting_list_began_at INTEGER NOT NULL DEFAULT 0;
