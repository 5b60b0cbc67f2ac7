-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 34: lobbies, their draws, and parties.
-- needs: 11

ALTER TABLE event ADD COLUMN lobby_opens_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN draw INTEGER NOT NULL DEFAULT 0 CHECK (draw BETWEEN 0 AND 1);
ALTER TABLE event ADD COLUMN party_max INTEGER NOT NULL DEFAULT 6 CHECK (party_max >= 1);
ALTER TABLE event ADD COLUMN beacon INTEGER NOT NULL DEFAULT 0 CHECK (beacon BETWEEN 0 AND 2);
ALTER TABLE event ADD COLUMN beacon_chain_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN beacon_round INTEGER NOT NULL DEFAULT 0 CHECK (beacon_round >= 0);
ALTER TABLE event ADD COLUMN beacon_announced TEXT NOT NULL DEFAULT '';

-- The number of the entry that opened the party; 0: none.
ALTER TABLE queue_entry ADD COLUMN party INTEGER NOT NULL DEFAULT 0 CHECK (party >= 0);

-- The order follows from seed, root, beacon and the entries. The seed is secret before the draw.
CREATE TABLE lobby_draw (
  aggregate INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL DEFAULT 1,
  opened_at INTEGER NOT NULL,
  closed_at INTEGER NOT NULL,
  drawn_at INTEGER NOT NULL CHECK (drawn_at = 0 OR closed_at <> 0),
  seed TEXT NOT NULL CHECK (seed <> ''),
  seed_commitment TEXT NOT NULL,
  last_number INTEGER NOT NULL CHECK (last_number >= 0),
  entrants INTEGER NOT NULL CHECK (entrants >= 0),
  root TEXT NOT NULL CHECK (drawn_at = 0 OR root <> ''),
  beacon INTEGER NOT NULL CHECK (beacon BETWEEN 0 AND 2),
  beacon_value TEXT NOT NULL
) STRICT;

-- From the first lobby on, programs without draws do not start.
CREATE TRIGGER lobby_needs_draws AFTER INSERT ON lobby_draw BEGIN
  UPDATE schema_migration SET needs = 34 WHERE number = 34 AND needs < 34;
END;
