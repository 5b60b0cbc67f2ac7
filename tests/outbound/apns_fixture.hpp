// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the APNs channel: a clock that stands, scripted answers, and the requests that the
// stand-in has received.
#pragma once
#include "tests/outbound/fixed_environment.hpp"
#include "tests/outbound/push_standins.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <string>
#include <string_view>
#include <vector>

/// The body of an answer with this reason.
#define REASON(word) R"({"reason":")" word R"("})"

namespace fq::test {

inline boost::json::object gets(int status, std::string_view body) {
  return {{"status", status}, {"body", body}};
}

struct apns_fixture {
  fixed_environment env;

  notice granted() { return turn_granted(env.wall_now()); }
  void pass(milliseconds time) { env.now_ms += time.count(); }
};

inline std::vector<boost::json::object> requests(const boost::json::object& state) {
  std::vector<boost::json::object> out;
  for (const auto& r : state.at("requests").as_array()) out.push_back(r.as_object());
  return out;
}

inline std::string header(const boost::json::object& request, const char* name) {
  return std::string{request.at("headers").at(name).as_string()};
}

} // namespace fq::test
