// SPDX-License-Identifier: Apache-2.0
// From a letter to the bytes of RFC 5322, and back for people who look. Pure: no I/O, no clock, no
// randomness; the same letter at the same time is the same bytes.
#pragma once
#include "outbound/mail.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// The value of Message-ID, without the angle brackets: "<id>@<domain of the sender>". Characters of the id
/// that may not stand there are "=" and two hex digits.
[[nodiscard]] std::string message_id_of(const mail_letter& letter, const mail_sender& sender);

/// Headers and body, lines ended by CRLF, ASCII only: text alone, or multipart/alternative of text and html.
/// `when` becomes Date. Expects what the checks of outbound/mail.hpp let pass; throws std::invalid_argument
/// for a header value that they would not.
[[nodiscard]] std::string to_mime(const mail_letter& letter, const mail_sender& sender, timestamp when);

/// What a reader sees of a message.
struct kept_mail {
  std::string to;
  std::string subject;
  std::string text; ///< the plain part; empty if there is none
  timestamp sent{}; ///< of the Date field, in whole seconds; the epoch if it cannot be read
};
/// Decoded, made valid UTF-8, the text cut at 16 KiB, headers at 1 KiB. Nothing: it is no message to anybody.
[[nodiscard]] std::optional<kept_mail> from_mime(std::string_view bytes);

} // namespace fq
