// SPDX-License-Identifier: Apache-2.0
// The SQLite ledger's pictures, public logs, logs that it cosigns, and tasks.
#include "store/sqlite/sqlite_connection.hpp"

namespace fq {

bool sqlite_ledger::store_picture(const picture_row& picture) {
  return connection_->write([&] { return connection_->notices.pictures.store(picture); });
}

std::vector<char> sqlite_ledger::find_picture(const std::string& id, picture_size size) {
  return connection_->read([&](sqlite_reader&) { return connection_->reading.pictures.find(id, size); });
}

std::optional<witnessed_row> sqlite_ledger::find_witnessed(const std::string& id) {
  return connection_->guarded([&] { return connection_->notices.witness.find(id); });
}

bool sqlite_ledger::store_witnessed(const witnessed_row& next, const witnessed_before& before) {
  return connection_->write([&] { return connection_->notices.witness.store(next, before); });
}

std::vector<task_row> sqlite_ledger::keep_tasks(std::span<const task_row> finished, std::uint64_t after) {
  auto& tasks = connection_->notices.tasks;
  if (finished.empty()) return connection_->guarded([&] { return tasks.after(after); });
  return connection_->write([&] {
    tasks.store(finished);
    return tasks.after(after);
  });
}

log_rows sqlite_ledger::read_log(aggregate_id aggregate, const log_wish& wish) {
  return connection_->read([&](sqlite_reader&) { return connection_->reading.logs.read(aggregate, wish); });
}

} // namespace fq
