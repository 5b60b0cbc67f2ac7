// SPDX-License-Identifier: Apache-2.0
// The names of rare situations, as the simulation prints them.
#include "tests/sim/checker.hpp"

#include <algorithm>
#include <iterator>

namespace fq::sim {
namespace {

struct named_rare {
  rare which;
  std::string_view name;
};
constexpr named_rare rare_names[] = {
  {rare::late_money_claimed_again, "late money claimed again"},
  {rare::late_money_refunded, "late money refunded"},
  {rare::unknown_commit_landed_late, "unknown commit landed late"},
  {rare::old_epoch_refused, "batch of an older epoch refused"},
  {rare::fenced_reload, "living owner fenced, reloaded"},
  {rare::sold_out_then_reopened, "sold out, then reopened"},
  {rare::restart_budget_spent, "restart budget spent"},
  {rare::replayed_idempotent_answer, "idempotent answer replayed"},
  {rare::claim_waited_for_verdict, "claim waited for a verdict"},
  {rare::passivated, "idle owner passivated"},
  {rare::process_crashed, "process crashed"},
  {rare::process_frozen, "process stood still"},
  {rare::commit_busy, "commit answered busy"},
  {rare::owned_elsewhere, "another node's lease heeded"},
  {rare::taken_over, "taken over by another node"},
  {rare::zombie_refused, "batch of a zombie refused"},
  {rare::mirror_rebuilt, "mirror lost, begun anew"},
  {rare::old_dump_noticed, "old dump of the cache noticed"},
  {rare::delivered_again, "domain event delivered again"},
  {rare::promo_refused, "promo code refused at its limit"},
  {rare::promo_came_back, "use of a promo code came back"},
  {rare::order_paid_late, "failed order bought with late money"},
  {rare::order_given_up_then_paid, "cancelled order paid, refunded"},
  {rare::order_failed_pending, "order failed without a page"},
  {rare::order_partly_refunded, "order refunded in part"},
  {rare::event_tickets_named, "refund of named event tickets"},
  {rare::ticket_transferred, "event ticket with another holder"},
  {rare::scan_replayed, "scan sent again"},
  {rare::gate_conflict, "let in against the rules"},
  {rare::refund_dead_letter, "refund became a dead letter"},
  {rare::seat_conflict, "named seat of another claim"},
  {rare::single_refused, "named seats would leave a single"},
  {rare::no_best_seats, "no best seats"},
  {rare::seats_sold_again, "late money took its seats again"},
  {rare::seats_changed, "seats blocked, released or moved"},
  {rare::preferred_admitted, "preferred customer overtook others"},
  {rare::paid_with_tax, "paid with tax"},
  {rare::hidden_bought_by_invitation, "hidden type bought by invitation"},
  {rare::hidden_bought_by_code, "hidden type bought with a code"},
  {rare::hidden_overtook, "admitted for hidden stock before others"},
  {rare::customer_blocked, "blocked customer lost its place"},
  {rare::called_by_operator, "called by an operator"},
  {rare::revoked, "entry or session revoked"},
  {rare::went_away, "place became AWAY"},
  {rare::came_back, "holder of an AWAY place came back"},
  {rare::place_expired, "place expired"},
  {rare::queue_admitted, "admitted by a standalone queue"},
  {rare::twin_began, "process began under the name of a living one"},
  {rare::earlier_refused, "earlier process of a name refused by the ledger"},
  {rare::commits_lost, "ledger went back over commits"},
  {rare::loss_noticed, "sale stopped because of lost commits"},
  {rare::loss_known_to_others, "lost commits known to another node only"},
  {rare::power_lost, "the ledger's machine lost power"},
  {rare::sync_failed, "a sync failed"},
  {rare::disk_full, "the disk was full"},
  {rare::found_without_answer, "a commit without an answer found again"},
  {rare::journal_full, "journal full"},
  {rare::loading_full, "limit of requests that wait for a load"},
  {rare::order_waiters_full, "limit of requests that wait for an order"},
  {rare::report_waiters_full, "limit of webhooks that wait for the gateway"},
  {rare::forgotten_reads_full, "limit of reads of forgotten entries"},
  {rare::revoked_in_parts, "revoked as many as one revocation may"},
  {rare::priorities_full, "limit of preferred customers"},
  {rare::invitations_full, "limit of invitations"},
  {rare::access_codes_full, "limit of access codes of an entry"},
  {rare::notice_lost, "notice lost by its target"},
  {rare::notice_received_again, "notice received again"},
  {rare::access_was_stale, "access granted after the session's end, within the bound"},
  {rare::access_granted_by_cache, "access granted by the cache"},
  {rare::access_refused_by_cache, "access refused by the cache"},
  {rare::statistics_written, "statistics written"},
  {rare::statistics_complete, "statistics up to the end of the sale"},
  {rare::moving_full, "limit of requests that wait for a move"},
  {rare::access_at_other_node, "access answered by the table of another node"},
  {rare::code_accepted, "sign-in code accepted"},
  {rare::organizer_signed_in, "organizer signed in"},
  {rare::keys_full, "limit of a tenant's keys"},
  {rare::block_list_full, "limit of a block list"},
  {rare::external_id_taken, "external id taken"},
  {rare::directory_refreshed, "directory read again on demand"},
  {rare::list_walked, "list read in pages"},
  {rare::mail_put_off, "mail put off by its service"},
  {rare::mail_given_up, "mail became a dead letter"},
  {rare::mail_received_again, "mail received again"},
  {rare::node_clock_stepped, "wall clock of a node stepped"},
  {rare::ledger_clock_stepped, "clock of the ledger stepped"},
  {rare::handed_over, "handed over to another node"},
  {rare::request_came_back, "request came back from an owner that moved"},
  {rare::zombie_gave_back, "request came back from a zombie"},
  {rare::found_at_peer, "owner found at another node"},
  {rare::link_broken, "connection between nodes broke"},
  {rare::cut_one_way, "nodes cut from each other one way"},
  {rare::cut_both_ways, "nodes cut from each other both ways"},
  {rare::ledger_cut, "node cut from the ledger"},
  {rare::taken_over_while_cut, "taken over from a node that was cut off"},
  {rare::lease_ended, "lease ended by a peer"},
  {rare::subscribed_again, "subscription renewed"},
  {rare::node_drained, "node drained"},
  {rare::message_lost, "message lost on a living connection"},
  {rare::message_twice, "request delivered twice"},
};
static_assert(std::size(rare_names) == static_cast<std::size_t>(rare::count_));

} // namespace

std::string_view name_of(rare r) {
  const auto* const found = std::ranges::find(rare_names, r, &named_rare::which);
  return found->name;
}

} // namespace fq::sim
