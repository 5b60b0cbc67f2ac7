// SPDX-License-Identifier: Apache-2.0
// Builds metric families for prometheus-cpp from our own counters, at each scrape.
#pragma once
#include "actors/base/counts.hpp"

#include <prometheus/metric_family.h>

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fq::net {

using metric_labels = std::vector<std::pair<std::string_view, std::string>>;

/// One family under construction.
class metric_family {
public:
  explicit metric_family(prometheus::MetricFamily& family) : family_(family) {}

  metric_family& add(double value, const metric_labels& labels = {});
  /// Adds a counter's value.
  metric_family& add(const counter& value, const metric_labels& labels = {}) {
    return add(static_cast<double>(value.get()), labels);
  }
  metric_family& add(const gauge& value, const metric_labels& labels = {}) {
    return add(static_cast<double>(value.get()), labels);
  }
  template <const auto& Bounds>
  metric_family& add(const duration_counts<Bounds>& counts, const metric_labels& labels = {}) {
    return add_sum<Bounds>({&counts}, labels);
  }
  /// Adds several histograms as one.
  template <const auto& Bounds>
  metric_family& add_sum(const std::vector<const duration_counts<Bounds>*>& parts,
                         const metric_labels& labels) {
    std::vector<std::uint64_t> buckets(Bounds.size() + 1);
    double seconds = 0;
    for (const auto* part : parts) {
      for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] += part->in_bucket(i);
      seconds += part->seconds();
    }
    return add_histogram(Bounds, buckets, seconds, labels);
  }

private:
  metric_family& add_histogram(std::span<const double> bounds, std::span<const std::uint64_t> buckets,
                               double sum, const metric_labels& labels);

  prometheus::MetricFamily& family_;
};

class metric_page {
public:
  metric_family counter(std::string_view name, std::string_view help) {
    return begin(name, help, prometheus::MetricType::Counter);
  }
  metric_family gauge(std::string_view name, std::string_view help) {
    return begin(name, help, prometheus::MetricType::Gauge);
  }
  metric_family histogram(std::string_view name, std::string_view help) {
    return begin(name, help, prometheus::MetricType::Histogram);
  }
  /// In the order of their creation.
  [[nodiscard]] std::vector<prometheus::MetricFamily> take();

private:
  metric_family begin(std::string_view name, std::string_view help, prometheus::MetricType type);
  std::deque<prometheus::MetricFamily> families_; // a deque: references stay valid while families are added
};

} // namespace fq::net
