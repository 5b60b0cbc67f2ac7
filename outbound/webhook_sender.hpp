// SPDX-License-Identifier: Apache-2.0
// Sends one HTTP POST at a time over a kept connection. Called by a detached worker; blocks up to its
// timeout. Follows no redirects, uses no proxy, reads at most a few KiB of the answer.
#pragma once

#include "domain/base/time.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fq {

struct post_result {
  int status = 0; ///< HTTP status; 0: no answer
  std::string error; ///< why there was no answer; else empty
  [[nodiscard]] bool acknowledged() const noexcept { return status >= 200 && status < 300; }
};

/// Belongs to one thread.
class webhook_sender {
public:
  /// `timeout` covers the whole exchange, connecting at most half of it. Throws std::runtime_error without
  /// libcurl.
  explicit webhook_sender(milliseconds timeout);
  ~webhook_sender();

  using header = std::pair<std::string_view, std::string_view>;
  [[nodiscard]] post_result post(const std::string& url, std::string_view body,
                                 const std::vector<header>& headers);

private:
  struct handle;
  std::unique_ptr<handle> handle_;
  milliseconds timeout_;
};

} // namespace fq
