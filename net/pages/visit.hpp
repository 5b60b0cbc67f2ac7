// SPDX-License-Identifier: Apache-2.0
// What every route of pages for people begins with: the visitor's language, who it is (by a cookie that only
// these routes read), limits, the form. And its end: a problem is shown as a page to who asked for one.
// Called by wait_routes and shop_routes.
#pragma once
#include "config/branding.hpp"
#include "net/bridge/context.hpp"
#include "net/pages/forms.hpp"
#include "net/pages/texts.hpp"

#include <string>
#include <string_view>

namespace fq::net {

inline constexpr std::string_view customer_cookie = "fairqueue_customer";
/// Of one queue: its path is that queue's page.
inline constexpr std::string_view place_cookie = "fairqueue_place";

/// A request for a page. References outlive the coroutine's last step.
struct visit {
  context& ctx;
  const request& rq;
  uuid id; ///< of the path; nil if it has none
  language in = language::en;
  uuid customer; ///< nil: signed out
  std::string_view token; ///< the customer's; empty: signed out
  form sent; ///< of a POST
  std::string_view reason =
    {}; ///< ?reason=: why the visitor was sent here, by a gate or by a page of ours; empty: it does not say

  [[nodiscard]] const std::string& base() const { return ctx.options.http.base_path; }
  [[nodiscard]] bool is_secure() const { return ctx.options.http.public_url.starts_with("https://"); }
};

using page_step = awaitable<response> (*)(visit);

/// What a page's address may have behind "?" beside `lang`.
enum class extra_query : std::uint8_t { refused, reason, ignored };

/// GET: `?lang=` changes the language and comes back without it.
awaitable<response> on_page(context& ctx, const request& rq, const path_parameters& path, page_step run,
                            extra_query extra = extra_query::refused);
/// POST of one of our own forms.
awaitable<response> on_form(context& ctx, const request& rq, const path_parameters& path, page_step run);

/// 303: the browser asks for that page now. `path` is below the base path.
[[nodiscard]] response see_other(const visit& v, std::string_view path);

/// Of a form: makes what is sent twice one thing. Nobody can guess it.
[[nodiscard]] std::string random_key(const context& ctx);

/// How that tenant's pages look; null: as they are.
[[nodiscard]] const config::brand* brand_of(const context& ctx, tenant_id tenant);

/// The visitor's customer token from now on; empty: signed out.
void keep_customer(const visit& v, response& answer, std::string_view token);

} // namespace fq::net
