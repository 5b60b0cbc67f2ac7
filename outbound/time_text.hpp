// SPDX-License-Identifier: Apache-2.0
// Timestamps as text, UTC, in the formats of mail.
#pragma once
#include "domain/base/time.hpp"

#include <string>

namespace fq {

/// "2026-11-22T18:30:00.123Z" (RFC 3339).
[[nodiscard]] std::string time_for_machines(timestamp when);

/// "20261122T183000.123Z": for file names that sort by time.
[[nodiscard]] std::string time_for_names(timestamp when);

} // namespace fq
