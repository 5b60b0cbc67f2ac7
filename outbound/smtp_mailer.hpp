// SPDX-License-Identifier: Apache-2.0
// Mail by SMTP: one transaction a recipient over a kept connection, encrypted unless told otherwise. Called
// by a detached worker; a call blocks up to `timeout` for each recipient.
#pragma once
#include "domain/base/environment.hpp"
#include "outbound/mail.hpp"

#include <memory>
#include <string>

namespace fq {

struct smtp_settings {
  std::string
    url; ///< smtp://host:port (STARTTLS, always) or smtps://host:port; a path is the name we say in EHLO
  std::string user{}, password{}; ///< no user: no AUTH
  std::string ca_file{}; ///< empty: the system's certificates
  bool insecure = false; ///< no STARTTLS: only for a server on the same machine
  milliseconds connect_timeout{5'000};
  milliseconds timeout{30'000}; ///< the whole transaction
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
  /// Who has taken a message says so by its reply to the end of DATA. Before it, and without it, the message
  /// goes out again under the same Message-ID.
  [[nodiscard]] mail_answer deliver(const mail_letter& letter) override;

  smtp_settings settings_;
  mail_sender sender_;
  environment& env_;
  std::unique_ptr<connection> connection_;
};

} // namespace fq
