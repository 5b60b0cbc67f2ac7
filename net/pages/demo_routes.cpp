// SPDX-License-Identifier: Apache-2.0
// GET /demo/mail: the demo's mailbox. Works without script.
#include "net/pages/demo.hpp"
#include "net/pages/limits.hpp"

#include "net/http/client_address.hpp"
#include "net/http/cors.hpp"
#include "net/pages/routes.hpp"
#include "net/pages/visit.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"

#include <algorithm>
#include <array>

namespace fq::net {
namespace {

/// Whether a proxy's field is present. A proxy that adds none looks like a browser; then `http.public_url`
/// shows that there is one (app/demo).
bool came_through_a_proxy(const request& rq) {
  constexpr std::array marks{"Forwarded",         "Via",      "X-Forwarded-For", "X-Forwarded-Host",
                             "X-Forwarded-Proto", "X-Real-IP"};
  return std::ranges::any_of(marks, [&rq](const char* name) { return rq.has_field(name); });
}

awaitable<response> show_mailbox(visit v) {
  const auto* demo = demo_for(v.ctx, v.rq);
  if (!demo) co_return problem(fault::not_found, v.rq.request_id);
  auto look = [folder = demo->mail_folder] { return newest_mails(folder, mails_shown_max); };
  const auto mails = co_await offload(v.ctx.io, v.ctx.shared->sandbox_lane, std::move(look));
  if (!mails) co_return problem(fault::unavailable, v.rq.request_id, {}, 1);
  co_return render(mailbox_page(v.in, v.base(), *demo, *mails), v.base(), brand_of(v.ctx, default_tenant));
}

} // namespace

bool names_this_machine(std::string_view host) {
  const auto end = host.starts_with('[') ? host.find(']') + 1 : host.find(':');
  const auto name = host.substr(0, end == 0 ? host.size() : end);
  return same_text(name, "localhost") || name == "127.0.0.1" || name == "[::1]";
}

const demo_facts* demo_for(const context& ctx, const request& rq) {
  if (!ctx.state.ready || !ctx.shared->demo) // set before `ready`, by another thread
    return nullptr;
  const auto origin = rq.field("Origin"); // forms of our own pages have it
  const bool is_ours = !rq.has_field("Origin") || is_own_origin(rq, ctx.options.http.public_url, origin);
  const bool is_here =
    unmapped(rq.peer).is_loopback() && names_this_machine(rq.field("Host")) && !came_through_a_proxy(rq);
  return is_ours && is_here ? ctx.shared->demo : nullptr;
}

site_page mailbox_page(language in, const std::string& base, const demo_facts& demo,
                       const std::vector<kept_mail>& mails) {
  site_page page{in, "mailbox", std::string{text(in, "mailbox")}};
  auto& data = page.data;
  data.set("MAILBOX", base + std::string{mailbox_path});
  data.show("IS_EMPTY", mails.empty());
  for (const auto& mail : mails) {
    auto article = data.add("MAIL");
    article.set("SUBJECT", mail.subject);
    article.set("TO", mail.to);
    article.set_time(mail.sent);
    article.set("TEXT", mail.text);
  }
  data.set("EMAIL", demo.organizer_email);
  data.set("PASSWORD", demo.organizer_password);
  return page;
}

std::span<const route> demo_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/demo/mail", page_of<show_mailbox>},
  };
  return table;
}

} // namespace fq::net
