// SPDX-License-Identifier: Apache-2.0
#include "domain/delivery/notice_routing.hpp"

#include "domain/delivery/outbox.hpp"

#include <algorithm>

namespace fq {
namespace {

/// Removes and returns the part before `end`.
std::string_view cut(std::string_view& text, char end) {
  const auto at = std::min(text.find(end), text.size());
  const auto part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

} // namespace

std::string_view to_string(medium m) {
  switch (m) {
    case medium::mail: return "mail";
    case medium::push: return "push";
    case medium::webhook: return "webhook";
    case medium::bus: return "bus";
  }
  return {};
}

std::optional<medium> parse_medium(std::string_view text) {
  const auto found = std::ranges::find(all_media, text, [](medium m) { return to_string(m); });
  return found == all_media.end() ? std::nullopt : std::optional{*found};
}

notice_routing notice_routing::parse(std::string_view text) {
  notice_routing routing;
  while (!text.empty()) {
    auto media = cut(text, ' ');
    const auto topic = cut(media, '=');
    if (std::ranges::find(told_topics, topic) == told_topics.end()) continue;
    routing.start(topic);
    while (!media.empty())
      if (const auto m = parse_medium(cut(media, ','))) routing.add(topic, *m);
  }
  return routing;
}

std::string notice_routing::text() const {
  std::string out;
  for (const auto& [topic, media] : chosen_) {
    if (!out.empty()) out += ' ';
    out += topic + '=';
    for (const auto m : all_media)
      if (has(media, m)) out.append(out.back() == '=' ? "" : ",").append(to_string(m));
  }
  return out;
}

bool notice_routing::goes(std::string_view topic, medium m) const {
  const auto chosen = chosen_.find(topic);
  return chosen == chosen_.end() || has(chosen->second, m);
}

std::uint8_t lanes_of(std::string_view topic, const notice_routing& routing, bool has_bus) {
  auto lanes = lanes_of(topic, has_bus);
  if (!routing.goes(topic, medium::push) && !routing.goes(topic, medium::webhook))
    lanes &= static_cast<std::uint8_t>(~bit_of(lane::notices));
  if (!routing.goes(topic, medium::bus)) lanes &= static_cast<std::uint8_t>(~bit_of(lane::bus));
  return lanes;
}

} // namespace fq
