// SPDX-License-Identifier: Apache-2.0
#include "outbound/drand_source.hpp"

#include "crypto/digest.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

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

/// The sources' answers for one round.
struct drand_source::gathering {
  std::size_t left; ///< sources that have not answered
  std::function<void(std::string)> done;
  std::mutex mutex = {};
  std::optional<std::string> agreed = {}; ///< so far; empty text: not all have the same
  bool differs = false; ///< two sound answers are not the same

  /// True for the last answer.
  bool take(const std::string& signature) {
    const std::scoped_lock lock(mutex);
    differs = differs || (agreed && !agreed->empty() && !signature.empty() && *agreed != signature);
    if (!agreed)
      agreed = signature;
    else if (*agreed != signature)
      agreed->clear();
    return --left == 0;
  }
};

drand_source::drand_source(settings options, environment& env) :
    urls_(std::move(options.urls)), warn_(std::move(options.warn)), http_(std::move(options.http), env) {}

void drand_source::fetch(const std::string& chain_hash, std::uint64_t round,
                         std::function<void(std::string)> done) {
  const auto all = std::make_shared<gathering>(urls_.size(), std::move(done));
  for (const auto& url : urls_) {
    http_request rq;
    rq.url = url + '/' + chain_hash + "/public/" + std::to_string(round);
    http_.submit(std::move(rq), [this, round, all](const http_result& result) {
      if (!all->take(signature_in(result, round))) return;
      if (all->differs && warn_)
        warn_("the sources of draw.beacon_url give different signatures of round " + std::to_string(round)
              + ": the draw waits");
      all->done(std::move(*all->agreed));
    });
  }
}

} // namespace fq
