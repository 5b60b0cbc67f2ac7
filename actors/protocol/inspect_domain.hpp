// SPDX-License-Identifier: Apache-2.0
// `inspect` of the domain's values other than rows.
#pragma once
#include "actors/protocol/inspect_rows.hpp"
#include "domain/base/challenge.hpp"
#include "domain/base/trace.hpp"
#include "domain/model/refusal.hpp"
#include "domain/sale/views.hpp"

namespace fq {

FQ_INSPECT(trace_context, x.trace, x.span, x.is_sampled, x.state)
FQ_INSPECT(refusal, x.why, x.detail, x.at, x.id, x.first, x.second)
FQ_INSPECT(line_spot, x.priority_class, x.rank)
FQ_INSPECT(line_pace, x.admitted, x.span, x.claim_window)
FQ_INSPECT(lobby_view, x.phase, x.draw, x.people, x.opens_at)
FQ_INSPECT(sale_evidence, x.sells, x.waiting_list, x.free, x.held, x.claims, x.most, x.choosing, x.decided,
           x.claimed, x.buyers, x.bought, x.squares, x.joined, x.waiting, x.admitted, x.left)
FQ_INSPECT(percent_range, x.low, x.high)
FQ_INSPECT(outlook, x.is_known, x.waiting_list, x.has_share, x.chance, x.share, x.free, x.held, x.ahead,
           x.buyers, x.wanted)
FQ_INSPECT(entry_view, x.id, x.event, x.kind, x.customer, x.subject_name, x.message, x.number, x.status,
           x.position, x.eta_low_seconds, x.eta_high_seconds, x.poll_after_ms, x.admission_no,
           x.admission_batch, x.joined_at, x.admitted_at, x.session_expires_at, x.claim_by, x.spot, x.lobby,
           x.party, x.party_size, x.party_code, x.outlook)
FQ_INSPECT(seat_place, x.section, x.row, x.seat, x.obstructed)
FQ_INSPECT(ticket_seat, x.ticket, x.name, x.place)
FQ_INSPECT(claim_view, x.claim, x.event, x.currency, x.item_ids, x.item_names, x.seats, x.places)
FQ_INSPECT(payment_view, x.payment, x.event, x.currency)
FQ_INSPECT(event_view, x.event, x.ticket_types, x.sold_out, x.takes_access_codes, x.has_seats,
           x.has_obstructed_seats, x.lobby)
FQ_INSPECT(event_stats, x.event, x.status, x.waiting, x.away, x.admitted, x.joined_total, x.admitted_total,
           x.completed_total, x.total, x.held, x.sold, x.available, x.claims_live, x.claims_confirmed,
           x.payments_open, x.revenue, x.refunded, x.admission_rate_per_minute, x.arrival_rate_per_minute,
           x.last_admission_batch, x.server_time)
template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f, maybe<T>& x) {
  return f(caf::meta::type_name("maybe"), x.given, x.value);
}
FQ_INSPECT(event_patch, x.given, x.values, x.ticket_types)
FQ_INSPECT(principal, x.kind, x.tenant, x.id)
FQ_INSPECT(item_wish, x.ticket_type, x.quantity, x.donation, x.seats)
FQ_INSPECT(best_seats_wish, x.count, x.section, x.ticket_type, x.accessible)
FQ_INSPECT(seat_wish, x.best, x.asks_accessible)
FQ_INSPECT(seat_patch, x.seats, x.is_blocked, x.ticket_type, x.singles, x.may_split, x.accessible_for_all)
FQ_INSPECT(order_wish, x.items, x.seats, x.promo_code, x.contact, x.success_url, x.cancel_url, x.gateway,
           x.buyer)
FQ_INSPECT(event_ticket_view, x.ticket, x.event, x.ticket_type, x.order, x.refund_pending, x.seat, x.place,
           x.attendee)
FQ_INSPECT(transfer_wish, x.ticket, x.giver, x.receiver, x.giver_email, x.receiver_email, x.giver_language,
           x.receiver_language)
FQ_INSPECT(ticket_paper, x.ticket, x.order, x.type_name, x.price, x.attendee, x.seat)
FQ_INSPECT(order_view, x.order, x.claim, x.event_name, x.payment, x.payment_state, x.payment_url, x.refunded,
           x.can_retry, x.typical_page_time, x.event_tickets, x.transfers)
FQ_INSPECT(priced_item, x.ticket_type, x.quantity, x.unit_price, x.donation, x.unit_discount)
FQ_INSPECT(price_quote, x.items, x.subtotal, x.discount, x.donations, x.platform_fee, x.processing_fee,
           x.total)
FQ_INSPECT(quote_view, x.event, x.currency, x.price, x.item_ids, x.promo_code)
FQ_INSPECT(promo_code_patch, x.id, x.code, x.reduction, x.valid_from, x.valid_until, x.uses_max,
           x.uses_per_customer, x.is_active)
FQ_INSPECT(invitation_wish, x.ticket_type, x.quantity, x.valid_until)
FQ_INSPECT(entry_change, x.id, x.number, x.status, x.admission_no, x.admission_batch, x.admitted_at,
           x.session_expires_at, x.claim_by, x.spot)
FQ_INSPECT(lock_view, x.row, x.ticket, x.until)
FQ_INSPECT(gateway_fact, x.gateway, x.gateway_event, x.what, x.reference, x.amount, x.currency, x.refund,
           x.tax, x.gateway_id)
FQ_INSPECT(solved_challenge, x.salt, x.number, x.signature)
FQ_INSPECT(opened_challenge, x.salt, x.challenge, x.signature, x.highest, x.expires_at)

} // namespace fq
