// SPDX-License-Identifier: Apache-2.0
// The order rules of the public log (docs/design/fairness.md), naively: finds what breaks them, by itself and
// against the rows of the ledger.
#pragma once
#include "domain/line/records.hpp"
#include "domain/model/sale_rows.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace fq::test {

class log_rules {
public:
  /// The order of the line within a class; null: the number.
  std::function<std::uint64_t(queue_number)> rank_of = nullptr;

  /// `row`: of an entry that joined.
  void take(const log_record& record, const std::function<const entry_row*(queue_number)>& row);
  /// Empty if each entry of these rows has the state that the log tells.
  [[nodiscard]] std::string differs(const std::map<queue_number, entry_row>& rows) const;
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] std::size_t admissions() const { return admissions_; }
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  enum class state { waiting, away, admitted, over };
  struct entry {
    place where;
    state is = state::waiting;
  };
  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = "record " + std::to_string(size_) + ": " + what;
  }
  entry* find(queue_number n, const std::set<state>& in);
  void use_hand(queue_number n);
  void one(const begin_record& r);
  void one(const joined_record&) {}
  void one(const changed_record& r);
  void one(const left_record& r);
  void one(const away_record& r);
  void one(const back_record& r);
  void one(const admitted_record& r);
  void one(const session_ended_record& r);
  void one(const hand_record& r);
  void one(const lobby_record&) {}
  void one(const closed_record&);
  void one(const drawn_record&) {}
  void join(const joined_record& r, const entry_row* row);

  std::map<queue_number, entry> entries_;
  std::multiset<queue_number> removals_; ///< hands that are not used yet
  std::uint64_t highest_ = 0, joined_before_ = 0, called_ = 0, accessed_ = 0;
  std::size_t size_ = 0, admissions_ = 0;
  bool is_paused_ = false, is_cancelled_ = false, is_operated_ = false;
  std::string wrong_;
};

} // namespace fq::test
