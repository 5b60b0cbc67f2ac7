// SPDX-License-Identifier: Apache-2.0
#include "store/redis/redis_link.hpp"

#include "store/redis/limits.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

namespace fq {
namespace {

timeval to_timeval(milliseconds d) {
  return {.tv_sec = d.count() / 1'000, .tv_usec = (d.count() % 1'000) * 1'000};
}

} // namespace

// -- TLS

redis_tls::redis_tls(const std::string& ca_file) : context_(SSL_CTX_new(TLS_client_method())) {
  if (!context_) throw std::bad_alloc{};
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  const int ok = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context_.get())
                                 : SSL_CTX_load_verify_file(context_.get(), ca_file.c_str());
  ERR_clear_error();
  if (ok != 1) throw std::invalid_argument("cache.ca_file: no certificates can be read from " + ca_file);
}

void redis_tls::deleter::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }

// -- link

void redis_link::deleter::operator()(redisContext* context) const noexcept { redisFree(context); }
void redis_link::deleter::operator()(ssl_st* session) const noexcept { SSL_free(session); }

redis_link::redis_link(redis_host server, const redis_tls* tls, milliseconds connect_timeout,
                       milliseconds answer_timeout) :
    server_(std::move(server)), answer_timeout_(answer_timeout) {
  context_.reset(redisConnectWithTimeout(server_.host.c_str(), server_.port, to_timeval(connect_timeout)));
  if (!context_) throw std::bad_alloc{};
  if (context_->err != 0) fail(context_->errstr);
  ::fcntl(context_->fd, F_SETFD, FD_CLOEXEC);
  if (redisSetTimeout(context_.get(), to_timeval(answer_timeout)) != REDIS_OK
      || redisEnableKeepAlive(context_.get()) != REDIS_OK)
    fail(context_->errstr);
  if (tls != nullptr) shake_hands(*tls);
}

void redis_link::shake_hands(const redis_tls& tls) {
  session_.reset(SSL_new(tls.context()));
  if (!session_ || SSL_set_fd(session_.get(), context_->fd) != 1) throw std::bad_alloc{};
  auto* wanted = SSL_get0_param(session_.get());
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const auto& host = server_.host;
  const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1;
  if (!is_address
      && (X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) != 1
          || SSL_set_tlsext_host_name(session_.get(), host.c_str()) != 1))
    fail("its name cannot be verified");
  ERR_clear_error();
  if (const int result = SSL_connect(session_.get()); result != 1) fail_tls(result);
}

bool redis_link::is_readable() const {
  pollfd p{.fd = context_->fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, 0) > 0;
}

redis_replies redis_link::exchange(const redis_pipeline& commands) {
  send(commands.bytes());
  redis_replies replies;
  for (std::size_t i = 0; i < commands.size(); ++i) replies.push(receive());
  return replies;
}

void redis_link::send(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t sent = 0;
    if (session_) {
      ERR_clear_error();
      if (const int ok = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &sent); ok != 1)
        fail_tls(ok);
    } else if (const auto n = ::send(context_->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL); n >= 0)
      sent = static_cast<std::size_t>(n);
    else if (errno != EINTR)
      fail(errno == EAGAIN ? "it does not read" : std::strerror(errno));
    bytes.remove_prefix(sent);
  }
}

redisReply* redis_link::receive() {
  std::array<char, redis_bounds::read_bytes> chunk;
  for (;;) {
    void* reply = nullptr;
    if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) fail(context_->reader->errstr);
    if (reply != nullptr) return static_cast<redisReply*>(reply);
    if (redisReaderFeed(context_->reader, chunk.data(), read(chunk.data(), chunk.size())) != REDIS_OK)
      fail(context_->reader->errstr);
  }
}

std::size_t redis_link::read(char* into, std::size_t size) {
  if (session_) {
    std::size_t got = 0;
    ERR_clear_error();
    if (const int ok = SSL_read_ex(session_.get(), into, size, &got); ok != 1) fail_tls(ok);
    return got;
  }
  for (;;) {
    const auto got = ::recv(context_->fd, into, size, 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) fail("it closed the connection");
    if (errno == EAGAIN) fail("no answer within " + std::to_string(answer_timeout_.count()) + " ms");
    if (errno != EINTR) fail(std::strerror(errno));
  }
}

void redis_link::fail(std::string_view reason) const {
  throw link_failed("redis at " + server_.host + ":" + std::to_string(server_.port) + ": "
                    + std::string{reason});
}

void redis_link::fail_tls(int result) const {
  const int system_error = errno;
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ: // the socket's timeout
    case SSL_ERROR_WANT_WRITE: fail("no answer within " + std::to_string(answer_timeout_.count()) + " ms");
    case SSL_ERROR_ZERO_RETURN: fail("it closed the connection");
    case SSL_ERROR_SYSCALL:
      fail(system_error == 0 ? "it closed the connection" : std::strerror(system_error));
    default: break;
  }
  if (const auto verdict = SSL_get_verify_result(session_.get()); verdict != X509_V_OK)
    fail(std::string{"its certificate is refused: "} + X509_verify_cert_error_string(verdict));
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  fail(std::string{"TLS: "} + (reason != nullptr ? reason : "unknown error"));
}

} // namespace fq
