// SPDX-License-Identifier: Apache-2.0
// Creation of the Postgres schema, refused schemas, and the schema's own constraints.
#define CAF_SUITE store_postgres_migrations
#include "tests/store/sqlite/version_4.hpp"

#include "store/postgres/postgres_migrations.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace postgres_migrations_test {

using namespace fq;
using namespace fq::test;

namespace {

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

bool all_applied(const std::vector<migration_status>& status) {
  return std::all_of(status.begin(), status.end(), [](const migration_status& m) { return m.applied; });
}

bool none_applied(const std::vector<migration_status>& status) {
  return std::none_of(status.begin(), status.end(), [](const migration_status& m) { return m.applied; });
}

std::int64_t tables(postgres_schema& schema) {
  return schema.integer(
    "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'");
}

/// Creates an empty ledger of version `last`.
void write_version(postgres_schema& schema, std::size_t last) {
  schema.execute(
    "CREATE TABLE schema_migration (number bigint PRIMARY KEY, name text NOT NULL, checksum text NOT NULL)");
  for (const auto& m : postgres_migrations().first(last)) {
    schema.execute(m.sql);
    schema.execute("INSERT INTO schema_migration VALUES (" + std::to_string(m.number) + ", '" + m.name
                   + "', '" + m.checksum + "')");
  }
}

} // namespace

CAF_TEST(both engines have the same migrations) {
  const auto same = [](const migration& a, const migration& b) {
    return a.number == b.number && std::string_view{a.name} == b.name;
  };
  const auto sqlite = sqlite_migrations(), postgres = postgres_migrations();
  CAF_CHECK(std::equal(sqlite.begin(), sqlite.end(), postgres.begin(), postgres.end(), same));
  for (std::size_t i = 0; i < postgres.size(); ++i) CAF_CHECK_EQUAL(postgres[i].number, i + 1);
}

CAF_TEST(Postgres migrations run once and dry runs leave nothing) {
  postgres_schema schema;
  CAF_CHECK(none_applied(migrate_status_of_url(schema.url())));
  CAF_CHECK(none_applied(migrate_dry_run_of_url(schema.url())));
  CAF_CHECK_EQUAL(tables(schema), 0);
  for (int i = 0; i < 2; ++i) {
    const auto status = migrate_up_of_url(schema.url());
    CAF_CHECK_EQUAL(status.size(), postgres_migrations().size());
    CAF_CHECK(all_applied(status));
  }
  const auto status = migrate_status_of_url(schema.url());
  CAF_CHECK(all_applied(status));
  CAF_CHECK_EQUAL(status.at(0).name, "initial");
  CAF_CHECK(all_applied(migrate_dry_run_of_url(schema.url())));
}

CAF_TEST(a Postgres ledger of version 4 keeps its rows and its events inherit) {
  postgres_schema schema;
  write_version(schema, 4);
  schema.execute(rows_of_version_4([](const uuid& id) { return "'" + to_string(id) + "'"; }));
  CAF_CHECK_EQUAL(schema.integer("SELECT async_percent FROM event WHERE aggregate = 16"), 100);
  CAF_CHECK(!migrate_status_of_url(schema.url()).at(4).applied);
  postgres_ledger store({.url = schema.url(), .steady_now = steady_now});
  check_rows_of_version_4(store);
}

CAF_TEST(a migration that waits for the history holds no lock on the claims) {
  postgres_schema schema;
  write_version(schema, 24);
  schema.execute("BEGIN; LOCK TABLE history IN ROW EXCLUSIVE MODE");
  bool is_done = false;
  std::thread program([&] { is_done = all_applied(migrate_up_of_url(schema.url())); });
  while (schema.integer("SELECT count(*) FROM pg_locks WHERE relation = 'history'::regclass AND NOT granted")
         == 0)
    std::this_thread::yield();
  const auto refused = message_of<postgres_error>(
    [&] { schema.execute("LOCK TABLE claim, refund IN ROW EXCLUSIVE MODE NOWAIT"); });
  schema.execute("ROLLBACK");
  program.join();
  CAF_CHECK(!refused && is_done);
}

CAF_TEST(several programs may migrate at once) {
  postgres_schema schema;
  std::vector<std::thread> programs;
  std::atomic<int> done{0};
  for (int i = 0; i < 4; ++i)
    programs.emplace_back([&] {
      postgres_ledger store({.url = schema.url(), .steady_now = steady_now});
      const bool applied = all_applied(migrate_up_of_url(schema.url()));
      // another thread holds the row now
      while (!store.acquire_unleased(accounts_aggregate, never)) std::this_thread::yield();
      if (applied) ++done;
    });
  for (auto& p : programs) p.join();
  CAF_CHECK_EQUAL(done.load(), 4);
  CAF_CHECK_EQUAL(schema.integer("SELECT count(*) FROM schema_migration"),
                  static_cast<std::int64_t>(postgres_migrations().size()));
  CAF_CHECK_EQUAL(schema.integer("SELECT epoch FROM aggregate WHERE number = 1"), 4);
}

CAF_TEST(a Postgres ledger of a newer or altered program is refused and left alone) {
  postgres_schema schema;
  postgres_ledger store({.url = schema.url(), .steady_now = steady_now});
  store.connect();
  schema.execute("INSERT INTO schema_migration (number, name, checksum) VALUES (99, 'from_the_future', 'x')");
  postgres_ledger older({.url = schema.url(), .steady_now = steady_now});
  CAF_CHECK(contains(message_of<schema_refused>([&] { older.connect(); }), "99 (from_the_future)"));
  CAF_CHECK(
    contains(message_of<ledger_unavailable>([&] { older.last_aggregate(); }), "99 (from_the_future)"));
  CAF_CHECK(message_of<schema_refused>([&] { migrate_status_of_url(schema.url()); }));
  CAF_CHECK(message_of<schema_refused>([&] { migrate_up_of_url(schema.url()); }));
  schema.execute("DELETE FROM schema_migration WHERE number = 99; UPDATE schema_migration SET checksum = 'x' "
                 "WHERE number = 1");
  CAF_CHECK(contains(message_of<schema_refused>([&] { migrate_up_of_url(schema.url()); }), "checksum"));
}

CAF_TEST(a newer program that only added something is no obstacle to a Postgres ledger) {
  postgres_schema schema;
  postgres_ledger store({.url = schema.url(), .steady_now = steady_now});
  store.connect();
  const auto known = std::to_string(postgres_migrations().size()),
             next = std::to_string(postgres_migrations().size() + 1);
  schema.execute("INSERT INTO schema_migration VALUES (" + next + ", 'from_the_future', 'x', " + known + ")");
  postgres_ledger beside({.url = schema.url(), .steady_now = steady_now});
  beside.connect();
  CAF_CHECK(all_applied(migrate_up_of_url(schema.url())));
  schema.execute("UPDATE schema_migration SET needs = number WHERE number = " + next);
  postgres_ledger older({.url = schema.url(), .steady_now = steady_now});
  CAF_CHECK(contains(message_of<schema_refused>([&] { older.connect(); }), "from_the_future"));
}

CAF_TEST(a Postgres ledger with a seat plan refuses programs without seats) {
  postgres_schema schema;
  migrate_up_of_url(schema.url());
  const auto& m = postgres_migrations()[29];
  const auto opened_by = [&](std::size_t last) {
    auto known = status_of(postgres_migrations().first(last));
    const auto needs = schema.integer("SELECT needs FROM schema_migration WHERE number = 30");
    return message_of<schema_refused>([&] { mark_applied(known, {m.number, m.name, m.checksum, needs}); });
  };
  CAF_CHECK(!opened_by(29));
  schema.execute("INSERT INTO event_plan VALUES (10, 1, '', '', 0, false, false)");
  CAF_CHECK(contains(opened_by(29), "30 (seats)"));
  CAF_CHECK(!opened_by(30));
  postgres_ledger store({.url = schema.url(), .steady_now = steady_now});
  store.connect();
}

CAF_TEST(a database that holds something else is refused) {
  postgres_schema schema;
  schema.execute("CREATE TABLE event (x text)");
  postgres_ledger store({.url = schema.url(), .steady_now = steady_now});
  CAF_CHECK(contains(message_of<schema_refused>([&] { store.connect(); }), "something else"));
  CAF_CHECK_EQUAL(tables(schema), 1);
  schema.execute("DROP TABLE event; CREATE TABLE visitors (x text)"); // foreign tables only
  CAF_CHECK(all_applied(migrate_up_of_url(schema.url())));
}

CAF_TEST(a migration tells when there is no server) {
  CAF_CHECK(message_of<ledger_unavailable>(
    [] { migrate_status_of_url("postgres://fairqueue@127.0.0.1:1/fairqueue"); }));
  CAF_CHECK(message_of<std::invalid_argument>([] { migrate_status_of_url("sqlite:ledger.db"); }));
}

CAF_TEST(Postgres repeats the invariants against a hand at the database) {
  postgres_schema schema;
  postgres_ledger store({.url = schema.url(), .steady_now = steady_now});
  world w(store);
  const auto claim = sample_claim(1, 1);
  const auto payment = sample_payment(1, claim);
  FQ_COMMITS(w.put({claim_opened{claim}, payment_opened{payment}, refund_opened{sample_refund(1, payment)},
                    entry_joined{sample_entry(1)}, dead_letter_stored{}, priority_stored{}}));
  FQ_COMMITS(w.me.put(accounts_aggregate, {setting_stored{{"a", "b", noon}}}));
  const auto refused = [&](const std::string& sql, const std::string& sqlstate) {
    try {
      schema.execute(sql);
    } catch (const postgres_error& e) {
      return e.sqlstate() == sqlstate && e.trouble() == postgres_trouble::refused;
    }
    return false;
  };
  const auto *const check = "23514", *const unique = "23505", *const foreign_key = "23503";
  CAF_CHECK(refused("UPDATE ticket_type SET held = total + 1 WHERE ordinal = 0", check));
  CAF_CHECK(refused("UPDATE ticket_type SET sold = -1 WHERE ordinal = 0", check));
  CAF_CHECK(refused("UPDATE claim SET status = 5", check));
  CAF_CHECK(refused("UPDATE event SET status = 5", check));
  CAF_CHECK(refused("UPDATE queue_entry SET status = 8", check));
  CAF_CHECK(refused("UPDATE payment SET refunded = captured + 1", check));
  CAF_CHECK(refused("UPDATE aggregate SET live_entries = -1", check));
  CAF_CHECK(refused("UPDATE event SET async_percent = -2", check));
  CAF_CHECK(refused("UPDATE event SET async_percent = 101", check));
  CAF_CHECK(refused("UPDATE payment SET tax = captured + 1", check));
  CAF_CHECK(refused("UPDATE refund SET items = '0:0'", check));
  CAF_CHECK(refused("UPDATE refund SET items = '0:1,1:1'", check));
  CAF_CHECK(refused("UPDATE dead_letter SET kind = 4", check));
  CAF_CHECK(refused("UPDATE dead_letter SET status = 3", check));
  CAF_CHECK(refused("UPDATE event_priority SET priority_class = 256", check));
  CAF_CHECK(refused("UPDATE setting SET name = ''", check));
  CAF_CHECK(refused("INSERT INTO claim SELECT aggregate, gen_random_uuid(), tenant, customer, queue_number, "
                    "status, live_slot,"
                    " item_count, amount, created_at, expires_at, ended_at FROM claim",
                    unique));
  CAF_CHECK(refused("INSERT INTO payment SELECT aggregate, gen_random_uuid(), tenant, claim, customer, "
                    "status, gateway, 'another',"
                    " authorization_url, amount, captured, refunded, created_at, updated_at FROM payment",
                    unique));
  CAF_CHECK(refused("DELETE FROM claim", foreign_key));
}

} // namespace postgres_migrations_test
