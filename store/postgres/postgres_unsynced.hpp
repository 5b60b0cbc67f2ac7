// SPDX-License-Identifier: Apache-2.0
// Transactions that need not wait for the disk. Used by leases, notices and tasks.
#pragma once
#include "store/postgres/postgres.hpp"

#include <optional>

namespace fq {

/// A transaction in one round trip that does not wait for the sync. For writes that are detected or repeated
/// if a crash of Postgres undoes them.
class postgres_unsynced {
public:
  explicit postgres_unsynced(postgres_connection& db) : db_(db), rollback_(db) {
    pipeline_.emplace(db);
    pipeline_->send("BEGIN");
    pipeline_->send("SET LOCAL synchronous_commit = off");
  }
  void send(const postgres_statement& statement, const postgres_parameters& parameters) {
    pipeline_->send(statement, parameters);
    ++unread_;
  }
  /// The answer to this statement, before the rest of the transaction is sent: one more round trip.
  postgres_result ask(const postgres_statement& statement, const postgres_parameters& parameters) {
    send(statement, parameters);
    pipeline_->flush();
    auto answer = last_answer();
    pipeline_.emplace(db_); // after the answer to its synchronization
    return answer;
  }
  /// Commits; returns the answer to the last statement.
  postgres_result run() {
    pipeline_->send("COMMIT");
    pipeline_->flush();
    auto answer = last_answer();
    pipeline_->receive();
    return answer;
  }

private:
  postgres_result last_answer() {
    for (; unread_ > 1; --unread_) pipeline_->receive();
    unread_ = 0;
    return pipeline_->receive();
  }

  postgres_connection& db_;
  postgres_rollback rollback_;
  std::optional<postgres_pipeline> pipeline_;
  int unread_ = 2; ///< sent, without an answer yet; at first BEGIN and SET
};

} // namespace fq
