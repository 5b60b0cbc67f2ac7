// SPDX-License-Identifier: Apache-2.0
// Event tickets as documents for print, in a language of the pages. Pure.
#pragma once
#include "crypto/event_ticket_code.hpp"
#include "domain/sale/views.hpp"
#include "net/pages/texts.hpp"
#include "outbound/mail.hpp"
#include "print/event_ticket_pdf.hpp"
#include "store/port/picture_store.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fq::net {

/// Tickets of one event, with their codes unless those rotate; without pictures.
[[nodiscard]] print::event_ticket_document ticket_document(language in, const event_row& event,
                                                           std::span<const ticket_paper> papers,
                                                           const event_ticket_keys& keys, timestamp now);

/// Where the pictures of a mail's tickets come from.
struct ticket_pictures {
  /// Bytes; empty if they cannot be had.
  std::function<std::string(const std::string& id, picture_size size)> find;
  std::function<std::string(tenant_id tenant)> logo_of; ///< its id; empty: none
};

/// The tickets' PDF and the calendar file that belong to a mail (actors/sale/mails.hpp); none for other
/// payloads. Prints: for threads that may block. `stored`: key_store::stored.
[[nodiscard]] std::vector<mail_attachment> mail_attachments(const std::string& payload,
                                                            const secret_key& stored,
                                                            const std::string& public_url, timestamp now,
                                                            const ticket_pictures& pictures);

} // namespace fq::net
