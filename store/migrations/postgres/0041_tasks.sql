-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 41: the last finished tasks of all nodes.
-- needs: 11

CREATE TABLE task (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- in the order of commits
  ended_at bigint NOT NULL,
  name text NOT NULL,
  result text NOT NULL,
  detail text NOT NULL,
  attempts bigint NOT NULL CHECK (attempts >= 0),
  duration bigint NOT NULL
);
