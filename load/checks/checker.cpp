// SPDX-License-Identifier: Apache-2.0
// judge(), and the checks of claims and payments. Each reads the whole history and fills one check_result.
#include "load/checks/check_parts.hpp"
#include "load/checks/entry_checks.hpp"
#include "load/checks/order_checks.hpp"
#include "load/checks/seat_checks.hpp"

#include <algorithm>

namespace fq::load {

namespace {

struct check_name {
  std::string_view name;
  std::string_view invariant;
};

// In the order of check_id.
constexpr std::array check_names{
  check_name{"sold_equals_stock", "-"},  check_name{"oversold", "I1"},
  check_name{"overtakes", "I6"},         check_name{"batch_too_large", "I6"},
  check_name{"duplicate_numbers", "I6"}, check_name{"lost_places", "I7"},
  check_name{"lost_claims", "I7"},       check_name{"position_grew", "I8"},
  check_name{"extra_claims", "I2"},      check_name{"amount_mismatch", "I4"},
  check_name{"money_balance", "I4"},     check_name{"paid_without_ticket", "I3"},
  check_name{"false_sold_out", "I12"},   check_name{"illegal_history", "I10"},
  check_name{"lost_orders", "I7"},       check_name{"order_reverted", "I10"},
  check_name{"order_amounts", "I4"},     check_name{"orders_confirmed", "I3"},
  check_name{"order_stock", "I1"},       check_name{"promo_uses", "-"},
  check_name{"order_money", "I3"},       check_name{"seat_twice", "I1"},
  check_name{"seat_map", "-"},
};
static_assert(check_names.size() == static_cast<std::size_t>(check_id::seat_map) + 1);

// ---- claims -------------------------------------------------------------------------------------------

// A claim from its first to its last sighting. It provably held its stock from the arrival of the first live
// sighting to the sending of the last one.
struct claim_facts {
  std::size_t fan = 0;
  claim_sight last;
  run_time_us first_sent_us = never_us;
  run_time_us live_from_us = never_us;
  run_time_us live_until_us = -1;
  run_time_us confirmed_seen_us = never_us;
};

using claim_map = std::map<uuid, claim_facts>;

claim_map gather_claims(const sale_history& history, check_result& lost, check_result& illegal) {
  claim_map claims;
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan) {
    for (const auto& observation : history.fans[fan].claims) {
      auto [at, fresh] = claims.try_emplace(observation.claim);
      auto& facts = at->second;
      if (observation.status == claim_status::absent) {
        if (!fresh)
          add_violation(lost, fan_name(fan) + ": claim " + to_string(observation.claim) + " answered 404");
        else
          claims.erase(at);
        continue;
      }
      if (fresh)
        facts.fan = fan;
      else if (facts.fan != fan)
        add_violation(illegal, "claim " + to_string(observation.claim) + " shown to two fans");
      else if (!holds_stock(facts.last.status) && holds_stock(observation.status))
        add_violation(illegal, fan_name(fan) + ": claim came back from RELEASED");
      else if (facts.last.status == claim_status::confirmed && observation.status != claim_status::confirmed
               && observation.status != claim_status::refunded)
        add_violation(illegal, fan_name(fan) + ": CONFIRMED claim was taken back");
      facts.first_sent_us = std::min({facts.first_sent_us, observation.first_sent_us, observation.sent_us});
      if (holds_stock(observation.status)) {
        facts.live_from_us = std::min(facts.live_from_us, observation.at_us);
        facts.live_until_us = std::max(facts.live_until_us, observation.sent_us);
      }
      if (observation.status == claim_status::confirmed)
        facts.confirmed_seen_us = std::min(facts.confirmed_seen_us, observation.at_us);
      facts.last = observation;
    }
  }
  // A confirmed claim holds its units permanently.
  for (auto& [id, facts] : claims)
    if (facts.last.status == claim_status::confirmed) facts.live_until_us = never_us;
  return claims;
}

struct change {
  run_time_us at_us = 0;
  std::int64_t delta = 0;
};

// The highest total. At equal times departures count first, so that only a proven overlap counts.
std::int64_t highest_overlap(std::vector<change>& changes) {
  std::sort(changes.begin(), changes.end(), [](const change& a, const change& b) {
    return a.at_us != b.at_us ? a.at_us < b.at_us : a.delta < b.delta;
  });
  std::int64_t now = 0;
  std::int64_t highest = 0;
  for (const auto& step : changes) {
    now += step.delta;
    highest = std::max(highest, now);
  }
  return highest;
}

void add_interval(std::vector<change>& changes, const holding& held, std::int64_t amount) {
  if (held.until_us <= held.from_us) return;
  changes.push_back({held.from_us, amount});
  changes.push_back({held.until_us, -amount});
}

std::vector<holding> holdings_of(const claim_map& claims) {
  std::vector<holding> out;
  for (const auto& [id, facts] : claims)
    out.push_back({facts.fan, facts.first_sent_us, facts.live_from_us, facts.live_until_us,
                   facts.last.status == claim_status::refunded, facts.last.items});
  return out;
}

// I1, per ticket type: units provably held or sold at one moment.
void check_oversold(const std::vector<holding>& holdings, const sale_terms& terms, check_result& check) {
  std::map<uuid, std::vector<change>> per_type;
  for (const auto& held : holdings)
    for (const auto& item : held.items) add_interval(per_type[item.ticket_type], held, item.quantity);
  std::uint64_t excess_units = 0;
  for (const auto& type : terms.types) {
    const auto at = per_type.find(type.id);
    if (at == per_type.end()) continue;
    const auto highest = highest_overlap(at->second);
    if (highest > type.total) {
      add_violation(check, "type '" + type.name + "': " + std::to_string(highest) + " held or sold of "
                             + std::to_string(type.total));
      excess_units += static_cast<std::uint64_t>(highest - type.total);
    }
  }
  if (excess_units > 0) check.violations = excess_units;
}

// I2: one fan had more claims at one moment than the event allows.
void check_extra_claims(const std::vector<holding>& holdings, const sale_history& history,
                        check_result& check) {
  std::vector<std::vector<change>> per_fan(history.fans.size());
  for (const auto& held : holdings) add_interval(per_fan[held.fan], held, 1);
  for (std::size_t fan = 0; fan < per_fan.size(); ++fan) {
    const auto highest = highest_overlap(per_fan[fan]);
    if (highest > history.terms.claims_per_customer)
      add_violation(check, fan_name(fan) + ": " + std::to_string(highest) + " claims at once");
  }
}

// I12: a sold-out answer arrived before the request of a later successful claim was first sent. Valid only if
// no stock can return: the total unchanged and no refunds.
void check_false_sold_out(const std::vector<holding>& holdings, const sale_history& history,
                          check_result& check) {
  run_time_us last_claim_sent_us = -1;
  for (const auto& held : holdings) {
    if (held.refunded) {
      check.result = verdict::not_judged;
      check.detail = "refunds were seen";
      return;
    }
    last_claim_sent_us = std::max(last_claim_sent_us, held.first_sent_us);
  }
  if (history.terms_changed) {
    check.result = verdict::not_judged;
    check.detail = "the event's settings changed";
    return;
  }
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan)
    for (const auto told_us : history.fans[fan].told_sold_out)
      if (told_us < last_claim_sent_us)
        add_violation(check, fan_name(fan) + " was told sold out, and a claim succeeded later");
  if (history.sold_out_seen && history.sold_out_at_us < last_claim_sent_us)
    add_violation(check, "the event said sold_out, and a claim succeeded later");
}

// ---- money --------------------------------------------------------------------------------------------

payment_map gather_payments(const sale_history& history, check_result& illegal) {
  payment_map payments;
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan) {
    for (const auto& observation : history.fans[fan].payments) {
      auto [at, fresh] = payments.try_emplace(observation.payment);
      auto& facts = at->second;
      if (fresh)
        facts.fan = fan;
      else if (facts.last.status == payment_status::confirmed
               && (observation.status == payment_status::initializing
                   || observation.status == payment_status::pending
                   || observation.status == payment_status::failed))
        add_violation(illegal, fan_name(fan) + ": CONFIRMED payment was taken back");
      if (observation.status == payment_status::confirmed)
        facts.confirmed_seen_us = std::min(facts.confirmed_seen_us, observation.at_us);
      facts.last_sent_us = std::max(facts.last_sent_us, observation.sent_us);
      facts.last = observation;
    }
  }
  return payments;
}

// I4: a claim costs its items at the event's prices plus their fees (free items have none). A payment's
// amount equals the claim's.
void check_amounts(const sale_history& history, const claim_map& claims, const payment_map& payments,
                   check_result& check) {
  std::map<uuid, std::int64_t> prices;
  for (const auto& type : history.terms.types) prices[type.id] = type.price;
  for (const auto& [id, facts] : claims) {
    std::int64_t sum = 0;
    bool price_wrong = false;
    for (const auto& item : facts.last.items) {
      sum += item.quantity * item.unit_price;
      const auto price = prices.find(item.ticket_type);
      price_wrong |= !history.terms_changed && (price == prices.end() || price->second != item.unit_price);
    }
    if (sum + facts.last.fees != facts.last.amount || facts.last.fees < 0
        || (sum == 0 && facts.last.fees != 0) || facts.last.currency != history.terms.currency || price_wrong)
      add_violation(check, fan_name(facts.fan) + ": claim of " + money(facts.last.amount, facts.last.currency)
                             + ", its items cost " + money(sum, history.terms.currency)
                             + (price_wrong ? " at another price than the event's" : ""));
  }
  for (const auto& [id, facts] : payments) {
    const auto claim = claims.find(facts.last.claim);
    if (claim == claims.end()) continue;
    const auto& owed = claim->second.last;
    if (facts.last.amount != owed.amount || facts.last.currency != owed.currency)
      add_violation(check, fan_name(facts.fan) + ": payment of "
                             + money(facts.last.amount, facts.last.currency) + " for a claim of "
                             + money(owed.amount, owed.currency));
  }
}

// Sum of the payments of one claim.
struct claim_money {
  std::int64_t paid = 0;
  bool any_confirmed = false;
  run_time_us first_confirmed_us = never_us;
  run_time_us last_sent_us = -1;
};

std::map<uuid, claim_money> money_by_claim(const payment_map& payments) {
  std::map<uuid, claim_money> out;
  for (const auto& [id, facts] : payments) {
    auto& sum = out[facts.last.claim];
    sum.last_sent_us = std::max(sum.last_sent_us, facts.last_sent_us);
    if (facts.last.status != payment_status::confirmed) continue;
    sum.any_confirmed = true;
    sum.paid += facts.last.amount - facts.last.refunded_amount;
    sum.first_confirmed_us = std::min(sum.first_confirmed_us, facts.confirmed_seen_us);
  }
  return out;
}

// I3 for payments: after a payment was seen CONFIRMED, later sightings of the claim must be CONFIRMED. Money
// that the gateway captured must not end as FAILED.
void check_paid(const sale_history& history, const claim_map& claims, const payment_map& payments,
                check_result& check, judgement& out) {
  for (const auto& [claim_id, sum] : money_by_claim(payments)) {
    const auto claim = claims.find(claim_id);
    if (!sum.any_confirmed || claim == claims.end()) continue;
    const auto& last = claim->second.last;
    const bool has_ticket = last.status == claim_status::confirmed || last.status == claim_status::refunded;
    if (has_ticket) continue;
    if (last.sent_us >= sum.first_confirmed_us)
      add_violation(check, fan_name(claim->second.fan) + ": payment CONFIRMED, claim not");
    else
      ++out.undetermined;
  }
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan) {
    for (const auto& answer : history.fans[fan].gateway) {
      const auto payment = payments.find(answer.payment);
      if (!answer.paid || payment == payments.end()) continue;
      const auto& last = payment->second.last;
      if (last.status == payment_status::failed)
        add_violation(check, fan_name(fan) + ": the gateway took the money, the payment is FAILED");
      else if (last.status == payment_status::initializing || last.status == payment_status::pending)
        ++out.undetermined;
    }
  }
}

// I4 over the sale: confirmed claims and confirmed payments are equal, claim by claim.
void check_balance(const sale_history& history, const claim_map& claims, const payment_map& payments,
                   check_result& check, judgement& out) {
  const auto sums = money_by_claim(payments);
  for (const auto& [id, facts] : claims) {
    const auto at = sums.find(id);
    const auto sum = at == sums.end() ? claim_money{} : at->second;
    const bool confirmed = facts.last.status == claim_status::confirmed;
    if (confirmed) {
      out.claims_value += facts.last.amount;
      ++out.confirmed_claims;
      for (const auto& item : facts.last.items) out.claim_units += item.quantity;
    }
    if (sum.any_confirmed) out.payments_value += sum.paid;
    if (confirmed && !sum.any_confirmed) {
      // No fan read the payment after the claim was seen CONFIRMED: undetermined, not wrong.
      if (sum.last_sent_us >= facts.confirmed_seen_us || (at == sums.end() && facts.last.amount > 0))
        add_violation(check, fan_name(facts.fan) + ": claim CONFIRMED without a confirmed payment");
      else if (facts.last.amount > 0)
        ++out.undetermined;
    } else if (confirmed && sum.paid != facts.last.amount) {
      add_violation(check, fan_name(facts.fan) + ": paid " + money(sum.paid, facts.last.currency)
                             + " for a claim of " + money(facts.last.amount, facts.last.currency));
    }
  }
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan)
    for (const auto& answer : history.fans[fan].gateway) {
      const auto payment = payments.find(answer.payment);
      if (!answer.paid && payment != payments.end()
          && payment->second.last.status == payment_status::confirmed)
        add_violation(check, fan_name(fan) + ": the gateway declined, the payment is CONFIRMED");
    }
  check.detail = "claims " + money(out.claims_value, history.terms.currency) + ", payments "
                 + money(out.payments_value, history.terms.currency);
}

// Sold must equal stock only if enough fans wanted a ticket and stayed for it, or if the event reported that
// it was sold out.
void check_sold(const sale_history& history, check_result& check, judgement& out) {
  std::int64_t unknown_units = out.undetermined + out.open_order_units;
  std::int64_t buyers = 0;
  bool cut_short = false;
  for (const auto& fan : history.fans) {
    unknown_units += fan.unknown_claims + fan.unknown_gateway;
    if (!history.after.settled) // else the books decide
      unknown_units += fan.unknown_checkout_units;
    cut_short |= fan.end == outcome::timed_out;
    buyers += fan.plan == behaviour::buy && fan.end != outcome::refused && fan.end != outcome::failed
              && fan.end != outcome::missed && fan.end != outcome::ended;
  }
  check.detail = std::to_string(out.sold_units) + " of " + std::to_string(out.stock);
  if (unknown_units > 0) check.detail += ", " + std::to_string(unknown_units) + " outcomes unknown";
  const bool expected = history.sold_out_seen || (buyers >= out.stock && !cut_short);
  if (!expected || history.terms_changed) {
    check.result = verdict::not_judged;
    check.detail += cut_short ? " (the run was cut short)" : " (not expected to sell out)";
    return;
  }
  if (out.sold_units > out.stock || out.sold_units + unknown_units < out.stock)
    add_violation(check, "fans saw " + check.detail + " sold");
}

} // namespace

bool judgement::broken() const {
  return std::any_of(checks.begin(), checks.end(),
                     [](const check_result& check) { return check.result == verdict::broken; });
}

const check_result& judgement::of(check_id id) const { return checks.at(static_cast<std::size_t>(id)); }

std::string_view name_of(check_id id) { return check_names[static_cast<std::size_t>(id)].name; }

std::string_view invariant_of(check_id id) { return check_names[static_cast<std::size_t>(id)].invariant; }

std::string_view name_of(verdict result) {
  switch (result) {
    case verdict::held: return "ok";
    case verdict::broken: return "BROKEN";
    case verdict::not_judged: return "n/a";
  }
  return "?";
}

judgement judge(const sale_history& history) {
  judgement out;
  for (std::uint8_t id = 0; id <= static_cast<std::uint8_t>(check_id::seat_map); ++id)
    out.checks.push_back({static_cast<check_id>(id), verdict::held, 0, {}, {}});
  out.stock = history.terms.available_at_start();

  judge_entries(history, out);
  const auto claims =
    gather_claims(history, check_of(out, check_id::lost_claims), check_of(out, check_id::illegal_history));
  const auto payments = gather_payments(history, check_of(out, check_id::illegal_history));
  auto holdings = holdings_of(claims);
  judge_orders(history, payments, holdings, out);
  check_oversold(holdings, history.terms, check_of(out, check_id::oversold));
  check_extra_claims(holdings, history, check_of(out, check_id::extra_claims));
  check_false_sold_out(holdings, history, check_of(out, check_id::false_sold_out));
  check_amounts(history, claims, payments, check_of(out, check_id::amount_mismatch));
  check_paid(history, claims, payments, check_of(out, check_id::paid_without_ticket), out);
  check_balance(history, claims, payments, check_of(out, check_id::money_balance), out);
  out.sold_units = out.claim_units + out.orders.bought_units;
  judge_order_books(history, out);
  judge_seats(history, out);
  check_sold(history, check_of(out, check_id::sold_equals_stock), out);
  return out;
}

} // namespace fq::load
