// SPDX-License-Identifier: Apache-2.0
// Writes mail as files, one RFC 5322 message each in <data>/mail/: for development, and for mail servers that
// read a pickup folder. Called by a detached worker. Names sort by time; readers never see a partial message.
#pragma once
#include "domain/base/environment.hpp"
#include "outbound/mail.hpp"

#include <deque>
#include <filesystem>
#include <string>
#include <unordered_map>

namespace fq {

class file_mailer final : public letter_port {
public:
  /// Creates `folder` (0700) if absent. Throws std::filesystem::filesystem_error. `env` must outlive the
  /// mailer.
  file_mailer(std::filesystem::path folder, mail_sender sender, environment& env);

private:
  /// Writes `<time>-<id>.eml` (0600) and syncs it before the rename. A repeated id whose file still exists
  /// writes nothing.
  [[nodiscard]] mail_answer deliver(const mail_letter& letter) override;
  void read_folder();
  void remember(std::string id, std::string name);
  [[nodiscard]] bool is_there(const std::string& id) const;

  std::filesystem::path folder_;
  mail_sender sender_;
  environment& env_;
  std::unordered_map<std::string, std::string> names_; ///< file names by message id, both as in the folder
  std::deque<std::string> ids_; ///< oldest first
};

} // namespace fq
