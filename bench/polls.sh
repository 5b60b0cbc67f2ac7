#!/usr/bin/env bash
# Position polls compared with a bare Beast server that sends a constant body of the same length. Interleaved
# pairs under wrk, the median ratio and the server's CPU per request.
# Usage: bench/polls.sh [pairs=7] [connections=64] [seconds=3]   (after a release build)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pairs="${1:-7}" connections="${2:-64}" seconds="${3:-3}"
data="$(mktemp -d)"
port=8097 bare_port=8098
trap 'kill "$server_pid" "$bare_pid" 2>/dev/null || true; rm -rf "$data"' EXIT
server_pid=0 bare_pid=0

build/release/app/fairqueue serve --demo --http.listen "127.0.0.1:$port" --http.admin_listen 127.0.0.1:9098 \
  --data_dir "$data" --rate_limits.customer_requests_per_minute 0 >"$data/log" 2>&1 &
server_pid=$!
until [[ -f "$data/demo.json" ]]; do sleep 0.1; done
sleep 0.3
event="$(grep -o '"event_id":"[^"]*"' "$data/demo.json" | cut -d'"' -f4)"
# The polled customer stands behind 20,000 others.
build/release/load/fairqueue-load --url "http://127.0.0.1:$port" --data-dir "$data" --join-only --fans 20000 \
  >/dev/null
token="$(build/release/app/fairqueue token --data_dir "$data")"
curl -sf -X POST -H "Authorization: Bearer $token" "http://127.0.0.1:$port/events/$event/queue" >/dev/null
url="http://127.0.0.1:$port/events/$event/queue/position"
length="$(curl -sf -H "Authorization: Bearer $token" "$url" | wc -c)"
build/release/bench/bare_beast "$bare_port" "$length" &
bare_pid=$!
sleep 0.3

cpu() { awk '{print $14 + $15}' "/proc/$1/stat"; }
requests() {
  wrk -t1 -c"$connections" -d"${seconds}s" -H "Authorization: Bearer $token" "$1" \
    | awk '/requests in/ {print $1}'
}
echo "pair polls/s bare/s ratio poll_us bare_us   (body of $length bytes, $connections connections)"
for ((pair = 1; pair <= pairs; ++pair)); do
  before="$(cpu "$server_pid")"
  polls="$(requests "$url")"
  polls_cpu=$(($(cpu "$server_pid") - before))
  before="$(cpu "$bare_pid")"
  bare="$(requests "http://127.0.0.1:$bare_port/")"
  bare_cpu=$(($(cpu "$bare_pid") - before))
  awk -v n="$pair" -v p="$polls" -v b="$bare" -v s="$seconds" -v pc="$polls_cpu" -v bc="$bare_cpu" \
    'BEGIN {printf "%d %.0f %.0f %.3f %.2f %.2f\n", n, p / s, b / s, p / b, pc * 10000 / p, bc * 10000 / b}'
done | tee "$data/pairs"
awk '{print $4}' "$data/pairs" | sort -n \
  | awk '{r[NR] = $1} END {printf "median ratio %.3f\n", r[int((NR + 1) / 2)]}'
