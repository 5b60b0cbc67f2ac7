// SPDX-License-Identifier: Apache-2.0
// Messages to the service manager that started this process (systemd, Type=notify; sd_notify(3)). Does
// nothing without one.
#pragma once
#include "domain/base/time.hpp"

#include <optional>
#include <string_view>

namespace fq::service_manager {

/// Maximum time between two `alive` (WatchdogSec). Nothing: the watchdog is off.
[[nodiscard]] std::optional<milliseconds> watchdog_interval();

/// The start or a reload is complete.
void ready(std::string_view status);
/// A reload begins; `ready` follows.
void reloading();
/// The shutdown begins; the manager kills the process after TimeoutStopSec.
void stopping(std::string_view status);
/// Text for `systemctl status`.
void status(std::string_view text);
/// Extends the start timeout: it ends `more` from now.
void needs_longer(milliseconds more);
/// Restarts the watchdog's clock.
void alive();

} // namespace fq::service_manager
