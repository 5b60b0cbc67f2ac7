// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/event_settings.hpp"

namespace fq {

void apply_settings(const event_patch& patch, event_row& event) {
  assign(patch.name, event.name);
  assign(patch.queue_opens_at, event.queue_opens_at);
  assign(patch.sale_start, event.sale_start);
  assign(patch.sale_end, event.sale_end);
  assign(patch.policy, event.queue.policy);
  assign(patch.concurrency, event.queue.concurrency);
  assign(patch.rate_per_minute, event.queue.rate_per_minute);
  assign(patch.batch_size, event.queue.batch_size);
  assign(patch.over_admission_percent, event.queue.over_admission_percent);
  assign(patch.admission_interval, event.queue.admission_interval);
  assign(patch.session_ttl, event.queue.session_ttl);
  assign(patch.claim_window, event.queue.claim_window);
  assign(patch.claim_ttl, event.claim_ttl);
  assign(patch.claims_per_customer, event.claims_per_customer);
  assign(patch.capacity, event.queue.capacity);
  assign(patch.ticket_ttl, event.queue.ticket_ttl);
  assign(patch.presence_timeout, event.queue.presence_timeout);
  assign(patch.away_grace, event.queue.away_grace);
  assign(patch.message, event.message);
  assign(patch.async_percent, event.async_percent);
  if (event.kind == event_kind::queue)
    event.queue.claim_window =
      event.queue.session_ttl; // queues have no claims: only the session ends an admission
}

} // namespace fq
