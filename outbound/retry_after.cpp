// SPDX-License-Identifier: Apache-2.0
#include "outbound/retry_after.hpp"

#include "outbound/limits.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>

namespace fq {

std::optional<milliseconds> read_retry_after(const std::string& field, timestamp now) {
  if (field.empty()) return std::nullopt;
  std::int64_t wished = 0;
  const auto* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, wished);
  if (error == std::errc::result_out_of_range && stop == end)
    return seconds{field.front() == '-' ? 0 : retry_after_seconds_max};
  if (error != std::errc{} || stop != end) {
    const auto moment = curl_getdate(field.c_str(), nullptr);
    if (moment < 0) return std::nullopt;
    wished = moment - unix_ms(now) / 1000;
  }
  return seconds{std::clamp<std::int64_t>(wished, 0, retry_after_seconds_max)};
}

} // namespace fq
