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
#include <string_view>

namespace fq {
namespace {

using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using list_ptr = std::unique_ptr<X509_CRL, freed_by<X509_CRL_free>>;
using revoked_ptr = std::unique_ptr<X509_REVOKED, freed_by<X509_REVOKED_free>>;
using number_ptr = std::unique_ptr<ASN1_INTEGER, freed_by<ASN1_INTEGER_free>>;
using time_ptr = std::unique_ptr<ASN1_TIME, freed_by<ASN1_TIME_free>>;
using names_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;

constexpr int serial_bytes = 16; // 127 random bits: unique without a register
constexpr std::string_view node_prefix = "fairqueue:node:"; ///< of a URI among the certificate's names

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

certificate_ptr read_certificate(const std::string& text) {
  return certificate_ptr{PEM_read_bio_X509(reading(text).get(), nullptr, nullptr, nullptr)};
}

struct authority_in_memory {
  certificate_ptr certificate;
  key_ptr key;
};

authority_in_memory read_authority(const certificate_and_key& texts) {
  authority_in_memory made{
    read_certificate(texts.certificate),
    key_ptr{PEM_read_bio_PrivateKey(reading(texts.key).get(), nullptr, nullptr, nullptr)}};
  require(made.certificate && made.key, "the authority cannot be read");
  require(X509_check_private_key(made.certificate.get(), made.key.get()) == 1,
          "the authority's key is another's");
  return made;
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

certificate_and_key issue_certificate(const certificate_and_key& authority, const std::string& node,
                                      timestamp now, seconds life) {
  const auto issuer = read_authority(authority);
  const auto key = new_key();
  const auto certificate = blank(*key, node, now, life);
  require(X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.certificate.get())) == 1,
          "out of memory");
  const auto name = "URI:" + std::string{node_prefix} + node;
  add_extension(*certificate, *issuer.certificate, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(*certificate, *issuer.certificate, NID_key_usage, "critical,digitalSignature");
  add_extension(*certificate, *issuer.certificate, NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(*certificate, *issuer.certificate, NID_subject_alt_name, name.c_str());
  add_extension(*certificate, *issuer.certificate, NID_subject_key_identifier, "hash");
  add_extension(*certificate, *issuer.certificate, NID_authority_key_identifier, "keyid");
  require(X509_sign(certificate.get(), issuer.key.get(), EVP_sha256()) > 0, "it could not be signed");
  return texts_of(*certificate, *key);
}

// -- the list of revoked certificates

namespace {

/// Adds the entries of an earlier list, which must be the authority's.
void add_earlier(X509_CRL& list, const std::string& before, const authority_in_memory& issuer) {
  if (before.empty()) return;
  const list_ptr earlier{PEM_read_bio_X509_CRL(reading(before).get(), nullptr, nullptr, nullptr)};
  require(earlier && X509_CRL_verify(earlier.get(), issuer.key.get()) == 1,
          "the list of revoked certificates is not the authority's");
  auto* entries = X509_CRL_get_REVOKED(earlier.get());
  for (int i = 0; i < sk_X509_REVOKED_num(entries); ++i) {
    revoked_ptr entry{X509_REVOKED_dup(sk_X509_REVOKED_value(entries, i))};
    require(entry && X509_CRL_add0_revoked(&list, entry.get()) == 1, "out of memory");
    static_cast<void>(entry.release());
  }
}

/// Adds the certificate, unless it is in the list.
void add_revoked(X509_CRL& list, X509& certificate, const ASN1_TIME& now) {
  X509_REVOKED* known = nullptr;
  if (X509_CRL_get0_by_cert(&list, &known, &certificate) == 1) return;
  revoked_ptr entry{X509_REVOKED_new()};
  require(entry && X509_REVOKED_set_serialNumber(entry.get(), X509_get_serialNumber(&certificate)) == 1
            && X509_REVOKED_set_revocationDate(entry.get(), const_cast<ASN1_TIME*>(&now)) == 1
            && X509_CRL_add0_revoked(&list, entry.get()) == 1,
          "out of memory");
  static_cast<void>(entry.release());
}

void finish(X509_CRL& list, const authority_in_memory& issuer) {
  const number_ptr number{ASN1_INTEGER_new()}; // grows with every list, as RFC 5280 requires
  require(number && ASN1_INTEGER_set(number.get(), sk_X509_REVOKED_num(X509_CRL_get_REVOKED(&list))) == 1
            && X509_CRL_add1_ext_i2d(&list, NID_crl_number, number.get(), 0, 0) == 1,
          "out of memory");
  require(X509_CRL_sort(&list) == 1 && X509_CRL_sign(&list, issuer.key.get(), EVP_sha256()) > 0,
          "the list could not be signed");
}

} // namespace

std::string sign_revocations(const certificate_and_key& authority, const std::string& before,
                             const std::string& certificate, timestamp now) {
  const auto issuer = read_authority(authority);
  const list_ptr list{X509_CRL_new()};
  const time_ptr from{
    ASN1_TIME_set(nullptr, std::chrono::duration_cast<seconds>(now.time_since_epoch()).count())};
  require(list && from && X509_CRL_set_version(list.get(), X509_CRL_VERSION_2) == 1
            && X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(issuer.certificate.get())) == 1
            && X509_CRL_set1_lastUpdate(list.get(), from.get()) == 1
            && X509_CRL_set1_nextUpdate(list.get(), X509_get0_notAfter(issuer.certificate.get())) == 1,
          "out of memory");
  add_earlier(*list, before, issuer);
  if (!certificate.empty()) {
    const auto revoked = read_certificate(certificate);
    require(revoked && X509_verify(revoked.get(), issuer.key.get()) == 1, "it is not of this authority");
    add_revoked(*list, *revoked, *from);
  }
  finish(*list, issuer);
  const auto text = empty_text();
  require(PEM_write_bio_X509_CRL(text.get(), list.get()) == 1, "out of memory");
  return text_of(text);
}

std::string serial_of(const std::string& certificate) {
  const auto read = read_certificate(certificate);
  require(read != nullptr, "it cannot be read");
  const std::unique_ptr<BIGNUM, freed_by<BN_free>> number{
    ASN1_INTEGER_to_BN(X509_get0_serialNumber(read.get()), nullptr)};
  char* digits = number ? BN_bn2hex(number.get()) : nullptr;
  require(digits != nullptr, "out of memory");
  std::string text{digits};
  OPENSSL_free(digits);
  return text;
}

std::string node_named_by(const X509& certificate) {
  const names_ptr names{
    static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))};
  if (!names || sk_GENERAL_NAME_num(names.get()) != 1) return {};
  int kind = 0;
  const auto* value =
    static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), 0), &kind));
  if (kind != GEN_URI) return {};
  const std::string_view uri{reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                             static_cast<std::size_t>(ASN1_STRING_length(value))};
  return uri.starts_with(node_prefix) ? std::string{uri.substr(node_prefix.size())} : std::string{};
}

} // namespace fq
