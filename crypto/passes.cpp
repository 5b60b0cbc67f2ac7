// SPDX-License-Identifier: Apache-2.0
#include "crypto/passes.hpp"

#include "crypto/jose.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace fq {
namespace {

namespace json = boost::json;

/// The public part of a key, with the members that verifiers need.
json::object public_half(const json::object& key) {
  json::object out{{"kty", "EC"}, {"crv", "P-256"}, {"use", "sig"}, {"alg", "ES256"}};
  for (const auto* name : {"kid", "x", "y"}) out[name] = key.at(name);
  return out;
}

} // namespace

struct pass_signer::prepared {
  jose::jwk_ptr jwk;
  jose::header_ptr header;
  std::string jwks;
};

std::shared_ptr<const pass_signer::prepared> pass_signer::prepare(const std::vector<std::string>& keys) {
  json::array all;
  for (const auto& text : keys) all.push_back(public_half(json::parse(text).as_object()));
  auto mine = std::make_shared<prepared>();
  mine->jwk = jose::import_key(keys.front());
  mine->header =
    jose::make_header(CJOSE_HDR_ALG_ES256, "fq-pass+jwt", std::string{all.front().at("kid").as_string()});
  mine->jwks = json::serialize(json::object{{"keys", std::move(all)}});
  return mine;
}

pass_signer::pass_signer(const std::vector<std::string>& keys) : keys_{prepare(keys)} {}

void pass_signer::renew(const std::vector<std::string>& keys) { keys_.set(prepare(keys)); }

std::string pass_signer::jwks() const { return (*keys_.get())->jwks; }

std::string pass_signer::issue(const pass_claims& c) const {
  const auto to_seconds = [](timestamp t) {
    return std::chrono::floor<seconds>(t).time_since_epoch().count();
  };
  const json::object payload{{"iss", "fairqueue"},
                             {"aud", to_string(c.queue)},
                             {"sub", c.subject.empty() ? to_string(c.ticket) : c.subject},
                             {"jti", to_string(c.ticket)},
                             {"iat", to_seconds(c.issued_at)},
                             {"exp", to_seconds(c.expires_at)}};
  const auto key = *keys_.get();
  return jose::sign(key->jwk.get(), key->header.get(), json::serialize(payload));
}

} // namespace fq
