// SPDX-License-Identifier: Apache-2.0
// Opens the mail transport that the options name, and erases what it wrote to files.
#pragma once
#include "actors/protocol/accounts_messages.hpp"
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "outbound/mail.hpp"

#include <filesystem>
#include <memory>

namespace fq {

/// Throws std::runtime_error (or std::filesystem::filesystem_error) with a message for the operator. An
/// unreachable server is no error. `env` must outlive the port.
std::unique_ptr<mail_port> open_mailer(const config::options& options, environment& env);

mail_eraser_handle::behavior_type mail_eraser(mail_eraser_handle::pointer self,
                                              const std::filesystem::path& folder);

} // namespace fq
