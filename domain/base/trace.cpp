// SPDX-License-Identifier: Apache-2.0
#include "domain/base/trace.hpp"

#include "domain/base/hex.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {

/// Lower case only, as the specification requires.
std::optional<std::uint64_t> parse_hex(std::string_view text) {
  if (std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'F'; })) return std::nullopt;
  return read_hex(text.data(), static_cast<int>(text.size()));
}

} // namespace

std::optional<trace_context> parse_traceparent(std::string_view text) {
  constexpr std::size_t length = 55;
  if (text.size() < length || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  const auto version = parse_hex(text.substr(0, 2)), hi = parse_hex(text.substr(3, 16)),
             lo = parse_hex(text.substr(19, 16)), span = parse_hex(text.substr(36, 16)),
             flags = parse_hex(text.substr(53, 2));
  if (!version || !hi || !lo || !span || !flags) return std::nullopt;
  const bool is_known = *version == 0 ? text.size() == length
                                      : *version != 0xff && (text.size() == length || text[length] == '-');
  if (!is_known || (*hi == 0 && *lo == 0) || *span == 0) return std::nullopt;
  return trace_context{{*hi, *lo}, *span, (*flags & 1) != 0};
}

std::string traceparent_of(const trace_context& context) {
  if (!context) return {};
  std::string out = "00-" + trace_id_text(context.trace) + '-' + span_id_text(context.span);
  out += context.is_sampled ? "-01" : "-00";
  return out;
}

std::string trace_id_text(uuid trace) { return hex_text(trace.hi) + hex_text(trace.lo); }

std::string span_id_text(std::uint64_t span) { return hex_text(span); }

open_span::open_span(span_sink* sink, environment& env, const trace_context& parent, span_kind kind,
                     std::string_view name) {
  span_.context = parent;
  if (sink == nullptr || !parent || !parent.is_sampled) return;
  sink_ = sink;
  env_ = &env;
  began_ = env.steady_now();
  span_.context.span = std::max<std::uint64_t>(env.random_u64(), 1);
  span_.parent = parent.span;
  span_.kind = kind;
  span_.name = name;
  span_.began = env.wall_now();
}

void open_span::end(bool has_failed, int http_status) {
  if (sink_ == nullptr) return;
  span_.lasted = env_->steady_now() - began_;
  span_.has_failed = has_failed;
  span_.http_status = http_status;
  std::exchange(sink_, nullptr)->take(std::move(span_));
}

} // namespace fq
