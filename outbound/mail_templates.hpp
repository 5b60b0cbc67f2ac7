// SPDX-License-Identifier: Apache-2.0
// What mail says: from a key, a language and data to subject, text and html. Pure; any thread. The words are
// the files of outbound/templates, <key>.<language>.{subject,text,html}; html is escaped by context
// (ctemplate's auto-escape).
#pragma once
#include "outbound/mail.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fq {

struct mail_content {
  std::string subject; ///< one line, cut to fit a header
  std::string text;
  std::string html;
};

/// Why there is no content: a template that is not there, or data that do not fit it. Somebody's mistake,
/// which a repeat does not mend.
struct template_problem {
  std::string what;
};

/// A language without a template of that key is answered in English.
///
/// Amounts are integers in minor units of `data["currency"]`; times are integers, Unix milliseconds;
/// addresses of pages are http(s) URLs. Text may be anything a customer or organizer wrote: it becomes one
/// line without control characters. Optional, in all: `name` (whom to greet).
///
///   otp              code, minutes
///   payment_link     order_id, event_name, total, currency, payment_url, expires_at
///   order_receipt    order_id, event_name, items [{name, quantity, amount}], total, currency; optional:
///   discount, donations, fees (0 is
///                    left out), starts_at, ends_at, paid_at. `amount` is of the line, `discount` what was
///                    taken off.
///   order_failed     order_id, event_name, reason (in plain words), can_retry; optional: retry_url
///   order_refunded   order_id, event_name, amount, currency, whole (or only a part)
///   event_cancelled  event_name, refund (money is sent back); optional: order_id, starts_at, reason
///   quota_invitation event_name, ticket_name, quantity; optional: valid_until
[[nodiscard]] std::variant<mail_content, template_problem> render(std::string_view template_key,
                                                                  std::string_view language,
                                                                  const boost::json::object& data);

/// The keys above.
[[nodiscard]] std::vector<std::string_view> mail_template_keys();

} // namespace fq
