-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 32: events' pictures, their questions to buyers, and the answers. Older
-- programs ask nothing: give no event questions before all nodes run this version.
-- needs: 11

CREATE TABLE picture (
  id text COLLATE "C" NOT NULL, -- SHA-256 of the large one in hex; pruned by its first digits
  tenant bigint NOT NULL REFERENCES tenant (id),
  organizer uuid NOT NULL, -- nil: an operator
  stored_at bigint NOT NULL,
  small bytea NOT NULL,
  medium bytea NOT NULL,
  large bytea NOT NULL,
  PRIMARY KEY (id, tenant)
);
CREATE INDEX picture_of_owner ON picture (tenant, organizer);

ALTER TABLE event ADD COLUMN picture text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX event_picture ON event (picture) WHERE picture <> '';

-- text_of(questions)
ALTER TABLE event ADD COLUMN questions text NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN questions_numbered bigint NOT NULL DEFAULT 0; -- the highest id of one
-- text_of(answers); personal data, erased with the order's contact.
ALTER TABLE orders ADD COLUMN answers text NOT NULL DEFAULT '';
