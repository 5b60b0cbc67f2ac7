-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 9: who is told what (devices, webhook endpoints, deliveries), and lanes of the outbox, so that
-- nobody who is told waits for another.
-- needs: 8

-- Bits of the lanes that a row has yet to pass: 1 mail, 2 bus, 4 notices. Whoever does not say (the release before) has it pass all: who has no
-- use for its topic in a lane takes it there all the same. outbox_undelivered stays for the release before.
ALTER TABLE outbox ADD COLUMN lanes INTEGER NOT NULL DEFAULT 7;
CREATE INDEX outbox_mail ON outbox (aggregate, seq, ordinal) WHERE delivered_at = 0 AND (lanes & 1) <> 0;
CREATE INDEX outbox_bus ON outbox (aggregate, seq, ordinal) WHERE delivered_at = 0 AND (lanes & 2) <> 0;
CREATE INDEX outbox_notices ON outbox (aggregate, seq, ordinal) WHERE delivered_at = 0 AND (lanes & 4) <> 0;

CREATE TABLE device (
  id BLOB PRIMARY KEY,
  holder BLOB NOT NULL, -- a customer or an entry
  aggregate INTEGER NOT NULL, -- that the holder belongs to
  channel INTEGER NOT NULL CHECK (channel > 1),
  token TEXT NOT NULL CHECK (token <> ''),
  is_sandbox INTEGER NOT NULL,
  registered_at INTEGER NOT NULL,
  gone_at INTEGER NOT NULL DEFAULT 0,
  gone_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX device_holder ON device (holder, channel, token);
CREATE INDEX device_token ON device (token);
CREATE INDEX device_crowd ON device (aggregate, id);
CREATE INDEX device_age ON device (registered_at);

CREATE TABLE webhook_endpoint (
  id BLOB PRIMARY KEY,
  tenant INTEGER NOT NULL,
  organizer BLOB NOT NULL, -- nil: all events of the tenant
  url TEXT NOT NULL,
  topics TEXT NOT NULL, -- separated by spaces; empty: all
  secret_no INTEGER NOT NULL,
  previous_until INTEGER NOT NULL,
  is_enabled INTEGER NOT NULL,
  contact TEXT NOT NULL,
  off_reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_endpoint_tenant ON webhook_endpoint (tenant, id);

-- One notice to one device or endpoint, and what came of it.
CREATE TABLE delivery (
  target BLOB NOT NULL,
  notice BLOB NOT NULL, -- the outbox row's id
  channel INTEGER NOT NULL,
  tenant INTEGER NOT NULL,
  holder BLOB NOT NULL, -- of the device; nil for endpoints
  topic TEXT NOT NULL,
  payload TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  state INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  status INTEGER NOT NULL,
  reason TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  PRIMARY KEY (target, notice)
) STRICT;
CREATE INDEX delivery_due ON delivery (channel, due_at) WHERE state = 0;
CREATE INDEX delivery_ended ON delivery (ended_at) WHERE state <> 0;
CREATE INDEX delivery_log ON delivery (tenant, notice, target);
CREATE INDEX delivery_holder ON delivery (holder, notice);
