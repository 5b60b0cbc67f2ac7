// SPDX-License-Identifier: Apache-2.0
// Descriptions of the rows of domain/delivery.
#pragma once
#include "domain/delivery/delivery.hpp"
#include "domain/model/description.hpp"

namespace fq {

FQ_ROW(device_row, "device", installation, row_field("id", &row::id, key),
       row_field("holder", &row::holder, once), row_field("channel", &row::way, once),
       row_field("token", &row::token, once), row_field("is_sandbox", &row::is_sandbox),
       row_field("registered_at", &row::registered_at), row_field("gone_at", &row::gone_at),
       row_field("gone_reason", &row::gone_reason), row_field("language", &row::language))

/// Without `replaces`, which is not stored.
FQ_ROW(webhook_endpoint_row, "webhook_endpoint", installation, row_field("id", &row::id, key),
       row_field("tenant", &row::tenant, key), row_field("organizer", &row::organizer),
       row_field("url", &row::url), row_field("topics", &row::topics),
       row_field("secret_no", &row::secret_no), row_field("previous_until", &row::previous_until),
       row_field("is_enabled", &row::is_enabled), row_field("contact", &row::contact),
       row_field("off_reason", &row::off_reason), row_field("created_at", &row::created_at, once),
       row_field("updated_at", &row::updated_at))

FQ_ROW(delivery_row, "delivery", installation, row_field("target", &row::target, key),
       row_field("notice", &row::notice, key), row_field("channel", &row::way, once),
       row_field("tenant", &row::tenant, once), row_field("holder", &row::holder, once),
       row_field("topic", &row::topic, once), row_field("payload", &row::payload, once),
       row_field("created_at", &row::created_at, once), row_field("expires_at", &row::expires_at, once),
       row_field("state", &row::state), row_field("due_at", &row::due_at),
       row_field("attempts", &row::attempts), row_field("status", &row::status),
       row_field("reason", &row::reason), row_field("ended_at", &row::ended_at))

} // namespace fq
