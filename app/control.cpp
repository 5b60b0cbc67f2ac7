// SPDX-License-Identifier: Apache-2.0
#include "app/control.hpp"

#include "actors/errors.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <caf/scoped_actor.hpp>

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

constexpr std::size_t line_max = 8192;
constexpr int line_timeout_ms = 5000;
constexpr int answer_timeout_ms = 15000;
constexpr int accept_poll_ms = 200;
constexpr seconds accounts_timeout{10};

/// A socket that closes itself.
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
  if (path.size() >= sizeof(address.sun_path)) throw std::runtime_error("the path of the control socket is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// One line without its end; empty on timeout, overflow or a closed connection.
std::string read_line(int fd, int timeout_ms) {
  std::string line;
  char buffer[1024];
  while (line.size() < line_max) {
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

std::string text_of(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

} // namespace

organizer_answer add_organizer_now(caf::actor_system& system, const accounts_handle& accounts, const organizer_request& request) {
  organizer_answer answer;
  caf::scoped_actor self{system};
  const auto deadline = std::chrono::steady_clock::now() + accounts_timeout;
  do { // accounts may still be loading
    answer.error.clear();
    self->request(accounts, accounts_timeout, add_organizer{request.email, request.password, request.replace})
      .receive(
        [&](const person_reply& reply) {
          if (reply.no)
            answer.error = std::string{code_of(reply.no.why)};
          else
            answer.organizer_id = to_string(reply.person);
        },
        [&](const caf::error&) { answer.error = "unavailable"; });
    if (answer.error == "unavailable") std::this_thread::sleep_for(milliseconds{50});
  } while (answer.error == "unavailable" && std::chrono::steady_clock::now() < deadline);
  return answer;
}

struct control_server::state {
  socket_fd listener;
  std::filesystem::path path;
  caf::actor_system& system;
  accounts_handle accounts;
  std::atomic<bool> stopping{false};
  std::thread thread;

  state(caf::actor_system& s, accounts_handle a) : system(s), accounts(std::move(a)) {}

  void serve_one(int fd) {
    const auto line = read_line(fd, line_timeout_ms);
    boost::json::error_code bad;
    const auto value = boost::json::parse(line, bad);
    const auto* object = bad ? nullptr : value.if_object();
    if (object == nullptr || text_of(*object, "command") != "organizer_add")
      return write_line(fd, R"({"error":"unknown_command"})");
    const auto* replace = object->if_contains("replace");
    const auto done = add_organizer_now(
      system, accounts,
      {text_of(*object, "email"), text_of(*object, "password"), replace != nullptr && replace->is_bool() && replace->get_bool()});
    write_line(fd, boost::json::serialize(boost::json::object{{"organizer_id", done.organizer_id}, {"error", done.error}}));
  }

  void run() {
    while (!stopping) {
      pollfd p{listener.fd, POLLIN, 0};
      if (::poll(&p, 1, accept_poll_ms) <= 0) continue;
      const socket_fd peer{::accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC)};
      if (peer.fd >= 0) serve_one(peer.fd);
    }
  }
};

control_server::control_server(const std::filesystem::path& data_dir, caf::actor_system& system, accounts_handle accounts)
    : state_(std::make_unique<state>(system, std::move(accounts))) {
  const auto address = address_of(data_dir);
  state_->path = data_dir / "control.sock";
  ::unlink(address.sun_path);
  state_->listener.fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto mask = ::umask(0177); // the file is 0600 from its first moment
  const bool bound = state_->listener.fd >= 0
                     && ::bind(state_->listener.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0
                     && ::listen(state_->listener.fd, 8) == 0;
  ::umask(mask);
  if (!bound) throw std::runtime_error("cannot listen on " + state_->path.string() + ": " + std::strerror(errno));
  state_->thread = std::thread([s = state_.get()] { s->run(); });
}

control_server::~control_server() {
  state_->stopping = true;
  state_->thread.join();
  ::unlink(state_->path.c_str());
}

std::optional<organizer_answer> ask_running_server(const std::filesystem::path& data_dir, const organizer_request& request) {
  const auto address = address_of(data_dir);
  const socket_fd peer{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (peer.fd < 0 || ::connect(peer.fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) return std::nullopt;
  write_line(peer.fd, boost::json::serialize(boost::json::object{{"command", "organizer_add"},
                                                                  {"email", request.email},
                                                                  {"password", request.password},
                                                                  {"replace", request.replace}}));
  const auto line = read_line(peer.fd, answer_timeout_ms);
  boost::json::error_code bad;
  const auto value = boost::json::parse(line, bad);
  if (bad || !value.is_object()) return organizer_answer{{}, "the server did not answer"};
  return organizer_answer{text_of(value.get_object(), "organizer_id"), text_of(value.get_object(), "error")};
}

} // namespace fq
