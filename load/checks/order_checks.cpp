// SPDX-License-Identifier: Apache-2.0
// See order_checks.hpp. The organizer's list counts as one more sighting of each order, after the fan's own.
#include "load/checks/order_checks.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>

namespace fq::load {

namespace {

struct order_facts {
  std::size_t fan = 0;
  order_status last = order_status::pending;
  bool succeeded = false; // the fan received a success answer
  bool seen_by_fan = false; // false: only the books contain it
  bool is_listed = false;
  std::optional<order_terms> terms;
  const order_wish* wish = nullptr;
  std::int64_t refunded_amount = 0;
  uuid payment; // the latest known attempt
  std::optional<payment_status> payment_state;
  run_time_us first_sent_us = never_us;
  run_time_us live_from_us = never_us;
  run_time_us live_until_us = -1;
};

using order_map = std::map<uuid, order_facts>;

std::string order_name(const uuid& id, const order_facts& facts) {
  return fan_name(facts.fan) + ": order " + to_string(id);
}

bool was_bought(order_status status) { return is_bought(status) || status == order_status::refunded; }

// True if an order seen in `from` may later be seen in `to`, unseen steps included. FAILED may still become
// success: late money can buy tickets that are free.
bool may_follow(order_status from, order_status to) {
  if (from == to) return true;
  switch (from) {
    case order_status::pending: return true;
    case order_status::awaiting_payment: return to != order_status::pending;
    case order_status::failed: return was_bought(to);
    case order_status::success: return was_bought(to);
    case order_status::partially_refunded: return to == order_status::refunded;
    case order_status::cancelled:
    case order_status::refunded: return false;
  }
  return false;
}

bool same_terms(const order_terms& a, const order_terms& b) {
  const auto same_item = [](const order_item& x, const order_item& y) {
    return x.ticket_type == y.ticket_type && x.quantity == y.quantity && x.unit_price == y.unit_price
           && x.unit_discount == y.unit_discount && x.donation == y.donation;
  };
  return a.claim == b.claim && a.subtotal == b.subtotal && a.discount == b.discount
         && a.donations == b.donations && a.platform_fee == b.platform_fee
         && a.processing_fee == b.processing_fee && a.total == b.total && a.currency == b.currency
         && a.promo_code == b.promo_code
         && std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_item);
}

std::int64_t units_kept(const order_terms& terms) {
  std::int64_t sum = 0;
  for (const auto& item : terms.items) sum += item.quantity - item.refunded;
  return sum;
}

// ---- gathering ----------------------------------------------------------------------------------------

class order_gatherer {
public:
  order_gatherer(const sale_history& history, check_result& lost, check_result& reverted,
                 check_result& confirmed) :
      history_(history), lost_(lost), reverted_(reverted), confirmed_(confirmed) {}

  order_map gather() {
    for (std::size_t fan = 0; fan < history_.fans.size(); ++fan) {
      for (const auto& observation : history_.fans[fan].orders) on_sight(fan, observation);
      for (const auto& wish : history_.fans[fan].wishes)
        if (const auto at = orders_.find(wish.order); at != orders_.end()) at->second.wish = &wish;
    }
    if (history_.after.read) on_books();
    // sold permanently
    for (auto& [id, facts] : orders_)
      if (is_bought(facts.last)) facts.live_until_us = never_us;
    return std::move(orders_);
  }

private:
  void on_sight(std::size_t fan, const order_sight& observation) {
    if (!observation.status) {
      add_violation(lost_, fan_name(fan) + ": order " + to_string(observation.order) + " answered 404");
      return;
    }
    auto [at, fresh] = orders_.try_emplace(observation.order);
    auto& facts = at->second;
    if (fresh) {
      facts.fan = fan;
      facts.seen_by_fan = true;
      facts.last = *observation.status;
    } else if (facts.fan != fan) {
      add_violation(reverted_, "order " + to_string(observation.order) + " shown to two fans");
      return;
    }
    take(at->first, facts, observation, reverted_);
    facts.first_sent_us = std::min({facts.first_sent_us, observation.first_sent_us, observation.sent_us});
    facts.succeeded |= *observation.status == order_status::success;
  }

  // `blame`: the check that an illegal transition violates.
  void take(const uuid& id, order_facts& facts, const order_sight& observation, check_result& blame) {
    if (!may_follow(facts.last, *observation.status))
      add_violation(blame, order_name(id, facts) + " went from " + std::string(name_of(facts.last)) + " to "
                             + std::string(name_of(*observation.status)));
    facts.last = *observation.status;
    if (holds_stock(facts.last)) {
      facts.live_from_us = std::min(facts.live_from_us, observation.at_us);
      facts.live_until_us = std::max(facts.live_until_us, observation.sent_us);
    } else if (facts.last == order_status::failed) {
      facts.live_from_us = never_us; // late money may still buy it, so its earlier hold does not count
      facts.live_until_us = -1;
    }
    if (!observation.terms) return;
    if (facts.terms && !same_terms(*facts.terms, *observation.terms))
      add_violation(reverted_, order_name(id, facts) + " of "
                                 + money(facts.terms->total, facts.terms->currency)
                                 + " is another one later, of "
                                 + money(observation.terms->total, observation.terms->currency));
    facts.terms = observation.terms;
    facts.refunded_amount = observation.refunded_amount;
    facts.payment = observation.payment;
    facts.payment_state = observation.payment_state;
  }

  void on_books() {
    for (const auto& listed : history_.after.orders) {
      if (!listed.fan || *listed.fan >= history_.fans.size() || !listed.observation.status) continue;
      auto [at, fresh] = orders_.try_emplace(listed.observation.order);
      auto& facts = at->second;
      if (fresh) {
        facts.fan = *listed.fan;
        facts.last = *listed.observation.status;
        facts.first_sent_us = -1; // unknown
        if (history_.fans[*listed.fan].unknown_checkouts == 0)
          add_violation(confirmed_,
                        order_name(at->first, facts) + " is in the books, its fan placed none such");
      } else if (facts.fan != *listed.fan) {
        add_violation(reverted_,
                      order_name(at->first, facts) + " is in the books as that of " + fan_name(*listed.fan));
        continue;
      }
      facts.is_listed = true;
      const bool taken_back = facts.succeeded && !was_bought(*listed.observation.status);
      take(at->first, facts, listed.observation, taken_back ? confirmed_ : reverted_);
    }
    for (const auto& [id, facts] : orders_)
      if (!facts.is_listed)
        add_violation(lost_, order_name(id, facts) + " was answered " + std::string(name_of(facts.last))
                               + " and is not in the books");
  }

  const sale_history& history_;
  check_result& lost_;
  check_result& reverted_;
  check_result& confirmed_;
  order_map orders_;
};

// ---- amounts ------------------------------------------------------------------------------------------

std::string upper(std::string text) {
  for (auto& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

class price_check {
public:
  explicit price_check(const sale_history& history) : history_(history) {
    for (const auto& type : history.terms.types) prices_[type.id] = type.price;
  }

  // The error in the sums of one answer, or "".
  [[nodiscard]] std::string problem_of(const order_terms& terms) const {
    std::int64_t subtotal = 0, discount = 0, donations = 0;
    for (const auto& item : terms.items) {
      subtotal += item.quantity * item.unit_price;
      discount += item.quantity * item.unit_discount;
      donations += item.quantity * item.donation;
      const auto price = prices_.find(item.ticket_type);
      if (!history_.terms_changed && price != prices_.end() && price->second != item.unit_price)
        return "a ticket at " + money(item.unit_price, terms.currency) + ", the event says "
               + money(price->second, history_.terms.currency);
      if (item.unit_discount > item.unit_price || item.unit_discount < 0 || item.refunded > item.quantity)
        return "an item that gives back more than it costs";
    }
    if (terms.items.empty() || subtotal != terms.subtotal || discount != terms.discount
        || donations != terms.donations)
      return "items that do not add up to subtotal, discount and donations";
    const auto sum =
      terms.subtotal - terms.discount + terms.donations + terms.platform_fee + terms.processing_fee;
    if (sum != terms.total)
      return "a total of " + money(terms.total, terms.currency) + ", its parts are "
             + money(sum, terms.currency);
    if (terms.currency != history_.terms.currency) return "another currency, " + terms.currency;
    return {};
  }

  // The difference between the order and the fan's request, or "".
  [[nodiscard]] static std::string problem_of(const order_terms& terms, const order_wish& wish) {
    const auto key = [](const order_item& item) {
      return std::tuple(item.ticket_type, item.quantity, item.donation);
    };
    std::multiset<std::tuple<uuid, std::int64_t, std::int64_t>> wanted, got;
    for (const auto& item : wish.items) wanted.insert(key(item));
    for (const auto& item : terms.items) got.insert(key(item));
    if (wanted != got) return "other tickets than asked for";
    if (upper(wish.promo_code) != terms.promo_code)
      return "promo code '" + terms.promo_code + "', '" + wish.promo_code + "' was asked for";
    return {};
  }

private:
  const sale_history& history_;
  std::map<uuid, std::int64_t> prices_;
};

// I4: in every answer, and in the amounts of payments.
void check_order_amounts(const sale_history& history, const order_map& orders, const payment_map& payments,
                         check_result& check) {
  const price_check prices(history);
  std::map<uuid, const order_facts*> by_claim;
  for (const auto& [id, facts] : orders) {
    if (facts.terms) by_claim[facts.terms->claim] = &facts;
    if (facts.terms && facts.wish != nullptr)
      if (const auto problem = price_check::problem_of(*facts.terms, *facts.wish); !problem.empty())
        add_violation(check, order_name(id, facts) + " has " + problem);
  }
  std::set<uuid> accused; // one accusation per order
  const auto look = [&](const order_sight& observation) {
    if (!observation.terms || accused.contains(observation.order)) return;
    if (const auto problem = prices.problem_of(*observation.terms); !problem.empty()) {
      accused.insert(observation.order);
      add_violation(check, "order " + to_string(observation.order) + " has " + problem);
    }
  };
  for (const auto& fan : history.fans)
    for (const auto& observation : fan.orders) look(observation);
  for (const auto& listed : history.after.orders) look(listed.observation);
  for (const auto& [id, facts] : payments) {
    const auto at = by_claim.find(facts.last.claim);
    if (at == by_claim.end()) continue;
    const auto& owed = *at->second->terms;
    if (facts.last.amount != owed.total || facts.last.currency != owed.currency)
      add_violation(check, fan_name(facts.fan) + ": payment of "
                             + money(facts.last.amount, facts.last.currency) + " for an order of "
                             + money(owed.total, owed.currency));
  }
}

// ---- the gateway's money ------------------------------------------------------------------------------

// The place of one attempt's money.
enum class whereabouts : std::uint8_t { ticket, refund, in_flight, nowhere };

whereabouts money_of(payment_status status) {
  switch (status) {
    case payment_status::confirmed: return whereabouts::ticket;
    case payment_status::refunded:
    case payment_status::partially_refunded: return whereabouts::refund;
    case payment_status::refund_pending:
    case payment_status::refund_failed:
    case payment_status::quarantined:
    case payment_status::confirmed_late:
    case payment_status::initializing:
    case payment_status::pending: return whereabouts::in_flight;
    case payment_status::failed: return whereabouts::nowhere;
  }
  return whereabouts::nowhere;
}

class money_check {
public:
  money_check(const sale_history& history, const order_map& orders, const payment_map& payments,
              check_result& check, order_sums& sums) :
      history_(history), orders_(orders), payments_(payments), check_(check), sums_(sums) {
    for (const auto& [id, facts] : orders)
      if (facts.terms) by_claim_[facts.terms->claim] = id;
    for (const auto& fan : history.fans)
      for (const auto& observation : fan.orders)
        if (!observation.payment.is_nil()) by_payment_[observation.payment] = observation.order;
  }

  // Each attempt with money must have bought the ticket, be in flight, or be refunded; and each ticket must
  // be paid for.
  void run() {
    for (std::size_t fan = 0; fan < history_.fans.size(); ++fan)
      for (const auto& answer : history_.fans[fan].gateway)
        if (answer.paid) on_paid(fan, answer.payment);
    for (const auto& [id, facts] : orders_)
      if (was_bought(facts.last) && !tickets_.contains(id) && facts.terms && facts.terms->total > 0
          && history_.fans[facts.fan].unknown_gateway == 0)
        add_violation(check_, order_name(id, facts) + " is bought, and its fan paid nothing");
    check_.detail = "paid " + std::to_string(sums_.gateway_paid) + " = sold "
                    + std::to_string(sums_.bought_value) + " + refunds " + std::to_string(sums_.refunds)
                    + " + in flight " + std::to_string(sums_.in_flight);
    if (check_.violations == 0 && sums_.gateway_paid != sums_.bought_value + sums_.refunds + sums_.in_flight)
      add_violation(check_, "the sums differ");
  }

private:
  void on_paid(std::size_t fan, const uuid& payment) {
    const auto* facts = order_of(payment);
    // money for a claim, or a repeated answer
    if (facts == nullptr || !facts->second.terms || !counted_.insert(payment).second) return;
    const auto& [id, order] = *facts;
    const auto amount = order.terms->total;
    sums_.gateway_paid += amount;
    const auto state = state_of(payment, order);
    const auto where = money_of(state);
    if (was_bought(order.last) && where != whereabouts::nowhere && !tickets_.contains(id)
        && (state == payment_status::confirmed || payment == order.payment)) {
      tickets_.insert(id);
      sums_.refunds += order.refunded_amount;
      sums_.bought_value += amount - order.refunded_amount;
    } else if (where == whereabouts::refund) {
      sums_.refunds += amount;
    } else if (where == whereabouts::in_flight) {
      sums_.in_flight += amount;
    } else if (where == whereabouts::ticket && is_open(order.last) && !order.is_listed) {
      sums_.in_flight += amount; // no sighting of the order after the payment
    } else {
      add_violation(check_, fan_name(fan) + ": the gateway took " + money(amount, order.terms->currency)
                              + ", the order is " + std::string(name_of(order.last)) + " and its payment "
                              + (where == whereabouts::nowhere ? "FAILED" : "CONFIRMED"));
    }
  }

  [[nodiscard]] const order_map::value_type* order_of(const uuid& payment) const {
    auto id = by_payment_.find(payment);
    if (id == by_payment_.end()) {
      const auto seen = payments_.find(payment);
      if (seen == payments_.end()) return nullptr;
      id = by_claim_.find(seen->second.last.claim);
      if (id == by_claim_.end()) return nullptr;
    }
    const auto at = orders_.find(id->second);
    return at == orders_.end() ? nullptr : &*at;
  }

  // The state of an attempt. For the order's latest attempt it comes from the books or the last sighting, for
  // earlier attempts from the fan's own sightings.
  [[nodiscard]] payment_status state_of(const uuid& payment, const order_facts& order) const {
    const auto seen = payments_.find(payment);
    if (order.payment == payment && order.payment_state
        && (order.is_listed || seen == payments_.end()
            || money_of(seen->second.last.status) == whereabouts::in_flight))
      return *order.payment_state;
    return seen != payments_.end() ? seen->second.last.status : payment_status::pending;
  }

  const sale_history& history_;
  const order_map& orders_;
  const payment_map& payments_;
  check_result& check_;
  order_sums& sums_;
  std::map<uuid, uuid> by_claim_;
  std::map<uuid, uuid> by_payment_;
  std::set<uuid> counted_;
  std::set<uuid> tickets_; // orders whose ticket is paid
};

constexpr std::array order_check_ids{check_id::lost_orders, check_id::order_reverted, check_id::order_amounts,
                                     check_id::orders_confirmed, check_id::order_money};

void count(const order_map& orders, judgement& out) {
  for (const auto& [id, facts] : orders) {
    ++out.orders.by_status[static_cast<std::size_t>(facts.last)];
    if (!facts.terms) continue;
    if (is_bought(facts.last))
      out.orders.bought_units += units_kept(*facts.terms);
    else if (is_open(facts.last))
      out.open_order_units += units_kept(*facts.terms);
  }
}

void add_holdings(const order_map& orders, std::vector<holding>& holdings) {
  for (const auto& [id, facts] : orders) {
    if (!facts.terms) continue;
    holding held{facts.fan,           facts.first_sent_us,       facts.live_from_us,
                 facts.live_until_us, facts.refunded_amount > 0, {}};
    for (const auto& item : facts.terms->items)
      held.items.push_back({item.ticket_type, item.quantity - item.refunded, item.unit_price});
    holdings.push_back(std::move(held));
  }
}

} // namespace

bool has_orders(const sale_history& history) {
  return history.after.read
         || std::any_of(history.fans.begin(), history.fans.end(),
                        [](const fan_history& fan) { return !fan.orders.empty(); });
}

void judge_orders(const sale_history& history, const payment_map& payments, std::vector<holding>& holdings,
                  judgement& out) {
  if (!has_orders(history)) {
    for (const auto id : order_check_ids) not_judged(check_of(out, id), "no orders");
    return;
  }
  const auto orders =
    order_gatherer(history, check_of(out, check_id::lost_orders), check_of(out, check_id::order_reverted),
                   check_of(out, check_id::orders_confirmed))
      .gather();
  count(orders, out);
  add_holdings(orders, holdings);
  check_order_amounts(history, orders, payments, check_of(out, check_id::order_amounts));
  money_check(history, orders, payments, check_of(out, check_id::order_money), out.orders).run();
  if (!history.after.read)
    not_judged(check_of(out, check_id::orders_confirmed), "the organizer's books were not read");
}

} // namespace fq::load
