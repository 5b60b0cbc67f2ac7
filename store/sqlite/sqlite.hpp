// SPDX-License-Identifier: Apache-2.0
// A thin, typed wrapper of the SQLite C library: a connection and prepared statements, errors as exceptions.
// Used by the SQLite engine and the migrations only; knows value types of the domain, no rows. One thread at
// a time.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/model/rows.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace fq {

/// The database's clock as an SQL expression: Unix milliseconds, constant during one run of a statement. It
/// is rounded, because a Julian day in a double is a little above or below the millisecond.
inline const std::string sqlite_now = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";

class sqlite_error : public std::runtime_error {
public:
  /// `system_error`: the errno of a failed write, else 0.
  sqlite_error(int extended_code, const std::string& what, int system_error = 0) :
      std::runtime_error(what), code_(extended_code), system_error_(system_error) {}
  [[nodiscard]] int code() const { return code_; }
  /// The schema refused the data (a constraint, a type, a size): the caller's fault.
  [[nodiscard]] bool is_refusal() const;
  /// No room on the device, or a quota or size limit reached: the write did not happen.
  [[nodiscard]] bool is_full() const;
  /// A write or sync failed, or the file is damaged: memory and disk may differ. After a failed fsync the
  /// kernel takes unwritten pages for written, so only a new process may go on.
  [[nodiscard]] bool is_fatal() const;
  /// Another connection held a lock longer than the busy timeout.
  [[nodiscard]] bool is_busy() const;

private:
  int code_;
  int system_error_;
};

enum class sqlite_access : std::uint8_t { read_only, read_write };

class sqlite_db {
public:
  /// Opens `file` (or ":memory:"), creating it with mode 0600 if it may be written. Throws sqlite_error.
  sqlite_db(const std::filesystem::path& file, sqlite_access access, milliseconds busy_timeout);
  ~sqlite_db();
  sqlite_db(const sqlite_db&) = delete;
  sqlite_db& operator=(const sqlite_db&) = delete;

  /// Runs statements without parameters or results.
  void execute(const std::string& sql);
  /// The first column of the first row; 0 or "" if there is none.
  std::int64_t integer(const std::string& sql);
  std::string text(const std::string& sql);
  /// "ok", or what is wrong.
  std::string check_integrity();
  [[nodiscard]] bool in_transaction() const;
  /// Rolls back an open transaction, if any.
  void abandon();
  /// Writes the WAL again and syncs it. The last process may have ended at a failed fsync: its records are in
  /// the page cache, but not on the disk, and no fsync would write them. Call it before the first write.
  void make_wal_durable();
  /// Moves committed pages from the WAL to the file once the WAL has more than `pages`. A full disk or a
  /// reader only delays it.
  void checkpoint_above(std::uint32_t pages);
  /// Closes cursors that an exception left open, because an open cursor prevents the reset of the WAL.
  void reset_statements() noexcept;
  [[nodiscard]] sqlite3* handle() const { return db_; }

private:
  sqlite3* db_ = nullptr;
  std::uint32_t wal_pages_ = 0; ///< after the last commit; counted once checkpoint_above() was called
  bool counts_wal_ = false;
};

/// The lock that a transaction begins with: of the writer, or none until the first read.
enum class sqlite_begin : std::uint8_t { immediate, deferred };

/// Rolls back on destruction unless committed.
class sqlite_transaction {
public:
  explicit sqlite_transaction(sqlite_db& db, sqlite_begin begin = sqlite_begin::immediate);
  ~sqlite_transaction();
  sqlite_transaction(const sqlite_transaction&) = delete;
  sqlite_transaction& operator=(const sqlite_transaction&) = delete;
  void commit();

private:
  sqlite_db& db_;
};

class sqlite_statement {
public:
  sqlite_statement(sqlite_db& db, std::string_view sql);
  ~sqlite_statement();
  sqlite_statement(sqlite_statement&& other) noexcept;

  /// Binds all parameters in order. Texts and blobs are not copied: they must live until the reset.
  template <class... Args>
  sqlite_statement& bind(const Args&... args) {
    next_ = 0;
    (bind_next(args), ...);
    return *this;
  }

  /// Binds further parameters (multi-row statements).
  template <class... Args>
  void bind_more(const Args&... args) {
    (bind_next(args), ...);
  }

  /// Binds, runs to the end, resets; returns the number of changed rows.
  template <class... Args>
  std::int64_t run(const Args&... args) {
    bind(args...);
    return finish();
  }

  /// Runs to the end with the bound parameters, and resets.
  std::int64_t finish();

  /// Moves to the next row; false at the end, after a reset. Throws sqlite_error after a reset.
  bool step();
  void reset() noexcept;

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] bool boolean(int column) const { return integer(column) != 0; }
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::vector<char> blob(int column) const;
  [[nodiscard]] uuid id(int column) const;
  [[nodiscard]] digest128 digest(int column) const;
  [[nodiscard]] timestamp time(int column) const { return from_unix_ms(integer(column)); }
  [[nodiscard]] milliseconds duration(int column) const { return milliseconds{integer(column)}; }
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] bool is_blob(int column) const;
  template <class T>
  [[nodiscard]] T number(int column) const {
    return static_cast<T>(integer(column));
  }
  /// Reports a row that this program cannot have written.
  [[noreturn]] void is_corrupt(const std::string& what) const;

private:
  template <class T>
  void bind_next(const T& value) {
    if constexpr (std::is_same_v<T, uuid>)
      bind_words(value.hi, value.lo);
    else if constexpr (std::is_same_v<T, digest128>)
      bind_words(value[0], value[1]);
    else if constexpr (std::is_same_v<T, timestamp>)
      bind_integer(unix_ms(value));
    else if constexpr (std::is_same_v<T, milliseconds>)
      bind_integer(value.count());
    else if constexpr (std::is_same_v<T, std::vector<char>>)
      bind_blob(value.data(), value.size());
    else if constexpr (std::is_same_v<T, std::nullptr_t>)
      bind_null();
    else if constexpr (std::is_convertible_v<T, std::string_view>)
      bind_text(value);
    else
      bind_integer(static_cast<std::int64_t>(value));
  }
  void bind_integer(std::int64_t value);
  void bind_words(std::uint64_t first, std::uint64_t second);
  void bind_text(std::string_view value);
  void bind_blob(const char* data, std::size_t size);
  void bind_null();
  [[noreturn]] void fail(int code);

  sqlite3_stmt* stmt_ = nullptr;
  int next_ = 0; ///< parameters bound so far
  std::unique_ptr<std::array<unsigned char, 16>[]> words_; ///< ids in network order, one slot per parameter
};

} // namespace fq
