// SPDX-License-Identifier: Apache-2.0
// Checks and helpers shared by all mail ports.
#include "outbound/mail.hpp"

#include "display/colours.hpp"
#include "outbound/limits.hpp"

#include <glib.h>

#include <algorithm>
#include <unordered_set>

namespace fq {
namespace {

bool is_utf8(std::string_view text) {
  return g_utf8_validate_len(text.data(), text.size(), nullptr) != 0;
} // NUL is excluded

/// A character of an atom (RFC 5322 section 3.2.3), or a dot.
bool is_address_character(char c) {
  return c > 0x20 && c < 0x7f && std::string_view{"\"(),:;<>@[\\]"}.find(c) == std::string_view::npos;
}

/// The suffix "_html" is reserved: nats_mailer uses it for the escaped values.
bool is_variable_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && !text.ends_with("_html")
         && std::all_of(text.begin(), text.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
            });
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= mail_id_bytes_max
         && std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string wrong_with(const mail_message& message, const mail_recipient& recipient) {
  if (!is_mail_address(recipient.address)) return "not a mail address";
  for (const auto& [name, value] : recipient.variables) {
    if (!is_variable_name(name))
      return "a variable's name is not letters, digits and underscores, or ends with _html";
    if (!is_one_line(value) || value.size() > mail_variable_bytes_max)
      return "the variable " + name + " is not one line of UTF-8";
  }
  if (with_variables(message.subject, recipient.variables).size() > mail_subject_bytes_max)
    return "the subject is too long";
  return {};
}

} // namespace

bool is_one_line(std::string_view text) {
  return is_utf8(text)
         && std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool is_mail_address(std::string_view text) {
  const auto at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at > mail_local_part_bytes_max
      || text.size() > mail_address_bytes_max)
    return false;
  const auto plain = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), is_address_character);
  };
  const auto host = text.substr(at + 1);
  return plain(text.substr(0, at)) && plain(host) && !host.empty() && host.front() != '.'
         && host.back() != '.' && host.find("..") == std::string_view::npos;
}

std::string wrong_with(const mail_style& style) {
  if (style.name.size() > mail_name_bytes_max || !is_one_line(style.name))
    return "mail_name: must be one line of at most 100 bytes";
  if (!style.from.address.empty() && !is_mail_address(style.from.address))
    return "mail_sender: must be an e-mail address";
  if (!style.colour.empty() && !is_colour(style.colour)) return "mail_colour: must be like \"#2c1d6b\"";
  return {};
}

std::string wrong_with(const mail_message& message) {
  if (!is_id(message.id)) return "the id is not 1 to 200 printable characters";
  if (message.to.empty()) return "there is no recipient";
  if (!is_one_line(message.subject)) return "the subject is not one line of UTF-8";
  if (message.subject.size() > mail_subject_bytes_max) return "the subject is too long";
  if (!is_utf8(message.text) || !is_utf8(message.html)) return "the body is not UTF-8";
  if (message.text.size() + message.html.size() > mail_body_bytes_max) return "the body is too large";
  if (!is_one_line(message.template_key)) return "the template key is not one line";
  if (!message.from.address.empty() && !is_mail_address(message.from.address))
    return "the sender is not a mail address";
  if (!is_one_line(message.from.name)) return "the sender's name is not one line of UTF-8";
  return {};
}

std::vector<std::string> wrong_with_each(const mail_message& message) {
  std::vector<std::string> result;
  std::unordered_set<std::string_view> seen;
  for (const auto& recipient : message.to) {
    result.push_back(wrong_with(message, recipient));
    if (!seen.insert(recipient.address).second) result.back() = "an address is named twice";
  }
  return result;
}

std::string with_variables(std::string_view text, const std::map<std::string, std::string>& variables) {
  constexpr std::string_view mark = "%recipient.";
  std::string out;
  for (auto begin = text.find(mark); begin != std::string_view::npos; begin = text.find(mark)) {
    const auto name_begin = begin + mark.size();
    const auto end = text.find('%', name_begin);
    const auto known = end == std::string_view::npos
                         ? variables.end()
                         : variables.find(std::string{text.substr(name_begin, end - name_begin)});
    if (known == variables.end()) {
      out.append(text.substr(0, name_begin));
      text.remove_prefix(name_begin);
    } else {
      out.append(text.substr(0, begin)).append(known->second);
      text.remove_prefix(end + 1);
    }
  }
  return out.append(text);
}

std::string escaped_for_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

mail_letter letter_for(const mail_message& message, std::size_t index) {
  const auto& recipient = message.to[index];
  auto escaped = recipient.variables;
  for (auto& [name, value] : escaped) value = escaped_for_html(value);
  return {message.to.size() == 1 ? message.id : message.id + "#" + std::to_string(index + 1),
          recipient.address,
          with_variables(message.subject, recipient.variables),
          with_variables(message.text, recipient.variables),
          with_variables(message.html, escaped),
          message.from,
          message.attachments};
}

mail_sender sender_of(const mail_sender& own, const mail_sender& general) {
  if (own.address.empty()) return {general.address, own.name.empty() ? general.name : own.name};
  return own;
}

mail_answer open_answer(const mail_message& message) {
  mail_answer answer;
  for (const auto& r : message.to)
    answer.recipients.push_back(r.answered ? mail_result::accepted : mail_result::unavailable);
  return answer;
}

void note(mail_answer& answer, std::size_t index, mail_result result, std::string_view why) {
  answer.recipients[index] = result;
  if (answer.why.empty()) answer.why = why;
}

mail_answer closed(mail_answer answer) {
  const auto has = [&](mail_result r) {
    return std::find(answer.recipients.begin(), answer.recipients.end(), r) != answer.recipients.end();
  };
  answer.result = has(mail_result::unavailable) ? mail_result::unavailable
                  : has(mail_result::accepted)  ? mail_result::accepted
                                                : mail_result::rejected;
  return answer;
}

mail_answer all_of(const mail_message& message, mail_result result, std::string why) {
  auto answer = open_answer(message);
  for (std::size_t i = 0; i < message.to.size(); ++i)
    if (!message.to[i].answered) answer.recipients[i] = result;
  answer.why = std::move(why);
  return closed(std::move(answer));
}

void mark_answered(mail_message& message, const mail_answer& answer) {
  for (std::size_t i = 0; i < message.to.size() && i < answer.recipients.size(); ++i)
    if (answer.recipients[i] != mail_result::unavailable) message.to[i].answered = true;
}

mail_answer letter_port::send(const mail_message& message) {
  if (auto unfit = wrong_with(message); !unfit.empty())
    return all_of(message, mail_result::rejected, std::move(unfit));
  const auto wrong = wrong_with_each(message);
  auto answer = open_answer(message);
  for (std::size_t i = 0; i < message.to.size() && !answer.service_down; ++i) {
    if (message.to[i].answered) continue;
    if (!wrong[i].empty()) {
      note(answer, i, mail_result::rejected, wrong[i]);
      continue;
    }
    const auto one = deliver(letter_for(message, i));
    note(answer, i, one.result, one.why);
    answer.service_down = one.service_down;
    // an absent value compares less than any other
    answer.retry_after = std::max(answer.retry_after, one.retry_after);
  }
  return closed(std::move(answer));
}

} // namespace fq
