-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 20: erasure of personal data. Only `to_erase` is the program's row; the other columns tell how far
-- prune() has come with it. Whoever does not know them erases nothing.
-- needs: 11

ALTER TABLE customer ADD COLUMN to_erase TEXT NOT NULL DEFAULT ''; -- addresses, separated by line feeds
ALTER TABLE customer ADD COLUMN erase_round INTEGER NOT NULL DEFAULT 0; -- passes that ended because mail to it waits
ALTER TABLE customer ADD COLUMN erase_part INTEGER NOT NULL DEFAULT 0; -- 0 outbox, 1 idempotency
ALTER TABLE customer ADD COLUMN erase_waits INTEGER NOT NULL DEFAULT 0; -- whether this pass has met mail that waits
ALTER TABLE customer ADD COLUMN erase_aggregate INTEGER NOT NULL DEFAULT 0; -- with seq and ordinal: the last row that was looked at
ALTER TABLE customer ADD COLUMN erase_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE customer ADD COLUMN erase_ordinal INTEGER NOT NULL DEFAULT 0;
CREATE INDEX customer_to_erase ON customer (erase_round, id) WHERE to_erase <> '';

-- Orders that still have a contact; deliveries with an address.
CREATE INDEX order_contact ON orders (aggregate, id) WHERE email <> '';
CREATE INDEX delivery_of_accounts ON delivery (target, notice) WHERE topic = 'user.updated';
