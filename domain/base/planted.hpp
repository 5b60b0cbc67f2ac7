// SPDX-License-Identifier: Apache-2.0
// Bugs that tests/sim plants to prove that it would find them. In every build but the simulation's, `planted`
// is the constant false and the compiler removes the branch.
#pragma once
#include <cstdint>

namespace fq {

enum class bug : std::uint8_t {
  none,
  skip_epoch_guard, ///< the ledger accepts a batch of an older epoch
  trust_unknown_commit, ///< the journal takes an unknown outcome for a commit
  answer_before_commit, ///< replies are not held
  release_twice, ///< a released claim gives its stock back again
  admit_without_counting, ///< a tick forgets who is admitted already
  reload_forgets_confirmed, ///< sold units are lost when an owner loads
  expiry_ignores_payment, ///< a claim is released at its deadline although a payment is open
  order_by_timestamp, ///< equal joined_at: the later number goes first
  late_money_kept, ///< money captured after the release is neither claimed again nor refunded
  amount_unchecked, ///< a capture of another amount confirms
  idempotency_forgotten, ///< stored answers are not loaded
  claim_window_at_read, ///< until when a fan may claim is computed from the settings of the moment it asks
  mirror_before_commit, ///< the cache is told of a batch when it is submitted
  lost_mirror_kept, ///< a lost mirror is not begun anew
  generation_kept, ///< an owner that has loaded goes on under the generation of its predecessor
  lease_ignored, ///< an aggregate is taken whoever holds its lease
  lease_loss_ignored, ///< an owner whose lease another node took serves on
  takeover_forgotten, ///< a region looks only once for what must run
  fenced_taken_for_commit, ///< a zombie trusts its memory after its batch was refused
  marked_before_consumed, ///< an outbox row counts as delivered when it was read
  webhook_applied_twice, ///< receipts are ignored, and a second "paid" moves the stock again
  report_believed, ///< a webhook that proves nothing is applied without asking the gateway
  promo_not_returned, ///< a failed order keeps its use of the promo code
  promo_limit_forgotten, ///< a promo code is used however often it was used
  order_left_pending, ///< no order fails for want of a page
  cancelled_order_sells, ///< money for an order that was cancelled buys its tickets
  refund_keeps_tickets, ///< refunded tickets stay sold
  serves_after_lease, ///< an owner does not look whether its lease has passed
  renewal_taken_for_granted, ///< a lease that could not be renewed is thought to last
  answers_after_handover, ///< an owner that has given its event away goes on answering those who know it
  takes_back_given, ///< a region that gave an event away begins it again if it is asked first
  handover_keeps_lease, ///< an event is given away, its lease is not
  subscribes_twice, ///< a hub that subscribes again gets every push twice
  lost_hub_kept, ///< the hub of a lost connection stays subscribed, and is thought to be the one that comes
                 ///< back
  lost_peer_kept, ///< a lost node is thought to be reached still
};

#ifdef FQ_PLANTED_BUGS
inline bug planted_bug = bug::none;
inline bool planted(bug b) { return planted_bug == b; }
#else
constexpr bool planted(bug) { return false; }
#endif

} // namespace fq
