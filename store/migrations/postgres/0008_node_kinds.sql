-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 8: which nodes serve while they are upgraded, and which of them believe one another's tokens.
-- needs: 7

ALTER TABLE node ADD COLUMN serves boolean NOT NULL DEFAULT true;
ALTER TABLE node ADD COLUMN keys text NOT NULL DEFAULT '';
