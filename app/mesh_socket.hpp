// SPDX-License-Identifier: Apache-2.0
// A connected socket whose TLS handshake is done, on its way from the cluster port or the dialer to CAF.
#pragma once
#include "app/mesh_links.hpp"

#include <unistd.h>

#include <utility>

namespace fq {

class mesh_socket {
public:
  /// `descriptor` was entered in `links`. `tls` null: without TLS.
  mesh_socket(int descriptor, ssl_session tls, mesh_links& links) :
      descriptor_(descriptor), tls_(std::move(tls)), links_(links) {}
  mesh_socket(mesh_socket&& other) noexcept :
      descriptor_(other.release()), tls_(std::move(other.tls_)), links_(other.links_) {}
  mesh_socket& operator=(mesh_socket&&) = delete;
  ~mesh_socket() {
    if (descriptor_ < 0) return;
    links_.leave(descriptor_);
    ::close(descriptor_);
  }

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] ssl_session take_tls() { return std::move(tls_); }
  /// The caller calls mesh_links::leave and closes it.
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }

private:
  int descriptor_;
  ssl_session tls_;
  mesh_links& links_;
};

} // namespace fq
