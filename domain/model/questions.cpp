// SPDX-License-Identifier: Apache-2.0
#include "domain/model/questions.hpp"

#include <charconv>

namespace fq {
namespace {

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  return text.empty() ? std::vector<std::string_view>{} : parts_of(text, '\n');
}

std::uint32_t number_of(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<question_kind> kind_of(std::string_view name) {
  for (const auto kind : {question_kind::text, question_kind::choice, question_kind::consent})
    if (name_of(kind) == name) return kind;
  return std::nullopt;
}

} // namespace

std::string_view name_of(question_kind kind) {
  switch (kind) {
    case question_kind::text: return "text";
    case question_kind::choice: return "choice";
    case question_kind::consent: return "consent";
  }
  return {};
}

std::string text_of(const std::vector<question>& questions) {
  std::string text;
  for (const auto& q : questions) {
    if (!text.empty()) text += '\n';
    text += std::to_string(q.id) + '\t' + std::string{name_of(q.kind)}
            + (q.of_attendee ? "\tattendee\t" : "\tbuyer\t") + (q.is_required ? "required\t" : "optional\t")
            + q.label;
    for (const auto& choice : q.choices) text += '\t' + choice;
  }
  return text;
}

std::optional<std::vector<question>> questions_of(std::string_view text) {
  std::vector<question> questions;
  for (const auto line : lines_of(text)) {
    const auto parts = parts_of(line, '\t');
    if (parts.size() < 5) return std::nullopt;
    const auto kind = kind_of(parts[1]);
    if (!kind) return std::nullopt;
    questions.push_back({number_of(parts[0]),
                         *kind,
                         parts[2] == "attendee",
                         parts[3] == "required",
                         std::string{parts[4]},
                         {parts.begin() + 5, parts.end()}});
  }
  return text_of(questions) == text ? std::optional{std::move(questions)} : std::nullopt;
}

std::string text_of(const std::vector<answer_row>& answers) {
  std::string text;
  for (const auto& a : answers) {
    if (!text.empty()) text += '\n';
    text += std::to_string(a.question) + '\t' + std::to_string(a.attendee) + '\t' + a.label + '\t' + a.value;
  }
  return text;
}

std::optional<std::vector<answer_row>> answers_of(std::string_view text) {
  std::vector<answer_row> answers;
  for (const auto line : lines_of(text)) {
    const auto parts = parts_of(line, '\t');
    if (parts.size() != 4) return std::nullopt;
    answers.push_back(
      {number_of(parts[0]), number_of(parts[1]), std::string{parts[2]}, std::string{parts[3]}});
  }
  return text_of(answers) == text ? std::optional{std::move(answers)} : std::nullopt;
}

} // namespace fq
