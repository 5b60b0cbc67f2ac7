// SPDX-License-Identifier: Apache-2.0
#include "outbound/drand_source.hpp"

#include "crypto/digest.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>

namespace fq {
namespace {

/// Signatures have 48 or 96 bytes, by the network's scheme.
std::string signature_in(const http_result& result, std::uint64_t round) {
  const auto* answer = std::get_if<http_response>(&result);
  if (answer == nullptr || answer->status != 200) return {};
  boost::system::error_code wrong;
  const auto body = boost::json::parse(answer->body, wrong);
  const auto* object = wrong ? nullptr : body.if_object();
  if (object == nullptr) return {};
  const auto text = [object](const char* name) -> std::string {
    const auto* v = object->if_contains(name);
    return v != nullptr && v->is_string() ? std::string{v->get_string()} : std::string{};
  };
  const auto* number = object->if_contains("round");
  const auto signature = from_hex(text("signature"));
  if (number == nullptr || !number->is_int64() || number->get_int64() != static_cast<std::int64_t>(round)
      || !signature || (signature->size() != 48 && signature->size() != 96))
    return {};
  const std::string bytes(signature->begin(), signature->end());
  return to_hex(sha256(bytes)) == text("randomness") ? to_hex(*signature) : std::string{};
}

} // namespace

drand_source::drand_source(settings options, environment& env) :
    url_(std::move(options.url)), http_(std::move(options.http), env) {}

void drand_source::fetch(const std::string& chain_hash, std::uint64_t round,
                         std::function<void(std::string)> done) {
  http_request rq;
  rq.url = url_ + '/' + chain_hash + "/public/" + std::to_string(round);
  http_.submit(std::move(rq), [round, done = std::move(done)](const http_result& result) {
    done(signature_in(result, round));
  });
}

} // namespace fq
