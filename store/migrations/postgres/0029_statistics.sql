-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 29: statistics of events, at most one row a minute.
-- needs: 11

CREATE TABLE statistics (
  aggregate bigint NOT NULL,
  at bigint NOT NULL, -- a full minute
  tenant bigint NOT NULL DEFAULT 1,
  waiting bigint NOT NULL CHECK (waiting >= 0),
  waiting_peak bigint NOT NULL CHECK (waiting_peak >= waiting), -- since the row before
  admitted bigint NOT NULL CHECK (admitted >= 0),
  arrivals bigint NOT NULL CHECK (arrivals >= 0), -- since the row before
  admissions bigint NOT NULL CHECK (admissions >= 0), -- since the row before
  arrivals_total bigint NOT NULL CHECK (arrivals_total >= arrivals),
  admissions_total bigint NOT NULL CHECK (admissions_total >= admissions),
  held bigint NOT NULL,
  sold bigint NOT NULL,
  available bigint NOT NULL,
  revenue bigint NOT NULL,
  PRIMARY KEY (aggregate, at)
);
-- The oldest rows, to delete.
CREATE INDEX statistics_by_age ON statistics (at);
