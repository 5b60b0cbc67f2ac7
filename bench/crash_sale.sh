#!/usr/bin/env bash
# A sale under kill -9: 5,000 fans for 1,000 tickets. The server is killed and restarted every 5 s, at least
# 10 times. Ends with the verdict of fairqueue-load.
# Usage: bench/crash_sale.sh [fans]   (after a release build)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fans="${1:-5000}"
data="$(mktemp -d)"
port=8095
server_pid=0

start() {
  build/release/app/fairqueue serve --demo --http.listen "127.0.0.1:$port" \
    --http.admin_listen 127.0.0.1:9096 --data_dir "$data" >>"$data/server.log" 2>&1 &
  server_pid=$!
}
trap 'kill -9 "$server_pid" 2>/dev/null || true; rm -rf "$data"' EXIT

start
until [[ -f "$data/demo.json" ]]; do sleep 0.1; done
build/release/load/fairqueue-load --url "http://127.0.0.1:$port" --data-dir "$data" --fans "$fans" \
  --no-show 10 --abandon 5 --decline 5 --websocket 50 --arrival ramp --arrival-seconds 50 --timeout 230 &
load_pid=$!
kills=0
while kill -0 "$load_pid" 2>/dev/null; do
  sleep 5
  kill -0 "$load_pid" 2>/dev/null || break
  kill -9 "$server_pid"
  wait "$server_pid" 2>/dev/null || true
  kills=$((kills + 1))
  start
done
verdict=0
wait "$load_pid" || verdict=$?
echo "kill -9: $kills times; fairqueue-load exited $verdict"
[[ "$verdict" -eq 0 && "$kills" -ge 10 ]]
