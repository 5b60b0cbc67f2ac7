// SPDX-License-Identifier: Apache-2.0
#include "fair/draw.hpp"

#include "fair/bytes.hpp"

#include <algorithm>
#include <compare>

namespace fq {
namespace {

struct lot {
  sha256_digest value{};
  queue_number drawn_for{}; ///< the entry, or its party
  queue_number number{};
  friend auto operator<=>(const lot&, const lot&) = default;
};

} // namespace

std::string entrant_leaf(const place& p, const sha256_digest& commitment) {
  std::string bytes;
  append_number(bytes, value_of(p.number), 8);
  append_number(bytes, p.priority_class, 1);
  append_number(bytes, p.opens, 8);
  append_number(bytes, value_of(p.party), 8);
  append_bytes(bytes, commitment);
  return bytes;
}

std::string beacon_value(beacon_kind kind, std::string_view beacon) {
  if (kind != beacon_kind::drand) return std::string{beacon};
  std::string value;
  append_bytes(value, sha256(beacon));
  return value;
}

std::vector<queue_number> draw_order(const sha256_digest& seed, const tree_hash& root,
                                     std::string_view beacon, std::span<const entrant> entrants) {
  std::string key;
  append_bytes(key, seed);
  append_bytes(key, root);
  key += beacon;
  const hmac_sha256_key mac{view_bytes(key)};
  std::vector<lot> lots;
  lots.reserve(entrants.size());
  std::string message;
  for (const auto& e : entrants) {
    const auto drawn_for = e.party == queue_number{} ? e.number : e.party;
    message.clear();
    append_number(message, value_of(drawn_for), 8);
    lots.push_back({mac(message), drawn_for, e.number});
  }
  std::ranges::sort(lots);
  std::vector<queue_number> order;
  order.reserve(lots.size());
  for (const auto& l : lots) order.push_back(l.number);
  return order;
}

} // namespace fq
