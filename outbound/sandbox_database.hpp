// SPDX-License-Identifier: Apache-2.0
// Storage of the sandbox gateway: reads and writes rows, decides nothing. Used only by sandbox_gateway.cpp,
// which serializes all calls. One connection writes and checkpoints: SQLite 3.40.1 can corrupt a WAL that two
// connections reset at the same time.
#pragma once

#include "domain/base/time.hpp"
#include "outbound/sandbox_gateway.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace fq {

struct sandbox_charge {
  std::string reference;
  gateway_money money;
  std::string email;
  std::string callback_url;
  charge_status status = charge_status::unpaid;
};

struct sandbox_refund {
  std::string refund_id;
  std::string reference;
  std::int64_t amount = 0;
};

/// All members throw sandbox_error when SQLite fails. Not thread-safe.
class sandbox_database {
public:
  explicit sandbox_database(const std::filesystem::path& file);
  ~sandbox_database();
  sandbox_database(const sandbox_database&) = delete;
  sandbox_database& operator=(const sandbox_database&) = delete;

  void begin();
  void commit();
  void rollback() noexcept;

  [[nodiscard]] std::optional<sandbox_charge> find_charge(const std::string& reference);
  void insert_charge(const sandbox_charge& charge, timestamp now);
  void set_charge_status(const std::string& reference, charge_status status, timestamp now);

  [[nodiscard]] std::optional<sandbox_refund> find_refund(const std::string& refund_id);
  [[nodiscard]] std::int64_t refunded_total(const std::string& reference);
  void insert_refund(const sandbox_refund& refund, timestamp now);

  void append_ledger(const sandbox_ledger_row& row);
  [[nodiscard]] std::vector<sandbox_ledger_row> ledger();

  void insert_webhook(const std::string& body, timestamp due);
  /// Without signatures, which the gateway adds.
  [[nodiscard]] std::vector<sandbox_webhook> due_webhooks(timestamp now, std::size_t limit);
  [[nodiscard]] std::optional<timestamp> next_due();
  [[nodiscard]] std::optional<std::uint32_t> webhook_attempts(std::int64_t number);
  void postpone_webhook(std::int64_t number, std::uint32_t attempts, timestamp due);
  void delete_webhook(std::int64_t number);

private:
  class statement;
  statement prepare(const char* sql);
  void execute(const char* sql);
  void create_or_check_schema();
  void close() noexcept;

  std::string file_;
  sqlite3* db_ = nullptr;
  std::vector<std::pair<const char*, sqlite3_stmt*>> prepared_;
};

} // namespace fq
