// SPDX-License-Identifier: Apache-2.0
#include "app/service_manager.hpp"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <ctime>
#include <string>

namespace fq::service_manager {
namespace {

/// Errors are ignored: without a service manager there is nothing to do.
void tell(const std::string& lines) { static_cast<void>(sd_notify(0, lines.c_str())); }

std::string micros(milliseconds time) { return std::to_string(std::chrono::microseconds{time}.count()); }

} // namespace

std::optional<milliseconds> watchdog_interval() {
  std::uint64_t usec = 0;
  if (sd_watchdog_enabled(0, &usec) <= 0) return std::nullopt;
  return std::chrono::duration_cast<milliseconds>(std::chrono::microseconds{usec});
}

void ready(std::string_view status) { tell("READY=1\nSTATUS=" + std::string{status}); }

/// MONOTONIC_USEC relates the later READY to this reload; Type=notify-reload requires it.
void reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto usec = static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
  tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec) + "\nSTATUS=reading certificates anew");
}

void stopping(std::string_view status) { tell("STOPPING=1\nSTATUS=" + std::string{status}); }

void status(std::string_view text) { tell("STATUS=" + std::string{text}); }

void needs_longer(milliseconds more) { tell("EXTEND_TIMEOUT_USEC=" + micros(more)); }

void alive() { tell("WATCHDOG=1"); }

} // namespace fq::service_manager
