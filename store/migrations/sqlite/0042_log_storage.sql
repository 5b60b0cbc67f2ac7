-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 42: for Postgres only.
-- needs: 11

SELECT 1;
