-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 3: standalone queues of many tenants, their keys, and the audit log.

-- A standalone queue is an event that sells nothing: the same line, the same sessions.
ALTER TABLE event ADD COLUMN kind INTEGER NOT NULL DEFAULT 0 CHECK (kind BETWEEN 0 AND 1); -- 0 sale, 1 queue
ALTER TABLE event ADD COLUMN external_id TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN message TEXT NOT NULL DEFAULT '';
ALTER TABLE event ADD COLUMN capacity INTEGER NOT NULL DEFAULT 0 CHECK (capacity >= 0);
ALTER TABLE event ADD COLUMN presence_timeout_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN away_grace_ms INTEGER NOT NULL DEFAULT 300000;
CREATE UNIQUE INDEX event_external_id ON event (tenant, external_id) WHERE external_id <> '';
CREATE INDEX event_of_tenant ON event (tenant, kind, aggregate);

-- What the tenant of a standalone queue calls the subject; empty for events.
ALTER TABLE queue_entry ADD COLUMN subject_name TEXT NOT NULL DEFAULT '';

ALTER TABLE tenant ADD COLUMN subject_jwk TEXT NOT NULL DEFAULT '';
ALTER TABLE tenant ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

CREATE TABLE api_key (
  id BLOB PRIMARY KEY CHECK (length(id) = 16),
  tenant INTEGER NOT NULL REFERENCES tenant (id),
  scope INTEGER NOT NULL CHECK (scope BETWEEN 0 AND 2), -- 0 join, 1 server, 2 operate
  secret_hash TEXT NOT NULL,
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Who changed what, and why; appended only.
CREATE TABLE audit (
  aggregate INTEGER NOT NULL,
  seq INTEGER NOT NULL, -- applied_seq of the batch
  ordinal INTEGER NOT NULL,
  tenant INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  target BLOB NOT NULL CHECK (length(target) = 16),
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  detail TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_of_tenant ON audit (tenant, id);
CREATE INDEX audit_of_target ON audit (target, id);
