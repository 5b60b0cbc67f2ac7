-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 30: reserved seats. Older programs know no seats: give no event a plan before all nodes run this version.
-- needs: 11

CREATE TABLE seat_plan (
  id uuid PRIMARY KEY,
  tenant bigint NOT NULL REFERENCES tenant (id),
  organizer uuid NOT NULL,
  name text NOT NULL,
  content text NOT NULL, -- text_of(seat_plan)
  created_at bigint NOT NULL
);
CREATE INDEX seat_plan_of_owner ON seat_plan (tenant, organizer, id);

CREATE TABLE event_plan (
  aggregate bigint PRIMARY KEY,
  tenant bigint NOT NULL DEFAULT 1,
  content text NOT NULL, -- text_of(seat_plan)
  types text NOT NULL, -- ordinals of ticket types with a blank between them
  singles smallint NOT NULL CHECK (singles BETWEEN 0 AND 2), -- 0 strict, 1 when needed, 2 off
  may_split boolean NOT NULL,
  accessible_for_all boolean NOT NULL
);

-- From the first plan on, programs without seats do not start.
CREATE FUNCTION plan_needs_seats() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE schema_migration SET needs = 30 WHERE number = 30 AND needs < 30;
  RETURN NULL;
END $$;
CREATE TRIGGER plan_needs_seats AFTER INSERT ON event_plan FOR EACH ROW EXECUTE FUNCTION plan_needs_seats();

CREATE TABLE claim_seat (
  aggregate bigint NOT NULL REFERENCES event_plan (aggregate),
  claim uuid NOT NULL,
  seat bigint NOT NULL CHECK (seat >= 0),
  tenant bigint NOT NULL DEFAULT 1,
  ticket_type bigint NOT NULL,
  is_live boolean NOT NULL,
  PRIMARY KEY (aggregate, claim, seat),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id)
);
-- I1 for seats: at most one claim that holds or has bought a seat.
CREATE UNIQUE INDEX seat_taken ON claim_seat (aggregate, seat) WHERE is_live;

CREATE TABLE seat_setting (
  aggregate bigint NOT NULL REFERENCES event_plan (aggregate) ON DELETE CASCADE,
  seat bigint NOT NULL CHECK (seat >= 0),
  tenant bigint NOT NULL DEFAULT 1,
  ticket_type bigint NOT NULL,
  is_blocked boolean NOT NULL,
  PRIMARY KEY (aggregate, seat)
);

-- Number in the event's plan + 1; 0: none.
ALTER TABLE event_ticket ADD COLUMN seat bigint NOT NULL DEFAULT 0;
