// SPDX-License-Identifier: Apache-2.0
#include "net/api/order_search.hpp"

#include "domain/base/letters.hpp"
#include "net/wire/order_codec.hpp"

namespace fq::net {

bool is_wanted(const order_view& order, const order_wanted& wanted) {
  const auto& o = order.order;
  if (wanted.status && *wanted.status != o.status) return false;
  const auto& who = o.contact;
  const auto part = folded(wanted.text);
  const auto has = [&](std::string_view text) { return folded(text).find(part) != std::string::npos; };
  if (part.empty()) return wanted.text.empty();
  return has(who.first_name + ' ' + who.last_name) || has(who.email) || has(to_string(o.id))
         || has(o.promo_code);
}

std::optional<order_status> parse_order_status(std::string_view text) {
  using enum order_status;
  for (const auto status :
       {pending, awaiting_payment, success, failed, cancelled, partially_refunded, refunded})
    if (wire_name(status) == text) return status;
  return std::nullopt;
}

} // namespace fq::net
