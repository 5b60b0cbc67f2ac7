// SPDX-License-Identifier: Apache-2.0
// The control socket <data>/control.sock (0600): how subcommands that write reach a running server. One request and one answer a
// connection, each one line of JSON, at most 8 KiB, at most 5 seconds.
#pragma once
#include "actors/protocol.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace caf {
class actor_system;
}

namespace fq {

struct organizer_request {
  std::string email;
  std::string password;
  bool replace = false;
};

/// What came of a request: the organizer's id, or a code and a text.
struct organizer_answer {
  std::string organizer_id;
  std::string error; ///< empty: done
};

/// Asks `accounts` and waits up to 10 s. For the control socket and for `organizer add` without a server.
organizer_answer add_organizer_now(caf::actor_system& system, const accounts_handle& accounts, const organizer_request& request);

class control_server {
public:
  /// Binds the socket (replacing a stale one; the data folder's lock says that nobody else serves it).
  control_server(const std::filesystem::path& data_dir, caf::actor_system& system, accounts_handle accounts);
  ~control_server();
  control_server(const control_server&) = delete;
  control_server& operator=(const control_server&) = delete;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Nothing if no server answers on the socket of `data_dir`.
std::optional<organizer_answer> ask_running_server(const std::filesystem::path& data_dir, const organizer_request& request);

} // namespace fq
