// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about hidden ticket types: what an entry may buy by its invitation or its access codes,
// and the group in which it waits.
#include "domain/sale/limits.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>

namespace fq {
namespace {

hidden_types bit_of(std::uint32_t ordinal) {
  return ordinal < hidden_types_max ? hidden_types{1} << ordinal : 0;
}

} // namespace

void sale::load(const entry_access_row& row) {
  const auto* e = queue_.find(row.number);
  if (e != nullptr && (is_live(e->status) || (is_closing() && was_entrant(*e))))
    access_[row.number].push_back(row.promo_code);
}

bool sale::opens_hidden(const promo_code_row& code) const {
  return std::ranges::any_of(stock_.types(), [&](const auto& t) { return t.hidden && opens(&code, t); });
}

/// The promo code that `typed` names, if it is valid now and opens a hidden type.
refusal sale::access_code_of(const subject_key& subject, std::string_view typed, timestamp now,
                             const promo_code_row*& out) const {
  auto no = wanted_promo(subject, typed, now, out);
  const bool is_wrong = no.why == reason::promo_code_invalid || (out != nullptr && !opens_hidden(*out));
  return is_wrong ? refusal{reason::access_code_invalid} : no;
}

/// Records a code for a live entry; nothing if it was given before.
refusal sale::give_access(const queue_line::entry& e, const promo_code_row& code, timestamp now,
                          decision& out) {
  auto& given = access_[e.number];
  if (std::ranges::find(given, code.ordinal) != given.end()) return {};
  if (is_closing() && e.number <= lobby_->last) return reason::unavailable;
  const auto most = rules_.bounds.access_codes;
  if (given.size() >= most)
    return {reason::access_code_invalid, "The entry has " + std::to_string(most) + " access codes."};
  given.push_back(code.ordinal);
  out.content.emplace_back(std::in_place_type<access_given>, access_given{{e.number, code.ordinal}});
  regroup(e, now, out);
  return {};
}

hidden_types sale::opened_by(const queue_line::entry& e, timestamp now) const {
  hidden_types opens = 0;
  const auto* invitation = invitation_of(e.subject, now);
  if (invitation != nullptr && remaining_of(*invitation) > 0) opens |= bit_of(invitation->ticket_type);
  if (const auto given = access_.find(e.number); given != access_.end())
    for (const auto ordinal : given->second) {
      const auto& code = promo_codes_.all()[ordinal];
      if (!may_use(code, claims_.promo_uses(e.subject, ordinal + 1), now))
        opens |= code.reduction.ticket_types;
    }
  return opens;
}

bool sale::opens_hidden(const ticket_type_row& type, const customer_id& customer, timestamp now) const {
  const auto* e = queue_.find(customer);
  const auto* invitation = invitation_of(customer, now);
  return (invitation != nullptr && invitation->ticket_type == type.ordinal)
         || (e != nullptr && is_live(e->status) && (opened_by(*e, now) & bit_of(type.ordinal)) != 0);
}

/// Moves the entry to the group of what it may buy now. False: it stays.
bool sale::regroup(const queue_line::entry& e, timestamp now, decision& out) {
  if (is_closing() && e.number <= lobby_->last) return false;
  if (!queue_.set_hidden_types(e.number, opened_by(e, now))) return false;
  note_place(e, out);
  return true;
}

void sale::regroup(const customer_id& customer, timestamp now, decision& out) {
  if (const auto* e = queue_.find(customer); e != nullptr && is_live(e->status)) regroup(*e, now, out);
}

/// To be called when a code may be usable again. `promo` as in claim_row.
void sale::regroup_holders(std::uint32_t promo, timestamp now, decision& out) {
  for (const auto& [number, codes] : access_)
    if (std::ranges::find(codes, promo - 1) != codes.end()) regroup(*queue_.find(number), now, out);
}

/// Sets all groups after a load. While the lobby is closing, each entrant gets its group of the closing.
/// `tells_all`: notes unchanged groups in the log, too.
void sale::regroup_all(timestamp now, decision& out, bool tells_all) {
  const bool restores = is_closing();
  const auto move = [&](const queue_line::entry* e) {
    if (e == nullptr || !is_live(e->status)) return;
    if (restores && was_entrant(*e))
      queue_.set_hidden_types(e->number, opened_by(*e, lobby_->closed_at));
    else if (!regroup(*e, now, out) && tells_all)
      note_place(*e, out);
  };
  for (const auto& [customer, invitation] : invitations_) move(queue_.find(customer));
  for (const auto& [number, codes] : access_) move(queue_.find(number));
}

/// If a code's `valid_from` has come, its holders change their group. Notes the next such time. Call it then,
/// after a load, and when a code changes.
void sale::open_codes(timestamp now, decision& out) {
  const bool has_come = is_set(next_code_) && next_code_ <= now;
  next_code_ = never;
  for (const auto& code : promo_codes_.all())
    if (code.valid_from > now && (!is_set(next_code_) || code.valid_from < next_code_))
      next_code_ = code.valid_from;
  if (!has_come) return;
  for (const auto& [number, codes] : access_) regroup(*queue_.find(number), now, out);
}

void sale::move_promo_uses(std::uint32_t promo, std::int64_t delta, timestamp now, decision& out) {
  const bool was_used_up = promo != 0 && !has_room(promo_codes_.all()[promo - 1]);
  promo_codes_.move_uses(promo, delta, out.content);
  if (was_used_up) regroup_holders(promo, now, out);
}

/// The code that an order without one uses: of those given when joining, the first valid one that opens a
/// wished hidden type. Without wishes: one that opens a free hidden type, if no public type is free.
const promo_code_row* sale::access_code_for(const customer_id& customer, const std::vector<item_wish>& wishes,
                                            timestamp now) const {
  const auto* e = queue_.find(customer);
  const auto given = e == nullptr ? access_.end() : access_.find(e->number);
  if (given == access_.end()) return nullptr;
  const auto is_free = [now](const ticket_type_row& t) {
    return inventory::is_open(t, now) && inventory::free_units(t) > 0;
  };
  if (wishes.empty()
      && std::ranges::any_of(stock_.types(), [&](const auto& t) { return !t.hidden && is_free(t); }))
    return nullptr;
  const auto is_wanted = [&](const ticket_type_row& t) {
    return wishes.empty() ? is_free(t)
                          : std::ranges::find(wishes, t.id, &item_wish::ticket_type) != wishes.end();
  };
  for (const auto ordinal : given->second) {
    const auto& code = promo_codes_.all()[ordinal];
    if (may_use(code, claims_.promo_uses(customer, ordinal + 1), now)) continue;
    for (const auto& t : stock_.types())
      if (t.hidden && opens(&code, t) && is_wanted(t)) return &code;
  }
  return nullptr;
}

} // namespace fq
