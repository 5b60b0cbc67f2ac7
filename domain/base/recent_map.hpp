// SPDX-License-Identifier: Apache-2.0
// A map of at most `most` entries: a new one evicts the entry that was written longest ago.
#pragma once
#include <cstddef>
#include <iterator>
#include <list>
#include <unordered_map>
#include <utility>

namespace fq {

template <class Key, class Value>
class recent_map {
public:
  explicit recent_map(std::size_t most) : most_(most) {}

  /// Null if absent. Reading does not make an entry newer.
  [[nodiscard]] const Value* find(const Key& key) const {
    const auto known = places_.find(key);
    return known == places_.end() ? nullptr : &known->second->second;
  }

  void put(const Key& key, Value value) {
    erase(key);
    if (most_ == 0) return;
    if (places_.size() >= most_) erase(Key{by_age_.front().first});
    by_age_.emplace_back(key, std::move(value));
    places_.emplace(key, std::prev(by_age_.end()));
  }

  void erase(const Key& key) {
    const auto known = places_.find(key);
    if (known == places_.end()) return;
    by_age_.erase(known->second);
    places_.erase(known);
  }

  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

private:
  using entries = std::list<std::pair<Key, Value>>;
  std::size_t most_;
  entries by_age_; ///< oldest first
  std::unordered_map<Key, typename entries::iterator> places_;
};

} // namespace fq
