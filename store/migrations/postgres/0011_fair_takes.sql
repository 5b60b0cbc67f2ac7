-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 11: each target's deliveries by themselves, so that the many of one need not be passed to find
-- another's; and what is left of purchases that were refunded in part. Older programs can do without.
-- needs: 10

CREATE INDEX delivery_of_target ON delivery (channel, target, due_at, notice) WHERE state = 0;
CREATE INDEX payment_partly_refunded ON payment (aggregate) WHERE status = 8;
