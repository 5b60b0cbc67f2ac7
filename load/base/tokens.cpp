// SPDX-License-Identifier: Apache-2.0
// Builds the claims; libcjose signs.
#include "load/base/tokens.hpp"

#include <boost/json.hpp>

#include <cjose/cjose.h>
#include <openssl/rand.h>

#include <fstream>
#include <memory>
#include <sstream>

namespace fq::load {

namespace {

struct jwk_release {
  void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
};
struct header_release {
  void operator()(cjose_header_t* header) const { cjose_header_release(header); }
};
struct jws_release {
  void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};

using jwk_ptr = std::unique_ptr<cjose_jwk_t, jwk_release>;
using header_ptr = std::unique_ptr<cjose_header_t, header_release>;
using jws_ptr = std::unique_ptr<cjose_jws_t, jws_release>;

uuid random_subject() {
  uuid id{system_random(), system_random()};
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

std::string key_id_of(const std::string& jwk_text, const std::string& path) {
  boost::system::error_code error;
  const auto value = boost::json::parse(jwk_text, error);
  if (error || !value.is_object()) throw token_error(path + " is not a JSON Web Key");
  const auto* kid = value.as_object().if_contains("kid");
  return kid != nullptr && kid->is_string() ? std::string(kid->as_string()) : std::string();
}

// Signs tokens of one kind ("customer", "organizer") with the key of that kind.
class minter {
public:
  minter(const std::string& data_dir, const std::string& kind) :
      path_(data_dir + "/keys/" + kind + ".jwk"), type_("fq-" + kind) {
    const auto jwk_text = read_whole(path_);
    make_header(key_id_of(jwk_text, path_));
    cjose_err error{};
    key_.reset(cjose_jwk_import(jwk_text.data(), jwk_text.size(), &error));
    if (!key_) throw token_error(path_ + " is not a usable key");
  }

  [[nodiscard]] std::string mint(const uuid& subject, std::int64_t now_unix_s, std::int64_t ttl_s) const {
    const auto claims = R"({"iss":"fairqueue","aud":")" + type_ + R"(","sub":")" + to_string(subject)
                        + R"(","iat":)" + std::to_string(now_unix_s) + R"(,"exp":)"
                        + std::to_string(now_unix_s + ttl_s) + "}";
    cjose_err error{};
    const jws_ptr jws(cjose_jws_sign(key_.get(), header_.get(),
                                     reinterpret_cast<const std::uint8_t*>(claims.data()), claims.size(),
                                     &error));
    const char* text = nullptr;
    if (!jws || !cjose_jws_export(jws.get(), &text, &error))
      throw token_error("cannot sign a token with " + path_);
    return text;
  }

private:
  void make_header(const std::string& kid) {
    cjose_err error{};
    header_.reset(cjose_header_new(&error));
    auto set = [this, &error](const char* name, const char* value) {
      return cjose_header_set(header_.get(), name, value, &error);
    };
    const bool complete = header_ && set(CJOSE_HDR_ALG, CJOSE_HDR_ALG_HS256) && set("typ", type_.c_str())
                          && (kid.empty() || set(CJOSE_HDR_KID, kid.c_str()));
    if (!complete) throw token_error("cannot build a token header");
  }

  std::string path_;
  std::string type_;
  header_ptr header_;
  jwk_ptr key_;
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
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&out), sizeof out) != 1)
    throw token_error("the operating system gives no random numbers");
  return out;
}

} // namespace fq::load
