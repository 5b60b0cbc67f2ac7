-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, SQLite engine, version 19: one-time codes belong to the request whose handle the client keeps, and sign-ins of organizers can
-- be ended. Programs before this one go on with `otp`, which this one does not read: a code is only valid where it was asked for.
-- needs: 11

CREATE TABLE code_request (
  aggregate INTEGER NOT NULL,
  handle_hash TEXT NOT NULL,
  tenant INTEGER NOT NULL DEFAULT 1,
  email TEXT NOT NULL,
  client BLOB NOT NULL CHECK (length(client) = 16),
  code_hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  failures INTEGER NOT NULL CHECK (failures >= 0),
  PRIMARY KEY (aggregate, handle_hash)
) STRICT, WITHOUT ROWID;

ALTER TABLE organizer ADD COLUMN tokens_not_before INTEGER NOT NULL DEFAULT 0; -- older tokens are refused

CREATE TABLE organizer_session (
  aggregate INTEGER NOT NULL,
  id BLOB NOT NULL CHECK (length(id) = 16),
  tenant INTEGER NOT NULL DEFAULT 1,
  organizer BLOB NOT NULL CHECK (length(organizer) = 16),
  agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL, -- 0: not ended
  PRIMARY KEY (aggregate, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX organizer_session_ended ON organizer_session (id) WHERE ended_at <> 0;
