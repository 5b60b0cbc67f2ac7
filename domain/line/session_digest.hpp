// SPDX-License-Identifier: Apache-2.0
// Digests of all sessions of a line, kept up to date by each change: the mirror is compared with them instead
// of with a copy of the sessions.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/line/limits.hpp"

#include <map>
#include <string_view>

namespace fq {

/// Any number of sessions, in any order.
struct session_digest {
  std::uint64_t count = 0;
  std::uint64_t sum = 0; ///< of their hashes
  friend bool operator==(const session_digest&, const session_digest&) = default;
};

/// By the sessions' end, in units of `digest_span`; no digest is empty.
using session_digests = std::map<std::int64_t, session_digest>;

/// Adds a session (or -1: takes it out).
void count_session(session_digests& all, queue_number number, std::uint32_t admission_no,
                   const subject_key& subject, timestamp joined_at, timestamp ends,
                   std::string_view subject_name, int delta);

} // namespace fq
