// SPDX-License-Identifier: Apache-2.0
#include "load/wire/seat_wire.hpp"

#include "load/wire/wire.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace fq::load {

namespace json = boost::json;

namespace {

const json::array* list_member(const json::value& object, std::string_view name) {
  const auto* found = member(object, name);
  return found == nullptr ? nullptr : found->if_array();
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string out;
  for (const auto& part : parts)
    if (!part.empty()) out += (out.empty() ? "" : "-") + part;
  return out;
}

// The two bits of each seat, four seats a byte; empty if the text is no base64url.
std::string states_in(std::string_view text, std::size_t seats) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = letters.find(c);
    if (value == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if ((count += 6) < 8) continue;
    const auto byte = bits >> (count -= 8) & 255;
    for (int i = 0; i < 4 && out.size() < seats; ++i) out += static_cast<char>('0' + (byte >> 2 * i & 3));
  }
  return out;
}

void set_state(seat_states& known, std::size_t n, char state) {
  if (known.states[n] != state) known.changed.push_back(n);
  known.states[n] = state;
}

// "5-9,12"; false if it is no list, or names a seat that does not exist.
bool set_runs(std::string_view text, char state, seat_states& known) {
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    std::size_t first = 0;
    const auto* end = part.data() + part.size();
    auto read = std::from_chars(part.data(), end, first);
    auto last = first;
    if (read.ec == std::errc{} && read.ptr != end && *read.ptr == '-')
      read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc{} || read.ptr != end || last < first || last >= known.states.size())
      return false;
    for (auto n = first; n <= last; ++n) set_state(known, n, state);
  }
  return true;
}

bool take_whole(const json::value& answer, seat_states& known) {
  const auto* ids = list_member(answer, "ticket_type_ids");
  const auto* types = list_member(answer, "plan_types");
  const auto seats = whole_member(answer, "seats", -1);
  if (ids == nullptr || types == nullptr || seats < 0) return false;
  const auto states = states_in(text_member(answer, "states"), static_cast<std::size_t>(seats));
  if (states.size() != static_cast<std::size_t>(seats)) return false;
  known.states.resize(states.size());
  for (std::size_t n = 0; n < states.size(); ++n) set_state(known, n, states[n]);
  known.type_ids.clear();
  for (const auto& type : *types) {
    const auto place = whole(&type);
    if (!place || *place < 0 || *place >= static_cast<std::int64_t>(ids->size())) return false;
    const auto& id = (*ids)[static_cast<std::size_t>(*place)];
    if (!id.is_string()) return false;
    known.type_ids.emplace_back(id.as_string());
  }
  return true;
}

} // namespace

std::optional<std::vector<hall_seat>> read_hall(const json::value& plan) {
  const auto* types = list_member(plan, "ticket_types");
  const auto* sections = list_member(plan, "sections");
  if (types == nullptr || sections == nullptr) return std::nullopt;
  std::vector<hall_seat> hall;
  std::size_t rows_seen = 0;
  for (const auto& section : *sections) {
    const auto* rows = list_member(section, "rows");
    if (rows == nullptr) return std::nullopt;
    for (const auto& row : *rows) {
      const auto* seats = list_member(row, "seats");
      if (seats == nullptr) return std::nullopt;
      ++rows_seen;
      for (const auto& seat : *seats) {
        auto type = text_member(seat, "ticket_type");
        if (type.empty()) type = text_member(row, "ticket_type");
        const auto found = std::find_if(types->begin(), types->end(), [&](const json::value& each) {
          return each.is_string() && std::string_view{each.as_string()} == type;
        });
        if (found == types->end()) return std::nullopt;
        hall.push_back(
          {joined({text_member(section, "section"), text_member(row, "row"), text_member(seat, "seat")}),
           rows_seen, static_cast<std::size_t>(found - types->begin())});
      }
    }
  }
  return hall;
}

bool apply_seats(const json::value& answer, seat_states& known) {
  known.changed.clear();
  const auto version = whole_member(answer, "version", 0);
  if (version <= 0) return false;
  if (member(answer, "states") != nullptr) {
    known.version = static_cast<std::uint64_t>(version);
    return take_whole(answer, known);
  }
  const auto from = whole_member(answer, "from", -1);
  if (from < 0 || static_cast<std::uint64_t>(from) > known.version) return false;
  if (static_cast<std::uint64_t>(version) <= known.version) return true;
  constexpr std::array<std::string_view, 4> names{"free", "held", "sold", "blocked"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!set_runs(text_member(answer, names[i]), static_cast<char>('0' + i), known)) return false;
  known.version = static_cast<std::uint64_t>(version);
  return true;
}

} // namespace fq::load
