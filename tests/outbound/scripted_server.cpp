// SPDX-License-Identifier: Apache-2.0
// See scripted_server.hpp. Blocking sockets; stop() shuts them down, which ends every read.
#include "tests/outbound/scripted_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace fq::test {
namespace {

void must(bool ok) {
  if (!ok) throw std::runtime_error{"the scripted server cannot be set up"};
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

using ssl_ptr = std::unique_ptr<SSL, decltype(&SSL_free)>;
using context_ptr = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

/// A key and a self-signed certificate, valid for an hour.
struct identity {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"),
                                                          &EVP_PKEY_free};
  std::unique_ptr<X509, decltype(&X509_free)> certificate{X509_new(), &X509_free};

  explicit identity(const char* alternative_name) {
    must(key != nullptr && certificate != nullptr);
    auto* c = certificate.get();
    ASN1_INTEGER_set(X509_get_serialNumber(c), 1);
    X509_set_version(c, 2);
    X509_gmtime_adj(X509_getm_notBefore(c), -60);
    X509_gmtime_adj(X509_getm_notAfter(c), 3600);
    X509_set_pubkey(c, key.get());
    auto* name = X509_get_subject_name(c);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("scripted server"), -1, -1, 0);
    X509_set_issuer_name(c, name);
    auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative_name);
    must(extension != nullptr);
    X509_add_ext(c, extension, -1);
    X509_EXTENSION_free(extension);
    must(X509_sign(c, key.get(), EVP_sha256()) > 0);
  }

  [[nodiscard]] std::string pem() const {
    BIO* memory = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(memory, certificate.get());
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(memory, &bytes);
    std::string text{bytes, static_cast<std::size_t>(size)};
    BIO_free(memory);
    return text;
  }
};

/// One connection's bytes, plain or through TLS.
class channel {
public:
  channel(int socket, SSL_CTX* context) : socket_{socket} {
    if (context == nullptr) return;
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), socket_);
    open_ = SSL_accept(ssl_.get()) == 1;
  }
  [[nodiscard]] bool is_open() const { return open_; }
  int read(char* to, std::size_t size) {
    return ssl_ ? SSL_read(ssl_.get(), to, static_cast<int>(size))
                : static_cast<int>(::recv(socket_, to, size, 0));
  }
  bool write(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const auto left = bytes.size() - sent;
      const auto n = ssl_ ? SSL_write(ssl_.get(), bytes.data() + sent, static_cast<int>(left))
                          : static_cast<int>(::send(socket_, bytes.data() + sent, left, MSG_NOSIGNAL));
      if (n <= 0) return false;
      sent += static_cast<std::size_t>(n);
    }
    return true;
  }

private:
  int socket_;
  ssl_ptr ssl_{nullptr, &SSL_free};
  bool open_ = true;
};

std::string field_of(const std::string& head, std::string_view name) {
  for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
    const auto end = head.find("\r\n", at);
    const auto line = std::string_view{head}.substr(at, end - at);
    const auto colon = line.find(": ");
    if (colon != std::string_view::npos && same_name(line.substr(0, colon), name))
      return std::string{line.substr(colon + 2)};
    at = end + 2;
  }
  return {};
}

/// The next request; false when the connection ends first.
bool read_request(channel& from, std::string& inbox, scripted_request& out) {
  auto whole = [&] {
    const auto end = inbox.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    out.head = inbox.substr(0, end + 4);
    const auto length = std::strtoul(field_of(out.head, "content-length").c_str(), nullptr, 10);
    if (inbox.size() < end + 4 + length) return false;
    out.body = inbox.substr(end + 4, length);
    inbox.erase(0, end + 4 + length);
    return true;
  };
  while (!whole()) {
    char buffer[4096];
    const auto n = from.read(buffer, sizeof buffer);
    if (n <= 0) return false;
    inbox.append(buffer, static_cast<std::size_t>(n));
  }
  const auto space = out.head.find(' ');
  out.method = out.head.substr(0, space);
  out.target = out.head.substr(space + 1, out.head.find(' ', space + 1) - space - 1);
  return true;
}

} // namespace

std::string scripted_request::field(std::string_view name) const { return field_of(head, name); }

scripted_answer answer(int status, const std::string& body, const std::string& fields) {
  return {"HTTP/1.1 " + std::to_string(status) + " Scripted\r\n" + fields
            + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
          scripted_answer::then_type::keep,
          {}};
}
scripted_answer hang() { return {{}, scripted_answer::then_type::hang, {}}; }
scripted_answer reset() { return {{}, scripted_answer::then_type::reset, {}}; }

class scripted_server::work {
public:
  work(script answer, tls_type tls) : answer_{std::move(answer)} {
    if (tls != tls_type::none) set_up_tls(tls);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    must(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    must(::listen(listener_, 128) == 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread{[this] { accept_all(); }};
  }
  ~work() { stop(); }

  void stop() {
    if (!acceptor_.joinable()) return;
    {
      const std::lock_guard lock{mutex_};
      stopping_ = true;
      for (const auto socket : open_) ::shutdown(socket, SHUT_RDWR);
    }
    changed_.notify_all();
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (auto& t : threads_) t.join();
    ::close(listener_);
  }

  [[nodiscard]] std::string url() const {
    return (context_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
  }
  [[nodiscard]] std::vector<scripted_request> requests() const {
    const std::lock_guard lock{mutex_};
    return requests_;
  }
  [[nodiscard]] int connections() const {
    const std::lock_guard lock{mutex_};
    return connections_;
  }
  [[nodiscard]] std::uint64_t bytes_sent() const { return sent_; }
  [[nodiscard]] bool wait_for_requests(std::size_t count) const {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{10}, [&] { return requests_.size() >= count; });
  }
  [[nodiscard]] std::string certificate() const { return identity_ ? identity_->pem() : std::string{}; }

private:
  void set_up_tls(tls_type tls) {
    identity_ =
      std::make_unique<identity>(tls == tls_type::for_loopback ? "IP:127.0.0.1" : "DNS:example.test");
    context_.reset(SSL_CTX_new(TLS_server_method()));
    must(context_ != nullptr);
    must(SSL_CTX_use_certificate(context_.get(), identity_->certificate.get()) == 1);
    must(SSL_CTX_use_PrivateKey(context_.get(), identity_->key.get()) == 1);
  }

  static void block_sigpipe() { // SSL_write has no MSG_NOSIGNAL
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  }

  void accept_all() {
    block_sigpipe();
    for (;;) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      const std::lock_guard lock{mutex_};
      if (stopping_) {
        ::close(socket);
        return;
      }
      ++connections_;
      open_.insert(socket);
      threads_.emplace_back([this, socket] { serve(socket); });
    }
  }

  void serve(int socket) {
    channel peer{socket, context_.get()};
    std::string inbox;
    scripted_request request;
    bool reset = false;
    while (peer.is_open() && read_request(peer, inbox, request)) {
      const auto reply = take(request);
      pause(reply.delay);
      if (!send(peer, reply) || reply.then == scripted_answer::then_type::close) break;
      reset = reply.then == scripted_answer::then_type::reset;
      if (reset) break;
      char ignored[64];
      if (reply.then == scripted_answer::then_type::hang)
        while (peer.read(ignored, sizeof ignored) > 0) {}
    }
    close(socket, reset);
  }

  /// False when the connection ends first.
  bool send(channel& peer, const scripted_answer& reply) {
    if (!send(peer, reply.bytes)) return false;
    while (!reply.forever.empty()) {
      pause(reply.between);
      if (!send(peer, reply.forever)) return false;
    }
    return true;
  }
  bool send(channel& peer, const std::string& bytes) {
    if (!peer.write(bytes)) return false;
    sent_ += bytes.size();
    return true;
  }

  scripted_answer take(const scripted_request& request) {
    {
      const std::lock_guard lock{mutex_};
      requests_.push_back(request);
    }
    changed_.notify_all();
    const std::lock_guard one{script_mutex_};
    return answer_(request);
  }

  void pause(std::chrono::milliseconds delay) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, delay, [&] { return stopping_; });
  }

  void close(int socket, bool reset) {
    const std::lock_guard lock{mutex_};
    const linger at_once{1, 0};
    if (reset) ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    open_.erase(socket);
    ::close(socket);
  }

  script answer_;
  std::atomic<std::uint64_t> sent_{0};
  int listener_ = -1;
  int port_ = 0;
  std::unique_ptr<identity> identity_;
  context_ptr context_{nullptr, &SSL_CTX_free};
  std::mutex script_mutex_;
  mutable std::mutex mutex_; // guards the rest
  mutable std::condition_variable changed_;
  bool stopping_ = false;
  int connections_ = 0;
  std::set<int> open_;
  std::vector<scripted_request> requests_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

scripted_server::scripted_server(script answer, tls_type tls) :
    work_{std::make_unique<work>(std::move(answer), tls)} {}
scripted_server::~scripted_server() = default;
void scripted_server::stop() { work_->stop(); }
std::string scripted_server::url() const { return work_->url(); }
std::vector<scripted_request> scripted_server::requests() const { return work_->requests(); }
int scripted_server::connections() const { return work_->connections(); }
std::uint64_t scripted_server::bytes_sent() const { return work_->bytes_sent(); }
bool scripted_server::wait_for_requests(std::size_t count) const { return work_->wait_for_requests(count); }
std::string scripted_server::certificate() const { return work_->certificate(); }

} // namespace fq::test
