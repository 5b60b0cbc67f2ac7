// SPDX-License-Identifier: Apache-2.0
#include "domain/seats/map_text.hpp"

#include <array>
#include <map>

namespace fq {
namespace {

constexpr std::array<std::string_view, 4> state_names{"free", "held", "sold", "blocked"};

void append_unsigned(std::string& out, std::uint64_t number) { out += std::to_string(number); }

/// Without padding.
void append_base64url(std::string& out, std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::uint32_t bits = 0;
  int count = 0;
  const auto put = [&] { out += letters[bits >> (count -= 6) & 63]; };
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6;) put();
  }
  if (count == 0) return;
  bits <<= 6 - count;
  count = 6;
  put();
}

/// The seats that are not of the type that the plan says, by ordinal.
void append_moved(std::string& out, const seat_map& map, std::span<const seat_now> seats) {
  std::map<std::uint8_t, std::vector<seat_number>> by_type;
  for (const auto& s : seats)
    if (s.type != map.type_in_plan(s.seat)) by_type[s.type].push_back(s.seat);
  if (by_type.empty()) return;
  const char* before = ",\"types\":{\"";
  for (const auto& [type, list] : by_type) {
    out += before;
    append_unsigned(out, type);
    out += "\":\"";
    append_runs(out, list);
    out += '"';
    before = ",\"";
  }
  out += '}';
}

} // namespace

void append_runs(std::string& out, std::span<const seat_number> seats) {
  for (std::size_t i = 0; i < seats.size();) {
    auto last = i;
    while (last + 1 < seats.size() && seats[last + 1] == seats[last] + 1) ++last;
    if (i > 0) out += ',';
    append_unsigned(out, seats[i]);
    if (last > i) {
      out += '-';
      append_unsigned(out, seats[last]);
    }
    i = last + 1;
  }
}

void append_seat_map(std::string& out, const seat_map& map, bool for_shoppers) {
  out += "{\"version\":";
  append_unsigned(out, map.version());
  out += ",\"seats\":";
  append_unsigned(out, map.size());
  out += ",\"states\":\"";
  append_base64url(out, map.packed_states(for_shoppers));
  out += '"';
  append_moved(out, map, map.moved_seats());
  out += ",\"plan_types\":[";
  for (const auto type : map.plan_types()) {
    if (out.back() != '[') out += ',';
    append_unsigned(out, type);
  }
  out += "]}";
}

bool append_seat_changes(std::string& out, const seat_map& map, std::uint64_t since, bool for_shoppers) {
  if (map.changes_after(since) > seat_changes_told_max) return false;
  const auto changed = map.changes_since(since);
  if (!changed) return false;
  std::array<std::vector<seat_number>, 4> by_state;
  for (const auto& s : *changed) {
    const bool looks_sold = for_shoppers && s.state == seat_state::blocked;
    by_state[static_cast<std::size_t>(looks_sold ? seat_state::sold : s.state)].push_back(s.seat);
  }
  out += "{\"from\":";
  append_unsigned(out, since);
  out += ",\"version\":";
  append_unsigned(out, map.version());
  for (std::size_t i = 0; i < by_state.size(); ++i) {
    if (by_state[i].empty()) continue;
    out.append(",\"").append(state_names[i]).append("\":\"");
    append_runs(out, by_state[i]);
    out += '"';
  }
  append_moved(out, map, *changed);
  out += '}';
  return true;
}

void append_standing(std::string& out, std::span<const std::int64_t> free) {
  if (free.empty()) return;
  out.pop_back(); // the brace
  out += ",\"areas_free\":[";
  for (const auto places : free) {
    if (out.back() != '[') out += ',';
    append_unsigned(out, static_cast<std::uint64_t>(places));
  }
  out += "]}";
}

void append_rules(std::string& out, const seat_rules& rules, bool for_shoppers) {
  if (for_shoppers && !rules.accessible_for_all) return;
  constexpr std::array<std::string_view, 3> singles{"strict", "when_needed", "off"};
  out.pop_back(); // the brace
  if (!for_shoppers) {
    out.append(",\"singles\":\"").append(singles[static_cast<std::size_t>(rules.singles)]);
    out.append("\",\"split\":").append(rules.may_split ? "true" : "false");
  }
  out.append(",\"accessible_for_all\":").append(rules.accessible_for_all ? "true}" : "false}");
}

} // namespace fq
