// SPDX-License-Identifier: Apache-2.0
#include "crypto/node_certificates.hpp"

#include "crypto/limits.hpp"
#include "crypto/openssl_pointers.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

namespace fq {
namespace {

using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;

constexpr int serial_bytes = 16; // 127 random bits: unique without a register

void require(bool ok, const char* what) {
  if (!ok) throw std::runtime_error{std::string{"certificate: "} + what};
}

std::string text_of(const bio_ptr& bio) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

bio_ptr empty_text() {
  bio_ptr bio{BIO_new(BIO_s_mem())};
  require(bio != nullptr, "out of memory");
  return bio;
}

bio_ptr reading(const std::string& text) {
  bio_ptr bio{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
  require(bio != nullptr, "out of memory");
  return bio;
}

void add_extension(X509& certificate, X509& issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const extension_ptr extension{X509V3_EXT_conf_nid(nullptr, &context, kind, value)};
  require(extension && X509_add_ext(&certificate, extension.get(), -1) == 1, "an extension was refused");
}

void set_serial(X509& certificate) {
  unsigned char bytes[serial_bytes];
  require(RAND_bytes(bytes, sizeof bytes) == 1, "no random bytes");
  bytes[0] &= 0x7f; // positive
  const std::unique_ptr<BIGNUM, freed_by<BN_free>> number{BN_bin2bn(bytes, sizeof bytes, nullptr)};
  require(number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(&certificate)) != nullptr,
          "no serial number");
}

certificate_ptr blank(EVP_PKEY& key, const std::string& name, timestamp now, seconds life) {
  certificate_ptr certificate{X509_new()};
  require(certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1, "out of memory");
  set_serial(*certificate);
  const auto from = std::chrono::duration_cast<seconds>(now.time_since_epoch()) - certificate_backdating;
  require(ASN1_TIME_set(X509_getm_notBefore(certificate.get()), from.count()) != nullptr
            && ASN1_TIME_set(X509_getm_notAfter(certificate.get()), (from + life).count()) != nullptr,
          "no such time");
  const auto* common_name = reinterpret_cast<const unsigned char*>(name.c_str());
  require(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                                     common_name, -1, -1, 0)
            == 1,
          "its name must have 1 to 64 characters");
  require(X509_set_pubkey(certificate.get(), &key) == 1, "the key was refused");
  return certificate;
}

certificate_and_key texts_of(X509& certificate, EVP_PKEY& key) {
  const auto c = empty_text(), k = empty_text();
  require(PEM_write_bio_X509(c.get(), &certificate) == 1
            && PEM_write_bio_PrivateKey(k.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
          "out of memory");
  return {text_of(c), text_of(k)};
}

key_ptr new_key() {
  key_ptr key{EVP_EC_gen("P-256")};
  require(key != nullptr, "no key could be made");
  return key;
}

} // namespace

certificate_and_key make_authority(timestamp now, seconds life) {
  const auto key = new_key();
  const auto certificate = blank(*key, "FairQueue cluster", now, life);
  require(X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get())) == 1,
          "out of memory");
  add_extension(*certificate, *certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(*certificate, *certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(*certificate, *certificate, NID_subject_key_identifier, "hash");
  require(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "it could not be signed");
  return texts_of(*certificate, *key);
}

certificate_and_key issue_certificate(const certificate_and_key& authority, const std::string& name,
                                      timestamp now, seconds life) {
  const certificate_ptr issuer{
    PEM_read_bio_X509(reading(authority.certificate).get(), nullptr, nullptr, nullptr)};
  const key_ptr issuer_key{PEM_read_bio_PrivateKey(reading(authority.key).get(), nullptr, nullptr, nullptr)};
  require(issuer && issuer_key, "the authority cannot be read");
  require(X509_check_private_key(issuer.get(), issuer_key.get()) == 1, "the authority's key is another's");
  const auto key = new_key();
  const auto certificate = blank(*key, name, now, life);
  require(X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get())) == 1, "out of memory");
  add_extension(*certificate, *issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(*certificate, *issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(*certificate, *issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(*certificate, *issuer, NID_subject_key_identifier, "hash");
  add_extension(*certificate, *issuer, NID_authority_key_identifier, "keyid");
  require(X509_sign(certificate.get(), issuer_key.get(), EVP_sha256()) > 0, "it could not be signed");
  return texts_of(*certificate, *key);
}

} // namespace fq
