// SPDX-License-Identifier: Apache-2.0
#include "net/service/key_directory.hpp"

#include "net/service/limits.hpp"

namespace fq::net {

key_index::key_index(const access_directory& content) :
    ended_sessions_(content.ended_sessions.begin(), content.ended_sessions.end()) {
  for (const auto& o : content.organizers) organizers_.emplace(o.id, o);
  for (const auto& t : content.tenants) {
    names_.emplace(t.id, t.name);
    if (!t.subject_jwk.empty()) subject_jwks_.emplace(t.id, t.subject_jwk);
    if (!t.logo.empty()) logos_.emplace(t.id, t.logo);
  }
  for (const auto& s : content.settings) settings_.emplace(s.name, s.value);
  for (const auto& k : content.api_keys) {
    const api_key key{k.id, k.tenant, k.scope};
    by_tenant_name_[names_[k.tenant]].push_back({key, k.secret_hash});
    by_id_.emplace(k.id, key);
  }
}

std::optional<api_key> key_index::find(std::string_view text) const {
  constexpr std::string_view prefix = "wr_";
  if (text.size() > api_key_text_max) return std::nullopt;
  const auto name_end = text.find('_', prefix.size());
  if (!text.starts_with(prefix) || name_end == std::string_view::npos) return std::nullopt;
  const auto keys = by_tenant_name_.find(text.substr(prefix.size(), name_end - prefix.size()));
  if (keys == by_tenant_name_.end()) return std::nullopt;
  const auto hash = to_hex(sha256(text.substr(name_end + 1)));
  std::optional<api_key> found;
  for (const auto& k : keys->second)
    if (constant_time_equal(k.secret_hash, hash)) found = k.key;
  return found;
}

std::optional<api_key> key_index::find(const uuid& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<tenant_id> key_index::tenant_of(const organizer_id& organizer) const {
  const auto found = organizers_.find(organizer);
  return found == organizers_.end() ? std::nullopt : std::optional{found->second.tenant};
}

bool key_index::has_ended(const organizer_id& organizer, timestamp issued_at, const uuid& session) const {
  const auto found = organizers_.find(organizer);
  return ended_sessions_.contains(session)
         || (found != organizers_.end() && issued_at < found->second.tokens_not_before);
}

std::optional<std::string> key_index::setting(std::string_view name) const {
  const auto found = settings_.find(name);
  return found == settings_.end() ? std::nullopt : std::optional{found->second};
}

std::string key_index::name_of(tenant_id tenant) const {
  const auto found = names_.find(tenant);
  return found == names_.end() ? std::string{} : found->second;
}

std::string key_index::logo_of(tenant_id tenant) const {
  const auto found = logos_.find(tenant);
  return found == logos_.end() ? std::string{} : found->second;
}

std::string key_index::subject_jwk_of(tenant_id tenant) const {
  const auto found = subject_jwks_.find(tenant);
  return found == subject_jwks_.end() ? std::string{} : found->second;
}

void key_directory::publish(const access_directory& content) {
  auto index = std::make_shared<const key_index>(content);
  const std::lock_guard guard{lock_};
  index_ = std::move(index);
  any_ended_.store(!content.ended_sessions.empty(), std::memory_order_relaxed);
}

std::shared_ptr<const key_index> key_directory::get() const {
  const std::lock_guard guard{lock_};
  return index_;
}

} // namespace fq::net
