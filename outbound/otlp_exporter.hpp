// SPDX-License-Identifier: Apache-2.0
// Exports spans to a collector: OTLP 1.x over HTTP with JSON
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp), in batches, on its own thread. If the collector is
// slow or unavailable, spans are dropped; requests never wait.
#pragma once
#include "domain/base/trace.hpp"
#include "outbound/http_client.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace fq {

/// The body of one export. `node`: service.instance.id, omitted if empty.
[[nodiscard]] std::string otlp_json(const std::vector<span>& spans, const std::string& service,
                                    const std::string& node);

class otlp_exporter final : public span_sink {
public:
  struct settings {
    std::string url; ///< the collector's traces URL, for example http://127.0.0.1:4318/v1/traces
    std::string authorization; ///< value of the Authorization header; empty: none
    std::string service = "fairqueue";
    std::string node; ///< service.instance.id; empty: omitted
    milliseconds interval{1'000}; ///< between exports
    milliseconds timeout{5'000}; ///< of one export
    std::size_t waiting_max = 8'192; ///< spans in the queue; further spans are dropped
    std::string ca_file; ///< see http_client::settings
  };
  otlp_exporter(settings options, environment& env);
  /// Waits for the current export, exports the queued spans once, then ends: within `timeout` in total.
  ~otlp_exporter() override;
  otlp_exporter(const otlp_exporter&) = delete;
  otlp_exporter& operator=(const otlp_exporter&) = delete;

  void take(span done) override;
  [[nodiscard]] span_counts count() const override { return {exported_.load(), dropped_.load()}; }

private:
  void run();
  void send(std::vector<span> batch);
  /// Deadline of the shutdown; nothing: it has not started.
  [[nodiscard]] std::optional<milliseconds> end();

  settings settings_;
  environment& env_;
  http_client http_;
  std::atomic<std::uint64_t> exported_{0}, dropped_{0};
  std::mutex mutex_;
  std::condition_variable stopped_;
  std::vector<span> waiting_; ///< guarded by mutex_
  /// guarded by mutex_; set: shutdown deadline
  std::optional<milliseconds> stops_by_;
  std::thread thread_; // last: it uses the members above
};

} // namespace fq
