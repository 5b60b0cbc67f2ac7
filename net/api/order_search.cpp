// SPDX-License-Identifier: Apache-2.0
#include "net/api/order_search.hpp"

#include "net/wire/order_codec.hpp"

#include <algorithm>

namespace fq::net {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool contains(std::string_view whole, std::string_view part) {
  return std::search(whole.begin(), whole.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); })
         != whole.end();
}

} // namespace

bool is_wanted(const order_view& order, const order_wanted& wanted) {
  const auto& o = order.order;
  if (wanted.status && *wanted.status != o.status) return false;
  const auto& who = o.contact;
  return wanted.text.empty() || contains(who.first_name + ' ' + who.last_name, wanted.text)
         || contains(who.email, wanted.text) || contains(to_string(o.id), wanted.text)
         || contains(o.promo_code, wanted.text);
}

std::optional<order_status> parse_order_status(std::string_view text) {
  using enum order_status;
  for (const auto status :
       {pending, awaiting_payment, success, failed, cancelled, partially_refunded, refunded})
    if (wire_name(status) == text) return status;
  return std::nullopt;
}

} // namespace fq::net
