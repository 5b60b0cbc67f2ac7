// SPDX-License-Identifier: Apache-2.0
// By which channels a tenant wants its customers and systems told of which domain events. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// A setting's name, before the number of its tenant.
inline constexpr std::string_view notice_routing_setting = "notices.routing/";

/// What a tenant chooses among; stored by name.
enum class medium : std::uint8_t { mail, push, webhook, bus };
inline constexpr std::array all_media{medium::mail, medium::push, medium::webhook, medium::bus};
[[nodiscard]] std::string_view to_string(medium m);
[[nodiscard]] std::optional<medium> parse_medium(std::string_view text);

/// Topics of domain/delivery/outbox with the media that they go by; a topic that is not named goes by all.
/// One-time passwords are no topic.
class notice_routing {
public:
  /// `topic=medium,medium topic=` as text() writes it. What names an unknown topic or medium is left out: a
  /// release before may have known it.
  [[nodiscard]] static notice_routing parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  void start(std::string_view topic) { chosen_[std::string{topic}] = 0; } ///< by none, until some are added
  void add(std::string_view topic, medium m) { chosen_[std::string{topic}] |= bit(m); }
  [[nodiscard]] bool goes(std::string_view topic, medium m) const;
  /// Topics that were chosen for, by name; others go by all.
  [[nodiscard]] const std::map<std::string, std::uint8_t, std::less<>>& chosen() const { return chosen_; }
  [[nodiscard]] static bool has(std::uint8_t media, medium m) { return (media & bit(m)) != 0; }
  friend bool operator==(const notice_routing&, const notice_routing&) = default;

private:
  static constexpr std::uint8_t bit(medium m) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(m));
  }

  std::map<std::string, std::uint8_t, std::less<>> chosen_;
};

/// Through which lanes of the outbox a topic of an event goes, by its tenant's routing; 0: nobody is told.
[[nodiscard]] std::uint8_t lanes_of(std::string_view topic, const notice_routing& routing, bool has_bus);

} // namespace fq
