// SPDX-License-Identifier: Apache-2.0
// Bugs that tests/sim plants to prove that it would find them. Outside of simulation builds `planted` is the
// constant false, and the compiler removes the branch.
#pragma once
#include <cstdint>

namespace fq {

enum class bug : std::uint8_t {
  none,
  skip_epoch_guard, ///< the ledger accepts a batch of an older epoch
  trust_unknown_commit, ///< the journal treats an unknown outcome as committed
  answer_before_commit, ///< replies are sent before the commit
  release_twice, ///< a released claim returns its stock twice
  admit_without_counting, ///< an admission run does not count entries that are already admitted
  reload_forgets_confirmed, ///< sold units are lost when an owner loads
  expiry_ignores_payment, ///< a claim is released at its deadline although a payment is open
  order_by_timestamp, ///< equal joined_at: the later number goes first
  late_money_kept, ///< money captured after the release is neither claimed again nor refunded
  amount_unchecked, ///< a capture of another amount confirms
  idempotency_forgotten, ///< stored answers are not loaded
  claim_window_at_read, ///< claim_by is computed from the current settings at each read
  mirror_before_commit, ///< the cache is updated when a batch is submitted
  lost_mirror_kept, ///< a lost mirror is not rebuilt
  generation_kept, ///< an owner that has loaded continues with the cache generation of its predecessor
  lease_ignored, ///< a node takes an aggregate although another node holds its lease
  lease_loss_ignored, ///< an owner continues to serve after another node took its lease
  takeover_forgotten, ///< a region checks only once which aggregates must run
  fenced_taken_for_commit, ///< an owner trusts its memory after its batch was fenced
  marked_before_consumed, ///< an outbox row counts as delivered when it is read
  webhook_applied_twice, ///< receipts are ignored, and a second "paid" moves the stock again
  report_believed, ///< a webhook without proof is applied without asking the gateway
  promo_not_returned, ///< a failed order keeps its use of the promo code
  promo_limit_forgotten, ///< a promo code can be used without limit
  order_left_pending, ///< orders without a payment page never fail
  cancelled_order_sells, ///< money for an order that was cancelled buys its tickets
  refund_keeps_tickets, ///< refunded tickets stay sold
  serves_after_lease, ///< an owner does not check whether its lease has expired
  renewal_taken_for_granted, ///< an owner assumes that its lease was renewed although the renewal failed
  answers_after_handover, ///< an owner that handed over its event continues to answer
  takes_back_given, ///< a region that handed over an event starts it again at the next request
  handover_keeps_lease, ///< an event is handed over without its lease
  subscribes_twice, ///< a subscriber that subscribes twice gets every push twice
  lost_subscriber_kept, ///< the subscriber of a lost connection stays subscribed and is mistaken for the one
                        ///< that reconnects
  lost_peer_kept, ///< a lost node still counts as reachable
  windows_ignored, ///< entries are admitted before anything can be bought
  returned_stock_kept, ///< a session whose claim ended without a purchase goes on to its end
  renewal_ignores_epoch, ///< a process renews the leases of a later process of its name
  recheck_forgotten, ///< an owner that loads asks about no failed attempt
  loss_unnoticed, ///< no node compares the ledger with what was seen committed
  loss_not_written, ///< the ledger does not keep that an aggregate lost commits
  gossip_forgotten, ///< nodes do not tell each other what they saw committed
  invitation_ignored, ///< a hidden type can be claimed without invitation or code
  block_forgotten, ///< a blocked customer keeps its place and its claims
  advance_counts_twice, ///< an operator's call admits twice as many
  away_loses_number, ///< the holder of an AWAY entry comes back with a new number
  offer_to_second, ///< a unit that comes back is offered to the second of the waiting list
  hidden_overtakes, ///< an entry that may buy hidden types is admitted for public stock first
  earlier_takes_back, ///< the ledger does not refuse a process after a later one of its name has begun
  commits_unsynced, ///< commits to the SQLite file are not synced
  leftover_log_trusted, ///< a process appends to what its predecessor left in the WAL without a sync
  failed_sync_ignored, ///< a commit counts although a write or sync of it failed
  full_disk_ignored, ///< a commit counts although the disk had no room for it
  // messages between nodes: a member is missing in `inspect`
  key_not_sent, ///< the idempotency key of a request
  number_not_sent, ///< the queue number in an answer about a place
  // clocks
  time_follows_wall, ///< an aggregate's time is the wall clock
  time_follows_ledger, ///< an owner that loads takes the ledger's time although later changes are committed
  // limits
  full_journal_accepts, ///< an owner accepts requests although its journal is full
  waits_without_limit, ///< any number of requests for an order wait
  revokes_without_limit, ///< one revocation ends any number of sessions
  // sessions at other nodes
  session_end_not_told, ///< no ended session reaches the session tables
  lost_sessions_kept, ///< session tables do not learn that their owner loads again
  session_end_not_mirrored, ///< no ended session reaches the cache
  absence_believed, ///< a session that the cache does not have is over
  // notices and pushes
  overtaking_not_told, ///< io threads do not learn of new places before others
  return_not_told, ///< subscribers do not learn that the holder of an AWAY place came back
  recipients_forgotten, ///< a domain event counts as delivered although its deliveries were not stored
  any_answer_delivers, ///< a delivery counts as delivered whatever its target answered
  join_not_noted, ///< the join of every third number is missing in the public log
  lock_given_twice, ///< a session gets a name that another one has locked
  // accounts and catalog
  code_accepted_twice, ///< an accepted sign-in code is forgotten in memory only
  code_before_commit, ///< a request for a code is answered before the code is committed
  revoked_key_kept, ///< a revoked API key is revoked in memory only
  keys_without_limit, ///< a tenant may have any number of API keys
  blocks_version_kept, ///< directories do not learn that a block list changed
  event_number_again, ///< a catalog that loads counts from the first event
  external_id_forgotten, ///< the catalog does not look for an external id in the ledger
  // mail
  put_off_mail_done, ///< a mail counts as sent although its recipient was put off
  mail_id_anew, ///< each attempt at a mail has an id of its own
  mail_overtakes, ///< a later mail does not wait for an earlier one to the same recipient
  // lists
  page_ends_early, ///< a full page counts as the last one
  // seats
  seat_conflict_ignored, ///< a claim gets the last seat that it names although it is taken
  single_seat_left, ///< best seats leave a single seat
  // event tickets
  refund_keeps_event_ticket, ///< a refund cancels one event ticket too few
  late_money_without_event_tickets, ///< late money that buys again gets no event tickets
  // lobby
  draw_repeated, ///< a beacon that comes again draws again
  late_entrant, ///< who joins just after the closing counts as an entrant
  party_counted_once, ///< a party is admitted as soon as there is room for one
  rank_lost_at_load, ///< an owner that loads serves by number
  admits_before_draw, ///< entries are admitted while the draw waits
  // check-in
  scan_counted_twice, ///< a scan that is sent again counts as another one
  late_scan_moves_back, ///< a scan that arrives late counts as the last one
  // guests
  guest_limit_forgotten, ///< a guest's purchase is confirmed beyond the limit of its address
};

#ifdef FQ_PLANTED_BUGS
inline bug planted_bug = bug::none;
inline bool planted(bug b) { return planted_bug == b; }
#else
constexpr bool planted(bug) { return false; }
#endif

} // namespace fq
