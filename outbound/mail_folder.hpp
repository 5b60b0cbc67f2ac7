// SPDX-License-Identifier: Apache-2.0
// Reads the messages that file_mailer wrote, to show the newest. Blocking: not for io threads. Foreign
// files in the folder are skipped.
#pragma once
#include "outbound/mime.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace fq {

/// The `most` newest messages (names sort by time), newest first. Skips unreadable, too large and non-regular
/// files; empty without the folder. Reads all names but keeps at most `most` in memory.
[[nodiscard]] std::vector<kept_mail> newest_mails(const std::filesystem::path& folder, std::size_t most);

} // namespace fq
