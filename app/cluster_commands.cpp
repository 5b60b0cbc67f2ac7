// SPDX-License-Identifier: Apache-2.0
#include "app/cluster_commands.hpp"

#include "app/commands.hpp"
#include "app/control.hpp"
#include "app/limits.hpp"
#include "app/system_environment.hpp"
#include "crypto/node_certificates.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <vector>

namespace fq {
namespace {

constexpr mode_t public_file = 0644, private_file = 0600;

/// Writes a draft and gives it the name, so that a reader finds the old file or the new one, whole. Fails if
/// the file exists, unless it shall be replaced.
void write_file(const std::filesystem::path& file, const std::string& text, mode_t mode, bool replace) {
  const auto draft = file.string() + ".new";
  ::unlink(draft.c_str());
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0) throw std::runtime_error{draft + ": " + std::strerror(errno)};
  const bool written =
    ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  ::close(fd);
  if (!written) throw std::runtime_error{draft + ": cannot be written"};
  const auto flags = replace ? 0u : static_cast<unsigned>(RENAME_NOREPLACE);
  if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, file.c_str(), flags) != 0)
    throw std::runtime_error{file.string() + ": " + std::strerror(errno)};
}

std::string read_whole(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  if (!in)
    throw std::runtime_error{file.string()
                             + " cannot be read; `fairqueue cluster init-ca` makes ca.pem and ca.key"};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Writes the key first: a certificate without its key is useless.
void write_both(const std::filesystem::path& folder, const std::string& name, const certificate_and_key& made,
                bool replace) {
  for (const auto* suffix : {".key", ".pem"})
    if (!replace && std::filesystem::exists(folder / (name + suffix)))
      throw std::runtime_error{(folder / (name + suffix)).string() + " is there already"};
  write_file(folder / (name + ".key"), made.key, private_file, replace);
  write_file(folder / (name + ".pem"), made.certificate, public_file, replace);
  std::cout << (folder / (name + ".pem")).string() << '\n' << (folder / (name + ".key")).string() << '\n';
}

/// Whether `text` is a node's id, which is also a file's name.
bool is_node_id(const std::string& text) {
  const auto is_fit = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= 64 && text != "ca" && text != "revoked"
         && std::ranges::all_of(text, is_fit);
}

/// The authority's folder keeps each certificate as issued/<node>.<serial>.pem: what is replaced may still be
/// revoked.
std::filesystem::path issued_in(const std::filesystem::path& folder) { return folder / "issued"; }

void keep_issued(const std::filesystem::path& folder, const std::string& node,
                 const std::string& certificate) {
  std::filesystem::create_directories(issued_in(folder));
  write_file(issued_in(folder) / (node + "." + serial_of(certificate) + ".pem"), certificate, public_file,
             true);
}

/// The files of the certificates that the command names.
std::vector<std::filesystem::path> named_by(const revoke_command& command) {
  if (!command.certificate.empty()) return {command.certificate};
  std::vector<std::filesystem::path> found;
  if (std::filesystem::exists(issued_in(command.folder)))
    for (const auto& each : std::filesystem::directory_iterator{issued_in(command.folder)}) {
      const auto name = each.path().filename().string();
      if (command.node.empty() ? name.ends_with("." + command.serial + ".pem")
                               : name.starts_with(command.node + "."))
        found.push_back(each.path());
    }
  if (found.empty())
    throw std::runtime_error{issued_in(command.folder).string() + " has no certificate of "
                             + (command.node.empty() ? "serial number " + command.serial : command.node)};
  std::ranges::sort(found);
  return found;
}

certificate_and_key authority_in(const std::filesystem::path& folder) {
  return {read_whole(folder / "ca.pem"), read_whole(folder / "ca.key")};
}

} // namespace

int run_cluster_init_ca(const std::filesystem::path& folder) try {
  system_environment env;
  std::filesystem::create_directories(folder);
  const auto made = make_authority(env.wall_now(), authority_life);
  write_both(folder, "ca", made, false);
  write_file(folder / "revoked.pem", sign_revocations(made, "", "", env.wall_now()), public_file, true);
  std::cout << (folder / "revoked.pem").string() << '\n';
  std::cerr << "nodes need ca.pem, revoked.pem and a certificate each; keep ca.key off the servers\n";
  return 0;
} catch (const std::runtime_error& e) { return usage_error(e.what()); }

int run_cluster_issue_cert(const issue_command& command) try {
  if (!is_node_id(command.node))
    return usage_error("--node must be the node's id (node.id): 1 to 64 of a-z, 0-9 and -");
  system_environment env;
  const seconds life{command.days * 86'400};
  const auto made = issue_certificate(authority_in(command.folder), command.node, env.wall_now(), life);
  const auto earlier = command.folder / (command.node + ".pem");
  if (command.replace && std::filesystem::exists(earlier)) // perhaps of a program that kept none
    keep_issued(command.folder, command.node, read_whole(earlier));
  write_both(command.folder, command.node, made, command.replace);
  keep_issued(command.folder, command.node, made.certificate);
  return 0;
} catch (const std::runtime_error& e) { return usage_error(e.what()); }

int run_cluster_revoke_cert(const revoke_command& command) try {
  if (!command.certificate.empty() + !command.node.empty() + !command.serial.empty() != 1)
    return usage_error("give one of --node, --serial and --certificate");
  system_environment env;
  const auto file = command.folder / "revoked.pem";
  const auto authority = authority_in(command.folder);
  auto list = std::filesystem::exists(file) ? read_whole(file) : std::string{};
  for (const auto& each : named_by(command)) {
    list = sign_revocations(authority, list, read_whole(each), env.wall_now());
    std::cerr << "revoked " << each.string() << '\n';
  }
  write_file(file, list, public_file, true);
  std::cout << file.string() << '\n';
  std::cerr << "copy it to cluster.revoked of every node, then reload the nodes (SIGHUP)\n";
  return 0;
} catch (const std::runtime_error& e) { return usage_error(e.what()); }

int run_cluster_drain(const config::options& options) {
  const auto told = ask_running_server(options.data_dir, {{"command", "drain"}});
  if (!told) return usage_error("no server is running on " + options.data_dir.string());
  if (const auto why = text_of(*told, "error"); !why.empty()) return usage_error(why);
  for (auto waited = milliseconds{0}; waited < drain_timeout; waited += drain_poll) {
    const auto answer = ask_running_server(options.data_dir, {{"command", "nodes"}});
    if (!answer || !text_of(*answer, "error").empty()) return usage_error("the server has ended");
    const auto& nodes = answer->at("nodes").as_array();
    const auto mine =
      std::ranges::find_if(nodes, [](const auto& n) { return n.as_object().at("is_self").as_bool(); });
    if (mine != nodes.end() && mine->as_object().at("is_draining").as_bool()
        && mine->as_object().at("owners").as_int64() == 0)
      return 0;
    std::this_thread::sleep_for(drain_poll);
  }
  std::cerr << "fairqueue: it still owns something; `fairqueue cluster status` shows how much\n";
  return 1;
}

int run_cluster_handoff(const config::options& options, const std::string& event, const std::string& node) {
  const auto answer =
    ask_running_server(options.data_dir, {{"command", "handoff"}, {"event_id", event}, {"node", node}});
  if (!answer) return usage_error("no server is running on " + options.data_dir.string());
  if (const auto why = text_of(*answer, "error"); !why.empty()) return usage_error(why);
  if (answer->at("moved").as_bool()) return 0;
  std::cerr << (answer->at("may_move").as_bool()
                  ? "fairqueue: its owner has not answered in time: it may move still\n"
                  : "fairqueue: it stays where it is; `fairqueue cluster status` shows whether " + node
                      + " is connected\n");
  return 1;
}

int run_cluster_status(const config::options& options) {
  const auto answer = ask_running_server(options.data_dir, {{"command", "nodes"}});
  if (!answer) return usage_error("no server is running on " + options.data_dir.string());
  if (const auto why = text_of(*answer, "error"); !why.empty()) return usage_error(why);
  bool is_whole = true;
  for (const auto& each : answer->at("nodes").as_array()) {
    const auto& n = each.as_object();
    const bool is_self = n.at("is_self").as_bool(), is_connected = n.at("is_connected").as_bool();
    is_whole = is_whole && (is_self || is_connected);
    const auto failure = text_of(n, "failure");
    std::cout << text_of(n, "id") << '\t' << text_of(n, "address") << '\t' << n.at("owners").as_int64()
              << " owned\t" << (n.at("is_draining").as_bool() ? "draining, " : "")
              << (is_self        ? "this node"
                  : is_connected ? "connected"
                                 : "not connected")
              << (failure.empty() ? "" : ": " + failure) << '\n';
  }
  return is_whole ? 0 : 1;
}

} // namespace fq
