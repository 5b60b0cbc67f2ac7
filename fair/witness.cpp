// SPDX-License-Identifier: Apache-2.0
#include "fair/witness.hpp"

#include "domain/base/ids.hpp"

#include <algorithm>
#include <stdexcept>

namespace fq {
namespace {

/// Cuts off a number from 2 on and the slash before it: of a log that replaces a lost one.
std::string_view without_number(std::string_view origin) {
  const auto slash = origin.rfind('/');
  if (slash == origin.npos) return origin;
  const auto number = origin.substr(slash + 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_number = !number.empty() && number.size() <= 9 && std::ranges::all_of(number, is_digit);
  return is_number && number[0] != '0' && number != "1" ? origin.substr(0, slash) : origin;
}

/// "tickets.example" of "tickets.example/events/<id>/log"; empty for any other origin.
std::string_view installation_of(std::string_view origin) {
  constexpr std::string_view after = "/log";
  constexpr std::size_t place_size = 8, id_size = 36; // "/events/" or "/queues/"
  constexpr auto tail = place_size + id_size + after.size();
  origin = without_number(origin);
  if (origin.size() <= tail || !origin.ends_with(after)) return {};
  const auto at = origin.size() - tail;
  const auto place = origin.substr(at, place_size);
  if (place != "/events/" && place != "/queues/") return {};
  const auto text = origin.substr(at + place_size, id_size);
  const auto id = parse_uuid(text);
  return id && to_string(*id) == text ? origin.substr(0, at) : std::string_view{};
}

} // namespace

watched_logs::watched_logs(std::span<const std::string> keys) {
  for (const auto& text : keys) {
    const auto verifier = parse_note_verifier(text);
    if (!verifier || verifier->kind != note_key_kind::log)
      throw std::invalid_argument("not the verifier key of a log: " + text);
    known_.push_back(*verifier);
  }
}

std::optional<note_verifier> watched_logs::find(std::string_view origin) const {
  for (const auto& known : known_)
    if (known.name == origin) return known;
  const auto installation = installation_of(origin);
  if (installation.empty()) return std::nullopt;
  for (const auto& known : known_)
    if (installation_of(known.name) == installation)
      return note_verifier{std::string{origin}, known.kind, known.key};
  return std::nullopt;
}

witness_verdict judge(const add_checkpoint_request& request, const note_verifier* log,
                      const witnessed& latest) {
  const auto& seen = request.note.content;
  if (log == nullptr || log->name != seen.origin) return witness_verdict::unknown_log;
  if (!is_signed_by(request.note, *log)) return witness_verdict::not_signed;
  if (request.old_size > seen.size) return witness_verdict::shrinks;
  if (request.old_size != latest.size) return witness_verdict::other_size;
  if (seen.size == latest.size && seen.root != latest.root) return witness_verdict::other_root;
  if (!is_consistent(latest.size, latest.root, seen.size, seen.root, request.proof))
    return witness_verdict::inconsistent;
  return witness_verdict::cosign;
}

} // namespace fq
