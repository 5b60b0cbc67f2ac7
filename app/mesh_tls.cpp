// SPDX-License-Identifier: Apache-2.0
#include "app/mesh_tls.hpp"

#include "crypto/node_certificates.hpp"
#include "domain/base/environment.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace fq {
namespace {

using context_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using check_ptr = std::unique_ptr<X509_STORE_CTX, freed_by<X509_STORE_CTX_free>>;
using revocations_ptr = std::unique_ptr<X509_CRL, freed_by<X509_CRL_free>>;

std::string openssl_reason() {
  const char* text = ERR_reason_error_string(ERR_peek_last_error());
  return text != nullptr ? text : "it cannot be read";
}

void require(bool ok, const char* option, const std::filesystem::path& file, const std::string& why) {
  if (!ok) throw std::runtime_error{std::string{option} + " " + file.string() + ": " + why};
}

bool lists(X509_CRL& list, const X509& certificate) {
  X509_REVOKED* entry = nullptr;
  return X509_NAME_cmp(X509_CRL_get_issuer(&list), X509_get_issuer_name(&certificate)) == 0
         && X509_CRL_get0_by_cert(&list, &entry, const_cast<X509*>(&certificate)) == 1;
}

bool is_listed(SSL_CTX* context, const X509& certificate) {
  const auto* known = X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
  for (int i = 0; i < sk_X509_OBJECT_num(known); ++i) {
    auto* list = X509_OBJECT_get0_X509_CRL(sk_X509_OBJECT_value(known, i));
    if (list != nullptr && lists(*list, certificate)) return true;
  }
  return false;
}

bool is_of_authority(SSL_CTX* context, const peer_certificate& peer) {
  const check_ptr check{X509_STORE_CTX_new()};
  if (!check
      || X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context),
                             const_cast<X509*>(peer.whole.get()), peer.others.get())
           != 1)
    return false;
  X509_STORE_CTX_set_flags(check.get(), X509_V_FLAG_NO_CHECK_TIME);
  return X509_verify_cert(check.get()) == 1;
}

/// OpenSSL calls it for each certificate of the peer's chain. It does not ask OpenSSL to check the list,
/// which would refuse every peer once the list's date is over.
int check_peer(int is_trusted, X509_STORE_CTX* chain) {
  if (is_trusted != 1 || X509_STORE_CTX_get_error_depth(chain) != 0) return is_trusted;
  const auto* session =
    static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* certificate = X509_STORE_CTX_get_current_cert(chain);
  const auto refuse = [&](int why) {
    X509_STORE_CTX_set_error(chain, why);
    return 0;
  };
  if (is_listed(SSL_get_SSL_CTX(session), *certificate)) return refuse(X509_V_ERR_CERT_REVOKED);
  if (node_named_by(*certificate).empty()) return refuse(X509_V_ERR_APPLICATION_VERIFICATION);
  return 1;
}

/// Both sides are this program. Nothing is resumed: each handshake checks the certificate anew.
void harden(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE
                              | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, check_peer);
  // Without this, OpenSSL would prompt for a key's passphrase on the terminal.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
}

/// The text of a PEM file, which ends with the end of its last part: OpenSSL skips a part that is cut off.
std::string read_whole(const char* option, const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  require(!in.bad() && in.is_open(), option, file, "it cannot be read");
  constexpr std::string_view begin = "-----END ", end = "-----";
  const auto last = text.rfind(begin);
  const auto closed = last == std::string::npos ? last : text.find(end, last + begin.size());
  require(closed != std::string::npos
            && text.find_first_not_of(" \t\r\n", closed + end.size()) == std::string::npos,
          option, file, "it is cut off, or has text behind its last part");
  return text;
}

/// Adds the lists of the file, each of which must be signed by an authority of cluster.ca. Returns how many
/// certificates they name.
std::size_t add_revocations(SSL_CTX* context, const std::filesystem::path& file) {
  const auto whole = read_whole("cluster.revoked", file);
  const bio_ptr text{BIO_new_mem_buf(whole.data(), static_cast<int>(whole.size()))};
  require(text != nullptr, "cluster.revoked", file, openssl_reason());
  auto* store = SSL_CTX_get_cert_store(context);
  int found = 0;
  std::size_t revoked = 0;
  for (;; ++found) {
    const revocations_ptr list{PEM_read_bio_X509_CRL(text.get(), nullptr, nullptr, nullptr)};
    if (!list) break;
    revoked += static_cast<std::size_t>(std::max(0, sk_X509_REVOKED_num(X509_CRL_get_REVOKED(list.get()))));
    bool is_signed = false;
    const auto* known = X509_STORE_get0_objects(store);
    for (int i = 0; i < sk_X509_OBJECT_num(known) && !is_signed; ++i)
      if (auto* authority = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(known, i)))
        is_signed = X509_CRL_verify(list.get(), X509_get0_pubkey(authority)) == 1;
    require(is_signed, "cluster.revoked", file, "it is not signed by an authority of cluster.ca");
    require(X509_STORE_add_crl(store, list.get()) == 1, "cluster.revoked", file, openssl_reason());
  }
  require(ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE, "cluster.revoked", file,
          openssl_reason());
  require(found > 0, "cluster.revoked", file, "it holds no list of revoked certificates");
  ERR_clear_error();
  return revoked;
}

timestamp end_of(const X509& certificate) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &parts) != 1) return {};
  return std::chrono::time_point_cast<timestamp::duration>(
    std::chrono::system_clock::from_time_t(::timegm(&parts)));
}

} // namespace

struct mesh_tls::loaded {
  context_ptr context;
  timestamp expires;
  std::size_t revoked = 0;
};

mesh_tls::mesh_tls(const config::cluster_options& options, std::string node, environment& env) :
    options_(options), node_(std::move(node)), env_(env), loaded_(load()) {}

mesh_tls::~mesh_tls() = default;

std::shared_ptr<const mesh_tls::loaded> mesh_tls::load() const {
  ERR_clear_error();
  auto made = std::make_shared<loaded>();
  made->context.reset(SSL_CTX_new(TLS_method()));
  auto* context = made->context.get();
  if (context == nullptr) throw std::runtime_error{"cluster: no TLS: " + openssl_reason()};
  harden(context);
  require(SSL_CTX_use_certificate_chain_file(context, options_.certificate.c_str()) == 1,
          "cluster.certificate", options_.certificate, "cannot be used: " + openssl_reason());
  require(SSL_CTX_use_PrivateKey_file(context, options_.key.c_str(), SSL_FILETYPE_PEM) == 1
            && SSL_CTX_check_private_key(context) == 1,
          "cluster.key", options_.key, "cannot be used, or is another certificate's: " + openssl_reason());
  static_cast<void>(read_whole("cluster.ca", options_.ca));
  require(SSL_CTX_load_verify_locations(context, options_.ca.c_str(), nullptr) == 1, "cluster.ca",
          options_.ca, "cannot be used: " + openssl_reason());
  if (!options_.revoked.empty()) made->revoked = add_revocations(context, options_.revoked);
  const auto& certificate = *SSL_CTX_get0_certificate(context);
  const auto named = node_named_by(certificate);
  require(named == node_, "cluster.certificate", options_.certificate,
          "it names " + (named.empty() ? "no node" : "the node " + named) + ", but this node is " + node_
            + " (node.id): issue one with `fairqueue cluster issue-cert --node " + node_ + "`");
  made->expires = end_of(certificate);
  return made;
}

std::shared_ptr<const mesh_tls::loaded> mesh_tls::in_use() const {
  const std::lock_guard guard{lock_};
  return loaded_;
}

void mesh_tls::reload() {
  auto fresh = load();
  require(fresh->expires > env_.wall_now(), "cluster.certificate", options_.certificate, "it has expired");
  const std::lock_guard guard{lock_};
  loaded_.swap(fresh);
}

ssl_session mesh_tls::accepting(int descriptor) const {
  ssl_session session{SSL_new(in_use()->context.get())}; // keeps the context alive
  if (!session || SSL_set_fd(session.get(), descriptor) != 1) return {};
  SSL_set_accept_state(session.get());
  return session;
}

ssl_session mesh_tls::connecting(int descriptor) const {
  ssl_session session{SSL_new(in_use()->context.get())};
  if (!session || SSL_set_fd(session.get(), descriptor) != 1) return {};
  SSL_set_connect_state(session.get());
  return session;
}

bool mesh_tls::accepts(const peer_certificate& peer) const {
  const auto now = in_use();
  return !is_listed(now->context.get(), *peer.whole) && is_of_authority(now->context.get(), peer);
}

std::size_t mesh_tls::revoked() const { return in_use()->revoked; }

bool is_refused_now(const mesh_tls* tls, const peer_certificate& peer) {
  return tls != nullptr && peer.whole && !tls->accepts(peer);
}

timestamp mesh_tls::expires() const { return in_use()->expires; }

peer_certificate peer_of(SSL* session) {
  const std::shared_ptr<const X509> certificate{SSL_get1_peer_certificate(session),
                                                [](const X509* x) { X509_free(const_cast<X509*>(x)); }};
  const auto* sent = SSL_get_peer_cert_chain(session);
  const std::shared_ptr<STACK_OF(X509)> others{
    sent ? X509_chain_up_ref(const_cast<STACK_OF(X509)*>(sent)) : nullptr,
    [](STACK_OF(X509) * all) { sk_X509_pop_free(all, X509_free); }};
  return {certificate ? node_named_by(*certificate) : std::string{}, certificate, others};
}

std::string why_failed(SSL* session) {
  const auto verdict = SSL_get_verify_result(session);
  if (verdict == X509_V_ERR_APPLICATION_VERIFICATION) return "its certificate names no node";
  if (verdict != X509_V_OK) return std::string{"its certificate: "} + X509_verify_cert_error_string(verdict);
  const auto code = ERR_peek_last_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text != nullptr ? text : "it ended the connection";
}

} // namespace fq
