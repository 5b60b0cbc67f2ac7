// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about its lobby: who comes before the opening, the draw of their order, and parties. The
// owner computes roots and orders with `fair`; docs/design/fairness.md has the rules.
#include "domain/base/hex.hpp"
#include "domain/base/planted.hpp"
#include "domain/sale/limits.hpp"
#include "domain/sale/sale.hpp"
#include "domain/sale/waiting_list.hpp"

#include <algorithm>

namespace fq {
namespace {

std::string bytes_of_hex(std::string_view digits) {
  const auto bytes = from_hex(digits);
  return bytes ? std::string{bytes->begin(), bytes->end()} : std::string{};
}

bool is_selling(const event_row& event) {
  return event.status == event_status::active || event.status == event_status::paused;
}

/// As lobby_record::source.
std::string source_of(const lobby_settings& lobby) {
  if (lobby.beacon != beacon_kind::drand) return lobby.announced;
  auto source = bytes_of_hex(lobby.chain_hash);
  for (int shift = 56; shift >= 0; shift -= 8) source += static_cast<char>(lobby.round >> shift & 0xff);
  return source;
}

/// How many of these get one of the units, in their order.
std::uint64_t count_served(const queue_line& line, std::span<const queue_number> members, unit_pools units) {
  std::uint64_t served = 0;
  for (const auto n : members) {
    const auto opens = line.groups()[line.find(n)->group].opens;
    if (!units.serves(opens)) continue;
    units.book(opens);
    ++served;
  }
  return served;
}

} // namespace

// -- opening and closing

/// None opens once there is an entry: a position that was shown stays.
bool sale::may_open_lobby() const {
  return !lobby_ && is_selling(event_) && is_set(event_.lobby.opens_at)
         && queue_.last_number() == queue_number{};
}

bool sale::is_lobby_due(timestamp now) const {
  if (lobby_is_open()) return now >= event_.queue_opens_at;
  return may_open_lobby() && now >= event_.lobby.opens_at && now < event_.queue_opens_at;
}

void sale::run_lobby(timestamp now, decision& out) {
  if (is_lobby_due(now)) lobby_ ? close_lobby(now, out) : open_lobby(now, out);
}

void sale::open_lobby(timestamp now, decision& out) {
  lobby_.emplace();
  lobby_->opened_at = now;
  auto seed = new_seed_ ? new_seed_() : lobby_seed{std::string(64, '0'), std::string(64, '0')};
  lobby_->seed = std::move(seed.seed);
  lobby_->seed_commitment = std::move(seed.commitment);
  out.content.emplace_back(std::in_place_type<lobby_stored>, lobby_stored{*lobby_});
  note_lobby(out);
}

void sale::note_lobby(decision& out) const {
  const auto& set = event_.lobby;
  note(lobby_record{event_.queue_opens_at, set.draw, static_cast<std::uint8_t>(set.party_max),
                    digest_of_hex(lobby_->seed_commitment), set.beacon, source_of(set)},
       out);
}

/// Who joins from now on stands behind. The owner computes the root from the places of this moment.
void sale::close_lobby(timestamp now, decision& out) {
  regroup_all(now, out);
  lobby_->entrants = queue_.counts().waiting + queue_.counts().away;
  lobby_->last = queue_.last_number();
  lobby_->closed_at = now;
  if (planted(bug::late_entrant)) lobby_->last = queue_number{value_of(lobby_->last) + 3};
  out.content.emplace_back(std::in_place_type<lobby_stored>, lobby_stored{*lobby_});
  if (draws_lots()) {
    note(closed_record{lobby_->entrants, {}}, out); // the log adds the root, once it is known
    closing_classes_ = lowest_classes();
  } else
    out.gives_positions = true;
  out.reveals = true;
}

/// Before the draw.
bool sale::was_entrant(const queue_line::entry& e) const {
  return e.number <= lobby_->last && (is_in_line(e.status) || e.ended_at > lobby_->closed_at);
}

void sale::add_entrants(std::vector<entrant_place>& all, queue_number after, std::uint64_t count) const {
  const auto last = std::min(value_of(lobby_->last), value_of(after) + count);
  for (auto n = value_of(after) + 1; n <= last; ++n) {
    const auto* e = queue_.find(queue_number{n});
    if (e == nullptr || !was_entrant(*e)) continue;
    // The group of an entry that left since the closing may be another's by now.
    const auto opens =
      is_in_line(e->status) ? queue_.groups()[e->group].opens : opened_by(*e, lobby_->closed_at);
    const place where{e->number, e->priority_class, opens, queue_.parties().party_of(e->number)};
    all.push_back({where, e->subject, e->join_key, e->joined_at});
  }
}

// -- the draw

sale::draw_step sale::next_draw_step() const {
  if (!lobby_ || !draws_lots() || !is_set(lobby_->closed_at) || is_ranked_) return draw_step::none;
  if (is_set(lobby_->drawn_at)) return draw_step::order; // also of a sale that is over
  if (lobby_->root.empty()) return draw_step::root; // the log waits for it, also of a sale that is over
  return !is_selling(event_) ? draw_step::none : draw_step::beacon;
}

void sale::set_root(std::string root, timestamp now, decision& out) {
  if (next_draw_step() != draw_step::root) return;
  lobby_->root = std::move(root);
  std::erase_if(access_, [&](const auto& given) { return !is_live(queue_.find(given.first)->status); });
  if (is_selling(event_)) {
    // What did not change while the root was computed.
    regroup_all(now, out);
    if (event_.lobby.beacon == beacon_kind::none) return draw_lobby(beacon_kind::none, {}, now, out);
  }
  out.content.emplace_back(std::in_place_type<lobby_stored>, lobby_stored{*lobby_});
  out.reveals = true;
}

/// By precedence: is there a draw that waits for its beacon?
refusal sale::may_draw() const {
  if (!draws_lots() || event_.lobby.beacon == beacon_kind::none) return reason::wrong_mode;
  if (lobby_ && is_set(lobby_->drawn_at) && !planted(bug::draw_repeated)) return reason::already_drawn;
  if (!lobby_ || !is_set(lobby_->closed_at)) return reason::lobby_not_closed;
  if (lobby_->root.empty()) return reason::unavailable; // for a second at most
  return {};
}

refusal sale::give_beacon(beacon_kind kind, std::string value, timestamp now, decision& out) {
  if (auto no = may_draw()) return no;
  if (kind != event_.lobby.beacon) return reason::wrong_mode;
  draw_lobby(kind, std::move(value), now, out);
  return {};
}

refusal sale::end_wait(std::string why, timestamp now, decision& out) {
  if (auto no = may_draw()) return no;
  note(hand_record{hand_action::end_wait, {}, 0, {}, std::move(why)}, out);
  draw_lobby(beacon_kind::none, {}, now, out);
  return {};
}

void sale::draw_lobby(beacon_kind kind, std::string value, timestamp now, decision& out) {
  lobby_->beacon = kind;
  lobby_->value = std::move(value);
  lobby_->drawn_at = now;
  is_ranked_ = false;
  level_parties(out);
  out.content.emplace_back(std::in_place_type<lobby_stored>, lobby_stored{*lobby_});
  note_drawn(out);
  out.reveals = true;
}

void sale::note_drawn(decision& out) const {
  const auto kind = lobby_->beacon;
  const auto beacon = kind == beacon_kind::drand ? bytes_of_hex(lobby_->value) : lobby_->value;
  note(drawn_record{digest_of_hex(lobby_->seed), digest_of_hex(lobby_->root), kind, beacon, {}}, out);
}

/// The lowest class of each party whose entrants have several, also of those that have left since the
/// closing.
std::unordered_map<queue_number, std::uint8_t> sale::lowest_classes() const {
  std::unordered_map<queue_number, std::uint8_t> lowest;
  queue_.parties().each([&](queue_number party, std::span<const queue_number> entries) {
    std::uint8_t best = priority_classes - 1, worst = 0;
    for (const auto n : entries) {
      const auto& e = *queue_.find(n);
      if (!was_entrant(e)) continue;
      best = std::min(best, e.priority_class);
      worst = std::max(worst, e.priority_class);
    }
    if (best < worst) lowest.emplace(party, worst);
  });
  return lowest;
}

/// The entry's class in the log. In the log all members of a party have the lowest of their classes from the
/// closing on; their rows get it at the draw.
std::uint8_t sale::class_in_log(const queue_line::entry& e) const {
  const auto found = closing_classes_.find(queue_.parties().party_of(e.number));
  return found == closing_classes_.end() ? e.priority_class : found->second;
}

/// Members get the lowest of their classes: otherwise one priority customer would take others along.
void sale::level_parties(decision& out) {
  for (const auto& [party, priority_class] : closing_classes_)
    for (const auto n : queue_.parties().members(party))
      if (queue_.find(n)->priority_class != priority_class) queue_.set_class(n, priority_class, out.content);
  closing_classes_.clear();
}

std::vector<std::uint32_t> sale::lobby_parties() const {
  std::vector<std::uint32_t> parties(value_of(lobby_->last));
  queue_.parties().each([&](queue_number party, std::span<const queue_number> entries) {
    for (const auto n : entries)
      if (n <= lobby_->last) parties[value_of(n) - 1] = static_cast<std::uint32_t>(value_of(party));
  });
  return parties;
}

void sale::rank(line_ranks ranks) {
  is_ranked_ = true;
  if (!planted(bug::rank_lost_at_load) || !is_fresh_) queue_.draw(std::move(ranks));
}

lobby_view sale::lobby_now() const {
  using enum lobby_phase;
  if (!lobby_ || is_ranked_) return {};
  lobby_view v{none, event_.lobby.draw, queue_.counts().waiting + queue_.counts().away,
               event_.queue_opens_at};
  if (!is_set(lobby_->closed_at))
    v.phase = open;
  else if (draws_lots()) {
    v.phase = is_set(lobby_->drawn_at) || lobby_->root.empty() ? closed : waiting;
    v.people = lobby_->entrants;
  }
  return v.phase == none ? lobby_view{} : v;
}

timestamp sale::next_lobby_step(timestamp now) const {
  if (lobby_is_open()) return event_.queue_opens_at;
  return may_open_lobby() && event_.lobby.opens_at > now ? event_.lobby.opens_at : never;
}

// -- parties

refusal sale::change_party(const queue_line::entry& e, queue_number party, timestamp now, decision& out) {
  if (!is_in_line(e.status)) return reason::not_in_queue;
  seen(e.number, now, out);
  return party == queue_number{} ? open_party(e, out) : enter_party(e, party, out);
}

refusal sale::open_party(const queue_line::entry& e, decision& out) {
  if (!lobby_is_open() || !draws_lots()) return reason::lobby_not_open;
  if (event_.lobby.party_max == 1) return reason::wrong_mode;
  if (queue_.parties().party_of(e.number) != queue_number{}) return {};
  queue_.set_party(e.number, e.number, out.content);
  note_place(e, out);
  return {};
}

refusal sale::may_enter_party(queue_number party) const {
  if (!lobby_is_open() || !draws_lots()) return reason::lobby_not_open;
  const auto members = queue_.parties().members(party).size();
  if (members == 0) return reason::party_unknown;
  if (members < event_.lobby.party_max) return {};
  refusal no{reason::party_full};
  no.first = event_.lobby.party_max;
  return no;
}

/// An entry in the lobby joins a party, or another one.
refusal sale::enter_party(const queue_line::entry& e, queue_number party, decision& out) {
  if (queue_.parties().party_of(e.number) == party) return {};
  if (auto no = may_enter_party(party)) return no;
  queue_.set_party(e.number, party, out.content);
  note_place(e, out);
  return {};
}

/// The most of these that could ever be admitted at once, as far as caps and stock say.
std::uint64_t sale::room_ever(std::span<const queue_number> members, timestamp now) const {
  const auto q = admission_of(event_, rules_, now);
  auto room = static_cast<std::uint64_t>(members.size());
  if (q.policy == admission_policy::open) return room;
  const auto bound = [&room](std::uint64_t most) { room = std::min(room, most); };
  if (q.concurrency != 0) bound(q.concurrency);
  if (q.policy == admission_policy::batch) bound(q.batch_size);
  if (q.rate_per_minute != 0) bound(q.rate_per_minute);
  unit_pools units;
  if (!sells()) units.add_public(unit_pools::unlimited);
  std::uint64_t public_units = 0;
  for (const auto& t : stock_.types()) {
    if (!inventory::may_sell(t, now)) continue;
    const auto unsold = static_cast<std::uint64_t>(std::max<std::int64_t>(t.total - t.sold, 0));
    if (t.hidden)
      units.add_hidden(t.ordinal, unsold * q.over_admission_percent / 100);
    else
      public_units += unsold;
  }
  units.add_public(public_units * q.over_admission_percent / 100);
  bound(count_served(queue_, members, std::move(units)));
  return room;
}

/// What opens members' hidden types may have ended since. False: all stay in their groups.
bool sale::regroup_party(queue_number party, timestamp now, decision& out) {
  bool is_changed = false;
  for (const auto n : queue_.parties().members(party)) is_changed |= regroup(*queue_.find(n), now, out);
  return is_changed;
}

/// Whether a party that is first in line goes now: all of it, or, if room for that cannot come, one by one.
bool sale::may_go(queue_number party, const unit_pools& pools, timestamp now, party_gate& gate) const {
  std::vector<queue_number> waiting;
  for (const auto n : queue_.parties().members(party))
    if (queue_.find(n)->status == entry_status::waiting) waiting.push_back(n);
  const bool has_room = waiting.size() <= gate.left && count_served(queue_, waiting, pools) == waiting.size();
  const bool is_called = event_.queue.policy == admission_policy::operated; // the operator says how many come
  if (!has_room && !is_called && room_ever(waiting, now) >= waiting.size()
      && !planted(bug::party_counted_once)) {
    gate.waits = true;
    return false;
  }
  gate.splits |= !has_room;
  gate.going = party;
  return true;
}

} // namespace fq
