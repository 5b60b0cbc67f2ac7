-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 9: who is told what (devices, webhook endpoints, deliveries), and lanes of the outbox, so that
-- nobody who is told waits for another.
-- needs: 8

-- Bits of the lanes that a row has yet to pass: 1 mail, 2 bus, 4 notices. Whoever does not say (the release before) has it pass all: who has no
-- use for its topic in a lane takes it there all the same. outbox_undelivered stays for the release before.
ALTER TABLE outbox ADD COLUMN lanes bigint NOT NULL DEFAULT 7;
CREATE INDEX outbox_mail ON outbox (aggregate, seq, ordinal) WHERE delivered_at = 0 AND (lanes & 1) <> 0;
CREATE INDEX outbox_bus ON outbox (aggregate, seq, ordinal) WHERE delivered_at = 0 AND (lanes & 2) <> 0;
CREATE INDEX outbox_notices ON outbox (aggregate, seq, ordinal) WHERE delivered_at = 0 AND (lanes & 4) <> 0;

CREATE TABLE device (
  id uuid PRIMARY KEY,
  holder uuid NOT NULL, -- a customer or an entry
  aggregate bigint NOT NULL, -- that the holder belongs to
  channel bigint NOT NULL CHECK (channel > 1),
  token text NOT NULL CHECK (token <> ''),
  is_sandbox boolean NOT NULL,
  registered_at bigint NOT NULL,
  gone_at bigint NOT NULL DEFAULT 0,
  gone_reason text NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX device_holder ON device (holder, channel, token);
CREATE INDEX device_token ON device (token);
CREATE INDEX device_crowd ON device (aggregate, id);
CREATE INDEX device_age ON device (registered_at);

CREATE TABLE webhook_endpoint (
  id uuid PRIMARY KEY,
  tenant bigint NOT NULL,
  organizer uuid NOT NULL, -- nil: all events of the tenant
  url text NOT NULL,
  topics text NOT NULL, -- separated by spaces; empty: all
  secret_no bigint NOT NULL,
  previous_until bigint NOT NULL,
  is_enabled boolean NOT NULL,
  contact text NOT NULL,
  off_reason text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX webhook_endpoint_tenant ON webhook_endpoint (tenant, id);

-- One notice to one device or endpoint, and what came of it.
CREATE TABLE delivery (
  target uuid NOT NULL,
  notice uuid NOT NULL, -- the outbox row's id
  channel bigint NOT NULL,
  tenant bigint NOT NULL,
  holder uuid NOT NULL, -- of the device; nil for endpoints
  topic text NOT NULL,
  payload text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  state bigint NOT NULL,
  due_at bigint NOT NULL,
  attempts bigint NOT NULL,
  status bigint NOT NULL,
  reason text NOT NULL,
  ended_at bigint NOT NULL,
  PRIMARY KEY (target, notice)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX delivery_due ON delivery (channel, due_at) WHERE state = 0;
CREATE INDEX delivery_ended ON delivery (ended_at) WHERE state <> 0;
CREATE INDEX delivery_log ON delivery (tenant, notice, target);
CREATE INDEX delivery_holder ON delivery (holder, notice);
