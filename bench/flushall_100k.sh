#!/usr/bin/env bash
# FLUSHALL with 100,000 waiting. Measures the time until Redis holds the identical order again, while a client
# joins and polls without a failure.
# Usage: bench/flushall_100k.sh [waiting=100000] [flushes=3]   (after a release build)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/common.sh

waiting="${1:-100000}" flushes="${2:-3}"
begin_bench
ledger_url="$(new_database flushes)"
cache_url="$redis_url"
data="$work/data"
start_server "$data" --demo
event="$(create_waiting_event "$data")"
"$load" --url "http://$listen" --data-dir "$data" --join-only --event "$event" --fans "$waiting" --quiet \
  >/dev/null

# Whether Redis has the line of the ledger, number by number. Needs a moment without joins.
mirrored() {
  local generation
  generation="$(redis_ HGET "fairqueue:{$event}:head" generation)"
  redis_ ZRANGE "fairqueue:{$event}:$generation:waiting" 0 -1 | cmp -s - "$work/order"
}

# await_mirror: prints the time in ms until Redis is complete.
await_mirror() {
  local begin
  begin="$(ms_now)"
  until mirrored; do
    if (($(ms_now) - begin > 60000)); then echo "never identical" >&2 && return 1; fi
    sleep 0.05
  done
  echo $(($(ms_now) - begin))
}

worst=0
for ((flush = 1; flush <= flushes; ++flush)); do
  "$fairqueue" token --count 20 --data_dir "$data" >"$work/tokens"
  while read -r token; do join "$token" "$event"; done <"$work/tokens" >"$work/answers_before"
  order_in_ledger >"$work/order"
  await_mirror >/dev/null
  # A client polls its existing place meanwhile.
  token="$(head -n 1 "$work/tokens")"
  (while [[ ! -f "$work/done" ]]; do
    curl -s -o /dev/null -w '%{http_code} %{time_total}\n' -H "Authorization: Bearer $token" \
      "http://$listen/events/$event/queue/position"
    join "$token" "$event" | awk '{print $1, $2 / 1000}'
  done) >"$work/noticed" &
  client=$!
  redis_ FLUSHALL >/dev/null
  took="$(await_mirror)"
  touch "$work/done" && wait "$client" && rm "$work/done"
  bad="$(awk '$1 != 200 && $1 != 201' "$work/noticed" | wc -l)"
  echo "flush $flush: $(wc -l <"$work/order") waiting, identical after $took ms;" \
    "$(wc -l <"$work/noticed") requests meanwhile, $bad refused," \
    "slowest $(awk '{print $2 * 1000}' "$work/noticed" | sort -n | tail -n 1) ms"
  [[ "$bad" -eq 0 ]]
  if [[ "$took" -gt "$worst" ]]; then worst="$took"; fi
done
echo "slowest: $worst ms"
[[ "$worst" -le 30000 ]]
