-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 43: for SQLite only.
-- needs: 11

SELECT 1;
