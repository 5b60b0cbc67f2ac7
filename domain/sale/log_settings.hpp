// SPDX-License-Identifier: Apache-2.0
// The settings of a line as the public log tells them: lines "name=value".
#pragma once
#include "domain/model/event_rows.hpp"

#include <string>
#include <vector>

namespace fq {

/// What the order and the pace of the line depend on. Times are Unix milliseconds.
[[nodiscard]] std::string settings_text(const event_row& event, const std::vector<ticket_type_row>& types);
/// The lines of `after` that `before` has not.
[[nodiscard]] std::string changed_lines(const std::string& before, const std::string& after);

} // namespace fq
