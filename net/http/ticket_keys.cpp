// SPDX-License-Identifier: Apache-2.0
#include "net/http/ticket_keys.hpp"

#include <openssl/crypto.h>

#include <algorithm>

namespace fq::net {

void ticket_keys::rotate(milliseconds now) {
  while (!keys_.empty() && now - keys_.back().made >= opens_for) {
    OPENSSL_cleanse(&keys_.back().key, sizeof(ticket_key));
    keys_.pop_back();
  }
  if (!keys_.empty() && now - keys_.front().made < seals_for) return;
  auto& made = keys_.emplace_front();
  made.made = now;
  fill(made.key.name);
  fill(made.key.cipher);
  fill(made.key.mac);
}

ticket_key ticket_keys::sealing() {
  const std::lock_guard guard{lock_};
  rotate(env_.steady_now());
  return keys_.front().key;
}

std::optional<ticket_keys::found> ticket_keys::opening(std::span<const unsigned char, 16> name) {
  const std::lock_guard guard{lock_};
  rotate(env_.steady_now());
  const auto known =
    std::ranges::find_if(keys_, [&](const dated& k) { return std::ranges::equal(k.key.name, name); });
  if (known == keys_.end()) return std::nullopt;
  return found{known->key, known != keys_.begin()};
}

} // namespace fq::net
