// SPDX-License-Identifier: Apache-2.0
// A report as a PDF: facts, charts of lines over time and tables, on as many A4 pages as they need, in a
// language that is written from left to right. The words come from the caller.
#pragma once
#include "domain/base/time.hpp"

#include <string>
#include <vector>

namespace fq::print {

struct report_fact {
  std::string label, value;
};

/// Values of one line, at the chart's times.
struct report_line {
  std::string name;
  std::vector<double> values;
};

struct report_chart {
  std::string title;
  std::vector<double> times; ///< ascending
  std::vector<report_line> lines; ///< at most chart_lines_max
  std::string begin, end; ///< of the axis of time
  std::string highest; ///< the greatest value of all lines
};

/// The first column is wide, the others have numbers or short texts.
struct report_table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows; ///< at most table_rows_max are printed
  std::string note; ///< below; may be empty
};

/// All texts may be of strangers: clean_text comes before print.
struct report_document {
  std::string title, subtitle;
  timestamp created_at;
  std::vector<report_fact> facts; ///< in two columns
  std::vector<report_chart> charts;
  std::vector<report_table> tables;
};

/// Throws std::runtime_error without memory.
[[nodiscard]] std::string report_pdf(const report_document& document);

} // namespace fq::print
