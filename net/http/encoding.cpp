// SPDX-License-Identifier: Apache-2.0
#include "net/http/encoding.hpp"

#include "net/http/http.hpp"
#include "net/http/preferences.hpp"

namespace fq::net {
namespace {

/// Weight of a coding; 0 if neither its name nor "*" is listed.
int weight_of(const std::vector<preference>& all, std::string_view name) {
  int by_star = 0;
  for (const auto& p : all) {
    if (same_text(p.name, name)) return p.weight;
    if (p.name == "*") by_star = p.weight;
  }
  return by_star;
}

} // namespace

std::string_view name_of(coding c) {
  switch (c) {
    case coding::identity: return "identity";
    case coding::gzip: return "gzip";
    case coding::brotli: return "br";
  }
  return {};
}

coding choose_coding(std::string_view accept_encoding, std::span<const coding> ours) {
  const auto all = read_preferences(accept_encoding);
  auto best = coding::identity;
  int best_weight = 0;
  for (const auto c : ours) {
    const auto weight = weight_of(all, name_of(c));
    if (weight > best_weight) {
      best = c;
      best_weight = weight;
    }
  }
  return best;
}

} // namespace fq::net
