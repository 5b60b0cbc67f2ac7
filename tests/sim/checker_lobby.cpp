// SPDX-License-Identifier: Apache-2.0
// The checker's own draw: who is an entrant, which rank a lot gives, and when a party may be torn apart. It
// shares no code with the server but HMAC and hexadecimal digits.
#include "tests/sim/checker.hpp"

#include "crypto/digest.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

std::string bytes_of(const std::string& hex) {
  const auto bytes = from_hex(hex);
  return bytes ? std::string(bytes->begin(), bytes->end()) : std::string{};
}

} // namespace

checker::place_in_line checker::place_of(const entry_row& row) const {
  return {row.priority_class, rank_of(row.number), row.number};
}

std::uint64_t checker::rank_of(queue_number number) const {
  const auto rank = ranks_.find(number);
  return rank == ranks_.end() ? value_of(number) : rank->second;
}

void checker::see(const lobby_stored& c) {
  const auto& now = c.row;
  const auto before = std::exchange(lobby_, now);
  const auto in_line = static_cast<std::uint64_t>(
    std::ranges::count_if(entries_, [](const auto& e) { return is_in_line(e.second.status); }));
  if (!before) {
    if (!entries_.empty()) fail("lobby", "it opened after somebody had joined");
    if (seed_commitment_of(now.seed) != now.seed_commitment)
      fail("lobby", "its seed is not the published one");
    return reached(rare::lobby_opened);
  }
  if (now.seed != before->seed || now.opened_at != before->opened_at) fail("lobby", "it opened again");
  if (!is_set(before->closed_at)) {
    if (now.closed_at < event_.queue_opens_at) fail("lobby", "it closed before the opening");
    const auto last = entries_.empty() ? queue_number{} : entries_.rbegin()->first;
    if (now.last != last || now.entrants != in_line)
      fail("lobby", "its entrants are not those in line at the closing");
    return;
  }
  if (now.closed_at != before->closed_at || now.last != before->last) fail("lobby", "it closed again");
  if (is_set(before->drawn_at)) return fail("lobby", "it was drawn again");
  if (!before->root.empty() && now.root != before->root) fail("lobby", "the root of its entrants changed");
  if (is_set(now.drawn_at)) draw();
}

std::string checker::seed_commitment_of(const std::string& seed) { return to_hex(sha256(bytes_of(seed))); }

void checker::draw() {
  const auto& l = *lobby_;
  if (l.beacon == beacon_kind::none && event_.lobby.beacon != beacon_kind::none) reached(rare::wait_ended);
  const auto key = bytes_of(l.seed) + bytes_of(l.root) + l.value;
  struct lot {
    std::string value;
    std::uint64_t drawn_for = 0, number = 0;
    auto operator<=>(const lot&) const = default;
  };
  std::vector<lot> lots;
  std::map<queue_number, std::uint8_t> lowest;
  for (std::uint64_t n = 1; n <= value_of(l.last); ++n) {
    const auto& e = entries_.at(queue_number{n});
    const auto drawn_for = e.party == queue_number{} ? n : value_of(e.party);
    std::string message;
    for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>(drawn_for >> shift & 0xff);
    const auto mac = hmac_sha256(view_bytes(key), message);
    lots.push_back({std::string(mac.begin(), mac.end()), drawn_for, n});
    if (e.party != queue_number{} && is_in_line(e.status))
      lowest[e.party] = std::max(lowest[e.party], e.priority_class);
  }
  std::ranges::sort(lots);
  for (std::size_t i = 0; i < lots.size(); ++i) ranks_[queue_number{lots[i].number}] = i + 1;
  waiting_.clear();
  for (const auto& [n, e] : entries_) {
    if (e.status == entry_status::waiting) waiting_.insert(place_of(e));
    if (e.party != queue_number{} && is_in_line(e.status) && e.priority_class != lowest[e.party])
      fail("lobby", "the members of the party " + text(e.party) + " have several classes");
  }
  reached(rare::lobby_drawn);
}

bool checker::awaits_draw() const {
  return lobby_
         && (!is_set(lobby_->closed_at)
             || (event_.lobby.draw == draw_kind::at_opening && !is_set(lobby_->drawn_at)));
}

timestamp checker::line_from(const entry_row& row) const {
  return std::max({row.joined_at, event_.queue_opens_at, lobby_ ? lobby_->drawn_at : never});
}

/// Who has had a position keeps it.
void checker::check_unplaced(const entry_view& e) {
  if (!lobby_ || last_position_.contains(e.id) || e.lobby.phase == lobby_phase::none)
    fail("I8", text(e.number) + " was shown no position");
}

/// A change of the class or the party of an entry.
void checker::see_place(const entry_row& before, const entry_row& now) {
  if (before.party != now.party) {
    const auto members = std::ranges::count_if(
      entries_, [&](const auto& e) { return e.second.party == now.party && is_in_line(e.second.status); });
    if (!lobby_ || is_set(lobby_->closed_at) || members > static_cast<std::ptrdiff_t>(event_.lobby.party_max)
        || (now.party != now.number && members < 2))
      fail("lobby", "place " + text(now.number) + " changed its party");
    if (now.party == now.number) reached(rare::party_opened);
  }
  if (before.priority_class == now.priority_class) return;
  const bool is_levelled = now.party != queue_number{} && now.priority_class > before.priority_class && lobby_
                           && is_set(lobby_->closed_at) && !is_set(lobby_->drawn_at);
  if (!is_levelled) fail("I6", "the place " + text(now.number) + " got another class");
}

void checker::see_party_admission(const entry_row& admitted) {
  if (awaits_draw()) fail("I6", text(admitted.number) + " was admitted before the draw");
  if (admitted.party == queue_number{}) return;
  if (going_ != admitted.party) check_torn_party();
  going_ = admitted.party;
  ++gone_;
}

/// After the admissions of one decision: those of a party who still wait are there because room for all
/// cannot come.
void checker::check_torn_party() {
  const auto party = std::exchange(going_, queue_number{});
  const auto gone = std::exchange(gone_, 0);
  if (party == queue_number{}) return;
  std::uint64_t left = 0;
  for (const auto& w : waiting_) left += entries_.at(w.number).party == party;
  if (left == 0) return gone > 1 ? reached(rare::party_admitted) : void();
  reached(rare::party_split);
  const auto size = gone + left;
  const auto& q = event_.queue;
  const bool is_bound = (q.concurrency != 0 && q.concurrency < size)
                        || (q.policy == admission_policy::batch && q.batch_size < size)
                        || (q.rate_per_minute != 0 && q.rate_per_minute < size);
  if (q.policy == admission_policy::operated || (q.policy != admission_policy::open && is_bound)) return;
  if (has_hidden_type()) return; // who may buy what differs between members
  if (!sells()) return fail("I6", "the party " + text(party) + " was torn apart");
  std::uint64_t units = 0;
  for (const auto& t : types_)
    if (t.on_sale && !(is_set(t.sale_until) && t.sale_until <= latest_))
      units += static_cast<std::uint64_t>(std::max<std::int64_t>(t.total - t.sold, 0));
  if (units * q.over_admission_percent / 100 >= size)
    fail("I6", "the party " + text(party) + " was torn apart");
}

/// An entry has joined it.
void checker::check_party(queue_number party) {
  const auto members = std::ranges::count_if(
    entries_, [&](const auto& e) { return e.second.party == party && is_in_line(e.second.status); });
  if (!lobby_ || is_set(lobby_->closed_at)) fail("lobby", "a party was joined after the lobby");
  if (members > static_cast<std::ptrdiff_t>(event_.lobby.party_max)) fail("lobby", "a party is too large");
}

} // namespace fq::sim
