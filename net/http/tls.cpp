// SPDX-License-Identifier: Apache-2.0
#include "net/http/tls.hpp"

#include "net/http/limits.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

namespace fq::net {

namespace {

/// TLS 1.2: only forward secrecy and authenticated encryption, which TLS 1.3 always has.
constexpr const char* ciphers =
  "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
  "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* groups = "X25519:P-256:P-384";
constexpr std::string_view protocol = "\x08http/1.1"; ///< in ALPN's list format
constexpr std::string_view session_context = "fairqueue"; ///< refuses other programs' tickets

struct context_free {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};

/// Text of OpenSSL's first queued error: the first is the cause, later errors come from its callers.
std::string reason() {
  const auto code = ERR_peek_error();
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "it cannot be used";
}

[[noreturn]] void refuse(const char* option, const std::filesystem::path& file, const std::string& why) {
  throw std::runtime_error(std::string{option} + " " + file.string() + ": " + why);
}

timestamp time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::time_point_cast<timestamp::duration>(
    std::chrono::system_clock::from_time_t(::timegm(&parts)));
}

std::string name_of_subject(const X509* certificate) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text{BIO_new(BIO_s_mem()), &BIO_free};
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const auto size = BIO_get_mem_data(text.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

certificate_facts facts_of(SSL_CTX* context) {
  const X509* first = SSL_CTX_get0_certificate(context);
  certificate_facts facts{name_of_subject(first), time_of(X509_get0_notBefore(first)),
                          time_of(X509_get0_notAfter(first))};
  STACK_OF(X509)* others = nullptr;
  SSL_CTX_get0_chain_certs(context, &others);
  for (int i = 0; i < sk_X509_num(others); ++i)
    facts.not_after = std::min(facts.not_after, time_of(X509_get0_notAfter(sk_X509_value(others, i))));
  return facts;
}

/// Refuses a client that offers ALPN without HTTP/1.1, as RFC 7301 requires.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void*) {
  unsigned char* found = nullptr;
  const auto ours = reinterpret_cast<const unsigned char*>(protocol.data());
  if (SSL_select_next_proto(&found, size, ours, static_cast<unsigned>(protocol.size()), offered, offered_size)
      != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

bool prepare(const ticket_key& key, const unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
             bool seal) {
  std::string digest = "SHA256";
  auto secret = key.mac;
  const std::array parameters{
    OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, secret.data(), secret.size()),
    OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0), OSSL_PARAM_construct_end()};
  return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher.data(), iv, seal ? 1 : 0) == 1
         && EVP_MAC_CTX_set_params(mac, parameters.data()) == 1;
}

/// Returns as SSL_CTX_set_tlsext_ticket_key_evp_cb(3) defines: 1 continue, 2 continue and issue a new
/// ticket, 0 unknown key, -1 failure.
int ticket_key_for(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
                   int seal) {
  auto& keys = *static_cast<ticket_keys*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  if (seal == 1) {
    const auto key = keys.sealing();
    std::ranges::copy(key.name, name);
    keys.fill(std::span<unsigned char>{iv, static_cast<std::size_t>(EVP_MAX_IV_LENGTH)});
    return prepare(key, iv, cipher, mac, true) ? 1 : -1;
  }
  const auto known = keys.opening(std::span<const unsigned char, 16>{name, 16});
  if (!known) return 0;
  if (!prepare(known->key, iv, cipher, mac, false)) return -1;
  return known->is_old ? 2 : 1;
}

void harden(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA
                                 | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_security_level(context, 2);
  if (SSL_CTX_set_cipher_list(context, ciphers) != 1 || SSL_CTX_set1_groups_list(context, groups) != 1)
    throw std::runtime_error("this OpenSSL has none of our ciphers: " + reason());
}

/// Idle connections hold no buffers; a write may be partial, and its retry may use another address.
void suit_our_streams(SSL_CTX* context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE
                              | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1); // one system call per record instead of two
}

void resume_by_tickets(SSL_CTX* context, ticket_keys& keys) {
  SSL_CTX_set_app_data(context, &keys);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket_key_for);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(session_context.data()),
                                 static_cast<unsigned>(session_context.size()));
  const auto life =
    std::chrono::duration_cast<std::chrono::seconds>(ticket_keys::opens_for - ticket_keys::seals_for);
  SSL_CTX_set_timeout(context, static_cast<long>(life.count()));
}

} // namespace

bool should_be_renewed(const certificate_facts& facts, timestamp now) {
  const timestamp::duration sixth = (facts.not_after - facts.not_before) / 6;
  return facts.not_after - now < std::min<timestamp::duration>(renewal_warning, sixth);
}

struct tls_server::loaded {
  std::unique_ptr<SSL_CTX, context_free> context;
  certificate_facts facts;
};

tls_server::tls_server(const config::tls_options& options, environment& env) :
    options_(options), env_(env), tickets_(env), loaded_(load()) {}

tls_server::~tls_server() = default;

std::shared_ptr<const tls_server::loaded> tls_server::load() {
  ERR_clear_error();
  auto made = std::make_shared<loaded>();
  made->context.reset(SSL_CTX_new(TLS_server_method()));
  auto* context = made->context.get();
  if (context == nullptr) throw std::runtime_error("OpenSSL cannot make a context: " + reason());
  harden(context);
  suit_our_streams(context);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  resume_by_tickets(context, tickets_);
  // Without this, OpenSSL would prompt for a key's passphrase on the terminal.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
  if (SSL_CTX_use_certificate_chain_file(context, options_.certificate.c_str()) != 1)
    refuse("tls.certificate", options_.certificate, reason());
  ERR_clear_error();
  if (SSL_CTX_use_PrivateKey_file(context, options_.key.c_str(), SSL_FILETYPE_PEM) != 1)
    refuse("tls.key", options_.key, reason());
  // OpenSSL has one slot per algorithm: it accepts a key of another algorithm than the certificate's, but
  // then there is no pair.
  if (SSL_CTX_check_private_key(context) != 1)
    refuse("tls.key", options_.key,
           "it is not the key of the certificate in tls.certificate, which is of another algorithm");
  made->facts = facts_of(context);
  return made;
}

std::shared_ptr<const tls_server::loaded> tls_server::in_use() const {
  const std::lock_guard guard{lock_};
  return loaded_;
}

std::shared_ptr<const tls_server::loaded> tls_server::load_better() {
  auto fresh = load();
  if (fresh->facts.not_after <= env_.wall_now())
    refuse("tls.certificate", options_.certificate, "it has expired");
  return fresh;
}

void tls_server::reload() {
  try {
    auto fresh = load_better();
    const std::lock_guard guard{lock_};
    loaded_.swap(fresh);
  } catch (...) {
    counts.reloads_refused.fetch_add(1, std::memory_order_relaxed);
    counts.last_reload_refused.store(true, std::memory_order_relaxed);
    throw;
  }
  counts.reloads.fetch_add(1, std::memory_order_relaxed);
  counts.last_reload_refused.store(false, std::memory_order_relaxed);
}

ssl_ptr tls_server::begin(int descriptor) const {
  ssl_ptr ssl{SSL_new(in_use()->context.get())}; // keeps the context alive
  if (!ssl || SSL_set_fd(ssl.get(), descriptor) != 1) return {};
  SSL_set_accept_state(ssl.get());
  return ssl;
}

certificate_facts tls_server::facts() const { return in_use()->facts; }

} // namespace fq::net
