// SPDX-License-Identifier: Apache-2.0
// What file_mailer has written, read again for people: the newest messages of a folder. Blocking: not for io
// threads. The folder may hold anything; what is no message of ours is passed over.
#pragma once
#include "outbound/mime.hpp"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace fq {

/// The last `most` of the names, which sort by time; the newest first. Files that are no regular ones, too
/// large or unreadable are left out, and there are none where there is no folder. Looks at every name, keeps
/// no more than `most`.
[[nodiscard]] std::vector<kept_mail> newest_mails(const std::filesystem::path& folder, std::size_t most);

} // namespace fq
