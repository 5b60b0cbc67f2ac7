-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 40: logos of tenants. Older programs do not know that a tenant names a
-- picture, and may delete it.
-- needs: 11

ALTER TABLE tenant ADD COLUMN logo text NOT NULL DEFAULT '';
