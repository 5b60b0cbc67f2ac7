// SPDX-License-Identifier: Apache-2.0
// Which mails a decision causes, and what is in them: payloads of topic mail.send, rendered by the notifier.
// Pure. They hold addresses and names, and go nowhere but to the mailer.
#pragma once
#include "domain/model/change.hpp"
#include "domain/sale/sale.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Recipients of one mail at most: a cancelled event tells its customers in chunks.
inline constexpr std::size_t mail_recipients_max = 1'000;

/// A JSON object {template, language, expires_at, to: [{address, variables}], data}, expires_at where it is
/// of no use afterwards; see outbound/mail_templates.hpp for the data of each template.
struct topic_mail {
  std::string_view topic; ///< that it tells of: a tenant may choose to tell of it in another way
  std::string payload;
};

[[nodiscard]] std::vector<topic_mail> mails_of(const changes& content, const sale& now);

/// To those who are invited, in chunks.
[[nodiscard]] std::vector<std::string> invitation_mails(std::span<const std::string> addresses,
                                                        const invitation_row& what, const sale& now);

/// The mail that fits what the order is now; empty if there is none.
[[nodiscard]] std::string mail_again(const order_row& order, const sale& now);

} // namespace fq
