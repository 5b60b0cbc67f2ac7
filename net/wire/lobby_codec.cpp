// SPDX-License-Identifier: Apache-2.0
#include "net/wire/lobby_codec.hpp"

#include "net/http/json_text.hpp"
#include "net/wire/codec.hpp"

namespace fq::net {

std::string_view name_of(draw_kind kind) {
  switch (kind) {
    case draw_kind::none: return "none";
    case draw_kind::at_opening: return "at_opening";
  }
  return "";
}

std::string_view name_of(beacon_kind kind) {
  switch (kind) {
    case beacon_kind::none: return "none";
    case beacon_kind::drand: return "drand";
    case beacon_kind::announced: return "announced";
  }
  return "";
}

namespace {

std::string_view phase_name(lobby_phase phase) {
  switch (phase) {
    case lobby_phase::none: break;
    case lobby_phase::open: return "OPEN";
    case lobby_phase::closed: return "CLOSED";
    case lobby_phase::waiting: return "WAITS_FOR_BEACON";
  }
  return "";
}

void append_or_null(std::string& out, std::string_view text) {
  text.empty() ? void(out += "null") : append_text(out, text);
}

} // namespace

void append_lobby(std::string& out, const entry_view& e) {
  out += ",\"lobby\":{\"status\":\"";
  out += phase_name(e.lobby.phase);
  out += "\",\"draw\":\"";
  out += name_of(e.lobby.draw);
  out += "\",\"people\":";
  append_integer(out, e.lobby.people);
  out += ",\"opens_at\":";
  append_time(out, e.lobby.opens_at);
  out += '}';
  if (e.party_code.empty()) return;
  out += ",\"party\":{\"code\":\"";
  out += e.party_code;
  out += "\",\"members\":";
  append_integer(out, e.party_size);
  out += '}';
}

void append_lobby(std::string& out, const event_view& view) {
  const auto& l = view.lobby;
  if (!is_set(l.opened_at)) {
    out += ",\"lobby\":null";
    return;
  }
  const bool draws = view.event.lobby.draw == draw_kind::at_opening;
  const auto* status = !is_set(l.closed_at)       ? "OPEN"
                       : is_set(l.drawn_at)       ? "DRAWN"
                       : draws && !l.root.empty() ? "WAITS_FOR_BEACON"
                                                  : "CLOSED";
  out += ",\"lobby\":{\"status\":\"";
  out += status;
  out += "\",\"opened_at\":";
  append_time(out, l.opened_at);
  out += ",\"closed_at\":";
  append_time(out, l.closed_at);
  out += ",\"drawn_at\":";
  append_time(out, l.drawn_at);
  out += ",\"people\":";
  append_integer(out, l.entrants);
  out += ",\"seed_commitment\":";
  append_or_null(out, draws ? l.seed_commitment : "");
  out += ",\"root\":";
  append_or_null(out, l.root);
  out += ",\"seed\":";
  append_or_null(out, l.seed);
  out += ",\"beacon\":\"";
  out += name_of(l.beacon);
  out += "\",\"beacon_value\":";
  append_or_null(out, l.value);
  out += '}';
}

} // namespace fq::net
