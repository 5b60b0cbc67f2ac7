// SPDX-License-Identifier: Apache-2.0
// A tenant's routing: the media by which each domain event reaches its customers and systems. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// Prefix of the setting's name; the tenant's number follows.
inline constexpr std::string_view notice_routing_setting = "notices.routing/";

/// A tenant's choices per topic; stored by name.
enum class medium : std::uint8_t { mail, push, webhook, bus };
inline constexpr std::array all_media{medium::mail, medium::push, medium::webhook, medium::bus};
[[nodiscard]] std::string_view to_string(medium m);
[[nodiscard]] std::optional<medium> parse_medium(std::string_view text);

/// The media of each topic of domain/delivery/outbox. A topic without an entry uses all media. One-time
/// passwords are not a topic.
class notice_routing {
public:
  /// Parses `topic=medium,medium topic=`, the format of text(). Skips unknown topics and media: another
  /// release may have written them.
  [[nodiscard]] static notice_routing parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  void start(std::string_view topic) { chosen_[std::string{topic}] = 0; } ///< no media until add()
  void add(std::string_view topic, medium m) { chosen_[std::string{topic}] |= bit(m); }
  [[nodiscard]] bool goes(std::string_view topic, medium m) const;
  /// Topics with a choice, by name; other topics use all media.
  [[nodiscard]] const std::map<std::string, std::uint8_t, std::less<>>& chosen() const { return chosen_; }
  [[nodiscard]] static bool has(std::uint8_t media, medium m) { return (media & bit(m)) != 0; }
  friend bool operator==(const notice_routing&, const notice_routing&) = default;

private:
  static constexpr std::uint8_t bit(medium m) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(m));
  }

  std::map<std::string, std::uint8_t, std::less<>> chosen_;
};

/// Outbox lanes of an event's topic under its tenant's routing; 0: not published.
[[nodiscard]] std::uint8_t lanes_of(std::string_view topic, const notice_routing& routing, bool has_bus);

} // namespace fq
