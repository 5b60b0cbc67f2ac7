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

/// Names, separated by spaces. Nothing if one is too long or there are too many.
std::optional<std::vector<std::string>> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > seat_name_chars_max || names.size() == quantity_max) return std::nullopt;
    if (end > 0) names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

} // namespace

std::optional<std::vector<item_wish>> items_of(const form& sent, const event_view& event) {
  std::vector<item_wish> items;
  for (const auto& type : event.ticket_types) {
    auto seats = names_in(sent.find(seats_field(type.id)));
    if (!seats) return std::nullopt;
    if (!seats->empty()) {
      const auto count = static_cast<std::uint32_t>(seats->size());
      items.push_back({type.id, count, 0, std::move(*seats)});
      continue;
    }
    const auto text = sent.find(quantity_field(type.id));
    if (text.empty()) continue;
    std::uint32_t quantity = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity);
    if (error != std::errc{} || end != text.data() + text.size() || quantity > quantity_max)
      return std::nullopt;
    if (quantity > 0) items.push_back({type.id, quantity});
  }
  return items;
}

std::uint32_t units_in(const std::vector<item_wish>& items) {
  std::uint32_t units = 0;
  for (const auto& item : items) units += item.quantity;
  return units;
}

std::int64_t units_left(const ticket_type_row& t) {
  return std::max<std::int64_t>(0, t.total - t.held - t.sold);
}

std::string why_not_asked(const std::vector<item_wish>& items, const event_view& event) {
  const auto& questions = event.event.questions;
  const auto of_each = static_cast<std::size_t>(std::ranges::count_if(questions, &question::of_attendee));
  if (of_each == 0) return {};
  const auto units = units_in(items);
  if (units > attendees_asked_max || questions.size() - of_each + of_each * units > answers_max)
    return "limit_exceeded";
  for (const auto& item : items) {
    const auto type = std::ranges::find(event.ticket_types, item.ticket_type, &ticket_type_row::id);
    if (item.quantity > type->max_per_order) return "limit_exceeded";
    if (item.quantity > units_left(*type)) return "none_free";
  }
  return {};
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
  const auto items = items_of(choice.sent, choice.event).value_or(std::vector<item_wish>{});
  const auto chosen = why_not_asked(items, choice.event).empty() ? units_in(items) : 0;
  const auto units = is_first ? 1 : chosen; // 1 is chosen already
  data.show("ASKS", !questions.empty());
  for (const auto& q : questions)
    if (!q.of_attendee) add_question(data, in, q, 0, choice);
  for (std::uint32_t attendee = 1; attendee <= units; ++attendee)
    for (const auto& q : questions)
      if (q.of_attendee) add_question(data, in, q, attendee, choice);
  data.show("ASKS_LATER", units == 0 && std::ranges::any_of(questions, &question::of_attendee));
}

} // namespace fq::net
