// SPDX-License-Identifier: Apache-2.0
// The checks of the organizer's books against the orders, claims and promo codes that fans saw.
#include "load/checks/order_checks.hpp"

#include <algorithm>

namespace fq::load {

namespace {

struct type_units {
  std::int64_t sold = 0;
  std::int64_t held = 0;
};

struct listed_units {
  std::map<uuid, type_units> per_type;
  std::int64_t sold = 0;
};

listed_units units_of(const sale_books& books) {
  listed_units out;
  for (const auto& listed : books.orders) {
    if (!listed.observation.status || !listed.observation.terms) continue;
    for (const auto& item : listed.observation.terms->items) {
      auto& units = out.per_type[item.ticket_type];
      if (is_bought(*listed.observation.status)) {
        units.sold += item.quantity - item.refunded;
        out.sold += item.quantity - item.refunded;
      } else if (is_open(*listed.observation.status)) {
        units.held += item.quantity;
      }
    }
  }
  return out;
}

// I1 by the books: no type is sold beyond its total, the missing stock equals that of orders (and claims),
// and the organizer's count of sold tickets equals that of the orders.
void check_order_stock(const sale_history& history, const judgement& judged, check_result& check) {
  const auto& books = history.after;
  const auto listed = units_of(books);
  std::int64_t claim_units_open = judged.undetermined;
  for (const auto& fan : history.fans) claim_units_open += fan.unknown_claims;
  for (const auto& stock : books.stock) {
    const auto at = listed.per_type.find(stock.ticket_type);
    const auto units = at == listed.per_type.end() ? type_units{} : at->second;
    if (units.sold > stock.total)
      add_violation(check, "type " + to_string(stock.ticket_type) + ": " + std::to_string(units.sold)
                             + " sold of " + std::to_string(stock.total));
    // Claims or earlier sales may reduce the stock further, never increase it.
    const auto gone = stock.total - stock.available;
    const bool only_orders =
      judged.claim_units == 0 && claim_units_open == 0 && history.before.sold + history.before.held == 0;
    if (gone < units.sold + units.held || (only_orders && gone != units.sold + units.held))
      add_violation(check, "type " + to_string(stock.ticket_type) + ": " + std::to_string(gone)
                             + " gone, orders have " + std::to_string(units.sold) + " sold and "
                             + std::to_string(units.held) + " held");
  }
  const auto sold_before = history.before.sold - units_of(history.before).sold; // by claims
  const auto others = books.sold - listed.sold - sold_before;
  if (others < judged.claim_units || others > judged.claim_units + claim_units_open)
    add_violation(check, "the organizer is told of " + std::to_string(books.sold) + " sold, orders have "
                           + std::to_string(listed.sold) + ", claims "
                           + std::to_string(judged.claim_units + sold_before));
  check.detail = std::to_string(books.sold) + " sold, " + std::to_string(listed.sold) + " of them in orders";
}

// An open or bought order uses the code once; the use returns with the tickets.
void check_promo_uses(const sale_books& books, check_result& check) {
  for (const auto& promo : books.promos) {
    std::int64_t uses = 0;
    for (const auto& listed : books.orders)
      uses += listed.observation.status && listed.observation.terms
              && listed.observation.terms->promo_code == promo.code
              && holds_stock(*listed.observation.status);
    if (promo.uses_max > 0 && std::max(promo.uses, uses) > promo.uses_max)
      add_violation(check, "code " + promo.code + ": " + std::to_string(std::max(promo.uses, uses))
                             + " uses, " + std::to_string(promo.uses_max) + " are allowed");
    if (promo.uses != uses)
      add_violation(check, "code " + promo.code + ": " + std::to_string(promo.uses) + " uses are counted, "
                             + std::to_string(uses) + " orders have it");
    check.detail += (check.detail.empty() ? "" : ", ") + promo.code + " " + std::to_string(promo.uses)
                    + " of "
                    + (promo.uses_max > 0 ? std::to_string(promo.uses_max) : std::string("no limit"));
  }
}

} // namespace

void judge_order_books(const sale_history& history, judgement& out) {
  auto& stock = check_of(out, check_id::order_stock);
  auto& promos = check_of(out, check_id::promo_uses);
  const auto why = !has_orders(history) ? "no orders" : "the organizer's books did not come to rest";
  if (!history.after.settled || !history.before.read) {
    not_judged(stock, why);
    not_judged(promos, why);
    return;
  }
  check_order_stock(history, out, stock);
  check_promo_uses(history.after, promos);
  if (history.after.promos.empty()) not_judged(promos, "no promo codes");
}

} // namespace fq::load
