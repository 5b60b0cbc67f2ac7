// SPDX-License-Identifier: Apache-2.0
// Where tests get Postgres from: the server of FAIRQUEUE_TEST_POSTGRES, or a private one that
// scripts/services starts and that ends with this process; and in it a fresh, empty schema for each ledger.
#pragma once
#include "store/postgres/postgres.hpp"

#include <cstdint>
#include <string>

namespace fq::test {

/// A private server: `start`ed once, told what to do, and gone with the object.
class private_postgres {
public:
  /// Throws std::runtime_error with what the script said.
  private_postgres();
  ~private_postgres();
  private_postgres(const private_postgres&) = delete;
  private_postgres& operator=(const private_postgres&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  /// "down", "kill", "up", "restart", "pause" or "resume".
  void tell(const std::string& verb);

private:
  std::string folder_, url_;
};

/// The server that all tests of this process share.
const std::string& shared_postgres_url();

/// `url` with one more parameter.
std::string with_parameter(const std::string& url, const std::string& name, const std::string& value);

/// An empty schema, dropped at the end with what is in it.
class postgres_schema {
public:
  explicit postgres_schema(const std::string& server = shared_postgres_url());
  ~postgres_schema();
  postgres_schema(const postgres_schema&) = delete;
  postgres_schema& operator=(const postgres_schema&) = delete;

  /// Where a ledger finds it.
  [[nodiscard]] const std::string& url() const { return url_; }
  /// A hand at the database, beside the ledger.
  postgres_connection& hand() { return hand_; }
  void execute(const std::string& sql) { hand_.execute(sql); }
  std::int64_t integer(const std::string& sql);

private:
  std::string name_, url_;
  postgres_connection hand_;
};

} // namespace fq::test
