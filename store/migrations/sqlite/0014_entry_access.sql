-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 14: the promo codes that customers give when they join, to buy hidden ticket types.
-- needs: 11

CREATE TABLE entry_access (
  aggregate INTEGER NOT NULL,
  queue_number INTEGER NOT NULL,
  promo_code INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (aggregate, queue_number, promo_code)
) STRICT;
