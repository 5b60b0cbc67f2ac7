-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 24: what people want to know of an event: when, where, what. Coordinates are millionths of a degree; -2147483648 is none.
-- needs: 11

ALTER TABLE event ADD COLUMN starts_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN ends_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN doors_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN time_zone TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN venue_name TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN venue_address TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN latitude INTEGER NOT NULL DEFAULT -2147483648;
ALTER TABLE event ADD COLUMN longitude INTEGER NOT NULL DEFAULT -2147483648;
ALTER TABLE event ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE ticket_type ADD COLUMN description TEXT NOT NULL DEFAULT '';
