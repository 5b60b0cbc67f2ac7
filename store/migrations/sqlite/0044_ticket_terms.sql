-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 44: terms of tickets.
-- needs: 11

ALTER TABLE event ADD COLUMN ticket_terms TEXT NOT NULL DEFAULT '';
