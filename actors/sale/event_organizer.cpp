// SPDX-License-Identifier: Apache-2.0
// The event actor's requests from organizers and operators, and the public view of the event.
#include "actors/sale/event_actor.hpp"
#include "crypto/digest.hpp"
#include "domain/seats/map_text.hpp"
#include "domain/seats/plan_text.hpp"

#include <algorithm>

namespace fq {
namespace {

std::string_view verb_of(event_trigger trigger) {
  switch (trigger) {
    case event_trigger::activate: return "activate";
    case event_trigger::pause: return "pause";
    case event_trigger::resume: return "resume";
    case event_trigger::end: return "end";
    case event_trigger::cancel: return "cancel";
  }
  return {};
}

} // namespace

/// not_found for objects of others. Events are managed by their organizer and the tenant's operators, queues
/// by the tenant.
refusal event_state::refused_to(const managed& x) const {
  const auto& e = sale_->event();
  const bool is_named = !is_other(x.event) && e.kind == x.kind && e.tenant == x.by.tenant;
  const bool by_organizer =
    x.by.kind == principal_kind::organizer && (!sale_->sells() || e.organizer == x.by.id);
  if (is_named && (by_organizer || x.by.kind == principal_kind::operate)) return {};
  return reason::not_found;
}

/// Adds an audit row to the decision.
void event_state::record(decision& d, const managed& what, const audit_note& note, std::string_view verb,
                         timestamp t) {
  audit_row row;
  row.id = services_->env->make_id(t, aggregate_);
  row.tenant = sale_->event().tenant;
  row.target = sale_->event().id;
  row.actor = what.by.kind == principal_kind::nobody ? "system" : name_of(what.by);
  row.action = std::string{sale_->sells() ? "event." : "queue."} + std::string{verb};
  row.detail = note.detail;
  row.reason = note.reason;
  row.at = t;
  d.content.emplace_back(audit_recorded{std::move(row)});
  for (auto& record : d.records)
    if (auto* hand = std::get_if<hand_record>(&record); hand != nullptr && hand->reason.empty())
      hand->reason = note.reason;
}

caf::result<event_reply> event_state::on_find_event(const find_event& x) {
  if (refuses()) return refused(x);
  const auto& e = sale_->event();
  // A queue's name and message are public on its waiting page; the API routes require a manager.
  const bool is_shown =
    sale_->sells() ? e.status != event_status::draft : x.what.by.kind == principal_kind::nobody;
  const bool is_public = is_shown && !is_other(x.what.event) && x.what.kind == e.kind;
  if (auto no = refused_to(x.what); no && !is_public) return event_reply{std::move(no)};
  event_reply reply;
  reply.event = sale_->view();
  const auto is_unseen = [&, t = now()](const ticket_type_row& type) {
    return type.hidden && !sale_->opens_hidden(type, x.viewer, t);
  };
  if (refused_to(x.what)) std::erase_if(reply.event.ticket_types, is_unseen);
  return reveal(std::move(reply));
}

caf::result<event_reply> event_state::on_patch(const patch_event& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return event_reply{std::move(no)};
  const auto t = now();
  decision d;
  if (auto no = sale_->patch(x.patch, t, d)) return reveal(event_reply{std::move(no)});
  record(d, x.what, x.note, "change", t);
  const auto seq = commit(std::move(d), t);
  event_reply reply;
  reply.event = sale_->view();
  return reply_after(seq, std::move(reply));
}

caf::result<event_reply> event_state::on_turn(const turn_event& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return event_reply{std::move(no)};
  const auto t = now();
  decision d;
  if (auto no = sale_->change_status(x.trigger, t, d)) return reveal(event_reply{std::move(no)});
  record(d, x.what, x.note, verb_of(x.trigger), t);
  const auto seq = commit(std::move(d), t);
  event_reply reply;
  reply.event = sale_->view();
  return reply_after(seq, std::move(reply));
}

caf::result<event_reply> event_state::on_set_seat_plan(const set_seat_plan& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return event_reply{std::move(no)};
  auto plan = x.plan.empty() ? nullptr : plan_of_text(x.plan);
  if ((plan == nullptr && !x.plan.empty()) || single_rule{x.singles} > single_rule::off)
    return event_reply{{reason::invalid_field, "plan: not a seat plan"}};
  const seat_rules rules{single_rule{x.singles}, x.may_split, x.accessible_for_all};
  const auto t = now();
  decision d;
  if (auto no = sale_->set_plan(std::move(plan), x.ticket_types, rules, t, d))
    return reveal(event_reply{std::move(no)});
  record(d, x.what, x.note, "seat_plan", t);
  const auto seq = commit(std::move(d), t);
  event_reply reply;
  reply.event = sale_->view();
  return reply_after(seq, std::move(reply));
}

caf::result<ack_reply> event_state::on_set_seats(const set_seats& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return ack_reply{std::move(no)};
  const auto t = now();
  decision d;
  if (auto no = sale_->set_seats(x.patch, t, d)) return reveal(ack_reply{std::move(no)});
  record(d, x.what, x.note, "seats", t);
  return reply_after(commit(std::move(d), t), ack_reply{});
}

/// The seats of a draft are its organizer's.
bool event_state::shows_seats(const managed& x) const {
  const bool is_public = sale_->event().status != event_status::draft && !is_other(x.event);
  return sale_->seats() != nullptr && (is_public || !refused_to(x));
}

/// The map with the ids of all ticket types, by ordinal.
std::string event_state::text_of_map(bool for_shoppers) const {
  std::string out;
  append_seat_map(out, sale_->seats()->map(), for_shoppers);
  out.pop_back();
  out += ",\"ticket_type_ids\":[";
  for (const auto& type : sale_->stock().types()) {
    if (out.back() != '[') out += ',';
    out += '"' + to_string(type.id) + '"';
  }
  out += "]}";
  append_standing(out, sale_->seats()->standing_free());
  append_rules(out, sale_->seats()->rules(), for_shoppers);
  return out;
}

/// Made once for each version: thousands of shoppers read the same.
const std::string& event_state::seats_for_shoppers() {
  const auto& map = sale_->seats()->map();
  if (shown_seats_.first != map.version() || shown_seats_.second.empty()) {
    shown_seats_ = {map.version(), text_of_map(true)};
  }
  return shown_seats_.second;
}

caf::result<seats_reply> event_state::on_find_seats(const find_seats& x) {
  if (refuses()) return refused(x);
  if (!shows_seats(x.what)) return seats_reply{reason::not_found};
  sale_->count_standing();
  const auto& map = sale_->seats()->map();
  const bool for_shoppers = static_cast<bool>(refused_to(x.what));
  seats_reply reply;
  reply.version = map.version();
  if (x.since != 0 && append_seat_changes(reply.text, map, x.since, for_shoppers)) {
    append_standing(reply.text, sale_->seats()->standing_free());
    append_rules(reply.text, sale_->seats()->rules(), for_shoppers);
    reply.from = x.since;
    return reveal(std::move(reply));
  }
  if (for_shoppers)
    reply.text = seats_for_shoppers();
  else
    reply.text = text_of_map(false);
  return reveal(std::move(reply));
}

/// Made once for each plan and choice of hidden ticket types. Shoppers read the id of a hidden type in place
/// of its name, also those who may buy it: GET /events/{id} gives them the name.
const event_state::shown_plan& event_state::plan_for(bool shoppers) {
  const auto& seats = *sale_->seats();
  std::vector<std::string> names;
  for (const auto ordinal : seats.map().plan_types()) {
    const auto& type = sale_->stock().types()[ordinal];
    names.push_back(shoppers && type.hidden ? to_string(type.id) : std::string{});
  }
  auto& shown = shown_plans_[shoppers ? 1 : 0];
  if (shown.of == seats.text() && shown.names == names) return shown;
  const bool is_own = std::ranges::all_of(names, &std::string::empty);
  const auto text =
    is_own ? seats.text() : std::make_shared<const std::string>(with_type_names(*seats.text(), names));
  shown = {seats.text(), std::move(names), text, to_hex(sha256(*text))};
  return shown;
}

caf::result<seat_plan_reply> event_state::on_find_seat_plan(const find_seat_plan& x) {
  if (refuses()) return refused(x);
  if (!shows_seats(x.what)) return seat_plan_reply{reason::not_found};
  seat_plan_reply reply;
  const auto& shown = plan_for(static_cast<bool>(refused_to(x.what)));
  reply.digest = shown.digest;
  if (x.known != reply.digest) reply.plan = *shown.text;
  return reveal(std::move(reply));
}

caf::result<event_reply> event_state::on_renew_ticket_keys(const renew_ticket_keys& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return event_reply{std::move(no)};
  const auto t = now();
  decision d;
  sale_->renew_ticket_keys(t, d);
  record(d, x.what, x.note, "renew_ticket_keys", t);
  const auto seq = commit(std::move(d), t);
  event_reply reply;
  reply.event = sale_->view();
  return reply_after(seq, std::move(reply));
}

caf::result<count_reply> event_state::on_advance(const advance_line& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return count_reply{std::move(no)};
  apply_block_list();
  const auto t = now();
  decision d;
  count_reply reply;
  if (auto no = sale_->advance(x.count, t, d, reply.count)) return reveal(count_reply{std::move(no)});
  record(d, x.what, x.note, "advance", t);
  return reply_after(commit(std::move(d), t), std::move(reply));
}

caf::result<count_reply> event_state::on_revoke(const revoke_sessions& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return count_reply{std::move(no)};
  const auto* e = x.scope == revocation_scope::ticket ? entry_of(x.ticket) : nullptr;
  if (x.scope == revocation_scope::ticket && e == nullptr) return count_reply{reason::not_found};
  const auto t = now();
  decision d;
  count_reply reply;
  reply.count = sale_->revoke(x.scope, e != nullptr ? e->number : queue_number{}, x.subject, t, d);
  record(d, x.what, x.note, "revoke", t);
  return reply_after(commit(std::move(d), t), std::move(reply));
}

caf::result<stats_reply> event_state::on_find_stats(const find_stats& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return stats_reply{std::move(no)};
  stats_reply reply;
  reply.stats = sale_->stats(now());
  return reveal(std::move(reply));
}

} // namespace fq
