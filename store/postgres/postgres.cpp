// SPDX-License-Identifier: Apache-2.0
// The calls into libpq. The socket is non-blocking and every wait is bounded, so that a server that stops
// answering is detected here.
#include "store/postgres/postgres.hpp"

#include "store/postgres/limits.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <libpq-fe.h>
#include <poll.h>

namespace fq {
namespace {

using postgres_limits::grace;

bool has_class(const std::string& sqlstate, std::string_view two) { return sqlstate.starts_with(two); }

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text ? text : "";
}

/// libpq ends its messages with a line break.
std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

/// The SQLSTATE and the message, which names constraints. Omits the detail, which repeats values.
postgres_error error_of(const PGresult* result, const PGconn* connection) {
  const auto sqlstate = field(result, PG_DIAG_SQLSTATE);
  const auto severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  const bool lost = sqlstate.empty() || severity != "ERROR" || PQstatus(connection) == CONNECTION_BAD;
  const auto message =
    sqlstate.empty() ? trimmed(PQresultErrorMessage(result)) : field(result, PG_DIAG_MESSAGE_PRIMARY);
  return {sqlstate, "postgres: " + message + (sqlstate.empty() ? "" : " (" + sqlstate + ")"), lost};
}

std::uint64_t get_big_endian(const char* in, int length) {
  std::uint64_t value = 0;
  for (int i = 0; i < length; ++i) value = value << 8 | static_cast<unsigned char>(in[i]);
  return value;
}

void put_big_endian(std::string& out, std::uint64_t value, int length) {
  for (int shift = (length - 1) * 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void set_big_endian(std::string& out, std::size_t at, std::uint32_t value) {
  for (int i = 3; i >= 0; --i, value >>= 8) out[at + static_cast<std::size_t>(i)] = static_cast<char>(value);
}

} // namespace

postgres_trouble postgres_error::trouble() const {
  using enum postgres_trouble;
  if (lost_connection_) return outage;
  if (sqlstate_ == "40001" || sqlstate_ == "40P01") return collided;
  if (sqlstate_ == "55P03" || sqlstate_ == "57014") return waited;
  // 21 the same row twice, 22 a value out of range or wrongly encoded, 23 a constraint, 54 too large for an
  // index, FQ001 another state than expected.
  for (const auto* refusal : {"21", "22", "23", "54", "FQ"})
    if (has_class(sqlstate_, refusal)) return refused;
  return outage;
}

// -- parameters

namespace postgres_wire {

void put_integer(std::string& out, std::int64_t value) {
  put_big_endian(out, static_cast<std::uint64_t>(value), 8);
}

void put_words(std::string& out, std::uint64_t first, std::uint64_t second) {
  put_big_endian(out, first, 8);
  put_big_endian(out, second, 8);
}

void put_length(std::string& out, std::size_t length) { put_big_endian(out, length, 4); }

} // namespace postgres_wire

namespace {

/// Offset of the element count in an array's header.
constexpr std::size_t place_of_count = 12;

} // namespace

/// Writes the header: dimensions, "may hold nulls", element type, element count, first index.
void postgres_array::begin(postgres_wire::type element) {
  if (!bytes_.empty()) return;
  for (const std::uint32_t word : {1u, 1u, static_cast<std::uint32_t>(element), 0u, 1u})
    put_big_endian(bytes_, word, 4);
}

void postgres_array::end(std::size_t start) {
  set_big_endian(bytes_, start, static_cast<std::uint32_t>(bytes_.size() - start - 4));
  ++count_;
}

std::string postgres_array::bytes() && {
  set_big_endian(bytes_, place_of_count, count_);
  return std::move(bytes_);
}

postgres_parameters postgres_columns::parameters() && {
  postgres_parameters result;
  for (auto& array : columns_) result.add(std::move(array));
  return result;
}

// -- results

std::int64_t postgres_row::integer(int column) const {
  const int length = PQgetlength(result_, row_, column);
  const auto value = get_big_endian(PQgetvalue(result_, row_, column), length);
  const int unused = 64 - 8 * length; // smallint, integer and bigint are signed
  return length == 0 ? 0 : static_cast<std::int64_t>(value << unused) >> unused;
}

bool postgres_row::boolean(int column) const { return *PQgetvalue(result_, row_, column) != 0; }

std::string postgres_row::text(int column) const {
  return {PQgetvalue(result_, row_, column), static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

std::vector<char> postgres_row::blob(int column) const {
  const char* data = PQgetvalue(result_, row_, column);
  return {data, data + PQgetlength(result_, row_, column)};
}

uuid postgres_row::id(int column) const {
  const auto words = digest(column);
  return {words[0], words[1]};
}

digest128 postgres_row::digest(int column) const {
  if (is_null(column)) return {};
  const char* data = PQgetvalue(result_, row_, column);
  return {get_big_endian(data, 8), get_big_endian(data + 8, 8)};
}

bool postgres_row::is_null(int column) const { return PQgetisnull(result_, row_, column) != 0; }

void postgres_result::closer::operator()(PGresult* result) const { PQclear(result); }

postgres_result::postgres_result(PGresult* result) : result_(result) {}

int postgres_result::size() const { return PQntuples(result_.get()); }

std::size_t postgres_result::affected() const {
  return std::strtoull(PQcmdTuples(result_.get()), nullptr, 10);
}

// -- connection

namespace {

/// False if a password contains an unescaped '@' or '/': libpq would take the rest for a host or database,
/// and its messages would show it.
bool is_escaped(std::string_view uri) {
  uri.remove_prefix(uri.find("://") + 3);
  uri = uri.substr(0, uri.find('?'));
  const auto at = uri.find('@');
  return at == uri.rfind('@') && (at == std::string_view::npos || at < uri.find('/'));
}

std::string in_milliseconds(milliseconds time) { return std::to_string(time.count()); }

/// Statements find their rows by key. Plans may be made while the tables are empty and are then kept. So
/// scans and hashes are disabled where possible.
std::string session_settings(const postgres_patience& patience) {
  return "SET synchronous_commit = on;" // synced, also by the synchronous standby, before the answer (I7)
         "SET lock_timeout = "
         + in_milliseconds(patience.lock)
         + ";"
           "SET statement_timeout = "
         + in_milliseconds(patience.write)
         + ";"
           "SET idle_in_transaction_session_timeout = "
         + in_milliseconds(patience.idle_in_transaction)
         + ";"
           // A reader that stopped must not keep its locks: the server waits for it in a socket write, where
           // no other limit applies.
           "SET tcp_user_timeout = "
         + in_milliseconds(patience.idle_in_transaction)
         + ";"
           "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;"
           "SET default_transaction_isolation = 'read committed';"
           "SET plan_cache_mode = force_generic_plan;"
           "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off";
}

/// Later parameters win: the URI can override those before it, not those after it.
PGconn* connect(const postgres_url& url, const postgres_patience& patience) {
  const auto connect_timeout = std::to_string(patience.connect.count());
  const auto silence = in_milliseconds(patience.write + grace);
  const std::pair<const char*, const char*> settings[] = {
    {"target_session_attrs", "read-write"}, // of several hosts, the primary
    {"keepalives_idle", "5"},
    {"keepalives_interval", "2"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", silence.c_str()},
    {"dbname", url.text().c_str()},
    {"application_name", url.session_name().c_str()}, // see ledger::end_leases
    {"connect_timeout", connect_timeout.c_str()},
    {"client_encoding", "UTF8"},
    {nullptr, nullptr},
  };
  std::vector<const char*> keywords, values;
  for (const auto& [keyword, value] : settings) {
    keywords.push_back(keyword);
    values.push_back(value);
  }
  return PQconnectdbParams(keywords.data(), values.data(), /* expand_dbname */ 1);
}

} // namespace

postgres_url::postgres_url(std::string text, std::string session_name) :
    text_(std::move(text)), session_name_(std::move(session_name)) {
  char* message = nullptr;
  auto* parsed = PQconninfoParse(text_.c_str(), &message);
  PQfreemem(message); // it may contain the text
  PQconninfoFree(parsed);
  const bool is_uri = text_.starts_with("postgres://") || text_.starts_with("postgresql://");
  if (!parsed || !is_uri || !is_escaped(text_))
    throw std::invalid_argument("the ledger's url must be postgres://user:password@host:port/database with "
                                "the password percent-encoded");
}

postgres_connection::postgres_connection(const postgres_url& url, const postgres_patience& patience) :
    connection_(connect(url, patience)), patience_(patience), statement_time_(patience.write) {
  try {
    if (PQstatus(connection_) != CONNECTION_OK) fail();
    PQsetNoticeReceiver(connection_, on_notice, this); // libpq would print notices
    if (PQsetnonblocking(connection_, 1) != 0) fail();
    execute(session_settings(patience));
  } catch (...) {
    PQfinish(connection_);
    throw;
  }
}

postgres_connection::~postgres_connection() { PQfinish(connection_); }

/// A cancelled wait for the standby (pg_cancel_backend) ends in a COMMIT without error, and a warning. Its
/// text is translated and its SQLSTATE is general, so the function in the server tells it.
void postgres_connection::on_notice(void* self, const PGresult* notice) {
  if (field(notice, PG_DIAG_SOURCE_FUNCTION) == "SyncRepWaitForLSN")
    static_cast<postgres_connection*>(self)->unreplicated_ = true;
}

/// Marks the connection as lost and throws.
void postgres_connection::fail(const std::string& reason) {
  lost_ = true;
  throw postgres_error("", "postgres: " + reason, true);
}

/// With libpq's error message.
void postgres_connection::fail() { fail(trimmed(PQerrorMessage(connection_))); }

/// Between calls the server sends only a close or a changed setting.
bool postgres_connection::is_alive() {
  pollfd socket{PQsocket(connection_), POLLIN, 0};
  while (!lost_ && ::poll(&socket, 1, 0) > 0)
    lost_ = PQconsumeInput(connection_) == 0 || PQstatus(connection_) != CONNECTION_OK;
  return !lost_;
}

/// Waits until the socket is ready, with a limit: a paused server or a cut network sends nothing.
void postgres_connection::wait(short events) {
  pollfd socket{PQsocket(connection_), events, 0};
  const auto limit = static_cast<int>((statement_time_ + grace).count());
  const int ready = ::poll(&socket, 1, limit);
  if (ready == 0) fail("no answer for " + std::to_string(limit) + " ms");
  if (ready < 0 && errno != EINTR) fail(std::strerror(errno));
}

void postgres_connection::send_all() {
  for (;;) {
    const int left = PQflush(connection_);
    if (left < 0) fail();
    if (left == 0) return;
    wait(POLLIN | POLLOUT); // the server may block until its output is read
    if (PQconsumeInput(connection_) == 0) fail();
  }
}

PGresult* postgres_connection::next() {
  while (PQisBusy(connection_)) {
    wait(POLLIN);
    if (PQconsumeInput(connection_) == 0) fail();
  }
  return PQgetResult(connection_);
}

void postgres_connection::execute(const std::string& sql) {
  if (PQsendQuery(connection_, sql.c_str()) == 0) fail();
  send_all();
  std::optional<postgres_error> failure;
  while (auto* raw = next()) {
    const postgres_result result(raw);
    if (PQresultStatus(raw) == PGRES_FATAL_ERROR) failure = error_of(raw, connection_);
    if (failure && failure->lost_connection()) break;
  }
  if (!failure) return;
  lost_ = failure->lost_connection();
  throw *failure;
}

postgres_result postgres_connection::run(const postgres_statement& prepared,
                                         const postgres_parameters& parameters) {
  postgres_pipeline pipeline(*this);
  pipeline.send(prepared, parameters);
  pipeline.flush();
  return pipeline.receive();
}

postgres_result postgres_connection::run(const std::string& sql, const postgres_parameters& parameters) {
  postgres_pipeline pipeline(*this);
  pipeline.send(sql, parameters);
  pipeline.flush();
  return pipeline.receive();
}

void postgres_connection::prepare(std::span<const postgres_statement> statements) {
  postgres_pipeline pipeline(*this);
  for (const auto& s : statements) pipeline.prepare(s);
  pipeline.flush();
  for (std::size_t i = 0; i < statements.size(); ++i) pipeline.receive();
}

void postgres_connection::abandon() noexcept {
  if (lost_ || PQtransactionStatus(connection_) == PQTRANS_IDLE) return;
  try {
    execute("ROLLBACK");
  } catch (const postgres_error&) {
    // Lost: the server rolls back automatically.
  }
}

// -- round trips

namespace {

/// Parameters in libpq's format.
struct bound {
  explicit bound(const postgres_parameters& parameters) : formats(parameters.values().size(), binary) {
    for (const auto& v : parameters.values()) {
      values.push_back(v.data());
      lengths.push_back(static_cast<int>(v.size()));
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(values.size()); }

  static constexpr int binary = 1;
  std::vector<const char*> values;
  std::vector<int> lengths, formats;
};

} // namespace

postgres_pipeline::postgres_pipeline(postgres_connection& db) : db_(db) {
  if (PQenterPipelineMode(db_.connection_) == 0) db_.fail();
}

postgres_pipeline::~postgres_pipeline() {
  try {
    if (!flushed_ && !db_.lost_) flush();
    while (sent_ > 0 && !db_.lost_) skip();
    if (db_.lost_) return;
    PQclear(db_.next()); // the synchronization result
    PQexitPipelineMode(db_.connection_);
  } catch (const postgres_error&) {
    // The connection is lost; the next call detects that.
  }
}

void postgres_pipeline::prepare(const postgres_statement& statement) {
  if (PQsendPrepare(db_.connection_, statement.name, statement.sql.c_str(), 0, nullptr) == 0) db_.fail();
  ++sent_;
}

void postgres_pipeline::send(const postgres_statement& prepared, const postgres_parameters& parameters) {
  const bound p(parameters);
  if (PQsendQueryPrepared(db_.connection_, prepared.name, p.count(), p.values.data(), p.lengths.data(),
                          p.formats.data(), bound::binary)
      == 0)
    db_.fail();
  ++sent_;
}

void postgres_pipeline::send(const std::string& sql, const postgres_parameters& parameters) {
  const bound p(parameters);
  if (PQsendQueryParams(db_.connection_, sql.c_str(), p.count(), nullptr, p.values.data(), p.lengths.data(),
                        p.formats.data(), bound::binary)
      == 0)
    db_.fail();
  ++sent_;
}

void postgres_pipeline::flush() {
  flushed_ = true;
  if (PQpipelineSync(db_.connection_) == 0) db_.fail();
  db_.send_all();
}

postgres_result postgres_pipeline::receive() {
  auto result = next_part();
  if (!result) db_.fail();
  while (next_part()) {}
  return std::move(*result);
}

void postgres_pipeline::stream() { PQsetSingleRowMode(db_.connection_); }

std::optional<postgres_result> postgres_pipeline::next_part() {
  auto* raw = db_.next();
  if (!raw) {
    --sent_;
    return std::nullopt;
  }
  postgres_result part(raw);
  const auto status = PQresultStatus(raw);
  if (status != PGRES_FATAL_ERROR && status != PGRES_PIPELINE_ABORTED) return part;
  const auto error = error_of(raw, db_.connection_);
  db_.lost_ = status == PGRES_FATAL_ERROR && error.lost_connection();
  if (!db_.lost_) skip();
  throw error;
}

/// Discards the remaining results of the current statement.
void postgres_pipeline::skip() {
  while (auto* raw = db_.next()) PQclear(raw);
  --sent_;
}

// -- transactions

postgres_transaction::postgres_transaction(postgres_connection& db, postgres_access access,
                                           milliseconds statement_time) :
    db_(db) {
  const std::string begin =
    access == postgres_access::snapshot ? "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;" : "BEGIN;";
  db_.statement_time_ = statement_time;
  db_.execute(begin + "SET LOCAL statement_timeout = " + in_milliseconds(statement_time));
}

postgres_transaction::~postgres_transaction() {
  db_.abandon();
  db_.statement_time_ = db_.patience_.write;
}

void postgres_transaction::commit() { db_.execute("COMMIT"); }

} // namespace fq
