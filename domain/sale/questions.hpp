// SPDX-License-Identifier: Apache-2.0
// Rules of an event's questions and of the answers to them. Pure.
#pragma once
#include "domain/model/refusal.hpp"

#include <cstdint>
#include <vector>

namespace fq {

/// New ones, whose id is 0, and those that now ask something else than in `before` get the ids after `last`:
/// an answer belongs to the text that was read. One that `before` does not have gets the id 0, which nothing
/// has.
void number_questions(const std::vector<question>& before, std::vector<question>& questions,
                      std::uint32_t& last);

/// `order_max`: the largest max_per_order, whose answers one checkout must be able to carry.
[[nodiscard]] refusal check_questions(const std::vector<question>& questions, std::uint32_t order_max);

/// Checks the answers of an order of `units` tickets, writes the labels into them, and brings them into the
/// order of attendees and questions. Empty answers are left out.
[[nodiscard]] refusal settle_answers(const std::vector<question>& questions, std::uint32_t units,
                                     std::vector<answer_row>& answers);

} // namespace fq
