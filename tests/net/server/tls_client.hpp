// SPDX-License-Identifier: Apache-2.0
// A raw client with TLS, and a folder with a self-made certificate.
#pragma once
#include "tests/net/server/client.hpp"
#include "tests/net/server/fakes.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

namespace fq::net::fake {

/// A folder with a self-made certificate and its key.
class certificate_folder {
public:
  explicit certificate_folder(const char* name = "first") {
    std::signal(SIGPIPE, SIG_IGN); // as the program does
    static int made = 0;
    folder_ = std::filesystem::temp_directory_path()
              / ("fq-tls-" + std::to_string(::getpid()) + "-" + std::to_string(++made));
    std::filesystem::create_directories(folder_);
    write(name, 0, 90);
  }
  ~certificate_folder() { std::filesystem::remove_all(folder_); }

  /// Valid from `from` to `until`, in days relative to now.
  void write(const char* name, int from, int until, bool is_rsa = false) const {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
      is_rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"), &EVP_PKEY_free};
    const std::unique_ptr<X509, decltype(&X509_free)> x{X509_new(), &X509_free};
    X509_set_version(x.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(x.get()), from * 86'400L);
    X509_gmtime_adj(X509_getm_notAfter(x.get()), until * 86'400L);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509_set_issuer_name(x.get(), X509_get_subject_name(x.get()));
    X509_set_pubkey(x.get(), key.get());
    X509_sign(x.get(), key.get(), EVP_sha256());
    std::FILE* to = std::fopen(certificate().c_str(), "w");
    PEM_write_X509(to, x.get());
    std::fclose(to);
    to = std::fopen(this->key().c_str(), "w");
    PEM_write_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(to);
  }

  void spoil(const std::filesystem::path& file, std::string_view content) const {
    std::ofstream{file} << content;
  }

  [[nodiscard]] std::filesystem::path certificate() const { return folder_ / "chain.pem"; }
  [[nodiscard]] std::filesystem::path key() const { return folder_ / "key.pem"; }

  [[nodiscard]] config::options options() const {
    auto o = fake::fast_options();
    o.tls.listen = "127.0.0.1:0";
    o.tls.certificate = certificate();
    o.tls.key = key();
    o.tls.handshake_timeout = milliseconds{5'000};
    o.tls.handshakes_max = 64;
    o.tls.hsts = milliseconds{365ll * 86'400'000};
    return o;
  }

private:
  std::filesystem::path folder_;
};

struct hello {
  int version = 0; ///< the only offered version; 0: any
  std::string_view alpn = {}; ///< wire format; empty: not offered
  SSL_SESSION* resume = nullptr;
  int receive_buffer = 0;
};

/// The raw client with TLS.
class tls_client final : public client {
public:
  explicit tls_client(std::uint16_t port, hello h = {}) :
      client(port, h.receive_buffer), context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free) {
    if (h.version != 0) {
      SSL_CTX_set_security_level(context_.get(), 0);
      SSL_CTX_set_min_proto_version(context_.get(), h.version);
      SSL_CTX_set_max_proto_version(context_.get(), h.version);
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), descriptor());
    if (!h.alpn.empty())
      SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(h.alpn.data()),
                          static_cast<unsigned>(h.alpn.size()));
    if (h.resume != nullptr) SSL_set_session(ssl_.get(), h.resume);
    ERR_clear_error();
    through_ = SSL_connect(ssl_.get()) == 1;
  }

  [[nodiscard]] bool through() const { return through_; }
  [[nodiscard]] bool resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
  /// True if the server sent close_notify instead of cutting the connection.
  [[nodiscard]] bool was_told_the_end() const {
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  [[nodiscard]] std::string alpn() const {
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &chosen, &size);
    return {reinterpret_cast<const char*>(chosen), size};
  }
  [[nodiscard]] std::string server_name() const {
    const std::unique_ptr<X509, decltype(&X509_free)> x{SSL_get1_peer_certificate(ssl_.get()), &X509_free};
    char text[64] = {};
    X509_NAME_get_text_by_NID(X509_get_subject_name(x.get()), NID_commonName, text, sizeof text);
    return text;
  }
  /// The session of the latest ticket; call it after an answer was read.
  [[nodiscard]] std::shared_ptr<SSL_SESSION> session() const {
    return {SSL_get1_session(ssl_.get()), &SSL_SESSION_free};
  }

protected:
  ssize_t write_some(std::string_view bytes) override {
    ERR_clear_error();
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  ssize_t read_some(char* into, std::size_t room) override {
    ERR_clear_error();
    return SSL_read(ssl_.get(), into, static_cast<int>(room));
  }

private:
  struct ssl_end {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, ssl_end> ssl_;
  bool through_ = false;
};

} // namespace fq::net::fake
