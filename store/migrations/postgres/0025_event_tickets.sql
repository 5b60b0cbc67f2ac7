-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 25: each bought unit is an event ticket with a holder. Purchases of older programs get theirs when
-- their event is loaded.
-- needs: 11

-- The busiest tables first: whoever waits for one of them holds no lock on claim.
-- The history tells of event tickets as well.
ALTER TABLE history
  DROP CONSTRAINT history_kind_check,
  ADD CONSTRAINT history_kind_check CHECK (kind >= 0) NOT VALID; -- 0 event, 1 entry, 2 claim, 3 payment, 4 refund, 5 order, 6 event ticket

-- Ids of event tickets with a blank between them; empty: all that are left, or chosen when the refund succeeds.
ALTER TABLE refund ADD COLUMN tickets text NOT NULL DEFAULT '';

CREATE TABLE event_ticket (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  claim uuid NOT NULL,
  ticket_type bigint NOT NULL,
  holder uuid NOT NULL,
  status smallint NOT NULL CHECK (status BETWEEN 0 AND 4), -- 0 issued, 1 checked in, 2 checked out, 3 transferred, 4 cancelled
  generation bigint NOT NULL CHECK (generation >= 1), -- of its codes: a transfer raises it
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (aggregate, id),
  FOREIGN KEY (aggregate, claim) REFERENCES claim (aggregate, id)
);
-- A holder's tickets at all events, newest first.
CREATE INDEX event_ticket_of_holder ON event_ticket (holder, id);
