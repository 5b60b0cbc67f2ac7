// SPDX-License-Identifier: Apache-2.0
// Common start and end of every page route: language, visitor (by a cookie that only these routes read),
// limits, form. Shows problems as pages to clients that accept HTML. Called by wait_routes and shop_routes.
#pragma once
#include "config/branding.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"
#include "net/pages/forms.hpp"
#include "net/pages/texts.hpp"

#include <string>
#include <string_view>

namespace fq::net {

inline constexpr std::string_view customer_cookie = "fairqueue_customer";
/// Handle of the browser's newest request for a code, which the next one replaces.
inline constexpr std::string_view code_cookie = "fairqueue_code";
/// The browser's mark (net/service/browser_mark.hpp).
inline constexpr std::string_view mark_cookie = "fairqueue_browser";
/// A guest's last order, to which the gateway sends it back.
inline constexpr std::string_view order_cookie = "fairqueue_order";
/// For one queue: its path is that queue's page.
inline constexpr std::string_view place_cookie = "fairqueue_place";

/// A request for a page. References outlive the coroutine.
struct visit {
  context& ctx;
  const request& rq;
  uuid id; ///< id in the path; nil if none
  language in = language::en;
  uuid customer; ///< nil: signed out
  uuid shopper; ///< the customer, or a guest; nil: neither
  std::string_view token; ///< the shopper's token; empty: none
  form sent; ///< form of a POST
  std::string_view solved = {}; ///< ?solved=: a challenge from a mail; empty: none
  std::string_view reason = {}; ///< ?reason=: why a gate or page sent the visitor here; empty: none
  std::string_view cursor = {}; ///< ?cursor=: of the page of a list; empty: its first
  std::string_view secret = {}; ///< second part of the path; empty: none

  [[nodiscard]] const std::string& base() const { return ctx.options.http.base_path; }
  [[nodiscard]] bool is_secure() const { return ctx.options.http.public_url.starts_with("https://"); }
  /// Name of a cookie for all pages.
  [[nodiscard]] std::string cookie_name(std::string_view name) const {
    return net::cookie_name(name, base(), is_secure());
  }
};

using page_step = awaitable<response> (*)(visit);

/// Query parameters that a page accepts besides `lang`.
enum class extra_query : std::uint8_t { refused, reason, cursor, ignored };

/// GET: `?lang=` changes the language and redirects to the URL without it.
awaitable<response> on_page(context& ctx, const request& rq, const path_parameters& path, page_step run,
                            extra_query extra);
/// POST of one of our own forms.
awaitable<response> on_form(context& ctx, const request& rq, const path_parameters& path, page_step run);

// -- what stands in a row of a route table, as in `page_of<show_shop>`

template <page_step run, extra_query extra>
awaitable<response> page_step_of(context& ctx, const request& rq, const path_parameters& path) {
  return on_page(ctx, rq, path, run, extra);
}
template <page_step run, extra_query extra = extra_query::refused>
inline constexpr guarded_handler page_of{page_step_of<run, extra>, audience::anybody,
                                         address_limit::without_token};
template <page_step run>
awaitable<response> form_step_of(context& ctx, const request& rq, const path_parameters& path) {
  return on_form(ctx, rq, path, run);
}
template <page_step run>
inline constexpr guarded_handler form_to{form_step_of<run>, audience::anybody, address_limit::without_token};

/// Whether the client accepts HTML, as browsers do; programs get JSON.
[[nodiscard]] bool wants_page(const request& rq);

/// 303 to another page; `path` is below the base path.
[[nodiscard]] response see_other(const visit& v, std::string_view path);

/// Brand of the tenant's pages; null: the default look.
[[nodiscard]] config::brand brand_of(const context& ctx, tenant_id tenant);

/// The browser keeps a token of this kind, customer or guest; a nil subject signs out.
void keep_shopper(const visit& v, response& answer, token_kind kind, const uuid& subject);

} // namespace fq::net
