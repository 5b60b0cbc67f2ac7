// SPDX-License-Identifier: Apache-2.0
// The event actor's part in a draw: asks for the root of the entrants, the beacon and the order, one after
// the other, and parties. docs/design/fairness.md has the rules.
#include "actors/sale/event_actor.hpp"
#include "actors/sale/limits.hpp"
#include "crypto/hkdf.hpp"
#include "fair/draw.hpp"
#include "fair/records.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace fq {
namespace {

/// The root over these leaves, as hex digits.
std::string root_of_entrants(aggregate_id owner, const nonce_maker& nonces,
                             const std::vector<sale::entrant_place>& entrants) {
  tree_edge tree;
  for (const auto& e : entrants) {
    const auto commitment = nonces.commitment(owner, e.where.number, e.subject, e.join_key, e.joined_at);
    tree.append(leaf_hash(entrant_leaf(e.where, commitment)));
  }
  return to_hex(tree.root());
}

std::shared_ptr<const line_ranks> ranks_of(const lobby_row& lobby,
                                           const std::vector<std::uint32_t>& parties) {
  std::vector<entrant> entrants(parties.size());
  for (std::size_t i = 0; i < parties.size(); ++i)
    entrants[i] = {queue_number{i + 1}, queue_number{parties[i]}};
  auto beacon = lobby.value;
  if (lobby.beacon == beacon_kind::drand)
    if (const auto bytes = from_hex(lobby.value)) beacon.assign(bytes->begin(), bytes->end());
  const auto order = draw_order(digest_of_hex(lobby.seed), digest_of_hex(lobby.root),
                                beacon_value(lobby.beacon, beacon), entrants);
  std::vector<std::uint32_t> numbers;
  numbers.reserve(order.size());
  for (const auto n : order) numbers.push_back(static_cast<std::uint32_t>(value_of(n)));
  return std::make_shared<const line_ranks>(std::move(numbers));
}

} // namespace

// -- the draw

/// After each decision: asks for what the draw needs next.
void event_state::follow_draw() {
  using enum sale::draw_step;
  const auto step = sale_->next_draw_step();
  if (step == draw_step_) return;
  draw_step_ = step;
  ++draw_asked_;
  const auto asked = draw_asked_;
  switch (step) {
    case none: return;
    case root: entrants_ = {}; return gather_entrants();
    case beacon: return ask_beacon();
    case order:
      return ask_draw_worker([asked, lobby = *sale_->lobby(), parties = sale_->lobby_parties()] {
        return lobby_computed{asked, {}, {}, ranks_of(lobby, parties)};
      });
  }
}

/// For the root: some in each turn, so that no request waits for a million. They no longer change.
void event_state::gather_entrants() {
  const auto after = entrants_.upto;
  entrants_.upto = queue_number{value_of(after) + services_->rules.bounds.rows_per_run};
  sale_->add_entrants(entrants_.all, after, services_->rules.bounds.rows_per_run);
  if (entrants_.upto < sale_->lobby()->last) return self_->send(self_, lobby_computed{draw_asked_});
  ask_draw_worker([asked = draw_asked_, owner = aggregate_, entrants = std::exchange(entrants_.all, {}),
                   nonces = nonce_maker{nonce_secret_of(services_->stored_key, sale_->event().id)}] {
    return lobby_computed{asked, root_of_entrants(owner, nonces, entrants)};
  });
}

void event_state::ask_draw_worker(std::function<lobby_computed()> work) {
  if (!services_->draws) return self_->send(self_, work());
  self_->send(services_->draws,
              compute_lobby{std::make_shared<const std::function<lobby_computed()>>(std::move(work))});
}

void event_state::ask_beacon() {
  const auto& lobby = sale_->event().lobby;
  if (lobby.beacon != beacon_kind::drand || !services_->fetch_beacon) return;
  services_->fetch_beacon(
    lobby.chain_hash, lobby.round,
    [asked = draw_asked_, me = caf::actor_cast<caf::actor>(self_)](std::string signature) {
      caf::anon_send(me, lobby_computed{asked, {}, std::move(signature)});
    });
}

void event_state::on_lobby_computed(const lobby_computed& x) {
  if (x.asked != draw_asked_) return;
  if (loading_) {
    sale_->loaded();
    sale_->rank(*x.ranks);
    return begin_serving();
  }
  if (!serving_ || is_moving_) return; // the next owner asks again
  if (draw_step_ == sale::draw_step::root && x.root.empty()) return gather_entrants();
  const auto t = now();
  decision d;
  switch (std::exchange(draw_step_, sale::draw_step::none)) {
    case sale::draw_step::none: return;
    case sale::draw_step::root: sale_->set_root(x.root, t, d); break;
    case sale::draw_step::beacon:
      if (x.beacon.empty()) {
        draw_step_ = sale::draw_step::beacon;
        set_timer(timer_kind::beacon, beacon_wait_, draw_asked_);
        beacon_wait_ = std::min(2 * beacon_wait_, beacon_retry.cap);
        return;
      }
      static_cast<void>(sale_->give_beacon(beacon_kind::drand, x.beacon, t, d));
      break;
    case sale::draw_step::order:
      sale_->rank(*x.ranks);
      if (mirror_) mirror_->rebuild(); // it is ordered by rank
      start_lines_over();
      break;
  }
  commit(std::move(d), t);
}

/// All who know positions, or places without one, ask again.
void event_state::start_lines_over() { subscribers_->start_over(); }

// -- requests

caf::result<event_reply> event_state::on_enter_beacon(const enter_beacon& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return event_reply{std::move(no)};
  const auto t = now();
  decision d;
  if (auto no = sale_->give_beacon(beacon_kind::announced, x.value, t, d))
    return reveal(event_reply{std::move(no)});
  record(d, x.what, x.note, "beacon", t);
  const auto seq = commit(std::move(d), t);
  event_reply reply;
  reply.event = sale_->view();
  return reply_after(seq, std::move(reply));
}

caf::result<event_reply> event_state::on_end_draw_wait(const end_draw_wait& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return event_reply{std::move(no)};
  if (x.what.by.kind != principal_kind::operate) return event_reply{reason::forbidden};
  const auto t = now();
  decision d;
  if (auto no = sale_->end_wait(x.note.reason, t, d)) return reveal(event_reply{std::move(no)});
  record(d, x.what, x.note, "end_draw_wait", t);
  const auto seq = commit(std::move(d), t);
  event_reply reply;
  reply.event = sale_->view();
  return reply_after(seq, std::move(reply));
}

caf::result<entry_reply> event_state::on_change_party(const change_party& x) {
  if (refuses()) return refused(x);
  const bool by_ticket = !x.ticket.is_nil();
  if (!by_ticket && is_no_sale(x.event)) return entry_reply{reason::not_found};
  follow_rules();
  const auto* own = by_ticket ? entry_of(x.ticket) : sale_->queue().find(x.customer);
  if (own == nullptr) return reveal(entry_reply{reason::not_in_queue});
  const auto party = party_of_code(x.party_code);
  if (party == queue_number{} && !x.party_code.empty()) return reveal(entry_reply{reason::party_unknown});
  const auto t = now();
  decision d;
  auto no = sale_->change_party(*own, party, t, d);
  const auto seq = d.content.empty() ? change_of(own->number) : commit(std::move(d), t);
  if (no) return reveal(entry_reply{std::move(no)}, seq); // an AWAY entry may have come back all the same
  joined_[own->number] = std::max(seq, change_of(own->number));
  entry_reply reply;
  reply.entry = shown(*own, t);
  return reply_after(std::max(seq, journal_->reveal_barrier()), std::move(reply));
}

// -- parties

entry_view event_state::shown(const queue_line::entry& e, timestamp t) const {
  auto v = sale_->view_of(e, t);
  if (v.party != queue_number{}) v.party_code = party_code_of(v.party);
  return v;
}

namespace {

/// Without letters that look like digits.
constexpr std::string_view code_letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t code_proof_length = 8; ///< 40 bits: joins are limited

} // namespace

/// The party's number, and a proof that its opener told it. It needs no memory and no row.
std::string event_state::party_code_of(queue_number party) const {
  std::string number;
  for (auto n = value_of(party); n > 0; n /= code_letters.size())
    number.insert(number.begin(), code_letters[n % code_letters.size()]);
  const auto key =
    hkdf_sha256(services_->stored_key.bytes(), "fairqueue party codes", to_string(sale_->event().id));
  const auto mac = hmac_sha256(key.bytes(), number);
  std::string proof;
  for (std::size_t i = 0; i < code_proof_length; ++i) proof += code_letters[mac[i] % code_letters.size()];
  return number + '-' + proof;
}

/// Any case; blanks and hyphens do not matter. 0: no party has it.
queue_number event_state::party_of_code(std::string_view typed) const {
  std::string code;
  for (const char c : typed) {
    const auto upper = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (upper == ' ' || upper == '-') continue;
    code += upper == 'O' ? '0' : upper == 'I' || upper == 'L' ? '1' : upper;
  }
  if (code.size() <= code_proof_length || code.size() > code_proof_length + 8) return {};
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < code.size() - code_proof_length; ++i) {
    const auto digit = code_letters.find(code[i]);
    if (digit == std::string_view::npos) return {};
    number = number * code_letters.size() + digit;
  }
  code.insert(code.size() - code_proof_length, 1, '-');
  const queue_number party{number};
  return number > 0 && constant_time_equal(party_code_of(party), code) ? party : queue_number{};
}

} // namespace fq
