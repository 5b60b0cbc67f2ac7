// SPDX-License-Identifier: Apache-2.0
// What a sale's decisions note for the public log, each record after what it depends on.
#include "domain/base/planted.hpp"
#include "domain/sale/log_settings.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>
#include <utility>

namespace fq {

/// The numbers given before that are not in line are unknown to this log: those up to `joined_before` may be
/// missing.
void sale::begin_log(std::string lost, decision& out) {
  is_logged_ = true;
  auto settings = settings_text(event_, stock_.types());
  if (value_of(queue_.last_number()) > 0)
    settings += "\njoined_before=" + std::to_string(value_of(queue_.last_number()));
  note(begin_record{event_.id, std::move(settings), std::move(lost)}, out);
  if (event_.status == event_status::paused) note(hand_record{hand_action::pause, {}, 0, {}, {}}, out);
  if (lobby_) note_lobby(out);
  const bool is_closed = lobby_ && draws_lots() && is_set(lobby_->closed_at);
  if (is_closed) note_line(queue_number{}, lobby_->last, out);
  if (is_closed) note(closed_record{lobby_->entrants, {}}, out);
  if (is_closed && is_set(lobby_->drawn_at)) {
    if (lobby_->beacon != event_.lobby.beacon) note(hand_record{hand_action::end_wait, {}, 0, {}, {}}, out);
    note_drawn(out);
  }
  note_line(is_closed ? lobby_->last : queue_number{}, queue_.last_number(), out);
  if (event_.status == event_status::cancelled) note(hand_record{hand_action::cancel, {}, 0, {}, {}}, out);
}

/// Of a log that begins: who is in line, of the numbers after `after` up to `last`.
void sale::note_line(queue_number after, queue_number last, decision& out) const {
  const auto& parties = queue_.parties();
  // The entry's own, as in its leaf. But the party's, if no member in line has that class any more.
  const auto class_of = [&](const queue_line::entry& e) {
    const auto lowest = class_in_log(e);
    const bool has_lowest =
      std::ranges::any_of(parties.members(parties.party_of(e.number)),
                          [&](queue_number n) { return queue_.find(n)->priority_class == lowest; });
    return has_lowest ? e.priority_class : lowest;
  };
  queue_.each([&](const queue_line::entry& e) {
    if (!is_in_line(e.status) || e.number <= after || last < e.number) return;
    const place where{e.number, class_of(e), queue_.groups()[e.group].opens, parties.party_of(e.number)};
    note(joined_record{e.number, where.priority_class}, out);
    if (where.opens != 0 || where.party != queue_number{})
      note(changed_record{where, changed_by::holder}, out);
    if (e.status == entry_status::away) note(away_record{e.number}, out);
  });
}

/// The log has the types that the entry's group opens: admission decides by group.
void sale::note_place(const queue_line::entry& e, decision& out) const {
  if (is_in_line(e.status))
    note(changed_record{{e.number, class_in_log(e), queue_.groups()[e.group].opens,
                         queue_.parties().party_of(e.number)},
                        changed_by::holder},
         out);
}

/// A hand changed what people in line may buy: their records, those from the `first` on, are its effect.
void sale::note_access(std::size_t first, std::string change, decision& out) const {
  if (!is_logged_) return;
  hand_record hand{hand_action::access, {}, 0, std::move(change), {}};
  const auto effects = out.records.begin() + static_cast<std::ptrdiff_t>(first);
  for (auto record = effects; record != out.records.end(); ++record)
    if (auto* changed = std::get_if<changed_record>(&*record)) {
      changed->by = changed_by::hand;
      ++hand.count;
    }
  out.records.insert(effects, std::move(hand));
}

void sale::note_end(const queue_line::entry& e, bool was_admitted, left_why why, decision& out) const {
  if (was_admitted) {
    const auto end = e.status == entry_status::completed ? session_end::completed
                     : e.status == entry_status::revoked ? session_end::revoked
                                                         : session_end::expired;
    return note(session_ended_record{e.number, end}, out);
  }
  note(left_record{e.number, e.status == entry_status::expired ? left_why::expired : why}, out);
}

void sale::note_admitted(admitted_record told, const std::vector<queue_number>& numbers,
                         decision& out) const {
  told.batch = queue_.last_batch();
  told.numbers = numbers;
  note(std::move(told), out);
}

} // namespace fq
