-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 35: the challenge of a new entry. Older programs ask for none: set it
-- after all nodes run this version.
-- needs: 11

ALTER TABLE event ADD COLUMN challenge smallint NOT NULL DEFAULT 0; -- fq::challenge_kind
