// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/checker.hpp"

namespace fq::sim {
namespace {

struct rare_name {
  rare which;
  std::string_view text;
};
constexpr std::array names{
  rare_name{rare::late_money_claimed_again, "late money claimed again"},
  rare_name{rare::late_money_refunded, "late money refunded"},
  rare_name{rare::unknown_commit_landed_late, "unknown commit landed late"},
  rare_name{rare::old_epoch_refused, "batch of an older epoch refused"},
  rare_name{rare::fenced_reload, "living owner fenced, reloaded"},
  rare_name{rare::sold_out_then_reopened, "sold out, then reopened"},
  rare_name{rare::restart_budget_spent, "restart budget spent"},
  rare_name{rare::replayed_idempotent_answer, "idempotent answer replayed"},
  rare_name{rare::claim_waited_for_verdict, "claim waited for a verdict"},
  rare_name{rare::passivated, "idle owner passivated"},
  rare_name{rare::process_crashed, "process crashed"},
  rare_name{rare::process_frozen, "process stood still"},
  rare_name{rare::commit_busy, "commit answered busy"},
  rare_name{rare::owned_elsewhere, "another node's lease heeded"},
  rare_name{rare::taken_over, "taken over by another node"},
  rare_name{rare::zombie_refused, "batch of a zombie refused"},
  rare_name{rare::mirror_rebuilt, "mirror lost, begun anew"},
  rare_name{rare::old_dump_noticed, "old dump of the cache noticed"},
  rare_name{rare::delivered_again, "domain event delivered again"},
  rare_name{rare::promo_refused, "promo code refused at its limit"},
  rare_name{rare::promo_came_back, "use of a promo code came back"},
  rare_name{rare::order_paid_late, "failed order bought with late money"},
  rare_name{rare::order_given_up_then_paid, "cancelled order paid, refunded"},
  rare_name{rare::order_failed_pending, "order failed without a page"},
  rare_name{rare::order_partly_refunded, "order refunded in part"},
  rare_name{rare::refund_dead_letter, "refund became a dead letter"},
  rare_name{rare::preferred_admitted, "preferred customer overtook others"},
  rare_name{rare::paid_with_tax, "paid with tax"},
  rare_name{rare::hidden_bought_by_invitation, "hidden type bought by invitation"},
  rare_name{rare::hidden_bought_by_code, "hidden type bought with a code"},
  rare_name{rare::hidden_overtook, "admitted for hidden stock before others"},
  rare_name{rare::customer_blocked, "blocked customer lost its place"},
  rare_name{rare::called_by_operator, "called by an operator"},
  rare_name{rare::revoked, "entry or session revoked"},
  rare_name{rare::went_away, "place became AWAY"},
  rare_name{rare::came_back, "holder of an AWAY place came back"},
  rare_name{rare::place_expired, "place expired"},
  rare_name{rare::queue_admitted, "admitted by a standalone queue"},
  rare_name{rare::twin_began, "process began under the name of a living one"},
  rare_name{rare::earlier_refused, "earlier process of a name refused by the ledger"},
  rare_name{rare::journal_full, "journal full"},
  rare_name{rare::loading_full, "limit of requests that wait for a load"},
  rare_name{rare::order_waiters_full, "limit of requests that wait for an order"},
  rare_name{rare::report_waiters_full, "limit of webhooks that wait for the gateway"},
  rare_name{rare::forgotten_reads_full, "limit of reads of forgotten entries"},
  rare_name{rare::revoked_in_parts, "revoked as many as one revocation may"},
  rare_name{rare::priorities_full, "limit of preferred customers"},
  rare_name{rare::invitations_full, "limit of invitations"},
  rare_name{rare::access_codes_full, "limit of access codes of an entry"},
  rare_name{rare::notice_lost, "notice lost by its target"},
  rare_name{rare::notice_received_again, "notice received again"},
  rare_name{rare::access_was_stale, "access granted after the session's end, within the bound"},
  rare_name{rare::access_granted_by_cache, "access granted by the cache"},
  rare_name{rare::access_refused_by_cache, "access refused by the cache"},
  rare_name{rare::node_clock_stepped, "wall clock of a node stepped"},
  rare_name{rare::ledger_clock_stepped, "clock of the ledger stepped"},
  rare_name{rare::moving_full, "limit of requests that wait for a move"},
  rare_name{rare::access_at_other_node, "access answered by the table of another node"},
  rare_name{rare::handed_over, "handed over to another node"},
  rare_name{rare::request_came_back, "request came back from an owner that moved"},
  rare_name{rare::zombie_gave_back, "request came back from a zombie"},
  rare_name{rare::found_at_peer, "owner found at another node"},
  rare_name{rare::link_broken, "connection between nodes broke"},
  rare_name{rare::cut_one_way, "nodes cut from each other one way"},
  rare_name{rare::cut_both_ways, "nodes cut from each other both ways"},
  rare_name{rare::ledger_cut, "node cut from the ledger"},
  rare_name{rare::taken_over_while_cut, "taken over from a node that was cut off"},
  rare_name{rare::lease_ended, "lease ended by a peer"},
  rare_name{rare::subscribed_again, "subscription renewed"},
  rare_name{rare::node_drained, "node drained"},
  rare_name{rare::message_lost, "message lost on a living connection"},
  rare_name{rare::message_twice, "request delivered twice"},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].which != static_cast<rare>(i)) return false;
  return names.size() == static_cast<std::size_t>(rare::count_);
}
static_assert(is_in_order());

} // namespace

std::string_view name_of(rare r) { return names.at(static_cast<std::size_t>(r)).text; }

} // namespace fq::sim
