// SPDX-License-Identifier: Apache-2.0
#include "net/wire/odds_codec.hpp"

#include "net/http/json_text.hpp"

namespace fq::net {
namespace {

void append_range(std::string& out, const percent_range& percent) {
  out += "{\"low\":";
  append_integer(out, percent.low);
  out += ",\"high\":";
  append_integer(out, percent.high);
  out += '}';
}

} // namespace

void append_outlook(std::string& out, const outlook& o) {
  if (!o.is_known) return;
  const auto add = [&](const char* name, std::uint64_t value) {
    out += name;
    append_integer(out, value);
  };
  const bool has_chance = o.chance != likelihood::unknown;
  add(",\"outlook\":{\"tickets_free\":", o.free);
  add(",\"tickets_held\":", o.held);
  add(",\"people_ahead\":", o.ahead);
  out += ",\"buying_percent\":";
  o.has_share ? append_range(out, o.share) : void(out += "null");
  out += ",\"buyers_ahead\":";
  o.has_share ? append_integer(out, o.buyers) : void(out += "null");
  out += ",\"tickets_ahead\":";
  o.has_share ? append_integer(out, o.wanted) : void(out += "null");
  out += ",\"chance_percent\":";
  has_chance ? append_range(out, range_of(o.chance)) : void(out += "null");
  out += ",\"chance\":\"";
  out += name_of(o.chance);
  out += "\",\"waiting_list\":";
  out += o.waiting_list ? "true" : "false";
  out += '}';
}

} // namespace fq::net
