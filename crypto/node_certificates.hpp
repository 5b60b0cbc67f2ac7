// SPDX-License-Identifier: Apache-2.0
// The cluster's own certificate authority: who has one of its certificates is a node. Made once, kept off the
// servers; nodes need only the authority's certificate and their own.
#pragma once
#include "domain/base/time.hpp"

#include <filesystem>
#include <string>

namespace fq {

/// PEM.
struct certificate_and_key {
  std::string certificate;
  std::string key;
};

/// A self-signed authority on P-256, valid for `life` from `now` on. Throws std::runtime_error.
certificate_and_key make_authority(timestamp now, seconds life);

/// A certificate for client and server use by the node `name`, signed by `authority`. Throws
/// std::runtime_error if the authority cannot be read or its key does not belong to it.
certificate_and_key issue_certificate(const certificate_and_key& authority, const std::string& name,
                                      timestamp now, seconds life);

} // namespace fq
