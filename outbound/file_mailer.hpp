// SPDX-License-Identifier: Apache-2.0
// Mail as files: one RFC 5322 message each in <data>/mail/, for development and for a mail server that picks
// up from a folder. Called by a detached worker. Names sort by time; a reader never sees half a message.
#pragma once

#include "domain/environment.hpp"
#include "outbound/mail.hpp"

#include <filesystem>
#include <string>

namespace fq {

class file_mailer final : public mail_port {
public:
  /// Creates `folder` (0700) if absent. Throws std::filesystem::filesystem_error. `env` must outlive the
  /// mailer.
  file_mailer(std::filesystem::path folder, std::string sender, environment& env);

  /// Writes `<time>-<random>.eml` (0600), synced before it gets its name.
  [[nodiscard]] mail_result send(const mail_message& message) override;

private:
  std::filesystem::path folder_;
  std::string sender_;
  environment& env_;
};

} // namespace fq
