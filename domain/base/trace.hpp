// SPDX-License-Identifier: Apache-2.0
// W3C trace context (https://www.w3.org/TR/trace-context-1/, version 00) and spans: which request caused
// which work, across actors, nodes and gateways. Nobody decides by it, and nothing waits for it.
#pragma once
#include "domain/base/environment.hpp"
#include "domain/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// A position in a trace. Nil: there is none.
struct trace_context {
  uuid trace = {}; ///< the trace id's 16 bytes
  std::uint64_t span = 0; ///< what is done from here on is a child of this span
  bool is_sampled = false; ///< whether somebody keeps the spans
  std::string state = {}; ///< `tracestate` of other vendors, passed on unread; at most tracestate_max bytes
  explicit operator bool() const { return !trace.is_nil(); }
  friend bool operator==(const trace_context&, const trace_context&) = default;
};

/// What a vendor must be able to pass on (§3.3.1.5); a longer `tracestate` is dropped whole, as the text
/// allows.
inline constexpr std::size_t tracestate_max = 512;

/// Nothing for what is malformed: then the request begins a trace of its own. Later versions are read as far
/// as version 00 goes.
[[nodiscard]] std::optional<trace_context> parse_traceparent(std::string_view text);
/// 55 characters; empty for nil.
[[nodiscard]] std::string traceparent_of(const trace_context& context);
[[nodiscard]] std::string trace_id_text(uuid trace); ///< 32 lower-case hexadecimal digits
[[nodiscard]] std::string span_id_text(std::uint64_t span); ///< 16 of them

enum class span_kind : std::uint8_t { internal = 1, server = 2, client = 3 }; ///< numbers of OTLP's SpanKind

/// A piece of work that has ended.
struct span {
  trace_context context; ///< its own id
  std::uint64_t parent = 0; ///< 0: it is the root
  span_kind kind = span_kind::internal;
  std::string name; ///< of few different values: a route, a message, a call; never an id
  timestamp began; ///< wall clock
  milliseconds lasted{0};
  int http_status = 0; ///< 0: it is no HTTP exchange, or was not answered
  bool has_failed = false;
};

/// Since the start; every span ends in one of these.
struct span_counts {
  std::uint64_t exported = 0; ///< the collector said that it has them
  std::uint64_t dropped =
    0; ///< too many at once, or the collector did not take them; they are not sent again
};

/// Takes spans away. Any thread; never blocks, and drops what it cannot hold.
class span_sink {
public:
  virtual ~span_sink() = default;
  virtual void take(span done) = 0;
  [[nodiscard]] virtual span_counts count() const = 0;
};

/// A span that has begun: of one thread at a time, ended once. Cheap if there is no trace or nobody who keeps
/// it.
class open_span {
public:
  open_span() = default;
  /// A child of `parent`; `sink` null: ids only.
  open_span(span_sink* sink, environment& env, const trace_context& parent, span_kind kind,
            std::string_view name);
  /// What work done within it is a child of: itself, or its parent if nobody keeps it.
  [[nodiscard]] const trace_context& context() const { return span_.context; }
  [[nodiscard]] bool is_kept() const { return sink_ != nullptr; }
  void name(std::string_view text) { span_.name = text; }
  void end(bool has_failed, int http_status = 0);

private:
  span_sink* sink_ = nullptr; ///< null: not kept
  environment* env_ = nullptr;
  milliseconds began_{0}; ///< steady time
  span span_;
};

} // namespace fq
