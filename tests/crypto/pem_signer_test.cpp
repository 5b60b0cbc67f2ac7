// SPDX-License-Identifier: Apache-2.0
// Keys that other services gave us: which are taken, and what they sign. That npm's jose agrees is seen in
// tests/outbound (fcm and apns).
#define CAF_SUITE pem_signer
#include "caf/test/unit_test.hpp"

#include "crypto/digest.hpp"
#include "crypto/pem_signer.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

using namespace fq;
using enum pem_signer::algorithm_type;

namespace {

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

key_ptr rsa(std::size_t bits) { return {EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", bits), &EVP_PKEY_free}; }
key_ptr ec(const char* curve) { return {EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve), &EVP_PKEY_free}; }

std::string pem_of(const key_ptr& key, const char* passphrase = nullptr) {
  BIO* memory = BIO_new(BIO_s_mem());
  const auto* cipher = passphrase != nullptr ? EVP_aes_256_cbc() : nullptr;
  const auto* secret = reinterpret_cast<const unsigned char*>(passphrase);
  PEM_write_bio_PrivateKey(memory, key.get(), cipher, secret, passphrase != nullptr ? 4 : 0, nullptr,
                           nullptr);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(memory, &bytes);
  std::string text{bytes, static_cast<std::size_t>(size)};
  BIO_free(memory);
  return text;
}

std::string complaint(pem_signer::algorithm_type algorithm, const std::string& pem) {
  try {
    const pem_signer signer{algorithm, pem};
  } catch (const std::runtime_error& e) { return e.what(); }
  return "";
}

std::string text_of(std::string_view base64url) {
  const auto bytes = from_base64url(base64url);
  return bytes ? std::string{bytes->begin(), bytes->end()} : "not base64url";
}

} // namespace

CAF_TEST(only keys that the algorithm is made for are taken) {
  CAF_CHECK_EQUAL(complaint(rs256, pem_of(rsa(2048))), "");
  CAF_CHECK_EQUAL(complaint(es256, pem_of(ec("P-256"))), "");
  CAF_CHECK_EQUAL(complaint(rs256, pem_of(rsa(1024))), "is no RSA key of at least 2048 bits");
  CAF_CHECK_EQUAL(complaint(rs256, pem_of(ec("P-256"))), "is no RSA key of at least 2048 bits");
  CAF_CHECK_EQUAL(complaint(es256, pem_of(ec("P-384"))), "is no EC key on P-256");
  CAF_CHECK_EQUAL(complaint(es256, pem_of(rsa(2048))), "is no EC key on P-256");
  const auto half = pem_of(ec("P-256")).substr(0, 100);
  for (const auto& text : {std::string{}, std::string{"secret"}, half,
                           pem_of(ec("P-256"), "pass")}) // and no passphrase prompt appears
    CAF_CHECK_EQUAL(complaint(es256, text), "is no private key in PEM (without a passphrase)");
}

CAF_TEST(a token is three parts with the header that verifiers want) {
  const pem_signer signer{es256, pem_of(ec("P-256"))};
  const std::string claims = R"({"iss":"team","iat":1})";
  for (int i = 0; i < 200; ++i) { // r and s that begin with zeros included
    const auto token = signer.jwt("kid-1", claims);
    const auto first = token.find('.'), second = token.find('.', first + 1);
    CAF_REQUIRE(second != std::string::npos);
    CAF_CHECK_EQUAL(text_of(token.substr(0, first)), R"({"alg":"ES256","typ":"JWT","kid":"kid-1"})");
    CAF_CHECK_EQUAL(text_of(token.substr(first + 1, second - first - 1)), claims);
    CAF_CHECK_EQUAL(text_of(token.substr(second + 1)).size(), 64u);
  }
}
