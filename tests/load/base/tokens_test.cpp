// SPDX-License-Identifier: Apache-2.0
// Customer tokens minted from a key and read from a file.
#define CAF_SUITE load.tokens
#include "caf/test/unit_test.hpp"

#include "load/base/tokens.hpp"
#include "load/wire/wire.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace fq::load;

namespace {

struct fixture {
  std::filesystem::path folder =
    std::filesystem::temp_directory_path() / ("fq-load-tokens-" + std::to_string(::getpid()));

  fixture() { std::filesystem::create_directories(folder / "keys"); }
  ~fixture() { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
};

std::string to_base64(std::string text) {
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string decode(const std::string& base64url) {
  const auto text = to_base64(base64url);
  std::string out(text.size(), '\0');
  const int size =
    EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                    reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  const auto padding = std::count(text.end() - 2, text.end(), '=');
  out.resize(static_cast<std::size_t>(size - padding));
  return out;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(token_tests, fixture)

CAF_TEST(minted tokens carry the agreed header and claims and a right signature) {
  write("keys/customer.jwk",
        R"({"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTMyYnl0ZQ","kid":"k1"})");
  const auto tokens = mint_tokens(folder.string(), 2, 1000, 60);
  CAF_REQUIRE_EQUAL(tokens.size(), 2u);
  CAF_CHECK_NOT_EQUAL(tokens[0], tokens[1]);
  const auto first_dot = tokens[0].find('.');
  const auto last_dot = tokens[0].rfind('.');
  const auto header = parse_object(decode(tokens[0].substr(0, first_dot)));
  CAF_CHECK_EQUAL(text_member(header, "alg"), "HS256");
  CAF_CHECK_EQUAL(text_member(header, "typ"), "fq-customer");
  CAF_CHECK_EQUAL(text_member(header, "kid"), "k1");
  const auto claims = parse_object(decode(tokens[0].substr(first_dot + 1, last_dot - first_dot - 1)));
  CAF_CHECK_EQUAL(text_member(claims, "iss"), "fairqueue");
  CAF_CHECK_EQUAL(text_member(claims, "aud"), "fq-customer");
  CAF_CHECK(parse_uuid(text_member(claims, "sub")).has_value());
  CAF_CHECK_EQUAL(whole_member(claims, "iat", 0), 1000);
  CAF_CHECK_EQUAL(whole_member(claims, "exp", 0), 1060);
  const std::string key = "secret-secret-secret-secret-32byte";
  const auto signed_text = tokens[0].substr(0, last_dot);
  std::array<unsigned char, 32> mac{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(), mac.data(), &size);
  CAF_CHECK(decode(tokens[0].substr(last_dot + 1)) == std::string(mac.begin(), mac.end()));
}

CAF_TEST(a token file must hold enough and only tokens) {
  write("tokens", "a.b.c\n\nd.e.f\r\n");
  const auto tokens = read_tokens(path("tokens"), 2);
  CAF_REQUIRE_EQUAL(tokens.size(), 2u);
  CAF_CHECK_EQUAL(tokens[1], "d.e.f");
  CAF_CHECK_EQUAL(read_tokens(path("tokens"), 1).size(), 1u);
  auto refuses = [this](const std::string& name, std::size_t count) {
    try {
      read_tokens(path(name), count);
    } catch (const token_error&) { return true; }
    return false;
  };
  CAF_CHECK(refuses("tokens", 3));
  CAF_CHECK(refuses("absent", 1));
  write("evil", "a.b.c\nx: y\n");
  CAF_CHECK(refuses("evil", 2));
}

CAF_TEST(a missing or broken key is an error) {
  auto refuses = [this] {
    try {
      mint_tokens(folder.string(), 1, 0, 1);
    } catch (const token_error&) { return true; }
    return false;
  };
  CAF_CHECK(refuses());
  write("keys/customer.jwk", "{}");
  CAF_CHECK(refuses());
  write("keys/customer.jwk", "not json");
  CAF_CHECK(refuses());
}

CAF_TEST(an organizer token names its organizer) {
  write("keys/organizer.jwk",
        R"({"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTMyYnl0ZQ","kid":"k2"})");
  const auto token = mint_organizer_token(folder.string(), uuid{1, 2}, 1000, 60);
  const auto header = parse_object(decode(token.substr(0, token.find('.'))));
  CAF_CHECK_EQUAL(text_member(header, "typ"), "fq-organizer");
  const auto rest = token.substr(token.find('.') + 1);
  const auto claims = parse_object(decode(rest.substr(0, rest.find('.'))));
  CAF_CHECK_EQUAL(text_member(claims, "aud"), "fq-organizer");
  CAF_CHECK_EQUAL(text_member(claims, "sub"), to_string(uuid{1, 2}));
  CAF_CHECK_EQUAL(whole_member(claims, "exp", 0), 1060);
}

CAF_TEST_FIXTURE_SCOPE_END()
