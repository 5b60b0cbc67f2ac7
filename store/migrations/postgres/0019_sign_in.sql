-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 19: one-time codes belong to the request whose handle the client keeps, and sign-ins of organizers can
-- be ended. Programs before this one go on with `otp`, which this one does not read: a code is only valid where it was asked for.
-- needs: 11

CREATE TABLE code_request (
  aggregate bigint NOT NULL,
  handle_hash text COLLATE "C" NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  email text NOT NULL,
  client uuid NOT NULL,
  code_hash text NOT NULL,
  expires_at bigint NOT NULL,
  failures bigint NOT NULL CHECK (failures >= 0),
  PRIMARY KEY (aggregate, handle_hash)
);

ALTER TABLE organizer ADD COLUMN tokens_not_before bigint NOT NULL DEFAULT 0; -- older tokens are refused

CREATE TABLE organizer_session (
  aggregate bigint NOT NULL,
  id uuid NOT NULL,
  tenant bigint NOT NULL DEFAULT 1,
  organizer uuid NOT NULL,
  agent text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  ended_at bigint NOT NULL, -- 0: not ended
  PRIMARY KEY (aggregate, id)
);
CREATE INDEX organizer_session_ended ON organizer_session (id) WHERE ended_at <> 0;
