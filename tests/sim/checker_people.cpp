// SPDX-License-Identifier: Apache-2.0
// The checker's part for who may buy what, and for single people: hidden types, invitations, codes, blocks,
// calls by an operator.
#include "tests/sim/checker.hpp"

#include <algorithm>
#include <charconv>

namespace fq::sim {

// -- who may buy what -------------------------------------------------------------------------------------

bool checker::has_hidden_type() const {
  return std::ranges::any_of(types_, [](const auto& t) { return t.hidden; });
}

ticket_type_id checker::some_hidden_type(std::uint64_t random) const {
  std::vector<ticket_type_id> all;
  for (const auto& t : types_)
    if (t.hidden) all.push_back(t.id);
  return all[random % all.size()];
}

bool checker::is_on_sale(const ticket_type_row& t, timestamp now) {
  return t.on_sale && t.sale_from <= now && (!is_set(t.sale_until) || now < t.sale_until);
}

std::uint64_t checker::units_of(const customer_id& who, std::uint32_t type) const {
  std::uint64_t units = 0;
  for (const auto& [id, c] : claims_)
    if (c.customer == who && (is_live(c.status) || c.status == claim_status::confirmed))
      for (const auto& i : c.items) units += i.ticket_type == type ? i.quantity - i.refunded : 0;
  return units;
}

std::uint64_t checker::uses_of(const customer_id& who, std::uint32_t code) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(claims_, [&](const auto& c) {
    return c.second.customer == who && c.second.promo == code + 1
           && (is_live(c.second.status) || c.second.status == claim_status::confirmed);
  }));
}

bool checker::may_use(const promo_code_row& code, const customer_id& who, timestamp now) const {
  return code.is_active && (!is_set(code.valid_from) || code.valid_from <= now)
         && (!is_set(code.valid_until) || now < code.valid_until)
         && (code.uses_max == 0 || code.uses < code.uses_max)
         && (code.uses_per_customer == 0 || uses_of(who, code.ordinal) < code.uses_per_customer);
}

bool checker::is_invited(const customer_id& who, std::uint32_t type, timestamp now) const {
  const auto found = invitations_.find(who);
  return found != invitations_.end() && found->second.ticket_type == type
         && (!is_set(found->second.valid_until) || now < found->second.valid_until);
}

checker::access checker::access_of(const entry_row& entry, timestamp now) const {
  access a;
  if (const auto found = invitations_.find(entry.subject); found != invitations_.end()) {
    const auto type = found->second.ticket_type;
    if (is_invited(entry.subject, type, now) && units_of(entry.subject, type) < found->second.quantity)
      a.opens |= type_set{1} << type;
    else
      a.is_certain = false;
  }
  for (auto i = access_.lower_bound({entry.number, 0}); i != access_.end() && i->first == entry.number; ++i)
    if (const auto& code = promo_codes_.at(i->second); may_use(code, entry.subject, now))
      a.opens |= code.reduction.ticket_types;
    else
      a.is_certain = false;
  type_set hidden = 0;
  for (const auto& t : types_)
    if (t.hidden && is_on_sale(t, now)) hidden |= type_set{1} << t.ordinal;
  a.opens &= hidden;
  return a;
}

/// How many people the free units of this type are for; none while it is closed.
std::uint64_t checker::people_for(const ticket_type_row& t, timestamp now) const {
  if (!is_on_sale(t, now)) return 0;
  const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(t.total - t.held - t.sold, 0));
  return units * admission().over_admission_percent / 100;
}

/// The types that the entry could buy now. With policy `open` free units do not matter.
checker::type_set checker::may_buy(const entry_row& entry, timestamp now) const {
  const auto own = access_of(entry, now).opens;
  type_set all = 0;
  for (const auto& t : types_) {
    const auto bit = type_set{1} << t.ordinal;
    const bool is_for_it = is_on_sale(t, now) && (!t.hidden || (own & bit) != 0);
    if (is_for_it && (admission().policy == admission_policy::open || t.total - t.held - t.sold > 0))
      all |= bit;
  }
  return all;
}

/// I6: no entry waits before it that could buy the same. A better class goes first; within a class, the lower
/// number.
void checker::check_order_of(const entry_row& admitted) {
  const auto mine = may_buy(admitted, admitted.admitted_at);
  for (const auto& [priority_class, rank, number] : waiting_) {
    if (number == admitted.number) break;
    if ((mine & ~may_buy(entries_.at(number), admitted.admitted_at)) == 0)
      return fail("I6", text(admitted.number) + " was admitted before " + text(number));
    reached(rare::hidden_overtook);
  }
}

/// I5: beside all that were admitted before and still have to claim, there is a unit for this entry. A
/// session takes a hidden unit first. Sessions whose access has changed are left out: they may take either.
void checker::check_stock_for(const entry_row& admitted) {
  if (!sells()) return;
  const auto now = admitted.admitted_at;
  const auto mine = access_of(admitted, now).opens;
  std::map<type_set, std::uint64_t> others; ///< by the hidden types that they may buy
  for (const auto n : active_) {
    if (n == admitted.number || !is_unclaimed(n)) continue;
    if (const auto a = access_of(entries_.at(n), now); a.is_certain) ++others[a.opens];
  }
  std::uint64_t public_people = 0;
  for (const auto& t : types_)
    if (!t.hidden && is_on_sale(t, now))
      public_people += static_cast<std::uint64_t>(std::max<std::int64_t>(t.total - t.held - t.sold, 0));
  public_people = public_people * admission().over_admission_percent / 100;
  const auto hidden_people = [&](type_set set) {
    std::uint64_t n = 0;
    for (const auto& t : types_)
      if ((set >> t.ordinal & 1) != 0) n += people_for(t, now);
    return n;
  };
  std::uint64_t in_public = 0;
  for (const auto& [set, count] : others) in_public += count - std::min(count, hidden_people(set));
  if (in_public < public_people) return;
  if (mine != 0 && others[mine] < hidden_people(mine)) return;
  fail("I5", "more people let in than there is stock for");
}

/// At least so many of those who wait can be admitted, whatever the admitted ones take.
std::uint64_t checker::room_in_stock(timestamp now) const {
  if (!sells()) return waiting_.size();
  std::uint64_t unclaimed = 0, public_people = 0;
  std::vector<std::uint64_t> may_take(types_.size());
  for (const auto n : active_) {
    if (!is_unclaimed(n)) continue;
    ++unclaimed;
    const auto& e = entries_.at(n);
    for (const auto& t : types_) { // includes what it could buy before
      bool ever = invitations_.contains(e.subject) && invitations_.at(e.subject).ticket_type == t.ordinal;
      for (const auto& [number, code] : access_)
        ever = ever || (number == n && (promo_codes_.at(code).reduction.ticket_types >> t.ordinal & 1) != 0);
      may_take[t.ordinal] += ever ? 1 : 0;
    }
  }
  for (const auto& t : types_)
    if (!t.hidden && is_on_sale(t, now))
      public_people += static_cast<std::uint64_t>(std::max<std::int64_t>(t.total - t.held - t.sold, 0));
  public_people = public_people * admission().over_admission_percent / 100;
  if (public_people > unclaimed) return std::min<std::uint64_t>(public_people - unclaimed, waiting_.size());
  const auto finds_unit = [&](const auto& w) {
    const auto opens = access_of(entries_.at(w.number), now).opens;
    return std::ranges::any_of(types_, [&](const auto& t) {
      return (opens >> t.ordinal & 1) != 0 && people_for(t, now) > may_take[t.ordinal];
    });
  };
  return std::ranges::any_of(waiting_, finds_unit) ? 1 : 0;
}

/// A new claim takes only what its customer may buy. Late money buys what its order was for.
void checker::check_claimed(const claim_row& claim) {
  check_blocked(claim.customer, claim.created_at, "claimed");
  const auto t = claim.created_at;
  const bool is_late_money = claim.created_at == claim.expires_at;
  const auto& entry = entries_.at(claim.entry);
  const bool shops =
    entry.subject == claim.customer && entry.status == entry_status::admitted && t < entry.session_expires_at;
  if (!is_late_money && !shops) fail("I15", "claimed without an admission");
  for (const auto& i : claim.items) {
    const auto& type = types_.at(i.ticket_type);
    const auto bit = type_set{1} << i.ticket_type;
    if (!is_late_money && (!is_on_sale(type, t) || t < event_.sale_start || i.quantity > type.max_per_order))
      fail("I6", "claimed what is not on sale");
    if (!type.hidden) continue;
    const auto* code = claim.promo != 0 ? &promo_codes_.at(claim.promo - 1) : nullptr;
    const bool by_code = code != nullptr && (code->reduction.ticket_types & bit) != 0;
    const bool by_invitation =
      is_invited(claim.customer, i.ticket_type, t)
      && units_of(claim.customer, i.ticket_type) <= invitations_.at(claim.customer).quantity;
    if (!by_code && !by_invitation) fail("I6", "a hidden type was claimed without invitation or code");
    reached(by_code ? rare::hidden_bought_by_code : rare::hidden_bought_by_invitation);
  }
}

/// I12: whether, at some moment since that step, everything was sold that `who` may buy. Codes are left out:
/// a request without its code asks for public types.
bool checker::was_sold_out_for(const customer_id& who, std::uint64_t since) const {
  const auto found = invitations_.find(who);
  const auto invited = found == invitations_.end() ? type_set{0} : type_set{1} << found->second.ticket_type;
  type_set closed = 0; // for good
  for (const auto& t : types_)
    if (is_set(t.sale_until) && t.sale_until <= right_time) closed |= type_set{1} << t.ordinal;
  const bool invited_now = found != invitations_.end() && invited_at_.at(who) < since
                           && is_invited(who, found->second.ticket_type, right_time)
                           && units_of(who, found->second.ticket_type) < found->second.quantity;
  for (auto i = stock_states_.rbegin(); i != stock_states_.rend(); ++i) {
    const auto hidden_from_it = i->hidden & ~(invited_now ? invited : 0);
    if ((i->unsold & ~hidden_from_it & ~closed) == 0) return true;
    if (i->step < since) return false; // this one was in force when it asked
  }
  return false;
}

// -- people -----------------------------------------------------------------------------------------------

void checker::see(const invitation_stored& c) {
  const auto known = invitations_.find(c.row.customer);
  if (known == invitations_.end() || known->second.told_at != c.row.told_at) news_.push_back(c.row.customer);
  invitations_[c.row.customer] = c.row;
  invited_at_[c.row.customer] = step;
  if (invitations_.size() > rules_.bounds.invitations) fail("I14", "more invitations than an event may have");
}

void checker::see(const access_given& c) {
  if (!access_.emplace(c.row.number, c.row.promo_code).second) fail("I9", "one code given twice");
  const auto given =
    std::ranges::count(access_, c.row.number, &std::pair<queue_number, std::uint32_t>::first);
  const auto most = rules_.bounds.access_codes;
  if (static_cast<std::size_t>(given) == most) reached(rare::access_codes_full);
  if (static_cast<std::size_t>(given) > most) fail("I14", "more access codes than an entry may have");
}

void checker::see(const lock_taken& c) {
  if (!locks_.emplace(c.row.name, c.row.number).second) fail("I1", "one name is locked twice");
  ever_locked_.emplace(c.row.name, c.row.number);
  const auto own =
    std::ranges::count(locks_, c.row.number, &std::pair<const std::string, queue_number>::second);
  if (own > event_.queue.locks_per_session) fail("I14", "more locks than a session may have");
}

/// After a batch.
void checker::check_locks() {
  for (const auto& [name, session] : locks_)
    if (entries_.at(session).status != entry_status::admitted) fail("I1", "a lock outlives its session");
}

void checker::saw_locked(const std::string& name, queue_number session) {
  if (!ever_locked_.contains({name, session}))
    fail("I1", "an answer names a lock that the session never had");
}

/// A call by an operator follows its admissions; the detail is their number.
void checker::see(const audit_recorded& c) {
  if (!c.row.action.ends_with(".advance")) return;
  std::uint64_t called = 0;
  std::from_chars(c.row.detail.data(), c.row.detail.data() + c.row.detail.size(), called);
  if (uncalled_ > called) fail("I5", "more were admitted than the operator called");
  if (uncalled_ > 0) reached(rare::called_by_operator);
  uncalled_ = 0;
}

/// Decisions after the block refuse its customer. An owner's time is never ahead of the right one.
void checker::check_blocked(const customer_id& who, timestamp when, std::string_view what) {
  const auto found = blocked_.find(who);
  if (found != blocked_.end() && when > found->second) fail("I15", "a blocked customer " + std::string{what});
}

void checker::check_blocked_ended(timestamp now) {
  for (const auto& [who, since] : blocked_) {
    if (now <= since + sweep) continue;
    if (live_place_.contains(who)) return fail("I15", "a blocked customer still has a place");
    for (const auto& [id, c] : claims_)
      if (c.customer == who && c.status == claim_status::claimed)
        return fail("I15", "a blocked customer still has a claim");
    reached(rare::customer_blocked);
  }
}

/// Of a blocked customer's purchases, only those of a sale that had ended remain.
void checker::check_blocked_at_end() {
  if (event_.status != event_status::active && event_.status != event_status::paused) return;
  for (const auto& [id, p] : payments_)
    if (blocked_.contains(p.customer) && p.status == payment_status::confirmed && p.amount > 0)
      return fail("I15", "a blocked customer's purchase was not refunded");
}

} // namespace fq::sim
