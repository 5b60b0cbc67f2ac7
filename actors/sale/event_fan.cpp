// SPDX-License-Identifier: Apache-2.0
// The event actor's requests from fans: queue and claims.
#include "actors/base/challenge_answers.hpp"
#include "actors/sale/event_actor.hpp"
#include "domain/sale/waiting_list.hpp"

#include <algorithm>

namespace fq {

caf::result<entry_reply> event_state::on_join(const join& x) {
  if (refuses()) return refused(x);
  const auto& event = sale_->event();
  if (is_other(x.event) || event.kind != x.kind || (!sale_->sells() && event.tenant != x.tenant))
    return entry_reply{reason::not_found};
  follow_rules();
  const auto party = party_of_code(x.party_code);
  if (party == queue_number{} && !x.party_code.empty()) return reveal(entry_reply{reason::party_unknown});
  const auto t = now();
  const auto joins = value_of(sale_->queue().last_number());
  const auto solved = x.solved.salt.empty() ? std::nullopt : challenges().check(x.solved, x.client, joins, t);
  decision d;
  auto done =
    sale_->join(x.customer, x.join_key, t, d, x.subject_name, x.access_code, solved || x.is_trusted, party);
  if (done.no) { // an AWAY entry may have come back all the same
    const auto seq = d.content.empty() ? 0 : commit(std::move(d), t);
    return reveal(entry_reply{std::move(done.no)}, seq);
  }
  if (solved && done.created) challenges_->use(*solved, x.client, t);
  entry_reply reply;
  reply.created = done.created;
  reply.replayed = done.replayed;
  if (d.content.empty()) {
    reply.entry = shown(*sale_->queue().find(done.number), t);
    return reveal(std::move(reply), change_of(done.number));
  }
  // Without a new place, an AWAY entry came back or gave a code.
  const auto seq = done.created ? commit_join(std::move(d), done.number, t) : commit(std::move(d), t);
  joined_[done.number] = seq;
  reply.entry = shown(*sale_->queue().find(done.number), t);
  return reply_after(seq, std::move(reply));
}

challenge_desk& event_state::challenges() {
  if (!challenges_) challenges_.emplace(*services_->env);
  return *challenges_;
}

/// Opened without a commit: a later owner accepts none of them.
caf::result<challenge_reply> event_state::on_open_challenge(const open_challenge& x) {
  if (refuses()) return refused(x);
  const auto& event = sale_->event();
  if (is_other(x.event) || event.kind != x.kind || event.status == event_status::draft)
    return challenge_reply{reason::not_found};
  return reveal(
    answer_of(challenges(), event.challenge, x.way, x.client, value_of(sale_->queue().last_number()), now()));
}

caf::result<entry_reply> event_state::on_find_entry(const find_entry& x) {
  if (refuses()) return refused(x);
  if (is_no_sale(x.event)) return entry_reply{reason::not_found};
  const auto* own = sale_->queue().find(x.customer);
  if (own == nullptr) return reveal(entry_reply{reason::not_in_queue});
  return show_place(*own, x.by_holder);
}

/// A holder's request counts as presence; a manager's does not.
caf::result<entry_reply> event_state::show_place(const queue_line::entry& e, bool is_seen) {
  const auto t = now();
  decision d;
  if (is_seen) sale_->seen(e.number, t, d);
  const auto seq = d.content.empty() ? change_of(e.number) : commit(std::move(d), t);
  entry_reply reply;
  reply.entry = shown(e, t);
  reply.entry.outlook = outlook_of(*sale_, e, t);
  reply.line_version = line_version_;
  return reveal(std::move(reply), std::max(seq, line_version_));
}

caf::result<ack_reply> event_state::on_leave(const leave& x) {
  if (refuses()) return refused(x);
  if (is_no_sale(x.event)) return ack_reply{reason::not_found};
  return leave_as(x.customer);
}

caf::result<ack_reply> event_state::leave_as(const subject_key& subject) {
  const auto t = now();
  decision d;
  auto no = sale_->leave(subject, t, d);
  if (no) return reveal(ack_reply{std::move(no)});
  return reply_after(std::max(commit(std::move(d), t), journal_->reveal_barrier()), ack_reply{});
}

// -- by the entry's own id

const queue_line::entry* event_state::entry_of(const entry_id& ticket) const {
  if (owner_of(ticket) != aggregate_) return nullptr;
  const auto* e = sale_->queue().find(queue_number_of(ticket));
  return e != nullptr && make_entry_id(e->joined_at, aggregate_, e->number) == ticket ? e : nullptr;
}

/// Whether the ticket's number was given. Its entry has then ended, or the ticket is forged.
bool event_state::may_be_forgotten(const entry_id& ticket) const {
  const auto n = queue_number_of(ticket);
  return owner_of(ticket) == aggregate_ && value_of(n) > 0 && n <= sale_->queue().last_number()
         && sale_->queue().find(n) == nullptr;
}

/// Answers with `show(row)` of an ended entry that is not in memory.
template <class Reply, class Show>
caf::result<Reply> event_state::read_forgotten(const entry_id& ticket, Show show) {
  if (!may_be_forgotten(ticket)) return Reply{reason::not_found};
  if (reads_under_way_ == services_->bounds.forgotten_reads) return make_error(errc::unavailable);
  ++reads_under_way_;
  last_request_ = services_->env->steady_now(); // not idle before the answer
  auto promise = self_->make_response_promise();
  const auto number = queue_number_of(ticket);
  self_
    ->request(services_->ledgers.reader(number_of(aggregate_)), forgotten_read_timeout,
              read_entry{aggregate_, number})
    .then(
      [this, promise, ticket, show](const entry_read& found) mutable {
        --reads_under_way_;
        if (!found.was_read || !serving_) return promise.deliver(make_error(errc::unavailable));
        if (!found.row) return promise.deliver(Reply{reason::ticket_deleted});
        const auto& row = *found.row;
        const bool is_it = make_entry_id(row.joined_at, aggregate_, row.number) == ticket;
        promise.deliver(is_it ? show(row) : Reply{reason::not_found});
      },
      [this, promise](const caf::error&) mutable {
        --reads_under_way_;
        promise.deliver(make_error(errc::unavailable));
      });
  return caf::delegated<Reply>{};
}

caf::result<entry_reply> event_state::on_find_ticket(const find_ticket& x) {
  if (refuses()) return refused(x);
  const auto* e = entry_of(x.ticket);
  if (e != nullptr) return show_place(*e, x.by_holder);
  return read_forgotten<entry_reply>(x.ticket, [this](const entry_row& row) {
    entry_reply reply;
    reply.entry = sale_->view_of(queue_line::entry{row}, now());
    return reply;
  });
}

caf::result<ack_reply> event_state::on_leave_ticket(const leave_ticket& x) {
  if (refuses()) return refused(x);
  const auto* e = entry_of(x.ticket);
  if (e == nullptr) return read_forgotten<ack_reply>(x.ticket, [](const entry_row&) { return ack_reply{}; });
  // The entry has ended and its subject has a newer one.
  if (sale_->queue().find(e->subject) != e) return reveal(ack_reply{});
  return leave_as(e->subject);
}

caf::result<ack_reply> event_state::on_end_session(const end_session& x) {
  if (refuses()) return refused(x);
  const auto* e = admitted_by(x.session_token);
  if (e == nullptr) return reveal(ack_reply{reason::not_admitted});
  const auto t = now();
  decision d;
  if (auto no = sale_->end_session(e->number, e->session().admission_no, t, d))
    return reveal(ack_reply{std::move(no)});
  return reply_after(commit(std::move(d), t), ack_reply{});
}

lock_view event_state::view_of(const session_lock_row& row, const queue_line::entry& e) const {
  return {row, make_entry_id(e.joined_at, aggregate_, row.number), e.session().session_expires_at};
}

caf::result<locks_reply> event_state::on_change_lock(const change_lock& x) {
  if (refuses()) return refused(x);
  if (is_other(x.queue) || sale_->sells()) return locks_reply{reason::not_found};
  const auto* e = admitted_by(x.session_token);
  if (e == nullptr) return reveal(locks_reply{reason::not_admitted});
  const auto admission = e->session().admission_no;
  const auto t = now();
  decision d;
  locks_reply reply;
  if (x.frees) {
    if (auto no = sale_->unlock(e->number, admission, x.name, d)) return reveal(locks_reply{std::move(no)});
  } else {
    auto done = sale_->lock(e->number, admission, x.name, t, d);
    if (done.no) return reveal(locks_reply{std::move(done.no)});
    reply.created = done.created;
    reply.locks.push_back(view_of(done.row, *e));
  }
  if (d.content.empty()) return reveal(std::move(reply));
  return reply_after(commit(std::move(d), t), std::move(reply));
}

caf::result<locks_reply> event_state::on_find_locks(const find_locks& x) {
  if (refuses()) return refused(x);
  if (is_other(x.queue) || sale_->sells()) return locks_reply{reason::not_found};
  locks_reply reply;
  const auto& all = sale_->locks().all();
  if (!x.session_token.empty()) {
    const auto* e = admitted_by(x.session_token);
    if (e == nullptr || e->status != entry_status::admitted) return reveal(locks_reply{reason::not_admitted});
    for (const auto& name : sale_->locks().of(e->number)) reply.locks.push_back(view_of(all.at(name), *e));
    std::ranges::sort(reply.locks, {}, [](const lock_view& v) { return v.row.name; });
    return reveal(std::move(reply));
  }
  if (x.tenant != sale_->event().tenant) return locks_reply{reason::not_found};
  for (auto i = all.upper_bound(x.after); i != all.end() && !reply.more; ++i) {
    const auto* e = sale_->queue().find(i->second.number);
    if (e == nullptr || e->status != entry_status::admitted) continue; // lost: the next runs free it
    reply.more = reply.locks.size() == x.limit;
    if (!reply.more) reply.locks.push_back(view_of(i->second, *e));
  }
  return reveal(std::move(reply));
}

void event_state::on_present(const present& x) {
  if (refuses()) return;
  const auto t = now();
  decision d;
  for (const auto n : x.numbers) sale_->seen(n, t, d);
  if (!d.content.empty()) commit(std::move(d), t);
}

caf::result<line_reply> event_state::on_find_line(const find_line& x) {
  if (refuses()) return refused(x);
  if (is_other(x.event)) return line_reply{reason::not_found};
  const auto view = sale_->view();
  line_reply reply;
  reply.status = view.event.status;
  reply.sold_out = view.sold_out;
  reply.watches_presence = watches_presence(sale_->event());
  reply.message = view.event.message;
  reply.line = facts_of_line(now());
  return reveal(std::move(reply), line_version_);
}

// -- claims

const queue_line::entry* event_state::admitted_by(const std::string& admission_token) const {
  const auto id = session_token_entry(admission_token);
  const auto* e = id ? entry_of(*id) : nullptr;
  if (e == nullptr) return nullptr;
  return session_token_matches(*services_->sessions, admission_token, *id, e->session().admission_no)
           ? e
           : nullptr;
}

caf::result<claim_reply> event_state::on_open_claim(const open_claim& x) {
  if (refuses()) return refused(x);
  if (is_no_sale(x.event)) return claim_reply{reason::not_found};
  apply_block_list();
  const auto t = now();
  if (auto before = replayed<claim_reply>(x.idempotency, t)) return reveal(std::move(*before));
  decision d;
  claim_id opened;
  const auto* entry = admitted_by(x.admission_token);
  if (auto no = sale_->open_claim(x.customer, entry, x.items, t, d, opened, x.seats))
    return reveal(claim_reply{std::move(no)});
  claim_reply reply;
  reply.claim = sale_->view_of(*sale_->claims().find(opened));
  remember(x.idempotency, reply, t, d);
  return reply_after(commit(std::move(d), t), std::move(reply));
}

caf::result<claim_reply> event_state::on_find_claim(const find_claim& x) {
  if (refuses()) return refused(x);
  const auto* claim = sale_->claims().find(x.claim);
  const auto* order = claim != nullptr ? sale_->orders().of_claim(claim->id) : nullptr;
  const bool is_theirs =
    claim != nullptr && (claim->customer == x.customer || (order != nullptr && order->is_of(x.customer)));
  if (!is_theirs) return claim_reply{reason::not_found};
  claim_reply reply;
  reply.claim = sale_->view_of(*claim);
  return reveal(std::move(reply));
}

caf::result<ack_reply> event_state::on_release_claim(const release_claim& x) {
  if (refuses()) return refused(x);
  const auto t = now();
  decision d;
  auto no = sale_->release_claim(x.customer, x.claim, t, d, x.leaves);
  if (no) return reveal(ack_reply{std::move(no)});
  return reply_after(std::max(commit(std::move(d), t), journal_->reveal_barrier()), ack_reply{});
}

} // namespace fq
