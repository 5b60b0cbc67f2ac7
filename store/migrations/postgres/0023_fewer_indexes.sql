-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 23: a checkout writes fewer indexes. Each by customer cost a random page a row: an export reads claims
-- and payments from one end to the other instead. The outbox is read by its lanes. Older programs can do without.
-- needs: 11

DROP INDEX claim_of_customer;
DROP INDEX payment_by_customer;
DROP INDEX outbox_undelivered;
