// SPDX-License-Identifier: Apache-2.0
// The draft is synced before it gets its final name, so a crash leaves no empty node-id. A hard link never
// replaces a file, so two processes that start at the same time get the same name.
#include "config/node_id.hpp"

#include "config/table.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace fq::config {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw std::runtime_error{"node.id: " + file.string() + " " + what};
}

/// The name in `file`; empty if the file does not exist.
std::optional<std::string> kept_name(const std::filesystem::path& file) {
  std::ifstream in{file};
  if (!in) {
    if (errno == ENOENT) return std::nullopt;
    fail(file, "cannot be read");
  }
  std::string name;
  std::getline(in, name);
  options checked;
  if (name.empty() || !assign(*find_option("node.id"), name, checked).empty())
    fail(file, "holds no node id; remove it");
  return name;
}

void write_durably(const std::filesystem::path& file, const std::string& text) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) fail(file, "cannot be created: " + std::generic_category().message(errno));
  const bool written =
    ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  const int why = errno;
  ::close(fd);
  if (!written) fail(file, "cannot be written: " + std::generic_category().message(why));
}

} // namespace

std::string node_id(const options& o, const std::string& new_name) {
  if (!o.node.id.empty()) return o.node.id;
  const auto file = o.data_dir / "node-id";
  if (auto kept = kept_name(file)) return *kept;
  auto draft = file;
  draft += "." + new_name;
  write_durably(draft, new_name + "\n");
  std::error_code taken;
  std::filesystem::create_hard_link(draft, file, taken);
  std::filesystem::remove(draft);
  if (taken && taken != std::errc::file_exists) fail(file, "cannot be created: " + taken.message());
  return kept_name(file).value_or(new_name);
}

} // namespace fq::config
