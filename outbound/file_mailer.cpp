// SPDX-License-Identifier: Apache-2.0
// Writes message files atomically.
#include "outbound/file_mailer.hpp"

#include "crypto/digest.hpp"
#include "outbound/limits.hpp"
#include "outbound/mail_folder.hpp"
#include "outbound/mime.hpp"
#include "outbound/time_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace fq {
namespace {

constexpr std::size_t time_size = sizeof "20261122T183000.123Z" - 1;

bool write_and_sync(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0;
}

bool sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  return synced;
}

/// Writes all of `text` under `name`, or nothing.
bool write_whole(const std::filesystem::path& folder, const std::string& name, std::string_view text) {
  const auto unfinished = folder / ("." + name + ".new");
  const int fd = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool written = write_and_sync(fd, text);
  const bool closed = ::close(fd) == 0;
  if (written && closed && ::rename(unfinished.c_str(), (folder / name).c_str()) == 0)
    return sync_folder(folder);
  ::unlink(unfinished.c_str());
  return false;
}

bool fits_file_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
         || c == '.' || c == '#';
}

/// The id's part of a file name: the id itself, or its hash.
std::string file_id_of(const std::string& id) {
  const bool fits = id.size() <= file_name_id_bytes_max && std::all_of(id.begin(), id.end(), fits_file_name);
  return fits ? id : to_hex(sha256(id));
}

} // namespace

file_mailer::file_mailer(std::filesystem::path folder, mail_sender sender, environment& env) :
    folder_{std::move(folder)}, sender_{std::move(sender)}, env_{env} {
  if (std::filesystem::create_directories(folder_))
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  read_folder();
}

/// Loads the names that an earlier process has written.
void file_mailer::read_folder() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder_}) {
    auto name = entry.path().filename().string();
    if (name.size() > time_size + 1 + mail_file_suffix.size() && name[time_size] == '-'
        && name.ends_with(mail_file_suffix))
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  for (auto& name : names) {
    auto id = name.substr(time_size + 1, name.size() - time_size - 1 - mail_file_suffix.size());
    remember(std::move(id), std::move(name));
  }
}

void file_mailer::remember(std::string id, std::string name) {
  if (!names_.insert_or_assign(id, std::move(name)).second) return;
  ids_.push_back(std::move(id));
  if (ids_.size() <= remembered_mail_ids_max) return;
  names_.erase(ids_.front());
  ids_.pop_front();
}

bool file_mailer::is_there(const std::string& id) const {
  const auto known = names_.find(id);
  std::error_code ignored;
  return known != names_.end() && std::filesystem::exists(folder_ / known->second, ignored);
}

mail_answer file_mailer::deliver(const mail_letter& letter) {
  auto id = file_id_of(letter.id);
  // The folder's entry may not be synced yet: sync it before the mail counts as accepted.
  if (is_there(id) && sync_folder(folder_)) return {.result = mail_result::accepted};
  const auto now = env_.wall_now();
  auto name = time_for_names(now).append("-").append(id).append(mail_file_suffix);
  if (!write_whole(folder_, name, to_mime(letter, sender_of(letter.from, sender_), now)))
    return {
      .result = mail_result::unavailable, .service_down = true, .why = "cannot write to the folder of mail"};
  remember(std::move(id), std::move(name));
  return {.result = mail_result::accepted};
}

} // namespace fq
