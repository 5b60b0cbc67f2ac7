// SPDX-License-Identifier: Apache-2.0
// `fairqueue cluster …`: the cluster's certificates, and what a running node sees of the others.
#pragma once
#include "config/options.hpp"

#include <filesystem>
#include <string>

namespace fq {

/// Makes <folder>/ca.pem and <folder>/ca.key; 2 if one of them is there.
int run_cluster_init_ca(const std::filesystem::path& folder);
/// Makes <folder>/<name>.pem and <folder>/<name>.key from the folder's authority; 2 if one of them is there.
int run_cluster_issue_cert(const std::filesystem::path& folder, const std::string& name);
/// Prints a line for each node that the running server sees. 1 if it is connected to fewer than all, 2 if
/// none runs.
int run_cluster_status(const config::options& options);
/// Has the running server give away what it owns and take nothing more; waits until that is done. 1 if it is
/// not within a minute.
int run_cluster_drain(const config::options& options);
/// Has the node that owns an event or queue give it to another. 1 if it stays where it is, 2 if there is no
/// such event or node.
int run_cluster_handoff(const config::options& options, const std::string& event, const std::string& node);

} // namespace fq
