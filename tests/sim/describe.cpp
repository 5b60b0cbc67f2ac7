// SPDX-License-Identifier: Apache-2.0
// The options of a sale as text, for a failure.
#include "tests/sim/options.hpp"

#include <sstream>

namespace fq::sim {
namespace {

void describe_settings(std::ostringstream& s, const sale_options& o) {
  const auto& q = o.queue;
  s << "\n  " << (o.kind == event_kind::queue ? "standalone queue" : "sale") << ", rate " << q.rate_per_minute
    << "/min, ticket ttl " << q.ticket_ttl.count() << " ms, capacity " << q.capacity << ", presence "
    << q.presence_timeout.count() << " ms, grace " << q.away_grace.count() << " ms, dozes " << o.people.dozes
    << ", at most " << o.max_per_order << " per order; hidden types " << o.access.hidden << ", invites "
    << o.access.invites << ", codes " << o.access.sets_codes << ", given " << o.access.gives_code
    << "; lobby " << o.lobby.on << " of " << o.lobby.length.count() << " ms, draws " << o.lobby.draws
    << ", beacon " << o.lobby.has_beacon << ", parties " << o.lobby.parties << " of " << o.lobby.party_max
    << "; seats " << o.seats.on << ", singles " << static_cast<int>(o.seats.singles) << ", named "
    << o.seats.names << ", best " << o.seats.best << ", changes " << o.seats.changes << "; blocks "
    << o.people.blocks << ", revokes " << o.people.revokes << "; waiting list " << o.waiting_list.enabled
    << ", window " << o.waiting_list.claim_window.count() << " ms";
}

void describe_checkout(std::ostringstream& s, const sale_options& o) {
  const auto& c = o.checkout;
  const auto& f = o.faults;
  s << "\n  checkout: by order " << c.by_order << ", two types " << c.two_types << ", donates " << c.donates
    << ", promo " << c.uses_promo << ", cancels " << c.cancels << ", pays all the same "
    << c.pays_all_the_same << ", late fans " << c.late_fans << "; claims per customer "
    << o.claims_per_customer << ", pending at most " << o.rules.pending_max.count() << " ms"
    << "; webhooks " << (c.webhooks_are_reports ? "are reports" : "are believed") << ", forged "
    << f.report_forged << ", declined after paid " << f.declined_after_paid << "; gateway: rejects "
    << f.rejected << ", taxes " << f.taxed << ", refuses refunds " << f.refund_refused
    << (f.references_once ? ", references once" : "") << (f.gateway_stays_away ? ", stays away" : "");
}

void describe_disk(std::ostringstream& s, const sale_options& o) {
  const auto& d = o.disk;
  s << "\n  disk: errors " << d.error << ", power losses " << d.power << ", full " << d.full
    << ", faults at the start " << d.open << (d.tears ? ", tears" : "") << ", checkpoint at "
    << d.checkpoint_pages << " pages";
}

void describe_bounds(std::ostringstream& s, const sale_options& o) {
  const auto& b = o.bounds;
  const auto& r = o.rules.bounds;
  s << "\n  bounds: held " << b.held << ", loading " << b.loading << ", moving " << b.moving
    << ", order waiters " << b.order_waiters << ", report waiters " << b.report_waiters
    << ", forgotten reads " << b.forgotten_reads << "; revocations " << r.revocations << ", priorities "
    << r.priorities << ", invitations " << r.invitations << ", access codes " << r.access_codes
    << ", rows per run " << r.rows_per_run << ", refunds " << r.refunds_per_run;
}

void describe_directory(std::ostringstream& s, const sale_options& o) {
  const auto& d = o.directory;
  s << "\n  accounts and catalog: pages up to " << d.page_max << ", codes live " << d.code_life.count()
    << " ms, at most " << d.bounds.codes << "; keys " << d.bounds.keys_per_tenant << ", blocks "
    << d.bounds.blocks_per_owner << ", password calls " << d.bounds.password_calls;
}

void describe_mesh(std::ostringstream& s, const sale_options& o) {
  const auto& m = o.mesh;
  s << "\n  mesh: link delay " << m.link_delay.count() << " ms, broken after " << m.connection_timeout.count()
    << " ms, beats " << m.beat_interval.count() << " ms, alive for " << m.alive_for.count()
    << " ms; bystanders " << m.bystanders << (m.opens_early ? ", opened long ago" : "") << "; reset "
    << m.reset << ", stall " << m.stall << ", cut " << m.cut << ", ledger cut " << m.ledger_cut
    << ", silent deaths " << m.silent_death << "; moves " << m.move << ", drains " << m.drain
    << "; messages lost " << m.lost << ", twice " << m.twice << ", late " << m.late << " by "
    << m.late_by.count() << " ms, subscribes again " << m.subscribes_again;
}

} // namespace

std::string describe(const sale_options& o) {
  const auto& f = o.faults;
  std::ostringstream s;
  s << "seed " << o.seed << ": " << o.fans << " fans, " << o.ticket_types << " x " << o.total
    << " tickets at " << o.price << ", policy " << name_of(o.queue.policy) << ", concurrency "
    << o.queue.concurrency << ", batch " << o.queue.batch_size << "/" << o.queue.admission_interval.count()
    << " ms, over-admission " << o.queue.over_admission_percent << " %, session "
    << o.queue.session_ttl.count() << " ms, claim window " << o.queue.claim_window.count() << " ms, claim "
    << o.claim_ttl.count() << " ms, reclaim " << o.queue.reclaims_max << " x "
    << o.queue.reclaim_window.count() << " ms, sale after " << o.sale_delay.count()
    << " ms, second type after " << o.type_delay.count() << " ms, grace " << o.rules.verdict_grace.count()
    << " ms\n  commits: unavailable " << f.commit_unavailable << ", unknown applied "
    << f.commit_applied_unknown << ", lost " << f.commit_lost_unknown << ", late " << f.commit_late
    << ", delayed " << f.commit_delayed << ", busy " << f.commit_busy << "; acquire " << f.acquire_unavailable
    << "; other calls unavailable " << f.call_unavailable << ", unanswered " << f.call_unanswered
    << "; store delay " << f.store_delay.count() << " ms\n  kills: owner " << f.kill_owner << ", supervisor "
    << f.kill_supervisor << ", process " << f.crash_process << ", payments " << f.kill_payments << ", rival "
    << f.rival_owner << ", freeze " << f.freeze << ", twin " << f.twin << "; nodes " << o.nodes << ", lease "
    << o.lease_term.count() << " ms, takeover " << o.takeover_interval.count()
    << " ms\n  gateway: unavailable " << f.gateway_unavailable << ", effect but unavailable "
    << f.gateway_effect_but_unavailable << ", answer lost " << f.gateway_answer_lost << ", outage "
    << f.gateway_outage << ", delay " << f.gateway_delay.count() << " ms; webhook lost " << f.webhook_lost
    << ", for ever " << f.webhook_gone << ", twice " << f.webhook_twice << ", delay "
    << f.webhook_delay.count() << " ms; wrong amount " << f.wrong_amount << "; refunds pending "
    << f.refund_pending << "\n  fans: answer lost " << f.answer_lost << ", patience " << o.patience.count()
    << " ms, no-show " << o.no_show << ", leave " << o.leaves << ", abandon " << o.abandons << ", release "
    << o.releases << ", decline " << o.declines << ", pay after declining " << o.pays_after_declining
    << ", pay late " << o.pays_late << (o.fans_vanish ? ", vanish" : "") << "; organizer "
    << (o.organizer_acts ? "acts" : "rests") << "; wall clock " << (f.wall_clock_jumps ? "jumps" : "steady");
  describe_settings(s, o);
  if (const auto& c = o.clocks; c.drift > 0 || c.node_steps > 0 || c.ledger_steps > 0)
    s << "\n  clocks: drift " << c.drift << " per mille, steps of nodes " << c.node_steps
      << ", of the ledger " << c.ledger_steps;
  if (o.statistics_step.count() > 0) s << "\n  statistics every " << o.statistics_step.count() << " ms";
  if (o.has_couriers) s << "\n  couriers deliver";
  if (o.directory.on) describe_directory(s, o);
  if (o.directory.on || o.mail.on)
    s << "\n  mail" << (o.mail.on ? " is sent" : "") << ": service down " << o.mail.down << ", put off "
      << o.mail.put_off << ", refused " << o.mail.refused << ", answer lost " << o.mail.answer_lost;
  if (o.has_origins) s << "\n  origins ask";
  if (o.small_bounds) describe_bounds(s, o);
  if (o.has_cache)
    s << "\n  cache: unavailable " << f.cache_unavailable << ", unanswered " << f.cache_unanswered
      << ", torn " << f.cache_torn << " at " << o.cache_chunk_max << ", flushed " << f.cache_flushed
      << ", rolled back " << f.cache_rolled_back << ", away " << f.cache_away << "; reconciled every "
      << o.reconciliation_interval.count() << " ms";
  if (o.has_dispatcher)
    s << "\n  consumer: refuses " << f.consumer_refuses << ", stops early " << f.consumer_stops_early
      << ", answer lost " << f.consumer_answer_lost << ", delay " << f.consumer_delay.count() << " ms";
  if (o.checkout.on) describe_checkout(s, o);
  if (o.mesh.on) describe_mesh(s, o);
  if (o.loss.on)
    s << "\n  ledger goes back at " << o.loss.back_at.count() << " ms to " << o.loss.kept_at.count()
      << " ms; a process ends at " << o.loss.ends_at.count() << " ms";
  if (o.disk.on) describe_disk(s, o);
  return s.str();
}

} // namespace fq::sim
