// SPDX-License-Identifier: Apache-2.0
// `serve --demo`: an organizer and one open sale with fast settings, made once per data folder, so that a
// newcomer can try everything.
#pragma once
#include "app/node.hpp"
#include "net/pages/demo.hpp"

#include <optional>
#include <string>

namespace fq {

struct prepared_demo {
  std::string advice; ///< what to tell the newcomer
  std::optional<net::demo_facts>
    shown; ///< by the pages; nothing: others than this machine may come, or mail is no files
};

/// Makes the demo sale if <data>/demo.json (0600) does not exist. Throws std::runtime_error.
prepared_demo prepare_demo(node& node, const config::options& options, environment& env);

} // namespace fq
