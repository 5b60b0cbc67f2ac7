// SPDX-License-Identifier: Apache-2.0
// Converts letters to RFC 5322 bytes, and back for display. Pure: no I/O, clock or randomness; the same
// letter and time give the same bytes.
#pragma once
#include "outbound/mail.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// The value of Message-ID, without the angle brackets: "<id>@<domain of the sender>". Characters of the id
/// that are not allowed there become "=" and two hex digits.
[[nodiscard]] std::string message_id_of(const mail_letter& letter, const mail_sender& sender);

/// Headers and body with CRLF line ends, ASCII only: text, or multipart/alternative of text and html; with
/// attachments multipart/mixed. `when` becomes Date. Expects input that passed the checks of
/// outbound/mail.hpp; throws std::invalid_argument for an invalid header value.
[[nodiscard]] std::string to_mime(const mail_letter& letter, const mail_sender& sender, timestamp when);

/// A message as shown to a reader.
struct kept_mail {
  std::string to;
  std::string subject;
  std::string text; ///< the text/plain part; empty: none
  timestamp sent{}; ///< from the Date field, in whole seconds; the epoch if unreadable
};
/// Decoded, as valid UTF-8; text cut at 16 KiB, headers at 1 KiB. Nothing if it is not a message with a
/// recipient.
[[nodiscard]] std::optional<kept_mail> from_mime(std::string_view bytes);

} // namespace fq
