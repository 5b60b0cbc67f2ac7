// SPDX-License-Identifier: Apache-2.0
// Event tickets as documents for print, in a language of the pages. Pure.
#pragma once
#include "crypto/event_ticket_code.hpp"
#include "domain/sale/views.hpp"
#include "net/pages/texts.hpp"
#include "outbound/mail.hpp"
#include "print/event_ticket_pdf.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fq::net {

/// Tickets of one event, with their codes unless those rotate. `picture`: the event's of medium size; empty:
/// none.
[[nodiscard]] print::event_ticket_document ticket_document(language in, const event_row& event,
                                                           std::span<const ticket_paper> papers,
                                                           const event_ticket_keys& keys, timestamp now,
                                                           print::jpeg picture = {});

/// The tickets' PDF and the calendar file that belong to a mail (actors/sale/mails.hpp); none for other
/// payloads. Prints: for threads that may block. `stored`: key_store::stored. `find_picture`: bytes of the
/// medium size of a picture; empty if it cannot be had.
[[nodiscard]] std::vector<mail_attachment> mail_attachments(
  const std::string& payload, const secret_key& stored, const std::string& public_url, timestamp now,
  const std::function<std::string(const std::string& id)>& find_picture);

} // namespace fq::net
