// SPDX-License-Identifier: Apache-2.0
#include "net/http/query.hpp"

#include "net/http/problem.hpp"

#include <algorithm>

namespace fq::net {

query_parameters query_parameters::read(const request& rq, std::initializer_list<std::string_view> known,
                                        std::optional<response>& no) {
  query_parameters result;
  for (auto rest = rq.query; !rest.empty();) {
    const auto end = std::min(rest.find('&'), rest.size());
    const auto part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty()) continue;
    const auto equals = std::min(part.find('='), part.size());
    const auto name = part.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      no = problem(fault::unknown_parameter, rq.request_id);
      return {};
    }
    if (result.find(name)) {
      no = problem(fault::invalid_parameter, rq.request_id, "A parameter is given twice.");
      return {};
    }
    result.pairs_.emplace_back(name, part.substr(std::min(equals + 1, part.size())));
  }
  return result;
}

std::optional<std::string_view> query_parameters::find(std::string_view name) const {
  for (const auto& [n, value] : pairs_)
    if (n == name) return value;
  return std::nullopt;
}

bool read_flag(const request& rq, const query_parameters& query, std::string_view name,
               std::optional<response>& no) {
  const auto value = query.find(name);
  if (!no && value && *value != "true" && *value != "false")
    no = problem(fault::invalid_parameter, rq.request_id, std::string{name} + " must be true or false.");
  return value == "true";
}

std::optional<response> expect_no_query(const request& rq) {
  std::optional<response> no;
  if (!rq.query.empty()) [[unlikely]]
    (void)query_parameters::read(rq, {}, no);
  return no;
}

std::optional<std::uint32_t> parse_limit(std::string_view text) {
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text)
    value = std::min(value * 10 + static_cast<std::uint32_t>(c - '0'), list_limit_max);
  return value ? std::optional{value} : std::nullopt;
}

std::optional<response> read_limit(const request& rq, const query_parameters& query, std::uint32_t& limit) {
  const auto text = query.find("limit");
  const auto count = text ? parse_limit(*text) : std::optional{list_limit_default};
  if (!count) return problem(fault::invalid_parameter, rq.request_id, "limit must be a positive number.");
  limit = *count;
  return std::nullopt;
}

std::optional<response> read_page(const request& rq, const query_parameters& query, page_wish& wish) {
  if (auto no = read_limit(rq, query, wish.limit)) return no;
  const auto cursor = query.find("cursor");
  const auto before = cursor ? parse_uuid(*cursor) : std::optional{uuid{}};
  if (!before) return problem(fault::invalid_cursor, rq.request_id);
  wish.before = *before;
  return std::nullopt;
}

std::optional<response> read_page(const request& rq, page_wish& wish) {
  std::optional<response> no;
  const auto query = query_parameters::read(rq, {"limit", "cursor"}, no);
  return no ? std::move(no) : read_page(rq, query, wish);
}

} // namespace fq::net
