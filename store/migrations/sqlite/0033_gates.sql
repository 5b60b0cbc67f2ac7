-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 33: devices that may let in against the rules; scans are deleted by ticket.
-- needs: 11

ALTER TABLE checkin_device ADD COLUMN may_force INTEGER NOT NULL DEFAULT 0 CHECK (may_force IN (0, 1));
-- Until now every device might.
UPDATE checkin_device SET may_force = 1;

-- For deletion after the end of the event, whole tickets together; whether a ticket has a newer scan is one seek.
CREATE INDEX checkin_scan_by_ticket ON checkin_scan (aggregate, ticket, received_at, id);
DROP INDEX checkin_scan_received;
