-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 26: a tenant's account at Paystack, and what its payments carry at a gateway.
-- needs: 11

ALTER TABLE tenant ADD COLUMN paystack_subaccount text NOT NULL DEFAULT '';
-- Lines "key=value".
ALTER TABLE tenant ADD COLUMN payment_metadata text NOT NULL DEFAULT '';
