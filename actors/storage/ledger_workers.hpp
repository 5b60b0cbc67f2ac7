// SPDX-License-Identifier: Apache-2.0
// Routes to ledger workers: each aggregate has a fixed writer; reads without an owner go to a reader.
#pragma once
#include "actors/protocol/ledger_messages.hpp"

#include <utility>
#include <vector>

namespace fq {

class ledger_workers {
public:
  ledger_workers() = default;
  /// One worker for everything: an embedded ledger has one connection.
  explicit ledger_workers(ledger_worker_handle all) : writers_{all}, readers_{std::move(all)} {}
  ledger_workers(std::vector<ledger_worker_handle> writers, std::vector<ledger_worker_handle> readers) :
      writers_(std::move(writers)), readers_(std::move(readers)) {}

  [[nodiscard]] const ledger_worker_handle& of(aggregate_id aggregate) const {
    return writers_[number_of(aggregate) % writers_.size()];
  }
  /// `salt`: spreads the load.
  [[nodiscard]] const ledger_worker_handle& reader(std::size_t salt = 0) const {
    return readers_[salt % readers_.size()];
  }
  void clear() {
    writers_.clear();
    readers_.clear();
  }

private:
  std::vector<ledger_worker_handle> writers_, readers_;
};

} // namespace fq
