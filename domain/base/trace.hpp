// SPDX-License-Identifier: Apache-2.0
// W3C trace context (https://www.w3.org/TR/trace-context-1/, version 00) and spans: which request caused
// which work, across actors, nodes and gateways. No decision depends on traces, and no work waits for them.
#pragma once
#include "domain/base/environment.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// A position in a trace. Nil: no trace.
struct trace_context {
  uuid trace = {}; ///< the trace id's 16 bytes
  std::uint64_t span = 0; ///< parent of the spans that start from here on
  bool is_sampled = false; ///< whether the spans are recorded
  std::string state = {}; ///< `tracestate` of other vendors, forwarded unread; at most tracestate_max bytes
  explicit operator bool() const { return !trace.is_nil(); }
  friend bool operator==(const trace_context&, const trace_context&) = default;
};

/// Empty for malformed text: the request then starts a new trace. Later versions are parsed as version 00.
[[nodiscard]] std::optional<trace_context> parse_traceparent(std::string_view text);
/// 55 characters; empty for nil.
[[nodiscard]] std::string traceparent_of(const trace_context& context);
[[nodiscard]] std::string trace_id_text(uuid trace); ///< 32 lower-case hexadecimal digits
[[nodiscard]] std::string span_id_text(std::uint64_t span); ///< 16 lower-case hexadecimal digits

enum class span_kind : std::uint8_t { internal = 1, server = 2, client = 3 }; ///< numbers of OTLP's SpanKind

/// A finished piece of work.
struct span {
  trace_context context; ///< its own id
  std::uint64_t parent = 0; ///< 0: root span
  span_kind kind = span_kind::internal;
  std::string name; ///< low cardinality: a route, a message, a call; never an id
  timestamp began; ///< wall clock
  milliseconds lasted{0};
  int http_status = 0; ///< 0: not an HTTP exchange, or no answer
  bool has_failed = false;
};

/// Totals since the start; every span ends in one of these counters.
struct span_counts {
  std::uint64_t exported = 0; ///< accepted by the collector
  std::uint64_t dropped = 0; ///< too many at once, or not accepted by the collector; not sent again
};

/// Exports spans. Callable from any thread; never blocks, drops spans that do not fit.
class span_sink {
public:
  virtual ~span_sink() = default;
  virtual void take(span done) = 0;
  [[nodiscard]] virtual span_counts count() const = 0;
};

/// A span that has started. Used by one thread at a time, ended once. Cheap without a trace or a sink.
class open_span {
public:
  open_span() = default;
  /// A child of `parent`; `sink` null: ids only.
  open_span(span_sink* sink, environment& env, const trace_context& parent, span_kind kind,
            std::string_view name);
  /// Parent for work inside this span: the span itself, or its parent if it is not recorded.
  [[nodiscard]] const trace_context& context() const { return span_.context; }
  [[nodiscard]] bool is_kept() const { return sink_ != nullptr; }
  void name(std::string_view text) { span_.name = text; }
  void end(bool has_failed, int http_status = 0);

private:
  span_sink* sink_ = nullptr; ///< null: not recorded
  environment* env_ = nullptr;
  milliseconds began_{0}; ///< steady time
  span span_;
};

} // namespace fq
