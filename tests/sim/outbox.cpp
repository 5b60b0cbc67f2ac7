// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/outbox.hpp"

#include "actors/outbox/dispatcher.hpp"
#include "domain/delivery/outbox.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <numeric>
#include <optional>

namespace fq::sim {
namespace {

/// Maximum delay of a committed event without faults: the next poll, and the time to acknowledge the rows
/// before it.
constexpr milliseconds outbox_delay = outbox_poll * 3;

/// The expected event of a change: topic, and the id in the payload. Follows the documented catalog, not the
/// rules of domain/delivery/outbox.
struct told {
  std::string_view topic;
  uuid subject;
};

struct expected_telling {
  aggregate_id aggregate;
  const checker& check; ///< has already seen the batch

  std::optional<told> operator()(const entry_moved& c) const {
    const auto id = make_entry_id(c.row.joined_at, aggregate, c.row.number);
    const auto became = [&](entry_status s) { return c.row.status == s && c.from != s; };
    if (became(entry_status::admitted)) return told{"queue.turn_granted", id};
    if (became(entry_status::expired) || became(entry_status::session_expired))
      return told{"queue.expired", id};
    return std::nullopt;
  }
  std::optional<told> operator()(const claim_moved& c) const {
    if (c.row.status == c.from) return std::nullopt;
    if (c.row.status == claim_status::confirmed) { // the order has its own event
      if (check.order_of(c.row.id) != nullptr) return std::nullopt;
      return told{"order.completed", c.row.id};
    }
    if (c.row.status == claim_status::released && c.row.ended_at >= c.row.expires_at)
      return told{"claim.expired", c.row.id};
    return std::nullopt;
  }
  std::optional<told> operator()(const order_moved& c) const {
    const auto became = [&](order_status s) { return c.row.status == s && c.from != s; };
    if (became(order_status::success)) return told{"order.completed", c.row.id};
    if (became(order_status::failed)) return told{"order.failed", c.row.id};
    if (became(order_status::cancelled)) return told{"order.cancelled", c.row.id};
    return std::nullopt;
  }
  std::optional<told> operator()(const order_placed& c) const { return told{"order.placed", c.row.id}; }
  std::optional<told> operator()(const payment_moved& c) const {
    const auto became = [&](payment_status s) { return c.row.status == s && c.from != s; };
    if (became(payment_status::failed)) return told{"payment.failed", c.row.id};
    if (became(payment_status::refunded) || became(payment_status::partially_refunded))
      return told{"payment.refunded", c.row.id};
    return std::nullopt;
  }
  std::optional<told> operator()(const event_changed& c) const {
    const bool cancelled = c.event.status == event_status::cancelled && c.from != event_status::cancelled;
    return cancelled ? std::optional{told{"event.cancelled", c.event.id}} : std::nullopt;
  }
  std::optional<told> operator()(const transfer_moved& c) const {
    const bool is_accepted = c.row.status == transfer_status::accepted;
    return is_accepted ? std::optional{told{"ticket.transferred", c.row.ticket}} : std::nullopt;
  }
  std::optional<told> operator()(const event_ticket_moved& c) const {
    const bool came_in = c.row.status == event_ticket_status::checked_in && c.from != c.row.status;
    return came_in ? std::optional{told{"ticket.checked_in", c.row.id}} : std::nullopt;
  }
  std::optional<told> operator()(const customer_stored& c) const { return told{"user.updated", c.row.id}; }
  template <class Other>
  std::optional<told> operator()(const Other&) const {
    return std::nullopt;
  }
};

/// The additional event of a change: the tickets of a claim.
std::optional<told> expected_of_tickets(const change& c) {
  const auto* moved = std::get_if<claim_moved>(&c);
  if (moved == nullptr) return std::nullopt;
  const bool was_sold = moved->from == claim_status::confirmed; // a confirmed claim moves by a refund only
  if (was_sold) return told{"ticket.cancelled", moved->row.id};
  return moved->row.status == claim_status::confirmed ? std::optional{told{"ticket.generated", moved->row.id}}
                                                      : std::nullopt;
}

bool tells(const outbox_row& row, const told& what) {
  return row.topic == what.topic && row.payload.find(to_string(what.subject)) != std::string::npos;
}

} // namespace

bool is_retried(const batch& b, const uuid& id) {
  return std::ranges::any_of(b.content, [&](const change& c) {
    const auto* letter = std::get_if<dead_letter_stored>(&c);
    return letter != nullptr && letter->row.kind == dead_letter_kind::undelivered && letter->row.subject == id
           && letter->row.status == dead_letter_status::retried;
  });
}

// -- the watch --------------------------------------------------------------------------------------------

void outbox_watch::applied(const batch& b) {
  std::vector<told> happened;
  std::uint32_t ordinal = 0;
  std::size_t next = 0, told_news = 0;
  for (const auto& c : b.content) {
    if (const auto what = std::visit(expected_telling{b.aggregate, *world_.check}, c))
      happened.push_back(*what);
    if (const auto what = expected_of_tickets(c)) happened.push_back(*what);
    const auto* appended = std::get_if<outbox_appended>(&c);
    if (appended == nullptr) continue;
    if (!ids_.insert(appended->row.id).second && !is_retried(b, appended->row.id))
      world_.check->fail("I16", "one id, two domain events");
    const bool is_mail = appended->row.topic == topic::mail_send; // checked by mail_watch
    const bool is_of_people = check_people(appended->row, told_news);
    if (!is_mail && !is_of_people && (next >= happened.size() || !tells(appended->row, happened[next++])))
      world_.check->fail("I16", appended->row.topic + " tells of nothing that happened");
    const outbox_key key{b.aggregate, b.to_seq, ordinal++};
    const auto lanes = b.aggregate == accounts_aggregate ? every_lane
                       : is_mail                         ? bit_of(lane::mail)
                                                         : bit_of(lane::notices);
    if (appended->row.lanes != lanes)
      world_.check->fail("I16", appended->row.topic + " goes through other lanes");
    for (const auto which : {lane::mail, lane::notices}) { // no bus here
      if ((appended->row.lanes & bit_of(which)) == 0) continue;
      auto& p = passages_[{which, b.aggregate}];
      p.places[key] = p.rows.size();
      p.rows.push_back({key, appended->row, world_.env->steady_now()});
    }
  }
  if (next < happened.size())
    world_.check->fail("I16", "nobody was told: " + std::string{happened[next].topic});
  if (told_news < world_.check->news().size()) world_.check->fail("I16", "an invited customer was not told");
}

/// The events of blocks and invitations follow the others.
bool outbox_watch::check_people(const outbox_row& row, std::size_t& told_news) const {
  const auto names = [&](const customer_id& who) {
    return row.payload.find(to_string(who)) != std::string::npos;
  };
  if (row.topic == topic::quota_invitation) {
    const auto& news = world_.check->news();
    if (told_news >= news.size() || !names(news[told_news++]))
      world_.check->fail("I16", "somebody was told of no invitation");
    return true;
  }
  return row.topic == topic::blacklist_enforced;
}

void outbox_watch::delivered(lane which, const outbox_item& item) {
  auto& p = passages_[{which, item.key.aggregate}];
  const auto known = p.places.find(item.key);
  auto told = item.row;
  if (known != p.places.end()) told.lanes = p.rows[known->second].content.lanes; // others may be done
  if (known == p.places.end() || !(p.rows[known->second].content == told))
    return world_.check->fail("I16", "delivered what was not committed: " + item.row.topic);
  if (known->second > p.delivered)
    return world_.check->fail("I16", item.row.topic + " overtook its predecessor");
  if (known->second < p.delivered) return world_.check->reached(rare::delivered_again);
  ++p.delivered;
}

void outbox_watch::check_end() {
  for (const auto& [of, p] : passages_) check_end(of.first, p);
  check_marked(lane::mail);
  check_marked(lane::notices);
}

void outbox_watch::check_end(lane which, const passage& p) const {
  const auto due = [this](const row& r) { return r.committed_at + outbox_delay < world_.env->steady_now(); };
  const bool is_seen = which == lane::mail ? !world_.options.mail.on // else letter_watch sees it
                                           : !world_.options.has_couriers; // else notice_watch does
  if (is_seen && p.delivered < p.rows.size() && due(p.rows[p.delivered]))
    world_.check->fail("I16", p.rows[p.delivered].content.topic + " was never delivered");
}

void outbox_watch::check_marked(lane which) const {
  const auto due = [this](const row& r) { return r.committed_at + outbox_delay < world_.env->steady_now(); };
  std::vector<std::uint32_t> all(outbox_partitions);
  std::iota(all.begin(), all.end(), 0u);
  for (const auto& item : world_.store->undelivered(which, all, 1, {}))
    if (const auto& p = passages_.at({which, item.key.aggregate}); due(p.rows[p.places.at(item.key)]))
      world_.check->fail("I16", item.row.topic + " was delivered, but never marked");
}

// -- the consumer -----------------------------------------------------------------------------------------

consumer_handle::behavior_type sim_consumer(consumer_handle::pointer self, world* w, lane which) {
  return {[=](const consume_outbox& x) {
    const auto& f = w->options.faults;
    auto takes = x.items->size();
    if (w->chaos && chance(w->rng, f.consumer_refuses)) takes = 0;
    if (w->chaos && chance(w->rng, f.consumer_stops_early)) takes = w->rng() % (takes + 1);
    auto keys = std::make_shared<std::vector<outbox_key>>();
    for (std::size_t i = 0; i < takes; ++i) {
      w->outbox->delivered(which, (*x.items)[i]);
      keys->push_back((*x.items)[i].key);
    }
    if (w->chaos && chance(w->rng, f.consumer_answer_lost)) return;
    const auto delay = w->chaos ? between(w->rng, milliseconds{0}, f.consumer_delay) : milliseconds{0};
    caf::delayed_anon_send(caf::actor_cast<caf::actor>(self->current_sender()), delay,
                           outbox_consumed{std::move(keys), {}});
  }};
}

} // namespace fq::sim
