-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 24: what people want to know of an event: when, where, what. Coordinates are millionths of a degree; -2147483648 is none.
-- needs: 11

ALTER TABLE event ADD COLUMN starts_at bigint NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN ends_at bigint NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN doors_at bigint NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN time_zone text NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN venue_name text NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN venue_address text NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN latitude bigint NOT NULL DEFAULT -2147483648;
ALTER TABLE event ADD COLUMN longitude bigint NOT NULL DEFAULT -2147483648;
ALTER TABLE event ADD COLUMN description text NOT NULL DEFAULT '';
ALTER TABLE ticket_type ADD COLUMN description text NOT NULL DEFAULT '';
