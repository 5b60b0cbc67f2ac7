// SPDX-License-Identifier: Apache-2.0
// Opens the mail transport that the options name.
#pragma once
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "outbound/mail.hpp"

#include <memory>

namespace fq {

/// Throws std::runtime_error (or std::filesystem::filesystem_error) with a message for the operator. An
/// unreachable server is no error. `env` must outlive the port.
std::unique_ptr<mail_port> open_mailer(const config::options& options, environment& env);

} // namespace fq
