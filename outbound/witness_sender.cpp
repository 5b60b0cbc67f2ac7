// SPDX-License-Identifier: Apache-2.0
#include "outbound/witness_sender.hpp"

#include "outbound/limits.hpp"

#include <utility>

namespace fq {
namespace {

http_client::settings settings_of_witnesses() {
  http_client::settings http;
  http.timeout = witness_timeout;
  http.response_bytes_max = witness_answer_bytes_max;
  http.is_background = true;
  return http;
}

witness_reply reply_of(http_result result) {
  auto* answer = std::get_if<http_response>(&result);
  return answer ? witness_reply{answer->status, std::move(answer->body)} : witness_reply{};
}

} // namespace

witness_sender::witness_sender(std::vector<std::string> urls, environment& env) :
    urls_(std::move(urls)), client_(settings_of_witnesses(), env) {}

void witness_sender::add_checkpoint(std::size_t witness, std::string body,
                                    std::function<void(witness_reply)> done) {
  http_request request{.method = http_request::method_type::post,
                       .url = urls_.at(witness) + "/add-checkpoint",
                       .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                       .body = std::move(body)};
  client_.submit(std::move(request),
                 [done = std::move(done)](http_result result) { done(reply_of(std::move(result))); });
}

} // namespace fq
