// SPDX-License-Identifier: Apache-2.0
#include "app/control.hpp"

#include "app/limits.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace fq {
namespace {

/// Closes the socket in its destructor.
struct socket_fd {
  int fd = -1;
  ~socket_fd() {
    if (fd >= 0) ::close(fd);
  }
};

sockaddr_un address_of(const std::filesystem::path& data_dir) {
  const auto path = (data_dir / "control.sock").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    throw std::runtime_error("the path of the control socket is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// Reads one line, without its line end. Returns an empty text on timeout, overflow or a closed connection.
std::string read_line(int fd, std::size_t most, int timeout_ms) {
  std::string line;
  char buffer[4096];
  while (line.size() < most) {
    pollfd p{fd, POLLIN, 0};
    if (::poll(&p, 1, timeout_ms) <= 0) return {};
    const auto n = ::recv(fd, buffer, sizeof(buffer), 0);
    if (n <= 0) return {};
    line.append(buffer, static_cast<std::size_t>(n));
    if (const auto end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
  }
  return {};
}

void write_line(int fd, std::string line) {
  line += '\n';
  for (std::size_t done = 0; done < line.size();) {
    const auto n = ::send(fd, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

} // namespace

std::string text_of(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

struct control_server::state {
  socket_fd listener;
  std::filesystem::path path;
  control_handlers handlers;
  std::atomic<bool> stopping{false};
  std::thread thread;

  boost::json::object answer(const std::string& line) {
    boost::json::error_code bad;
    const auto value = boost::json::parse(line, bad);
    const auto* request = bad ? nullptr : value.if_object();
    const auto handler = request == nullptr ? handlers.end() : handlers.find(text_of(*request, "command"));
    if (handler == handlers.end()) return {{"error", "unknown_command"}};
    return handler->second(*request);
  }

  void run() {
    while (!stopping) {
      pollfd p{listener.fd, POLLIN, 0};
      if (::poll(&p, 1, control_accept_poll_ms) <= 0) continue;
      const socket_fd peer{::accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC)};
      if (peer.fd >= 0)
        write_line(peer.fd, boost::json::serialize(answer(
                              read_line(peer.fd, control_request_bytes_max, control_request_timeout_ms))));
    }
  }
};

control_server::control_server(const std::filesystem::path& data_dir, control_handlers handlers) :
    state_(std::make_unique<state>()) {
  const auto address = address_of(data_dir);
  state_->path = data_dir / "control.sock";
  state_->handlers = std::move(handlers);
  ::unlink(address.sun_path);
  state_->listener.fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto mask = ::umask(0177); // creates the file with mode 0600
  const bool bound =
    state_->listener.fd >= 0
    && ::bind(state_->listener.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0
    && ::listen(state_->listener.fd, 8) == 0;
  ::umask(mask);
  if (!bound)
    throw std::runtime_error("cannot listen on " + state_->path.string() + ": " + std::strerror(errno));
  state_->thread = std::thread([s = state_.get()] { s->run(); });
}

control_server::~control_server() {
  state_->stopping = true;
  state_->thread.join();
  ::unlink(state_->path.c_str());
}

std::optional<boost::json::object> ask_running_server(const std::filesystem::path& data_dir,
                                                      const boost::json::object& request) {
  const auto address = address_of(data_dir);
  const socket_fd peer{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (peer.fd < 0 || ::connect(peer.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return std::nullopt;
  write_line(peer.fd, boost::json::serialize(request));
  boost::json::error_code bad;
  auto value =
    boost::json::parse(read_line(peer.fd, control_answer_bytes_max, control_answer_timeout_ms), bad);
  if (bad || !value.is_object()) return boost::json::object{{"error", "the server did not answer"}};
  return std::move(value.get_object());
}

} // namespace fq
