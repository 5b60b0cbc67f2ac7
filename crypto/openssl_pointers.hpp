// SPDX-License-Identifier: Apache-2.0
// Owning pointers to OpenSSL's objects.
#pragma once

#include <openssl/bio.h>

#include <memory>

namespace fq {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* what) const noexcept {
    Free(what);
  }
};
using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free_all>>;

} // namespace fq
