-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 8: which nodes serve while they are upgraded, and which of them believe one another's tokens.
-- needs: 7

ALTER TABLE node ADD COLUMN serves INTEGER NOT NULL DEFAULT 1;
ALTER TABLE node ADD COLUMN keys TEXT NOT NULL DEFAULT '';
