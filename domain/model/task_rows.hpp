// SPDX-License-Identifier: Apache-2.0
// Finished background tasks: calls to gateways and mails.
#pragma once
#include "domain/base/time.hpp"
#include "domain/model/description.hpp"

#include <cstdint>
#include <string>

namespace fq {

/// Without ids of payments or people: it is for the staff of the installation.
struct task_row {
  std::uint64_t id = 0; ///< in the order of storing; the ledger gives it
  timestamp ended_at;
  std::string name; ///< "stripe refund", "mail"
  std::string result; ///< one word
  std::string detail; ///< for people; may be empty
  std::uint32_t attempts = 0; ///< 0: not counted
  milliseconds duration{0}; ///< with all attempts and pauses
  friend bool operator==(const task_row&, const task_row&) = default;
};
FQ_ROW(task_row, "task", installation, row_field("id", &row::id, counted),
       row_field("ended_at", &row::ended_at, once), row_field("name", &row::name, once),
       row_field("result", &row::result, once), row_field("detail", &row::detail, once),
       row_field("attempts", &row::attempts, once), row_field("duration", &row::duration, once))

} // namespace fq
