// SPDX-License-Identifier: Apache-2.0
// The form in which the ledger stores a plan: short lines that an owner reads without a JSON parser.
#pragma once
#include "domain/seats/plan.hpp"

#include <span>
#include <string>
#include <string_view>

namespace fq {

[[nodiscard]] std::string text_of(const seat_plan& plan);
/// The text of a plan with other names for its ticket types, in their order. Empty: the type keeps its name.
[[nodiscard]] std::string with_type_names(std::string_view text, std::span<const std::string> names);
/// Null: it is not the text of a plan.
[[nodiscard]] std::shared_ptr<const seat_plan> plan_of_text(std::string_view text);

} // namespace fq
