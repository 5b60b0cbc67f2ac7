-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 46: a log keeps the first checkpoint over a closing until the draw.
-- needs: 11

ALTER TABLE log_state ADD COLUMN closing TEXT NOT NULL DEFAULT ''; -- a note with its cosignatures
