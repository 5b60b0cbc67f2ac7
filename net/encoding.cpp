// SPDX-License-Identifier: Apache-2.0
#include "net/encoding.hpp"

#include "net/http.hpp"

#include <algorithm>

namespace fq::net {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Cuts the part before `separator` off the front of `rest`.
std::string_view take(std::string_view& rest, char separator) {
  const auto end = std::min(rest.find(separator), rest.size());
  const auto part = trimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

/// "q=0", "q=0.000": not acceptable. Anything else is.
bool is_refusal(std::string_view weight) {
  return (weight.starts_with("q=0") || weight.starts_with("Q=0")) && weight.substr(2).find_first_not_of("0.") == weight.npos;
}

} // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  bool by_star = false;
  while (!accept_encoding.empty()) {
    auto coding = take(accept_encoding, ',');
    const auto name = take(coding, ';');
    const bool taken = !is_refusal(trimmed(coding));
    if (same_text(name, "gzip"))
      return taken;
    if (name == "*")
      by_star = taken;
  }
  return by_star;
}

} // namespace fq::net
