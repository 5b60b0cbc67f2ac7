// SPDX-License-Identifier: Apache-2.0
// SQLite ledgers of earlier versions, and the query plan of the dispatchers' most frequent statement.
#define CAF_SUITE store_sqlite_upgrade
#include "tests/store/sqlite/version_4.hpp"

#include "store/sqlite/migrations.hpp"
#include "store/sqlite/sqlite.hpp"
#include "store/sqlite/sqlite_outbox.hpp"
#include "store/sqlite/sqlite_reader.hpp"

namespace sqlite_upgrade_test {

using namespace fq;
using namespace fq::test;

namespace {

/// Creates an empty ledger of version `last`.
void write_version(sqlite_db& db, std::size_t last) {
  db.execute("CREATE TABLE schema_migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT "
             "NOT NULL) STRICT");
  for (const auto& m : sqlite_migrations().first(last)) {
    db.execute(m.sql);
    sqlite_statement(db, "INSERT INTO schema_migration (number, name, checksum) VALUES (?, ?, ?)")
      .run(m.number, m.name, m.checksum);
  }
}

/// Creates a ledger of version 1 with the sample sale: a claim window of five minutes, an entry for each
/// case.
void write_version_1(const std::filesystem::path& file) {
  sqlite_db db(file, sqlite_access::read_write, milliseconds{100});
  write_version(db, 1);
  db.execute(
    "INSERT INTO aggregate (number, kind, epoch, applied_seq, live_entries) VALUES (16, 2, 7, 40, 3)");
  sqlite_statement(db, "INSERT INTO event VALUES (16, 1, ?, ?, 'Night', 'NGN', 1, 0, 0, 0, 0, 200, 0, 0, "
                       "5000, 110, 1200000, 300000, 0, 600000,"
                       " 1, 0, 0)")
    .run(id_of(900), id_of(1, accounts_aggregate));
  sqlite_statement entry(db, "INSERT INTO queue_entry (aggregate, queue_number, status, subject, joined_at, "
                             "admitted_at, session_expires_at, ended_at)"
                             " VALUES (16, ?, ?, ?, ?, ?, ?, ?)");
  const auto subject = id_of(1, accounts_aggregate);
  entry.run(1, entry_status::admitted, subject, noon, noon, noon + seconds{1'200}, never);
  entry.run(2, entry_status::admitted, subject, noon, noon, noon + seconds{60},
            never); // the session ends before the window
  entry.run(3, entry_status::completed, subject, noon, noon + seconds{1}, noon + seconds{1'201},
            noon + seconds{9});
  entry.run(4, entry_status::waiting, subject, noon, never, never, never);
  entry.run(5, entry_status::cancelled, subject, noon, never, never, noon + seconds{9});
}

bool is_refused(sqlite_db& db, const std::string& sql) {
  try {
    db.execute(sql);
  } catch (const sqlite_error&) { return true; }
  return false;
}

/// The query plan of `sql`, one line per step.
std::string plan_of(sqlite_db& db, std::string_view sql) {
  sqlite_statement plan(db, "EXPLAIN QUERY PLAN " + std::string{sql});
  std::string text;
  while (plan.step()) text += plan.text(3) + "\n";
  return text;
}

} // namespace

CAF_TEST(a ledger of version 1 keeps its admitted to the window that was promised) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  write_version_1(file);
  const auto status = migrate_status(file);
  CAF_REQUIRE_EQUAL(status.size(), sqlite_migrations().size());
  CAF_CHECK(status[0].applied);
  CAF_CHECK(!status[1].applied);

  sqlite_ledger store({.file = file});
  std::vector<timestamp> promised;
  for (const auto& e : store.peek(sale).image.entries) promised.push_back(e.claim_by);
  CAF_CHECK(
    (promised == std::vector{noon + seconds{300}, noon + seconds{60}, noon + seconds{301}, never, never}));
  CAF_CHECK_EQUAL(store.check_integrity(), "ok");
}

CAF_TEST(a ledger of version 1 goes on where it was) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  write_version_1(file);
  sqlite_ledger store({.file = file});
  const lease_terms lease{"ada", milliseconds{60'000}};
  const auto result = store.acquire(sale, lease, never);
  CAF_REQUIRE(std::holds_alternative<acquired>(result));
  const auto& own = std::get<acquired>(result);
  CAF_CHECK_EQUAL(own.epoch, 8u);
  CAF_CHECK_EQUAL(own.applied_seq, 40u);
  CAF_CHECK_EQUAL(own.cache_generation, 0u);
  CAF_CHECK((own.line == line_totals{queue_number{5}, queue_number{1}, 3, 1, 0}));
  const outbox_row row{id_of(1), "queue.turn_granted", "{}", noon};
  const batch b{sale, 8, 40, 41, noon, {outbox_appended{row}, cache_generation_raised{0}}};
  FQ_COMMITS(store.commit({&b, 1}).at(0));
  const std::uint32_t partition[] = {0};
  CAF_CHECK((store.undelivered(lane::bus, partition, 9, {})
             == std::vector{outbox_item{{sale, 41, 0}, default_tenant, own.image.event->organizer, row}}));
}

CAF_TEST(a ledger of version 4 keeps its rows and its events inherit) {
  const temp_folder folder;
  const auto file = folder / "ledger.db";
  {
    sqlite_db db(file, sqlite_access::read_write, milliseconds{100});
    write_version(db, 4);
    db.execute(rows_of_version_4([](const uuid& id) {
      auto hex = to_string(id);
      std::erase(hex, '-');
      return "x'" + hex + "'";
    }));
    CAF_CHECK_EQUAL(db.integer("SELECT async_percent FROM event WHERE aggregate = 16"), 100);
  }
  sqlite_ledger store({.file = file});
  check_rows_of_version_4(store);
  CAF_CHECK_EQUAL(store.check_integrity(), "ok");
}

CAF_TEST(the history of a ledger of version 24 tells of event tickets without a copy) {
  const temp_folder folder;
  sqlite_db db(folder / "ledger.db", sqlite_access::read_write, milliseconds{100});
  write_version(db, 24);
  db.execute("INSERT INTO history VALUES (16, 1, 0, 1, 5, 1, NULL, 0, 0)");
  const auto* place = "SELECT rootpage FROM sqlite_schema WHERE name = 'history'";
  const auto before = db.integer(place);
  migrate(db);
  CAF_CHECK_EQUAL(db.integer(place), before);
  db.execute("INSERT INTO history VALUES (16, 1, 1, 1, 6, 1, NULL, 0, 0)");
  for (const std::string sql : {"INSERT INTO history VALUES (16, 1, 2, 1, -1, 1, NULL, 0, 0)",
                                "UPDATE sqlite_schema SET sql = sql"}) // closed again
    CAF_CHECK(is_refused(db, sql));
  CAF_CHECK_EQUAL(db.text("PRAGMA integrity_check"), "ok");
  sqlite_db after(folder / "ledger.db", sqlite_access::read_only, milliseconds{100});
  CAF_CHECK_EQUAL(after.integer("SELECT count(*) FROM history"), 2);
}

CAF_TEST(devices of a ledger of version 32 still let in against the rules) {
  const temp_folder folder;
  sqlite_db db(folder / "ledger.db", sqlite_access::read_write, milliseconds{100});
  write_version(db, 32);
  db.execute("PRAGMA foreign_keys = OFF"); // without an event
  db.execute(
    "INSERT INTO checkin_device (aggregate, id, label, gate, lists, secret_hash, created_at, revoked_at)"
    " VALUES (16, zeroblob(16), 'Phone', '', '', 'hash', 1, 0)");
  migrate(db);
  CAF_CHECK_EQUAL(db.integer("SELECT may_force FROM checkin_device"), 1);
}

CAF_TEST(a ledger of version 42 keeps its notes of logs and one claim a slot) {
  const temp_folder folder;
  sqlite_db db(folder / "ledger.db", sqlite_access::read_write, milliseconds{100});
  write_version(db, 42);
  db.execute("PRAGMA foreign_keys = OFF"); // without an event
  db.execute("INSERT INTO log_batch VALUES (16, 5, 0, 1, x'0102'), (16, 5, 1, 1, zeroblob(1900))");
  const auto claim = [](int id, int status) {
    return "INSERT INTO claim (aggregate, id, customer, queue_number, status, live_slot, item_count, amount,"
           " created_at, expires_at, ended_at) VALUES (16, randomblob(16), zeroblob(16), "
           + std::to_string(id) + ", " + std::to_string(status) + ", 0, 1, 0, 1, 1, 0)";
  };
  db.execute(claim(1, 2));
  migrate(db);
  CAF_CHECK_EQUAL(db.text("SELECT group_concat(seq || ':' || ordinal || ':' || length(content), ' ') FROM"
                          " (SELECT * FROM log_batch ORDER BY seq, ordinal)"),
                  "5:0:2 5:1:1900");
  CAF_CHECK(is_refused(db, "INSERT INTO log_batch VALUES (16, 5, 1, 1, x'')"));
  for (const int live : {0, 1, 2}) CAF_CHECK(is_refused(db, claim(2, live)));
  for (const int ended : {3, 4}) CAF_CHECK(!is_refused(db, claim(3, ended)));
  CAF_CHECK_EQUAL(db.text("PRAGMA integrity_check"), "ok");
}

CAF_TEST(a history of another form is refused and nothing is changed) {
  const temp_folder folder;
  sqlite_db db(folder / "ledger.db", sqlite_access::read_write, milliseconds{100});
  write_version(db, 24);
  db.execute(
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'kind BETWEEN 0 AND 5', "
    "'kind  BETWEEN 0 AND 5') WHERE name = 'history'; PRAGMA writable_schema = RESET");
  const auto refused = [&] {
    try {
      migrate(db);
    } catch (const std::exception& e) {
      return std::string_view{e.what()}.find("history_is_changed") != std::string_view::npos;
    }
    return false;
  };
  CAF_CHECK(refused());
  CAF_CHECK_EQUAL(db.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'event_ticket'"), 0);
  CAF_CHECK_EQUAL(db.integer("SELECT max(number) FROM schema_migration"), 24);
}

CAF_TEST(leases and what waits to go out survive the process) {
  const temp_folder folder;
  lease_terms ada{"ada", milliseconds{60'000}};
  const lease_terms ben{"ben", milliseconds{60'000}};
  const std::uint32_t partition[] = {0};
  std::vector<outbox_item> waiting;
  {
    sqlite_ledger store({.file = folder / "ledger.db"});
    world w(store);
    FQ_COMMITS(
      w.put({outbox_appended{{id_of(1), "a", "{}", noon}}, outbox_appended{{id_of(2), "b", "{}", noon}}}));
    const std::vector first{store.undelivered(lane::mail, partition, 1, {}).at(0).key};
    for (const auto which : all_lanes) store.mark_delivered(which, first, noon);
    waiting = store.undelivered(lane::mail, partition, 9, {});
    CAF_CHECK_EQUAL(waiting.size(), 1u);
    ada.incarnation = store.enlist("ada");
    CAF_CHECK(std::holds_alternative<acquired>(store.acquire(sale, ada, never)));
    CAF_CHECK_EQUAL(store.lease_outbox(ada, partition).size(), 1u);
  }
  sqlite_ledger store({.file = folder / "ledger.db"});
  CAF_CHECK(store.undelivered(lane::mail, partition, 9, {}) == waiting); // that version had no lanes
  CAF_CHECK(std::holds_alternative<lease_held>(store.acquire(sale, ben, never)));
  CAF_CHECK(store.lease_outbox(ben, partition).empty());
  CAF_CHECK_EQUAL(store.enlist("ada"), ada.incarnation + 1);
}

CAF_TEST(who is to be woken is found without a look at each row) {
  const temp_folder folder;
  migrate_up(folder / "ledger.db");
  sqlite_db db(folder / "ledger.db", sqlite_access::read_only, milliseconds{100});
  const auto plan = plan_of(db, sqlite_reader::to_wake_sql());
  for (const std::string table : {"claim", "payment", "refund", "event_ticket_transfer", "log_batch"})
    CAF_CHECK(plan.find("SCAN " + table + "\n") == std::string::npos);
  CAF_CHECK(plan.find("INDEX payment_running (aggregate>?)") != std::string::npos);
}

CAF_TEST(a dispatcher reads the index of its lane in its order) {
  const temp_folder folder;
  migrate_up(folder / "ledger.db");
  sqlite_db db(folder / "ledger.db", sqlite_access::read_write, milliseconds{100});
  for (const auto which : all_lanes) {
    for (const auto& sql : {sqlite_outbox::next_waiting_sql(which), sqlite_outbox::undelivered_sql(which)}) {
      const auto plan = plan_of(db, sql);
      CAF_CHECK(plan.starts_with("SEARCH o USING ")
                && plan.find("INDEX outbox_" + std::string{name_of(which)} + " (aggregate")
                     != std::string::npos);
      CAF_CHECK(plan.find("TEMP B-TREE") == std::string::npos); // no sorting
    }
  }
}

} // namespace sqlite_upgrade_test
