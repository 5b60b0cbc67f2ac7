// SPDX-License-Identifier: Apache-2.0
// One page of a log of deliveries: which log is read, which of its rows match, and how many rows are read
// for it. Pure: notice_routes reads the rows.
#pragma once
#include "net/wire/limits.hpp"
#include "store/port/notice_store.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fq::net {

/// A query. A holder or a tenant must be set.
struct delivery_query {
  std::optional<tenant_id> tenant{}; ///< none: any
  uuid target = {}; ///< nil: any
  uuid holder = {}; ///< nil: any
  std::optional<channel> way{};
  std::optional<delivery_state> state{};
  uuid before = {}; ///< cursor: older notices only; nil: from the newest
  uuid before_target = {}; ///< cursor: of that notice, only targets below this
  std::uint32_t limit = 50; ///< 1 to list_limit_max
};

/// Fills a page from pieces of the log. It ends when it is full, at the end of the log, or at
/// rows_looked_at_max. In the last case it may be short or even empty and still has a cursor.
class delivery_page {
public:
  explicit delivery_page(delivery_query query) : query_(std::move(query)) {}

  /// The next piece to read; none: the page is complete.
  [[nodiscard]] std::optional<delivery_filter> next() const;
  /// Adds that piece, of which `asked` rows were requested: fewer rows mean the end of the log.
  void look_at(std::vector<delivery_row> rows, std::size_t asked);

  [[nodiscard]] const std::vector<delivery_row>& rows() const { return rows_; }
  /// Start of the next page: "<notice>.<target>" of the last row that this page covers. Empty: end of the
  /// log.
  [[nodiscard]] const std::string& cursor() const { return cursor_; }

private:
  [[nodiscard]] bool is_wanted(const delivery_row& row) const;
  void end_behind(const delivery_row& row);

  delivery_query query_;
  std::vector<delivery_row> rows_;
  std::size_t looked_at_ = 0;
  bool is_done_ = false;
  std::string cursor_;
};

/// Reads a page's cursor into the query; returns false if it is malformed.
[[nodiscard]] bool read_log_cursor(std::string_view text, delivery_query& query);

} // namespace fq::net
