// SPDX-License-Identifier: Apache-2.0
#include "net/service/metric_page.hpp"

#include <iterator>

namespace fq::net {
namespace {

prometheus::ClientMetric with_labels(const metric_labels& labels) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : labels) metric.label.push_back({std::string{name}, value});
  return metric;
}

} // namespace

metric_family& metric_family::add(double value, const metric_labels& labels) {
  auto metric = with_labels(labels);
  (family_.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  family_.metric.push_back(std::move(metric));
  return *this;
}

metric_family& metric_family::add_histogram(std::span<const double> bounds,
                                            std::span<const std::uint64_t> buckets, double sum,
                                            const metric_labels& labels) {
  auto metric = with_labels(labels);
  auto& histogram = metric.histogram;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    histogram.sample_count += buckets[i];
    histogram.bucket.push_back({histogram.sample_count, bounds[i]});
  }
  histogram.sample_count += buckets.back();
  histogram.sample_sum = sum;
  family_.metric.push_back(std::move(metric));
  return *this;
}

metric_family metric_page::begin(std::string_view name, std::string_view help, prometheus::MetricType type) {
  auto& family = families_.emplace_back();
  family.name = name;
  family.help = help;
  family.type = type;
  return metric_family{family};
}

std::vector<prometheus::MetricFamily> metric_page::take() {
  return {std::make_move_iterator(families_.begin()), std::make_move_iterator(families_.end())};
}

} // namespace fq::net
