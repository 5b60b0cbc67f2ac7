// SPDX-License-Identifier: Apache-2.0
// The checks. Each reads the whole history and fills one check_result; judge() runs all of them.
#include "load/checks/check_parts.hpp"
#include "load/checks/order_checks.hpp"

#include <algorithm>
#include <unordered_map>

namespace fq::load {

namespace {

bool is_live(place_kind kind) {
  return kind == place_kind::waiting || kind == place_kind::away || kind == place_kind::admitted;
}

bool names_an_entry(place_kind kind) { return is_live(kind) || kind == place_kind::over; }

bool holds_stock(claim_status status) {
  return status == claim_status::claimed || status == claim_status::expiring
         || status == claim_status::confirmed;
}

// ---- entries ------------------------------------------------------------------------------------------

// One place in the line, collected from all its sightings.
struct entry_facts {
  std::size_t fan = 0;
  std::uint64_t number = 0;
  std::uint64_t batch = 0; // 0: never seen admitted
  bool admitted = false;
  bool was_away = false;
  run_time_us admitted_seen_us = never_us; // arrival of the first answer that says ADMITTED
  run_time_us last_waiting_sent_us = -1; // send time of the last request that found it WAITING
};

using entry_map = std::unordered_map<uuid, entry_facts, uuid_hash>;

void add_sight(entry_facts& facts, const place_sight& observation) {
  switch (observation.kind) {
    case place_kind::waiting:
      facts.last_waiting_sent_us = std::max(facts.last_waiting_sent_us, observation.sent_us);
      break;
    case place_kind::away: facts.was_away = true; break;
    case place_kind::admitted:
      facts.admitted = true;
      facts.admitted_seen_us = std::min(facts.admitted_seen_us, observation.at_us);
      if (facts.batch == 0) facts.batch = observation.batch;
      break;
    case place_kind::over:
    case place_kind::absent:
    case place_kind::left: break;
  }
}

entry_map gather_entries(const sale_history& history) {
  entry_map entries;
  entries.reserve(history.fans.size() * 2);
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan) {
    for (const auto& observation : history.fans[fan].places) {
      if (!names_an_entry(observation.kind)) continue;
      auto [at, fresh] = entries.try_emplace(observation.entry);
      if (fresh) {
        at->second.fan = fan;
        at->second.number = observation.number;
      }
      add_sight(at->second, observation);
    }
  }
  return entries;
}

std::vector<const entry_facts*> by_number(const entry_map& entries) {
  std::vector<const entry_facts*> sorted;
  sorted.reserve(entries.size());
  for (const auto& [id, facts] : entries) sorted.push_back(&facts);
  std::sort(sorted.begin(), sorted.end(),
            [](const entry_facts* a, const entry_facts* b) { return a->number < b->number; });
  return sorted;
}

// I6. Walks the line from its end to its head. It keeps, over all later numbers, the earliest batch and the
// earliest moment at which a fan saw an admission. A lower number always joined earlier, so two admitted
// places are compared without times. A place never seen admitted was overtaken if a request still found it
// WAITING that was *sent* after a later number's admission had *arrived*. AWAY places may be passed.
void check_overtakes(const entry_map& entries, check_result& check) {
  std::uint64_t earliest_batch_behind = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t batch_holder = 0;
  run_time_us earliest_seen_behind_us = never_us;
  std::uint64_t seen_holder = 0;
  const auto line = by_number(entries);
  for (auto at = line.rbegin(); at != line.rend(); ++at) {
    const auto& place = **at;
    if (!place.was_away) {
      if (place.admitted && place.batch > 0 && earliest_batch_behind < place.batch)
        add_violation(check, "number " + std::to_string(place.number) + " in batch "
                               + std::to_string(place.batch) + ", number " + std::to_string(batch_holder)
                               + " already in batch " + std::to_string(earliest_batch_behind));
      else if (!place.admitted && earliest_seen_behind_us < place.last_waiting_sent_us)
        add_violation(check, "number " + std::to_string(place.number) + " still waited after number "
                               + std::to_string(seen_holder) + " was admitted");
    }
    if (!place.admitted) continue;
    if (place.batch > 0 && place.batch < earliest_batch_behind) {
      earliest_batch_behind = place.batch;
      batch_holder = place.number;
    }
    if (place.admitted_seen_us < earliest_seen_behind_us) {
      earliest_seen_behind_us = place.admitted_seen_us;
      seen_holder = place.number;
    }
  }
}

void check_batches(const entry_map& entries, const sale_terms& terms, check_result& check, judgement& out) {
  std::unordered_map<std::uint64_t, std::int64_t> sizes;
  for (const auto& [id, facts] : entries) {
    if (!facts.admitted) continue;
    ++out.admitted_entries;
    if (facts.batch > 0) out.largest_batch = std::max(out.largest_batch, ++sizes[facts.batch]);
  }
  check.detail = "largest " + std::to_string(out.largest_batch) + " of "
                 + (terms.batch_size > 0 ? std::to_string(terms.batch_size) : std::string("no limit"));
  if (terms.batch_size <= 0) {
    check.result = verdict::not_judged;
    return;
  }
  for (const auto& [batch, size] : sizes)
    if (size > terms.batch_size)
      add_violation(check, "batch " + std::to_string(batch) + " has " + std::to_string(size) + " entries");
}

// Finds two places with one number, and one place with two fans.
void check_duplicates(const sale_history& history, const entry_map& entries, check_result& check) {
  const auto line = by_number(entries);
  for (std::size_t i = 1; i < line.size(); ++i)
    if (line[i]->number == line[i - 1]->number)
      add_violation(check, "number " + std::to_string(line[i]->number) + " given to "
                             + fan_name(line[i - 1]->fan) + " and " + fan_name(line[i]->fan));
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan) {
    uuid last;
    for (const auto& observation : history.fans[fan].places) {
      if (!names_an_entry(observation.kind) || observation.entry == last) continue;
      last = observation.entry;
      const auto at = entries.find(observation.entry);
      if (at != entries.end() && at->second.fan != fan)
        add_violation(check, "entry " + to_string(observation.entry) + " belongs to "
                               + fan_name(at->second.fan) + " and " + fan_name(fan));
    }
  }
}

// ---- one fan's walk through its places ----------------------------------------------------------------

// Follows one fan's sightings in order of arrival: I7 (place and number stay), I8 (position falls), I10 (no
// step goes back).
class place_walk {
public:
  place_walk(std::size_t fan, const fan_history& history, check_result& lost, check_result& grew,
             check_result& illegal) :
      fan_(fan), history_(history), lost_(lost), grew_(grew), illegal_(illegal) {}

  void run() {
    for (const auto& observation : history_.places) step(observation);
  }

private:
  void step(const place_sight& observation) {
    if (observation.kind == place_kind::absent) return on_absent();
    if (observation.kind == place_kind::left) {
      known_ = place_kind::left;
      return;
    }
    if (!has_place_ || observation.entry != entry_) return on_new_entry(observation);
    on_same_entry(observation);
  }

  void on_absent() {
    if (has_place_ && is_live(known_) && !history_.leave_requested)
      add_violation(lost_, fan_name(fan_) + ": place " + std::to_string(number_) + " answered 404");
    has_place_ = false;
  }

  // A fan gets a new entry only by joining again after the old one ended. A waiting place never ends without
  // a cause. An admitted one may have expired unseen.
  void on_new_entry(const place_sight& observation) {
    const bool was_waiting = has_place_ && (known_ == place_kind::waiting || known_ == place_kind::away);
    if (was_waiting && !history_.leave_requested)
      add_violation(lost_, fan_name(fan_) + ": waiting place " + std::to_string(number_)
                             + " became another entry, " + std::to_string(observation.number));
    has_place_ = true;
    entry_ = observation.entry;
    number_ = observation.number;
    batch_ = observation.batch;
    known_ = observation.kind;
    position_ = observation.position;
  }

  void on_same_entry(const place_sight& observation) {
    if (observation.number != number_) {
      add_violation(lost_, fan_name(fan_) + ": number " + std::to_string(number_) + " became "
                             + std::to_string(observation.number));
      number_ = observation.number;
    }
    const bool went_back =
      (known_ == place_kind::admitted
       && (observation.kind == place_kind::waiting || observation.kind == place_kind::away))
      || ((known_ == place_kind::over || known_ == place_kind::left) && is_live(observation.kind));
    if (went_back)
      add_violation(illegal_,
                    fan_name(fan_) + ": entry " + std::to_string(number_) + " came back from a later state");
    if (observation.batch != 0 && batch_ != 0 && observation.batch != batch_)
      add_violation(illegal_, fan_name(fan_) + ": admission batch " + std::to_string(batch_) + " became "
                                + std::to_string(observation.batch));
    if (observation.batch != 0) batch_ = observation.batch;
    if (position_ != 0 && observation.position > position_)
      add_violation(grew_, fan_name(fan_) + ": position " + std::to_string(position_) + " became "
                             + std::to_string(observation.position));
    if (observation.position != 0) position_ = observation.position;
    known_ = observation.kind;
  }

  std::size_t fan_;
  const fan_history& history_;
  check_result& lost_;
  check_result& grew_;
  check_result& illegal_;
  bool has_place_ = false;
  uuid entry_;
  std::uint64_t number_ = 0;
  std::uint64_t batch_ = 0;
  std::uint32_t position_ = 0;
  place_kind known_ = place_kind::waiting;
};

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

std::string_view name_of(check_id id) {
  switch (id) {
    case check_id::sold_equals_stock: return "sold_equals_stock";
    case check_id::oversold: return "oversold";
    case check_id::overtakes: return "overtakes";
    case check_id::batch_too_large: return "batch_too_large";
    case check_id::duplicate_numbers: return "duplicate_numbers";
    case check_id::lost_places: return "lost_places";
    case check_id::lost_claims: return "lost_claims";
    case check_id::position_grew: return "position_grew";
    case check_id::extra_claims: return "extra_claims";
    case check_id::amount_mismatch: return "amount_mismatch";
    case check_id::money_balance: return "money_balance";
    case check_id::paid_without_ticket: return "paid_without_ticket";
    case check_id::false_sold_out: return "false_sold_out";
    case check_id::illegal_history: return "illegal_history";
    case check_id::lost_orders: return "lost_orders";
    case check_id::order_reverted: return "order_reverted";
    case check_id::order_amounts: return "order_amounts";
    case check_id::orders_confirmed: return "orders_confirmed";
    case check_id::order_stock: return "order_stock";
    case check_id::promo_uses: return "promo_uses";
    case check_id::order_money: return "order_money";
  }
  return "?";
}

std::string_view invariant_of(check_id id) {
  switch (id) {
    case check_id::sold_equals_stock: return "-";
    case check_id::oversold: return "I1";
    case check_id::overtakes: return "I6";
    case check_id::batch_too_large: return "I6";
    case check_id::duplicate_numbers: return "I6";
    case check_id::lost_places: return "I7";
    case check_id::lost_claims: return "I7";
    case check_id::position_grew: return "I8";
    case check_id::extra_claims: return "I2";
    case check_id::amount_mismatch: return "I4";
    case check_id::money_balance: return "I4";
    case check_id::paid_without_ticket: return "I3";
    case check_id::false_sold_out: return "I12";
    case check_id::illegal_history: return "I10";
    case check_id::lost_orders: return "I7";
    case check_id::order_reverted: return "I10";
    case check_id::order_amounts: return "I4";
    case check_id::orders_confirmed: return "I3";
    case check_id::order_stock: return "I1";
    case check_id::promo_uses: return "-";
    case check_id::order_money: return "I3";
  }
  return "-";
}

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
  for (std::uint8_t id = 0; id <= static_cast<std::uint8_t>(check_id::order_money); ++id)
    out.checks.push_back({static_cast<check_id>(id), verdict::held, 0, {}, {}});
  auto check = [&out](check_id id) -> check_result& { return out.checks[static_cast<std::size_t>(id)]; };
  out.stock = history.terms.available_at_start();

  const auto entries = gather_entries(history);
  check_overtakes(entries, check(check_id::overtakes));
  check_batches(entries, history.terms, check(check_id::batch_too_large), out);
  check_duplicates(history, entries, check(check_id::duplicate_numbers));
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan)
    place_walk(fan, history.fans[fan], check(check_id::lost_places), check(check_id::position_grew),
               check(check_id::illegal_history))
      .run();

  const auto claims = gather_claims(history, check(check_id::lost_claims), check(check_id::illegal_history));
  const auto payments = gather_payments(history, check(check_id::illegal_history));
  auto holdings = holdings_of(claims);
  judge_orders(history, payments, holdings, out);
  check_oversold(holdings, history.terms, check(check_id::oversold));
  check_extra_claims(holdings, history, check(check_id::extra_claims));
  check_false_sold_out(holdings, history, check(check_id::false_sold_out));
  check_amounts(history, claims, payments, check(check_id::amount_mismatch));
  check_paid(history, claims, payments, check(check_id::paid_without_ticket), out);
  check_balance(history, claims, payments, check(check_id::money_balance), out);
  out.sold_units = out.claim_units + out.orders.bought_units;
  judge_order_books(history, out);
  check_sold(history, check(check_id::sold_equals_stock), out);
  return out;
}

} // namespace fq::load
