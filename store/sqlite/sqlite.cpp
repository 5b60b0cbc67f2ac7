// SPDX-License-Identifier: Apache-2.0
// The calls into libsqlite3.
#include "store/sqlite/sqlite.hpp"

#include "store/sqlite/limits.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace fq {
namespace {

/// The errno of the last failed write of the WAL, else of the database file; 0 after other errors.
/// (sqlite3_system_errno() knows it for some calls only.)
int errno_of(sqlite3* db, int code) {
  if (code != SQLITE_IOERR_WRITE) return 0;
  sqlite3_file* wal = nullptr;
  int reason = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
  if (wal && wal->pMethods) wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &reason);
  if (reason == 0) sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &reason);
  return reason;
}

[[noreturn]] void fail(sqlite3* db, const std::string& doing) {
  const int code = sqlite3_extended_errcode(db);
  const std::string reason = sqlite3_errmsg(db);
  throw sqlite_error(code, doing + ": " + reason, errno_of(db, code));
}

/// Creates the file with private mode first, because SQLite gives the journal and shared-memory files the
/// same mode.
void create_private(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
}

/// SQLite's count of its memory takes a lock of the process at each allocation, and nothing reads it. Refused
/// without harm if SQLite is in use already.
void count_no_memory() {
  static const int done = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(done);
}

void put_big_endian(std::uint64_t value, unsigned char* out) {
  value = __builtin_bswap64(value);
  std::memcpy(out, &value, sizeof value);
}

std::uint64_t get_big_endian(const unsigned char* in) {
  std::uint64_t value = 0;
  std::memcpy(&value, in, sizeof value);
  return __builtin_bswap64(value);
}

} // namespace

bool sqlite_error::is_refusal() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_CONSTRAINT || primary == SQLITE_MISMATCH || primary == SQLITE_TOOBIG
         || primary == SQLITE_RANGE;
}

bool sqlite_error::is_full() const {
  const bool is_refused = system_error_ == EDQUOT || system_error_ == EFBIG;
  return (code_ & 0xff) == SQLITE_FULL || (code_ == SQLITE_IOERR_WRITE && is_refused);
}

/// Not among them: failed reads, which may succeed later, and errors of the shared memory, which holds
/// nothing durable.
bool sqlite_error::is_fatal() const {
  switch (code_) {
    case SQLITE_IOERR:
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_DIR_FSYNC:
    case SQLITE_IOERR_TRUNCATE:
    case SQLITE_IOERR_CORRUPTFS: return true;
    case SQLITE_IOERR_WRITE: return !is_full();
    default: return (code_ & 0xff) == SQLITE_CORRUPT;
  }
}

bool sqlite_error::is_busy() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_LOCKED;
}

// -- connection

sqlite_db::sqlite_db(const std::filesystem::path& file, sqlite_access access, milliseconds busy_timeout) {
  const bool writes = access == sqlite_access::read_write;
  if (writes && file != ":memory:") create_private(file);
  count_no_memory();
  const int mode = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  // No mutex: callers of the port guarantee one thread at a time.
  const int flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int rc = sqlite3_open_v2(file.c_str(), &db_, flags, nullptr);
  if (rc != SQLITE_OK) {
    const std::string reason = db_ ? sqlite3_errmsg(db_) : "out of memory";
    sqlite3_close(db_);
    throw sqlite_error(rc, "cannot open " + file.string() + ": " + reason);
  }
  sqlite3_busy_timeout(db_, static_cast<int>(busy_timeout.count()));
}

sqlite_db::~sqlite_db() { sqlite3_close_v2(db_); }

void sqlite_db::execute(const std::string& sql) {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(db_, "sqlite");
}

std::int64_t sqlite_db::integer(const std::string& sql) {
  sqlite_statement s(*this, sql);
  return s.step() ? s.integer(0) : 0;
}

std::string sqlite_db::text(const std::string& sql) {
  sqlite_statement s(*this, sql);
  return s.step() ? s.text(0) : std::string{};
}

std::string sqlite_db::check_integrity() {
  const auto violations = integer("SELECT count(*) FROM pragma_foreign_key_check");
  return violations != 0 ? std::to_string(violations) + " foreign key violations"
                         : text("PRAGMA integrity_check");
}

bool sqlite_db::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }

void sqlite_db::abandon() {
  if (in_transaction()) execute("ROLLBACK");
}

void sqlite_db::reset_statements() noexcept {
  for (auto* s = sqlite3_next_stmt(db_, nullptr); s; s = sqlite3_next_stmt(db_, s))
    if (sqlite3_stmt_busy(s)) sqlite3_reset(s);
}

void sqlite_db::make_wal_durable() {
  integer("SELECT count(*) FROM sqlite_schema"); // opens the WAL and finds its committed records
  sqlite3_file* wal = nullptr;
  const auto trust = [&](int code) {
    if (code == SQLITE_OK) return;
    sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); // nothing may rest on these records
    throw sqlite_error(code, std::string{"the write-ahead log cannot be synced: "} + sqlite3_errstr(code),
                       errno_of(db_, code));
  };
  trust(sqlite3_file_control(db_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal));
  sqlite3_int64 size = 0;
  if (!wal || !wal->pMethods) return;
  trust(wal->pMethods->xFileSize(wal, &size));
  std::vector<char> part(sqlite_limits::wal_copy_bytes);
  for (sqlite3_int64 at = 0; at < size;) {
    const auto count = static_cast<int>(std::min<sqlite3_int64>(size - at, sqlite_limits::wal_copy_bytes));
    trust(wal->pMethods->xRead(wal, part.data(), count, at));
    trust(wal->pMethods->xWrite(wal, part.data(), count, at));
    at += count;
  }
  if (size > 0) trust(wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL));
}

void sqlite_db::checkpoint_above(std::uint32_t pages) {
  if (!std::exchange(counts_wal_, true)) { // replaces SQLite's own checkpoints, which hide their errors
    const auto count = [](void* to, sqlite3*, const char*, int in_wal) {
      *static_cast<std::uint32_t*>(to) = static_cast<std::uint32_t>(in_wal);
      return SQLITE_OK;
    };
    sqlite3_wal_hook(db_, count, &wal_pages_);
  }
  if (std::exchange(wal_pages_, wal_pages_ < pages ? wal_pages_ : 0) < pages) return;
  const int rc = sqlite3_wal_checkpoint_v2(db_, "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  const sqlite_error error(rc, std::string{"checkpoint: "} + sqlite3_errstr(rc), errno_of(db_, rc));
  if (error.is_fatal()) throw error;
}

// -- transaction

sqlite_transaction::sqlite_transaction(sqlite_db& db, sqlite_begin begin) : db_(db) {
  db_.execute(begin == sqlite_begin::immediate ? "BEGIN IMMEDIATE" : "BEGIN DEFERRED");
}

sqlite_transaction::~sqlite_transaction() {
  // Some errors have rolled back already. A failed rollback leaves the transaction open; the next user of
  // the connection detects it with in_transaction().
  if (db_.in_transaction()) sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void sqlite_transaction::commit() { db_.execute("COMMIT"); }

// -- statement

sqlite_statement::sqlite_statement(sqlite_db& db, std::string_view sql) {
  const int rc = sqlite3_prepare_v3(db.handle(), sql.data(), static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT, &stmt_, nullptr);
  if (rc != SQLITE_OK) fq::fail(db.handle(), "prepare " + std::string{sql});
  const auto parameters = static_cast<std::size_t>(sqlite3_bind_parameter_count(stmt_));
  words_ = std::make_unique<std::array<unsigned char, 16>[]>(parameters);
}

sqlite_statement::~sqlite_statement() { sqlite3_finalize(stmt_); }

sqlite_statement::sqlite_statement(sqlite_statement&& other) noexcept :
    stmt_(std::exchange(other.stmt_, nullptr)), next_(other.next_), words_(std::move(other.words_)) {}

void sqlite_statement::fail(int code) {
  auto* db = sqlite3_db_handle(stmt_);
  const std::string reason = sqlite3_errmsg(db);
  const int system_error = errno_of(db, code);
  reset();
  throw sqlite_error(code, "sqlite: " + reason, system_error);
}

bool sqlite_statement::step() {
  const int rc = sqlite3_step(stmt_);
  if (rc == SQLITE_ROW) return true;
  if (rc != SQLITE_DONE) fail(rc);
  reset();
  return false;
}

std::int64_t sqlite_statement::finish() {
  while (step()) {}
  return sqlite3_changes64(sqlite3_db_handle(stmt_));
}

void sqlite_statement::reset() noexcept {
  sqlite3_reset(stmt_);
  next_ = 0;
}

void sqlite_statement::bind_integer(std::int64_t value) {
  if (const int rc = sqlite3_bind_int64(stmt_, ++next_, value); rc != SQLITE_OK) fail(rc);
}

void sqlite_statement::bind_words(std::uint64_t first, std::uint64_t second) {
  auto* bytes = words_[static_cast<std::size_t>(next_)].data();
  put_big_endian(first, bytes);
  put_big_endian(second, bytes + 8);
  if (const int rc = sqlite3_bind_blob(stmt_, ++next_, bytes, 16, SQLITE_STATIC); rc != SQLITE_OK) fail(rc);
}

void sqlite_statement::bind_text(std::string_view value) {
  // An empty view may have a null pointer, which would bind NULL.
  const char* data = value.empty() ? "" : value.data();
  const int rc = sqlite3_bind_text64(stmt_, ++next_, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (rc != SQLITE_OK) fail(rc);
}

void sqlite_statement::bind_blob(const char* data, std::size_t size) {
  const int rc = sqlite3_bind_blob64(stmt_, ++next_, size == 0 ? "" : data, size, SQLITE_STATIC);
  if (rc != SQLITE_OK) fail(rc);
}

void sqlite_statement::bind_null() {
  if (const int rc = sqlite3_bind_null(stmt_, ++next_); rc != SQLITE_OK) fail(rc);
}

std::int64_t sqlite_statement::integer(int column) const { return sqlite3_column_int64(stmt_, column); }

std::string sqlite_statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(stmt_, column));
  if (!data) return {};
  return std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column)));
}

std::vector<char> sqlite_statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(stmt_, column));
  const auto size = sqlite3_column_bytes(stmt_, column);
  return data ? std::vector<char>(data, data + size) : std::vector<char>{};
}

digest128 sqlite_statement::digest(int column) const {
  const auto* data = static_cast<const unsigned char*>(sqlite3_column_blob(stmt_, column));
  if (!data || sqlite3_column_bytes(stmt_, column) != 16)
    throw sqlite_error(SQLITE_FORMAT, "sqlite: an id is not 16 bytes long");
  return {get_big_endian(data), get_big_endian(data + 8)};
}

uuid sqlite_statement::id(int column) const {
  const auto words = digest(column);
  return {words[0], words[1]};
}

bool sqlite_statement::is_null(int column) const { return sqlite3_column_type(stmt_, column) == SQLITE_NULL; }
bool sqlite_statement::is_blob(int column) const { return sqlite3_column_type(stmt_, column) == SQLITE_BLOB; }

void sqlite_statement::is_corrupt(const std::string& what) const {
  throw sqlite_error(SQLITE_FORMAT, "sqlite: " + what); // one bad row is no damaged file
}

} // namespace fq
