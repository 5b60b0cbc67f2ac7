#!/usr/bin/env bash
# GET /access compared with a bare Beast server and with nginx's `return 200`. The bare server sends the same
# fields and a body of the same length.
# Each server has one core, wrk the other. Prints interleaved runs, the median ratios and the server's CPU per
# request. The limit per session is off; other options have their defaults.
# Usage: bench/access.sh [pairs=7] [connections=64] [seconds=3]   (after a release build)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pairs="${1:-7}" connections="${2:-64}" seconds="${3:-3}"
data="$(mktemp -d)"
port=8097 bare_port=8098 nginx_port=8099
server_pid=0 bare_pid=0 nginx_pid=0
trap 'kill "$server_pid" "$bare_pid" "$nginx_pid" 2>/dev/null || true; sleep 0.2; rm -rf "$data"' EXIT
bin=build/release/app/fairqueue

taskset -c 0 "$bin" serve --http.listen "127.0.0.1:$port" --http.admin_listen 127.0.0.1:9098 \
  --data_dir "$data/d" --rate_limits.access_per_session_per_minute 0 >"$data/log" 2>&1 &
server_pid=$!
until curl -sf -o /dev/null "http://127.0.0.1:$port/readyz"; do sleep 0.1; done
key() { "$bin" apikey issue --scope "$1" --data_dir "$data/d" 2>/dev/null; }
post() {
  curl -sf -H "Authorization: Bearer $1" -H 'Content-Type: application/json' -d "$2" \
    "http://127.0.0.1:$port$3"
}
operator="$(post "$(key operator)" '{}' /sessions | jq -r .token)"
queue="$(post "$operator" '{"name":"Bench","concurrency":2000,"session_ttl_seconds":86400}' /queues \
  | jq -r .id)"
token="$(post "$(key server)" '{"subject":"user-42"}' "/queues/$queue/tickets" | jq -r .session_token)"
url="http://127.0.0.1:$port/access"
curl -sf -D "$data/head" -o "$data/body" -H "Authorization: Bearer $token" "$url"
length="$(stat -c %s "$data/body")"
mapfile -t fields < <(tr -d '\r' <"$data/head" | grep ': ' \
  | grep -viE '^(content-type|content-length|connection):')

taskset -c 0 build/release/bench/bare_beast "$bare_port" "$length" "${fields[@]}" &
bare_pid=$!
cat >"$data/nginx.conf" <<END
$([[ "$(id -u)" -eq 0 ]] && echo 'user root;') daemon off; master_process off; worker_processes 1;
pid $data/pid; error_log stderr crit;
events {} http { access_log off; keepalive_requests 1000000000;
  client_body_temp_path $data/a; proxy_temp_path $data/b; fastcgi_temp_path $data/c;
  uwsgi_temp_path $data/e; scgi_temp_path $data/f;
  server { listen 127.0.0.1:$nginx_port; location / { default_type application/json;
    return 200 '$(head -c "$length" /dev/zero | tr '\0' x)'; } } }
END
taskset -c 0 nginx -p "$data" -c "$data/nginx.conf" 2>/dev/null &
nginx_pid=$!
sleep 0.5

cpu() { awk '{print $14 + $15}' "/proc/$1/stat"; }
requests() {
  taskset -c 1 wrk -t1 -c"$connections" -d"${seconds}s" -H "Authorization: Bearer $token" "$1" \
    | awk '/requests in/ {print $1}'
}
median() { sort -n | awk '{r[NR] = $1} END {printf "%.3f\n", r[int((NR + 1) / 2)]}'; }
targets=(
  "$server_pid $url" "$bare_pid http://127.0.0.1:$bare_port/" "$nginx_pid http://127.0.0.1:$nginx_port/"
)
echo "pair access/s bare/s nginx/s ratio_to_bare ratio_to_nginx access_us bare_us nginx_us" \
  "  (body of $length bytes, $connections connections)"
for ((pair = 1; pair <= pairs; ++pair)); do
  line="$pair"
  costs=""
  for what in "${targets[@]}"; do
    read -r pid target <<<"$what"
    before="$(cpu "$pid")"
    count="$(requests "$target")"
    costs+=" $(awk -v c="$(($(cpu "$pid") - before))" -v n="$count" 'BEGIN {printf "%.2f", c * 10000 / n}')"
    line+=" $((count / seconds))"
  done
  awk -v l="$line" -v c="$costs" \
    'BEGIN {split(l, v, " "); printf "%s %.3f %.3f%s\n", l, v[2] / v[3], v[2] / v[4], c}'
done | tee "$data/pairs"
echo "median ratio to bare Beast $(awk '{print $5}' "$data/pairs" | median)"
echo "median ratio to nginx $(awk '{print $6}' "$data/pairs" | median)"
