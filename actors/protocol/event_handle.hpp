// SPDX-License-Identifier: Apache-2.0
// The handle of an event actor. Its messages are declared only: include the conversation that you send
// (fan_messages.hpp, organizer_messages.hpp, subscriber_messages.hpp ...).
#pragma once
#include "actors/protocol/message_list.hpp"

#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

namespace fq {

/// Owner of one event: its queue, inventory, claims, payments and journal.
using event_handle = caf::typed_actor<
  caf::replies_to<join>::with<entry_reply>, ///< after commit; the new or the existing place
  caf::replies_to<open_challenge>::with<challenge_reply>, caf::replies_to<find_entry>::with<entry_reply>,
  caf::replies_to<find_receipt>::with<receipt_reply>,
  caf::replies_to<leave>::with<ack_reply>, ///< after commit
  caf::replies_to<find_ticket>::with<entry_reply>,
  caf::replies_to<leave_ticket>::with<ack_reply>, ///< after commit
  caf::replies_to<end_session>::with<ack_reply>, ///< after commit
  caf::replies_to<change_lock>::with<locks_reply>, ///< after commit
  caf::replies_to<find_locks>::with<locks_reply>,
  caf::reacts_to<present>, ///< from a subscriber
  caf::replies_to<open_claim>::with<claim_reply>, ///< after commit
  caf::replies_to<find_claim>::with<claim_reply>,
  caf::replies_to<release_claim>::with<ack_reply>, ///< after commit
  caf::replies_to<open_payment>::with<payment_reply>, ///< after commit and the gateway's answer; after 3 s
                                                      ///< without one: INITIALIZING
  caf::replies_to<find_payment>::with<payment_reply>,
  caf::replies_to<apply_fact>::with<ack_reply>, ///< after commit; not_found if the reference is unknown
  caf::replies_to<get_quote>::with<quote_reply>,
  caf::replies_to<place_order>::with<order_reply>, ///< after commit
  caf::replies_to<find_order>::with<order_reply>, ///< immediately, or within find_order::wait
  caf::replies_to<cancel_order>::with<order_reply>, ///< after commit
  caf::replies_to<list_event_orders>::with<orders_reply>,
  caf::replies_to<find_event_ticket>::with<event_ticket_reply>,
  caf::replies_to<find_ticket_papers>::with<ticket_papers_reply>,
  caf::replies_to<find_ticket_seats>::with<ticket_seats_reply>,
  caf::replies_to<offer_ticket>::with<transfer_reply>, ///< after commit
  caf::replies_to<end_transfer>::with<transfer_reply>, ///< after commit
  caf::replies_to<list_event_tickets>::with<event_tickets_reply>,
  caf::replies_to<refund_tickets>::with<order_reply>, ///< after commit; the refund follows
  caf::replies_to<resend_order>::with<ack_reply>, ///< after commit
  caf::replies_to<set_promo_code>::with<promo_codes_reply>, ///< after commit
  caf::replies_to<find_promo_codes>::with<promo_codes_reply>,
  caf::replies_to<set_priorities>::with<count_reply>, ///< after commit
  caf::replies_to<find_priorities>::with<customers_reply>,
  caf::replies_to<invite_customers>::with<count_reply>, ///< after commit; number of customers whose
                                                        ///< invitation changed
  caf::replies_to<withdraw_invitations>::with<count_reply>, ///< after commit
  caf::replies_to<find_invitations>::with<invitations_reply>,
  caf::replies_to<settle_dead_letter>::with<ack_reply>, ///< after commit
  caf::replies_to<report_undelivered>::with<ack_reply>, ///< from the mail and bus consumers, after commit
  caf::replies_to<find_event>::with<event_reply>,
  caf::replies_to<patch_event>::with<event_reply>, ///< after commit
  caf::replies_to<turn_event>::with<event_reply>, ///< after commit
  caf::replies_to<set_seat_plan>::with<event_reply>, ///< after commit
  caf::replies_to<set_seats>::with<ack_reply>, ///< after commit
  caf::replies_to<find_seats>::with<seats_reply>, caf::replies_to<find_seat_plan>::with<seat_plan_reply>,
  caf::replies_to<renew_ticket_keys>::with<event_reply>, ///< after commit
  caf::replies_to<set_checkin_list>::with<checkin_reply>, ///< after commit
  caf::replies_to<set_checkin_device>::with<checkin_reply>, ///< after commit
  caf::replies_to<find_checkin>::with<checkin_reply>,
  caf::replies_to<list_checkin_conflicts>::with<checkin_conflicts_reply>,
  caf::replies_to<redeem_scans>::with<scans_reply>, ///< after commit
  caf::replies_to<find_gate>::with<gate_reply>, caf::replies_to<find_gate_state>::with<gate_state_reply>,
  caf::replies_to<search_gate>::with<gate_tickets_reply>, caf::replies_to<find_stats>::with<stats_reply>,
  caf::replies_to<advance_line>::with<count_reply>, ///< after commit
  caf::replies_to<revoke_sessions>::with<count_reply>, ///< after commit
  caf::replies_to<change_party>::with<entry_reply>, ///< after commit
  caf::replies_to<enter_beacon>::with<event_reply>, ///< after commit
  caf::replies_to<end_draw_wait>::with<event_reply>, ///< after commit
  caf::reacts_to<lobby_computed>, ///< INTERNAL, from the draw worker or a source of beacons
  caf::replies_to<find_line>::with<line_reply>, ///< from a line table
  caf::reacts_to<subscribe>, ///< from a line table
  caf::reacts_to<owner_kept>, ///< from an io thread; answered by owner_left when the event moves
  caf::reacts_to<watch_sessions>, ///< from a session table, which receives sessions_changed
  caf::reacts_to<push_read>, ///< from a push listener on another node
  caf::replies_to<verify_mirror>::with<mirror_report>, caf::replies_to<verify_ledger>::with<ledger_report>,
  caf::reacts_to<aggregate_peeked>, ///< INTERNAL, from a ledger reader
  caf::reacts_to<batch_settled>, ///< INTERNAL, from the ledger worker
  caf::reacts_to<aggregate_acquired>, ///< INTERNAL, from the ledger worker
  caf::reacts_to<lease_lost>, ///< INTERNAL, from the ledger worker
  caf::reacts_to<hand_over>, ///< INTERNAL, from the region
  caf::reacts_to<blocks_changed>, ///< INTERNAL, from the region
  caf::reacts_to<mirror_checked>, ///< INTERNAL, from the cache worker
  caf::reacts_to<mirror_lost>, ///< INTERNAL, from the cache worker
  caf::reacts_to<cache_is_back>, ///< INTERNAL, from the cache worker
  caf::reacts_to<gateway_answered>, ///< INTERNAL, from payments
  caf::replies_to<prove_growth>::with<growth_proof>, ///< INTERNAL, from the client of the witnesses
  caf::reacts_to<checkpoint_cosigned>, ///< INTERNAL, from the client of the witnesses
  caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq
