// SPDX-License-Identifier: Apache-2.0
// Parser of the Retry-After field (RFC 9110 section 10.2.3): seconds or a date.
#pragma once
#include "domain/base/time.hpp"

#include <optional>
#include <string>

namespace fq {

/// The pause from `now`: 0 for past dates, at most one day. Nothing if the field is absent or invalid.
[[nodiscard]] std::optional<milliseconds> read_retry_after(const std::string& field, timestamp now);

} // namespace fq
