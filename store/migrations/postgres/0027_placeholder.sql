-- placeholder
-- needs: 11

SELECT 1;
