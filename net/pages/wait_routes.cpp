// SPDX-License-Identifier: Apache-2.0
// GET and POST /wait/{id}: the waiting page of an event or a standalone queue, by plain forms. A visitor of
// an event is a customer, known by a cookie. A visitor of a queue has the entry's token in a cookie of that
// page; /wait/{id}/device moves it to another device.
#include "domain/delivery/notice_routing.hpp"
#include "domain/delivery/outbox.hpp"
#include "net/http/cors.hpp"
#include "net/pages/demo.hpp"
#include "net/pages/event_facts.hpp"
#include "net/pages/limits.hpp"
#include "net/pages/line_of.hpp"
#include "net/pages/routes.hpp"
#include "net/pages/visit.hpp"
#include "net/pages/wait_page.hpp"
#include "net/service/code_guesses.hpp"
#include "net/service/guards.hpp"
#include "net/service/limits.hpp"
#include "net/service/public_log.hpp"
#include "net/service/services.hpp"
#include "net/service/sign_in.hpp"
#include "net/wire/challenge_codec.hpp"
#include "net/wire/json_in.hpp"

#include <algorithm>

namespace fq::net {
namespace {

// -- lookups

/// The ticket of the token; nothing if it is invalid or of another queue.
std::optional<entry_id> ticket_of(const visit& v, std::string_view token) {
  if (token.empty()) return std::nullopt;
  const auto checked = v.ctx.verifier.verify(token, v.ctx.environment.wall_now());
  if (!checked || checked.claims.kind != token_kind::ticket
      || owner_of(checked.claims.subject) != owner_of(v.id))
    return std::nullopt;
  return checked.claims.subject;
}

std::string page_path(const visit& v) { return "/wait/" + to_string(v.id); }

std::string name_of_place_cookie(const visit& v) {
  return cookie_name(place_cookie, v.base() + page_path(v), v.is_secure());
}

/// The token in this page's cookie.
std::string_view ticket_token(const visit& v) { return cookie(v.rq, name_of_place_cookie(v)); }

std::optional<entry_id> ticket_of(const visit& v) { return ticket_of(v, ticket_token(v)); }

struct place_found {
  std::optional<response> no;
  std::optional<entry_view> place = {};
};

bool has_live_place(const place_found& own) { return own.place && is_live(own.place->status); }

place_found found_place(const visit& v, answer<entry_reply>& got) {
  const auto why = got.reply.no.why;
  const bool is_none =
    why == reason::not_in_queue || why == reason::not_found || why == reason::ticket_deleted;
  if (!got.error && is_none) return {};
  if (auto no = refused(v.rq, got)) return {std::move(no), {}};
  v.ctx.shared->counts.positions_read.add();
  return {std::nullopt, std::move(got.reply.entry)};
}

awaitable<place_found> find_shoppers_place(const visit& v) {
  if (v.shopper.is_nil()) co_return place_found{};
  auto got = co_await ask_event(v.ctx, owner_of(v.id), find_entry{v.id, v.shopper});
  co_return found_place(v, got);
}

/// `ticket` nothing: no entry.
awaitable<place_found> find_tickets_place(const visit& v, std::optional<entry_id> ticket) {
  if (!ticket) co_return place_found{};
  auto got = co_await ask_event(v.ctx, owner_of(v.id), find_ticket{*ticket});
  co_return found_place(v, got);
}

awaitable<place_found> find_own_place(const visit& v, event_kind kind) {
  return kind == event_kind::sale ? find_shoppers_place(v) : find_tickets_place(v, ticket_of(v));
}

// -- the page

/// Adds the session token and admission pass of an admitted visitor.
void add_session(const visit& v, const entry_view& place, wait_view& view) {
  view.session_token = make_session_token(v.ctx.sessions, place.id, place.admission_no);
  view.admission_pass = v.ctx.shared->pass_of(place, view.now);
}

notice_routing routing_of(const context& ctx, tenant_id tenant) {
  const auto stored = ctx.shared->keys.get();
  const auto name = std::string{notice_routing_setting} + std::to_string(static_cast<std::uint32_t>(tenant));
  return notice_routing::parse(stored ? stored->setting(name).value_or("") : "");
}

awaitable<response> show(visit v, sign_in_state sign_in, unsigned status) {
  auto found = co_await find_line(v);
  if (found.no) co_return std::move(*found.no);
  const auto& event = found.line.event;
  auto own = co_await find_own_place(v, event.kind);
  if (own.no) co_return std::move(*own.no);
  const auto brand = brand_of(v.ctx, event.tenant);
  wait_view view{.in = v.in, .base = v.base(), .line = found.line};
  view.url = v.ctx.options.http.public_url + page_path(v);
  view.picture_url = picture_url(event.facts, v.ctx.options.http.public_url);
  view.place = own.place ? &*own.place : nullptr;
  view.now = v.ctx.environment.wall_now();
  view.signed_in = event.kind == event_kind::sale && !v.shopper.is_nil();
  view.is_guest = is_guest(v.shopper);
  view.mails_turns = routing_of(v.ctx, event.tenant).goes(topic::turn_granted, medium::mail);
  view.token = event.kind == event_kind::sale ? v.token : ticket_token(v);
  view.sign_in = std::move(sign_in);
  view.challenge = event.kind == event_kind::sale && v.shopper.is_nil()
                     ? code_box_of(v.ctx)
                     : box_of(v.ctx, {event.id, event.kind}, event.challenge);
  view.solved = v.solved;
  view.mail_folder = mail_folder_of(v.ctx.options);
  view.has_mailbox = demo_for(v.ctx, v.rq) != nullptr;
  if (event.kind == event_kind::queue) view.join_key = random_key(v.ctx);
  view.reason = v.reason;
  view.return_url = brand.return_url;
  view.home_url = brand.home_url;
  if (event.kind == event_kind::queue && own.place && own.place->status == entry_status::admitted)
    add_session(v, *own.place, view);
  auto page = wait_page(view);
  page.form_target = origin_of(page.form_target);
  co_return render(std::move(page), v.base(), brand, status);
}

awaitable<response> show_wait(visit v) { return show(std::move(v), {}, 200); }

// -- signing in

awaitable<response> send_code(visit v) {
  auto turn = co_await send_code_to(v);
  if (turn.no) co_return std::move(*turn.no);
  auto page = show(v, turn.next, turn.status);
  auto answer = co_await page;
  keep_turn(v, answer, turn);
  co_return answer;
}

/// Redirects to the page with a reason (wait_page's notices).
response back_with(const visit& v, std::string_view reason) {
  return see_other(v, page_path(v) + "?reason=" + std::string{reason});
}

/// What the page says about a refused access code, whatever was wrong with it.
bool is_code_refused(reason why) {
  return why == reason::access_code_invalid || why == reason::promo_code_expired
         || why == reason::promo_code_exhausted || why == reason::promo_code_limit;
}

bool is_party_refused(reason why) {
  return why == reason::party_unknown || why == reason::party_full || why == reason::lobby_not_open;
}

/// The code of a refusal that the page explains. Empty for others: shown as errors, or visible from the
/// page's state (not open yet, ended).
std::string_view reason_to_say(reason why) {
  if (is_code_refused(why)) return "access_code_refused";
  if (is_party_refused(why)) return "party_refused";
  return why == reason::already_claimed || why == reason::queue_full || why == reason::customer_blocked
             || why == reason::challenge_required
           ? code_of(why)
           : std::string_view{};
}

/// Redirects to the page, with the reason if the join was refused.
response after_join(const visit& v, const answer<entry_reply>& got) {
  const auto why = got.error ? std::string_view{} : reason_to_say(got.reply.no.why);
  return why.empty() ? see_other(v, page_path(v)) : back_with(v, why);
}

/// Result of a join. A new entry costs a token of the customer's bucket, an existing one none. `no` is set
/// for refusals that the page cannot explain.
struct taking {
  std::optional<response> no;
  answer<entry_reply> got = {};
};

awaitable<taking> take_place(const visit& v, const uuid& customer, solved_challenge solved) {
  if (auto no = limit_join(v.ctx, v.rq, customer)) co_return taking{std::move(no)};
  join wish{v.id, customer, 0};
  wish.access_code = v.sent.find("access_code").substr(0, promo_code_bytes_max);
  wish.party_code = v.sent.find("party_code").substr(0, party_code_bytes_max);
  wish.client = limit_key(v.rq.peer);
  wish.solved = std::move(solved);
  const bool may_guess = !wish.access_code.empty() || !wish.party_code.empty();
  code_guess guess{v.ctx, v.rq, customer, v.id, may_guess};
  if (guess.no) co_return taking{std::move(guess.no)};
  taking done;
  done.got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  guess.settle(done.got);
  if (!done.got.error && !done.got.reply.created && !may_guess) give_back_join(v.ctx, v.rq, customer);
  done.no = refused(v.rq, done.got);
  const auto why = done.got.reply.no.why;
  if (done.no
      && (done.no->status == 409 || why == reason::customer_blocked || why == reason::challenge_required
          || is_code_refused(why)))
    done.no.reset();
  else if (!done.no)
    (done.got.reply.created ? v.ctx.shared->counts.joins_created : v.ctx.shared->counts.joins_repeated).add();
  co_return done;
}

awaitable<response> enter(visit v) {
  auto turn = co_await enter_code(v);
  if (turn.no) co_return std::move(*turn.no);
  if (turn.customer.is_nil()) {
    auto page = show(std::move(v), std::move(turn.next), turn.status);
    co_return co_await page;
  }
  // A visitor who signs in here wants to join; otherwise the page explains the refusal.
  solved_challenge none;
  auto place = co_await take_place(v, turn.customer, std::move(none));
  auto answer = place.no ? see_other(v, page_path(v)) : after_join(v, place.got);
  keep_turn(v, answer, turn);
  co_return answer;
}

// -- joining and leaving

/// Subject of the form's hidden key, so that a form sent twice makes one entry. Its control character keeps
/// it apart from the API's subjects.
std::optional<subject_key> visitor_of(const visit& v, tenant_id tenant) {
  const auto key = v.sent.find("key");
  const bool is_key = key.size() >= join_key_min && key.size() <= join_key_max
                      && std::ranges::all_of(key, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  return is_key ? std::optional{v.ctx.shared->subject_of(tenant, "\x01page " + std::string{key})}
                : std::nullopt;
}

/// Redirects to the page and stores the entry's token in its cookie.
response with_place(const visit& v, const entry_id& place) {
  const auto life = std::chrono::duration_cast<seconds>(v.ctx.options.tokens.ticket_ttl);
  auto answer = see_other(v, page_path(v));
  set_cookie(answer, name_of_place_cookie(v),
             v.ctx.issuer.issue(token_kind::ticket, place, v.ctx.environment.wall_now(), life),
             {v.base() + page_path(v), life.count(), v.is_secure()});
  return answer;
}

/// Opens a party, or joins the one with the form's code.
awaitable<response> form_party(visit v) {
  const auto ticket = ticket_of(v);
  if (!ticket && v.shopper.is_nil()) co_return see_other(v, page_path(v)); // signed out meanwhile
  change_party wish{v.id, v.shopper, ticket.value_or(entry_id{})};
  wish.party_code = v.sent.find("party_code").substr(0, party_code_bytes_max);
  code_guess guess{v.ctx, v.rq, ticket.value_or(v.shopper), v.id, !wish.party_code.empty()};
  if (guess.no) co_return std::move(*guess.no);
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  guess.settle(got);
  if (got.error) co_return infrastructure_problem(got.error, v.rq);
  co_return after_join(v, got);
}

awaitable<response> join_queue(visit v, tenant_id tenant, challenge_kind challenge) {
  auto own = co_await find_tickets_place(v, ticket_of(v));
  if (own.no) co_return std::move(*own.no);
  const auto party_code = v.sent.find("party_code").substr(0, party_code_bytes_max);
  if (has_live_place(own) && !party_code.empty()) {
    auto forming = form_party(std::move(v));
    co_return co_await forming;
  }
  if (has_live_place(own)) // joined in another tab, whose form had another key: one entry per browser
    co_return see_other(v, page_path(v));
  const auto visitor = visitor_of(v, tenant);
  if (!visitor)
    co_return problem(fault::invalid_field, v.rq.request_id,
                      {{"key", "invalid", "Must be 16 to 64 visible characters."}});
  if (auto no = limit(v.ctx, v.rq, v.ctx.shared->join_clients, limit_key(v.rq.peer)))
    co_return std::move(*no);
  auto proof = co_await proof_of(v, {v.id, event_kind::queue}, challenge);
  if (proof.no) co_return std::move(*proof.no);
  join wish{v.id, *visitor, 0, event_kind::queue, tenant, {}};
  wish.client = limit_key(v.rq.peer);
  wish.solved = std::move(proof.solved);
  wish.party_code = party_code;
  code_guess guess{v.ctx, v.rq, {}, v.id, !party_code.empty()};
  if (guess.no) co_return std::move(*guess.no);
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  guess.settle(got);
  if (!got.error && !reason_to_say(got.reply.no.why).empty()) co_return after_join(v, got);
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  (got.reply.created ? v.ctx.shared->counts.joins_created : v.ctx.shared->counts.joins_repeated).add();
  co_return with_place(v, got.reply.entry.id);
}

awaitable<response> join_line(visit v) {
  auto found = co_await find_line(v);
  if (found.no) co_return std::move(*found.no);
  if (found.line.event.kind == event_kind::queue) {
    auto joining = join_queue(std::move(v), found.line.event.tenant, found.line.event.challenge);
    co_return co_await joining;
  }
  if (v.shopper.is_nil()) co_return see_other(v, page_path(v)); // signed out meanwhile
  auto proof = co_await proof_of(v, {v.id, event_kind::sale}, found.line.event.challenge);
  if (proof.no) co_return std::move(*proof.no);
  auto place = co_await take_place(v, v.shopper, std::move(proof.solved));
  if (place.no) co_return std::move(*place.no);
  co_return after_join(v, place.got);
}

// -- the link for people without a script

struct mailbox_found {
  std::optional<response> no;
  std::string email = {};
};

/// A customer's own address; at a queue, and of a guest, the one that the visitor gave.
awaitable<mailbox_found> find_mailbox(const visit& v, event_kind kind) {
  if (kind == event_kind::sale && !v.customer.is_nil()) {
    auto own = co_await find_account_address(v.ctx, v.rq, v.customer, {});
    co_return mailbox_found{std::move(own.no), std::move(own.email)};
  }
  auto email = lower_email(v.sent.find("email"));
  if (is_email(email)) co_return mailbox_found{std::nullopt, std::move(email)};
  co_return mailbox_found{
    problem(fault::invalid_field, v.rq.request_id, {{"email", "invalid", "Must be an e-mail address."}})};
}

/// Mails a link that counts as a solved challenge.
awaitable<response> mail_link(visit v) {
  auto found = co_await find_line(v);
  if (found.no) co_return std::move(*found.no);
  const auto& event = found.line.event;
  if (event.challenge == challenge_kind::none || (event.kind == event_kind::sale && v.shopper.is_nil()))
    co_return see_other(v, page_path(v));
  auto to = co_await find_mailbox(v, event.kind);
  if (to.no) co_return std::move(*to.no);
  if (to.email.empty()) co_return see_other(v, page_path(v)); // a token of `fairqueue token` has no mailbox
  const auto client = limit_key(v.rq.peer);
  if (auto no = limit(v.ctx, v.rq, v.ctx.shared->otp_addresses, v.ctx.shared->key_of(to.email, client)))
    co_return std::move(*no);
  auto given = co_await open_challenge_of(v.ctx, v.rq, {v.id, event.kind}, challenge_way::mail);
  if (given.no) co_return std::move(*given.no);
  const auto link =
    v.ctx.options.http.public_url + page_path(v) + "?solved=" + payload_of(given.reply.solved);
  mail_challenge wish{std::move(to.email), client, link, event.name, v.in};
  auto got = co_await ask(v.ctx, v.ctx.accounts, std::move(wish));
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  co_return back_with(v, "link_sent");
}

/// A visitor who goes on as a guest wants to join, as after a sign-in.
awaitable<response> enter_as_guest(visit v) {
  if (!v.shopper.is_nil()) {
    auto joining = join_line(std::move(v));
    co_return co_await joining;
  }
  const auto guest = make_guest_id(v.ctx);
  solved_challenge none; // the page asks for one
  auto place = co_await take_place(v, guest, std::move(none));
  auto answer = place.no ? see_other(v, page_path(v)) : after_join(v, place.got);
  keep_shopper(v, answer, token_kind::guest, guest);
  co_return answer;
}

awaitable<response> leave_line(visit v) {
  const auto ticket = ticket_of(v);
  answer<ack_reply> got;
  if (ticket)
    got = co_await ask_event(v.ctx, owner_of(v.id), leave_ticket{*ticket});
  else if (!v.shopper.is_nil())
    got = co_await ask_event(v.ctx, owner_of(v.id), leave{v.id, v.shopper});
  if (got.reply.no.why == reason::claim_live && !got.reply.no.id.is_nil())
    got = co_await ask_event(v.ctx, owner_of(v.id), release_claim{v.shopper, got.reply.no.id, true});
  if (got.error) co_return infrastructure_problem(got.error, v.rq);
  auto answer = see_other(v, page_path(v)); // an absent entry is a success too
  if (ticket) set_cookie(answer, name_of_place_cookie(v), "", {v.base() + page_path(v), 0, v.is_secure()});
  co_return answer;
}

// -- move to another device

/// The token is in the fragment, which browsers do not send; the page's script posts it (adopt_place).
std::string device_link(const visit& v, const entry_id& place) {
  return v.ctx.options.http.public_url + page_path(v) + "#place="
         + v.ctx.issuer.issue(token_kind::ticket, place, v.ctx.environment.wall_now(), device_link_life);
}

/// For pages without script: what GET /events/{id}/queue/receipt and GET /tickets/{id}/receipt are for
/// programs.
awaitable<response> show_proof(visit v) {
  const auto ticket = ticket_of(v);
  if (!ticket && v.shopper.is_nil()) co_return see_other(v, page_path(v));
  find_receipt wish{v.id, v.shopper, ticket.value_or(entry_id{})};
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  auto making = answer_receipt(v.ctx, v.rq, owner_of(v.id), got.reply);
  co_return co_await making;
}

awaitable<response> show_device(visit v) {
  auto found = co_await find_line(v);
  if (found.no) co_return std::move(*found.no);
  const auto& event = found.line.event;
  if (event.kind != event_kind::queue) co_return see_other(v, page_path(v)); // customers sign in there
  auto own = co_await find_tickets_place(v, ticket_of(v));
  if (own.no) co_return std::move(*own.no);
  if (!has_live_place(own)) co_return see_other(v, page_path(v));
  const device_view view{v.in,
                         v.base(),
                         found.line,
                         *own.place,
                         v.ctx.environment.wall_now(),
                         ticket_token(v),
                         device_link(v, own.place->id),
                         static_cast<std::uint64_t>(device_link_life.count() / 60)};
  co_return render(device_page(view), v.base(), brand_of(v.ctx, event.tenant));
}

/// Opening a link never replaces the visitor's own live entry.
awaitable<response> adopt_place(visit v) {
  const auto wanted = ticket_of(v, v.sent.find("token"));
  auto theirs = co_await find_tickets_place(v, wanted);
  if (theirs.no) co_return std::move(*theirs.no);
  if (!has_live_place(theirs)) co_return back_with(v, "link_expired");
  auto own = co_await find_tickets_place(v, ticket_of(v));
  if (own.no) co_return std::move(*own.no);
  if (has_live_place(own) && own.place->id != theirs.place->id) co_return back_with(v, "kept_own_place");
  co_return with_place(v, theirs.place->id);
}

awaitable<response> act(visit v) {
  const auto action = std::string{v.sent.find("action")};
  if (action == "code" || action == "enter" || action == "mail_link") {
    if (auto no = limit_address(v.ctx, v.rq, address_limit::code)) return ready(std::move(*no));
    return action == "code"    ? send_code(std::move(v))
           : action == "enter" ? enter(std::move(v))
                               : mail_link(std::move(v));
  }
  if (action == "guest") {
    if (auto no = limit_address(v.ctx, v.rq, address_limit::guest)) return ready(std::move(*no));
    return enter_as_guest(std::move(v));
  }
  if (action == "join") return join_line(std::move(v));
  if (action == "leave") return leave_line(std::move(v));
  if (action == "party") return form_party(std::move(v));
  if (action == "adopt") return adopt_place(std::move(v));
  return ready(
    problem(fault::invalid_field, v.rq.request_id,
            {{"action", "invalid", "Must be code, enter, mail_link, guest, join, leave, party or adopt."}}));
}

} // namespace

std::span<const route> wait_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/wait/{id}", page_of<show_wait, extra_query::reason>},
    {post, "/wait/{id}", form_to<act>},
    {get, "/wait/{id}/device", page_of<show_device>},
    {get, "/wait/{id}/proof", page_of<show_proof>},
  };
  return table;
}

} // namespace fq::net
