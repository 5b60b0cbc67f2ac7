#!/usr/bin/env bash
# Durable joins on Postgres with fsync and synchronous_commit: 50,000 distinct customers over 256 keep-alive
# connections. Server, Postgres and load share the cores. Every 201 follows its commit.
# Then Postgres alone with one transaction a join: the same row, without HTTP and without a server.
# Usage: bench/postgres_joins.sh [runs=5]   (after a release build)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/common.sh

runs="${1:-5}"
begin_bench
for setting in fsync synchronous_commit; do
  echo "$setting $(psql_ "$postgres_url" --command "SHOW $setting")"
done

commits_of() {
  psql_ "$postgres_url" --command "SELECT xact_commit FROM pg_stat_database WHERE datname = '$1'"
}

echo "run joins/s p50_ms p99_ms commits/s joins_a_commit"
for ((run = 1; run <= runs; ++run)); do
  ledger_url="$(new_database "joins_$run")"
  start_server "$work/data$run" --demo
  before="$(commits_of "joins_$run")"
  join_crowd "$work/data$run" 50000 >"$work/result"
  end_server TERM # its sessions report what they counted
  jq -r --argjson run "$run" --argjson commits "$(($(commits_of "joins_$run") - before))" '
    [$run, (.joins_per_second | round), .latency.p50_ms, .latency.p99_ms,
      ($commits / .elapsed_seconds | round), (.joined / $commits | round)]
    | map(tostring) | join(" ")' "$work/result" >>"$work/runs"
  tail -n 1 "$work/runs"
done
joins="$(awk '{print $2}' "$work/runs" | median)"
echo "median: $joins joins/s, p99 $(awk '{print $4}' "$work/runs" | median) ms"

psql_ "$ledger_url" --command \
  'CREATE SEQUENCE bench_number; INSERT INTO aggregate (number, kind) VALUES (4000000, 2)'
cat >"$work/one.sql" <<'SQL'
BEGIN;
INSERT INTO queue_entry (aggregate, queue_number, subject, joined_at)
  VALUES (4000000, nextval('bench_number'), gen_random_uuid(), 1);
COMMIT;
SQL
for connections in 1 16 64; do
  alone="$(/usr/lib/postgresql/15/bin/pgbench --no-vacuum --protocol=prepared --client="$connections" \
    --time=5 --file="$work/one.sql" "$ledger_url" 2>/dev/null | awk '/^tps/ {printf "%d", $3}')"
  awk -v c="$connections" -v a="$alone" -v j="$joins" \
    'BEGIN {printf "one transaction a join, %d connections: %d/s; ratio %.2f\n", c, a, j / a}'
done
