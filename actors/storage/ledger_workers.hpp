// SPDX-License-Identifier: Apache-2.0
// Which ledger worker serves whom: an aggregate always the same writer, reads without an owner one of the
// readers.
#pragma once
#include "actors/protocol/protocol.hpp"

#include <utility>
#include <vector>

namespace fq {

class ledger_workers {
public:
  ledger_workers() = default;
  /// One worker for everything: embedded engines have one connection.
  explicit ledger_workers(ledger_worker_handle all) : writers_{all}, readers_{std::move(all)} {}
  ledger_workers(std::vector<ledger_worker_handle> writers, std::vector<ledger_worker_handle> readers) :
      writers_(std::move(writers)), readers_(std::move(readers)) {}

  [[nodiscard]] const ledger_worker_handle& of(aggregate_id aggregate) const {
    return writers_[number_of(aggregate) % writers_.size()];
  }
  /// `salt`: anything that spreads the asking.
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
