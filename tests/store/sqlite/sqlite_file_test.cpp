// SPDX-License-Identifier: Apache-2.0
// Specific to the SQLite engine: its lock, its migrations, its file, and a full disk.
#define CAF_SUITE store_sqlite_file
#include "tests/store/port/engines.hpp"

#include "store/sqlite/migrations.hpp"
#include "store/sqlite/sqlite.hpp"

#include <csignal>
#include <fstream>
#include <optional>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sqlite_file_test {

using namespace fq;
using namespace fq::test;

namespace {

/// The message of the `Error` that `action` throws, if any.
template <class Error, class Action>
std::optional<std::string> message_of(Action action) {
  try {
    action();
  } catch (const Error& e) { return e.what(); }
  return std::nullopt;
}

bool contains(const std::optional<std::string>& text, const std::string& part) {
  return text && text->find(part) != std::string::npos;
}

void execute(const std::filesystem::path& file, const std::string& sql) {
  sqlite_db(file, sqlite_access::read_write, milliseconds{100}).execute(sql);
}

mode_t mode_of(const std::filesystem::path& file) {
  struct stat s {};
  return ::stat(file.c_str(), &s) == 0 ? s.st_mode & 0777 : 0;
}

/// Limits this process's files to `bytes` during its lifetime.
class file_size_limit {
public:
  explicit file_size_limit(rlim_t bytes) {
    previous_handler_ = std::signal(SIGXFSZ, SIG_IGN); // the write fails instead
    ::getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit limit{bytes, previous_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~file_size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, previous_handler_);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

private:
  rlimit previous_{};
  void (*previous_handler_)(int) = SIG_DFL;
};

} // namespace

CAF_TEST(a second writer is refused and told who has the ledger) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  {
    sqlite_ledger first({.file = file});
    const auto refusal = message_of<ledger_locked>([&] { sqlite_ledger second({.file = file}); });
    CAF_CHECK(contains(refusal, "in use by process " + std::to_string(::getpid())));
    CAF_CHECK(message_of<ledger_locked>([&] { migrate_up(file); }));
    CAF_CHECK(message_of<ledger_locked>([&] { migrate_dry_run(file); }));
    CAF_CHECK(migrate_status(file).at(0).applied); // reading is allowed
    world w(first);
  }
  CAF_CHECK(migrate_status(file).at(0).applied); // also for a closed ledger
  sqlite_ledger next({.file = file});
  CAF_CHECK(next.last_aggregate() == sale);
}

CAF_TEST(a program that the owner starts does not inherit the lock) {
  const temp_folder folder;
  sqlite_ledger store({.file = folder / "ledger.db"});
  int locks = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) != folder / "ledger.db.lock") continue;
    ++locks;
    CAF_CHECK(::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC);
  }
  CAF_CHECK_EQUAL(locks, 1);
}

CAF_TEST(only the owner of the files may read them) {
  const temp_folder folder;
  sqlite_ledger store({.file = folder / "ledger.db"});
  world w(store);
  for (const auto* name : {"ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db.lock"})
    CAF_CHECK_EQUAL(mode_of(folder / name), 0600u);
}

CAF_TEST(everything committed is there after the ledger is opened again) {
  const temp_folder folder;
  aggregate_image before;
  std::vector<history_row> history;
  {
    sqlite_ledger store({.file = folder / "ledger.db"});
    world w(store);
    const auto claim = sample_claim(1, 1);
    FQ_COMMITS(w.put({entry_joined{sample_entry(1)}, claim_opened{claim}, stock_moved{0, 1, 0},
                      payment_opened{sample_payment(1, claim)}, idempotency_stored{sample_key(1, noon)}}));
    before = w.image();
    history = store.history(sale);
  }
  sqlite_ledger store({.file = folder / "ledger.db"});
  CAF_CHECK(store.peek(sale).image == before);
  CAF_CHECK(store.history(sale) == history);
  const auto taken = store.acquire_unleased(sale, never);
  CAF_CHECK_EQUAL(taken->epoch, 2u);
  CAF_CHECK_EQUAL(taken->applied_seq, 1u);
}

CAF_TEST(the status of a killed ledger can be read) {
  const temp_folder folder;
  sqlite_ledger store({.file = folder / "ledger.db"});
  world w(store);
  // The files after a kill: the database and its WAL, without a clean close.
  std::filesystem::copy_file(folder / "ledger.db", folder / "copy.db");
  std::filesystem::copy_file(folder / "ledger.db-wal", folder / "copy.db-wal");
  CAF_CHECK(migrate_status(folder / "copy.db").at(0).applied);
  sqlite_ledger revived({.file = folder / "copy.db"});
  CAF_CHECK(revived.peek(sale) == store.peek(sale));
}

CAF_TEST(migrations run once and dry runs leave nothing) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  CAF_CHECK(!migrate_status(file).at(0).applied);
  CAF_CHECK(!migrate_dry_run(file).at(0).applied);
  CAF_CHECK(!std::filesystem::exists(file));
  std::ofstream{file}; // an empty file is an empty database
  CAF_CHECK(!migrate_dry_run(file).at(0).applied);
  CAF_CHECK(!migrate_status(file).at(0).applied);
  for (int i = 0; i < 2; ++i)
    for (const auto& m : migrate_up(file)) {
      CAF_CHECK(m.applied);
      CAF_CHECK_EQUAL(m.checksum.size(), 64u);
    }
  CAF_CHECK(migrate_dry_run(file).at(0).applied);
  const auto status = migrate_status(file);
  CAF_REQUIRE_EQUAL(status.size(), sqlite_migrations().size());
  CAF_CHECK_EQUAL(status.at(0).number, 1u);
  CAF_CHECK_EQUAL(status.at(0).name, "initial");
}

CAF_TEST(a ledger of a newer program is refused and left alone) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  migrate_up(file);
  execute(file, "INSERT INTO schema_migration (number, name, checksum) VALUES (99, 'from_the_future', 'x')");
  const auto open = [&] { sqlite_ledger store({.file = file}); };
  CAF_CHECK(contains(message_of<schema_refused>(open), "99 (from_the_future)"));
  CAF_CHECK(message_of<schema_refused>([&] { migrate_status(file); }));
  execute(file, "DELETE FROM schema_migration WHERE number = 99");
  CAF_CHECK(!message_of<schema_refused>(open)); // the lock was released
}

CAF_TEST(a newer program that only added something is no obstacle to a ledger) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  migrate_up(file);
  const auto known = std::to_string(sqlite_migrations().size()),
             next = std::to_string(sqlite_migrations().size() + 1);
  execute(file, "INSERT INTO schema_migration VALUES (" + next + ", 'from_the_future', 'x', " + known + ")");
  const auto open = [&] { sqlite_ledger store({.file = file}); };
  CAF_CHECK(!message_of<schema_refused>(open));
  execute(file, "UPDATE schema_migration SET needs = number WHERE number = " + next);
  CAF_CHECK(contains(message_of<schema_refused>(open), "from_the_future"));
}

CAF_TEST(a ledger with a seat plan refuses programs without seats) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  migrate_up(file);
  const auto needs = [&] {
    return sqlite_db(file, sqlite_access::read_only, milliseconds{100})
      .integer("SELECT needs FROM schema_migration WHERE number = 30");
  };
  const auto opened_by = [&](std::size_t last) {
    auto known = status_of(sqlite_migrations().first(last));
    const auto& m = sqlite_migrations()[29];
    return message_of<schema_refused>([&] { mark_applied(known, {m.number, m.name, m.checksum, needs()}); });
  };
  CAF_CHECK(!opened_by(29));
  execute(file, "INSERT INTO event_plan VALUES (10, 1, '', '', 0, 0, 0)");
  CAF_CHECK_EQUAL(needs(), 30);
  CAF_CHECK(contains(opened_by(29), "30 (seats)"));
  CAF_CHECK(!opened_by(30));
  CAF_CHECK(!message_of<schema_refused>([&] { sqlite_ledger store({.file = file}); }));
}

CAF_TEST(a migration that was altered afterwards is refused) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  migrate_up(file);
  execute(file, "UPDATE schema_migration SET checksum = 'x' WHERE number = 1");
  CAF_CHECK(contains(message_of<schema_refused>([&] { migrate_up(file); }), "checksum"));
}

CAF_TEST(a file that is no ledger is refused) {
  const temp_folder folder;
  const auto foreign = folder / "foreign.db", garbage = folder / "garbage.db";
  execute(foreign, "CREATE TABLE t (x)");
  const auto open = [](const std::filesystem::path& file) { sqlite_ledger store({.file = file}); };
  CAF_CHECK(contains(message_of<schema_refused>([&] { open(foreign); }), "not a FairQueue"));
  std::ofstream{garbage} << std::string(10'000, 'x');
  CAF_CHECK(message_of<ledger_unavailable>([&] { open(garbage); }));
  CAF_CHECK(message_of<std::system_error>([&] { open(folder / "absent/ledger.db"); }));
}

CAF_TEST(the database repeats the invariants against a hand at the file) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  {
    sqlite_ledger store({.file = file});
    world w(store);
    const auto claim = sample_claim(1, 1);
    const auto payment = sample_payment(1, claim);
    FQ_COMMITS(w.put({claim_opened{claim}, payment_opened{payment}, refund_opened{sample_refund(1, payment)},
                      dead_letter_stored{}, priority_stored{}}));
    FQ_COMMITS(w.me.put(accounts_aggregate, {setting_stored{{"a", "b", noon}}}));
  }
  const auto refused = [&](const std::string& sql) {
    const auto reason = message_of<sqlite_error>([&] { execute(file, sql); });
    CAF_CHECK(contains(reason, "constraint failed"));
  };
  refused("UPDATE ticket_type SET held = total + 1 WHERE ordinal = 0");
  refused("UPDATE ticket_type SET sold = -1 WHERE ordinal = 0");
  refused("UPDATE claim SET status = 5");
  refused("UPDATE event SET status = 5");
  refused("UPDATE event SET async_percent = -2");
  refused("UPDATE event SET async_percent = 101");
  refused("UPDATE payment SET tax = captured + 1");
  refused("UPDATE refund SET items = '0:0'");
  refused("UPDATE refund SET items = '0:1,1:1'");
  refused("UPDATE dead_letter SET kind = 4");
  refused("UPDATE dead_letter SET status = 3");
  refused("UPDATE event_priority SET priority_class = 256");
  refused("UPDATE setting SET name = ''");
  refused("INSERT INTO claim SELECT aggregate, randomblob(16), tenant, customer, queue_number, status,"
          " live_slot, item_count, amount, created_at, expires_at, ended_at, promo FROM claim");
}

CAF_TEST(a lock held by a tool makes the ledger unavailable and nothing is lost) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  sqlite_ledger store({.file = file, .busy_timeout = milliseconds{20}});
  world w(store);
  const auto b = w.me.next(sale, {entry_joined{sample_entry(1)}});
  {
    sqlite_db tool(file, sqlite_access::read_write, milliseconds{20});
    const sqlite_transaction held(tool);
    CAF_CHECK(message_of<ledger_unavailable>([&] { store.commit({&b, 1}); }));
    CAF_CHECK(message_of<ledger_unavailable>([&] { store.acquire_unleased(sale, never); }));
    CAF_CHECK(store.peek(sale).image.entries.empty());
  }
  FQ_COMMITS(store.commit({&b, 1}).at(0));
}

CAF_TEST(a disk that takes no more leaves the batch to be submitted again) {
  const temp_folder folder;
  sqlite_ledger store({.file = folder / "ledger.db"});
  world w(store);
  changes crowd;
  for (std::uint64_t n = 1; n <= 20'000; ++n) crowd.push_back(entry_joined{sample_entry(n)});
  const auto b = w.me.next(sale, std::move(crowd));
  int failures = 0;
  for (const rlim_t more : {0, 10'000, 300'000, 700'000}) {
    const file_size_limit limit(std::filesystem::file_size(folder / "ledger.db-wal") + more);
    try {
      store.commit({&b, 1});
    } catch (const ledger_unavailable&) { ++failures; } catch (const commit_unknown&) {
      ++failures;
    }
    CAF_CHECK(store.peek(sale).image.entries.empty());
  }
  CAF_CHECK_EQUAL(failures, 4);
  FQ_COMMITS(store.commit({&b, 1}).at(0));
  CAF_CHECK_EQUAL(store.peek(sale).image.entries.size(), 20'000u);
  CAF_CHECK_EQUAL(store.check_integrity(), "ok");
}

} // namespace sqlite_file_test
