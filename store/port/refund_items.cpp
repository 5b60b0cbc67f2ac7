// SPDX-License-Identifier: Apache-2.0
#include "store/port/refund_items.hpp"

#include <algorithm>
#include <charconv>

namespace fq {
namespace {

/// Parses and removes the number at the front of `text`.
bool take_number(std::string_view& text, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

} // namespace

std::string text_of(const std::vector<refund_item>& items) {
  std::string text;
  for (const auto& i : items) {
    if (!text.empty()) text += ' ';
    text += std::to_string(i.ticket_type) + ':' + std::to_string(i.quantity);
  }
  return text;
}

std::optional<std::vector<refund_item>> refund_items_of(std::string_view text) {
  std::vector<refund_item> items;
  auto rest = text;
  while (!rest.empty()) {
    if (!items.empty() && !take(rest, ' ')) return std::nullopt;
    refund_item i;
    if (!take_number(rest, i.ticket_type) || !take(rest, ':') || !take_number(rest, i.quantity)
        || i.quantity == 0)
      return std::nullopt;
    items.push_back(i);
  }
  // Rejects leading zeros, which text_of never writes.
  return text_of(items) == text ? std::optional{std::move(items)} : std::nullopt;
}

std::string text_of(const std::vector<uuid>& ids) {
  std::string text;
  for (const auto& id : ids) text += (text.empty() ? "" : " ") + to_string(id);
  return text;
}

std::optional<std::vector<uuid>> ids_of(std::string_view text) {
  std::vector<uuid> ids;
  while (!text.empty()) {
    if (!ids.empty() && !take(text, ' ')) return std::nullopt;
    const auto end = std::min(text.find(' '), text.size());
    const auto id = parse_uuid(text.substr(0, end));
    if (!id) return std::nullopt;
    ids.push_back(*id);
    text.remove_prefix(end);
  }
  return ids;
}

} // namespace fq
