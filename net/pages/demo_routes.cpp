// SPDX-License-Identifier: Apache-2.0
// GET /demo/mail: the demo's mailbox. Works without script; all text from mails is escaped.
#include "net/pages/demo.hpp"

#include "net/http/client_address.hpp"
#include "net/http/cors.hpp"
#include "net/pages/html.hpp"
#include "net/pages/visit.hpp"
#include "net/pages/wait_page.hpp"
#include "net/service/guards.hpp"
#include "net/service/handlers.hpp"
#include "net/service/services.hpp"

#include <algorithm>
#include <array>

namespace fq::net {
namespace {

constexpr std::size_t mails_shown_max = 50;

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

void append_organizer(std::string& out, language in, const std::string& base, const demo_facts& demo) {
  out += "<section class=\"card\" id=\"organizer\">";
  append_element(out, "h2", "", text(in, "demo_organizer"));
  append_element(out, "p", "class=\"soft\"", text(in, "demo_organizer_lead"));
  out += "<p>";
  append_element(out, "code", "data-demo=\"email\"", demo.organizer_email);
  out += "<br>";
  append_element(out, "code", "data-demo=\"password\"", demo.organizer_password);
  out += "</p><p>";
  append_element(out, "a", "href=\"" + base + "/console\"", text(in, "demo_console"));
  out += "</p></section>";
}

void append_mail(std::string& out, language in, const kept_mail& mail) {
  constexpr std::string_view of_mails = "lang=\"en\" dir=\"auto\""; // mails do not follow the page's language
  out += "<article class=\"card\">";
  append_element(out, "h2", of_mails, mail.subject);
  out += "<p class=\"soft\"><bdi>";
  append_escaped(out, mail.to);
  out += "</bdi></p>";
  append_timed(out, in, "p", "class=\"soft\"", "mail_sent", mail.sent);
  append_element(out, "pre", of_mails, mail.text);
  out += "</article>";
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
  site_page page{.in = in};
  page.title = text(in, "mailbox");
  append_element(page.hero, "h1", "class=\"big\"", page.title);
  append_element(page.hero, "p", "class=\"sub\"", text(in, "mailbox_lead"));
  page.hero += "<p class=\"sub\">";
  append_element(page.hero, "a", "class=\"button\" href=\"" + base + std::string{mailbox_path} + '"',
                 text(in, "mailbox_again"));
  page.hero += "</p>";
  page.main_class = "narrow";
  if (mails.empty()) {
    page.main += "<section class=\"card\">";
    append_element(page.main, "p", "", text(in, "mailbox_empty"));
    page.main += "</section>";
  }
  for (const auto& mail : mails) append_mail(page.main, in, mail);
  append_organizer(page.main, in, base, demo);
  return page;
}

awaitable<response> get_demo_mail(context& ctx, const request& rq, const path_parameters& path) {
  return on_page(ctx, rq, path, show_mailbox);
}

} // namespace fq::net
