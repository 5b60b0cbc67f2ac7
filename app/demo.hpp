// SPDX-License-Identifier: Apache-2.0
// `serve --demo`: an organizer and one open sale with fast settings, made once per data folder, so that a newcomer can try everything.
#pragma once
#include "app/node.hpp"

#include <filesystem>
#include <string>

namespace fq {

/// Makes the demo sale if <data>/demo.json (0600) does not exist, and returns what to tell the newcomer. Throws std::runtime_error.
std::string prepare_demo(node& node, const config::options& options, environment& env);

} // namespace fq
