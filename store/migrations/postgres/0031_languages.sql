-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 31: the language of mails and pushes, and how a tenant's mails look.
-- needs: 11

-- fq::language: 0 is English.
ALTER TABLE customer ADD COLUMN language smallint NOT NULL DEFAULT 0;
ALTER TABLE orders ADD COLUMN language smallint NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN language smallint NOT NULL DEFAULT 0;

ALTER TABLE tenant ADD COLUMN mail_name text NOT NULL DEFAULT '';
ALTER TABLE tenant ADD COLUMN mail_sender text NOT NULL DEFAULT '';
-- "#rrggbb".
ALTER TABLE tenant ADD COLUMN mail_colour text NOT NULL DEFAULT '';
