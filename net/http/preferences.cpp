// SPDX-License-Identifier: Apache-2.0
#include "net/http/preferences.hpp"

#include "net/http/limits.hpp"
#include "net/http/text.hpp"

#include <algorithm>
#include <charconv>

namespace fq::net {
namespace {

constexpr int full_weight = 1000;

/// Cuts the part before `separator` off `rest` and returns it.
std::string_view take(std::string_view& rest, char separator) {
  const auto end = std::min(rest.find(separator), rest.size());
  const auto part = trimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

/// "0.8" in thousandths; 0 if it is not a weight.
int parsed_weight(std::string_view text) {
  double weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  const bool is_weight =
    error == std::errc{} && end == text.data() + text.size() && weight >= 0 && weight <= 1;
  return is_weight ? static_cast<int>(weight * full_weight + 0.5) : 0;
}

/// Reads the parameters behind the name for "q=0.8".
int weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const auto one = take(parameters, ';');
    if (one.starts_with("q=") || one.starts_with("Q=")) return parsed_weight(trimmed(one.substr(2)));
  }
  return full_weight;
}

} // namespace

std::vector<preference> read_preferences(std::string_view field) {
  std::vector<preference> all;
  for (std::size_t i = 0; i < preferences_max && !field.empty(); ++i) {
    auto one = take(field, ',');
    const auto name = take(one, ';');
    if (!name.empty()) all.push_back({name, weight_of(one)});
  }
  return all;
}

std::optional<language> preferred_language(std::string_view accept_language) {
  std::optional<language> best;
  int best_weight = 0;
  for (const auto& wanted : read_preferences(accept_language)) {
    const auto found = language_of(wanted.name);
    if (found && wanted.weight > best_weight) {
      best = found;
      best_weight = wanted.weight;
    }
  }
  return best;
}

} // namespace fq::net
