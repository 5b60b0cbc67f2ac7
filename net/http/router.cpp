// SPDX-License-Identifier: Apache-2.0
#include "net/http/router.hpp"

#include <stdexcept>

namespace fq::net {

namespace {
/// "{id}" or "{id}.pdf".
bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.find('}') != std::string_view::npos;
}
/// Behind a parameter: ".pdf", or nothing.
std::string_view ending_of(std::string_view parameter) { return parameter.substr(parameter.find('}') + 1); }
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
  return true;
}

bool router::fits(const segments& pattern, const segments& path) {
  for (std::size_t i = 0; i < pattern.count; ++i)
    if (pattern.text[i] != path.text[i]
        && !(is_parameter(pattern.text[i]) && path.text[i].ends_with(ending_of(pattern.text[i]))))
      return false;
  return true;
}

router::router(std::span<const route> routes) {
  for (const auto& r : routes) {
    row added{&r, {}};
    if (!split(r.pattern, added.pattern))
      throw std::invalid_argument("malformed route " + std::string{r.pattern});
    std::size_t parameters = 0;
    for (std::size_t i = 0; i < added.pattern.count; ++i) {
      if (!is_parameter(added.pattern.text[i])) continue;
      ++parameters;
      added.openness += ending_of(added.pattern.text[i]).empty() ? 2 : 1;
    }
    if (parameters > path_parameters{}.values.size())
      throw std::invalid_argument("too many parameters in route " + std::string{r.pattern});
    auto& rows = by_length_[added.pattern.count];
    for (const auto& other : rows)
      if (other.target->verb == r.verb && other.target->pattern == r.pattern)
        throw std::invalid_argument("route given twice: " + std::string{r.pattern});
    rows.push_back(added);
  }
  for (auto& rows : by_length_)
    for (auto& each : rows)
      for (const auto& other : rows)
        if (other.openness < each.openness && fits(each.pattern, other.pattern)) each.may_yield = true;
}

std::size_t router::least_openness(const segments& path) const {
  std::size_t least = 2 * path_segments_max;
  for (const auto& candidate : by_length_[path.count])
    if (candidate.openness < least && fits(candidate.pattern, path)) least = candidate.openness;
  return least;
}

route_match router::match(method verb, std::string_view path) const {
  route_match result;
  segments parts;
  if (!split(path, parts)) return result;
  const auto wanted = verb == method::head ? method::get : verb;
  const row* best = nullptr;
  for (const auto& candidate : by_length_[parts.count]) {
    if (candidate.target->verb != wanted || !fits(candidate.pattern, parts)) continue;
    if (best && candidate.openness >= best->openness) continue; // "/a/b" wins before "/a/{x}"
    best = &candidate;
    if (best->openness == 0) break;
  }
  if (!best || (best->may_yield && least_openness(parts) < best->openness)) {
    result.allow = methods_of(parts);
    return result;
  }
  result.found = best->target;
  for (std::size_t i = 0; i < best->pattern.count; ++i)
    if (is_parameter(best->pattern.text[i])) {
      const auto ending = ending_of(best->pattern.text[i]);
      result.parameters.values[result.parameters.count++] =
        parts.text[i].substr(0, parts.text[i].size() - ending.size());
    }
  return result;
}

std::string router::methods_of(std::string_view path) const {
  segments parts;
  return split(path, parts) ? methods_of(parts) : std::string{};
}

std::string router::methods_of(const segments& path) const {
  bool has[7] = {};
  const auto least = least_openness(path);
  for (const auto& candidate : by_length_[path.count])
    if (candidate.openness == least && fits(candidate.pattern, path))
      has[static_cast<std::size_t>(candidate.target->verb)] = true;
  has[static_cast<std::size_t>(method::head)] = has[static_cast<std::size_t>(method::get)];
  std::string allow;
  for (std::size_t i = 0; i < 7; ++i)
    if (has[i]) allow.append(allow.empty() ? "" : ", ").append(name_of(static_cast<method>(i)));
  return allow;
}

} // namespace fq::net
