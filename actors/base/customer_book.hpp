// SPDX-License-Identifier: Apache-2.0
// The customers of accounts, by id and by address. Accounts alone changes it and reads it without a lock.
// Other threads ask it for an address, which spares a checkout the question to accounts: they see an erasure
// as soon as it is decided, before its commit. So an erased customer cannot check out.
#pragma once
#include "domain/model/rows.hpp"

#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fq {

class customer_book {
public:
  void load(const std::vector<customer_row>& rows) {
    customer_book loaded; // others wait only for the exchange
    for (const auto& row : rows) loaded.emplace(row);
    const std::scoped_lock held{lock_};
    by_id_.swap(loaded.by_id_);
    by_email_.swap(loaded.by_email_);
    is_loaded_ = true;
  }
  void add(customer_row row) {
    const std::scoped_lock held{lock_};
    emplace(std::move(row));
  }
  const customer_row& set_language(const customer_id& id, language in) {
    const std::scoped_lock held{lock_};
    auto& row = by_email_.at(by_id_.at(id)->email);
    row.language = in;
    return row;
  }
  /// Its row has `erased_address` from now on, which is returned.
  const customer_row& erase(const customer_id& id) {
    const std::scoped_lock held{lock_};
    auto node = by_email_.extract(by_id_.at(id)->email);
    node.key() = node.mapped().email = erased_address(id);
    return by_email_.insert(std::move(node)).position->second;
  }

  /// Null: there is none.
  [[nodiscard]] const customer_row* find(const customer_id& id) const {
    const auto known = by_id_.find(id);
    return known == by_id_.end() ? nullptr : known->second;
  }
  [[nodiscard]] const customer_row* find(const std::string& email) const {
    const auto known = by_email_.find(email);
    return known == by_email_.end() ? nullptr : &known->second;
  }

  struct mailbox {
    std::string address; ///< empty: there is no such customer
    fq::language language = fq::language::en;
  };
  /// For any thread, which never waits. Nothing before the first load, and during a change.
  [[nodiscard]] std::optional<mailbox> mailbox_of(const customer_id& id) const {
    const std::shared_lock held{lock_, std::try_to_lock};
    if (!held || !is_loaded_) return std::nullopt;
    const auto* row = find(id);
    return row == nullptr ? mailbox{} : mailbox{row->email, row->language};
  }

private:
  void emplace(customer_row row) {
    const auto id = row.id;
    auto email = row.email;
    by_id_[id] = &by_email_.emplace(std::move(email), std::move(row)).first->second;
  }

  mutable std::shared_mutex lock_; ///< held by accounts for a change, by others for a read
  std::unordered_map<std::string, customer_row> by_email_;
  std::unordered_map<customer_id, const customer_row*> by_id_; ///< nodes of by_email_
  bool is_loaded_ = false;
};

} // namespace fq
