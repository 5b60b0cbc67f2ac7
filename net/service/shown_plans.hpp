// SPDX-License-Identifier: Apache-2.0
// The seat plans that were shown last, as files: making one takes up to 100 ms. Shared by all io threads,
// thread-safe.
#pragma once
#include "domain/base/recent_map.hpp"
#include "net/service/limits.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace fq::net {

class shown_plans {
public:
  struct file {
    std::string digest; ///< of the plan
    std::shared_ptr<const std::string> text;
  };

  /// `key`: event and form. Nothing: not kept.
  [[nodiscard]] std::optional<file> find(const std::string& key) const {
    const std::lock_guard guard{lock_};
    const auto* known = files_.find(key);
    return known != nullptr ? std::optional{*known} : std::nullopt;
  }
  void put(const std::string& key, file shown) {
    const std::lock_guard guard{lock_};
    files_.put(key, std::move(shown));
  }

private:
  mutable std::mutex lock_;
  recent_map<std::string, file> files_{shown_plans_max};
};

} // namespace fq::net
