// SPDX-License-Identifier: Apache-2.0
// The erasure of personal data in the memory ledger.
#include "domain/base/address_text.hpp"
#include "store/memory/memory_ledger.hpp"
#include "store/memory/memory_tables.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace fq {

class memory_ledger::eraser final : public erasure_store {
public:
  explicit eraser(durable& state) : state_(state) {}

  std::optional<erasure> next_erasure() override {
    std::optional<erasure> next;
    for (const auto& row : customers()) {
      if (row.to_erase.empty()) continue;
      auto& known = state_.erasures[row.id];
      known.customer = row.id;
      known.names = row.to_erase;
      if (!next || known.round < next->round) next = known;
    }
    return next;
  }

  void store_erasure(const erasure& e) override {
    state_.erasures[e.customer] = e;
    find_row(customers(), e.customer)->to_erase = e.names;
  }

  void end_erasure(const customer_id& customer) override {
    state_.erasures.erase(customer);
    find_row(customers(), customer)->to_erase.clear();
  }

  std::vector<order_contact> contacts_of(const customer_id& customer, std::size_t limit) override {
    std::vector<order_contact> orders;
    for (const auto& [number, state] : state_.aggregates)
      for (const auto& o : state.image.orders)
        if (o.customer == customer && !o.contact.email.empty() && orders.size() < limit)
          orders.push_back({number, o.id, o.contact.mail_address()});
    return orders;
  }

  void empty_contact(const order_contact& order) override {
    find_row(state_.aggregates.at(order.aggregate).image.orders, order.order)->contact = {};
  }

  std::size_t empty_transfers(const customer_id& customer, std::size_t limit) override {
    std::size_t emptied = 0;
    const auto empty = [&](const customer_id& whose, std::string& address) {
      if (whose != customer || address.empty() || emptied == limit) return;
      address.clear();
      ++emptied;
    };
    for (auto& [number, state] : state_.aggregates)
      for (auto& o : state.image.transfers) {
        empty(o.giver, o.giver_email);
        empty(o.receiver, o.receiver_email);
      }
    return emptied;
  }

  std::size_t erase_devices(const customer_id& customer, std::size_t limit) override {
    const auto before = limit;
    std::erase_if(state_.deliveries,
                  [&](const auto& d) { return d.second.holder == customer && limit > 0 && limit-- > 0; });
    std::erase_if(state_.devices,
                  [&](const auto& d) { return d.second.holder == customer && limit > 0 && limit-- > 0; });
    return before - limit;
  }

  /// Answers have no number in memory: their place stands for it, so all are looked at in one step.
  std::vector<erasable_row> rows_to_look_at(const erasure& e, std::size_t limit) override {
    std::vector<erasable_row> rows;
    for (const auto& [number, state] : state_.aggregates) {
      if (e.part == erasure_part::outbox)
        for (const auto& r : state.outbox)
          rows.push_back({{number, r.seq, r.ordinal},
                          r.content.payload,
                          is_set(r.delivered_at) || (r.content.lanes & bit_of(lane::mail)) == 0});
      else
        for (std::size_t i = 0; i < state.image.idempotency.size(); ++i) {
          const auto& answer = state.image.idempotency[i].answer;
          rows.push_back({{number, i + 1, 0}, {answer.begin(), answer.end()}, true});
        }
    }
    std::erase_if(rows, [&](const erasable_row& r) { return r.key <= e.after; });
    if (e.part == erasure_part::outbox && rows.size() > limit) rows.resize(limit);
    return rows;
  }

  void erase_row_of(erasure_part part, const outbox_key& key) override {
    auto& state = state_.aggregates.at(key.aggregate);
    if (part == erasure_part::outbox)
      std::erase_if(state.outbox,
                    [&](const stored_outbox_row& r) { return r.seq == key.seq && r.ordinal == key.ordinal; });
    else
      answers_.emplace_back(key.aggregate, key.seq - 1);
  }

  void erase_address(std::string_view address) override {
    auto& image = state_.aggregates.at(accounts_aggregate).image;
    std::erase_if(image.otps, [&](const otp_row& r) { return r.email == address; });
    std::erase_if(state_.deliveries, [&](const auto& d) {
      return d.second.topic == "user.updated" && names_address(d.second.payload, address);
    });
  }

  void empty_letters(std::string_view name) override {
    for (auto& [number, state] : state_.aggregates)
      for (auto& letter : state.dead_letters) {
        if (letter.kind != dead_letter_kind::undelivered || !is_of(letter.payload, name)) continue;
        letter.payload.clear();
        letter.status = dead_letter_status::dismissed;
        erase_row(state.image.dead_letters, letter.id);
      }
  }

  std::size_t erase_old_contacts(timestamp before, std::size_t limit) override {
    std::size_t gone = 0;
    for (auto& [number, state] : state_.aggregates) {
      const auto& event = state.image.event;
      if (!event || (event->status != event_status::ended && event->status != event_status::cancelled)
          || event->sale_end >= before)
        continue;
      for (auto& order : state.image.orders) {
        if (is_open(order.status) || order.contact.email.empty() || gone == limit) continue;
        order.contact = {};
        ++gone;
      }
    }
    return gone + erase_old_scans(before, limit - gone);
  }

  /// By ticket; scans without one are single.
  std::size_t erase_old_scans(timestamp before, std::size_t limit) {
    std::vector<std::tuple<aggregate_id, event_ticket_id, timestamp, scan_id>> old;
    for (const auto& [number, state] : state_.aggregates) {
      const auto& scans = state.image.scans;
      if (!has_ended(state.image.event, before)) continue;
      for (const auto& s : scans) {
        const auto is_newer = [&](const scan_row& n) {
          return n.received_at >= before && n.ticket == s.ticket;
        };
        const bool is_single = s.ticket.is_nil() || has_no_ticket(s.objection);
        if (s.received_at < before && (is_single || std::ranges::none_of(scans, is_newer)))
          old.emplace_back(number, s.ticket, s.received_at, s.id);
      }
    }
    std::ranges::sort(old);
    if (old.size() > limit) old.resize(limit);
    for (const auto& [number, ticket, at, id] : old) erase_row(state_.aggregates.at(number).image.scans, id);
    return old.size();
  }

  /// Whether the sale and the event itself ended before `before`.
  static bool has_ended(const std::optional<event_row>& event, timestamp before) {
    return event && (event->status == event_status::ended || event->status == event_status::cancelled)
           && std::max({event->sale_end, event->facts.starts_at, event->facts.ends_at}) < before;
  }

  /// Removes the answers that were found, last first.
  void finish() {
    std::ranges::sort(answers_, std::greater{});
    for (const auto& [number, place] : answers_) {
      auto& rows = state_.aggregates.at(number).image.idempotency;
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(place));
    }
  }

private:
  std::vector<customer_row>& customers() { return state_.aggregates.at(accounts_aggregate).image.customers; }

  durable& state_;
  std::vector<std::pair<aggregate_id, std::size_t>> answers_; ///< aggregate and place
};

std::size_t memory_ledger::prune_personal(const prune_bounds& bounds, std::size_t most) {
  eraser work{state_};
  const auto gone = erase_some(work, bounds, most);
  work.finish();
  return gone;
}

} // namespace fq
