// SPDX-License-Identifier: Apache-2.0
// Which way out for mail the options name.
#pragma once
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "outbound/mail.hpp"

#include <memory>

namespace fq {

/// Throws std::runtime_error (or std::filesystem::filesystem_error) with a message for the operator. A server
/// that is away is no error. `env` must outlive the port.
std::unique_ptr<mail_port> open_mailer(const config::options& options, environment& env);

} // namespace fq
