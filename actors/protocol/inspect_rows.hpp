// SPDX-License-Identifier: Apache-2.0
// `inspect` of the rows (domain/model/rows.hpp) that messages carry.
#pragma once
#include "actors/protocol/inspect.hpp"
#include "domain/model/rows.hpp"

namespace fq {

FQ_INSPECT(uuid, x.hi, x.lo)
FQ_INSPECT(claim_item, x.ticket_type, x.quantity, x.unit_price, x.refunded, x.donation, x.unit_discount)
FQ_INSPECT(claim_row, x.id, x.customer, x.entry, x.status, x.live_slot, x.items, x.amount, x.created_at,
           x.expires_at, x.ended_at, x.promo)
FQ_INSPECT(payment_row, x.id, x.claim, x.customer, x.status, x.gateway, x.reference, x.authorization_url,
           x.gateway_id, x.destination, x.amount, x.captured, x.tax, x.refunded, x.created_at, x.updated_at)
FQ_INSPECT(queue_settings, x.policy, x.concurrency, x.rate_per_minute, x.batch_size, x.admission_interval,
           x.over_admission_percent, x.session_ttl, x.claim_window, x.ticket_ttl, x.capacity,
           x.presence_timeout, x.away_grace)
FQ_INSPECT(event_row, x.id, x.aggregate, x.kind, x.tenant, x.organizer, x.external_id, x.message, x.name,
           x.currency, x.status, x.queue_opens_at, x.sale_start, x.sale_end, x.queue, x.claim_ttl,
           x.claims_per_customer, x.async_percent, x.created_at, x.updated_at)
FQ_INSPECT(ticket_type_row, x.ordinal, x.id, x.name, x.price, x.total, x.held, x.sold, x.max_per_order,
           x.on_sale, x.hidden, x.sale_from, x.sale_until)
FQ_INSPECT(tenant_row, x.id, x.name, x.subject_jwk, x.stripe_account, x.created_at)
FQ_INSPECT(api_key_row, x.id, x.tenant, x.scope, x.secret_hash, x.label, x.created_at, x.revoked_at)
FQ_INSPECT(audit_row, x.id, x.tenant, x.target, x.actor, x.action, x.detail, x.reason, x.at)
FQ_INSPECT(contact, x.first_name, x.last_name, x.email, x.phone)
FQ_INSPECT(order_row, x.id, x.claim, x.customer, x.status, x.contact, x.promo_code, x.subtotal, x.discount,
           x.donations, x.platform_fee, x.processing_fee, x.total, x.success_url, x.cancel_url, x.failure,
           x.payment_link_at, x.created_at, x.updated_at)
FQ_INSPECT(discount, x.kind, x.value, x.ticket_types)
FQ_INSPECT(promo_code_row, x.ordinal, x.id, x.code, x.reduction, x.valid_from, x.valid_until, x.uses_max,
           x.uses_per_customer, x.uses, x.is_active, x.created_at, x.updated_at)
FQ_INSPECT(dead_letter_row, x.id, x.kind, x.subject, x.status, x.detail, x.payload, x.created_at,
           x.updated_at)
FQ_INSPECT(node_row, x.id, x.address, x.wire_version, x.owners, x.is_settled, x.is_draining, x.seen_at,
           x.serves, x.keys)
FQ_INSPECT(invitation_row, x.customer, x.ticket_type, x.quantity, x.valid_until, x.told_at)
FQ_INSPECT(block_row, x.tenant, x.organizer, x.customer, x.reason, x.includes_ended, x.created_at)
FQ_INSPECT(setting_row, x.name, x.value, x.updated_at)
FQ_INSPECT(outbox_row, x.id, x.topic, x.payload, x.created_at, x.lanes)

} // namespace fq
