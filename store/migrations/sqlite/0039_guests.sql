-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 39: purchases without a sign-in. Older programs refuse guests' tokens: let
-- no event have guests before all nodes run this version.
-- needs: 11

ALTER TABLE event ADD COLUMN guests INTEGER NOT NULL DEFAULT 0 CHECK (guests IN (0, 1));
-- Who placed it without a proof of the customer's address; nil: the customer.
ALTER TABLE orders ADD COLUMN guest BLOB NOT NULL DEFAULT x'00000000000000000000000000000000' CHECK (length(guest) = 16);
