-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 42: hashes are stored as they are, because compressing them is in vain.
-- needs: 11

SELECT 1; -- SQLite compresses nothing
