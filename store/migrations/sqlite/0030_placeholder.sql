-- SPDX-License-Identifier: Apache-2.0
-- placeholder
-- needs: 11

SELECT 1;
