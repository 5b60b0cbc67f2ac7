#!/usr/bin/env bash
# Durable joins on Postgres without and with the mirror in Redis: interleaved pairs, each on a fresh database,
# in alternating order. Prints the median ratio.
# Usage: bench/postgres_redis_pairs.sh [pairs=7] [fans=50000]   (after a release build)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/common.sh

pairs="${1:-7}" fans="${2:-50000}"
begin_bench

# joins_per_second NAME: one run on the database NAME, with $cache_url.
joins_per_second() {
  ledger_url="$(new_database "$1")"
  redis_ FLUSHALL >/dev/null
  start_server "$work/$1" --demo
  join_crowd "$work/$1" "$fans" | jq '.joins_per_second | round'
  if [[ -n "$cache_url" ]]; then
    local verify="'$fairqueue' admin verify --data_dir '$work/$1' >'$work/verify'"
    timeout 30 bash -c "until $verify; do sleep 0.5; done" || { cat "$work/verify" >&2 && return 1; }
  fi
  end_server TERM
}

echo "pair without with ratio"
for ((pair = 1; pair <= pairs; ++pair)); do
  for kind in $((pair % 2)) $((1 - pair % 2)); do
    if [[ "$kind" -eq 1 ]]; then
      cache_url="" && joins_per_second "without_$pair" >"$work/without"
    else
      cache_url="$redis_url" && joins_per_second "with_$pair" >"$work/with"
    fi
  done
  awk -v n="$pair" -v a="$(cat "$work/without")" -v b="$(cat "$work/with")" \
    'BEGIN {printf "%d %d %d %.3f\n", n, a, b, b / a}' >>"$work/pairs"
  tail -n 1 "$work/pairs"
done
echo "median ratio $(awk '{print $4}' "$work/pairs" | median)"
