// SPDX-License-Identifier: Apache-2.0
// Prints the median cost of checking a token, in microseconds, over runs of 50,000.
#include "crypto/session_token.hpp"
#include "crypto/tokens.hpp"
#include "tests/crypto/temp_folder.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

using namespace fq;

namespace {

template <class Function>
void report(const char* what, Function&& function) {
  constexpr int per_run = 50'000;
  std::vector<double> runs;
  for (int run = 0; run < 9; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < per_run; ++i) function();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    runs.push_back(took.count() / per_run);
  }
  std::sort(runs.begin(), runs.end());
  std::printf("%-32s %.3f us (%.3f to %.3f)\n", what, runs[runs.size() / 2], runs.front(), runs.back());
}

} // namespace

int main() {
  const test::temp_folder folder;
  const auto keys = key_store::open(folder.path(), timestamp{});
  const token_issuer issuer{keys};
  const token_verifier verifier{keys};
  const session_keys sessions{keys.session};
  const uuid subject{0x0190'0000'0000'7abcull, 0x8000'0004'0000'002aull};
  const auto now = from_unix_ms(1'800'000'000'000);
  const auto token = issuer.issue(token_kind::customer, subject, now, seconds{3600});
  auto forged = token;
  forged[forged.rfind('.') + 1] = forged[forged.rfind('.') + 1] == 'A' ? 'B' : 'A';
  const auto session = make_session_token(sessions, subject, 1);
  long accepted = 0;
  report("verify bearer token", [&] { accepted += verifier.verify(token, now) ? 1 : 0; });
  report("refuse forged bearer token", [&] { accepted += verifier.verify(forged, now) ? 1 : 0; });
  report("refuse text that is no token", [&] { accepted += verifier.verify("a.b.c", now) ? 1 : 0; });
  report("issue bearer token", [&] {
    accepted += static_cast<long>(issuer.issue(token_kind::customer, subject, now, seconds{60}).size() & 1);
  });
  report("make session token",
         [&] { accepted += static_cast<long>(make_session_token(sessions, subject, 1).size() & 1); });
  report("match session token",
         [&] { accepted += session_token_matches(sessions, session, subject, 1) ? 1 : 0; });
  report("sha256 of 200 bytes", [&] { accepted += sha256(std::string_view{token}.substr(0, 200))[0] & 1; });
  return accepted > 0 ? 0 : 1;
}
