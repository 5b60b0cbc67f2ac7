// SPDX-License-Identifier: Apache-2.0
// Reads all names first, then only the files to show, so that a folder with years of mail stays cheap.
#include "outbound/mail_folder.hpp"

#include "domain/base/address_text.hpp"
#include "outbound/limits.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

namespace fq {
namespace {

/// The greatest `most` names, in descending order.
std::vector<std::string> last_names(const std::filesystem::path& folder, std::size_t most) {
  std::vector<std::string> names; // a min-heap of the kept names
  std::error_code error;
  for (std::filesystem::directory_iterator it{folder, error}, end; !error && it != end; it.increment(error)) {
    auto name = it->path().filename().string();
    if (name.starts_with('.') || !name.ends_with(mail_file_suffix)) continue; // leading dot: unfinished file
    names.push_back(std::move(name));
    std::ranges::push_heap(names, std::greater{});
    if (names.size() <= most) continue;
    std::ranges::pop_heap(names, std::greater{});
    names.pop_back();
  }
  std::ranges::sort(names, std::greater{});
  return names;
}

/// The headers of a message. They have no other recipients.
std::string_view head_of(std::string_view message) {
  return message.substr(0, std::min(message.find("\r\n\r\n"), message.find("\n\n")));
}

class open_file {
public:
  /// Does not follow symbolic links and does not block on a pipe.
  explicit open_file(const std::filesystem::path& path) :
      fd_(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {}
  ~open_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  [[nodiscard]] std::optional<std::string> content() const {
    struct stat facts {};
    if (fd_ < 0 || ::fstat(fd_, &facts) != 0 || !S_ISREG(facts.st_mode)
        || static_cast<std::size_t>(facts.st_size) > shown_mail_bytes_max)
      return std::nullopt;
    std::string text(static_cast<std::size_t>(facts.st_size), '\0');
    std::size_t got = 0;
    while (got < text.size()) {
      const auto read = ::read(fd_, text.data() + got, text.size() - got);
      if (read < 0 && errno == EINTR) continue;
      if (read <= 0) return std::nullopt; // truncated while reading: not a FairQueue file
      got += static_cast<std::size_t>(read);
    }
    return text;
  }

private:
  int fd_;
};

} // namespace

std::vector<kept_mail> newest_mails(const std::filesystem::path& folder, std::size_t most) {
  std::vector<kept_mail> mails;
  for (const auto& name : last_names(folder, most)) {
    const auto bytes = open_file{folder / name}.content();
    if (!bytes) continue;
    if (auto mail = from_mime(*bytes)) mails.push_back(std::move(*mail));
  }
  return mails;
}

void erase_mails(const std::filesystem::path& folder, std::string_view address) {
  std::error_code error;
  for (std::filesystem::directory_iterator it{folder, error}, end; !error && it != end; it.increment(error)) {
    if (!it->path().native().ends_with(mail_file_suffix)) continue;
    const auto bytes = open_file{it->path()}.content();
    std::error_code ignored; // a file that another user owns stays
    if (bytes && names_address(head_of(*bytes), address)) std::filesystem::remove(it->path(), ignored);
  }
}

} // namespace fq
