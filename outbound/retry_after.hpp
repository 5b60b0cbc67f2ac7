// SPDX-License-Identifier: Apache-2.0
// The Retry-After field (RFC 9110 section 10.2.3): seconds or a date.
#pragma once
#include "domain/base/time.hpp"

#include <optional>
#include <string>

namespace fq {

/// How long from `now`: 0 for the past, a day at most. Nothing if the field is absent or neither form.
[[nodiscard]] std::optional<milliseconds> read_retry_after(const std::string& field, timestamp now);

} // namespace fq
