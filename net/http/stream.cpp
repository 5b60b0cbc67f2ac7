// SPDX-License-Identifier: Apache-2.0
// The TLS part of stream.
#include "net/http/stream.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <cerrno>

namespace fq::net {

namespace {

/// A BIO_callback_fn_ex. A read that leaves room has emptied the socket, as in ready_socket::receive: without
/// this each request would cost a read that finds nothing.
long note_read(BIO* bio, int operation, const char*, std::size_t room, int, long, int result,
               std::size_t* got) {
  if (operation == (BIO_CB_READ | BIO_CB_RETURN))
    *reinterpret_cast<bool*>(BIO_get_callback_arg(bio)) = result != 1 || *got < room;
  return result;
}

} // namespace

stream::stream(ready_socket socket, ssl_ptr tls) :
    socket_(std::move(socket)), tls_(new tls_side{std::move(tls)}) {
  auto* bio = SSL_get_rbio(tls_->ssl.get());
  BIO_set_callback_arg(bio, reinterpret_cast<char*>(&tls_->drained));
  BIO_set_callback_ex(bio, note_read);
}

/// Whether OpenSSL holds bytes of a record that did not fit into the caller's buffer; the socket does not
/// signal those. False for a broken stream: a waiter would otherwise be called forever.
bool stream::holds_input() const {
  return !tls_->broken && !tls_->emptied && SSL_has_pending(tls_->ssl.get()) == 1;
}

bool stream::has_input() const { return (tls_ && holds_input()) || socket_.has_input(); }

ssize_t stream::receive_tls(char* into, std::size_t room) {
  auto& t = *tls_;
  t.read_waits_to_write = false;
  if (t.broken) {
    errno = ECONNRESET;
    return -1;
  }
  ERR_clear_error(); // SSL_get_error reads the thread's queue, which connections share
  t.drained = false;
  std::size_t got = 0;
  const int result = SSL_read_ex(t.ssl.get(), into, room, &got);
  t.emptied = result != 1;
  socket_.was_read(t.drained || t.emptied);
  if (result == 1) return static_cast<ssize_t>(got);
  errno = EAGAIN;
  switch (SSL_get_error(t.ssl.get(), result)) {
    case SSL_ERROR_WANT_READ: return -1;
    case SSL_ERROR_WANT_WRITE: t.read_waits_to_write = true; return -1;
    case SSL_ERROR_ZERO_RETURN: return 0;
    default: break;
  }
  t.broken = true;
  errno = ECONNRESET;
  return -1;
}

ssize_t stream::send_tls(std::string_view bytes) {
  auto& t = *tls_;
  t.write_waits_to_read = false;
  if (t.broken) {
    errno = ECONNRESET;
    return -1;
  }
  ERR_clear_error();
  std::size_t taken = 0;
  const int result = SSL_write_ex(t.ssl.get(), bytes.data(), bytes.size(), &taken);
  socket_.was_written(result != 1);
  if (result == 1) return static_cast<ssize_t>(taken);
  errno = EAGAIN;
  switch (SSL_get_error(t.ssl.get(), result)) {
    case SSL_ERROR_WANT_WRITE: return -1;
    case SSL_ERROR_WANT_READ: t.write_waits_to_read = true; return -1;
    default: break;
  }
  t.broken = true;
  errno = ECONNRESET;
  return -1;
}

/// Sends close_notify, so that the peer knows the answer was complete. Never waits: a peer that does not
/// read gets none.
void stream::say_goodbye() {
  if (!tls_ || std::exchange(tls_->broken, true)) return;
  ERR_clear_error();
  SSL_shutdown(tls_->ssl.get());
}

void stream::shutdown_send() {
  say_goodbye();
  socket_.shutdown_send();
}

void stream::close() {
  if (socket_.is_open()) say_goodbye();
  tls_.reset();
  socket_.close();
}

} // namespace fq::net
