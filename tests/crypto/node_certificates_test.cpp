// SPDX-License-Identifier: Apache-2.0
// The cluster's authority: certificates that name nodes, and its list of revoked ones as OpenSSL reads it.
#define CAF_SUITE node_certificates
#include "caf/test/unit_test.hpp"

#include "crypto/node_certificates.hpp"
#include "crypto/openssl_pointers.hpp"

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <stdexcept>

using namespace fq;

namespace {

using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using list_ptr = std::unique_ptr<X509_CRL, freed_by<X509_CRL_free>>;

constexpr timestamp now{milliseconds{1'800'000'000'000}};
constexpr seconds day{86'400};

certificate_ptr read(const std::string& pem) {
  const bio_ptr text{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  return certificate_ptr{PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)};
}
list_ptr read_list(const std::string& pem) {
  const bio_ptr text{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  return list_ptr{PEM_read_bio_X509_CRL(text.get(), nullptr, nullptr, nullptr)};
}

bool is_refused(const certificate_and_key& authority, const std::string& before,
                const certificate_and_key& one) {
  try {
    static_cast<void>(sign_revocations(authority, before, one.certificate, now));
    return false;
  } catch (const std::runtime_error&) { return true; }
}

struct fixture {
  certificate_and_key authority = make_authority(now, 3650 * day);
  certificate_and_key a = issue_certificate(authority, "node-a", now, 90 * day);
  certificate_and_key b = issue_certificate(authority, "node-b", now, 90 * day);
  static bool lists(const std::string& list, const certificate_and_key& one) {
    X509_REVOKED* entry = nullptr;
    return X509_CRL_get0_by_cert(read_list(list).get(), &entry, read(one.certificate).get()) == 1;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(node_certificates_tests, fixture)

CAF_TEST(a certificate names its node and the authority names none) {
  CAF_CHECK_EQUAL(node_named_by(*read(a.certificate)), "node-a");
  CAF_CHECK_EQUAL(node_named_by(*read(authority.certificate)), "");
  CAF_CHECK_NOT_EQUAL(serial_of(a.certificate), serial_of(b.certificate));
}

CAF_TEST(a list of revoked certificates is signed by the authority and grows) {
  const auto first = sign_revocations(authority, "", a.certificate, now);
  CAF_CHECK(lists(first, a));
  CAF_CHECK(!lists(first, b));
  const auto second = sign_revocations(authority, first, b.certificate, now);
  CAF_CHECK(lists(second, a));
  CAF_CHECK(lists(second, b));
  CAF_CHECK_EQUAL(
    X509_CRL_verify(read_list(second).get(), X509_get0_pubkey(read(authority.certificate).get())), 1);
  const auto again = sign_revocations(authority, second, b.certificate, now);
  CAF_CHECK_EQUAL(sk_X509_REVOKED_num(X509_CRL_get_REVOKED(read_list(again).get())), 2);
}

CAF_TEST(what another authority has made is not revoked and its list is not extended) {
  const auto other = make_authority(now, 3650 * day);
  const auto foreign = issue_certificate(other, "node-a", now, 90 * day);
  CAF_CHECK(is_refused(authority, "", foreign));
  CAF_CHECK(is_refused(authority, sign_revocations(other, "", foreign.certificate, now), a));
  CAF_CHECK(is_refused(authority, "nonsense", a));
}

CAF_TEST_FIXTURE_SCOPE_END()
