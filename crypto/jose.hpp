// SPDX-License-Identifier: Apache-2.0
// Owning wrappers for libcjose objects. For the files of crypto/ only.
#pragma once

#include <cjose/cjose.h>

#include <memory>
#include <string>
#include <string_view>

namespace fq::jose {

struct release {
  void operator()(cjose_jwk_t* jwk) const noexcept { cjose_jwk_release(jwk); }
  void operator()(cjose_jws_t* jws) const noexcept { cjose_jws_release(jws); }
  void operator()(cjose_header_t* header) const noexcept { cjose_header_release(header); }
};
using jwk_ptr = std::unique_ptr<cjose_jwk_t, release>;
using jws_ptr = std::unique_ptr<cjose_jws_t, release>;
using header_ptr = std::unique_ptr<cjose_header_t, release>;

/// Throws std::runtime_error with the library's message unless `ok`.
void must(bool ok, const cjose_err& error);

/// Throws std::runtime_error if the text is not a JWK.
jwk_ptr import_key(std::string_view jwk);
header_ptr make_header(const char* algorithm, const std::string& type, const std::string& kid);
/// Returns a compact JWS.
std::string sign(const cjose_jwk_t* jwk, cjose_header_t* header, std::string_view payload);
/// Whether `token` is signed with `jwk`. Precondition: the caller has compared the algorithm in the token's
/// header with the key's.
bool is_signed_with(std::string_view token, const cjose_jwk_t* jwk);

} // namespace fq::jose
