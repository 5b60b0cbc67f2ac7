// SPDX-License-Identifier: Apache-2.0
// Builds the tokens; OpenSSL's HMAC signs, because cjose takes 4 us longer for each of a crowd's tokens.
#include "load/base/tokens.hpp"

#include <boost/json.hpp>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <sstream>

namespace fq::load {

namespace {

struct mac_free {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

void fill_random(void* out, std::size_t size) {
  if (RAND_bytes(static_cast<unsigned char*>(out), static_cast<int>(size)) != 1)
    throw token_error("the operating system gives no random numbers");
}

uuid random_subject() {
  uuid id;
  fill_random(&id, sizeof id);
  // Version 4, variant 1.
  id.high = (id.high & ~0xF000ULL) | 0x4000ULL;
  id.low = (id.low & ~(3ULL << 62)) | (2ULL << 62);
  return id;
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw token_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string base64url(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0'); // with a terminating zero
  const auto length =
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                    reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(length));
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  while (out.ends_with('=')) out.pop_back();
  return out;
}

// Empty: it is not base64url.
std::string from_base64url(std::string text) {
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  const auto padding = (4 - text.size() % 4) % 4;
  text.append(padding, '=');
  std::string out(text.size(), '\0');
  const auto length =
    EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                    reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(length < 0 ? 0 : static_cast<std::size_t>(length) - padding);
  return out;
}

// Signs tokens of one kind ("customer", "organizer") with the key of that kind.
class minter {
public:
  minter(const std::string& data_dir, const std::string& kind) :
      path_(data_dir + "/keys/" + kind + ".jwk"), type_("fq-" + kind) {
    boost::system::error_code error;
    const auto jwk = boost::json::parse(read_whole(path_), error);
    if (error || !jwk.is_object()) throw token_error(path_ + " is not a JSON Web Key");
    make_header(text_of(jwk, "kid"));
    const auto secret = from_base64url(text_of(jwk, "k"));
    if (secret.empty() || !start(secret)) throw token_error(path_ + " is not a usable key");
  }

  [[nodiscard]] std::string mint(const uuid& subject, std::int64_t now_unix_s, std::int64_t ttl_s) const {
    const auto claims = R"({"iss":"fairqueue","aud":")" + type_ + R"(","sub":")" + to_string(subject)
                        + R"(","iat":)" + std::to_string(now_unix_s) + R"(,"exp":)"
                        + std::to_string(now_unix_s + ttl_s) + "}";
    const auto text = header_ + base64url(claims);
    std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
    std::size_t size = 0;
    const bool is_signed =
      EVP_MAC_init(context_.get(), nullptr, 0, nullptr) == 1
      && EVP_MAC_update(context_.get(), reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1
      && EVP_MAC_final(context_.get(), mac.data(), &size, mac.size()) == 1;
    if (!is_signed) throw token_error("cannot sign a token with " + path_);
    return text + "." + base64url({reinterpret_cast<const char*>(mac.data()), size});
  }

private:
  static std::string text_of(const boost::json::value& jwk, std::string_view name) {
    const auto* found = jwk.as_object().if_contains(name);
    return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
  }
  void make_header(const std::string& kid) {
    boost::json::object header{{"alg", "HS256"}, {"typ", type_}};
    if (!kid.empty()) header["kid"] = kid;
    header_ = base64url(boost::json::serialize(header)) + ".";
  }
  bool start(const std::string& secret) {
    std::string digest = "SHA256";
    const std::array parameters{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                                OSSL_PARAM_construct_end()};
    return context_
           && EVP_MAC_init(context_.get(), reinterpret_cast<const unsigned char*>(secret.data()),
                           secret.size(), parameters.data())
                == 1;
  }

  std::string path_;
  std::string type_;
  std::string header_; // with its dot
  std::unique_ptr<EVP_MAC, mac_free> mac_{EVP_MAC_fetch(nullptr, "HMAC", nullptr)};
  std::unique_ptr<EVP_MAC_CTX, mac_free> context_{mac_ ? EVP_MAC_CTX_new(mac_.get()) : nullptr};
};

} // namespace

std::vector<std::string> read_tokens(const std::string& path, std::size_t count) {
  std::ifstream file(path);
  if (!file) throw token_error("cannot read " + path);
  std::vector<std::string> tokens;
  tokens.reserve(count);
  std::string line;
  while (tokens.size() < count && std::getline(file, line)) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    // Only characters that are safe in a header field: base64url and the two dots.
    if (line.empty()) continue;
    if (line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
        != std::string::npos)
      throw token_error(path + " holds a line that is not a token");
    tokens.push_back(line);
  }
  if (tokens.size() < count)
    throw token_error(path + " holds " + std::to_string(tokens.size()) + " tokens, " + std::to_string(count)
                      + " are needed");
  return tokens;
}

std::vector<std::string> mint_tokens(const std::string& data_dir, std::size_t count, std::int64_t now_unix_s,
                                     std::int64_t ttl_s) {
  const minter customers(data_dir, "customer");
  std::vector<std::string> tokens;
  tokens.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens.push_back(customers.mint(random_subject(), now_unix_s, ttl_s));
  return tokens;
}

std::string mint_organizer_token(const std::string& data_dir, const uuid& organizer, std::int64_t now_unix_s,
                                 std::int64_t ttl_s) {
  return minter(data_dir, "organizer").mint(organizer, now_unix_s, ttl_s);
}

std::uint64_t system_random() {
  std::uint64_t out = 0;
  fill_random(&out, sizeof out);
  return out;
}

} // namespace fq::load
