// SPDX-License-Identifier: Apache-2.0
// Sends mail by SMTP: one transaction per recipient over a kept connection, encrypted unless configured
// otherwise. Called by a detached worker; a call blocks up to `timeout` per recipient.
#pragma once
#include "domain/base/environment.hpp"
#include "outbound/mail.hpp"

#include <memory>
#include <string>

namespace fq {

struct smtp_settings {
  std::string url; ///< smtp://host:port (always STARTTLS) or smtps://host:port; a path is the name for EHLO
  std::string user{}, password{}; ///< empty user: no AUTH
  std::string ca_file{}; ///< empty: the system's certificates
  bool insecure = false; ///< no STARTTLS: only for a server on the same machine
  milliseconds connect_timeout{5'000};
  milliseconds timeout{30'000}; ///< of a whole transaction
};

/// Belongs to one thread.
class smtp_mailer final : public letter_port {
public:
  /// Throws std::runtime_error without libcurl. `env` must outlive the mailer.
  smtp_mailer(smtp_settings settings, mail_sender sender, environment& env);
  ~smtp_mailer() override;

private:
  struct transaction;
  class connection;
  /// A message is accepted when the server replies 2xx to the end of DATA. Until then it is sent again under
  /// the same Message-ID.
  [[nodiscard]] mail_answer deliver(const mail_letter& letter) override;

  smtp_settings settings_;
  mail_sender sender_;
  environment& env_;
  std::unique_ptr<connection> connection_;
};

} // namespace fq
