-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 4: orders, promo codes, donations, hidden ticket types with windows of their own.

ALTER TABLE event ADD COLUMN async_percent INTEGER NOT NULL DEFAULT 100 CHECK (async_percent BETWEEN 0 AND 100);

ALTER TABLE ticket_type ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1));
ALTER TABLE ticket_type ADD COLUMN sale_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ticket_type ADD COLUMN sale_until INTEGER NOT NULL DEFAULT 0;

ALTER TABLE claim ADD COLUMN promo INTEGER NOT NULL DEFAULT 0 CHECK (promo >= 0); -- ordinal + 1 of its promo code; 0: none
ALTER TABLE claim_item ADD COLUMN donation INTEGER NOT NULL DEFAULT 0 CHECK (donation >= 0);
ALTER TABLE claim_item ADD COLUMN unit_discount INTEGER NOT NULL DEFAULT 0 CHECK (unit_discount BETWEEN 0 AND unit_price);

CREATE TABLE promo_code (
  aggregate INTEGER NOT NULL REFERENCES event (aggregate),
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  tenant INTEGER NOT NULL DEFAULT 1,
  id BLOB NOT NULL CHECK (length(id) = 16),
  code TEXT NOT NULL CHECK (code <> ''),
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2), -- 0 none, 1 percent, 2 amount
  value INTEGER NOT NULL CHECK (value >= 0),
  ticket_types INTEGER NOT NULL, -- bit i: the type of ordinal i; 0: all
  valid_from INTEGER NOT NULL,
  valid_until INTEGER NOT NULL,
  uses_max INTEGER NOT NULL CHECK (uses_max >= 0), -- 0: unlimited
  uses_per_customer INTEGER NOT NULL CHECK (uses_per_customer >= 0),
  uses INTEGER NOT NULL DEFAULT 0 CHECK (uses BETWEEN 0 AND 4294967295),
  is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, ordinal),
  CONSTRAINT no_over_redemption CHECK (uses_max = 0 OR uses <= uses_max)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX promo_code_word ON promo_code (aggregate, code);

-- A purchase as the customer sees it (ORDER is a word of SQL). Its items are its claim's.
CREATE TABLE orders (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  claim BLOB NOT NULL,
  customer BLOB NOT NULL CHECK (length(customer) = 16),
  status INTEGER NOT NULL CHECK (status BETWEEN 0 AND 6),
  first_name TEXT NOT NULL,
  last_name TEXT NOT NULL,
  email TEXT NOT NULL,
  phone TEXT NOT NULL,
  promo_code TEXT NOT NULL,
  subtotal INTEGER NOT NULL CHECK (subtotal >= 0),
  discount INTEGER NOT NULL CHECK (discount >= 0),
  donations INTEGER NOT NULL CHECK (donations >= 0),
  platform_fee INTEGER NOT NULL CHECK (platform_fee >= 0),
  processing_fee INTEGER NOT NULL CHECK (processing_fee >= 0),
  total INTEGER NOT NULL CHECK (total >= 0),
  success_url TEXT NOT NULL,
  cancel_url TEXT NOT NULL,
  failure TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id),
  CONSTRAINT parts_make_the_total CHECK (total = subtotal - discount + donations + platform_fee + processing_fee)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX order_of_claim ON orders (aggregate, claim);

-- The history tells of orders as well (kind 5). SQLite cannot change a CHECK: the table is made anew.
CREATE TABLE new_history (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  kind INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 5), -- 0 event, 1 entry, 2 claim, 3 payment, 4 refund, 5 order
  key ANY NOT NULL,
  from_status INTEGER, -- null for the first
  to_status INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO new_history SELECT * FROM history;
DROP TABLE history;
ALTER TABLE new_history RENAME TO history;
