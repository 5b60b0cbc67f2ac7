// SPDX-License-Identifier: Apache-2.0
#include "outbound/apns_token.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace fq {

apns_token::apns_token(std::string team_id, std::string key_id, std::string_view key, environment& env) :
    team_id_{std::move(team_id)},
    key_id_{std::move(key_id)},
    signer_{pem_signer::algorithm_type::es256, key},
    env_{env} {}

std::string apns_token::get() {
  const std::scoped_lock held{mutex_};
  const auto now = env_.steady_now();
  if (!current_.empty() && now - made_at_ < age_max) return current_;
  const boost::json::object claims{{"iss", team_id_}, {"iat", unix_ms(env_.wall_now()) / 1000}};
  current_ = signer_.jwt(key_id_, boost::json::serialize(claims));
  made_at_ = now;
  return current_;
}

milliseconds apns_token::refuse(const std::string& token) {
  const std::scoped_lock held{mutex_};
  if (token != current_) return milliseconds{0}; // already replaced, or being replaced
  const auto age = env_.steady_now() - made_at_;
  if (age < age_min) return age_min - age;
  current_.clear();
  return milliseconds{0};
}

} // namespace fq
