#!/usr/bin/env bash
# kill -9 with 200,000 waiting on Postgres. Measures the time until joins are accepted again. Compares the
# order: the numbers in the ledger and the positions of 50 customers spread over the line.
# Usage: bench/restart_200k.sh [waiting=200000] [restarts=3]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/common.sh

waiting="${1:-200000}" restarts="${2:-3}"
begin_bench
ledger_url="$(new_database restarts)"
data="$work/data"
start_server "$data" --demo
event="$(create_waiting_event "$data")"
"$fairqueue" token --count 50 --data_dir "$data" >"$work/sample"
for part in 0 1 2 3 4; do
  "$load" --url "http://$listen" --data-dir "$data" --join-only --event "$event" --fans $((waiting / 5)) \
    --quiet >/dev/null
  sed -n "$((part * 10 + 1)),$((part * 10 + 10))p" "$work/sample" \
    | while read -r token; do join "$token" "$event" >/dev/null; done
done

positions() {
  while read -r token; do
    curl -sf -H "Authorization: Bearer $token" "http://$listen/events/$event/queue/position" \
      | jq -c '[.queue_number, .position]'
  done <"$work/sample"
}

worst=0
for ((restart = 1; restart <= restarts; ++restart)); do
  positions >"$work/positions_before"
  order_in_ledger >"$work/order_before"
  end_server KILL
  token="$("$fairqueue" token --data_dir "$data")"
  begin="$(ms_now)"
  launch_server "$data"
  until [[ "$(join "$token" "$event")" == 201* ]]; do sleep 0.01; done
  took=$(($(ms_now) - begin))
  await_ready
  positions >"$work/positions_after"
  order_in_ledger | head -n -1 >"$work/order_after"
  cmp "$work/positions_before" "$work/positions_after" && cmp "$work/order_before" "$work/order_after"
  echo "restart $restart: $(wc -l <"$work/order_before") waiting," \
    "joins accepted after $took ms, order identical"
  if [[ "$took" -gt "$worst" ]]; then worst="$took"; fi
done
echo "slowest: $worst ms"
[[ "$worst" -le 5000 ]]
