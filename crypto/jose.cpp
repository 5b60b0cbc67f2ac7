// SPDX-License-Identifier: Apache-2.0
#include "crypto/jose.hpp"

#include "crypto/digest.hpp"

#include <algorithm>
#include <stdexcept>

namespace fq::jose {

void must(bool ok, const cjose_err& error) {
  if (!ok)
    throw std::runtime_error{std::string{"cjose: "} + (error.message != nullptr ? error.message : "failed")};
}

jwk_ptr import_key(std::string_view text) {
  cjose_err error{};
  jwk_ptr jwk{cjose_jwk_import(text.data(), text.size(), &error)};
  must(jwk != nullptr, error);
  return jwk;
}

header_ptr make_header(const char* algorithm, const std::string& type, const std::string& kid) {
  cjose_err error{};
  header_ptr header{cjose_header_new(&error)};
  must(header != nullptr, error);
  must(cjose_header_set(header.get(), CJOSE_HDR_ALG, algorithm, &error), error);
  must(cjose_header_set(header.get(), "typ", type.c_str(), &error), error);
  must(cjose_header_set(header.get(), CJOSE_HDR_KID, kid.c_str(), &error), error);
  return header;
}

std::string sign(const cjose_jwk_t* jwk, cjose_header_t* header, std::string_view payload) {
  cjose_err error{};
  const jws_ptr jws{cjose_jws_sign(jwk, header, view_bytes(payload).data(), payload.size(), &error)};
  must(jws != nullptr, error);
  const char* compact = nullptr;
  must(cjose_jws_export(jws.get(), &compact, &error), error);
  return compact;
}

/// cjose ends the process on base64url of an impossible length.
bool is_base64url(std::string_view token) {
  for (std::size_t from = 0; from <= token.size();) {
    const auto dot = std::min(token.find('.', from), token.size());
    if (!from_base64url(token.substr(from, dot - from))) return false;
    from = dot + 1;
  }
  return true;
}

bool is_signed_with(std::string_view token, const cjose_jwk_t* jwk) {
  if (!is_base64url(token)) return false;
  cjose_err error{};
  const jws_ptr jws{cjose_jws_import(token.data(), token.size(), &error)};
  return jws != nullptr && cjose_jws_verify(jws.get(), jwk, &error);
}

} // namespace fq::jose
