// SPDX-License-Identifier: Apache-2.0
// Stands before four functions of OpenSSL for all shared libraries of this process. CAF 0.17 asks
// SSL_get_error without clearing the thread's queue of errors first, as OpenSSL demands ("The current
// thread's error queue must be empty before the TLS/SSL I/O operation is attempted", SSL_get_error(3)). So
// one handshake that failed (a stranger at cluster.listen is enough) would end every connection between
// nodes: the next of them to read would find the stranger's error. tests/blackbox/cluster.test.mjs, "a node
// with another authority's certificate is no node", fails without this.
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <dlfcn.h>

#include <cstdlib>

namespace {

/// The library's own. There always is one: who calls us is linked with it.
template <class Function>
Function* next(const char* name) {
  auto* found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (found == nullptr) std::abort();
  return found;
}

} // namespace

extern "C" {

int SSL_read(SSL* ssl, void* buffer, int size) {
  static auto* const own = next<int(SSL*, void*, int)>("SSL_read");
  ERR_clear_error();
  return own(ssl, buffer, size);
}

int SSL_write(SSL* ssl, const void* buffer, int size) {
  static auto* const own = next<int(SSL*, const void*, int)>("SSL_write");
  ERR_clear_error();
  return own(ssl, buffer, size);
}

int SSL_accept(SSL* ssl) {
  static auto* const own = next<int(SSL*)>("SSL_accept");
  ERR_clear_error();
  return own(ssl);
}

int SSL_connect(SSL* ssl) {
  static auto* const own = next<int(SSL*)>("SSL_connect");
  ERR_clear_error();
  return own(ssl);
}

} // extern "C"
