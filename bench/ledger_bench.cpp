// SPDX-License-Identifier: Apache-2.0
// What the SQL ledgers write and load, engine by engine, each on an empty store: joins in batches of 1, 100
// and 1,000, admissions, the joins of many sales as a transaction each and as one for all, and taking a long
// line over. Every commit is synced. Postgres is that of FAIRQUEUE_TEST_POSTGRES, or a private one.  Usage:
// bench_ledger [rows]
#include "store/postgres/postgres_ledger.hpp"
#include "store/sqlite/sqlite_ledger.hpp"
#include "tests/store/postgres/postgres_server.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

using namespace fq;

namespace {

constexpr timestamp noon = from_unix_ms(1'795'262'400'000);

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// A sale of its own, whose line grows from call to call.
class line {
public:
  line(ledger& store, std::uint32_t number) : store_(store), aggregate_(aggregate_id{number}) {
    auto catalog = store_.acquire_unleased(catalog_aggregate, never);
    event_row event;
    event.aggregate = aggregate_;
    event.id = make_uuid(noon, aggregate_, 1);
    const batch creation{catalog_aggregate,        catalog->epoch, catalog->applied_seq,
                         catalog->applied_seq + 1, noon,           {event_created{event, {}}}};
    expect(store_.commit({&creation, 1}).at(0));
    epoch_ = store_.acquire_unleased(aggregate_, never)->epoch;
  }

  batch joins(std::size_t rows) {
    changes content;
    for (std::size_t i = 0; i < rows; ++i) content.push_back(entry_joined{next_entry()});
    return next_batch(std::move(content));
  }
  /// Of those with the least numbers that still wait.
  batch admissions(std::size_t rows) {
    changes content;
    for (std::size_t i = 0; i < rows; ++i) {
      auto e = entry(++admitted_);
      e.status = entry_status::admitted;
      e.admitted_at = noon;
      content.push_back(entry_moved{entry_status::waiting, e});
    }
    return next_batch(std::move(content));
  }
  void commit(const batch& b) { expect(store_.commit({&b, 1}).at(0)); }
  [[nodiscard]] aggregate_id aggregate() const { return aggregate_; }

  static void expect(commit_outcome outcome) {
    if (outcome != commit_outcome::committed) throw std::runtime_error{"a batch was refused"};
  }

private:
  static entry_row entry(std::uint64_t number) {
    entry_row e;
    e.number = queue_number{number};
    e.subject = {number * 0x9e37'79b9'7f4a'7c15, number};
    e.join_key = number;
    e.joined_at = noon;
    return e;
  }
  entry_row next_entry() { return entry(++joined_); }
  batch next_batch(changes content) {
    const auto from = seq_++;
    return {aggregate_, epoch_, from, seq_, noon, std::move(content)};
  }

  ledger& store_;
  aggregate_id aggregate_;
  std::uint64_t epoch_ = 0, seq_ = 0, joined_ = 0, admitted_ = 0;
};

void report(const char* engine, const char* what, std::size_t rows, double seconds) {
  std::printf("%-9s %-44s %9.0f rows/s\n", engine, what, static_cast<double>(rows) / seconds);
  std::fflush(stdout);
}

void joins_in_batches(const char* engine, ledger& store, std::uint32_t number, std::size_t size,
                      std::size_t rows) {
  line sale(store, number);
  const auto taken = seconds_of([&] {
    for (std::size_t done = 0; done < rows; done += size) sale.commit(sale.joins(size));
  });
  report(engine, ("joins, batches of " + std::to_string(size)).c_str(), rows, taken);
}

/// Joins in batches of 100, with a notifier's round after every tenth: deliveries stored, taken and settled.
void joins_beside_notices(const char* engine, ledger& store, std::uint32_t number, std::size_t rows) {
  line sale(store, number);
  std::vector<delivery_row> round(20);
  for (auto& d : round) d.way = channel::fcm, d.due_at = noon, d.ended_at = never;
  std::uint64_t notice = 0;
  const auto taken = seconds_of([&] {
    for (std::size_t done = 0; done < rows; done += 100) {
      sale.commit(sale.joins(100));
      if (done % 1'000 != 0) continue;
      for (auto& d : round) d.notice = d.target = make_uuid(noon, sale.aggregate(), ++notice);
      store.store_deliveries(round);
      auto due = store.take_deliveries({.way = channel::fcm, .limit = 20, .hold = milliseconds{5'000}}, noon);
      for (std::size_t i = 0; i < due.size(); ++i) round[i] = due[i].row;
      for (auto& d : round) d.state = delivery_state::delivered, d.ended_at = noon;
      store.settle_deliveries(round);
      for (auto& d : round) d.state = delivery_state::pending, d.ended_at = never;
    }
  });
  report(engine, "joins, batches of 100, beside notices", rows, taken);
}

/// Joins of as many sales, first a transaction each, then one for all.
void group_commit(const char* engine, ledger& store, std::uint32_t first, std::size_t rows) {
  constexpr std::size_t sales = 64;
  std::vector<line> lines;
  for (std::uint32_t i = 0; i < sales; ++i) lines.emplace_back(store, first + i);
  const auto rounds = std::max<std::size_t>(rows / sales, 1);
  const auto alone = seconds_of([&] {
    for (std::size_t r = 0; r < rounds; ++r)
      for (auto& l : lines) l.commit(l.joins(1));
  });
  const auto together = seconds_of([&] {
    for (std::size_t r = 0; r < rounds; ++r) {
      std::vector<batch> call;
      for (auto& l : lines) call.push_back(l.joins(1));
      for (const auto outcome : store.commit(call)) line::expect(outcome);
    }
  });
  report(engine, "64 sales, a transaction each", rounds * sales, alone);
  report(engine, "64 sales, one transaction", rounds * sales, together);
  std::printf("%-9s %-44s %9.1f\n", engine, "  ratio", alone / together);
}

void long_line(const char* engine, ledger& store, std::uint32_t number, std::size_t rows) {
  line sale(store, number);
  for (std::size_t done = 0; done < rows; done += 1'000) sale.commit(sale.joins(1'000));
  const auto load = seconds_of([&] { store.acquire_unleased(sale.aggregate(), never); });
  std::printf("%-9s take over %-34zu %9.3f s\n", engine, rows, load);
}

void admissions(const char* engine, ledger& store, std::uint32_t number, std::size_t rows) {
  line sale(store, number);
  for (std::size_t done = 0; done < rows; done += 1'000) sale.commit(sale.joins(1'000));
  const auto taken = seconds_of([&] {
    for (std::size_t done = 0; done < rows; done += 1'000) sale.commit(sale.admissions(1'000));
  });
  report(engine, "admissions, batches of 1000", rows, taken);
}

void measure(const char* engine, ledger& store, std::size_t rows) {
  joins_in_batches(engine, store, 16, 1, rows / 50);
  joins_in_batches(engine, store, 17, 100, rows);
  joins_in_batches(engine, store, 18, 1'000, rows);
  joins_beside_notices(engine, store, 21, rows);
  admissions(engine, store, 19, rows);
  group_commit(engine, store, 100, rows / 50);
  long_line(engine, store, 20, 200'000);
}

} // namespace

int main(int argc, char** argv) {
  const std::size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
  {
    const auto folder =
      std::filesystem::temp_directory_path() / ("fairqueue-bench-" + std::to_string(std::rand()));
    std::filesystem::create_directory(folder);
    {
      sqlite_ledger store({.file = folder / "ledger.db"});
      measure("sqlite", store, rows);
    }
    std::filesystem::remove_all(folder);
  }
  const test::postgres_schema schema;
  postgres_ledger store({.url = schema.url(), .steady_now = [] {
                           return std::chrono::duration_cast<milliseconds>(
                             std::chrono::steady_clock::now().time_since_epoch());
                         }});
  measure("postgres", store, rows);
}
