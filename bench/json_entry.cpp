// SPDX-License-Identifier: Apache-2.0
// Why net/wire/codec writes entries by hand: the answer to a poll, by its appenders and by Boost.JSON.
#include "net/wire/codec.hpp"
#include "net/wire/json_out.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <benchmark/benchmark.h>

namespace {

using namespace fq;
namespace json = boost::json;

entry_view waiting_entry() {
  const auto now = from_unix_ms(1'795'000'000'000);
  entry_view e;
  e.id = make_entry_id(now, aggregate_id{16}, queue_number{42});
  e.event = make_uuid(now, aggregate_id{16}, 1);
  e.number = queue_number{42};
  e.position = 7;
  e.eta_low_seconds = 10;
  e.eta_high_seconds = 20;
  e.poll_after_ms = 1500;
  e.joined_at = now;
  return e;
}

std::string by_library(const entry_view& e) {
  return json::serialize(
    json::object{{"entry_id", to_string(e.id)},
                 {"event_id", to_string(e.event)},
                 {"status", name_of(e.status)},
                 {"queue_number", value_of(e.number)},
                 {"position", e.position},
                 {"ahead", e.position - 1},
                 {"joined_at", net::time_or_null(e.joined_at)},
                 {"eta", {{"low_seconds", e.eta_low_seconds}, {"high_seconds", e.eta_high_seconds}}},
                 {"poll_after_ms", e.poll_after_ms},
                 {"message", net::text_or_null(e.message)},
                 {"admission_token", nullptr},
                 {"admission_batch", nullptr},
                 {"admitted_at", net::time_or_null(e.admitted_at)},
                 {"session_expires_at", net::time_or_null(e.session_expires_at)},
                 {"claim_by", nullptr}});
}

void by_hand(benchmark::State& state) {
  const session_keys keys{secret_key{std::array<std::uint8_t, secret_key::size>{}}};
  const auto entry = waiting_entry();
  for (auto _ : state) {
    std::string out;
    net::append_entry(out, entry, keys);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(by_hand);

void by_boost_json(benchmark::State& state) {
  const auto entry = waiting_entry();
  for (auto _ : state) benchmark::DoNotOptimize(by_library(entry));
}
BENCHMARK(by_boost_json);

} // namespace

BENCHMARK_MAIN();
