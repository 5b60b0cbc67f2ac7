-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 44: terms of tickets.
-- needs: 11

ALTER TABLE event ADD COLUMN ticket_terms text NOT NULL DEFAULT '';
