// SPDX-License-Identifier: Apache-2.0
// The names that sessions of a standalone queue have locked, by name and by session. Rows only;
// sale_locks.cpp has the rules.
#pragma once
#include "domain/model/rows.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fq {

class session_locks {
public:
  void add(session_lock_row row) {
    of_session_[row.number].push_back(row.name);
    by_name_.emplace(row.name, row);
  }
  void remove(const std::string& name) {
    const auto known = by_name_.find(name);
    if (known == by_name_.end()) return;
    const auto own = of_session_.find(known->second.number);
    std::erase(own->second, name);
    if (own->second.empty()) of_session_.erase(own);
    by_name_.erase(known);
  }
  /// Null: it is free.
  [[nodiscard]] const session_lock_row* find(std::string_view name) const {
    const auto known = by_name_.find(name);
    return known == by_name_.end() ? nullptr : &known->second;
  }
  /// In the order in which they were locked, after a load by name.
  [[nodiscard]] std::vector<std::string> of(queue_number session) const {
    const auto known = of_session_.find(session);
    return known == of_session_.end() ? std::vector<std::string>{} : known->second;
  }
  /// By name.
  [[nodiscard]] const std::map<std::string, session_lock_row, std::less<>>& all() const { return by_name_; }

private:
  std::map<std::string, session_lock_row, std::less<>> by_name_;
  std::unordered_map<queue_number, std::vector<std::string>> of_session_; ///< without empty ones
};

} // namespace fq
