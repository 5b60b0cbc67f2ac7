// SPDX-License-Identifier: Apache-2.0
#include "net/service/witness.hpp"

#include "crypto/digest.hpp"

namespace fq::net {
namespace {

std::string_view without_scheme(std::string_view url) {
  const auto at = url.find("://");
  return at == url.npos ? url : url.substr(at + 3);
}

} // namespace

witness::witness(const std::vector<std::string>& logs, std::string_view public_url,
                 const secret_key& stored) :
    logs_(logs),
    name_(std::string{without_scheme(public_url)} + "/witness"),
    seed_(witness_seed_of(stored)) {}

std::string witness::key() const {
  return note_verifier{name_, note_key_kind::witness, ed25519_public_key_of(seed_)}.text();
}

std::string witness::cosign(const checkpoint_note& note, timestamp now) const {
  return fq::cosign(note.text, name_, seed_, now);
}

std::string witnessed_id(std::string_view origin) { return to_hex(sha256(origin)); }

witnessed state_of(const witnessed_row* row) {
  if (row == nullptr) return {};
  return {row->size, digest_of_hex(row->root)};
}

witnessed_before before(const witnessed& latest) { return {latest.size, to_hex(latest.root)}; }

witnessed_row witnessed_next(const checkpoint_note& note, const note_verifier& log,
                             std::string_view cosignature, timestamp now) {
  const auto& seen = note.content;
  return {.id = witnessed_id(seen.origin),
          .origin = seen.origin,
          .log_key = to_hex(log.key),
          .size = seen.size,
          .root = to_hex(seen.root),
          .note = note.text + "\n" + signature_of(note, log) + std::string{cosignature},
          .at = now};
}

} // namespace fq::net
