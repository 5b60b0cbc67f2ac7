// SPDX-License-Identifier: Apache-2.0
// Builds the tokens. Nettle signs: OpenSSL's EVP_MAC takes more than twice as long for a crowd's tokens.
#include "load/base/tokens.hpp"

#include <boost/json.hpp>

#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <fstream>
#include <sstream>

namespace fq::load {

namespace {

void fill_random(void* out, std::size_t size) {
  if (RAND_bytes(static_cast<unsigned char*>(out), static_cast<int>(size)) != 1)
    throw token_error("the operating system gives no random numbers");
}

// Of version 4, variant 1. All at once: each call of OpenSSL takes locks.
std::vector<uuid> random_subjects(std::size_t count) {
  std::vector<uuid> ids(count);
  fill_random(ids.data(), ids.size() * sizeof(uuid));
  for (auto& id : ids) {
    id.high = (id.high & ~0xF000ULL) | 0x4000ULL;
    id.low = (id.low & ~(3ULL << 62)) | (2ULL << 62);
  }
  return ids;
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw token_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

std::string base64url(std::string_view bytes) {
  base64_encode_ctx state;
  base64url_encode_init(&state);
  std::string out(BASE64_ENCODE_LENGTH(bytes.size()) + BASE64_ENCODE_FINAL_LENGTH, '\0');
  auto size = base64_encode_update(&state, out.data(), bytes.size(), bytes_of(bytes));
  size += base64_encode_final(&state, out.data() + size);
  out.resize(size);
  while (out.ends_with('=')) out.pop_back();
  return out;
}

// Empty: it is not base64url.
std::string from_base64url(std::string_view text) {
  base64_decode_ctx state;
  base64url_decode_init(&state);
  std::string out(BASE64_DECODE_LENGTH(text.size()), '\0');
  std::size_t size = 0;
  auto* to = reinterpret_cast<std::uint8_t*>(out.data());
  out.resize(base64_decode_update(&state, &size, to, text.size(), text.data()) == 1 ? size : 0);
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
    if (secret.empty()) throw token_error(path_ + " is not a usable key");
    hmac_sha256_set_key(&state_, secret.size(), bytes_of(secret));
  }

  [[nodiscard]] std::string mint(const uuid& subject, std::int64_t now_unix_s, std::int64_t ttl_s) {
    const auto claims = R"({"iss":"fairqueue","aud":")" + type_ + R"(","sub":")" + to_string(subject)
                        + R"(","iat":)" + std::to_string(now_unix_s) + R"(,"exp":)"
                        + std::to_string(now_unix_s + ttl_s) + "}";
    const auto text = header_ + base64url(claims);
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> mac{};
    hmac_sha256_update(&state_, text.size(), bytes_of(text));
    hmac_sha256_digest(&state_, mac.size(), mac.data()); // the key remains
    return text + "." + base64url({reinterpret_cast<const char*>(mac.data()), mac.size()});
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

  std::string path_;
  std::string type_;
  std::string header_; // with its dot
  hmac_sha256_ctx state_;
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
  minter customers(data_dir, "customer");
  std::vector<std::string> tokens;
  tokens.reserve(count);
  for (const auto& subject : random_subjects(count))
    tokens.push_back(customers.mint(subject, now_unix_s, ttl_s));
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
