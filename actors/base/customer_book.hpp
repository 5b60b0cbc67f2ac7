// SPDX-License-Identifier: Apache-2.0
// The customers of accounts, by id and by address. Accounts alone changes it and reads it without a lock.
// Other threads ask it for an address, which spares a checkout the question to accounts: they see an erasure
// as soon as it is decided, before its commit. So an erased customer cannot check out.
#pragma once
#include "domain/base/mailbox.hpp"
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
  /// `merges`: all addresses of a mailbox are one customer.
  explicit customer_book(bool merges = false) : merges_{merges} {}

  /// The text whose hash is the customer's id.
  [[nodiscard]] std::string key_of(const std::string& email) const {
    return merges_ ? fq::mailbox_of(email) : email;
  }

  void load(const std::vector<customer_row>& rows) {
    customer_book loaded{merges_}; // others wait only for the exchange
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
    auto& row = *by_id_.at(id);
    row.language = in;
    return row;
  }
  /// Its row has `erased_address` from now on, which is returned.
  const customer_row& erase(const customer_id& id) {
    const std::scoped_lock held{lock_};
    auto& row = *by_id_.at(id);
    const auto known = by_email_.find(key_of(row.email));
    const bool is_first = known != by_email_.end() && &known->second == &row;
    auto node = by_email_.extract(is_first ? known->first : later_key(row));
    node.key() = node.mapped().email = erased_address(id);
    return by_email_.insert(std::move(node)).position->second;
  }

  /// Null: there is none.
  [[nodiscard]] const customer_row* find(const customer_id& id) const {
    const auto known = by_id_.find(id);
    return known == by_id_.end() ? nullptr : known->second;
  }
  [[nodiscard]] const customer_row* find(const std::string& email) const {
    const auto known = by_email_.find(key_of(email));
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
  /// Key of a mailbox's second account, made while `merges` was off. No sign-in reaches it now.
  [[nodiscard]] static std::string later_key(const customer_row& row) { return to_string(row.id); }

  void emplace(customer_row row) {
    const auto id = row.id;
    auto key = key_of(row.email);
    if (by_email_.contains(key)) key = later_key(row);
    by_id_[id] = &by_email_.emplace(std::move(key), std::move(row)).first->second;
  }

  mutable std::shared_mutex lock_; ///< held by accounts for a change, by others for a read
  bool merges_;
  std::unordered_map<std::string, customer_row> by_email_; ///< by key_of the address
  std::unordered_map<customer_id, customer_row*> by_id_; ///< nodes of by_email_
  bool is_loaded_ = false;
};

} // namespace fq
