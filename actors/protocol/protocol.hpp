// SPDX-License-Identifier: Apache-2.0
// The typed handles of all actors used across files, with a comment per handler, and the type-id block.
// Handlers marked INTERNAL serve the actor's own timers, workers and supervisor.
#pragma once
#include "actors/protocol/messages.hpp"

#include <caf/detail/tuple_vals.hpp>
#include <caf/replies_to.hpp>
#include <caf/typed_actor.hpp>

namespace fq {

/// An actor with a journal, as the ledger worker sees it.
using owner_handle = caf::typed_actor<caf::reacts_to<batch_settled>, caf::reacts_to<aggregate_acquired>,
                                      caf::reacts_to<lease_lost>>;

/// Owner of one event: its queue, inventory, claims, payments and journal.
using event_handle = caf::typed_actor<
  caf::replies_to<join>::with<entry_reply>, ///< after commit; the new or the existing place
  caf::replies_to<find_entry>::with<entry_reply>,
  caf::replies_to<leave>::with<ack_reply>, ///< after commit
  caf::replies_to<find_ticket>::with<entry_reply>,
  caf::replies_to<leave_ticket>::with<ack_reply>, ///< after commit
  caf::replies_to<end_session>::with<ack_reply>, ///< after commit
  caf::reacts_to<present>, ///< from a hub
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
  caf::replies_to<find_stats>::with<stats_reply>,
  caf::replies_to<advance_line>::with<count_reply>, ///< after commit
  caf::replies_to<revoke_sessions>::with<count_reply>, ///< after commit
  caf::replies_to<find_line>::with<line_reply>, ///< from a hub
  caf::replies_to<find_positions>::with<positions_reply>,
  caf::reacts_to<subscribe>, ///< from a hub
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
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// One per owner, with a stable handle. Starts the owner, restarts it with back-off within a budget and
/// resolves its current handle.
using supervisor_handle =
  caf::typed_actor<caf::replies_to<resolve_event>::with<event_handle>, ///< waits until the owner serves;
                                                                       ///< errors: absent, unavailable,
                                                                       ///< not_owner
                   caf::reacts_to<owner_ready>, ///< INTERNAL, from the owner
                   caf::reacts_to<owner_absent>, ///< INTERNAL, from the owner
                   caf::reacts_to<owner_denied>, ///< INTERNAL, from the owner
                   caf::reacts_to<owner_idle>, ///< INTERNAL, from the owner
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Subscriber of events: one per io thread (net/websocket/hub) and one per other node
/// (net/bridge/push_relay). Receives only committed changes, in order per event.
using hub_handle =
  caf::typed_actor<caf::reacts_to<entries_changed>, caf::reacts_to<line_moved>, caf::reacts_to<event_noticed>,
                   caf::reacts_to<orders_changed>, caf::reacts_to<owner_left>, caf::reacts_to<push_mark>,
                   caf::reacts_to<pushes_lost>>;

/// Resolves the owner of every aggregate; spawns it on first use, stops it when idle.
using region_handle =
  caf::typed_actor<caf::replies_to<resolve_event>::with<event_handle>, ///< errors: absent, unavailable,
                                                                       ///< not_owner (actors/base/errors.hpp)
                   caf::replies_to<list_owned>::with<owned_aggregates>, ///< owners that run on this node
                   caf::replies_to<move_event>::with<ack_reply>, ///< after the handover; absent, unavailable:
                                                                 ///< not moved; other errors: it may still
                                                                 ///< move
                   caf::reacts_to<cluster_changed>, ///< from the cluster
                   caf::reacts_to<blocks_changed>, ///< from the directory; forwarded to all local owners
                   caf::reacts_to<handed_over>, ///< INTERNAL, from an owner
                   caf::reacts_to<aggregates_to_wake>, ///< INTERNAL, from the ledger worker
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Organizers, customers, one-time passwords.
using accounts_handle = caf::typed_actor<
  caf::replies_to<log_in>::with<person_reply>,
  caf::replies_to<request_otp>::with<ack_reply>, ///< after commit; the mail may still be in flight
  caf::replies_to<verify_otp>::with<person_reply>, ///< after commit
  caf::replies_to<add_organizer>::with<person_reply>, ///< after commit
  caf::replies_to<add_tenant>::with<ack_reply>, ///< after commit
  caf::replies_to<list_tenants>::with<tenants_reply>,
  caf::replies_to<issue_api_key>::with<api_key_reply>, ///< after commit
  caf::replies_to<revoke_api_key>::with<ack_reply>, ///< after commit
  caf::replies_to<find_customers>::with<customers_reply>, ///< after commit
  caf::replies_to<change_setting>::with<ack_reply>, ///< after commit
  caf::replies_to<record_deed>::with<ack_reply>, ///< after commit
  caf::replies_to<block_customers>::with<customers_reply>, ///< after commit; directories poll the list
  caf::replies_to<unblock_customer>::with<ack_reply>, ///< after commit
  caf::replies_to<find_blocks>::with<blocks_reply>,
  caf::reacts_to<cluster_changed>, ///< from the cluster
  caf::reacts_to<batch_settled>, ///< INTERNAL
  caf::reacts_to<aggregate_acquired>, ///< INTERNAL
  caf::reacts_to<lease_lost>, ///< INTERNAL
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Creates events; lists them from committed state.
using catalog_handle = caf::typed_actor<caf::replies_to<create_event>::with<event_reply>, ///< after commit
                                        caf::replies_to<list_events>::with<event_list_reply>,
                                        caf::replies_to<list_audit>::with<audit_reply>,
                                        caf::replies_to<list_orders>::with<order_list_reply>,
                                        caf::replies_to<list_dead_letters>::with<dead_letters_reply>,
                                        caf::reacts_to<cluster_changed>, ///< from the cluster
                                        caf::reacts_to<batch_settled>, ///< INTERNAL
                                        caf::reacts_to<aggregate_acquired>, ///< INTERNAL
                                        caf::reacts_to<lease_lost>, ///< INTERNAL
                                        caf::reacts_to<last_aggregate_found>, ///< INTERNAL
                                        caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Caches the data for API key checks and the block lists. Polls every few seconds, and immediately after a
/// change by accounts.
using directory_handle = caf::typed_actor<caf::replies_to<refresh_directory>::with<ack_reply>,
                                          caf::reacts_to<directory_read>, ///< INTERNAL, from a ledger reader
                                          caf::reacts_to<blocks_read>, ///< INTERNAL, from a ledger reader
                                          caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Devices, endpoints and deliveries, for the API. A ledger reader; no owner is needed.
using notices_handle = caf::typed_actor<
  caf::replies_to<store_deliveries>::with<ack_reply>,
  caf::replies_to<list_deliveries>::with<deliveries_reply>, caf::replies_to<replay_delivery>::with<ack_reply>,
  caf::replies_to<register_device>::with<device_reply>, caf::replies_to<list_devices>::with<devices_reply>,
  caf::replies_to<remove_device>::with<ack_reply>, caf::replies_to<store_endpoint>::with<ack_reply>,
  caf::replies_to<list_endpoints>::with<endpoints_reply>, caf::replies_to<remove_endpoint>::with<ack_reply>>;

/// Wraps a ledger. Detached in production, an ordinary actor in simulations. Group commit over all
/// aggregates.
using ledger_worker_handle = notices_handle::extend<
  caf::reacts_to<commit_batch>, ///< answers batch_settled to the sender
  caf::reacts_to<acquire_aggregate>, ///< answers aggregate_acquired to the sender; renews the lease from then
                                     ///< on
  caf::reacts_to<release_aggregate>,
  caf::replies_to<end_lease>::with<ack_reply>, ///< release_aggregate with a reply
  caf::reacts_to<find_aggregates_to_wake>, ///< answers aggregates_to_wake to the sender
  caf::reacts_to<find_last_aggregate>, ///< answers last_aggregate_found to the sender
  caf::reacts_to<take_outbox>, ///< answers outbox_taken to the sender
  caf::reacts_to<mark_outbox>, ///< answers outbox_marked to the sender
  caf::replies_to<find_audience>::with<audience_found>, caf::replies_to<find_crowd>::with<devices_reply>,
  caf::replies_to<take_deliveries>::with<deliveries_taken>,
  caf::replies_to<settle_deliveries>::with<ack_reply>, caf::replies_to<end_device>::with<ack_reply>,
  caf::replies_to<disable_endpoint>::with<count_reply>,
  caf::reacts_to<peek_aggregate>, ///< answers aggregate_peeked to the sender
  caf::reacts_to<read_directory>, ///< answers directory_read to the sender
  caf::reacts_to<read_blocks>, ///< answers blocks_read to the sender
  caf::reacts_to<beat_node>, ///< answers nodes_seen to the sender
  caf::replies_to<list_audit>::with<audit_reply>, caf::replies_to<list_orders>::with<order_list_reply>,
  caf::replies_to<list_dead_letters>::with<dead_letters_reply>,
  caf::replies_to<list_events>::with<event_list_reply>,
  caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Keeps the list of nodes and a full mesh of connections to them. Publishes both to region, catalog and
/// accounts, and gives other nodes the handles of these local actors.
using cluster_handle =
  caf::typed_actor<caf::replies_to<greet>::with<greeting>, ///< from another node's dialer
                   caf::replies_to<list_nodes>::with<nodes_reply>,
                   caf::replies_to<drain_node>::with<ack_reply>, ///< immediately; list_nodes shows the
                                                                 ///< progress
                   caf::reacts_to<nodes_seen>, ///< INTERNAL, from the ledger worker
                   caf::reacts_to<node_dialed>, ///< INTERNAL, from the dialer
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Connects to other nodes, one at a time, on its own thread.
using dialer_handle = caf::typed_actor<caf::reacts_to<dial_node>>; ///< answers node_dialed to the sender

/// Reads the domain events of one lane from the ledger, in order per aggregate, and passes them to a
/// consumer. Leases partitions of the outbox.
using dispatcher_handle =
  caf::typed_actor<caf::reacts_to<outbox_taken>, ///< INTERNAL, from the ledger worker
                   caf::reacts_to<outbox_marked>, ///< INTERNAL, from the ledger worker
                   caf::reacts_to<outbox_consumed>, ///< INTERNAL, from the consumer
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Consumer of domain events of one lane.
using consumer_handle =
  caf::typed_actor<caf::reacts_to<consume_outbox>>; ///< answers outbox_consumed to the sender

/// Delivers notices to devices or endpoints by one channel: limited concurrency and rate, retries until the
/// notice expires.
using courier_handle = caf::typed_actor<caf::reacts_to<delivery_answered>, ///< INTERNAL, from its port
                                        caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Wraps the cache. Detached in production, an ordinary actor in simulations. Pipelines steps; opens a
/// circuit breaker while the cache is unavailable.
using cache_worker_handle =
  caf::typed_actor<caf::reacts_to<take_mirror_step>, ///< answers mirror_lost to the sender if the step failed
                   caf::reacts_to<vouch_for_mirror>, ///< answers mirror_lost to the sender if the mirror is
                                                     ///< missing
                   caf::reacts_to<check_mirror>, ///< answers mirror_checked to the sender
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Reads the sessions of aggregates that other nodes own from the cache. Detached in production.
using session_reader_handle = caf::typed_actor<caf::replies_to<find_session>::with<session_found>,
                                               caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Hashes and checks passwords on its own thread, one at a time: a flood of logins uses at most one core.
using password_worker_handle = caf::typed_actor<caf::replies_to<check_password>::with<password_checked>,
                                                caf::replies_to<hash_new_password>::with<password_hashed>>;

/// Sends mail by the configured port, on its own thread.
using mailer_handle = caf::typed_actor<caf::replies_to<send_mail>::with<mail_sent>>;

/// Calls all gateways: bounded concurrency, retries with full jitter, circuit breaker.
using payments_handle =
  caf::typed_actor<caf::reacts_to<call_gateway>, ///< answers gateway_answered to the sender
                   caf::reacts_to<gateway_answered>, ///< INTERNAL, from a gateway worker
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq

// Every message in type-id order. All nodes of a cluster must agree on it: append new messages at the end.
// clang-format off
#define FQ_MESSAGES(X) \
  X(join) X(find_entry) X(entry_reply) X(leave) X(ack_reply) X(open_claim) X(find_claim) X(release_claim) \
  X(claim_reply) X(open_payment) X(find_payment) X(payment_reply) X(apply_fact) X(find_event) \
  X(patch_event) X(turn_event) X(event_reply) X(find_stats) X(stats_reply) X(create_event) X(list_events) \
  X(event_list_reply) X(log_in) X(request_otp) X(verify_otp) X(add_organizer) X(person_reply) X(subscribe) \
  X(find_positions) X(positions_reply) X(entries_changed) X(line_moved) X(event_noticed) X(batch_settled) \
  X(acquire_aggregate) X(find_aggregates_to_wake) X(aggregates_to_wake) X(find_last_aggregate) \
  X(last_aggregate_found) X(call_gateway) X(gateway_answered) X(check_password) X(password_checked) \
  X(hash_new_password) X(password_hashed) X(send_mail) X(mail_sent) X(resolve_event) X(owner_ready) \
  X(owner_absent) X(owner_idle) X(timer_fired) X(event_handle) X(commit_batch) X(aggregate_acquired) \
  X(lease_lost) X(release_aggregate) X(owner_denied) X(list_owned) X(owned_aggregates) X(take_outbox) \
  X(outbox_taken) X(mark_outbox) X(outbox_marked) X(consume_outbox) X(outbox_consumed) X(take_mirror_step) \
  X(check_mirror) X(mirror_checked) X(mirror_lost) X(cache_is_back) X(verify_mirror) X(mirror_report) \
  X(peek_aggregate) X(aggregate_peeked) X(verify_ledger) X(ledger_report) X(find_ticket) X(leave_ticket) \
  X(end_session) X(present) X(advance_line) X(revoke_sessions) X(count_reply) X(find_line) X(line_reply) \
  X(list_audit) X(audit_reply) X(add_tenant) X(list_tenants) X(tenants_reply) X(issue_api_key) \
  X(api_key_reply) X(revoke_api_key) X(refresh_directory) X(read_directory) X(directory_read) \
  X(read_blocks) X(blocks_read) X(watch_sessions) X(sessions_changed) X(vouch_for_mirror) X(find_session) \
  X(session_found) X(get_quote) X(quote_reply) X(place_order) X(order_reply) X(find_order) X(cancel_order) \
  X(list_event_orders) X(orders_reply) X(refund_tickets) X(resend_order) X(set_promo_code) \
  X(find_promo_codes) X(promo_codes_reply) X(set_priorities) X(find_priorities) X(customers_reply) \
  X(settle_dead_letter) X(report_undelivered) X(list_orders) X(order_list_reply) X(list_dead_letters) \
  X(dead_letters_reply) X(find_customers) X(change_setting) X(record_deed) X(invite_customers) \
  X(withdraw_invitations) X(find_invitations) X(invitations_reply) X(blocks_changed) X(block_customers) \
  X(unblock_customer) X(find_blocks) X(blocks_reply) X(orders_changed) X(beat_node) X(nodes_seen) X(greet) \
  X(greeting) X(dial_node) X(node_dialed) X(cluster_changed) X(list_nodes) X(nodes_reply) X(hand_over) \
  X(handed_over) X(end_lease) X(drain_node) X(owner_left) X(move_event) X(push_mark) X(push_read) \
  X(pushes_lost) X(find_audience) X(audience_found) X(find_crowd) X(devices_reply) X(store_deliveries) \
  X(take_deliveries) X(deliveries_taken) X(settle_deliveries) X(end_device) X(disable_endpoint) \
  X(list_deliveries) X(deliveries_reply) X(replay_delivery) X(register_device) X(device_reply) \
  X(list_devices) X(remove_device) X(store_endpoint) X(list_endpoints) X(endpoints_reply) \
  X(remove_endpoint) X(delivery_answered)
// clang-format on

#define FQ_ADD_TYPE_ID(T) CAF_ADD_TYPE_ID(fairqueue, (fq::T))
CAF_BEGIN_TYPE_ID_BLOCK(fairqueue, first_custom_type_id)
FQ_MESSAGES(FQ_ADD_TYPE_ID)
CAF_END_TYPE_ID_BLOCK(fairqueue)
#undef FQ_ADD_TYPE_ID

// The CAF templates that carry, copy, print and serialize messages are instantiated once, in
// system_config.cpp, instead of in each of about a hundred files.
#define FQ_MESSAGE_TEMPLATES(KEYWORD, T)                                                                     \
  KEYWORD template class caf::detail::tuple_vals_impl<caf::detail::message_data, fq::T>;                     \
  KEYWORD template class caf::detail::tuple_vals_impl<caf::type_erased_tuple, fq::T>;                        \
  KEYWORD template class caf::detail::tuple_vals<fq::T>;                                                     \
  KEYWORD template class caf::detail::type_erased_value_impl<fq::T>;
#define FQ_ELSEWHERE(T) FQ_MESSAGE_TEMPLATES(extern, T)
FQ_MESSAGES(FQ_ELSEWHERE)
#undef FQ_ELSEWHERE
