// SPDX-License-Identifier: Apache-2.0
// The text of a push for a notice, and the request bodies for FCM and APNs. Pure; called by the push
// channels. Contains no personal data: it may be shown on a locked screen.
#pragma once
#include "outbound/channel.hpp"
#include "outbound/limits.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <optional>
#include <string>

namespace fq {

struct push_content {
  std::string title;
  std::string body;
  /// for the app: "topic", "notice_id" and the ids from the notice's payload
  std::map<std::string, std::string> data;
  std::string collapse_key; ///< a device shows only the newest push per key; at most collapse_key_bytes_max
  seconds ttl{0}; ///< storage time for an unreachable device: 0 to push_ttl_max
  bool is_urgent = false; ///< wakes the device
};

/// Nothing for topics that are not pushed to devices.
[[nodiscard]] std::optional<push_content> push_content_of(const notice& what, timestamp now,
                                                          language in = language::en);

/// The request body for FCM's HTTP v1 API: at most push_bytes_max bytes without the token.
[[nodiscard]] std::string fcm_body(const push_content& content, const std::string& token, timestamp now);

/// The payload for APNs: at most push_bytes_max bytes.
[[nodiscard]] std::string apns_body(const push_content& content);

} // namespace fq
