// SPDX-License-Identifier: Apache-2.0
// The cluster's certificate authority. A certificate names one node, and its holder is that node. Created
// once and kept off the servers; nodes need only the authority's certificate, their own and the list of
// revoked ones.
#pragma once
#include "domain/base/time.hpp"

#include <openssl/types.h>

#include <string>

namespace fq {

/// In PEM format.
struct certificate_and_key {
  std::string certificate;
  std::string key;
};

/// Makes a self-signed authority on P-256, valid for `life` from `now` on. Throws std::runtime_error.
certificate_and_key make_authority(timestamp now, seconds life);

/// Makes a client and server certificate for the node with this id, signed by `authority`. Throws
/// std::runtime_error if the authority cannot be read or its key does not match.
certificate_and_key issue_certificate(const certificate_and_key& authority, const std::string& node,
                                      timestamp now, seconds life);

/// Returns the authority's list of revoked certificates (PEM): those of the list `before`, which may be
/// empty, and `certificate`, unless empty. The list is valid as long as the authority. Throws
/// std::runtime_error if one of them is not the authority's.
std::string sign_revocations(const certificate_and_key& authority, const std::string& before,
                             const std::string& certificate, timestamp now);

/// The serial number of a certificate (PEM), in hexadecimal digits. Throws std::runtime_error.
[[nodiscard]] std::string serial_of(const std::string& certificate);

/// The id of the node that the certificate names; empty: none, or several.
[[nodiscard]] std::string node_named_by(const X509& certificate);

} // namespace fq
