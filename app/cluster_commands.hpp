// SPDX-License-Identifier: Apache-2.0
// `fairqueue cluster …`: makes the cluster's certificates, and drains and inspects a running node.
#pragma once
#include "app/limits.hpp"
#include "config/options.hpp"

#include <filesystem>
#include <string>

namespace fq {

/// Makes <folder>/ca.pem and <folder>/ca.key. Returns 2 if one of them exists.
int run_cluster_init_ca(const std::filesystem::path& folder);
struct issue_command {
  std::filesystem::path folder = ".";
  std::string node;
  std::int64_t days = certificate_days;
  bool replace = false; ///< overwrites the node's earlier certificate and key
};
/// Makes <folder>/<node>.pem and <folder>/<node>.key, signed by the folder's authority, and keeps the
/// certificate in <folder>/issued. Returns 2 if one of them exists and shall not be replaced.
int run_cluster_issue_cert(const issue_command& command);
/// Which certificates: one of `node`, `serial` and `certificate`.
struct revoke_command {
  std::filesystem::path folder = ".";
  std::string node; ///< all that were issued to it so far
  std::string serial; ///< hexadecimal
  std::filesystem::path certificate; ///< file
};
/// Adds the certificates to <folder>/revoked.pem, signed by the folder's authority. Returns 2 if there are
/// none, or one is not of that authority.
int run_cluster_revoke_cert(const revoke_command& command);
/// Prints a line for each node that the running server knows. Returns 1 if one of them is not connected, 2
/// if no server runs.
int run_cluster_status(const config::options& options);
/// Makes the running server hand over all its aggregates and accept no new ones; waits until it is done.
/// Returns 1 if that takes more than 60 s.
int run_cluster_drain(const config::options& options);
/// Makes the owner of an event or queue hand it over to another node. Returns 1 if it does not move, 2 if
/// there is no such event or node.
int run_cluster_handoff(const config::options& options, const std::string& event, const std::string& node);

} // namespace fq
