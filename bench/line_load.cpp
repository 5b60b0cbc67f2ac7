// SPDX-License-Identifier: Apache-2.0
// How long an owner takes to load a line of 1,000,000 waiting entries from SQLite: the ledger's read, and the
// sale in memory.  Usage: bench_line_load [entries]
#include "domain/sale/sale.hpp"
#include "store/sqlite/sqlite_ledger.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

using namespace fq;

namespace {

constexpr timestamp noon = from_unix_ms(1'795'262'400'000);
constexpr std::size_t batch_size = 1'000;

class stopwatch {
public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void commit(ledger& store, batch b) {
  if (store.commit({&b, 1}).at(0) != commit_outcome::committed)
    throw std::runtime_error{"a batch was refused"};
}

/// A sale whose line has `entries` waiting entries of random customers.
aggregate_id fill(ledger& store, std::size_t entries) {
  const auto catalog = store.acquire_unleased(catalog_aggregate, never);
  event_row event;
  event.aggregate = first_event_aggregate;
  event.id = make_uuid(noon, event.aggregate, 1);
  event.status = event_status::active;
  commit(store, {catalog_aggregate,
                 catalog->epoch,
                 catalog->applied_seq,
                 catalog->applied_seq + 1,
                 noon,
                 {event_created{event, {}}}});
  const auto epoch = store.acquire_unleased(event.aggregate, never)->epoch;
  for (std::uint64_t n = 0, seq = 0; n < entries; ++seq) {
    changes content;
    for (std::size_t i = 0; i < batch_size; ++i) {
      entry_row e;
      e.number = queue_number{++n};
      e.subject = make_uuid(noon, accounts_aggregate, n * 0x9e37'79b9'7f4a'7c15);
      e.join_key = n;
      e.joined_at = noon + milliseconds{n / 30};
      content.emplace_back(entry_joined{e});
    }
    commit(store, {event.aggregate, epoch, seq, seq + 1, noon, std::move(content)});
  }
  return event.aggregate;
}

void measure(ledger& store, aggregate_id aggregate) {
  const auto taken = store.acquire(aggregate, {}, std::nullopt);
  stopwatch watch;
  const auto image = store.load(aggregate, {});
  const auto read = watch.lap();
  sale truth({}, [] { return 0; });
  truth.load(*image.event, image.ticket_types);
  truth.load(std::get<acquired>(taken).line);
  truth.load(image.entries);
  truth.loaded();
  const auto loaded = watch.lap();
  std::printf("%zu entries: read in %.3f s, loaded in %.3f s, together %.3f s\n", image.entries.size(), read,
              loaded, read + loaded);
}

} // namespace

int main(int argc, char** argv) {
  const std::size_t entries = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const auto folder =
    std::filesystem::temp_directory_path() / ("fairqueue-bench-" + std::to_string(std::random_device{}()));
  std::filesystem::create_directory(folder);
  {
    sqlite_ledger store({.file = folder / "ledger.db"});
    const auto aggregate = fill(store, entries);
    for (int i = 0; i < 5; ++i) measure(store, aggregate);
  }
  std::filesystem::remove_all(folder);
}
