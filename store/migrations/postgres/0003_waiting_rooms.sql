-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 3: standalone queues of many tenants, their keys, and the audit log.

-- A standalone queue is an event that sells nothing: the same line, the same sessions.
ALTER TABLE event
  ADD COLUMN kind smallint NOT NULL DEFAULT 0 CHECK (kind BETWEEN 0 AND 1), -- 0 sale, 1 queue
  ADD COLUMN external_id text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN message text NOT NULL DEFAULT '',
  ADD COLUMN capacity bigint NOT NULL DEFAULT 0 CHECK (capacity >= 0),
  ADD COLUMN presence_timeout_ms bigint NOT NULL DEFAULT 0,
  ADD COLUMN away_grace_ms bigint NOT NULL DEFAULT 300000;
CREATE UNIQUE INDEX event_external_id ON event (tenant, external_id) WHERE external_id <> '';
CREATE INDEX event_of_tenant ON event (tenant, kind, aggregate);

-- What the tenant of a standalone queue calls the subject; empty for events.
ALTER TABLE queue_entry ADD COLUMN subject_name text NOT NULL DEFAULT '';

ALTER TABLE tenant
  ADD COLUMN subject_jwk text NOT NULL DEFAULT '',
  ADD COLUMN created_at bigint NOT NULL DEFAULT 0;

CREATE TABLE api_key (
  id uuid PRIMARY KEY,
  tenant bigint NOT NULL REFERENCES tenant (id),
  scope smallint NOT NULL CHECK (scope BETWEEN 0 AND 2), -- 0 join, 1 server, 2 operate
  secret_hash text NOT NULL,
  label text NOT NULL,
  created_at bigint NOT NULL,
  revoked_at bigint NOT NULL DEFAULT 0
);

-- Who changed what, and why; appended only.
CREATE TABLE audit (
  aggregate bigint NOT NULL,
  seq bigint NOT NULL, -- applied_seq of the batch
  ordinal bigint NOT NULL,
  tenant bigint NOT NULL,
  id uuid NOT NULL,
  target uuid NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  detail text NOT NULL,
  reason text NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (aggregate, seq, ordinal)
);
CREATE INDEX audit_of_tenant ON audit (tenant, id);
CREATE INDEX audit_of_target ON audit (target, id);
