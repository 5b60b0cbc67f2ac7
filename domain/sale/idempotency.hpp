// SPDX-License-Identifier: Apache-2.0
// Idempotency records: answers by (principal, route, key). The owner checks them before it decides, and
// commits the answer with its effect. 503s and validation failures are never stored.
#pragma once
#include "domain/model/change.hpp"
#include "domain/sale/limits.hpp"

#include <deque>
#include <map>

namespace fq {

enum class idempotency_verdict : std::uint8_t { fresh, replay, other_body };

class idempotency_index {
public:
  void load(idempotency_row row);
  /// On `replay`, `*answer` is the stored answer.
  idempotency_verdict look_up(const digest128& key, const digest128& body, timestamp now,
                              const std::vector<char>** answer) const;
  void store(idempotency_row row, changes& out);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

private:
  void keep(idempotency_row row);
  std::map<digest128, idempotency_row> rows_;
  std::deque<std::pair<timestamp, digest128>>
    by_age_; ///< may contain a key twice if it was reused after its answer expired
};

} // namespace fq
