-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 22: what is kept of a customer is found by the customer, for an export and before an erasure.
-- needs: 11

CREATE INDEX claim_of_customer ON claim (customer, id);
CREATE INDEX payment_by_customer ON payment (customer, id);
CREATE INDEX priority_of_customer ON event_priority (customer, aggregate);
CREATE INDEX invitation_of_customer ON event_invitation (customer, aggregate);
CREATE INDEX block_of_customer ON blocked_customer (customer, tenant, organizer);
