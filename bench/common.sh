# shellcheck shell=bash disable=SC2034,SC2154 # sourced: some names are set there, some used there
# Shared parts of the benchmarks on Postgres; sourced. Starts private services and servers, which end with the
# script. After `begin_bench`, $work is a scratch folder, and $postgres_url and $redis_url are the addresses.
readonly fairqueue=build/release/app/fairqueue load=build/release/load/fairqueue-load
readonly listen=127.0.0.1:8095 admin_listen=127.0.0.1:9095
server_pid=0

begin_bench() {
  work="$(mktemp -d)"
  trap end_bench EXIT
  local addresses
  addresses="$(scripts/services start --postgres --redis --folder "$work/services" --parent $$ 2>/dev/null)"
  eval "$addresses"
  postgres_url="$FAIRQUEUE_TEST_POSTGRES" redis_url="$FAIRQUEUE_TEST_REDIS"
  # The server reads FAIRQUEUE_* as options.
  unset FAIRQUEUE_TEST_POSTGRES FAIRQUEUE_TEST_REDIS FAIRQUEUE_SERVICES
}

end_bench() {
  if [[ "$server_pid" -ne 0 ]]; then end_server KILL; fi
  scripts/services stop "$work/services"
  rm -rf "$work"
}

psql_() { /usr/lib/postgresql/15/bin/psql --no-psqlrc --quiet --no-align --tuples-only "$@"; }
redis_() { redis-cli -u "$redis_url" --no-auth-warning "$@"; }
ms_now() { date +%s%3N; }

# new_database NAME: prints the address of an empty one.
new_database() {
  psql_ "$postgres_url" --command "CREATE DATABASE $1"
  echo "${postgres_url%/*}/$1"
}

# launch_server DATA [options…]: on the database $ledger_url and, if that is set, the Redis $cache_url.
launch_server() {
  local data="$1"
  FAIRQUEUE_LEDGER_URL="$ledger_url" FAIRQUEUE_CACHE_URL="${cache_url:-}" "$fairqueue" serve \
    --gateway.sandbox true --http.listen "$listen" --http.admin_listen "$admin_listen" --data_dir "$data" \
    "${@:2}" >>"$work/log" 2>&1 &
  server_pid=$!
}

await_ready() {
  until curl -sf -o /dev/null "http://$listen/readyz"; do
    kill -0 "$server_pid" || { tail -n 20 "$work/log" >&2 && return 1; }
    sleep 0.02
  done
}

start_server() {
  launch_server "$@"
  await_ready
}

# end_server SIGNAL
end_server() {
  kill -s "$1" "$server_pid"
  wait "$server_pid" 2>/dev/null || true
  server_pid=0
}

# join_crowd DATA COUNT: COUNT distinct customers join over 256 keep-alive connections. Prints the results as
# JSON.
join_crowd() {
  "$load" --url "http://$listen" --data-dir "$1" --join-only --connections 256 --fans "$2" --quiet --json - \
    2>>"$work/log"
}

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

# create_waiting_event DATA: creates an event without admission and prints its id. Needs a server with --demo.
create_waiting_event() {
  local demo="$1/demo.json" token
  token="$(curl -sf "http://$listen/auth/organizer/login" -H 'Content-Type: application/json' \
    -d "$(jq '{email: .organizer_email, password: .organizer_password}' "$demo")" | jq -r .token)"
  local now end event
  now="$(date -u -d '-1 minute' +%FT%TZ)" end="$(date -u -d '+1 day' +%FT%TZ)"
  event="$(curl -sf "http://$listen/events" -H "Authorization: Bearer $token" \
    -H 'Content-Type: application/json' -d "{
    \"name\": \"Bench\", \"total_inventory\": 10, \"price\": 100,
    \"sale_start\": \"$now\", \"sale_end\": \"$end\",
    \"queue\": {\"policy\": \"operator\"}}" | jq -r .id)"
  curl -sf -o /dev/null -X POST "http://$listen/events/$event/activate" -H "Authorization: Bearer $token"
  echo "$event"
}

# join TOKEN EVENT: prints the status and the time of the answer in ms.
join() {
  curl -s -o /dev/null -w '%{http_code} %{time_total}\n' -X POST -H "Authorization: Bearer $1" \
    "http://$listen/events/$2/queue" | awk '{printf "%s %d\n", $1, $2 * 1000}' || true
}

# order_in_ledger: prints the waiting numbers, in order.
order_in_ledger() {
  psql_ "$ledger_url" --command \
    'SELECT queue_number FROM queue_entry WHERE status IN (0, 1) ORDER BY aggregate, queue_number'
}
