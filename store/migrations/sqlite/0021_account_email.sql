-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 21: the address of the customer's account at the time of the order, which receives the order's mail.
-- needs: 11

ALTER TABLE orders ADD COLUMN account_email TEXT NOT NULL DEFAULT '';
