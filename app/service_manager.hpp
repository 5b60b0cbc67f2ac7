// SPDX-License-Identifier: Apache-2.0
// What we tell the service manager that started us (systemd, Type=notify; sd_notify(3)). Does nothing when
// nobody did.
#pragma once
#include "domain/base/time.hpp"

#include <optional>
#include <string_view>

namespace fq::service_manager {

/// How often it wants to hear from us at least (WatchdogSec); nothing: not at all.
[[nodiscard]] std::optional<milliseconds> watchdog_interval();

/// We serve: the start, or the reading of files anew, is done.
void ready(std::string_view status);
/// Files are read anew; `ready` follows.
void reloading();
/// The end has begun; it waits for it no longer than TimeoutStopSec.
void stopping(std::string_view status);
/// For `systemctl status`.
void status(std::string_view text);
/// The start takes longer: it shall wait so long from now.
void needs_longer(milliseconds more);
/// We do our work: the watchdog's clock begins anew.
void alive();

} // namespace fq::service_manager
