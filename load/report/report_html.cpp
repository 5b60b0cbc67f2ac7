// SPDX-License-Identifier: Apache-2.0
// The HTML report: one self-contained page with plots drawn as inline SVG. Pure functions of the result.
#include "load/report/limits.hpp"
#include "load/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace fq::load {

namespace {

constexpr double plot_width = 640;
constexpr double plot_height = 240;
constexpr double margin_left = 64;
constexpr double margin_right = 12;
constexpr double margin_top = 10;
constexpr double margin_bottom = 34;
constexpr std::size_t time_bins = 80;
constexpr std::size_t decay_lines = 14;

using points = std::vector<std::pair<double, double>>;

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string decimal(double value, int digits = 1) {
  char buffer[64];
  const int size = std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return std::string(buffer, static_cast<std::size_t>(size));
}

std::string tick_text(double value) {
  if (value >= 1e6) return decimal(value / 1e6) + "M";
  if (value >= 10'000) return decimal(value / 1e3, 0) + "k";
  return decimal(value, value < 10 && value != std::floor(value) ? 1 : 0);
}

// 1, 2 or 5 times a power of ten, so that about five ticks fit.
double tick_step(double range) {
  const double rough = std::max(range, 1e-9) / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

// A plot area with axes; y may be logarithmic (base 10, from y_low).
class plot {
public:
  plot(double x_high, double y_low, double y_high, bool log_y, std::string x_title, std::string y_title) :
      x_high_(std::max(x_high, 1e-9)), y_low_(y_low), y_high_(std::max(y_high, y_low + 1e-9)), log_y_(log_y) {
    body_ = "<svg viewBox=\"0 0 " + decimal(plot_width, 0) + " " + decimal(plot_height, 0)
            + "\" role=\"img\" aria-label=\"" + escape(y_title) + "\">";
    draw_y_axis();
    text(plot_width - margin_right, plot_height - 4, x_title, "end");
    text(4, margin_top + 4, y_title, "start");
  }

  [[nodiscard]] double x(double value) const {
    return margin_left + (plot_width - margin_left - margin_right) * value / x_high_;
  }
  [[nodiscard]] double y(double value) const {
    const double share = log_y_ ? std::log10(std::max(value, y_low_) / y_low_) / std::log10(y_high_ / y_low_)
                                : (value - y_low_) / (y_high_ - y_low_);
    const double height = plot_height - margin_top - margin_bottom;
    return plot_height - margin_bottom - height * std::clamp(share, 0.0, 1.0);
  }

  void time_axis() {
    const double step = tick_step(x_high_);
    for (double at = 0; at <= x_high_ * 1.0001; at += step)
      text(x(at), plot_height - margin_bottom + 14, tick_text(at), "middle");
  }

  void line(const points& data, const std::string& colour, double width = 1.6) {
    body_ +=
      "<polyline fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"" + decimal(width) + "\" points=\"";
    for (const auto& [px, py] : data) body_ += decimal(x(px)) + "," + decimal(y(py)) + " ";
    body_ += "\"/>";
  }

  void bar(double from, double to, double low, double high, const std::string& colour) {
    body_ += "<rect x=\"" + decimal(x(from)) + "\" y=\"" + decimal(y(high)) + "\" width=\""
             + decimal(std::max(x(to) - x(from) - 0.5, 0.5)) + "\" height=\""
             + decimal(std::max(y(low) - y(high), 0.5)) + "\" fill=\"" + colour + "\"/>";
  }

  void text(double px, double py, const std::string& what, const char* anchor) {
    body_ += "<text x=\"" + decimal(px) + "\" y=\"" + decimal(py) + "\" text-anchor=\"" + anchor + "\">"
             + escape(what) + "</text>";
  }

  [[nodiscard]] std::string done() const { return body_ + "</svg>"; }

private:
  void draw_y_axis() {
    if (log_y_) {
      for (double at = y_low_; at <= y_high_ * 1.0001; at *= 10) grid(at);
      return;
    }
    const double step = tick_step(y_high_ - y_low_);
    for (double at = y_low_; at <= y_high_ * 1.0001; at += step) grid(at);
  }

  void grid(double at) {
    body_ += "<line class=\"grid\" x1=\"" + decimal(margin_left) + "\" x2=\""
             + decimal(plot_width - margin_right) + "\" y1=\"" + decimal(y(at)) + "\" y2=\"" + decimal(y(at))
             + "\"/>";
    text(margin_left - 6, y(at) + 4, tick_text(at), "end");
  }

  double x_high_;
  double y_low_;
  double y_high_;
  bool log_y_;
  std::string body_;
};

// Events per second as bars, one per time slice.
std::string rate_plot(const std::vector<double>& times_s, double span_s, const std::string& title,
                      const std::string& colour) {
  const double slice = std::max(span_s, 0.001) / time_bins;
  std::vector<double> counts(time_bins, 0);
  for (const double at : times_s)
    ++counts[std::min<std::size_t>(time_bins - 1, static_cast<std::size_t>(std::max(at, 0.0) / slice))];
  for (auto& count : counts) count /= slice;
  plot out(span_s, 0, *std::max_element(counts.begin(), counts.end()), false, "seconds", title);
  out.time_axis();
  for (std::size_t i = 0; i < time_bins; ++i)
    if (counts[i] > 0)
      out.bar(static_cast<double>(i) * slice, static_cast<double>(i + 1) * slice, 0, counts[i], colour);
  return out.done();
}

points cumulative(std::vector<double> times_s, double span_s) {
  std::sort(times_s.begin(), times_s.end());
  points out{{0, 0}};
  const std::size_t stride = std::max<std::size_t>(1, times_s.size() / 300);
  for (std::size_t i = 0; i < times_s.size(); ++i)
    if ((i + 1) % stride == 0 || i + 1 == times_s.size())
      out.emplace_back(times_s[i], static_cast<double>(i + 1));
  out.emplace_back(span_s, static_cast<double>(times_s.size()));
  return out;
}

struct moments {
  std::vector<double> joined;
  std::vector<double> admitted;
  std::vector<double> bought;
  double last = 0;
};

moments moments_of(const sale_history& history) {
  moments out;
  auto note = [&out](std::vector<double>& where, run_time_us at_us) {
    where.push_back(static_cast<double>(at_us) / 1e6);
    out.last = std::max(out.last, where.back());
  };
  for (const auto& fan : history.fans) {
    if (fan.joined_us >= 0) note(out.joined, fan.joined_us);
    for (const auto& observation : fan.places)
      if (observation.kind == place_kind::admitted) {
        note(out.admitted, observation.at_us);
        break;
      }
    for (const auto& observation : fan.claims)
      if (observation.status == claim_status::confirmed) {
        note(out.bought, observation.at_us);
        break;
      }
    for (const auto& observation : fan.orders)
      if (observation.status == order_status::success) {
        note(out.bought, observation.at_us);
        break;
      }
  }
  return out;
}

std::string totals_plot(const moments& seen, double span_s) {
  const auto most = std::max({seen.joined.size(), seen.admitted.size(), seen.bought.size(), std::size_t{1}});
  plot out(span_s, 0, static_cast<double>(most), false, "seconds", "fans");
  out.time_axis();
  out.line(cumulative(seen.joined, span_s), "#2b6cb0", 2);
  out.line(cumulative(seen.admitted, span_s), "#dd6b20", 2);
  out.line(cumulative(seen.bought, span_s), "#2f855a", 2);
  return out.done();
}

std::string latency_plot(const metrics& steps) {
  std::vector<step> used;
  double highest = 10;
  for (std::size_t i = 0; i < step_count; ++i) {
    const auto which = static_cast<step>(i);
    if (steps.of(which).count() == 0) continue;
    used.push_back(which);
    highest = std::max(highest, steps.of(which).spread().max_ms);
  }
  plot out(static_cast<double>(std::max<std::size_t>(used.size(), 1)), 0.1,
           std::pow(10.0, std::ceil(std::log10(highest))), true, "", "ms (log)");
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto spread = steps.of(used[i]).spread();
    const auto at = static_cast<double>(i);
    out.bar(at + 0.44, at + 0.56, 0.1, spread.max_ms, "#cbd5e0");
    out.bar(at + 0.36, at + 0.64, 0.1, spread.p99_ms, "#f6ad55");
    out.bar(at + 0.28, at + 0.72, 0.1, spread.p95_ms, "#63b3ed");
    out.bar(at + 0.20, at + 0.80, 0.1, spread.p50_ms, "#2b6cb0");
    out.text(out.x(at + 0.5), plot_height - margin_bottom + 14, std::string(name_of(used[i])), "middle");
  }
  return out.done();
}

// Answers to POST /checkout; refusals in red.
std::string checkouts_plot(const crowd_result& result) {
  double most = 1;
  for (const auto& [answer, count] : result.checkouts) most = std::max(most, static_cast<double>(count));
  plot out(static_cast<double>(result.checkouts.size()), 0, most, false, "", "checkouts");
  double at = 0;
  for (const auto& [answer, count] : result.checkouts) {
    const bool placed = answer == "processing" || answer == "ready";
    out.bar(at + 0.25, at + 0.75, 0, static_cast<double>(count), placed ? "#2f855a" : "#c05621");
    out.text(out.x(at + 0.5), plot_height - margin_bottom + 14, answer + " " + std::to_string(count),
             "middle");
    ++at;
  }
  return out.done();
}

points decay_of(const fan_history& fan) {
  points out;
  for (const auto& observation : fan.places)
    if (observation.kind == place_kind::waiting && observation.position > 0)
      out.emplace_back(static_cast<double>(observation.at_us) / 1e6, observation.position);
    else if (observation.kind == place_kind::admitted && !out.empty())
      out.emplace_back(static_cast<double>(observation.at_us) / 1e6, 0);
  const std::size_t stride = 1 + out.size() / decay_points_max;
  points thinned;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (i % stride == 0 || i + 1 == out.size()) thinned.push_back(out[i]);
  return thinned;
}

// Positions of some fans, evenly spread over the line.
std::string decay_plot(const sale_history& history, double span_s) {
  std::vector<std::pair<std::uint64_t, std::size_t>> line;
  for (std::size_t i = 0; i < history.fans.size(); ++i)
    if (!history.fans[i].places.empty()) line.emplace_back(history.fans[i].places.front().number, i);
  std::sort(line.begin(), line.end());
  std::vector<points> chosen;
  double deepest = 1;
  for (std::size_t i = 1; i <= decay_lines && !line.empty(); ++i) {
    chosen.push_back(decay_of(history.fans[line[(line.size() - 1) * i / decay_lines].second]));
    for (const auto& [at, position] : chosen.back()) deepest = std::max(deepest, position);
  }
  plot out(span_s, 0, deepest, false, "seconds", "position");
  out.time_axis();
  for (std::size_t i = 0; i < chosen.size(); ++i)
    out.line(chosen[i], "hsl(" + std::to_string(200 + 10 * i) + ",60%,45%)", 1.4);
  return out.done();
}

std::string page(const std::string& title, const std::string& body) {
  return "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>" + escape(title)
         + "</title><style>body{font:15px/1.45 system-ui,sans-serif;max-width:1360px;margin:2em auto;"
           "padding:0 1em;color:#1a202c;background:#fff}h1{font-size:1.5em}"
           "h2{font-size:1.05em;margin:0 0 .4em}"
           ".grid2{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:1.2em}"
           "figure{margin:0;border:1px solid #e2e8f0;border-radius:8px;padding:.8em}"
           "svg{width:100%;height:auto}"
           "svg text{font:11px system-ui,sans-serif;fill:#4a5568}.grid{stroke:#e2e8f0}"
           "pre{background:#f7fafc;border:1px solid #e2e8f0;border-radius:8px;padding:1em;overflow-x:auto}"
           ".verdict{display:inline-block;padding:.25em .8em;border-radius:6px;color:#fff;background:#2f855a}"
           ".bad{background:#c53030}.open{background:#b7791f}"
           ".a{color:#2b6cb0}.b{color:#dd6b20}.c{color:#2f855a}"
           "</style><h1>"
         + escape(title) + "</h1>" + body + "</html>\n";
}

std::string verdict_badge(int exit_code) {
  switch (exit_code) {
    case 0: return "<p><span class=\"verdict\">all checks hold</span></p>";
    case 1: return "<p><span class=\"verdict bad\">an invariant broke</span></p>";
    default: return "<p><span class=\"verdict open\">not decided in time</span></p>";
  }
}

std::string figure(const std::string& title, const std::string& svg) {
  return "<figure><h2>" + title + "</h2>" + svg + "</figure>";
}

} // namespace

std::string html_of(const load_options& options, const crowd_result& result, const judgement& judged) {
  const auto seen = moments_of(result.history);
  const double span_s = std::max(seen.last * 1.02, 0.1);
  std::string body = verdict_badge(exit_code_of(result, judged));
  body += "<div class=\"grid2\">";
  body += figure("<span class=a>joined</span>, <span class=b>admitted</span>, <span class=c>bought</span>",
                 totals_plot(seen, span_s));
  body += figure("Latency by step: p50, p95, p99, max", latency_plot(result.steps));
  body += figure("Joins over time", rate_plot(seen.joined, span_s, "joins/s", "#2b6cb0"));
  body += figure("Admissions over time", rate_plot(seen.admitted, span_s, "admissions/s", "#dd6b20"));
  body += figure("Position decay of " + std::to_string(decay_lines) + " fans along the line",
                 decay_plot(result.history, span_s));
  if (!result.checkouts.empty()) body += figure("Checkouts by answer", checkouts_plot(result));
  body += "</div><pre>" + escape(table_of(options, result, judged)) + "</pre>";
  return page("fairqueue-load: " + result.history.terms.name, body);
}

std::string html_of(const load_options& options, const join_bench_result& result) {
  return page("fairqueue-load: joins",
              verdict_badge(exit_code_of(result)) + "<pre>" + escape(table_of(options, result)) + "</pre>");
}

} // namespace fq::load
