// SPDX-License-Identifier: Apache-2.0
// Transactions that need not wait for the disk. Used by leases and notices.
#pragma once
#include "store/postgres/postgres.hpp"

namespace fq {

/// A transaction in one round trip that is not waited for until it is on disk: for what is found out or done
/// once more if Postgres dies and undoes it. run() answers what its last statement does.
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
