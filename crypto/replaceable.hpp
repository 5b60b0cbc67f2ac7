// SPDX-License-Identifier: Apache-2.0
// A value that one thread replaces while others read it: keys that are read anew. The lock is held for a few
// nanoseconds.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace fq {

template <class T>
class replaceable {
public:
  explicit replaceable(T first) : value_{std::make_shared<const T>(std::move(first))} {}

  [[nodiscard]] std::shared_ptr<const T> get() const {
    const std::lock_guard guard{lock_};
    return value_;
  }
  void set(T next) {
    auto value = std::make_shared<const T>(std::move(next));
    const std::lock_guard guard{lock_};
    value_.swap(value);
  }

private:
  mutable std::mutex lock_;
  std::shared_ptr<const T> value_;
};

} // namespace fq
