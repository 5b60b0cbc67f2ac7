// SPDX-License-Identifier: Apache-2.0
// The browser pages of `serve --demo`: the mailbox of unsent mail and the organizer's sign-in data. Both
// are secrets of this machine's user, so only this machine can read them. Used by demo_routes, wait_routes
// and asset_routes; the page is pure.
#pragma once
#include "net/bridge/context.hpp"
#include "net/pages/site_page.hpp"
#include "outbound/mail_folder.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

inline constexpr std::string_view mailbox_path = "/demo/mail"; ///< below http.base_path

struct demo_facts {
  std::filesystem::path mail_folder;
  std::string organizer_email;
  std::string organizer_password;
};

/// Whether a Host value names this machine: "127.0.0.1:8080", "localhost", "[::1]:8080".
[[nodiscard]] bool names_this_machine(std::string_view host);

/// Null without a demo, or if the request is not from a person at this machine. Refuses another Host (a
/// proxy, or a foreign name that resolves here) and scripts of other sites.
[[nodiscard]] const demo_facts* demo_for(const context& ctx, const request& rq);

[[nodiscard]] site_page mailbox_page(language in, const std::string& base, const demo_facts& demo,
                                     const std::vector<kept_mail>& mails);

} // namespace fq::net
