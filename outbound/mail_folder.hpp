// SPDX-License-Identifier: Apache-2.0
// Reads the messages that file_mailer wrote, to show the newest. Blocking: not for io threads. Foreign
// files in the folder are skipped.
#pragma once
#include "outbound/mime.hpp"

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace fq {

/// Of the files that file_mailer writes.
constexpr std::string_view mail_file_suffix = ".eml";

/// The `most` newest messages (names sort by time), newest first. Skips unreadable, too large and non-regular
/// files; empty without the folder. Reads all names but keeps at most `most` in memory.
[[nodiscard]] std::vector<kept_mail> newest_mails(const std::filesystem::path& folder, std::size_t most);

/// Deletes the messages that name the address in their headers. A message has one recipient.
void erase_mails(const std::filesystem::path& folder, std::string_view address);

} // namespace fq
