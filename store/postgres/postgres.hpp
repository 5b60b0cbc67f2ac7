// SPDX-License-Identifier: Apache-2.0
// A thin, typed wrapper of libpq: a connection, round trips in pipeline mode, binary parameters and results,
// errors as exceptions with their SQLSTATE. Used by the Postgres engine and its migrations only; knows value
// types of the domain, no rows. One thread at a time.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/model/rows.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

namespace fq {

// -- failures

/// Kind of a failure.
enum class postgres_trouble : std::uint8_t {
  refused, ///< the data broke a constraint or an expected state: the caller's fault
  collided, ///< a deadlock or a serialization failure: a retry may succeed
  waited, ///< a lock or a statement took longer than allowed
  outage, ///< everything else: server unavailable, read-only, full, out of connections, wrong schema
};

class postgres_error : public std::runtime_error {
public:
  /// `sqlstate` is empty if the server sent none.
  postgres_error(std::string sqlstate, const std::string& what, bool lost_connection) :
      std::runtime_error(what), sqlstate_(std::move(sqlstate)), lost_connection_(lost_connection) {}
  [[nodiscard]] const std::string& sqlstate() const { return sqlstate_; }
  /// The session is over: statements without an answer may have been executed.
  [[nodiscard]] bool lost_connection() const { return lost_connection_; }
  [[nodiscard]] postgres_trouble trouble() const;

private:
  std::string sqlstate_;
  bool lost_connection_;
};

// -- parameters

namespace postgres_wire {

/// Object ids of the parameter types, fixed in Postgres' catalogue (pg_type.dat).
enum class type : std::uint32_t { boolean = 16, bytes = 17, integer = 20, text = 25, uuid = 2950 };

template <class T>
constexpr type type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return type::boolean;
  else if constexpr (std::is_same_v<T, uuid> || std::is_same_v<T, digest128>)
    return type::uuid;
  else if constexpr (std::is_same_v<T, std::vector<char>>)
    return type::bytes;
  else if constexpr (std::is_convertible_v<T, std::string_view>)
    return type::text;
  else
    return type::integer;
}

void put_integer(std::string& out, std::int64_t value);
void put_words(std::string& out, std::uint64_t first, std::uint64_t second);
void put_length(std::string& out, std::size_t length);
inline constexpr std::uint32_t null_length = 0xffff'ffff;

/// Appends the value's bytes, without their length. Every integer, enumerator and time is a bigint.
template <class T>
void put(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    out.push_back(value ? '\1' : '\0');
  else if constexpr (std::is_same_v<T, uuid>)
    put_words(out, value.hi, value.lo);
  else if constexpr (std::is_same_v<T, digest128>)
    put_words(out, value[0], value[1]);
  else if constexpr (std::is_same_v<T, std::vector<char>>)
    out.append(value.data(), value.size());
  else if constexpr (std::is_same_v<T, timestamp>)
    put_integer(out, unix_ms(value));
  else if constexpr (std::is_same_v<T, milliseconds>)
    put_integer(out, value.count());
  else if constexpr (std::is_convertible_v<T, std::string_view>)
    out.append(std::string_view{value});
  else
    put_integer(out, static_cast<std::int64_t>(value));
}

} // namespace postgres_wire

/// One array parameter. All elements have one type; an empty optional is null.
class postgres_array {
public:
  template <class T>
  static postgres_array of(std::span<const T> elements) {
    postgres_array result;
    result.begin(postgres_wire::type_of<T>());
    for (const auto& e : elements) result.push(e);
    return result;
  }
  template <class T>
  void push(const T& element) {
    begin(postgres_wire::type_of<T>());
    const auto start = bytes_.size();
    postgres_wire::put_length(bytes_, 0);
    postgres_wire::put(bytes_, element);
    end(start);
  }
  template <class T>
  void push(const std::optional<T>& element) {
    if (element) return push(*element);
    begin(postgres_wire::type_of<T>());
    postgres_wire::put_length(bytes_, postgres_wire::null_length);
    ++count_;
  }
  std::string bytes() &&;

private:
  void begin(postgres_wire::type element);
  void end(std::size_t start);

  std::string bytes_; ///< header and elements
  std::uint32_t count_ = 0;
};

/// Parameters of one statement.
class postgres_parameters {
public:
  postgres_parameters() = default;
  /// One parameter per value; arrays are moved.
  template <class... Values>
  static postgres_parameters of(Values&&... values) {
    postgres_parameters result;
    (result.add(std::forward<Values>(values)), ...);
    return result;
  }
  void add(postgres_array&& array) { values_.push_back(std::move(array).bytes()); }
  template <class T>
  void add(const T& value) {
    postgres_wire::put(values_.emplace_back(), value);
  }
  [[nodiscard]] std::span<const std::string> values() const { return values_; }

private:
  std::vector<std::string> values_;
};

/// Many rows as parameters: one array per column.
class postgres_columns {
public:
  template <class... Values>
  void add(const Values&... row) {
    next_row();
    (push(row), ...);
  }
  /// The next values are those of a new row.
  void next_row() { next_ = 0; }
  template <class Value>
  void push(const Value& value) {
    if (next_ == columns_.size()) columns_.emplace_back();
    columns_[next_++].push(value);
  }
  [[nodiscard]] bool empty() const { return columns_.empty(); }
  postgres_parameters parameters() &&;

private:
  std::vector<postgres_array> columns_;
  std::size_t next_ = 0; ///< column of the next value
};

// -- results

/// One row of a result; valid as long as the result.
class postgres_row {
public:
  postgres_row(const PGresult* result, int row) : result_(result), row_(row) {}

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] bool boolean(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::vector<char> blob(int column) const;
  [[nodiscard]] uuid id(int column) const;
  [[nodiscard]] digest128 digest(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] timestamp time(int column) const { return from_unix_ms(integer(column)); }
  [[nodiscard]] milliseconds duration(int column) const { return milliseconds{integer(column)}; }
  template <class T>
  [[nodiscard]] T number(int column) const {
    return static_cast<T>(integer(column));
  }
  /// Reports a row that this program cannot have written.
  [[noreturn]] void is_corrupt(const std::string& what) const {
    throw postgres_error("XX001", "postgres: " + what, false);
  } // data_corrupted

private:
  const PGresult* result_;
  int row_;
};

/// The result of one statement.
class postgres_result {
public:
  explicit postgres_result(PGresult* result);
  [[nodiscard]] int size() const;
  [[nodiscard]] postgres_row operator[](int row) const { return {result_.get(), row}; }
  /// Number of rows that an INSERT, UPDATE or DELETE touched.
  [[nodiscard]] std::size_t affected() const;

private:
  struct closer {
    void operator()(PGresult* result) const;
  };
  std::unique_ptr<PGresult, closer> result_;
};

// -- connection

/// The name of a node's sessions in Postgres, which cuts names after 63 bytes.
inline std::string postgres_name_of(const std::string& node) { return ("fairqueue " + node).substr(0, 63); }

/// A `postgres://…` URI, passed to libpq unchanged: several hosts and all libpq parameters are possible.
class postgres_url {
public:
  /// Throws std::invalid_argument; the message does not contain the text, which may hold a password.
  explicit postgres_url(std::string text, std::string session_name = "fairqueue");
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& session_name() const { return session_name_; }

private:
  std::string text_, session_name_;
};

/// Time limits.
struct postgres_patience {
  seconds connect{2}; ///< per host; whole seconds, a limit of libpq
  milliseconds lock{1'000};
  milliseconds write{5'000}; ///< per statement
  milliseconds load{30'000}; ///< per statement that reads an aggregate
  milliseconds idle_in_transaction{10'000}; ///< then the server ends a transaction whose client has gone
};

struct postgres_statement {
  const char* name;
  std::string sql;
};

class postgres_connection {
public:
  /// Connects and configures the session. Throws postgres_error.
  postgres_connection(const postgres_url& url, const postgres_patience& patience);
  ~postgres_connection();
  postgres_connection(const postgres_connection&) = delete;
  postgres_connection& operator=(const postgres_connection&) = delete;

  [[nodiscard]] const postgres_patience& patience() const { return patience_; }
  /// False if the server has closed the connection since the last call.
  bool is_alive();
  /// The server gave up waiting for its synchronous standby: a commit of this session that it confirmed may
  /// be on its own disk only.
  [[nodiscard]] bool is_unreplicated() const { return unreplicated_; }
  /// Runs a script: statements without parameters and results.
  void execute(const std::string& sql);
  /// Runs one statement in one round trip.
  postgres_result run(const postgres_statement& prepared, const postgres_parameters& parameters = {});
  postgres_result run(const std::string& sql, const postgres_parameters& parameters = {});
  /// Prepares all statements in one round trip.
  void prepare(std::span<const postgres_statement> statements);
  /// Rolls back an open transaction, if any. Does not throw; if it fails, the next call detects the lost
  /// connection.
  void abandon() noexcept;
  [[nodiscard]] PGconn* handle() const { return connection_; }

private:
  friend class postgres_pipeline;
  friend class postgres_transaction;
  static void on_notice(void* self, const PGresult* notice);
  [[noreturn]] void fail(const std::string& reason);
  [[noreturn]] void fail();
  void send_all();
  /// The next result; null at the end of a statement.
  PGresult* next();
  void wait(short events);

  PGconn* connection_ = nullptr;
  postgres_patience patience_;
  milliseconds statement_time_; ///< statement timeout currently set at the server
  bool lost_ = false; ///< the connection can no longer send or receive
  bool unreplicated_ = false;
};

/// One round trip: statements are sent together and answered in order. After a failed statement, the
/// following ones are not executed.
class postgres_pipeline {
public:
  explicit postgres_pipeline(postgres_connection& db);
  /// Reads the remaining answers, so that the connection is free again.
  ~postgres_pipeline();
  postgres_pipeline(const postgres_pipeline&) = delete;
  postgres_pipeline& operator=(const postgres_pipeline&) = delete;

  void prepare(const postgres_statement& statement);
  void send(const postgres_statement& prepared, const postgres_parameters& parameters = {});
  void send(const std::string& sql, const postgres_parameters& parameters = {});
  /// Sends the synchronization that ends the statements.
  void flush();
  /// Returns the answer to the next statement. Throws postgres_error if the statement failed.
  postgres_result receive();
  /// Passes the rows to `take` as they arrive, without storing them.
  template <class Take>
  void receive_each(Take take) {
    stream();
    while (const auto part = next_part())
      for (int i = 0; i < part->size(); ++i) take((*part)[i]);
  }

private:
  void stream();
  std::optional<postgres_result> next_part();
  void skip();

  postgres_connection& db_;
  std::size_t sent_ = 0; ///< statements without an answer yet
  bool flushed_ = false;
};

/// Rolls back an open transaction on destruction.
class postgres_rollback {
public:
  explicit postgres_rollback(postgres_connection& db) : db_(db) {}
  ~postgres_rollback() { db_.abandon(); }
  postgres_rollback(const postgres_rollback&) = delete;
  postgres_rollback& operator=(const postgres_rollback&) = delete;

private:
  postgres_connection& db_;
};

enum class postgres_access : std::uint8_t {
  read_write, ///< each statement sees everything committed before it
  snapshot, ///< read-only, with the state at the first statement
};

/// Rolls back on destruction unless committed. `statement_time`: time limit per statement.
class postgres_transaction {
public:
  postgres_transaction(postgres_connection& db, postgres_access access, milliseconds statement_time);
  ~postgres_transaction();
  postgres_transaction(const postgres_transaction&) = delete;
  postgres_transaction& operator=(const postgres_transaction&) = delete;
  void commit();

private:
  postgres_connection& db_;
};

/// The database's clock as an SQL expression: Unix milliseconds, advances with every use.
inline const std::string postgres_now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

} // namespace fq
