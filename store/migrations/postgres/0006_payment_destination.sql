-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 6: where a payment's money goes on to is decided when the payment is opened.

-- The account at the gateway; empty: the money stays. A tenant's account may change later, a payment's does not.
ALTER TABLE payment ADD COLUMN destination text NOT NULL DEFAULT '';
