// SPDX-License-Identifier: Apache-2.0
#include "net/pages/wait_page.hpp"

#include "domain/money/money_text.hpp"
#include "net/pages/demo.hpp"
#include "net/pages/event_facts.hpp"
#include "net/pages/qr_svg.hpp"
#include "net/wire/codec.hpp"

#include <algorithm>
#include <array>

namespace fq::net {
namespace {

/// What the page offers to the visitor; checked in this order.
enum class face : std::uint8_t { waiting, admitted, not_open, ended, cancelled, sign_in, join, join_again };

bool is_queue(const wait_view& v) { return v.line.event.kind == event_kind::queue; }

bool has_open_lobby(const wait_view& v) {
  return is_set(v.line.lobby.opened_at) && !is_set(v.line.lobby.closed_at);
}

face face_of(const wait_view& v) {
  const auto status = v.line.event.status;
  if (v.place && (v.place->status == entry_status::waiting || v.place->status == entry_status::away))
    return face::waiting;
  if (v.place && v.place->status == entry_status::admitted) return face::admitted;
  if (status == event_status::cancelled) return face::cancelled;
  if (status == event_status::ended) return face::ended;
  if (is_set(v.line.event.queue_opens_at) && v.line.event.queue_opens_at > v.now && !has_open_lobby(v))
    return face::not_open;
  if (!is_queue(v) && !v.signed_in) return face::sign_in;
  return v.place ? face::join_again : face::join;
}

/// Also one that is due, until its owner opens it.
bool has_lobby_to_come(const wait_view& v) {
  return is_set(v.line.event.lobby.opens_at) && !is_set(v.line.lobby.opened_at)
         && v.line.event.queue_opens_at > v.now;
}

/// When people may join: of the lobby, if there is one.
timestamp opening_of(const wait_view& v) {
  return has_lobby_to_come(v) ? v.line.event.lobby.opens_at : v.line.event.queue_opens_at;
}

std::string path_of(const wait_view& v) { return v.base + "/wait/" + to_string(v.line.event.id); }

/// At least 1.
std::uint64_t minutes(milliseconds span) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, span.count() / 60'000));
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
  notice{"challenge_required", "challenge_required", false},
  notice{"link_sent", "challenge_link_sent", false},
  notice{"access_code_refused", "access_code_refused", false},
  notice{"access_code_refused", "access_code_refused", true},
  notice{"party_refused", "party_refused", false},
  notice{"party_refused", "party_refused", true},
  notice{"expired", "over_completed_queue", false}, // from a gate: the session has ended
  notice{"link_expired", "device_link_expired", false},
  notice{"kept_own_place", "device_kept_own", true},
};

/// The text's key; empty if the page shows none: some reasons of gates are not for visitors.
std::string_view notice_of(const wait_view& v, bool has_place) {
  const auto found = std::ranges::find_if(
    notices, [&](const notice& n) { return n.reason == v.reason && n.is_for_waiting == has_place; });
  return found != notices.end() ? found->key : std::string_view{};
}

void set_notice(page_data& data, const wait_view& v, bool has_place) {
  const auto key = notice_of(v, has_place);
  if (key.empty()) return;
  data.set_optional("NOTICE", text(v.in, key));
  data.show("TO_ORDER", key == "already_claimed");
}

/// Values of every face.
void set_common(page_data& data, const wait_view& v) {
  data.set("EVENT", v.line.event.name);
  data.set("EVENT_ID", to_string(v.line.event.id));
  data.set("PATH", path_of(v));
  data.show(is_queue(v) ? "IS_QUEUE" : "IS_SALE");
  if (is_queue(v)) return;
  set_facts(data, v.in, v.line.event);
  set_about(data, v.line.event);
}

/// Only what every visitor sees, which is the page of an event without a place.
void set_preview(site_page& page, const wait_view& v) {
  if (is_queue(v) || v.signed_in) return;
  page.preview = {v.url, v.line.event.name, preview_text(v.in, v.line.event.facts),
                  event_linked_data(v.line, v.now, v.url, v.picture_url), v.picture_url};
}

// -- in the queue

/// Of those who get no mail when it is their turn, the text that says to keep the page open.
std::string list_text(const wait_view& v, std::string_view key) {
  const auto* ending = !v.mails_turns ? "_no_mail" : v.is_guest ? "_guest" : "";
  return std::string{key} + ending;
}

void show_waiting(site_page& page, const wait_view& v) {
  const auto& place = *v.place;
  const auto& queue = v.line.event.queue;
  auto& data = page.data;
  const auto number = number_text(v.in, place.position);
  page.title = number + " · " + v.line.event.name;
  data.set("POSITION", number);
  data.show("IS_LONG", number.size() > 5);
  data.set("AHEAD",
           place.position > 1 ? counted(v.in, "ahead", place.position - 1) : std::string{text(v.in, "next")});
  set_notice(data, v, true);
  data.set("MESSAGE", place.message);
  data.show("NO_MESSAGE", place.message.empty());
  data.show("NOT_PAUSED", v.line.event.status != event_status::paused);
  const bool is_list = is_set(v.line.event.waiting_list.began_at);
  data.show("NOT_SOLD_OUT", !v.line.sold_out || is_list);
  data.show("NO_LIST", !is_list);
  data.set("ON_LIST", text(v.in, list_text(v, "waiting_list")));
  const auto odds = odds_text(v.in, place.outlook);
  data.set("ODDS", odds);
  data.show("NO_ODDS", odds.empty());
  data.set("CHANCE", chance_text(v.in, place.outlook));
  if (v.line.takes_access_codes) data.show("TAKES_CODES");
  data.set("NEXT_KEEP", text(v.in, is_queue(v) || v.is_guest ? "next_keep_queue" : "next_keep"));
  data.set("WAIT", wait_text(v.in, place.eta_low_seconds, place.eta_high_seconds));
  data.set("N", number_text(v.in, value_of(place.number)));
  data.set("NEXT_TURN", is_queue(v) ? counted(v.in, "next_turn_queue", minutes(queue.session_ttl))
                                    : counted(v.in, "next_turn",
                                              minutes(is_list ? v.line.event.waiting_list.claim_window
                                                              : queue.claim_window)));
  page.refresh_seconds = std::clamp(place.poll_after_ms / 1000 + 1, 5u, 120u);
}

/// In the lobby, and until the draw: no position.
void show_lobby(site_page& page, const wait_view& v) {
  const auto& place = *v.place;
  const auto& event = v.line.event;
  auto& data = page.data;
  const auto people = number_text(v.in, place.lobby.people);
  const bool is_open = place.lobby.phase == lobby_phase::open;
  const bool draws = place.lobby.draw == draw_kind::at_opening;
  page.title = event.name;
  data.set("PEOPLE", people);
  data.show("IS_LONG", people.size() > 5);
  data.show("IS_OPEN", is_open);
  data.set_time(place.lobby.opens_at);
  set_notice(data, v, true);
  data.set("MESSAGE", place.message);
  data.show("NO_MESSAGE", place.message.empty());
  data.show("DRAWS", draws && is_open);
  data.show("BY_NUMBER", !draws);
  data.show("IS_CLOSED", place.lobby.phase == lobby_phase::closed);
  if (place.lobby.phase == lobby_phase::waiting)
    data.set_optional("BEACON", event.lobby.beacon == beacon_kind::drand
                                  ? "drand, " + number_text(v.in, event.lobby.round)
                                  : event.lobby.announced);
  if (draws) data.set_optional("SEED_HASH", v.line.lobby.seed_commitment);
  data.set("N", number_text(v.in, value_of(place.number)));
  if (v.line.takes_access_codes) data.show("TAKES_CODES");
  if (draws && is_open && event.lobby.party_max > 1) {
    data.show("PARTIES");
    data.set("MAX", number_text(v.in, event.lobby.party_max));
    data.set_optional("PARTY_CODE", place.party_code);
    data.show("NO_PARTY", place.party_code.empty());
    data.set("PARTY_MEMBERS", counted(v.in, "party_members", place.party_size));
  }
  page.refresh_seconds = std::clamp(place.poll_after_ms / 1000 + 1, 5u, 120u);
}

// -- admitted

void show_admitted(site_page& page, const wait_view& v) {
  auto& data = page.data;
  page.title = std::string{text(v.in, "your_turn")} + " · " + v.line.event.name;
  data.set_time(is_queue(v) ? v.place->session_expires_at : v.place->claim_by);
  set_notice(data, v, true);
  if (!is_queue(v)) return;
  // The token is posted in a body, because logs and referrers keep URLs. Without a return URL the site itself
  // must recognise the visitor.
  data.set_optional("RETURN_URL", v.return_url);
  data.show("GO_BACK", v.return_url.empty());
  data.set_optional("HOME_URL", v.home_url);
  data.set("SESSION_TOKEN", v.session_token);
  data.set("ADMISSION_PASS", v.admission_pass);
  data.set("EXTERNAL_ID", v.line.event.external_id);
  page.form_target = v.return_url;
}

// -- before and after

void add_tickets(page_data& data, const wait_view& v) {
  if (is_queue(v) || v.line.ticket_types.empty()) return;
  data.show("HAS_TICKETS");
  for (const auto& type : v.line.ticket_types) {
    auto ticket = data.add("TICKET");
    ticket.set("NAME", type.name);
    ticket.set("PRICE", price_text(v.in, type.price, v.line.event.currency));
    ticket.set_optional("TYPE_ABOUT", type.description);
  }
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

/// The challenge of a join, or of the code that signs in.
void show_challenge(site_page& page, const wait_view& v, face is, bool may_join) {
  if (may_join) page.data.set_optional("SOLVED", v.solved);
  const bool asks_code = is == face::sign_in && v.sign_in.step == sign_in_step::address;
  if (asks_code || (may_join && v.solved.empty())) set_challenge(page, v.base, v.challenge);
  if (!may_join || v.challenge.kind == challenge_kind::none || !v.solved.empty()) return;
  page.data.show("MAIL_LINK");
  page.data.show("ASKS_MAILBOX", is_queue(v) || v.is_guest);
}

/// What a lobby that is open, or comes, means for those who are not in it.
void show_lobby_ahead(page_data& data, const wait_view& v) {
  const auto& event = v.line.event;
  data.show("HAS_LOBBY");
  data.show(event.lobby.draw == draw_kind::at_opening ? "DRAWS" : "BY_NUMBER");
  if (!has_open_lobby(v)) data.add("LOBBY_COMES").set_time(event.lobby.opens_at);
}

/// Not where nothing has a price: there they could only wait in vain.
bool takes_guests(const event_view& line) {
  const auto& types = line.ticket_types;
  const auto costs = [](const ticket_type_row& t) { return t.price > 0; };
  return line.event.guests && (types.empty() || std::ranges::any_of(types, costs));
}

std::string lead_of(const wait_view& v) {
  if (has_open_lobby(v)) return counted(v.in, "lobby_has", v.line.lobby.entrants);
  const bool is_list = is_set(v.line.event.waiting_list.began_at);
  return std::string{text(v.in, is_list ? list_text(v, "waiting_list_join") : "join_lead")};
}

void show_still(site_page& page, const wait_view& v, face is) {
  auto& data = page.data;
  page.title = v.line.event.name;
  data.show("HAD_PLACE", v.place != nullptr);
  data.show("ENDED", is == face::ended);
  data.show("CANCELLED", is == face::cancelled);
  data.show("JOIN_LEAD", is == face::join || is == face::sign_in);
  data.set_optional("LEAD", lead_of(v));
  if (is == face::join_again) data.set_optional("OVER", text(v.in, words_over(v)));
  const bool may_join = is == face::join || is == face::join_again;
  if (may_join && v.line.takes_access_codes) data.show("TAKES_CODES");
  data.show("MAY_JOIN", may_join && notice_of(v, false) != "already_claimed"); // it would be refused again
  data.set_optional("JOIN_KEY", v.join_key);
  show_challenge(page, v, is, may_join);
  set_notice(data, v, false);
  data.show("PAUSED", v.line.event.status == event_status::paused);
  data.set_optional("MESSAGE", v.line.event.message);
  data.show("TAKES_GUESTS",
            is == face::sign_in && takes_guests(v.line) && v.sign_in.step == sign_in_step::address);
  if (is == face::sign_in)
    set_sign_in(data, v.sign_in, v.mail_folder,
                v.has_mailbox ? v.base + std::string{mailbox_path} : std::string{});
  else
    data.show("NO_SIGN_IN");
  add_tickets(data, v);
  if (is == face::ended || is == face::cancelled) return;
  const bool has_lobby = has_open_lobby(v) || has_lobby_to_come(v);
  if (has_lobby) show_lobby_ahead(data, v);
  data.show("NOT_OPEN", has_lobby || is == face::not_open);
  data.set_time(v.line.event.queue_opens_at);
  if (is == face::not_open) page.refresh_seconds = 30;
}

// -- for the script

/// The texts that scripts show, made once for each language.
const std::string& script_texts(language in) {
  static const auto all = [] {
    std::array<std::string, all_languages.size()> made;
    for (const auto l : all_languages)
      made[static_cast<std::size_t>(l)] = texts_json(l, {"ahead",
                                                         "next",
                                                         "place_label",
                                                         "paused",
                                                         "your_turn",
                                                         "wait_unknown",
                                                         "wait_short",
                                                         "wait_minutes",
                                                         "wait_up_to_minutes",
                                                         "wait_range_minutes",
                                                         "wait_hours",
                                                         "wait_up_to_hours",
                                                         "wait_range_hours",
                                                         "connection_live",
                                                         "connection_polling",
                                                         "connection_offline",
                                                         "device_waits",
                                                         "odds_left",
                                                         "odds_line",
                                                         "odds_chance",
                                                         "chance_very_unlikely",
                                                         "chance_unlikely",
                                                         "chance_less_likely",
                                                         "chance_even",
                                                         "chance_likely",
                                                         "chance_very_likely",
                                                         "chance_almost_certain"});
    return made;
  }();
  return all[static_cast<std::size_t>(in)];
}

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
  out += script_texts(in);
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
    const auto left = (opening_of(v) - v.now).count();
    out += ",\"reload_after_ms\":"; // 10 s: a lobby that is due
    append_number(out, left > 0 ? std::clamp<std::int64_t>(left, 1'000, 600'000) : 10'000);
  }
  return out + '}';
}

} // namespace

std::string price_text(language in, money price, std::string_view currency) {
  return price == 0 ? std::string{text(in, "free")} : money_text(price, currency);
}

site_page wait_page(const wait_view& v) {
  const auto is = face_of(v);
  const bool is_lobby = is == face::waiting && v.place->lobby.phase != lobby_phase::none;
  site_page page{v.in, is_lobby               ? "wait_lobby"
                       : is == face::waiting  ? "wait_line"
                       : is == face::admitted ? "wait_turn"
                                              : "wait_still"};
  set_common(page.data, v);
  set_preview(page, v);
  if (is_lobby)
    show_lobby(page, v);
  else if (is == face::waiting)
    show_waiting(page, v);
  else if (is == face::admitted)
    show_admitted(page, v);
  else
    show_still(page, v, is);
  page.script = "wait.mjs";
  page.state = state_of(v, is);
  page.signed_in = v.signed_in && !v.is_guest;
  page.is_guest = v.is_guest && !is_queue(v);
  return page;
}

site_page device_page(const device_view& v) {
  site_page page{v.in, "wait_device"};
  auto& data = page.data;
  page.title = std::string{text(v.in, "other_device")} + " · " + v.line.event.name;
  data.set("EVENT", v.line.event.name);
  const auto back = v.base + "/wait/" + to_string(v.line.event.id);
  data.set("PATH", back);
  const auto code = qr_svg_of(v.link);
  data.set("QR_FROM", std::to_string(code.from));
  data.set("QR_SIZE", std::to_string(code.size));
  data.set("QR_PATH", code.path);
  data.set("LINK", v.link);
  data.set("SECRET", counted(v.in, "device_secret", v.minutes));
  page.script = "wait.mjs";
  begin_state(page.state, v.in, v.base, v.line.event, v.now);
  page.state += ",\"back\":";
  append_text(page.state, back);
  if (is_in_line(v.place.status)) append_follow(page.state, v.place.id, v.token);
  page.state += '}';
  return page;
}

} // namespace fq::net
