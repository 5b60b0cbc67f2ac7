// SPDX-License-Identifier: Apache-2.0
// Uses OpenSSL's EVP, because libcjose cannot read PEM.
#include "crypto/pem_signer.hpp"

#include "crypto/digest.hpp"
#include "crypto/limits.hpp"
#include "crypto/openssl_pointers.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <openssl/bio.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <stdexcept>
#include <vector>

namespace fq {
namespace {

constexpr int coordinate_bytes = 32; // of P-256

using context_ptr = std::unique_ptr<EVP_MD_CTX, freed_by<EVP_MD_CTX_free>>;
using signature_ptr = std::unique_ptr<ECDSA_SIG, freed_by<ECDSA_SIG_free>>;

/// Refuses a passphrase instead of asking at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

EVP_PKEY* read_pem(std::string_view pem) {
  const bio_ptr in{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  auto* found = in ? PEM_read_bio_PrivateKey(in.get(), nullptr, &no_passphrase, nullptr) : nullptr;
  ERR_clear_error();
  return found;
}

bool is_on_p256(EVP_PKEY* key) {
  char group[64];
  std::size_t size = 0;
  return EVP_PKEY_is_a(key, "EC") == 1 && EVP_PKEY_get_group_name(key, group, sizeof group, &size) == 1
         && std::string_view{group, size} == "prime256v1";
}

/// Converts an ECDSA signature to JOSE's format.
std::vector<std::uint8_t> raw_of(const std::vector<std::uint8_t>& der) {
  const auto* at = der.data();
  const signature_ptr parsed{d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()))};
  std::vector<std::uint8_t> raw(2 * coordinate_bytes);
  if (!parsed || BN_bn2binpad(ECDSA_SIG_get0_r(parsed.get()), raw.data(), coordinate_bytes) < 0
      || BN_bn2binpad(ECDSA_SIG_get0_s(parsed.get()), raw.data() + coordinate_bytes, coordinate_bytes) < 0)
    throw std::runtime_error{"a signature could not be made"};
  return raw;
}

} // namespace

struct pem_signer::key {
  std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>> evp;
};

pem_signer::pem_signer(algorithm_type algorithm, std::string_view pem) :
    algorithm_{algorithm}, key_{std::make_unique<key>()} {
  key_->evp.reset(read_pem(pem));
  auto* const evp = key_->evp.get();
  if (evp == nullptr) throw std::runtime_error{"is no private key in PEM (without a passphrase)"};
  if (algorithm == algorithm_type::rs256
      && (EVP_PKEY_is_a(evp, "RSA") != 1 || EVP_PKEY_get_bits(evp) < rsa_bits_min))
    throw std::runtime_error{"is no RSA key of at least 2048 bits"};
  if (algorithm == algorithm_type::es256 && !is_on_p256(evp))
    throw std::runtime_error{"is no EC key on P-256"};
}

pem_signer::~pem_signer() = default;

std::string pem_signer::jwt(std::string_view kid, std::string_view claims) const {
  const boost::json::object header{
    {"alg", algorithm_ == algorithm_type::rs256 ? "RS256" : "ES256"}, {"typ", "JWT"}, {"kid", kid}};
  auto text =
    to_base64url(view_bytes(boost::json::serialize(header))) + "." + to_base64url(view_bytes(claims));
  const auto message = view_bytes(text);
  const context_ptr context{EVP_MD_CTX_new()};
  std::size_t size = 0;
  if (!context || EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_->evp.get()) != 1
      || EVP_DigestSign(context.get(), nullptr, &size, message.data(), message.size()) != 1)
    throw std::runtime_error{"a signature could not be made"};
  std::vector<std::uint8_t> signature(size);
  if (EVP_DigestSign(context.get(), signature.data(), &size, message.data(), message.size()) != 1)
    throw std::runtime_error{"a signature could not be made"};
  signature.resize(size);
  return text + "." + to_base64url(algorithm_ == algorithm_type::rs256 ? signature : raw_of(signature));
}

} // namespace fq
