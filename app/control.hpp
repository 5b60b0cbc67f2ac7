// SPDX-License-Identifier: Apache-2.0
// The control socket <data>/control.sock (0600), by which subcommands reach a running server. A connection
// carries one request and one answer, each one line of JSON. A request has at most 8 KiB and 5 seconds. The
// requests are in control_requests.
#pragma once
#include <boost/json/object.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// By the request's `command`. Called on the socket's thread, one at a time; may block.
using control_handlers =
  std::map<std::string, std::function<boost::json::object(const boost::json::object& request)>>;

class control_server {
public:
  /// Binds the socket and replaces a stale one. The caller holds the ledger's lock, so no other server uses
  /// this data folder.
  control_server(const std::filesystem::path& data_dir, control_handlers handlers);
  ~control_server();

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The member `name`; "" if it is absent or no string.
[[nodiscard]] std::string text_of(const boost::json::object& object, std::string_view name);

/// Returns nothing if no server answers on the socket of `data_dir`, an object with `error` if its answer
/// is not valid.
std::optional<boost::json::object> ask_running_server(const std::filesystem::path& data_dir,
                                                      const boost::json::object& request);

} // namespace fq
