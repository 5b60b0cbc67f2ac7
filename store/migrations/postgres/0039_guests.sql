-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 39: purchases without a sign-in. Older programs refuse guests' tokens: let
-- no event have guests before all nodes run this version.
-- needs: 11

ALTER TABLE event ADD COLUMN guests boolean NOT NULL DEFAULT false;
-- Who placed it without a proof of the customer's address; nil: the customer.
ALTER TABLE orders ADD COLUMN guest uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
