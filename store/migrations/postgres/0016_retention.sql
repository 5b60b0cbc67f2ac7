-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 16: totals of a line beside its rows, because ended entries are deleted in time. Whoever takes an
-- aggregate counts them anew if a program that does not know them (counted_seq) committed last.
-- needs: 11

ALTER TABLE aggregate ADD COLUMN last_number bigint NOT NULL DEFAULT 0; -- of an entry; never given again
ALTER TABLE aggregate ADD COLUMN first_kept bigint NOT NULL DEFAULT 1; -- lower entries have ended, and no owner has them in memory
ALTER TABLE aggregate ADD COLUMN admitted_total bigint NOT NULL DEFAULT 0;
ALTER TABLE aggregate ADD COLUMN completed_total bigint NOT NULL DEFAULT 0;
ALTER TABLE aggregate ADD COLUMN last_batch bigint NOT NULL DEFAULT 0; -- of admissions
ALTER TABLE aggregate ADD COLUMN counted_seq bigint NOT NULL DEFAULT 0; -- applied_seq of these totals

-- Entries to delete: ended, and never with a claim (an order may need theirs). An admission stays HOT, because no column of this index
-- changes in it; a first claim and an end do not.
CREATE INDEX queue_entry_ended ON queue_entry (ended_at, aggregate, queue_number) WHERE ended_at <> 0 AND NOT has_claimed AND reclaims = 0;
