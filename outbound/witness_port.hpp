// SPDX-License-Identifier: Apache-2.0
// The port to the witnesses of public logs: sends one add-checkpoint request (c2sp.org/tlog-witness).
#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace fq {

struct witness_reply {
  int status = 0; ///< of HTTP; 0: no answer
  std::string body;
};

class witness_port {
public:
  virtual ~witness_port() = default;
  /// `witness`: its number in the settings. Calls `done` exactly once within witness_timeout, on any thread,
  /// possibly before this returns.
  virtual void add_checkpoint(std::size_t witness, std::string body,
                              std::function<void(witness_reply)> done) = 0;
};

} // namespace fq
