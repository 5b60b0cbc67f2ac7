-- SPDX-License-Identifier: Apache-2.0
-- needs: 10
-- What an expanding migration does: older programs neither read nor write it.
ALTER TABLE event ADD COLUMN next_note TEXT NOT NULL DEFAULT '';
CREATE TABLE next_release (number INTEGER PRIMARY KEY) STRICT;
