-- SPDX-License-Identifier: Apache-2.0
-- FairQueue ledger, Postgres engine, version 45: a busy log keeps the checkpoints that its witnesses cosigned last.
-- needs: 11

ALTER TABLE log_state ADD COLUMN cosigned text NOT NULL DEFAULT ''; -- notes, maybe of earlier sizes
