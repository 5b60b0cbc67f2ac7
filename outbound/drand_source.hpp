// SPDX-License-Identifier: Apache-2.0
// Asks a drand network for the signature of a round. It believes the answer as far as it can see that round,
// randomness and signature belong together; who checks a draw verifies the signature itself.
#pragma once
#include "outbound/http_client.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace fq {

class drand_source {
public:
  struct settings {
    std::string url; ///< scheme and host, without a trailing slash
    http_client::settings http;
  };
  drand_source(settings options, environment& env);

  /// `done` gets the signature as lower-case hex digits, or an empty text: not published yet, or no sound
  /// answer. On any thread.
  void fetch(const std::string& chain_hash, std::uint64_t round, std::function<void(std::string)> done);

private:
  std::string url_;
  http_client http_;
};

} // namespace fq
