-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 14: the promo codes that customers give when they join, to buy hidden ticket types.
-- needs: 11

CREATE TABLE entry_access (
  aggregate bigint NOT NULL,
  queue_number bigint NOT NULL,
  promo_code bigint NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (aggregate, queue_number, promo_code)
);
