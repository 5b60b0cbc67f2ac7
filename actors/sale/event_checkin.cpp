// SPDX-License-Identifier: Apache-2.0
// The event actor's requests about check-in: from organizers, and from devices at gates.
#include "actors/protocol/checkin_messages.hpp"
#include "actors/sale/event_actor.hpp"

#include <algorithm>

namespace fq {
namespace {

template <class Bytes>
std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

bool may_use(const checkin_device_row& device, const checkin_list_row& list) {
  return !is_set(list.removed_at)
         && (device.lists.empty() || std::ranges::find(device.lists, list.id) != device.lists.end());
}

} // namespace

// -- organizers

checkin_reply event_state::checkin_now() const {
  checkin_reply reply;
  const auto& book = sale_->checkin();
  for (const auto& [id, list] : book.lists()) {
    if (is_set(list.removed_at)) continue;
    reply.lists.push_back(list);
    reply.scans.push_back(book.counts(id));
  }
  for (const auto& [id, device] : book.devices()) reply.devices.push_back(device);
  for (auto& device : reply.devices) device.secret_hash.clear();
  reply.types = sale_->checkin_counts();
  reply.conflicts = book.conflicts().size();
  return reply;
}

template <class Message, class Set>
caf::result<checkin_reply> event_state::change_checkin(const Message& x, const char* deed, Set set) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return checkin_reply{std::move(no)};
  const auto t = now();
  decision d;
  uuid id;
  if (auto no = (*sale_.*set)(x.patch, t, d, id)) return reveal(checkin_reply{std::move(no)});
  record(d, x.what, x.note, deed, t);
  const auto seq = commit(std::move(d), t);
  auto reply = checkin_now();
  reply.changed = id;
  return reply_after(seq, std::move(reply));
}

caf::result<checkin_reply> event_state::on_set_checkin_list(const set_checkin_list& x) {
  return change_checkin(x, x.patch.remove ? "remove_checkin_list" : "set_checkin_list",
                        &sale::set_checkin_list);
}

caf::result<checkin_reply> event_state::on_set_checkin_device(const set_checkin_device& x) {
  return change_checkin(x, x.patch.revoke ? "revoke_checkin_device" : "add_checkin_device",
                        &sale::set_checkin_device);
}

caf::result<checkin_reply> event_state::on_find_checkin(const find_checkin& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return checkin_reply{std::move(no)};
  return reveal(checkin_now());
}

caf::result<checkin_conflicts_reply> event_state::on_list_conflicts(const list_checkin_conflicts& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return checkin_conflicts_reply{std::move(no)};
  checkin_conflicts_reply reply;
  const auto& all = sale_->checkin().conflicts();
  std::size_t scans = 0;
  for (auto i = all.upper_bound(x.after); i != all.end() && !reply.more; ++i) {
    reply.more = reply.conflicts.size() == x.limit || scans >= services_->rules.bounds.conflict_scans;
    if (reply.more || sale_->event_tickets().find(*i) == nullptr) continue;
    reply.conflicts.push_back(sale_->conflict_of(*i));
    scans += reply.conflicts.back().scans.size();
  }
  return reveal(std::move(reply));
}

// -- devices

/// Null: no such device, another secret, or revoked.
const checkin_device_row* event_state::device_of(const device_pass& pass) const {
  const auto* device = sale_->checkin().find_device(pass.device);
  if (device == nullptr || is_set(device->revoked_at)) return nullptr;
  return constant_time_equal(std::string_view{device->secret_hash}, std::string_view{pass.secret_hash})
           ? device
           : nullptr;
}

const event_ticket_keys& event_state::ticket_keys() {
  const auto number = sale_->event().event_tickets.key_number;
  if (!ticket_keys_ || ticket_key_number_ != number) {
    ticket_keys_.emplace(services_->stored_key, sale_->event().id, number);
    ticket_key_number_ = number;
  }
  return *ticket_keys_;
}

/// The scan with what its code says. The code is verified for the time at the gate.
scan_wish event_state::checked(const presented_scan& scan, timestamp now) {
  auto wish = scan.wish;
  if (scan.code.empty()) return wish;
  wish.ticket = {};
  const auto code = read_event_ticket_code(scan.code);
  if (!code) {
    wish.code = scan_objection::unreadable;
    return wish;
  }
  wish.ticket = code->claims.ticket;
  wish.generation = code->claims.generation;
  if (code->claims.event != sale_->event().id) {
    wish.code = scan_objection::other_event;
    return wish;
  }
  const auto& keys = ticket_keys();
  const bool is_rotating = code->kind == event_ticket_code_kind::rotating;
  if (is_rotating) {
    const auto at = is_set(wish.at) ? std::clamp(wish.at, now - scan_age_max, now) : now;
    if (!is_current(*code, keys.secret_of(wish.ticket, wish.generation), at))
      wish.code = scan_objection::expired_code;
  } else if (sale_->event().event_tickets.rotating_codes || !is_signed(*code, keys.public_key())) {
    wish.code = scan_objection::wrong_key; // a printed code is no proof while codes rotate
  }
  return wish;
}

caf::result<scans_reply> event_state::on_redeem(const redeem_scans& x) {
  if (refuses()) return refused(x);
  if (device_of(x.by) == nullptr) return reveal(scans_reply{reason::device_unknown});
  const auto t = now();
  decision d;
  scans_reply reply;
  for (const auto& scan : x.scans) reply.scans.push_back(sale_->redeem(x.by.device, checked(scan, t), t, d));
  if (d.content.empty()) return reveal(std::move(reply));
  return reply_after(commit(std::move(d), t), std::move(reply));
}

caf::result<gate_reply> event_state::on_find_gate(const find_gate& x) {
  if (refuses()) return refused(x);
  const auto* device = device_of(x.by);
  if (device == nullptr) return reveal(gate_reply{reason::device_unknown});
  gate_reply reply;
  reply.event = sale_->event().id;
  reply.event_name = sale_->event().name;
  reply.tenant = sale_->event().tenant;
  reply.device = device->label;
  reply.gate = device->gate;
  reply.may_force = device->may_force;
  for (const auto& [id, list] : sale_->checkin().lists()) {
    if (!may_use(*device, list)) continue;
    reply.lists.push_back(list);
    reply.scans.push_back(sale_->checkin().counts(id));
  }
  reply.types = sale_->checkin_counts();
  reply.now = now();
  return reveal(std::move(reply));
}

/// `is_off`: the event is cancelled, see sale::may_present.
gate_ticket event_state::gate_ticket_of(const checkin_ticket& seen, bool is_off) {
  const auto& row = seen.ticket;
  const auto status = is_off ? event_ticket_status::cancelled : row.status;
  gate_ticket t{row.id, row.ticket_type, status, row.generation, seen.refund_pending};
  t.seat = seen.seat;
  if (sale_->event().event_tickets.rotating_codes)
    t.secret = text_of(ticket_keys().secret_of(row.id, row.generation).bytes());
  if (const auto& last = seen.last; !last.scan.id.is_nil()) {
    t.last_at = last.scan.at;
    t.last_place = !last.gate.empty() ? last.gate : !last.device.empty() ? last.device : last.list;
  }
  return t;
}

caf::result<gate_state_reply> event_state::on_find_gate_state(const find_gate_state& x) {
  if (refuses()) return refused(x);
  const auto* device = device_of(x.by);
  if (device == nullptr) return reveal(gate_state_reply{reason::device_unknown});
  const auto* list = sale_->checkin().find_list(x.list);
  if (list == nullptr || !may_use(*device, *list)) return reveal(gate_state_reply{reason::not_found});
  const auto t = now();
  gate_state_reply reply;
  const auto& event = sale_->event();
  const auto& settings = event.event_tickets;
  const bool is_off = event.status == event_status::cancelled; // of which each phone hears
  const auto list_at = is_off ? std::max(list->updated_at, event.updated_at) : list->updated_at;
  const gate_version fresh{settings.key_number, settings.rotating_codes, list_at, never, {}};
  reply.is_reset = x.since.key_number != fresh.key_number || x.since.rotating_codes != fresh.rotating_codes
                   || x.since.list_at != fresh.list_at;
  reply.version = reply.is_reset ? fresh : x.since;
  reply.public_key = text_of(ticket_keys().public_key());
  reply.list = *list;
  // Changes of this millisecond may not be complete: the next question gets them.
  const auto changed =
    sale_->event_tickets().changed_after(reply.version.at, reply.version.ticket, t, gate_rows_looked_at);
  std::vector<const event_ticket_row*> listed;
  for (const auto* row : changed) {
    if (listed.size() == x.limit) break;
    reply.version.at = sale_->event_tickets().changed_at(*row);
    reply.version.ticket = row->id;
    if (list->admits(row->ticket_type)) listed.push_back(row);
  }
  for (const auto& seen : sale_->at_gate(listed)) reply.tickets.push_back(gate_ticket_of(seen, is_off));
  reply.more =
    !changed.empty() && (changed.size() == gate_rows_looked_at || changed.back()->id != reply.version.ticket);
  reply.now = t;
  return reveal(std::move(reply));
}

caf::result<gate_tickets_reply> event_state::on_search_gate(const search_gate& x) {
  if (refuses()) return refused(x);
  const auto* device = device_of(x.by);
  if (device == nullptr) return reveal(gate_tickets_reply{reason::device_unknown});
  const auto* list = sale_->checkin().find_list(x.list);
  if (list == nullptr || !may_use(*device, *list)) return reveal(gate_tickets_reply{reason::not_found});
  return reveal(gate_tickets_reply{{}, sale_->find_at_gate(*list, x.text, x.limit)});
}

} // namespace fq
