// SPDX-License-Identifier: Apache-2.0
// What an event asks its buyers, and their answers. Stored as text: a line for each, with tabs between its
// parts.
#pragma once
#include "domain/model/limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

enum class question_kind : std::uint8_t {
  text,
  choice, ///< one of its choices
  consent, ///< "yes", or no answer
};
/// "text"; empty for values of later programs.
[[nodiscard]] std::string_view name_of(question_kind kind);

struct question {
  std::uint32_t id = 0; ///< in its event, from 1
  question_kind kind = question_kind::text;
  bool of_attendee = false; ///< to each attendee, not to the buyer
  bool is_required = false;
  std::string label;
  std::vector<std::string> choices = {};
  friend bool operator==(const question&, const question&) = default;
};

/// The answer to a consent that is given.
inline constexpr std::string_view consent_given = "yes";

struct answer_row {
  std::uint32_t question = 0; ///< id
  std::uint32_t attendee = 0; ///< from 1, in the order of the units; 0: the buyer
  std::string label; ///< as it was asked
  std::string value;
  friend bool operator==(const answer_row&, const answer_row&) = default;
};

/// Labels, choices and values have no control characters.
[[nodiscard]] std::string text_of(const std::vector<question>& questions);
[[nodiscard]] std::string text_of(const std::vector<answer_row>& answers);
/// Empty unless `text` is a text_of() result.
[[nodiscard]] std::optional<std::vector<question>> questions_of(std::string_view text);
[[nodiscard]] std::optional<std::vector<answer_row>> answers_of(std::string_view text);

} // namespace fq
