-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 31: the language of mails and pushes, how a tenant's mails look, and
-- names that sessions of a standalone queue have locked. Older programs do not free them: set no locks before all nodes run this version.
-- needs: 11

-- fq::language: 0 is English.
ALTER TABLE customer ADD COLUMN language smallint NOT NULL DEFAULT 0;
ALTER TABLE orders ADD COLUMN language smallint NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN language smallint NOT NULL DEFAULT 0;
-- Of the accounts, when it was offered.
ALTER TABLE event_ticket_transfer ADD COLUMN giver_language smallint NOT NULL DEFAULT 0;
ALTER TABLE event_ticket_transfer ADD COLUMN receiver_language smallint NOT NULL DEFAULT 0;

ALTER TABLE tenant ADD COLUMN mail_name text NOT NULL DEFAULT '';
ALTER TABLE tenant ADD COLUMN mail_sender text NOT NULL DEFAULT '';
-- "#rrggbb".
ALTER TABLE tenant ADD COLUMN mail_colour text NOT NULL DEFAULT '';

ALTER TABLE event ADD COLUMN locks_per_session bigint NOT NULL DEFAULT 0;

-- Of live sessions only: a name has one holder.
CREATE TABLE session_lock (
  aggregate bigint NOT NULL,
  name text NOT NULL,
  queue_number bigint NOT NULL,
  locked_at bigint NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (aggregate, name)
);
