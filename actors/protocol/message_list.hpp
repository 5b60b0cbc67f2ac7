// SPDX-License-Identifier: Apache-2.0
// Every message in type-id order, and its declaration. All nodes of a cluster must agree on the order: append
// new messages at the end.
#pragma once

// clang-format off
#define FQ_MESSAGES_BEFORE_EVENT_HANDLE(X) \
  X(join) X(find_entry) X(entry_reply) X(leave) X(ack_reply) X(open_claim) X(find_claim) \
  X(release_claim) X(claim_reply) X(open_payment) X(find_payment) X(payment_reply) X(apply_fact) \
  X(find_event) X(patch_event) X(turn_event) X(event_reply) X(find_stats) X(stats_reply) \
  X(create_event) X(list_events) X(event_list_reply) X(log_in) X(request_otp) X(verify_otp) \
  X(add_organizer) X(person_reply) X(subscribe) \
  X(entries_changed) X(event_noticed) X(batch_settled) X(acquire_aggregate) \
  X(find_aggregates_to_wake) X(aggregates_to_wake) X(find_last_aggregate) X(last_aggregate_found) \
  X(call_gateway) X(gateway_answered) X(check_password) X(password_checked) X(hash_new_password) \
  X(password_hashed) X(send_mail) X(mail_sent) X(resolve_event) X(owner_ready) X(owner_absent) \
  X(owner_idle) X(timer_fired)
#define FQ_MESSAGES_AFTER_EVENT_HANDLE(X) \
  X(commit_batch) X(aggregate_acquired) X(lease_lost) X(release_aggregate) X(owner_denied) \
  X(list_owned) X(owned_aggregates) X(take_outbox) X(outbox_taken) X(mark_outbox) X(outbox_marked) \
  X(consume_outbox) X(outbox_consumed) X(take_mirror_step) X(check_mirror) X(mirror_checked) \
  X(mirror_lost) X(cache_is_back) X(verify_mirror) X(mirror_report) X(peek_aggregate) \
  X(aggregate_peeked) X(verify_ledger) X(ledger_report) X(find_ticket) X(leave_ticket) \
  X(end_session) X(present) X(advance_line) X(revoke_sessions) X(count_reply) X(find_line) \
  X(line_reply) X(list_audit) X(audit_reply) X(add_tenant) X(list_tenants) X(tenants_reply) \
  X(issue_api_key) X(api_key_reply) X(revoke_api_key) X(refresh_directory) X(read_directory) \
  X(directory_read) X(read_blocks) X(blocks_read) X(watch_sessions) X(sessions_changed) \
  X(vouch_for_mirror) X(find_session) X(session_found) X(get_quote) X(quote_reply) X(place_order) \
  X(order_reply) X(find_order) X(cancel_order) X(list_event_orders) X(orders_reply) \
  X(refund_tickets) X(resend_order) X(set_promo_code) X(find_promo_codes) X(promo_codes_reply) \
  X(set_priorities) X(find_priorities) X(customers_reply) X(settle_dead_letter) \
  X(report_undelivered) X(list_orders) X(order_list_reply) X(list_dead_letters) \
  X(dead_letters_reply) X(find_customers) X(change_setting) X(record_deed) X(invite_customers) \
  X(withdraw_invitations) X(find_invitations) X(invitations_reply) X(blocks_changed) \
  X(block_customers) X(unblock_customer) X(find_blocks) X(blocks_reply) X(orders_changed) \
  X(beat_node) X(nodes_seen) X(greet) X(greeting) X(dial_node) X(node_dialed) X(cluster_changed) \
  X(list_nodes) X(nodes_reply) X(hand_over) X(handed_over) X(end_lease) X(drain_node) X(owner_left) \
  X(move_event) X(push_mark) X(push_read) X(pushes_lost) X(find_audience) X(audience_found) \
  X(find_crowd) X(devices_reply) X(store_deliveries) X(take_deliveries) X(deliveries_taken) \
  X(settle_deliveries) X(end_device) X(disable_endpoint) X(list_deliveries) X(deliveries_reply) \
  X(replay_delivery) X(register_device) X(device_reply) X(list_devices) X(remove_device) \
  X(store_endpoint) X(list_endpoints) X(endpoints_reply) X(remove_endpoint) X(delivery_answered) \
  X(load_acquired) X(read_entry) X(entry_read) X(owner_kept) X(end_leases_of) X(leases_ended) \
  X(owner_moved) X(owner_lost) X(ledger_seen) X(accept_losses) X(losses_accepted) \
  X(list_organizer_sessions) X(organizer_sessions_reply) X(end_organizer_session) \
  X(sign_organizer_out) X(forget_mail) X(send_letter) X(letter_sent) X(find_customer) \
  X(customer_reply) X(erase_customer) X(list_records) X(records_reply) X(find_open_purchase) \
  X(purchase_found) X(erase_mail) X(find_event_ticket) X(event_ticket_reply) X(list_event_tickets) \
  X(event_tickets_reply) X(list_held_tickets) X(held_tickets_reply) X(set_seat_plan) X(set_seats) \
  X(find_seats) X(seats_reply) X(find_seat_plan) X(seat_plan_reply) X(renew_ticket_keys) \
  X(find_ticket_papers) X(ticket_papers_reply) X(list_transfers) X(transfers_reply) X(offer_ticket) \
  X(end_transfer) X(transfer_reply) \
  X(set_checkin_list) X(set_checkin_device) X(find_checkin) X(checkin_reply) \
  X(list_checkin_conflicts) X(checkin_conflicts_reply) X(redeem_scans) X(scans_reply) X(find_gate) \
  X(gate_reply) X(find_gate_state) X(gate_state_reply) X(search_gate) X(gate_tickets_reply) \
  X(list_statistics) X(statistics_reply) X(change_lock) X(find_locks) X(locks_reply) \
  X(find_ticket_seats) X(ticket_seats_reply) \
  X(store_picture) X(find_picture) X(picture_found) X(store_tenant_plan) X(tenant_plan_reply) \
  X(list_tenant_plans) X(tenant_plans_reply) \
  X(find_witnessed) X(witnessed_found) X(store_witnessed) X(witnessed_stored) \
  X(prove_growth) X(growth_proof) X(checkpoint_cosigned) X(checkpoint_signed) X(witness_answered) \
  X(open_challenge) X(challenge_reply) \
  X(open_code_challenge) X(mail_challenge) \
  X(change_party) X(enter_beacon) X(end_draw_wait) X(compute_lobby) X(lobby_computed) X(set_tenant_logo) \
  X(read_log) X(log_read) X(find_receipt) X(receipt_reply)
// clang-format on

namespace fq {
#define FQ_DECLARE(T) struct T;
FQ_MESSAGES_BEFORE_EVENT_HANDLE(FQ_DECLARE)
FQ_MESSAGES_AFTER_EVENT_HANDLE(FQ_DECLARE)
#undef FQ_DECLARE
} // namespace fq
