// SPDX-License-Identifier: Apache-2.0
// The mail port: a message and its result, for every transport (file, SMTP, NATS). Called by detached
// workers; the domain and the actors know no other mail format.
#pragma once
#include "domain/base/time.hpp"
#include "outbound/limits.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

struct mail_recipient {
  std::string address;
  /// Replaces %recipient.<name>% in subject, text and html; one line each, escaped in the html.
  std::map<std::string, std::string> variables{};
  /// This recipient has a final result: send() skips it. It keeps its place, which numbers messages and
  /// chunks.
  bool answered = false;
};

/// The sender of a mail.
struct mail_sender {
  std::string address;
  std::string name{}; ///< may be empty
};

/// How a tenant's mails look. Empty: as configured for all.
struct mail_style {
  mail_sender from;
  std::string name{}; ///< of the tenant, at the top
  std::string colour{}; ///< "#2c1d6b": behind the name, and of buttons
  std::string logo_url{}; ///< above the name; empty: none
  std::string pictures_url{}; ///< of the folder with the events' pictures; empty: mails show none
};

/// What is wrong with a tenant's style, after the setting's name; empty: nothing.
[[nodiscard]] std::string wrong_with(const mail_style& style);

struct mail_attachment {
  std::string name; ///< of the file, ASCII
  std::string content_type; ///< "application/pdf"
  std::string content;
};

/// One message to one or many recipients; recipients do not see each other. UTF-8.
struct mail_message {
  /// Unique for this message and equal in every repeat, so that receivers can drop repeats. 1 to 200
  /// characters of printable ASCII.
  std::string id;
  std::vector<mail_recipient> to;
  std::string subject; ///< one line
  std::string text;
  std::string html{}; ///< empty: text only
  std::string template_key{}; ///< kind of mail, for counters; may be empty
  mail_sender from{}; ///< without an address: that of the port
  std::vector<mail_attachment> attachments{}; ///< for all recipients
};

enum class mail_result {
  accepted, ///< handed over permanently: survives a kill -9 of this process
  rejected, ///< permanent refusal
  unavailable, ///< not handed over, or unknown: send it again with the same id
};

struct mail_answer {
  mail_result result = mail_result::unavailable; ///< for all recipients: unavailable if one is unavailable,
                                                 ///< rejected only if all are
  std::optional<milliseconds> retry_after{}; ///< if unavailable: no repeat before; absent: not stated
  bool service_down = false; ///< if unavailable: all other messages would fail now too
  std::string why{}; ///< the first problem, for the log; without mail addresses
  std::vector<mail_result> recipients{}; ///< one result each, in the order of `to`
};

/// Sends messages at least once. Blocking: for detached workers only.
class mail_port {
public:
  virtual ~mail_port() = default;
  [[nodiscard]] virtual mail_answer send(const mail_message& message) = 0;
  /// Recommended maximum of recipients per call, so that a call stays short.
  [[nodiscard]] virtual std::size_t at_once() const { return 1'000; }
};

/// Marks the recipients with a final result, so that a repeat skips them. Required before a message to
/// several recipients is repeated.
void mark_answered(mail_message& message, const mail_answer& answer);

// For implementations of the port.

/// A message for one recipient: variables replaced, with an own id if there are several recipients.
struct mail_letter {
  std::string id, to, subject, text, html;
  mail_sender from{};
  std::vector<mail_attachment> attachments{};
};

/// `own`, with the address of `general` and its name where `own` has none.
[[nodiscard]] mail_sender sender_of(const mail_sender& own, const mail_sender& general);

/// True for a plain ASCII addr-spec without quotes and comments, safe in a header and in an SMTP command.
[[nodiscard]] bool is_mail_address(std::string_view text);

/// True for valid UTF-8 without control characters: safe in a header line.
[[nodiscard]] bool is_one_line(std::string_view text);

/// The problem that prevents sending to all recipients; empty: none.
[[nodiscard]] std::string wrong_with(const mail_message& message);

/// The problem of each recipient; empty: none. A repeated address is a problem at its second place.
[[nodiscard]] std::vector<std::string> wrong_with_each(const mail_message& message);

/// The letter for recipient number `index`.
[[nodiscard]] mail_letter letter_for(const mail_message& message, std::size_t index);

/// `text` with each %recipient.<name>% of `variables` replaced; unknown names stay.
[[nodiscard]] std::string with_variables(std::string_view text,
                                         const std::map<std::string, std::string>& variables);

/// Escaped for HTML text and quoted attributes.
[[nodiscard]] std::string escaped_for_html(std::string_view text);

/// An initial answer: all recipients unavailable, except those with an earlier result (accepted).
[[nodiscard]] mail_answer open_answer(const mail_message& message);
/// Records the result of one recipient; keeps `why` if it is the first.
void note(mail_answer& answer, std::size_t index, mail_result result, std::string_view why);
/// Records one result for all recipients without a result, and closes the answer.
[[nodiscard]] mail_answer all_of(const mail_message& message, mail_result result, std::string why);
/// Sets `result` from `recipients`.
[[nodiscard]] mail_answer closed(mail_answer answer);

/// A port that sends to one recipient at a time.
class letter_port : public mail_port {
public:
  /// Stops at the first answer with service_down.
  [[nodiscard]] mail_answer send(const mail_message& message) final;
  [[nodiscard]] std::size_t at_once() const final { return 20; }

protected:
  [[nodiscard]] virtual mail_answer deliver(const mail_letter& letter) = 0;
};

} // namespace fq
