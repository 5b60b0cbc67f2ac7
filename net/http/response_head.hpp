// SPDX-License-Identifier: Apache-2.0
// Writes the status line and the fields of an answer. A pure function, called by the connection.
#pragma once
#include "net/http/http.hpp"

#include <string>
#include <string_view>

namespace fq::net {

/// Input of an answer's head besides the answer.
struct head_facts {
  std::string_view date;
  std::string_view request_id;
  bool keep; ///< the connection stays open
  bool http_1_0; ///< staying open must be stated
  std::string_view strict_transport = {}; ///< value of Strict-Transport-Security; empty: none
};

/// Replaces `out` with the head of `answer`, including the empty line. Adds no-store unless the answer has
/// a Cache-Control.
void write_head(std::string& out, const response& answer, const head_facts& facts);

} // namespace fq::net
