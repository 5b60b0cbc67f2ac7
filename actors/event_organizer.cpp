// SPDX-License-Identifier: Apache-2.0
// The event actor's requests from organizers and the public view of the event.
#include "actors/event_actor.hpp"

namespace fq {

/// Another organizer's event looks like none.
refusal event_state::owned_by(const event_id& event, const organizer_id& organizer) const {
  if (is_other(event) || sale_->event().organizer != organizer) return reason::not_found;
  return {};
}

caf::result<event_reply> event_state::on_find_event(const find_event& x) {
  if (refuses()) return make_error(errc::unavailable);
  const bool hidden = sale_->event().status == event_status::draft && sale_->event().organizer != x.viewer;
  if (is_other(x.event) || hidden) return event_reply{reason::not_found};
  event_reply reply;
  reply.event = sale_->view();
  return reveal(std::move(reply));
}

caf::result<event_reply> event_state::on_patch(const patch_event& x) {
  if (refuses()) return make_error(errc::unavailable);
  if (auto no = owned_by(x.event, x.organizer)) return event_reply{std::move(no)};
  const auto t = now();
  decision d;
  if (auto no = sale_->patch(x.patch, t, d)) return reveal(event_reply{std::move(no)});
  const auto seq = commit(std::move(d), t);
  event_reply reply;
  reply.event = sale_->view();
  return reply_after(seq, std::move(reply));
}

caf::result<event_reply> event_state::on_turn(const turn_event& x) {
  if (refuses()) return make_error(errc::unavailable);
  if (auto no = owned_by(x.event, x.organizer)) return event_reply{std::move(no)};
  const auto t = now();
  decision d;
  if (auto no = sale_->turn(x.trigger, t, d)) return reveal(event_reply{std::move(no)});
  const auto seq = commit(std::move(d), t);
  event_reply reply;
  reply.event = sale_->view();
  return reply_after(seq, std::move(reply));
}

caf::result<stats_reply> event_state::on_find_stats(const find_stats& x) {
  if (refuses()) return make_error(errc::unavailable);
  if (auto no = owned_by(x.event, x.organizer)) return stats_reply{std::move(no)};
  stats_reply reply;
  reply.stats = sale_->stats(now());
  return reveal(std::move(reply));
}

} // namespace fq
