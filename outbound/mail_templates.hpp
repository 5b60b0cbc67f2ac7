// SPDX-License-Identifier: Apache-2.0
// Renders mail: key, language and data to subject, text and html. Pure; thread-safe. The templates are
// outbound/templates/<key>.{subject,text,html}, their words texts.<language>.json; ctemplate escapes html by
// context.
#pragma once
#include "outbound/mail.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fq {

struct mail_content {
  std::string subject; ///< one line, truncated to fit a header
  std::string text;
  std::string html;
};

/// Why rendering failed: no such template, or data that do not fit. A bug; a repeat does not help.
struct template_problem {
  std::string what;
};

/// `language`: a tag such as "fr"; English for one that is unknown.
///
/// Amounts are integers in minor units of `data["currency"]`; times are integers, Unix milliseconds; page
/// addresses are http(s) URLs. Text from customers and organizers may hold anything: it becomes one line
/// without control characters. Optional everywhere: `name` (in the greeting), and of an event starts_at,
/// ends_at, doors_at, venue_name, venue_address, picture (id), time_zone (IANA; all times are in it, else in
/// UTC).
///
///   otp              code, minutes
///   payment_link     order_id, event_name, total, currency, payment_url, expires_at
///   order_receipt    order_id, event_name, items [{name, quantity, amount}], total, currency;
///                    optional: discount, donations, fees (0 is left out), paid_at, tickets_url,
///                    tickets_page (only if they are not attached), rest_page (only if the PDF has the first
///                    `attached` ones), answers [{label, value, attendee (from 1;
///                    none: the buyer)}]. `amount` is the line's sum, `discount` the deducted amount.
///   order_failed     order_id, event_name, reason (a code of an order's failure), can_retry;
///                    optional: retry_url
///   order_refunded   order_id, event_name, amount, currency, whole (false: a part)
///   event_cancelled  event_name, refund (true: money is sent back); optional: order_id
///   ticket_offered   event_name, ticket_name, tickets_url, expires_at
///   ticket_given, ticket_received, ticket_withdrawn: event_name, ticket_name, tickets_url
///   ticket_kept      the same; declined (false: no answer in time)
///   ticket_cancelled: event_name, ticket_name (of all), quantity; optional: tickets_url
///   waiting_list_offer: event_name, claim_by; optional: shop_url
///   quota_invitation event_name, ticket_name, quantity; optional: valid_until
[[nodiscard]] std::variant<mail_content, template_problem> render(std::string_view template_key,
                                                                  std::string_view language,
                                                                  const boost::json::object& data,
                                                                  const mail_style& style = {});

/// The keys above.
[[nodiscard]] std::vector<std::string_view> mail_template_keys();

} // namespace fq
