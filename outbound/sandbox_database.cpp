// SPDX-License-Identifier: Apache-2.0
// SQL of the sandbox gateway.
#include "outbound/sandbox_database.hpp"

#include <sqlite3.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace fq {
namespace {

constexpr int application_id = 0x46515342; // "FQSB"
constexpr int schema_version = 1;

// The ledger is the oracle of I3 and I4: triggers keep its rows immutable.
constexpr const char* schema = R"sql(
create table charges (
  reference text primary key,
  amount integer not null check (amount > 0),
  currency text not null check (length(currency) = 3),
  email text not null,
  callback_url text not null,
  status text not null check (status in ('unpaid', 'paid', 'declined', 'expired')),
  created_at integer not null,
  settled_at integer,
  check ((status = 'unpaid') = (settled_at is null))
) without rowid, strict;
create table refunds (
  refund_id text primary key,
  reference text not null references charges(reference),
  amount integer not null check (amount > 0),
  created_at integer not null
) without rowid, strict;
create index refunds_of_charge on refunds(reference);
create table ledger (
  number integer primary key autoincrement,
  kind text not null check (kind in ('charge', 'refund')),
  reference text not null,
  refund_id text not null,
  amount integer not null check (amount > 0),
  currency text not null,
  at integer not null
) strict;
create unique index ledger_once on ledger(reference, kind, refund_id);
create trigger ledger_keeps before delete on ledger
  begin select raise(abort, 'the ledger is append-only'); end;
create trigger ledger_stays before update on ledger
  begin select raise(abort, 'the ledger is append-only'); end;
create table webhooks (
  number integer primary key autoincrement,
  body text not null,
  attempts integer not null default 0,
  due_at integer not null
) strict;
create index webhooks_due on webhooks(due_at, number);
)sql";

const char* name_of(charge_status status) {
  switch (status) {
    case charge_status::unpaid: return "unpaid";
    case charge_status::paid: return "paid";
    case charge_status::declined: return "declined";
    case charge_status::expired: return "expired";
    case charge_status::unknown: break;
  }
  throw sandbox_error{"a charge of unknown status is not stored"};
}

charge_status status_named(const std::string& name) {
  for (const auto s :
       {charge_status::unpaid, charge_status::paid, charge_status::declined, charge_status::expired})
    if (name == name_of(s)) return s;
  throw sandbox_error{"unexpected status of a charge: " + name};
}

// SQLite would create the file world-readable. Its -wal and -shm files inherit the mode.
void create_private_file(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

} // namespace

/// A prepared statement in use: binds in order, steps, resets in its destructor.
class sandbox_database::statement {
public:
  statement(sqlite3* db, sqlite3_stmt* stmt) : db_{db}, stmt_{stmt} {}
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement() {
    sqlite3_reset(stmt_);
    sqlite3_clear_bindings(stmt_);
  }

  statement& operator<<(std::int64_t value) {
    check(sqlite3_bind_int64(stmt_, ++bound_, value));
    return *this;
  }
  statement& operator<<(timestamp value) { return *this << unix_ms(value); }
  statement& operator<<(const std::string& value) {
    check(sqlite3_bind_text(stmt_, ++bound_, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
    return *this;
  }

  /// Moves to the next row; false after the last one.
  bool step() {
    const int result = sqlite3_step(stmt_);
    if (result != SQLITE_ROW && result != SQLITE_DONE) check(result);
    return result == SQLITE_ROW;
  }

  [[nodiscard]] std::int64_t integer(int column) const { return sqlite3_column_int64(stmt_, column); }
  [[nodiscard]] bool is_null(int column) const { return sqlite3_column_type(stmt_, column) == SQLITE_NULL; }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(stmt_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column));
    return bytes == nullptr ? std::string{} : std::string{reinterpret_cast<const char*>(bytes), size};
  }

private:
  void check(int result) const {
    if (result != SQLITE_OK) throw sandbox_error{std::string{"sandbox gateway: "} + sqlite3_errmsg(db_)};
  }

  sqlite3* db_;
  sqlite3_stmt* stmt_;
  int bound_ = 0;
};

sandbox_database::sandbox_database(const std::filesystem::path& file) : file_{file.string()} {
  create_private_file(file_);
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  const int opened = sqlite3_open_v2(file_.c_str(), &db_, flags, nullptr);
  try {
    if (opened != SQLITE_OK) throw sandbox_error{file_ + ": cannot open: " + sqlite3_errstr(opened)};
    sqlite3_busy_timeout(db_, 1000); // only for an operator's manual reads; no other program uses this file
    execute("pragma journal_mode = wal");
    execute("pragma synchronous = full");
    execute("pragma foreign_keys = on");
    create_or_check_schema();
  } catch (...) {
    close();
    throw;
  }
}

sandbox_database::~sandbox_database() { close(); }

void sandbox_database::close() noexcept {
  for (const auto& [sql, stmt] : prepared_) sqlite3_finalize(stmt);
  sqlite3_close_v2(db_);
}

void sandbox_database::execute(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw sandbox_error{file_ + ": " + sqlite3_errmsg(db_)};
}

sandbox_database::statement sandbox_database::prepare(const char* sql) {
  const auto known =
    std::find_if(prepared_.begin(), prepared_.end(), [sql](const auto& p) { return p.first == sql; });
  if (known != prepared_.end()) return {db_, known->second};
  sqlite3_stmt* stmt = nullptr;
  if (sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, nullptr) != SQLITE_OK)
    throw sandbox_error{file_ + ": " + sqlite3_errmsg(db_)};
  prepared_.emplace_back(sql, stmt);
  return {db_, stmt};
}

void sandbox_database::create_or_check_schema() {
  const auto pragma = [this](const char* sql) {
    auto s = prepare(sql);
    return s.step() ? s.integer(0) : 0;
  };
  const auto id = pragma("pragma application_id");
  const auto version = pragma("pragma user_version");
  if (id == application_id && version == schema_version) return;
  const auto tables = pragma("select count(*) from sqlite_schema");
  if (id != 0 || version != 0 || tables != 0)
    throw sandbox_error{file_ + ": is not a sandbox gateway of this version; move it away to begin anew"};
  begin();
  execute(schema);
  execute(("pragma application_id = " + std::to_string(application_id)).c_str());
  execute(("pragma user_version = " + std::to_string(schema_version)).c_str());
  commit();
}

void sandbox_database::begin() { prepare("begin immediate").step(); }
void sandbox_database::commit() { prepare("commit").step(); }
void sandbox_database::rollback() noexcept {
  if (sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "rollback", nullptr, nullptr, nullptr);
}

std::optional<sandbox_charge> sandbox_database::find_charge(const std::string& reference) {
  auto s = prepare("select amount, currency, email, callback_url, status from charges where reference = ?");
  s << reference;
  if (!s.step()) return std::nullopt;
  return sandbox_charge{reference, {s.integer(0), s.text(1)}, s.text(2), s.text(3), status_named(s.text(4))};
}

void sandbox_database::insert_charge(const sandbox_charge& charge, timestamp now) {
  auto s =
    prepare("insert into charges (reference, amount, currency, email, callback_url, status, created_at)"
            " values (?, ?, ?, ?, ?, 'unpaid', ?)");
  s << charge.reference << charge.money.amount << charge.money.currency << charge.email << charge.callback_url
    << now;
  s.step();
}

void sandbox_database::set_charge_status(const std::string& reference, charge_status status, timestamp now) {
  auto s = prepare("update charges set status = ?, settled_at = ? where reference = ? and status = 'unpaid'");
  s << std::string{name_of(status)} << now << reference;
  s.step();
}

std::optional<sandbox_refund> sandbox_database::find_refund(const std::string& refund_id) {
  auto s = prepare("select reference, amount from refunds where refund_id = ?");
  s << refund_id;
  if (!s.step()) return std::nullopt;
  return sandbox_refund{refund_id, s.text(0), s.integer(1)};
}

std::int64_t sandbox_database::refunded_total(const std::string& reference) {
  auto s = prepare("select coalesce(sum(amount), 0) from refunds where reference = ?");
  s << reference;
  return s.step() ? s.integer(0) : 0;
}

void sandbox_database::insert_refund(const sandbox_refund& refund, timestamp now) {
  auto s = prepare("insert into refunds (refund_id, reference, amount, created_at) values (?, ?, ?, ?)");
  s << refund.refund_id << refund.reference << refund.amount << now;
  s.step();
}

void sandbox_database::append_ledger(const sandbox_ledger_row& row) {
  auto s = prepare(
    "insert into ledger (kind, reference, refund_id, amount, currency, at) values (?, ?, ?, ?, ?, ?)");
  s << std::string{row.kind == sandbox_ledger_row::kind_type::charge ? "charge" : "refund"} << row.reference
    << row.refund_id << row.money.amount << row.money.currency << row.at;
  s.step();
}

std::vector<sandbox_ledger_row> sandbox_database::ledger() {
  std::vector<sandbox_ledger_row> rows;
  auto s = prepare("select kind, reference, refund_id, amount, currency, at from ledger order by number");
  while (s.step()) {
    const auto kind =
      s.text(0) == "charge" ? sandbox_ledger_row::kind_type::charge : sandbox_ledger_row::kind_type::refund;
    rows.push_back({kind, s.text(1), s.text(2), {s.integer(3), s.text(4)}, from_unix_ms(s.integer(5))});
  }
  return rows;
}

void sandbox_database::insert_webhook(const std::string& body, timestamp due) {
  auto s = prepare("insert into webhooks (body, due_at) values (?, ?)");
  s << body << due;
  s.step();
}

std::vector<sandbox_webhook> sandbox_database::due_webhooks(timestamp now, std::size_t limit) {
  std::vector<sandbox_webhook> out;
  auto s =
    prepare("select number, body, attempts from webhooks where due_at <= ? order by due_at, number limit ?");
  s << now << static_cast<std::int64_t>(limit);
  while (s.step()) out.push_back({s.integer(0), s.text(1), {}, static_cast<std::uint32_t>(s.integer(2))});
  return out;
}

std::optional<timestamp> sandbox_database::next_due() {
  auto s = prepare("select min(due_at) from webhooks");
  if (!s.step() || s.is_null(0)) return std::nullopt;
  return from_unix_ms(s.integer(0));
}

std::optional<std::uint32_t> sandbox_database::webhook_attempts(std::int64_t number) {
  auto s = prepare("select attempts from webhooks where number = ?");
  s << number;
  if (!s.step()) return std::nullopt;
  return static_cast<std::uint32_t>(s.integer(0));
}

void sandbox_database::postpone_webhook(std::int64_t number, std::uint32_t attempts, timestamp due) {
  auto s = prepare("update webhooks set attempts = ?, due_at = ? where number = ?");
  s << static_cast<std::int64_t>(attempts) << due << number;
  s.step();
}

void sandbox_database::delete_webhook(std::int64_t number) {
  auto s = prepare("delete from webhooks where number = ?");
  s << number;
  s.step();
}

} // namespace fq
