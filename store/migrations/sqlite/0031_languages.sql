-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 31: the language of mails and pushes, and how a tenant's mails look.
-- needs: 11

-- fq::language: 0 is English.
ALTER TABLE customer ADD COLUMN language INTEGER NOT NULL DEFAULT 0;
ALTER TABLE orders ADD COLUMN language INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN language INTEGER NOT NULL DEFAULT 0;

ALTER TABLE tenant ADD COLUMN mail_name TEXT NOT NULL DEFAULT '';
ALTER TABLE tenant ADD COLUMN mail_sender TEXT NOT NULL DEFAULT '';
-- "#rrggbb".
ALTER TABLE tenant ADD COLUMN mail_colour TEXT NOT NULL DEFAULT '';
