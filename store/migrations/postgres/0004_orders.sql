-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 4: orders, promo codes, donations, hidden ticket types with windows of their own.

ALTER TABLE event ADD COLUMN async_percent bigint NOT NULL DEFAULT 100 CHECK (async_percent BETWEEN 0 AND 100);

ALTER TABLE ticket_type
  ADD COLUMN hidden boolean NOT NULL DEFAULT false,
  ADD COLUMN sale_from bigint NOT NULL DEFAULT 0,
  ADD COLUMN sale_until bigint NOT NULL DEFAULT 0;

ALTER TABLE claim ADD COLUMN promo bigint NOT NULL DEFAULT 0 CHECK (promo >= 0); -- ordinal + 1 of its promo code; 0: none
ALTER TABLE claim_item
  ADD COLUMN donation bigint NOT NULL DEFAULT 0 CHECK (donation >= 0),
  ADD COLUMN unit_discount bigint NOT NULL DEFAULT 0 CHECK (unit_discount BETWEEN 0 AND unit_price);

CREATE TABLE promo_code (
  aggregate bigint NOT NULL REFERENCES event (aggregate),
  ordinal bigint NOT NULL CHECK (ordinal >= 0),
  tenant bigint NOT NULL DEFAULT 1,
  id uuid NOT NULL,
  code text COLLATE "C" NOT NULL CHECK (code <> ''),
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 2), -- 0 none, 1 percent, 2 amount
  value bigint NOT NULL CHECK (value >= 0),
  ticket_types bigint NOT NULL, -- bit i: the type of ordinal i; 0: all
  valid_from bigint NOT NULL,
  valid_until bigint NOT NULL,
  uses_max bigint NOT NULL CHECK (uses_max >= 0), -- 0: unlimited
  uses_per_customer bigint NOT NULL CHECK (uses_per_customer >= 0),
  uses bigint NOT NULL DEFAULT 0 CHECK (uses BETWEEN 0 AND 4294967295),
  is_active boolean NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (aggregate, ordinal),
  CONSTRAINT no_over_redemption CHECK (uses_max = 0 OR uses <= uses_max)
) WITH (fillfactor = 50); -- `uses` moves all the time: HOT
CREATE UNIQUE INDEX promo_code_word ON promo_code (aggregate, code);

-- A purchase as the customer sees it (ORDER is a word of SQL). Its items are its claim's.
CREATE TABLE orders (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  claim uuid NOT NULL,
  customer uuid NOT NULL,
  status smallint NOT NULL CHECK (status BETWEEN 0 AND 6),
  first_name text NOT NULL,
  last_name text NOT NULL,
  email text NOT NULL,
  phone text NOT NULL,
  promo_code text NOT NULL,
  subtotal bigint NOT NULL CHECK (subtotal >= 0),
  discount bigint NOT NULL CHECK (discount >= 0),
  donations bigint NOT NULL CHECK (donations >= 0),
  platform_fee bigint NOT NULL CHECK (platform_fee >= 0),
  processing_fee bigint NOT NULL CHECK (processing_fee >= 0),
  total bigint NOT NULL CHECK (total >= 0),
  success_url text NOT NULL,
  cancel_url text NOT NULL,
  failure text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id),
  CONSTRAINT parts_make_the_total CHECK (total = subtotal - discount + donations + platform_fee + processing_fee)
);
CREATE UNIQUE INDEX order_of_claim ON orders (aggregate, claim);

-- The history tells of orders as well.
ALTER TABLE history
  DROP CONSTRAINT history_kind_check,
  ADD CONSTRAINT history_kind_check CHECK (kind BETWEEN 0 AND 5); -- 0 event, 1 entry, 2 claim, 3 payment, 4 refund, 5 order
