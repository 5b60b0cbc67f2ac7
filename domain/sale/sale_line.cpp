// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about its waiting line: join, leave, presence, and operations of operators and origins
// on entries and sessions.
#include "domain/sale/limits.hpp"
#include "domain/sale/sale.hpp"
#include "domain/sale/waiting_list.hpp"

#include "domain/base/planted.hpp"

namespace fq {

refusal sale::queue_is_open(timestamp now) const {
  switch (event_.status) {
    case event_status::draft: return reason::not_found;
    case event_status::ended:
    case event_status::cancelled: return reason::event_ended;
    case event_status::active:
    case event_status::paused: break;
  }
  if (is_over(now)) return reason::event_ended;
  if (now < event_.queue_opens_at && !lobby_is_open()) {
    refusal no{reason::queue_not_open};
    no.at = event_.lobby.opens_at > now ? event_.lobby.opens_at : event_.queue_opens_at;
    return no;
  }
  return {};
}

sale::joined sale::join(const subject_key& subject, std::uint64_t join_key, timestamp now, decision& out,
                        std::string subject_name, std::string_view access_code, bool has_solved,
                        queue_number party) {
  if (is_blocked(subject)) return {reason::customer_blocked};
  if (sells() && is_guest(subject) && !takes_guests()) return {reason::sign_in_required};
  const auto* own = queue_.find(subject);
  // A visitor without a name has one key only: it also brings the code of a party for the place it has.
  const bool forms_party = own != nullptr && party != queue_number{} && is_in_line(own->status)
                           && queue_.parties().party_of(own->number) == queue_number{};
  if (own != nullptr && join_key != 0 && own->join_key == join_key && !forms_party)
    return {{}, true, true, own->number};
  const promo_code_row* code = nullptr;
  if (auto no = access_code_of(subject, access_code, now, code)) return {std::move(no)};
  if (own != nullptr && is_live(own->status)) {
    seen(own->number, now, out);
    if (party != queue_number{})
      if (auto no = enter_party(*own, party, out)) return {std::move(no), false, false, own->number};
    return {code != nullptr ? give_access(*own, *code, now, out) : refusal{}, false, false, own->number};
  }
  if (auto no = queue_is_open(now)) return {std::move(no)};
  if (party != queue_number{})
    if (auto no = may_enter_party(party)) return {std::move(no)};
  if (sells() && !claims_.free_slot(subject, event_.claims_per_customer)) {
    refusal no{reason::already_claimed};
    no.id = claims_.standing(subject)->id;
    return {std::move(no)};
  }
  const auto& line = queue_.counts();
  if (event_.queue.capacity != 0 && line.waiting + line.away >= event_.queue.capacity)
    return {reason::queue_full};
  if (event_.challenge != challenge_kind::none && !has_solved) { // last: no client works for a refusal
    refusal no{reason::challenge_required};
    no.id = event_.id;
    no.first = sells() ? 0 : 1;
    return {std::move(no)};
  }
  const auto preferred = priorities_.find(subject);
  const auto priority_class =
    preferred == priorities_.end() ? priority_standard : preferred->second.priority_class;
  const bool overtakes = queue_.overtakes(priority_class);
  const auto key = join_key != 0 ? join_key : random_(); // the commitment in the public log needs one
  const auto& e = queue_.join(subject, key, now, out.content, std::move(subject_name), priority_class, party);
  note(joined_record{e.number}, out);
  if (overtakes) {
    out.reveals = true; // others are further back now
    out.overtaking.push_back(queue_.spot_of(e));
  }
  if (watches_presence(event_)) present_.seen(e.number, now, presence_grain());
  if (code != nullptr)
    give_access(e, *code, now, out);
  else
    regroup(e, now, out);
  if (party != queue_number{}) note_place(e, out);
  return {{}, true, false, e.number};
}

void sale::end_entry(queue_number n, entry_trigger trigger, timestamp now, decision& out, left_why why) {
  // After the closing, so that a load knows who was an entrant.
  if (!has_positions() && lobby_ && now == lobby_->closed_at) now += milliseconds{1};
  const bool was_admitted = queue_.find(n)->status == entry_status::admitted;
  if (!queue_.move(n, trigger, now, out.content)) return;
  const auto& e = *queue_.find(n);
  note_end(e, was_admitted, why, out);
  present_.forget(n);
  away_.forget(n);
  if (!is_closing()) access_.erase(n); // an entrant's leaf has its group of the closing
  for (const auto& name : locks_.of(n)) free_lock(name, out);
  if (!sells()) ended_.push_back(n);
  out.entry_changes.push_back(change_of(e));
  out.reveals = true;
}

refusal sale::leave(const subject_key& subject, timestamp now, decision& out) {
  const auto* own = queue_.find(subject);
  if (own == nullptr) return reason::not_in_queue;
  if (!is_live(own->status)) return {};
  if (own->live_claims() > 0) {
    refusal no{reason::claim_live};
    if (const auto* live = claims_.live(subject)) no.id = live->id;
    return no;
  }
  const auto trigger = own->status == entry_status::admitted ? entry_trigger::complete : entry_trigger::leave;
  end_entry(own->number, trigger, now, out);
  return {};
}

refusal sale::end_session(queue_number n, std::uint32_t admission_no, timestamp now, decision& out) {
  const auto* e = session_of(n, admission_no);
  if (e == nullptr) return reason::not_admitted;
  if (e->live_claims() > 0) return reason::claim_live;
  end_entry(n, entry_trigger::complete, now, out);
  return {};
}

// -- presence

void sale::seen(queue_number n, timestamp now, decision& out) {
  if (!watches_presence(event_)) return;
  const auto* e = queue_.find(n);
  if (e == nullptr || !is_in_line(e->status)) return;
  if (planted(bug::away_loses_number) && e->status == entry_status::away) {
    const auto lost = e->row();
    end_entry(n, entry_trigger::leave, now, out);
    const auto& again = queue_.join(lost.subject, lost.join_key, now, out.content, lost.subject_name.text(),
                                    lost.priority_class);
    note(joined_record{again.number}, out);
    return;
  }
  present_.seen(n, now, presence_grain());
  if (e->status != entry_status::away || !queue_.move(n, entry_trigger::come_back, now, out.content)) return;
  away_.forget(n);
  note(back_record{n}, out);
  out.entry_changes.push_back(change_of(*e));
  out.reveals = true;
}

/// Restarts the watch: every entry in line counts as seen now, or none is watched. The AWAY entries are
/// recorded in either case.
void sale::watch_presence(timestamp now) {
  present_.clear();
  away_.clear();
  const bool watched = watches_presence(event_);
  if (!watched && queue_.counts().away == 0) return;
  queue_.each([&](const queue_line::entry& e) {
    if (watched && e.status == entry_status::waiting) present_.seen(e.number, now, {});
    if (e.status == entry_status::away) away_.seen(e.number, now, {});
  });
}

/// Without a presence_timeout, no entry is AWAY.
std::size_t sale::bring_back(timestamp now, decision& out) {
  const auto absent = away_.unseen_since(timestamp::max(), absences_per_run);
  for (const auto n : absent) {
    away_.forget(n);
    if (!queue_.move(n, entry_trigger::come_back, now, out.content)) continue;
    note(back_record{n}, out);
    out.entry_changes.push_back(change_of(*queue_.find(n)));
    out.reveals = true;
  }
  return absent.size();
}

std::size_t sale::mark_absent(timestamp now, decision& out) {
  const auto timeout = presence_timeout_of(event_);
  if (timeout.count() == 0) return bring_back(now, out);
  const auto absent = present_.unseen_since(now - timeout, absences_per_run);
  for (const auto n : absent) {
    present_.forget(n);
    if (!queue_.move(n, entry_trigger::go_away, now, out.content)) continue;
    note(away_record{n}, out);
    away_.seen(n, now, {});
    out.entry_changes.push_back(change_of(*queue_.find(n)));
    out.reveals = true;
  }
  const auto lost = away_.unseen_since(now - event_.queue.away_grace, absences_per_run);
  for (const auto n : lost) end_entry(n, entry_trigger::expire, now, out);
  return absent.size() + lost.size();
}

timestamp sale::next_absence() const {
  if (!watches_presence(event_)) return away_.earliest(); // AWAY entries come back at once
  const auto absent = present_.earliest(), lost = away_.earliest();
  const auto a = is_set(absent) ? absent + presence_timeout_of(event_) : never;
  const auto b = is_set(lost) ? lost + event_.queue.away_grace : never;
  if (!is_set(a) || !is_set(b)) return is_set(a) ? a : b;
  return std::min(a, b);
}

// -- what has ended

/// A standalone queue never ends, so it forgets its ended entries while it serves. The ledger keeps them for
/// reads.
std::size_t sale::forget_ended(timestamp now, decision& out) {
  if (sells() || !has_positions()) return 0;
  std::size_t forgotten = 0;
  const auto is_due = [&](queue_number n) {
    return queue_.find(n)->ended_at + rules_.memory_retention <= now;
  };
  for (; !ended_.empty() && forgotten < forgotten_per_run && is_due(ended_.front()); ++forgotten) {
    queue_.forget(ended_.front());
    ended_.pop_front();
  }
  if (value_of(queue_.first_kept()) < value_of(first_kept_) + first_kept_step) return forgotten;
  first_kept_ = queue_.first_kept();
  out.content.emplace_back(std::in_place_type<entries_forgotten>, entries_forgotten{first_kept_});
  return forgotten;
}

timestamp sale::next_forgetting() const {
  if (ended_.empty() || !has_positions()) return never;
  return queue_.find(ended_.front())->ended_at + rules_.memory_retention + forgetting_pause;
}

// -- operators and origins

refusal sale::advance(std::uint64_t count, timestamp now, decision& out, std::uint64_t& admitted) {
  if (event_.queue.policy != admission_policy::operated) return reason::wrong_mode;
  if (event_.status != event_status::active)
    return {reason::invalid_transition, std::string{name_of(event_.status)}};
  if (auto no = queue_is_open(now)) return no;
  note(hand_record{hand_action::advance, {}, count, {}, {}}, out);
  admitted = admit(now, out, planted(bug::advance_counts_twice) ? count * 2 : count).count;
  return {};
}

std::size_t sale::revoke(revocation_scope scope, queue_number n, const subject_key& subject, timestamp now,
                         decision& out) {
  std::vector<queue_number> numbers;
  if (scope == revocation_scope::all) {
    numbers =
      queue_.sessions_due(timestamp::max(), planted(bug::revokes_without_limit) ? queue_.counts().admitted
                                                                                : rules_.bounds.revocations);
  } else if (const auto* e = scope == revocation_scope::ticket ? queue_.find(n) : queue_.find(subject);
             e && is_live(e->status)) {
    numbers = {e->number};
  }
  for (const auto number : numbers) {
    const bool admitted = queue_.find(number)->status == entry_status::admitted;
    note(hand_record{hand_action::revoke, number, 0, {}, {}}, out);
    end_entry(number, admitted ? entry_trigger::revoke : entry_trigger::leave, now, out, left_why::hand);
  }
  return numbers.size();
}

} // namespace fq
