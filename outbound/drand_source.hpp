// SPDX-License-Identifier: Apache-2.0
// Asks a drand network for the signature of a round. No Debian package verifies drand's signatures: an answer
// counts if round, randomness and signature belong together, and if all sources give the same signature. The
// checker of a draw verifies the signature itself (docs/design/fairness.md).
#pragma once
#include "outbound/http_client.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fq {

class drand_source {
public:
  struct settings {
    std::vector<std::string> urls; ///< scheme and host, without a trailing slash; not empty
    http_client::settings http;
    std::function<void(const std::string&)> warn = nullptr; ///< may be null; called on any thread
  };
  drand_source(settings options, environment& env);

  /// `done` gets the signature as lower-case hex digits, or an empty text: not published yet, or a source has
  /// no sound answer, or another one. On any thread.
  void fetch(const std::string& chain_hash, std::uint64_t round, std::function<void(std::string)> done);

private:
  struct gathering;
  std::vector<std::string> urls_;
  std::function<void(const std::string&)> warn_;
  http_client http_; ///< the last member: its answers use the others
};

} // namespace fq
