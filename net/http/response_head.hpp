// SPDX-License-Identifier: Apache-2.0
// The status line and the fields of an answer as bytes. Called by the session; a pure function.
#pragma once
#include "net/http/http.hpp"

#include <string>
#include <string_view>

namespace fq::net {

/// What an answer's head says beside the answer itself.
struct head_facts {
  std::string_view date;
  std::string_view request_id;
  bool keep; ///< the connection stays open
  bool http_1_0; ///< so that staying open has to be said
  std::string_view strict_transport = {}; ///< value of Strict-Transport-Security; empty: none
};

/// Replaces `out` with the head of `answer`, the empty line included. Adds no-store unless the answer has a
/// Cache-Control.
void write_head(std::string& out, const response& answer, const head_facts& facts);

} // namespace fq::net
