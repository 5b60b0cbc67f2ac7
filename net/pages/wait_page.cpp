// SPDX-License-Identifier: Apache-2.0
#include "net/pages/wait_page.hpp"

#include "domain/money/money_text.hpp"
#include "net/pages/demo.hpp"
#include "net/pages/html.hpp"
#include "net/pages/qr_code.hpp"
#include "net/wire/codec.hpp"

#include <algorithm>
#include <array>

namespace fq::net {
namespace {

/// What the page offers to the visitor; checked in this order.
enum class face : std::uint8_t { waiting, admitted, not_open, ended, cancelled, sign_in, join, join_again };

bool is_queue(const wait_view& v) { return v.line.event.kind == event_kind::queue; }

face face_of(const wait_view& v) {
  const auto status = v.line.event.status;
  if (v.place && (v.place->status == entry_status::waiting || v.place->status == entry_status::away))
    return face::waiting;
  if (v.place && v.place->status == entry_status::admitted) return face::admitted;
  if (status == event_status::cancelled) return face::cancelled;
  if (status == event_status::ended) return face::ended;
  if (is_set(v.line.event.queue_opens_at) && v.line.event.queue_opens_at > v.now) return face::not_open;
  if (!is_queue(v) && !v.signed_in) return face::sign_in;
  return v.place ? face::join_again : face::join;
}

std::string path_of(const wait_view& v) { return v.base + "/wait/" + to_string(v.line.event.id); }

std::uint64_t minutes(milliseconds span) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, span.count() / 60'000));
}

std::string device_path(const wait_view& v) { return path_of(v) + "/device"; }

void append_text_card(std::string& out, std::string_view style, std::string_view text) {
  out.append("<section class=\"card ").append(style).append("\">");
  append_element(out, "p", "", text);
  out += "</section>";
}

// -- reasons of a redirect to this page

struct notice {
  std::string_view reason; ///< value of ?reason=
  std::string_view key; ///< key of its text
  bool is_for_waiting; ///< shown to visitors with an entry, else to visitors without
};
constexpr std::array notices{
  notice{"already_claimed", "already_claimed", false},
  notice{"queue_full", "queue_full", false},
  notice{"customer_blocked", "customer_blocked", false},
  notice{"expired", "over_completed_queue", false}, // from a gate: the session has ended
  notice{"link_expired", "device_link_expired", false},
  notice{"kept_own_place", "device_kept_own", true},
};

/// The text's key; empty if the page shows none: some reasons of gates are not for visitors.
std::string_view notice_of(const wait_view& v, bool has_place) {
  const auto found = std::ranges::find(notices, v.reason, &notice::reason);
  return found != notices.end() && found->is_for_waiting == has_place ? found->key : std::string_view{};
}

void append_notice(std::string& out, const wait_view& v, bool has_place) {
  const auto key = notice_of(v, has_place);
  if (key.empty()) return;
  out += "<section class=\"card notice wide\">";
  append_element(out, "p", "role=\"status\"", text(v.in, key));
  if (key == "already_claimed") {
    out += "<p>";
    append_element(out, "a",
                   "class=\"button\" href=\"" + v.base + "/shop/events/" + to_string(v.line.event.id)
                     + "/return\"",
                   text(v.in, "to_order"));
    out += "</p>";
  }
  out += "</section>";
}

// -- in the queue

void append_place(std::string& out, const wait_view& v) {
  const auto& place = *v.place;
  const auto number = number_text(v.in, place.position);
  append_element(out, "p", "class=\"label\" id=\"place-label\"", text(v.in, "place_label"));
  append_element(out, "p",
                 number.size() > 5 ? "class=\"number long\" data-position" : "class=\"number\" data-position",
                 number);
  append_element(out, "p", "class=\"ahead\" data-ahead",
                 place.position > 1 ? counted(v.in, "ahead", place.position - 1)
                                    : std::string{text(v.in, "next")});
  out += "<p class=\"live\" data-connection hidden></p><p class=\"quiet\" role=\"status\" "
         "aria-live=\"polite\" data-announce></p>";
}

void append_estimate(std::string& out, const wait_view& v) {
  const auto& place = *v.place;
  out += "<section class=\"card\">";
  append_element(out, "h2", "", text(v.in, "wait_label"));
  append_element(out, "p", "class=\"figure\" data-wait",
                 wait_text(v.in, place.eta_low_seconds, place.eta_high_seconds));
  append_element(out, "p", "class=\"soft\"",
                 text(v.in, "queue_number", {{"n", number_text(v.in, value_of(place.number))}}));
  out += "</section>";
}

void append_next(std::string& out, const wait_view& v) {
  const auto& queue = v.line.event.queue;
  out += "<section class=\"card\">";
  append_element(out, "h2", "", text(v.in, "next_label"));
  out += "<ol class=\"steps\">";
  const auto step = [&out](std::string_view sentence) {
    out += "<li>";
    append_element(out, "span", "", sentence);
    out += "</li>";
  };
  step(text(v.in, is_queue(v) ? "next_keep_queue" : "next_keep"));
  step(is_queue(v) ? counted(v.in, "next_turn_queue", minutes(queue.session_ttl))
                   : counted(v.in, "next_turn", minutes(queue.claim_window)));
  if (!is_queue(v)) step(text(v.in, "next_pay"));
  out += "</ol></section>";
}

void append_hint(std::string& out, const wait_view& v, std::string_view name, std::string_view key,
                 bool is_shown) {
  out.append("<section class=\"card notice wide\" data-").append(name).append(is_shown ? ">" : " hidden>");
  append_element(out, "p", "", text(v.in, key));
  out += "</section>";
}

void append_message(std::string& out, const wait_view& v) {
  out.append("<section class=\"card notice wide\" data-message-card")
    .append(v.place->message.empty() ? " hidden>" : ">");
  append_element(out, "h2", "", text(v.in, "message_label"));
  append_element(out, "p", "data-message", v.place->message);
  out += "</section>";
}

void append_leave(std::string& out, const wait_view& v) {
  out += "<details>";
  append_element(out, "summary", "", text(v.in, "leave"));
  append_element(out, "p", "", text(v.in, "leave_sure"));
  append_action(out, path_of(v), "leave", text(v.in, "leave_yes"), "button plain");
  out += "</details>";
}

/// Only for queues: their visitors have no account that shows the entry on another device.
void append_device_link(std::string& out, const wait_view& v) {
  if (!is_queue(v)) return;
  out += "<p>";
  append_element(out, "a", "class=\"tap\" href=\"" + device_path(v) + '"', text(v.in, "other_device"));
  out += "</p>";
}

void append_leaving(std::string& out, const wait_view& v) {
  out += "<section class=\"card\"><p class=\"soft\">";
  append_escaped(out, text(v.in, "next_fair"));
  out += "</p><label class=\"check\" data-tell-row hidden><input type=\"checkbox\" data-tell>";
  append_element(out, "span", "", text(v.in, "tell_me"));
  out += "</label><noscript><p class=\"soft\">";
  append_escaped(out, text(v.in, "refreshes"));
  out += "</p></noscript>";
  append_device_link(out, v);
  append_leave(out, v);
  out += "</section>";
}

void show_waiting(site_page& page, const wait_view& v) {
  page.title = number_text(v.in, v.place->position) + " · " + v.line.event.name;
  append_place(page.hero, v);
  page.main_class = "two";
  append_notice(page.main, v, true);
  append_message(page.main, v);
  append_hint(page.main, v, "paused", "paused", v.line.event.status == event_status::paused);
  append_hint(page.main, v, "sold-out", "sold_out", v.line.sold_out);
  page.main += "<div class=\"column\">";
  append_estimate(page.main, v);
  append_leaving(page.main, v);
  page.main += "</div>";
  append_next(page.main, v);
  page.refresh_seconds = std::clamp(v.place->poll_after_ms / 1000 + 1, 5u, 120u);
}

// -- admitted

void append_link_button(std::string& out, std::string_view address, std::string_view label) {
  out += "<a class=\"button\" href=\"";
  append_escaped(out, address);
  out += "\">";
  append_escaped(out, label);
  out += "</a>";
}

void append_way_in(std::string& out, const wait_view& v) {
  if (!is_queue(v)) {
    append_link_button(out, v.base + "/shop/events/" + to_string(v.line.event.id),
                       text(v.in, "choose_tickets"));
    return;
  }
  if (v.return_url.empty()) { // no return URL for the session: the site itself must recognise the visitor
    append_element(out, "p", "class=\"sub\"", text(v.in, "go_back"));
    if (!v.home_url.empty()) append_link_button(out, v.home_url, text(v.in, "go_in"));
    return;
  }
  // The token is posted in a body, because logs and referrers keep URLs.
  out += "<form method=\"post\" action=\"";
  append_escaped(out, v.return_url);
  out += "\">";
  append_hidden(out, "session_token", v.session_token);
  append_hidden(out, "admission_pass", v.admission_pass);
  append_hidden(out, "queue_id", to_string(v.line.event.id));
  append_hidden(out, "external_id", v.line.event.external_id);
  append_element(out, "button", "class=\"button\" type=\"submit\"", text(v.in, "go_in"));
  out += "</form>";
}

void show_admitted(site_page& page, const wait_view& v) {
  const auto until = is_queue(v) ? v.place->session_expires_at : v.place->claim_by;
  page.title = std::string{text(v.in, "your_turn")} + " · " + v.line.event.name;
  append_element(page.hero, "p", "class=\"big\" role=\"status\"", text(v.in, "your_turn"));
  append_timed(page.hero, v.in, "p", "class=\"sub\"", is_queue(v) ? "your_turn_queue" : "your_turn_lead",
               until);
  append_countdown(page.hero, v.in, until);
  append_way_in(page.hero, v);
  page.main_class = "narrow";
  append_notice(page.main, v, true);
  page.main += "<section class=\"card\">";
  append_device_link(page.main, v);
  append_leave(page.main, v);
  page.main += "</section>";
}

// -- before and after

void append_tickets(std::string& out, const wait_view& v) {
  if (is_queue(v) || v.line.ticket_types.empty()) return;
  out += "<section class=\"card\">";
  append_element(out, "h2", "", text(v.in, "what_is_on_sale"));
  out += "<ul class=\"list\">";
  for (const auto& type : v.line.ticket_types) {
    out += "<li>";
    append_element(out, "b", "", type.name);
    append_element(out, "span", "",
                   type.price == 0 ? std::string{text(v.in, "free")}
                                   : money_text(type.price, v.line.event.currency));
    out += "</li>";
  }
  out += "</ul></section>";
}

void append_sign_in(std::string& out, const wait_view& v) {
  out += "<section class=\"card\">";
  append_element(out, "h2", "", text(v.in, "sign_in"));
  out += "<form method=\"post\" action=\"" + path_of(v) + "\">";
  if (v.step == sign_in_step::address) {
    append_element(out, "p", "class=\"soft\"", text(v.in, "sign_in_lead"));
    append_hidden(out, "action", "code");
    append_field(out, text(v.in, "email"), "email", v.email,
                 "type=\"email\" autocomplete=\"email\" required maxlength=\"254\"",
                 v.was_wrong ? text(v.in, "email_wrong") : std::string_view{});
    append_element(out, "button", "class=\"button\" type=\"submit\"", text(v.in, "send_code"));
  } else {
    append_element(out, "p", "role=\"status\"", text(v.in, "code_sent", {{"email", v.email}}));
    if (v.has_mailbox) {
      out += "<p>";
      append_element(out, "a",
                     "href=\"" + v.base + std::string{mailbox_path} + "\" target=\"_blank\" rel=\"noopener\"",
                     text(v.in, "code_mailbox"));
      out += "</p>";
    } else if (!v.mail_folder.empty())
      append_element(out, "p", "class=\"soft\"", text(v.in, "code_local", {{"folder", v.mail_folder}}));
    append_hidden(out, "action", "enter");
    append_hidden(out, "email", v.email);
    out += "<div class=\"code\">";
    append_field(out, text(v.in, "code"), "otp", {},
                 "inputmode=\"numeric\" autocomplete=\"one-time-code\" required maxlength=\"12\" autofocus",
                 v.was_wrong ? text(v.in, "code_wrong") : std::string_view{});
    out += "</div><div class=\"row\">";
    append_element(out, "button", "class=\"button\" type=\"submit\"", text(v.in, "code_enter"));
    append_element(out, "a", "href=\"" + path_of(v) + '"', text(v.in, "code_again"));
    out += "</div>";
  }
  out += "</form></section>";
}

void append_join(std::string& out, const wait_view& v, std::string_view label) {
  out += "<form method=\"post\" action=\"" + path_of(v) + "\">";
  append_hidden(out, "action", "join");
  if (!v.join_key.empty()) append_hidden(out, "key", v.join_key);
  append_element(out, "button", "class=\"button\" type=\"submit\"", label);
  out += "</form>";
}

std::string_view words_over(const wait_view& v) {
  switch (v.place->status) {
    case entry_status::expired: return "over_expired";
    case entry_status::completed: return is_queue(v) ? "over_completed_queue" : "over_completed";
    case entry_status::session_expired: return "over_session_expired";
    case entry_status::revoked: return "over_revoked";
    case entry_status::waiting:
    case entry_status::away:
    case entry_status::admitted:
    case entry_status::cancelled: break;
  }
  return "over_cancelled";
}

void show_still(site_page& page, const wait_view& v, face is) {
  page.title = v.line.event.name;
  page.main_class = is == face::sign_in ? "two" : "narrow";
  auto& hero = page.hero;
  if (is == face::not_open)
    append_timed(hero, v.in, "p", "class=\"sub\"", "opens_at", v.line.event.queue_opens_at);
  else if (is == face::ended || is == face::cancelled)
    append_element(hero, "p", "class=\"sub\"", text(v.in, is == face::ended ? "ended" : "event_cancelled"));
  else if (is == face::join_again)
    append_element(hero, "p", "class=\"sub\" role=\"status\"", text(v.in, words_over(v)));
  else
    append_element(hero, "p", "class=\"sub\"", text(v.in, "join_lead"));
  const bool may_join = is == face::join || is == face::join_again;
  if (may_join && notice_of(v, false) != "already_claimed") // it would be refused again
    append_join(hero, v, text(v.in, is == face::join ? "join" : "join_again"));
  append_notice(page.main, v, false);
  if (v.line.event.status == event_status::paused)
    append_text_card(page.main, "notice wide", text(v.in, "paused"));
  if (!v.line.event.message.empty()) {
    page.main += "<section class=\"card notice wide\">";
    append_element(page.main, "h2", "", text(v.in, "message_label"));
    append_element(page.main, "p", "", v.line.event.message);
    page.main += "</section>";
  }
  if (is == face::sign_in) append_sign_in(page.main, v);
  append_tickets(page.main, v);
  if (is == face::not_open) page.refresh_seconds = 30;
}

// -- for the script

/// The state for the script of every page of a queue.
void begin_state(std::string& out, language in, const std::string& base, const event_row& line,
                 timestamp now) {
  out = "{\"base\":";
  append_text(out, base);
  out += ",\"line\":";
  append_id(out, line.id);
  out += line.kind == event_kind::queue ? ",\"queue\":" : ",\"event\":";
  append_id(out, line.id);
  out += ",\"name\":";
  append_text(out, line.name);
  out += ",\"now\":";
  append_time(out, now);
  out += ",\"texts\":";
  out += texts_json(in, {"ahead", "next", "place_label", "paused", "your_turn", "wait_unknown", "wait_short",
                         "wait_minutes", "wait_up_to_minutes", "wait_range_minutes", "wait_hours",
                         "wait_up_to_hours", "wait_range_hours", "connection_live", "connection_polling",
                         "connection_offline", "device_waits"});
}

void append_follow(std::string& out, const entry_id& place, std::string_view token) {
  out += ",\"follow\":true,\"place\":";
  append_id(out, place);
  out += ",\"token\":";
  append_text(out, token);
}

std::string state_of(const wait_view& v, face is) {
  std::string out;
  begin_state(out, v.in, v.base, v.line.event, v.now);
  if (is == face::waiting) append_follow(out, v.place->id, v.token);
  if (is == face::not_open) {
    const auto left = std::clamp<std::int64_t>((v.line.event.queue_opens_at - v.now).count(), 1'000, 600'000);
    out += ",\"reload_after_ms\":";
    append_number(out, left);
  }
  return out + '}';
}

} // namespace

site_page wait_page(const wait_view& v) {
  const auto is = face_of(v);
  site_page page{.in = v.in};
  append_element(page.hero, "h1", "", v.line.event.name);
  if (is == face::waiting)
    show_waiting(page, v);
  else if (is == face::admitted)
    show_admitted(page, v);
  else
    show_still(page, v, is);
  page.script = "wait.mjs";
  page.state = state_of(v, is);
  page.signed_in = v.signed_in;
  if (is == face::admitted && is_queue(v)) page.form_target = v.return_url;
  return page;
}

site_page device_page(const device_view& v) {
  site_page page{.in = v.in};
  page.title = std::string{text(v.in, "other_device")} + " · " + v.line.event.name;
  append_element(page.hero, "h1", "", v.line.event.name);
  append_element(page.hero, "p", "class=\"big\"", text(v.in, "other_device"));
  append_element(page.hero, "p", "class=\"sub\"", text(v.in, "device_lead"));
  page.main_class = "narrow";
  auto& main = page.main;
  main += "<section class=\"card\">";
  append_qr_code(main, v.link, text(v.in, "device_code"));
  main += "<p><a class=\"tap\" data-device-link href=\"";
  append_escaped(main, v.link);
  main += "\">";
  append_escaped(main, text(v.in, "device_link"));
  main += "</a></p>";
  append_element(main, "p", "class=\"soft\"", counted(v.in, "device_secret", v.minutes));
  main += "<noscript>"; // the other device may have no script either; only script can read the token in the
                        // fragment
  append_element(main, "p", "class=\"soft\"", text(v.in, "device_script"));
  main += "</noscript>";
  main += "</section><div class=\"row\">";
  const auto back = v.base + "/wait/" + to_string(v.line.event.id);
  append_element(main, "a", "class=\"button plain\" href=\"" + back + '"', text(v.in, "back_to_line"));
  main += "</div>";
  page.script = "wait.mjs";
  begin_state(page.state, v.in, v.base, v.line.event, v.now);
  page.state += ",\"back\":";
  append_text(page.state, back);
  if (is_in_line(v.place.status)) append_follow(page.state, v.place.id, v.token);
  page.state += '}';
  return page;
}

// -- pieces

void append_timed(std::string& out, language in, std::string_view tag, std::string_view attributes,
                  std::string_view key, timestamp when) {
  constexpr std::string_view hole = "{time}";
  const auto pattern = text(in, key);
  const auto at = std::min(pattern.find(hole), pattern.size());
  const auto exact = rfc3339(when);
  out.append("<").append(tag).append(" ").append(attributes).append(">");
  append_escaped(out, pattern.substr(0, at));
  out.append("<time datetime=\"")
    .append(exact)
    .append("\">")
    .append(exact, 0, 10)
    .append(" ")
    .append(exact, 11, 5)
    .append(" UTC</time>");
  append_escaped(out, pattern.substr(std::min(at + hole.size(), pattern.size())));
  out.append("</").append(tag).append(">");
}

void append_countdown(std::string& out, language in, timestamp until) {
  out += "<p class=\"figure\" role=\"timer\" aria-live=\"off\" hidden data-until=\"" + rfc3339(until)
         + "\" data-text=\"";
  append_escaped(out, text(in, "time_left"));
  out += "\"></p>";
}

void append_hidden(std::string& out, std::string_view name, std::string_view value) {
  out.append("<input type=\"hidden\" name=\"").append(name).append("\" value=\"");
  append_escaped(out, value);
  out += "\">";
}

void append_field(std::string& out, std::string_view label, std::string_view name, std::string_view value,
                  std::string_view more, std::string_view problem) {
  out.append("<div class=\"field\"><label for=\"f-").append(name).append("\">");
  append_escaped(out, label);
  out.append("</label><input id=\"f-")
    .append(name)
    .append("\" name=\"")
    .append(name)
    .append("\" ")
    .append(more);
  if (!value.empty()) {
    out += " value=\"";
    append_escaped(out, value);
    out += '"';
  }
  if (!problem.empty()) out.append(" aria-invalid=\"true\" aria-describedby=\"e-").append(name).append("\"");
  out += '>';
  if (!problem.empty())
    append_element(out, "p", "class=\"wrong\" role=\"alert\" id=\"e-" + std::string{name} + '"', problem);
  out += "</div>";
}

void append_action(std::string& out, std::string_view path, std::string_view action, std::string_view label,
                   std::string_view style) {
  out.append("<form method=\"post\" action=\"").append(path).append("\">");
  append_hidden(out, "action", action);
  append_element(out, "button", "type=\"submit\" class=\"" + std::string{style} + '"', label);
  out += "</form>";
}

} // namespace fq::net
