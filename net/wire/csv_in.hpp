// SPDX-License-Identifier: Apache-2.0
// Strict CSV input: RFC 4180 in valid UTF-8, with or without a byte order mark, with CRLF or LF. Every cell
// and record is bounded. (Debian's libcsv is a parser without these bounds, unchanged since 2013; libfccp-dev
// has no quotes across lines.)
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

class csv_reader {
public:
  /// `text` must outlive the reader.
  explicit csv_reader(std::string_view text);

  /// Reads the next record that is not an empty line. False at the end of the text or if it is wrong.
  bool next(std::vector<std::string>& cells);
  /// Where the last record begins, or what is wrong.
  [[nodiscard]] std::uint32_t line() const { return line_; }
  /// What is wrong; empty: nothing.
  [[nodiscard]] const std::string& problem() const { return problem_; }

private:
  bool read_cell(std::string& cell);
  bool read_quoted(std::string& cell);
  bool fail(std::string_view what);
  /// Steps over a line end; false if there is none.
  bool skip_line_end();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 0;
  std::uint32_t next_line_ = 1;
  std::string problem_;
};

} // namespace fq::net
