// SPDX-License-Identifier: Apache-2.0
// Sends spans to a collector: OTLP 1.x over HTTP with JSON
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp), in batches, on a thread of its own. A collector that
// is away or slow costs spans, never a request.
#pragma once
#include "domain/base/trace.hpp"
#include "outbound/http_client.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fq {

/// The body of one export. `node`: service.instance.id, if it is not empty.
[[nodiscard]] std::string otlp_json(const std::vector<span>& spans, const std::string& service,
                                    const std::string& node);

class otlp_exporter final : public span_sink {
public:
  struct settings {
    std::string url; ///< of the collector's traces, for example http://127.0.0.1:4318/v1/traces
    std::string authorization; ///< sent as Authorization; empty: none
    std::string service = "fairqueue";
    std::string node; ///< service.instance.id; empty: not said
    milliseconds interval{1'000}; ///< between exports
    milliseconds timeout{5'000}; ///< of one
    std::size_t waiting_max = 8'192; ///< spans held; one more is dropped
    std::string ca_file; ///< as http_client's
  };
  otlp_exporter(settings options, environment& env);
  /// Waits for the export under way, sends what is held, once, then ends: takes at most `timeout` for both
  /// together.
  ~otlp_exporter() override;
  otlp_exporter(const otlp_exporter&) = delete;
  otlp_exporter& operator=(const otlp_exporter&) = delete;

  void take(span done) override;
  [[nodiscard]] span_counts count() const override { return {exported_.load(), dropped_.load()}; }

private:
  void run();
  void send(std::vector<span> batch);
  /// Until when the end may take; nothing: it has not begun.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> end();

  settings settings_;
  http_client http_;
  std::atomic<std::uint64_t> exported_{0}, dropped_{0};
  std::mutex mutex_;
  std::condition_variable stopped_;
  std::vector<span> waiting_; ///< guarded
  std::optional<std::chrono::steady_clock::time_point> stops_by_; ///< guarded; set: it ends
  std::thread thread_; // last: it uses the members above
};

} // namespace fq
