// SPDX-License-Identifier: Apache-2.0
// Rounds of drand from scripted sources: what counts as an answer, and sources that disagree.
#define CAF_SUITE drand_source
#include "caf/test/unit_test.hpp"

#include "crypto/digest.hpp"
#include "outbound/drand_source.hpp"
#include "tests/outbound/real_environment.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <future>

namespace drand_source_test {

using namespace fq;
using namespace fq::test;

namespace {

std::string signature_of(char letter, std::size_t bytes = 48) { return std::string(2 * bytes, letter); }

std::string body_of(const std::string& signature, std::uint64_t round = 7) {
  const auto bytes = from_hex(signature);
  const auto randomness = to_hex(sha256(std::string(bytes->begin(), bytes->end())));
  return R"({"round":)" + std::to_string(round) + R"(,"signature":")" + signature + R"(","randomness":")"
         + randomness + "\"}";
}

/// What the sources together answer for round 7, and the warnings.
struct asked {
  std::string signature;
  std::vector<std::string> warnings, targets;
};

asked ask(const std::vector<scripted_answer>& answers) {
  std::vector<std::unique_ptr<scripted_server>> servers;
  drand_source::settings options{.urls = {}, .http = {}};
  for (const auto& a : answers) {
    servers.push_back(std::make_unique<scripted_server>([a](const scripted_request&) { return a; }));
    options.urls.push_back(servers.back()->url());
  }
  asked got;
  options.warn = [&](const std::string& what) { got.warnings.push_back(what); };
  real_environment env;
  drand_source source{std::move(options), env};
  std::promise<std::string> told;
  source.fetch("c4a1", 7, [&](std::string signature) { told.set_value(std::move(signature)); });
  auto answer = told.get_future();
  CAF_REQUIRE(answer.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
  got.signature = answer.get();
  for (const auto& s : servers)
    for (const auto& rq : s->requests()) got.targets.push_back(rq.target);
  return got;
}

std::string told_by(const std::string& body) { return ask({answer(200, body)}).signature; }

} // namespace

CAF_TEST(an answer counts if round and signature and randomness belong together) {
  const auto sound = ask({answer(200, body_of(signature_of('a')))});
  CAF_CHECK_EQUAL(sound.signature, signature_of('a'));
  CAF_REQUIRE_EQUAL(sound.targets.size(), 1u);
  CAF_CHECK_EQUAL(sound.targets[0], "/c4a1/public/7");
  CAF_CHECK_EQUAL(told_by(body_of(signature_of('b', 96))), signature_of('b', 96));
  CAF_CHECK_EQUAL(told_by(body_of(signature_of('a'), 8)), "");
  CAF_CHECK_EQUAL(told_by(body_of(signature_of('a', 47))), "");
  auto other = body_of(signature_of('a'));
  other.replace(other.find(signature_of('a')), 96, signature_of('b'));
  CAF_CHECK_EQUAL(told_by(other), "");
  CAF_CHECK_EQUAL(told_by("{}"), "");
  CAF_CHECK_EQUAL(ask({answer(404, body_of(signature_of('a')))}).signature, "");
}

CAF_TEST(all sources must give the same signature) {
  const auto a = answer(200, body_of(signature_of('a'))), b = answer(200, body_of(signature_of('b')));
  CAF_CHECK_EQUAL(ask({a, a}).signature, signature_of('a'));
  for (const auto& answers : {std::vector{a, b}, std::vector{a, a, b}, std::vector{b, a, a}}) {
    const auto got = ask(answers);
    CAF_CHECK_EQUAL(got.signature, "");
    CAF_CHECK_EQUAL(got.warnings.size(), 1u);
  }
  for (const auto& answers : {std::vector{a, reset()}, std::vector{answer(404, ""), a}}) {
    const auto got = ask(answers);
    CAF_CHECK_EQUAL(got.signature, "");
    CAF_CHECK(got.warnings.empty()); // one is only late
  }
}

} // namespace drand_source_test
