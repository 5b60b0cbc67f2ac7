// SPDX-License-Identifier: Apache-2.0
// Waiting for a gateway's answer, and telling answers apart.
#pragma once

#include "outbound/gateway.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace fq::test {

/// What `call` answers to the callback it is given; fails the test after 20 s, or when it answers twice
/// before this returns.
template <class Result, class Call>
Result answered(Call&& call) {
  struct box {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Result> results;
  };
  auto shared = std::make_shared<box>();
  call([shared](Result r) {
    const std::lock_guard lock{shared->mutex};
    shared->results.push_back(std::move(r));
    shared->changed.notify_all();
  });
  std::unique_lock lock{shared->mutex};
  CAF_REQUIRE(
    shared->changed.wait_for(lock, std::chrono::seconds{20}, [&] { return !shared->results.empty(); }));
  CAF_REQUIRE_EQUAL(shared->results.size(), 1u);
  return shared->results.front();
}

template <class Result>
bool is_error(const Result& r, gateway_error::kind_type kind) {
  const auto* error = std::get_if<gateway_error>(&r);
  return error != nullptr && error->kind == kind && !error->what.empty();
}
template <class Result>
bool rejected(const Result& r) {
  return is_error(r, gateway_error::kind_type::rejected);
}
template <class Result>
bool unavailable(const Result& r) {
  return is_error(r, gateway_error::kind_type::unavailable);
}
template <class Result>
std::string what(const Result& r) {
  const auto* error = std::get_if<gateway_error>(&r);
  return error == nullptr ? "no error" : error->what;
}
template <class Result>
std::int64_t pause_ms(const Result& r) {
  const auto* error = std::get_if<gateway_error>(&r);
  return error == nullptr ? -1 : error->retry_after.count();
}

inline bool is(const verify_result& r, charge_status status) {
  const auto* state = std::get_if<charge_state>(&r);
  return state != nullptr && state->status == status;
}
inline bool is(const refund_result& r, gateway_refund_status status) {
  const auto* known = std::get_if<gateway_refund_status>(&r);
  return known != nullptr && *known == status;
}
inline bool is(const webhook_result& r, webhook_error error) {
  const auto* known = std::get_if<webhook_error>(&r);
  return known != nullptr && *known == error;
}

} // namespace fq::test
