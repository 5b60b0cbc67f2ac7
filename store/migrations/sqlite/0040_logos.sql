-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 40: logos of tenants. Older programs do not know that a tenant names a
-- picture, and may delete it.
-- needs: 11

ALTER TABLE tenant ADD COLUMN logo TEXT NOT NULL DEFAULT '';
