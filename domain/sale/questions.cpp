// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/questions.hpp"

#include "domain/model/invalid_field.hpp"

#include <algorithm>
#include <tuple>

namespace fq {
namespace {

bool is_line(const std::string& text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max
         && std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

std::string at(const char* list, std::size_t i, const char* field) {
  return std::string{list} + '[' + std::to_string(i) + "]." + field;
}

refusal check(const question& q, std::size_t i) {
  if (!is_line(q.label, question_bytes_max))
    return invalid_field(at("questions", i, "label"), "must be one line of 1 to 200 bytes");
  if (q.kind != question_kind::choice && !q.choices.empty())
    return invalid_field(at("questions", i, "choices"), "are for the kind choice only");
  if (q.kind == question_kind::choice && (q.choices.size() < 2 || q.choices.size() > choices_max))
    return invalid_field(at("questions", i, "choices"), "must have 2 to 20 entries");
  for (const auto& choice : q.choices)
    if (!is_line(choice, choice_bytes_max) || std::ranges::count(q.choices, choice) > 1)
      return invalid_field(at("questions", i, "choices"), "must be different lines of 1 to 100 bytes");
  return {};
}

refusal check(const question& asked, const answer_row& a, std::uint32_t units, std::size_t i) {
  if (asked.of_attendee ? a.attendee == 0 || a.attendee > units : a.attendee != 0)
    return invalid_field(at("answers", i, "attendee"), asked.of_attendee
                                                         ? "must be 1 to the number of tickets"
                                                         : "is for questions to attendees only");
  if (a.value.empty()) return {};
  switch (asked.kind) {
    case question_kind::text:
      if (is_line(a.value, answer_bytes_max)) return {};
      return invalid_field(at("answers", i, "value"), "must be one line of at most 500 bytes");
    case question_kind::choice:
      if (std::ranges::find(asked.choices, a.value) != asked.choices.end()) return {};
      return invalid_field(at("answers", i, "value"), "is not one of the choices");
    case question_kind::consent:
      if (a.value == consent_given) return {};
      return invalid_field(at("answers", i, "value"), "must be yes, or empty");
  }
  return {};
}

bool asks_the_same(const question& a, const question& b) {
  return a.kind == b.kind && a.of_attendee == b.of_attendee && a.label == b.label && a.choices == b.choices;
}

auto place_of(const answer_row& a) { return std::tuple{a.attendee, a.question}; }

refusal check_required(const question& asked, std::uint32_t units, const std::vector<answer_row>& answers) {
  if (!asked.is_required) return {};
  for (auto attendee = asked.of_attendee ? 1u : 0u; attendee <= (asked.of_attendee ? units : 0u); ++attendee)
    if (!std::ranges::binary_search(answers, std::tuple{attendee, asked.id}, {}, place_of))
      return invalid_field("answers", "question " + std::to_string(asked.id) + " is required"
                                        + (attendee == 0 ? "" : " of attendee " + std::to_string(attendee)));
  return {};
}

} // namespace

void number_questions(const std::vector<question>& before, std::vector<question>& questions,
                      std::uint32_t& last) {
  for (auto& q : questions) {
    const auto known = std::ranges::find(before, q.id, &question::id);
    if (q.id == 0 || (known != before.end() && !asks_the_same(*known, q)))
      q.id = ++last;
    else if (known == before.end())
      q.id = 0;
  }
}

refusal check_questions(const std::vector<question>& questions, std::uint32_t order_max) {
  if (questions.size() > questions_max) return invalid_field("questions", "must have at most 10 entries");
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (auto no = check(questions[i], i)) return no;
    if (questions[i].id == 0)
      return invalid_field(at("questions", i, "id"), "must be of a question that the event has");
    if (questions[i].id > question_id_max)
      return invalid_field("questions", "have changed a million times; leave them as they are");
    if (std::ranges::count(questions, questions[i].id, &question::id) > 1)
      return invalid_field(at("questions", i, "id"), "must be given once");
  }
  std::size_t required = 0;
  for (const auto& q : questions)
    if (q.is_required) required += q.of_attendee ? order_max : 1;
  if (required > answers_max)
    return invalid_field("questions", "the required ones must need at most 100 answers of an order with "
                                      "max_per_order tickets, not "
                                        + std::to_string(required));
  return {};
}

refusal settle_answers(const std::vector<question>& questions, std::uint32_t units,
                       std::vector<answer_row>& answers) {
  if (answers.size() > answers_max) return invalid_field("answers", "must have at most 100 entries");
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto& a = answers[i];
    const auto asked = std::ranges::find(questions, a.question, &question::id);
    if (asked == questions.end())
      return invalid_field(at("answers", i, "question_id"), "the event does not ask this");
    if (auto no = check(*asked, a, units, i)) return no;
    a.label = asked->label;
  }
  std::ranges::sort(answers, {}, place_of);
  const auto twice = std::ranges::adjacent_find(answers, {}, place_of);
  if (twice != answers.end())
    return invalid_field("answers", "question " + std::to_string(twice->question) + " is answered twice");
  std::erase_if(answers, [](const answer_row& a) { return a.value.empty(); });
  for (const auto& q : questions)
    if (auto no = check_required(q, units, answers)) return no;
  return {};
}

} // namespace fq
