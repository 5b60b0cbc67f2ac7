// SPDX-License-Identifier: Apache-2.0
// Writes the format of app/log: members of one JSON object.
#include "net/api/sign_in_log.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <spdlog/spdlog.h>

namespace fq::net {
namespace {

constexpr const char* format = R"("message":"{}","kind":"{}","{}":"{}","client":"{}","request_id":{})";

void write(const request& rq, std::string_view message, std::string_view kind, std::string_view name,
           std::string_view value) {
  if (!spdlog::should_log(spdlog::level::info)) return;
  spdlog::info(format, message, kind, name, value, rq.peer.to_string(),
               boost::json::serialize(boost::json::string{rq.request_id}));
}

} // namespace

void log_sign_in(const request& rq, std::string_view kind, const uuid& person) {
  write(rq, "signed in", kind, "id", to_string(person));
}

void log_refused_sign_in(const request& rq, std::string_view kind, std::string_view why) {
  write(rq, "sign-in refused", kind, "reason", why);
}

} // namespace fq::net
