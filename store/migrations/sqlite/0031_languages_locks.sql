-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 31: the language of mails and pushes, how a tenant's mails look, and
-- names that sessions of a standalone queue have locked. Older programs do not free them: set no locks before all nodes run this version.
-- needs: 11

-- fq::language: 0 is English.
ALTER TABLE customer ADD COLUMN language INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orders ADD COLUMN language INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN language INTEGER NOT NULL DEFAULT 0;
-- Of the accounts, when it was offered.
ALTER TABLE event_ticket_transfer ADD COLUMN giver_language INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event_ticket_transfer ADD COLUMN receiver_language INTEGER NOT NULL DEFAULT 0;

ALTER TABLE tenant ADD COLUMN mail_name TEXT NOT NULL DEFAULT '';
ALTER TABLE tenant ADD COLUMN mail_sender TEXT NOT NULL DEFAULT '';
-- "#rrggbb".
ALTER TABLE tenant ADD COLUMN mail_colour TEXT NOT NULL DEFAULT '';

ALTER TABLE event ADD COLUMN locks_per_session INTEGER NOT NULL DEFAULT 0;

-- Of live sessions only: a name has one holder.
CREATE TABLE session_lock (
  aggregate INTEGER NOT NULL,
  name TEXT NOT NULL,
  queue_number INTEGER NOT NULL,
  locked_at INTEGER NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (aggregate, name)
) STRICT;
