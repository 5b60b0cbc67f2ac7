// SPDX-License-Identifier: Apache-2.0
// What `serve --demo` shows a newcomer in the browser, so that nothing but the browser is needed: the mail
// that would have been sent, and how to sign in as the organizer. Both are secrets of this machine's user, so
// they are shown to this machine only. Used by demo_routes, wait_routes and asset_routes; the page itself is
// pure.
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

/// Of a Host field or the like: "127.0.0.1:8080", "localhost", "[::1]:8080".
[[nodiscard]] bool names_this_machine(std::string_view host);

/// Null: there is no demo, or whoever asks is not a person at this machine. Asked for with another host's
/// name (a proxy in front, or a foreign name that leads here) or by a script of another site is not that.
[[nodiscard]] const demo_facts* demo_for(const context& ctx, const request& rq);

[[nodiscard]] site_page mailbox_page(language in, const std::string& base, const demo_facts& demo,
                                     const std::vector<kept_mail>& mails);

} // namespace fq::net
