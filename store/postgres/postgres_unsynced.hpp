// SPDX-License-Identifier: Apache-2.0
// Transactions that need not wait for the disk. Used by leases and notices.
#pragma once
#include "store/postgres/postgres.hpp"

namespace fq {

/// A transaction in one round trip that does not wait for the sync. For writes that are detected or repeated
/// if a crash of Postgres undoes them. run() returns the result of the last statement.
class postgres_unsynced {
public:
  explicit postgres_unsynced(postgres_connection& db) : rollback_(db), pipeline_(db) {
    pipeline_.send("BEGIN");
    pipeline_.send("SET LOCAL synchronous_commit = off");
  }
  void send(const postgres_statement& statement, const postgres_parameters& parameters) {
    pipeline_.send(statement, parameters);
    ++statements_;
  }
  postgres_result run() {
    pipeline_.send("COMMIT");
    pipeline_.flush();
    for (int i = 0; i < statements_ + 1; ++i) pipeline_.receive();
    auto answer = pipeline_.receive();
    pipeline_.receive();
    return answer;
  }

private:
  postgres_rollback rollback_;
  postgres_pipeline pipeline_;
  int statements_ = 0;
};

} // namespace fq
