// SPDX-License-Identifier: Apache-2.0
// Values that all codecs by Boost.JSON write the same way. Absent is null.
#pragma once
#include "net/http/json_text.hpp"

#include <boost/json/value.hpp>

#include <string_view>

namespace fq::net {

inline boost::json::value text_or_null(std::string_view text) {
  return text.empty() ? boost::json::value{} : boost::json::value(text);
}
inline boost::json::value time_or_null(timestamp t) {
  return is_set(t) ? boost::json::value(rfc3339(t)) : boost::json::value{};
}
inline boost::json::value id_or_null(const uuid& id) {
  return id.is_nil() ? boost::json::value{} : boost::json::value(to_string(id));
}

} // namespace fq::net
