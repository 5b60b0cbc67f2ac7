// SPDX-License-Identifier: Apache-2.0
// Interposes four OpenSSL functions for all shared libraries of this process, to clear the thread's error
// queue before each call.
// CAF 0.17 does not clear it, although OpenSSL requires that ("The current thread's error queue must be
// empty before the TLS/SSL I/O operation is attempted", SSL_get_error(3)). Without this, one failed
// handshake at cluster.listen ends every connection between nodes: the next read finds the old error.
// Tested by tests/blackbox/cluster.test.mjs, "a node with another authority's certificate is no node".
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <dlfcn.h>

#include <cstdlib>

namespace {

/// The library's own function. It always exists: every caller is linked with OpenSSL.
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
