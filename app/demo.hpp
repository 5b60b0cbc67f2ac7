// SPDX-License-Identifier: Apache-2.0
// `serve --demo`: an organizer and open sales with fast settings, made once per data folder, for newcomers.
#pragma once
#include "app/node.hpp"
#include "net/pages/demo.hpp"

#include <optional>
#include <string>

namespace fq {

struct prepared_demo {
  std::string advice; ///< text to print for the newcomer
  std::optional<net::demo_facts>
    shown; ///< for the pages; nothing: other machines may connect, or mail is not written to files
};

/// Makes the demo sales if <data>/demo.json (0600) does not exist. Throws std::runtime_error.
prepared_demo prepare_demo(node& node, const config::options& options, environment& env);

} // namespace fq
