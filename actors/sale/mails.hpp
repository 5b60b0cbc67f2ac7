// SPDX-License-Identifier: Apache-2.0
// The mails that a decision causes: payloads of topic mail.send, rendered by the mail consumer. Pure. They
// contain addresses and names, and must go only to the mail consumer.
#pragma once
#include "actors/sale/limits.hpp"
#include "domain/model/change.hpp"
#include "domain/sale/sale.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Payload: {template, tenant, language, expires_at, to: [{address, variables}], data}. A recipient may be
/// {customer_id} instead: the mail consumer finds the address. `expires_at` only
/// where the mail is useless afterwards; `event_tickets` where a PDF of them is attached.
/// outbound/mail_templates.hpp has the data of each template.
struct topic_mail {
  std::string_view topic; ///< subject of the mail; tenants choose media by topic
  std::string payload;
};

/// `shop_url`: where a customer can try again; empty: nowhere. `tickets_url`: as in transfer_mails.
[[nodiscard]] std::vector<topic_mail> mails_of(const changes& content, const sale& now,
                                               std::string_view shop_url = {},
                                               std::string_view tickets_url = {});

/// To holders of given tickets of a cancelled event, see decision::told_holders.
[[nodiscard]] std::vector<topic_mail> holder_mails(std::span<const customer_id> holders, const sale& now);

struct invited_mailbox {
  std::string address;
  fq::language language = fq::language::en;
};
/// In chunks.
[[nodiscard]] std::vector<std::string> invitation_mails(std::span<const invited_mailbox> invited,
                                                        const invitation_row& what, const sale& now);

/// About offers of tickets, see decision::transfers. `url`: of the page with a customer's tickets.
[[nodiscard]] std::vector<topic_mail> transfer_mails(std::span<const transfer_row> offers, const sale& now,
                                                     const std::string& url);

/// The mail for the order's current state; empty: none.
[[nodiscard]] std::string mail_again(const order_row& order, const sale& now, std::string_view shop_url = {});

} // namespace fq
