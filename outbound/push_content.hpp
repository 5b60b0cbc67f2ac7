// SPDX-License-Identifier: Apache-2.0
// What a device is shown for a notice, and the same in the bodies that FCM and APNs take. Pure; called by the
// push channels. Holds no personal data: what a locked screen may show to anybody.
#pragma once
#include "outbound/channel.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <optional>
#include <string>

namespace fq {

struct push_content {
  std::string title; ///< English
  std::string body;
  std::map<std::string, std::string>
    data; ///< for the app: "topic", "notice_id" and the ids of the notice's payload
  std::string
    collapse_key; ///< of those with one key a device shows the newest; at most collapse_key_bytes_max
  seconds ttl{0}; ///< how long it is worth keeping for a device that is away: 0 to push_ttl_max
  bool is_urgent = false; ///< wakes the device
};

inline constexpr std::size_t collapse_key_bytes_max = 64; // APNs'
inline constexpr std::size_t push_bytes_max = 4096; ///< of a payload, at both services
inline constexpr seconds push_ttl_max{28 * 24 * 60 * 60}; // FCM's; APNs keeps for 30 days

/// Nothing for topics that no device is told of.
[[nodiscard]] std::optional<push_content> push_content_of(const notice& what, timestamp now);

/// The request of FCM's HTTP v1 API. Without the token it has at most push_bytes_max bytes.
[[nodiscard]] std::string fcm_body(const push_content& content, const std::string& token, timestamp now);

/// The payload for APNs: at most push_bytes_max bytes.
[[nodiscard]] std::string apns_body(const push_content& content);

} // namespace fq
