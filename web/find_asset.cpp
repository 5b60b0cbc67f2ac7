// SPDX-License-Identifier: Apache-2.0
#include "web/assets.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace fq::web {
namespace {

const asset* find(std::string_view asset::*member, std::string_view value) {
  const auto all = assets();
  const auto found = std::ranges::find(all, value, member);
  return found == all.end() ? nullptr : &*found;
}

} // namespace

const asset* find_asset(std::string_view name) { return find(&asset::name, name); }
const asset* find_served_asset(std::string_view served_name) {
  return find(&asset::served_name, served_name);
}

const asset& get_asset(std::string_view name) {
  const auto* found = find_asset(name);
  if (!found) throw std::logic_error("no asset of the name " + std::string{name});
  return *found;
}

} // namespace fq::web
