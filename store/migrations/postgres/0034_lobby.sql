-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 34: lobbies, their draws, and parties.
-- needs: 11

ALTER TABLE event ADD COLUMN lobby_opens_at bigint NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN draw smallint NOT NULL DEFAULT 0 CHECK (draw BETWEEN 0 AND 1);
ALTER TABLE event ADD COLUMN party_max bigint NOT NULL DEFAULT 6 CHECK (party_max >= 1);
ALTER TABLE event ADD COLUMN beacon smallint NOT NULL DEFAULT 0 CHECK (beacon BETWEEN 0 AND 2);
ALTER TABLE event ADD COLUMN beacon_chain_hash text NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN beacon_round bigint NOT NULL DEFAULT 0 CHECK (beacon_round >= 0);
ALTER TABLE event ADD COLUMN beacon_announced text NOT NULL DEFAULT '';

-- The number of the entry that opened the party; 0: none.
ALTER TABLE queue_entry ADD COLUMN party bigint NOT NULL DEFAULT 0 CHECK (party >= 0);

-- The order follows from seed, root, beacon and the entries. The seed is secret before the draw.
CREATE TABLE lobby_draw (
  aggregate bigint PRIMARY KEY,
  tenant bigint NOT NULL DEFAULT 1,
  opened_at bigint NOT NULL,
  closed_at bigint NOT NULL,
  drawn_at bigint NOT NULL CHECK (drawn_at = 0 OR closed_at <> 0),
  seed text NOT NULL CHECK (seed <> ''),
  seed_commitment text NOT NULL,
  last_number bigint NOT NULL CHECK (last_number >= 0),
  entrants bigint NOT NULL CHECK (entrants >= 0),
  root text NOT NULL CHECK (drawn_at = 0 OR root <> ''),
  beacon smallint NOT NULL CHECK (beacon BETWEEN 0 AND 2),
  beacon_value text NOT NULL
);

-- From the first lobby on, programs without draws do not start.
CREATE FUNCTION lobby_needs_draws() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE schema_migration SET needs = 34 WHERE number = 34 AND needs < 34;
  RETURN NULL;
END $$;
CREATE TRIGGER lobby_needs_draws AFTER INSERT ON lobby_draw FOR EACH ROW EXECUTE FUNCTION lobby_needs_draws();
