// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/settings.hpp"

#include <algorithm>
#include <numeric>

namespace fq::sim {
namespace {

constexpr std::size_t types_max = 4; ///< ticket types after additions

/// What a new value depends on.
struct draw_from {
  world& w;
  const event_row& event;
  timestamp now;

  [[nodiscard]] bool chance(std::uint32_t per_mille) const { return sim::chance(w.rng, per_mille); }
  template <class T = std::int64_t>
  [[nodiscard]] T some(std::int64_t low, std::int64_t high) const {
    return static_cast<T>(between(w.rng, low, high));
  }
  [[nodiscard]] milliseconds span(std::int64_t low, std::int64_t high) const {
    return milliseconds{some(low, std::max(low, high))};
  }
  [[nodiscard]] bool sells() const { return event.kind == event_kind::sale; }
};

/// How one setting is drawn; nothing is added to the patch if its value is fixed in this sale.
template <class Row>
struct drawing {
  std::string_view column;
  std::uint32_t weight;
  void (*draw)(patch_of<Row>& patch, const draw_from& from);
};

using event_values = patch_of<event_row>;
using type_values = patch_of<ticket_type_row>;

void draw_policy(event_values& p, const draw_from& d) {
  constexpr std::array of_sale{admission_policy::batch, admission_policy::capacity, admission_policy::rate,
                               admission_policy::open, admission_policy::operated};
  constexpr std::array of_queue{admission_policy::capacity, admission_policy::operated};
  const auto policy = d.sells() ? of_sale[d.w.rng() % of_sale.size()] : of_queue[d.w.rng() % of_queue.size()];
  p.set(&queue_settings::policy, policy);
  if (policy == admission_policy::capacity && d.event.queue.concurrency == 0)
    p.set(&queue_settings::concurrency, d.some<std::uint32_t>(1, 8));
  if (policy == admission_policy::rate && d.event.queue.rate_per_minute == 0)
    p.set(&queue_settings::rate_per_minute, d.some<std::uint32_t>(20, 60));
}

/// The sale's end comes near only where the organizer may end it.
void draw_sale_end(event_values& p, const draw_from& d) {
  if (!d.sells()) return;
  const bool soon = d.w.options.organizer_may_end && d.chance(300);
  p.set(&event_row::sale_end, d.now + (soon ? d.span(4'000, 15'000) : d.span(3'000'000, 4'000'000)));
}

/// Later than any drawn opening of the doors, before any drawn end.
void draw_start(event_values& p, const draw_from& d) {
  if (d.sells()) p.set(&event_facts::starts_at, d.now + d.span(6'000'000, 6'900'000));
}

void draw_position(event_values& p, const draw_from& d) {
  if (!d.sells()) return;
  const bool none = d.chance(300);
  p.set(&event_facts::latitude, none ? no_coordinate : d.some<std::int32_t>(-90'000'000, 90'000'000));
  p.set(&event_facts::longitude, none ? no_coordinate : d.some<std::int32_t>(-180'000'000, 180'000'000));
}

constexpr std::array event_drawings{
  drawing<event_row>{"message", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&event_row::message, d.chance(500) ? "Please wait." : "");
                     }},
  drawing<event_row>{
    "name", 1,
    [](event_values& p, const draw_from& d) { p.set(&event_row::name, d.chance(500) ? "Sale" : "Show"); }},
  drawing<event_row>{"queue_opens_at", 1,
                     [](event_values& p, const draw_from& d) {
                       auto t = d.now + d.span(-5'000, 2'000);
                       if (d.sells()) t = std::min(t, d.event.sale_start);
                       if (is_set(d.event.lobby.opens_at))
                         t = std::max(t, d.event.lobby.opens_at + milliseconds{1});
                       p.set(&event_row::queue_opens_at, t);
                     }},
  drawing<event_row>{"sale_start", 2,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells())
                         p.set(&event_row::sale_start,
                               std::max(d.event.queue_opens_at, d.now + d.span(-5'000, 3'000)));
                     }},
  drawing<event_row>{"sale_end", 1, draw_sale_end},
  drawing<event_row>{"policy", 2, draw_policy},
  drawing<event_row>{"concurrency", 6,
                     [](event_values& p, const draw_from& d) {
                       const bool none = d.event.queue.policy != admission_policy::capacity && d.chance(200);
                       p.set(&queue_settings::concurrency, none ? 0u : d.some<std::uint32_t>(1, 10));
                     }},
  drawing<event_row>{"rate_per_minute", 1,
                     [](event_values& p, const draw_from& d) {
                       const bool none = d.event.queue.policy != admission_policy::rate && d.chance(500);
                       p.set(&queue_settings::rate_per_minute, none ? 0u : d.some<std::uint32_t>(20, 60));
                     }},
  drawing<event_row>{"batch_size", 3,
                     [](event_values& p, const draw_from& d) {
                       p.set(&queue_settings::batch_size, d.some<std::uint32_t>(1, 8));
                     }},
  drawing<event_row>{"admission_interval_ms", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&queue_settings::admission_interval, d.span(100, 1'500));
                     }},
  drawing<event_row>{"over_admission_percent", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&queue_settings::over_admission_percent, d.some<std::uint32_t>(100, 180));
                     }},
  drawing<event_row>{"session_ttl_ms", 2,
                     [](event_values& p, const draw_from& d) {
                       const auto least =
                         d.sells() ? d.event.queue.claim_window + d.event.claim_ttl : milliseconds{1'000};
                       p.set(&queue_settings::session_ttl, least + d.span(0, 4'000));
                     }},
  drawing<event_row>{"claim_window_ms", 6,
                     [](event_values& p, const draw_from& d) {
                       const auto most = d.event.queue.session_ttl - d.event.claim_ttl;
                       if (d.sells()) p.set(&queue_settings::claim_window, d.span(1'000, most.count()));
                     }},
  drawing<event_row>{
    "reclaim_window_ms", 2,
    [](event_values& p, const draw_from& d) { p.set(&queue_settings::reclaim_window, d.span(0, 2'000)); }},
  drawing<event_row>{"reclaims_max", 2,
                     [](event_values& p, const draw_from& d) {
                       p.set(&queue_settings::reclaims_max, d.some<std::uint32_t>(0, 2));
                     }},
  drawing<event_row>{"ticket_ttl_ms", 2,
                     [](event_values& p, const draw_from& d) {
                       p.set(&queue_settings::ticket_ttl,
                             d.chance(400) ? milliseconds{0} : d.span(3'000, 20'000));
                     }},
  drawing<event_row>{"capacity", 2,
                     [](event_values& p, const draw_from& d) {
                       p.set(&queue_settings::capacity, d.chance(400) ? 0u : d.some<std::uint32_t>(2, 20));
                     }},
  drawing<event_row>{"presence_timeout_ms", 2,
                     [](event_values& p, const draw_from& d) {
                       p.set(&queue_settings::presence_timeout,
                             d.chance(400) ? milliseconds{0} : d.span(20'000, 22'000));
                     }},
  drawing<event_row>{
    "away_grace_ms", 1,
    [](event_values& p, const draw_from& d) { p.set(&queue_settings::away_grace, d.span(1'000, 8'000)); }},
  drawing<event_row>{"locks_per_session", 1,
                     [](event_values& p, const draw_from& d) {
                       if (!d.sells()) p.set(&queue_settings::locks_per_session, d.some<std::uint32_t>(0, 3));
                     }},
  drawing<event_row>{"claim_ttl_ms", 2,
                     [](event_values& p, const draw_from& d) {
                       const auto most = d.event.queue.session_ttl - d.event.queue.claim_window;
                       if (d.sells()) p.set(&event_row::claim_ttl, d.span(1'000, most.count()));
                     }},
  drawing<event_row>{"claims_per_customer", 2,
                     [](event_values& p, const draw_from& d) {
                       p.set(&event_row::claims_per_customer, d.some<std::uint32_t>(1, 4));
                     }},
  drawing<event_row>{"guests", 1,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&event_row::guests, d.chance(500));
                     }},
  drawing<event_row>{"async_percent", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&event_row::async_percent, d.some<std::int32_t>(-1, 100));
                     }},
  drawing<event_row>{"starts_at", 1, draw_start},
  drawing<event_row>{"ends_at", 1,
                     [](event_values& p, const draw_from& d) {
                       if (!d.sells()) return;
                       draw_start(p, d);
                       p.set(&event_facts::ends_at,
                             d.chance(300) ? never : d.now + d.span(9'000'000, 9'900'000));
                     }},
  drawing<event_row>{"doors_at", 1,
                     [](event_values& p, const draw_from& d) {
                       if (!d.sells()) return;
                       draw_start(p, d);
                       p.set(&event_facts::doors_at, d.chance(300) ? never : d.now + d.span(0, 3'000'000));
                     }},
  drawing<event_row>{"time_zone", 1,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&event_facts::time_zone, d.chance(500) ? "Africa/Lagos" : "");
                     }},
  drawing<event_row>{"venue_name", 1,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&event_facts::venue_name, d.chance(500) ? "Hall" : "");
                     }},
  drawing<event_row>{"venue_address", 1,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells())
                         p.set(&event_facts::venue_address, d.chance(500) ? "Main Street 1" : "");
                     }},
  drawing<event_row>{"latitude", 1, draw_position},
  drawing<event_row>{"longitude", 1, draw_position},
  drawing<event_row>{"description", 1,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&event_facts::description, d.chance(500) ? "# One\n\ntwo" : "");
                     }},
  drawing<event_row>{"picture", 1,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&event_facts::picture, std::string(d.chance(500) ? 64 : 0, 'a'));
                     }},
  drawing<event_row>{"ticket_terms", 1,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&event_facts::ticket_terms, d.chance(500) ? "No glass." : "");
                     }},
  drawing<event_row>{"rotating_codes", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&event_ticket_settings::rotating_codes, d.chance(500));
                     }},
  drawing<event_row>{"transfers_max", 2,
                     [](event_values& p, const draw_from& d) {
                       p.set(&event_ticket_settings::transfers_max, d.some<std::uint32_t>(0, 3));
                     }},
  drawing<event_row>{"waiting_list", 2,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&waiting_list_settings::enabled, d.chance(700));
                     }},
  drawing<event_row>{"waiting_list_claim_window_ms", 2,
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&waiting_list_settings::claim_window, d.span(1'000, 4'000));
                     }},
  drawing<event_row>{"waiting_list_quiet_from",
                     1, // alone, which is refused: a minute of quiet is a whole sale
                     [](event_values& p, const draw_from& d) {
                       if (d.sells()) p.set(&waiting_list_settings::quiet_from, d.some<std::int32_t>(-1, 0));
                     }},
  drawing<event_row>{"waiting_list_quiet_until", 0, [](event_values&, const draw_from&) {}},
  drawing<event_row>{"waiting_list_began_at", 0, [](event_values&, const draw_from&) {}},
  drawing<event_row>{"questions", 1,
                     [](event_values& p, const draw_from& d) {
                       if (!d.sells()) return;
                       std::vector<question> some;
                       if (d.chance(500))
                         some.push_back({0, question_kind::text, d.chance(500), false, "Any wish?", {}});
                       p.set(&event_row::questions, std::move(some));
                     }},
  drawing<event_row>{"challenge", 1,
                     [](event_values& p, const draw_from& d) { // a sale's orders join without one
                       if (!d.sells())
                         p.set(&event_row::challenge,
                               d.chance(500) ? challenge_kind::proof_of_work : challenge_kind::none);
                     }},
  // Refused once the lobby is open; without effect once there is an entry.
  drawing<event_row>{"lobby_opens_at", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&lobby_settings::opens_at, d.event.queue_opens_at - d.span(1, 2'000));
                     }},
  drawing<event_row>{"draw", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&lobby_settings::draw, d.chance(500) ? draw_kind::none : draw_kind::at_opening);
                     }},
  drawing<event_row>{"party_max", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&lobby_settings::party_max, d.some<std::uint32_t>(1, 4));
                     }},
  drawing<event_row>{
    "beacon", 1,
    [](event_values& p, const draw_from&) { p.set(&lobby_settings::beacon, beacon_kind::announced); }},
  drawing<event_row>{
    "beacon_chain_hash", 1,
    [](event_values& p, const draw_from&) { p.set(&lobby_settings::chain_hash, std::string(64, 'a')); }},
  drawing<event_row>{"beacon_round", 1,
                     [](event_values& p, const draw_from& d) {
                       p.set(&lobby_settings::round, d.some<std::uint64_t>(1, 1'000));
                     }},
  drawing<event_row>{
    "beacon_announced", 1,
    [](event_values& p, const draw_from&) { p.set(&lobby_settings::announced, "The lottery's numbers."); }},
};

constexpr std::array type_drawings{
  drawing<ticket_type_row>{"name", 1,
                           [](type_values& p, const draw_from& d) {
                             p.set(&ticket_type_row::name, d.chance(500) ? "Seat" : "Type");
                           }},
  drawing<ticket_type_row>{"price", 1,
                           [](type_values& p, const draw_from& d) {
                             p.set(&ticket_type_row::price, d.chance(100) ? money{0} : d.some(1, 5'000));
                           }},
  drawing<ticket_type_row>{
    "total", 12, [](type_values& p, const draw_from& d) { p.set(&ticket_type_row::total, d.some(1, 20)); }},
  drawing<ticket_type_row>{"max_per_order", 1,
                           [](type_values& p, const draw_from& d) {
                             p.set(&ticket_type_row::max_per_order, d.some<std::uint32_t>(1, 3));
                           }},
  drawing<ticket_type_row>{
    "on_sale", 5,
    [](type_values& p, const draw_from& d) { p.set(&ticket_type_row::on_sale, d.chance(700)); }},
  drawing<ticket_type_row>{
    "hidden", 1, [](type_values& p, const draw_from& d) { p.set(&ticket_type_row::hidden, d.chance(400)); }},
  drawing<ticket_type_row>{"sale_from", 1,
                           [](type_values& p, const draw_from& d) {
                             p.set(&ticket_type_row::sale_from,
                                   d.chance(400) ? never : d.now + d.span(-3'000, 4'000));
                           }},
  drawing<ticket_type_row>{"sale_until", 1,
                           [](type_values& p, const draw_from& d) {
                             p.set(&ticket_type_row::sale_until,
                                   d.chance(600) ? never : d.now + d.span(500, 8'000));
                           }},
  drawing<ticket_type_row>{"description", 1,
                           [](type_values& p, const draw_from& d) {
                             p.set(&ticket_type_row::description, d.chance(500) ? "With a view." : "");
                           }},
};

/// Whether the drawings are the settings of Row, each once, in the order of its description.
template <class Row, class Drawings>
constexpr bool draws_all_settings(const Drawings& drawings) {
  std::size_t next = 0;
  bool same = true;
  each_field<Row>([&](const auto& field) {
    if (!field.setting.is_a_setting()) return;
    same = same && next < drawings.size() && drawings[next].column == field.name;
    ++next;
  });
  return same && next == drawings.size();
}
static_assert(draws_all_settings<event_row>(event_drawings),
              "each setting needs a drawing, in the row's order");
static_assert(draws_all_settings<ticket_type_row>(type_drawings), "as above");

template <class Row, class Drawings>
void draw_one(const Drawings& drawings, patch_of<Row>& patch, const draw_from& from) {
  const auto sum = std::accumulate(drawings.begin(), drawings.end(), 0u,
                                   [](std::uint32_t n, const auto& x) { return n + x.weight; });
  auto point = from.w.rng() % sum;
  for (const auto& each : drawings) {
    if (point < each.weight) return each.draw(patch, from);
    point -= each.weight;
  }
}

ticket_type_patch some_type_patch(const draw_from& from) {
  ticket_type_patch t;
  const auto& all = from.w.check->ticket_types();
  if (all.size() < types_max && from.chance(30)) {
    t.set(&ticket_type_row::name, "Added");
    t.set(&ticket_type_row::price, from.some(0, 5'000));
    t.set(&ticket_type_row::total, from.some(1, 6));
    t.set(&ticket_type_row::hidden, from.chance(300));
    return t;
  }
  t.values.id = from.w.some_type();
  for (bool again = true; again; again = from.chance(150)) draw_one<ticket_type_row>(type_drawings, t, from);
  return t;
}

} // namespace

event_patch some_patch(world* w) {
  const draw_from from{*w, w->check->event(), w->env->wall_now()};
  event_patch p;
  if (from.sells() && from.chance(400)) {
    p.ticket_types.push_back(some_type_patch(from));
    if (!from.chance(100)) return p;
  }
  for (bool again = true; again; again = from.chance(250)) draw_one<event_row>(event_drawings, p, from);
  return p;
}

} // namespace fq::sim
