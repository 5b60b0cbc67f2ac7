// SPDX-License-Identifier: Apache-2.0
#include "net/pages/shop_form.hpp"

#include "domain/money/limits.hpp"
#include "domain/money/money_text.hpp"
#include "net/pages/limits.hpp"

#include <algorithm>
#include <charconv>

namespace fq::net {
namespace {

std::string field_of(const question& q, std::uint32_t attendee) {
  auto name = "q." + std::to_string(q.id);
  return attendee == 0 ? name : name + '.' + std::to_string(attendee);
}

void add_question(page_data& data, language in, const question& q, std::uint32_t attendee,
                  const choice_view& choice) {
  const auto name = field_of(q, attendee);
  const auto value = choice.sent.find(name);
  auto asked = data.add("QUESTION");
  asked.set("FIELD", name);
  asked.set("LABEL", q.label);
  if (attendee > 0) asked.set_optional("OF", text(in, "attendee_n", {{"n", std::to_string(attendee)}}));
  asked.show("REQUIRED", q.is_required);
  asked.show("NO_ANSWER", choice.problem == "answers_missing" && q.is_required && value.empty());
  switch (q.kind) {
    case question_kind::text:
      asked.show("IS_TEXT");
      asked.set_optional("VALUE", value);
      break;
    case question_kind::consent:
      asked.show("IS_CONSENT");
      asked.show("GIVEN", value == consent_given);
      break;
    case question_kind::choice:
      asked.show("IS_CHOICE");
      for (const auto& c : q.choices) {
        auto option = asked.add("CHOICE");
        option.set("TEXT", c);
        option.show("CHOSEN", c == value);
      }
  }
}

} // namespace

std::uint32_t units_in(const form& sent, const event_view& event) {
  std::uint32_t units = 0;
  for (const auto& type : event.ticket_types) {
    const auto text = sent.find(quantity_field(type.id));
    std::uint32_t quantity = 0;
    std::from_chars(text.data(), text.data() + text.size(), quantity);
    units += std::min(quantity, quantity_max);
  }
  return units;
}

std::vector<answer_row> answers_in(const form& sent, const std::vector<question>& questions,
                                   std::uint32_t units) {
  std::vector<answer_row> answers;
  const auto take = [&](const question& q, std::uint32_t attendee) {
    const auto value = sent.find(field_of(q, attendee));
    if (!value.empty()) answers.push_back({q.id, attendee, {}, std::string{value}});
  };
  for (const auto& q : questions)
    for (std::uint32_t n = q.of_attendee ? 1 : 0; n <= (q.of_attendee ? units : 0); ++n) take(q, n);
  return answers;
}

std::optional<money> donation_in(const form& sent, std::string_view currency) {
  const auto text = sent.find("donation");
  if (text.empty()) return 0;
  const auto decimals = decimals_of(currency);
  const auto point = std::min(text.find_first_of(".,"), text.size());
  auto digits = std::string{text.substr(0, point)};
  const auto fraction = text.substr(std::min(point + 1, text.size()));
  if (digits.empty() || fraction.size() > decimals || text.size() > 16) return std::nullopt;
  digits += std::string{fraction} + std::string(decimals - fraction.size(), '0');
  money amount = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), amount);
  const bool is_number =
    error == std::errc{} && end == digits.data() + digits.size() && digits.front() != '-';
  return is_number && amount <= donation_max ? std::optional{amount} : std::nullopt;
}

void add_questions(page_data& data, language in, const choice_view& choice) {
  const auto& questions = choice.event.event.questions;
  const bool is_first = choice.sent.fields().empty() && choice.event.ticket_types.size() == 1;
  const auto units = is_first ? 1 : units_in(choice.sent, choice.event); // 1 is chosen already
  data.show("ASKS", !questions.empty());
  for (const auto& q : questions)
    if (!q.of_attendee) add_question(data, in, q, 0, choice);
  for (std::uint32_t attendee = 1; attendee <= units; ++attendee)
    for (const auto& q : questions)
      if (q.of_attendee) add_question(data, in, q, attendee, choice);
  data.show("ASKS_LATER", units == 0 && std::ranges::any_of(questions, &question::of_attendee));
}

} // namespace fq::net
