-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 33: devices that may let in against the rules; scans are deleted by ticket.
-- needs: 11

ALTER TABLE checkin_device ADD COLUMN may_force boolean NOT NULL DEFAULT false;
-- Until now every device might.
UPDATE checkin_device SET may_force = true;

-- For deletion after the end of the event, whole tickets together; whether a ticket has a newer scan is one seek.
CREATE INDEX checkin_scan_by_ticket ON checkin_scan (aggregate, ticket, received_at, id);
DROP INDEX checkin_scan_received;
