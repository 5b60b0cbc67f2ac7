// SPDX-License-Identifier: Apache-2.0
// The mail port. Called by the notifier's detached worker; the domain and the actors know no address format
// beyond it.
#pragma once

#include <string>

namespace fq {

/// One plain-text message. UTF-8; header values must not contain control characters.
struct mail_message {
  std::string to;
  std::string subject;
  std::string body;
};

enum class mail_result { accepted, invalid_message, unavailable };

/// Hands a message over. Blocking: detached workers only. `accepted` means that it survives kill -9 of this
/// process.
class mail_port {
public:
  virtual ~mail_port() = default;
  [[nodiscard]] virtual mail_result send(const mail_message& message) = 0;
};

} // namespace fq
