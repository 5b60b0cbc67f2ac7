-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 32: events' pictures, their questions to buyers, and the answers. Older
-- programs ask nothing: give no event questions before all nodes run this version.
-- needs: 11

CREATE TABLE picture (
  id TEXT NOT NULL, -- SHA-256 of the large one in hex; pruned by its first digits
  tenant INTEGER NOT NULL REFERENCES tenant (id),
  organizer BLOB NOT NULL CHECK (length(organizer) = 16), -- nil: an operator
  stored_at INTEGER NOT NULL,
  small BLOB NOT NULL,
  medium BLOB NOT NULL,
  large BLOB NOT NULL,
  PRIMARY KEY (id, tenant)
) STRICT;
CREATE INDEX picture_of_owner ON picture (tenant, organizer);

ALTER TABLE event ADD COLUMN picture TEXT NOT NULL DEFAULT '';
CREATE INDEX event_picture ON event (picture) WHERE picture <> '';

-- text_of(questions)
ALTER TABLE event ADD COLUMN questions TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN questions_numbered INTEGER NOT NULL DEFAULT 0; -- the highest id of one
-- text_of(answers); personal data, erased with the order's contact.
ALTER TABLE orders ADD COLUMN answers TEXT NOT NULL DEFAULT '';
