// SPDX-License-Identifier: Apache-2.0
// A separate file, because SQLite takes and releases its locks on the database for each transaction.
#include "store/port/file_lock.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace fq {
namespace {

/// Reads the holder's process id from the file, for the error message.
std::string holder_of(int fd) {
  char text[24];
  const auto n = ::pread(fd, text, sizeof text, 0);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : std::string{"unknown"};
}

void write_holder(int fd) {
  const auto text = std::to_string(::getpid());
  // Only for messages: a failure (full disk) must not keep the ledger from opening.
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, text.data(), text.size(), 0) < 0) return;
}

} // namespace

file_lock::file_lock(const std::filesystem::path& path) {
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "cannot open " + path.string());
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) {
    write_holder(fd_);
    return;
  }
  const int reason = errno;
  const auto holder = holder_of(fd_);
  ::close(fd_);
  if (reason == EWOULDBLOCK)
    throw ledger_locked("the ledger is in use by process " + holder + " (lock file " + path.string() + ")");
  throw std::system_error(reason, std::generic_category(), "cannot lock " + path.string());
}

file_lock::~file_lock() { ::close(fd_); }

} // namespace fq
