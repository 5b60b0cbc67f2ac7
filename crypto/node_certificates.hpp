// SPDX-License-Identifier: Apache-2.0
// The cluster's certificate authority: a process with one of its certificates is a node. Created once and
// kept off the servers; nodes need only the authority's certificate and their own.
#pragma once
#include "domain/base/time.hpp"

#include <filesystem>
#include <string>

namespace fq {

/// In PEM format.
struct certificate_and_key {
  std::string certificate;
  std::string key;
};

/// Makes a self-signed authority on P-256, valid for `life` from `now` on. Throws std::runtime_error.
certificate_and_key make_authority(timestamp now, seconds life);

/// Makes a client and server certificate for node `name`, signed by `authority`. Throws std::runtime_error
/// if the authority cannot be read or its key does not match.
certificate_and_key issue_certificate(const certificate_and_key& authority, const std::string& name,
                                      timestamp now, seconds life);

} // namespace fq
