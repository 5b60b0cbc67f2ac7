// SPDX-License-Identifier: Apache-2.0
// One page of a log of deliveries: whose log is read, which of its rows are wanted, and how many are looked
// at for it. Pure: notice_routes reads the rows.
#pragma once
#include "store/port/notice_store.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fq::net {

/// What is asked for. Somebody whose log it is must be named: a holder or a tenant.
struct delivery_query {
  std::optional<tenant_id> tenant{}; ///< none: any
  uuid target = {}; ///< nil: any
  uuid holder = {}; ///< nil: any
  std::optional<channel> way{};
  std::optional<delivery_state> state{};
  uuid before = {}; ///< cursor: older notices only; nil: from the newest
  uuid before_target = {}; ///< cursor: of that notice, targets below this
  std::uint32_t limit = 50; ///< 1 to list_limit_max
};

/// Rows of a log that one request looks at. State and channel have no index, which every delivery would pay
/// for; a log of a month may have a million rows, and on an embedded ledger they are read by who commits the
/// sales. A row is below 2 KB: 2 MB and some ten milliseconds a request.
inline constexpr std::size_t rows_looked_at_max = 1'000;
/// Of them in one piece, a millisecond: sales are committed between two pieces.
inline constexpr std::size_t rows_per_look = 100;

/// Fills the page from pieces of the log. It ends with so many rows as were asked for, with the log, or with
/// enough looked at: it may then be short, even empty, and yet have a cursor.
class delivery_page {
public:
  explicit delivery_page(delivery_query query) : query_(std::move(query)) {}

  /// The piece to be read next; none: the page is done.
  [[nodiscard]] std::optional<delivery_filter> next() const;
  /// That piece: `asked` rows of it were asked for, so fewer are the log's last.
  void look_at(std::vector<delivery_row> rows, std::size_t asked);

  [[nodiscard]] const std::vector<delivery_row>& rows() const { return rows_; }
  /// Where the next page begins: "<notice>.<target>" of the last row that this one is done with. Empty: the
  /// log has ended.
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

/// A cursor of a page into the query; false: it is none.
[[nodiscard]] bool read_log_cursor(std::string_view text, delivery_query& query);

} // namespace fq::net
