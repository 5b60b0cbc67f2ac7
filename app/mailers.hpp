// SPDX-License-Identifier: Apache-2.0
// Opens the mail transport that the options name, and erases what it wrote to files.
#pragma once
#include "actors/protocol/accounts_messages.hpp"
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "domain/model/rows.hpp"
#include "outbound/mail.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fq {

/// Throws std::runtime_error (or std::filesystem::filesystem_error) with a message for the operator. An
/// unreachable server is no error. `env` must outlive the port.
std::unique_ptr<mail_port> open_mailer(const config::options& options, environment& env);

mail_eraser_handle::behavior_type mail_eraser(mail_eraser_handle::pointer self,
                                              const std::filesystem::path& folder);

/// From addresses that mails may have.
[[nodiscard]] std::vector<std::string> mail_senders_of(const config::mail_options& options);

/// How the mails of each tenant look: as it has set, else like its pages. Written by the directory actor,
/// read by the senders of mail.
class tenant_mails {
public:
  explicit tenant_mails(const config::options& options) : options_{options} {}
  void publish(const std::vector<tenant_row>& tenants);
  [[nodiscard]] mail_style style_of(tenant_id tenant) const;
  /// Id of a picture; empty: the tenant has set none.
  [[nodiscard]] std::string logo_of(tenant_id tenant) const;

private:
  const config::options& options_;
  mutable std::mutex mutex_;
  std::map<tenant_id, mail_style> styles_;
  std::map<tenant_id, std::string> logos_;
};

} // namespace fq
