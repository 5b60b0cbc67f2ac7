// SPDX-License-Identifier: Apache-2.0
// Parses a request's query: known names, each at most once, values as sent (no parameter needs
// percent-encoding). Called by routes.
#pragma once
#include "net/http/http.hpp"
#include "net/http/limits.hpp"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace fq::net {

class query_parameters {
public:
  /// Sets `no` to the problem to answer with if a name is unknown or repeated.
  [[nodiscard]] static query_parameters read(const request& rq, std::initializer_list<std::string_view> known,
                                             std::optional<response>& no);

  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

private:
  std::vector<std::pair<std::string_view, std::string_view>> pairs_;
};

/// Whether ?name=true. Sets `no` to the problem to answer with unless it is true, false or absent.
[[nodiscard]] bool read_flag(const request& rq, const query_parameters& query, std::string_view name,
                             std::optional<response>& no);

/// For routes without parameters.
[[nodiscard]] std::optional<response> expect_no_query(const request& rq);

/// ?limit= and ?cursor= of lists from newest to oldest row: the cursor is the id of a page's last row. Ids
/// are no secrets; access to the rows is checked separately.
struct page_wish {
  std::uint32_t limit = list_limit_default;
  uuid before; ///< nil: start with the newest
};
/// Returns the problem to answer with, or nothing.
[[nodiscard]] std::optional<response> read_limit(const request& rq, const query_parameters& query,
                                                 std::uint32_t& limit);
[[nodiscard]] std::optional<response> read_page(const request& rq, const query_parameters& query,
                                                page_wish& wish);
/// For routes without other parameters.
[[nodiscard]] std::optional<response> read_page(const request& rq, page_wish& wish);

/// ?limit=: a positive number, clamped to list_limit_max; nothing if invalid.
[[nodiscard]] std::optional<std::uint32_t> parse_limit(std::string_view text);

} // namespace fq::net
