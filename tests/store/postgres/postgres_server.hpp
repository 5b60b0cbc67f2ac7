// SPDX-License-Identifier: Apache-2.0
// Postgres for tests: the server of FAIRQUEUE_TEST_POSTGRES, or a private one from scripts/services that ends
// with this process. Each ledger gets an empty schema.
#pragma once
#include "store/postgres/postgres.hpp"

#include <cstdint>
#include <string>

namespace fq::test {

/// A private server, started by the constructor and stopped by the destructor.
class private_postgres {
public:
  /// Throws std::runtime_error with the script's message.
  private_postgres();
  ~private_postgres();
  private_postgres(const private_postgres&) = delete;
  private_postgres& operator=(const private_postgres&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  /// Command of scripts/services: "down", "kill", "up", "restart", "pause" or "resume".
  void tell(const std::string& verb);

private:
  std::string folder_, url_;
};

/// The server shared by all tests of this process.
const std::string& shared_postgres_url();

/// Appends one parameter to `url`.
std::string with_parameter(const std::string& url, const std::string& name, const std::string& value);

/// An empty schema, dropped by the destructor with its content.
class postgres_schema {
public:
  explicit postgres_schema(const std::string& server = shared_postgres_url());
  ~postgres_schema();
  postgres_schema(const postgres_schema&) = delete;
  postgres_schema& operator=(const postgres_schema&) = delete;

  /// URL for a ledger in this schema.
  [[nodiscard]] const std::string& url() const { return url_; }
  /// A separate connection for the test.
  postgres_connection& hand() { return hand_; }
  void execute(const std::string& sql) { hand_.execute(sql); }
  std::int64_t integer(const std::string& sql);

private:
  std::string name_, url_;
  postgres_connection hand_;
};

/// URL of a schema with an empty ledger. All calls share one schema, and each call empties it, because the
/// migrations take longer than most tests.
const std::string& empty_ledger_url();

} // namespace fq::test
