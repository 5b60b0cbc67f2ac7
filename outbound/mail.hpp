// SPDX-License-Identifier: Apache-2.0
// The mail port: what a message is and what became of it, however it leaves (file, SMTP, NATS). Called by
// detached workers; the domain and the actors know no mail format beyond it.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

struct mail_recipient {
  std::string address;
  /// Put where subject, text and html say %recipient.<name>%; one line each. In the html they are escaped.
  std::map<std::string, std::string> variables{};
  /// A final answer for it is known: it is passed over, but it keeps its place, by which messages and chunks
  /// are numbered.
  bool answered = false;
};

/// One message to one recipient, or the same to many, each of whom sees only himself. UTF-8.
struct mail_message {
  /// The same at every delivery of this message, and of no other: whoever sees it twice may drop it. 1 to 200
  /// of printable ASCII.
  std::string id;
  std::vector<mail_recipient> to;
  std::string subject; ///< one line
  std::string text;
  std::string html{}; ///< empty: the text alone
  std::string template_key{}; ///< what kind of mail it is, for whoever counts; may be empty
};

enum class mail_result {
  accepted, ///< handed over for good: it survives a kill -9 of this process
  rejected, ///< will never be accepted as it is
  unavailable, ///< not handed over, or nobody knows: send it again, with the same id
};

struct mail_answer {
  mail_result result =
    mail_result::unavailable; ///< of all recipients: unavailable if any is, rejected only if all are
  std::optional<milliseconds> retry_after{}; ///< unavailable: not before; absent if nobody said
  bool service_down = false; ///< unavailable: nor would any other message be accepted now
  std::string why{}; ///< the first thing that was wrong, for the log; without an address in it
  std::vector<mail_result> recipients{}; ///< one each, in the order of `to`
};

/// Hands messages over, at least once. Blocking: detached workers only.
class mail_port {
public:
  virtual ~mail_port() = default;
  [[nodiscard]] virtual mail_answer send(const mail_message& message) = 0;
  /// Recipients that one call had better not exceed, so that it does not take too long.
  [[nodiscard]] virtual std::size_t at_once() const { return 1'000; }
};

/// Marks those who are done, so that sending the message again is for the others only. Who sends to many must
/// do that before a repeat.
void mark_answered(mail_message& message, const mail_answer& answer);

// -- for the ports --

/// Who mail is from.
struct mail_sender {
  std::string address;
  std::string name{}; ///< may be empty
};

/// A message as one recipient gets it: variables in place, an id of its own if there are several.
struct mail_letter {
  std::string id, to, subject, text, html;
};

inline constexpr std::size_t mail_subject_bytes_max = 320;
inline constexpr std::size_t mail_body_bytes_max = 1024 * 1024; ///< text and html together

/// A plain addr-spec in ASCII, without quotes and comments, that can stand in a header and in an SMTP
/// command.
[[nodiscard]] bool is_mail_address(std::string_view text);

/// Text for a line of a header: valid UTF-8 without control characters.
[[nodiscard]] bool is_one_line(std::string_view text);

/// What makes the message unfit for everybody; empty if nothing does.
[[nodiscard]] std::string wrong_with(const mail_message& message);

/// What makes each recipient unfit; empty for those with whom nothing is wrong. Naming an address twice is
/// wrong the second time.
[[nodiscard]] std::vector<std::string> wrong_with_each(const mail_message& message);

/// What recipient number `index` gets.
[[nodiscard]] mail_letter letter_for(const mail_message& message, std::size_t index);

/// `text` with each %recipient.<name>% of `variables` replaced; others stay.
[[nodiscard]] std::string with_variables(std::string_view text,
                                         const std::map<std::string, std::string>& variables);

/// Fit for HTML, between tags and in quotes.
[[nodiscard]] std::string escaped_for_html(std::string_view text);

/// An answer in the making: everybody unavailable, but for those who were answered before (accepted).
[[nodiscard]] mail_answer open_answer(const mail_message& message);
/// Notes what became of one recipient; `why` is kept if it is the first.
void note(mail_answer& answer, std::size_t index, mail_result result, std::string_view why);
/// The same for everybody who is not answered yet, and closes it.
[[nodiscard]] mail_answer all_of(const mail_message& message, mail_result result, std::string why);
/// Sets `result` from `recipients`.
[[nodiscard]] mail_answer closed(mail_answer answer);

/// A port that knows one recipient at a time.
class letter_port : public mail_port {
public:
  /// Stops at the first answer that says the service is down.
  [[nodiscard]] mail_answer send(const mail_message& message) final;
  [[nodiscard]] std::size_t at_once() const final { return 20; }

protected:
  [[nodiscard]] virtual mail_answer deliver(const mail_letter& letter) = 0;
};

} // namespace fq
