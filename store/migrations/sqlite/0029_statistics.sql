-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 29: statistics of events, at most one row a minute.
-- needs: 11

CREATE TABLE statistics (
  aggregate INTEGER NOT NULL,
  at INTEGER NOT NULL, -- a full minute
  tenant INTEGER NOT NULL DEFAULT 1,
  waiting INTEGER NOT NULL CHECK (waiting >= 0),
  waiting_peak INTEGER NOT NULL CHECK (waiting_peak >= waiting), -- since the row before
  admitted INTEGER NOT NULL CHECK (admitted >= 0),
  arrivals INTEGER NOT NULL CHECK (arrivals >= 0), -- since the row before
  admissions INTEGER NOT NULL CHECK (admissions >= 0), -- since the row before
  arrivals_total INTEGER NOT NULL CHECK (arrivals_total >= arrivals),
  admissions_total INTEGER NOT NULL CHECK (admissions_total >= admissions),
  held INTEGER NOT NULL,
  sold INTEGER NOT NULL,
  available INTEGER NOT NULL,
  revenue INTEGER NOT NULL,
  PRIMARY KEY (aggregate, at)
) STRICT, WITHOUT ROWID;
-- The oldest rows, to delete.
CREATE INDEX statistics_by_age ON statistics (at);
