// SPDX-License-Identifier: Apache-2.0
#include "net/http/router.hpp"

#include <algorithm>
#include <stdexcept>

namespace fq::net {

namespace {
/// "{id}" or "{id}.pdf".
bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.find('}') != std::string_view::npos;
}
/// Behind a parameter: ".pdf", or nothing.
std::string_view ending_of(std::string_view parameter) { return parameter.substr(parameter.find('}') + 1); }

/// Equal for equal segments, and tells most others apart in one comparison: seven bytes and the length.
std::uint64_t mark_of(std::string_view segment) {
  std::uint64_t mark = segment.size();
  for (const char c : segment.substr(0, 7)) mark = mark << 8 | static_cast<unsigned char>(c);
  return mark;
}
} // namespace

bool router::split(std::string_view path, segments& out) {
  if (path.empty() || path.front() != '/') return false;
  path.remove_prefix(1);
  while (!path.empty()) {
    if (out.count == path_segments_max) return false;
    const auto slash = path.find('/');
    const auto segment = path.substr(0, slash);
    if (segment.empty() || slash + 1 == path.size())
      return false; // "//" and a trailing slash match no
                    // route
    out.text[out.count++] = segment;
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  }
  if (out.count != 0) out.last_mark = mark_of(out.text[out.count - 1]);
  return true;
}

/// The last segment first: it differs most.
bool router::fits(const row& pattern, const segments& path) {
  if (pattern.literal.last_mark != 0 && pattern.literal.last_mark != path.last_mark) return false;
  for (auto i = pattern.literal.count; i-- > 0;) {
    const auto wanted = pattern.literal.text[i];
    if (pattern.is_open(i) ? !path.text[i].ends_with(wanted) : path.text[i] != wanted) return false;
  }
  return true;
}

router::row router::row_of(const route& r) {
  row added{&r, {}};
  if (!split(r.pattern, added.literal))
    throw std::invalid_argument("malformed route " + std::string{r.pattern});
  std::size_t parameters = 0;
  for (std::size_t i = 0; i < added.literal.count; ++i) {
    auto& text = added.literal.text[i];
    if (!is_parameter(text)) continue;
    ++parameters;
    added.parameters |= 1U << i;
    if (i + 1 == added.literal.count) added.literal.last_mark = 0;
    text = ending_of(text);
    added.openness += text.empty() ? 2 : 1;
  }
  if (parameters > path_parameters{}.values.size())
    throw std::invalid_argument("too many parameters in route " + std::string{r.pattern});
  return added;
}

router::router(std::span<const route> routes) {
  for (const auto& r : routes) {
    const auto added = row_of(r);
    auto& rows = by_length_[added.literal.count];
    for (const auto& other : rows)
      if (other.target->verb == r.verb && other.target->pattern == r.pattern)
        throw std::invalid_argument("route given twice: " + std::string{r.pattern});
    rows.push_back(added);
  }
  for (auto& rows : by_length_) std::ranges::stable_sort(rows, {}, &row::openness);
}

template <class Take>
void router::each_match(const segments& path, Take take) const {
  const row* first = nullptr;
  for (const auto& candidate : by_length_[path.count]) {
    if (first && candidate.openness > first->openness) return; // "/a/b" wins before "/a/{x}"
    if (!fits(candidate, path)) continue;
    if (!first) first = &candidate;
    if (!take(candidate)) return;
  }
}

route_match router::match(method verb, std::string_view path) const {
  route_match result;
  segments parts;
  if (!split(path, parts)) return result;
  const auto wanted = verb == method::head ? method::get : verb;
  const row* best = nullptr;
  each_match(parts, [&](const row& candidate) {
    if (candidate.target->verb == wanted) best = &candidate;
    return !best;
  });
  if (!best) {
    result.allow = methods_of(parts);
    return result;
  }
  result.found = best->target;
  for (std::size_t i = 0; i < parts.count; ++i)
    if (best->is_open(i))
      result.parameters.values[result.parameters.count++] =
        parts.text[i].substr(0, parts.text[i].size() - best->literal.text[i].size());
  return result;
}

std::string router::methods_of(std::string_view path) const {
  segments parts;
  return split(path, parts) ? methods_of(parts) : std::string{};
}

std::string router::methods_of(const segments& path) const {
  bool has[7] = {};
  each_match(path, [&](const row& candidate) {
    has[static_cast<std::size_t>(candidate.target->verb)] = true;
    return true;
  });
  has[static_cast<std::size_t>(method::head)] = has[static_cast<std::size_t>(method::get)];
  std::string allow;
  for (std::size_t i = 0; i < 7; ++i)
    if (has[i]) allow.append(allow.empty() ? "" : ", ").append(name_of(static_cast<method>(i)));
  return allow;
}

} // namespace fq::net
