// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/witness_client.hpp"

#include "actors/outbox/limits.hpp"
#include "fair/last_cosigned.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace fq {

witness_client_handle::behavior_type witness_client(
  witness_client_handle::stateful_pointer<witness_client_state> self,
  const witness_client_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void witness_client_state::init(pointer self, const witness_client_services& services) {
  self_ = self;
  services_ = &services;
  self->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
}

witness_client_handle::behavior_type witness_client_state::behavior() {
  return {
    [this](const checkpoint_signed& x) { on_signed(x); },
    [this](const witness_answered& x) { on_answer(x); },
    [this](const timer_fired& t) { on_timer(t); },
  };
}

std::optional<witness_client_state::offered> witness_client_state::offer(const std::string& note) {
  auto parsed = parse_checkpoint(note);
  return parsed ? std::optional{offered{note, std::move(*parsed)}} : std::nullopt;
}

void witness_client_state::on_signed(const checkpoint_signed& x) {
  auto newest = offer(x.note);
  if (!newest) return;
  if (logs_.size() >= cosigned_logs_max && !logs_.contains(x.aggregate)) forget_oldest();
  auto& w = logs_[x.aggregate];
  // A new origin or another owner's log is new to each witness, as far as is known.
  if (w.newest.parsed.content.origin != newest->parsed.content.origin || newest->size() < w.newest.size())
    w.progress.assign(services_->witnesses.size(), {});
  if (x.cosigned)
    for (std::size_t i = 0; i < w.progress.size(); ++i)
      w.progress[i].resume(size_cosigned_by(*x.cosigned, services_->witnesses[i]));
  w.newest = std::move(*newest);
  w.first = offer(x.first);
  if (w.log != x.log) self_->monitor(x.log);
  w.log = x.log;
  w.updated_at = now();
  send_due(x.aggregate, w);
}

void witness_client_state::send_due(aggregate_id aggregate, watched& w) {
  for (std::size_t i = 0; i < w.progress.size(); ++i) {
    auto& progress = w.progress[i];
    const auto& next = w.first && progress.lacks(w.first->size()) ? *w.first : w.newest;
    const auto old_size = progress.due(next.size(), now());
    if (!old_size) continue;
    progress.begin();
    ask(aggregate, i, *old_size, w, next);
  }
}

void witness_client_state::ask(aggregate_id aggregate, std::size_t witness, std::uint64_t old_size,
                               const watched& w, const offered& what) {
  const auto size = what.size();
  if (old_size == 0 || old_size == size) return send(aggregate, witness, old_size, what.note, {});
  self_->request(w.log, growth_proof_timeout, prove_growth{old_size, size})
    .then(
      [=, this, note = what.note](const growth_proof& proof) {
        if (proof.no) return fail(aggregate, witness);
        send(aggregate, witness, old_size, note, proof);
      },
      [=, this](const caf::error&) { fail(aggregate, witness); });
}

void witness_client_state::send(aggregate_id aggregate, std::size_t witness, std::uint64_t old_size,
                                const std::string& note, const growth_proof& proof) {
  auto done = [=, me = caf::actor_cast<caf::actor>(self_)](witness_reply reply) {
    caf::anon_send(me, witness_answered{aggregate, witness, note, std::move(reply)});
  };
  services_->port->add_checkpoint(witness, add_checkpoint_body(old_size, proof.hashes, note),
                                  std::move(done));
}

void witness_client_state::fail(aggregate_id aggregate, std::size_t witness) {
  const auto found = logs_.find(aggregate);
  if (found == logs_.end()) return;
  auto& progress = found->second.progress[witness];
  progress.fail(now());
  set_timer(aggregate, progress);
}

void witness_client_state::on_answer(const witness_answered& x) {
  const auto found = logs_.find(x.aggregate);
  const auto sent = parse_checkpoint(x.note);
  if (found == logs_.end() || !sent) return;
  auto& w = found->second;
  if (sent->content.origin != w.newest.parsed.content.origin) return; // of a log that this one replaces
  std::string lines;
  const auto& witness = services_->witnesses[x.witness];
  const auto what =
    w.progress[x.witness].take({x.reply.status, x.reply.body}, *sent, w.newest.size(), witness, now(), lines);
  if (what == cosigning_event::cosigned)
    self_->send(w.log, checkpoint_cosigned{sent->content.size, witness.name, x.note, std::move(lines)});
  else
    tell(what, w, x.witness, x.reply.status);
  set_timer(x.aggregate, w.progress[x.witness]);
  send_due(x.aggregate, w);
}

/// Warns the operator, except of failures that end by themselves.
void witness_client_state::tell(cosigning_event what, const watched& w, std::size_t witness,
                                int status) const {
  if (!services_->warn || what == cosigning_event::other_size || what == cosigning_event::failed) return;
  const auto why = what == cosigning_event::ahead          ? "has cosigned a longer log: this one went back"
                   : what == cosigning_event::inconsistent ? "has cosigned another log"
                                                           : "does not take it";
  services_->warn("the witness " + services_->witnesses[witness].name + " of "
                  + w.newest.parsed.content.origin + " " + why + " (" + std::to_string(status) + ")");
}

void witness_client_state::on_timer(const timer_fired& t) {
  const auto found = logs_.find(static_cast<aggregate_id>(t.generation));
  if (found != logs_.end()) send_due(found->first, found->second);
}

/// The next owner may be at another node, where the log goes on: what is known here is no longer the newest.
void witness_client_state::on_down(const caf::down_msg& down) {
  std::erase_if(logs_, [&](const auto& log) { return log.second.log.address() == down.source; });
}

void witness_client_state::forget_oldest() {
  const auto oldest =
    std::ranges::min_element(logs_, {}, [](const auto& log) { return log.second.updated_at; });
  self_->demonitor(caf::actor_cast<caf::actor_addr>(oldest->second.log));
  logs_.erase(oldest);
}

/// For the retry of a witness that has failed.
void witness_client_state::set_timer(aggregate_id aggregate, const cosigning& progress) {
  if (const auto at = progress.waits_until())
    self_->delayed_send(self_, std::max(milliseconds{1}, *at - now()),
                        timer_fired{timer_kind::sweep, static_cast<std::uint64_t>(aggregate)});
}

} // namespace fq
