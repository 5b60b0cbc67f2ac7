// SPDX-License-Identifier: Apache-2.0
// Limits of rows.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fq {

/// Longest name of a subject, in bytes.
inline constexpr std::size_t subject_name_max = 128;

inline constexpr std::size_t questions_max = 10; ///< of an event: a form that people fill in within minutes
inline constexpr std::uint32_t question_id_max = 1'000'000; ///< a changed question has a new id
inline constexpr std::size_t question_bytes_max = 200; ///< of its label
inline constexpr std::size_t choices_max = 20; ///< of a question
inline constexpr std::size_t choice_bytes_max = 100;
inline constexpr std::size_t answer_bytes_max = 500;
/// Answers of an order: each is an object, of which a body has json_costly_values_max.
inline constexpr std::size_t answers_max = 100;

} // namespace fq
