// SPDX-License-Identifier: Apache-2.0
#include "actors/sale/mails.hpp"

#include "domain/delivery/outbox.hpp"
#include "domain/sale/attendees.hpp"
#include "domain/sale/waiting_list.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

namespace fq {
namespace {

namespace json = boost::json;

/// `end`, if set: the mail is useless afterwards and is not sent.
std::string mail(std::string_view template_key, const sale& now, language in, json::array to,
                 json::object data, timestamp end = never, json::value event_tickets = nullptr) {
  json::object all{{"template", template_key},
                   {"tenant", static_cast<std::uint32_t>(now.event().tenant)},
                   {"language", tag_of(in)},
                   {"to", std::move(to)},
                   {"data", std::move(data)}};
  if (is_set(end)) all["expires_at"] = unix_ms(end);
  if (!event_tickets.is_null()) all["event_tickets"] = std::move(event_tickets);
  return json::serialize(all);
}

std::string mail_to(const order_row& order, std::string_view template_key, const sale& now, json::object data,
                    timestamp end = never, json::value event_tickets = nullptr) {
  return mail(template_key, now, order.contact.language,
              {json::object{{"address", order.contact.mail_address()}}}, std::move(data), end,
              std::move(event_tickets));
}

/// Without the buyer's name: it could be an advertisement, and the address a stranger's.
json::object data_of(const order_row& order, const sale& now) {
  return {
    {"order_id", to_string(order.id)}, {"event_name", now.event().name}, {"currency", now.event().currency}};
}

/// When and where and the picture, as far as known.
void add_facts(json::object& data, const sale& now) {
  const auto& f = now.event().facts;
  const auto add_time = [&](const char* name, timestamp when) {
    if (is_set(when)) data[name] = unix_ms(when);
  };
  const auto add_text = [&](const char* name, const std::string& text) {
    if (!text.empty()) data[name] = text;
  };
  add_time("starts_at", f.starts_at);
  add_time("ends_at", f.ends_at);
  add_time("doors_at", f.doors_at);
  add_text("time_zone", f.time_zone);
  add_text("venue_name", f.venue_name);
  add_text("venue_address", f.venue_address);
  add_text("picture", f.picture);
}

json::object object_of(const seat_place& p) {
  json::object out{{"section", p.section}, {"row", p.row}, {"seat", p.seat}};
  if (p.obstructed) out["obstructed"] = true;
  return out;
}

/// The seats that the order holds or has bought.
void add_seats(json::object& data, const claim_view& claim) {
  if (claim.places.empty()) return;
  json::array seats;
  for (const auto& place : claim.places) seats.push_back(object_of(place));
  data["seats"] = std::move(seats);
}

bool is_consent(const answer_row& answer, const sale& now) {
  const auto& asked = now.event().questions;
  const auto found = std::ranges::find(asked, answer.question, &question::id);
  return found != asked.end() && found->kind == question_kind::consent;
}

/// Only to a confirmed address: a stranger's could get an advertisement, as with names.
void add_answers(json::object& data, const order_row& order, const sale& now) {
  if (order.contact.account_email.empty() || !order.guest.is_nil()) return;
  json::array answers;
  for (const auto& a : order.contact.answers) {
    json::object one{{"label", a.label}, {"value", is_consent(a, now) ? "\u2713" : a.value}};
    if (a.attendee > 0) one["attendee"] = a.attendee;
    answers.push_back(std::move(one));
  }
  if (!answers.empty()) data["answers"] = std::move(answers);
}

std::string payment_link(const order_row& order, const sale& now) {
  const auto view = now.view_of(order);
  auto data = data_of(order, now);
  data["total"] = order.total;
  data["payment_url"] = view.payment_url;
  const auto end = view.claim.claim.expires_at;
  data["expires_at"] = end.time_since_epoch().count();
  add_seats(data, view.claim);
  add_facts(data, now);
  return mail_to(order, "payment_link", now, std::move(data), end);
}

/// What the tickets' PDF is made of, when the mail is sent: no code and no name. Null without a confirmed
/// address: the tickets must not go to a stranger.
/// `is_cut`: there are more than one PDF has.
json::value papers_of(const order_row& order, const sale& now, bool& is_cut) {
  if (order.contact.account_email.empty()) return nullptr;
  json::array papers;
  const auto attendees = asked_attendees(now, order.claim);
  for (const auto* ticket : now.event_tickets().of_claim(order.claim)) {
    if (!is_valid(ticket->status) || ticket->holder != order.customer) continue;
    is_cut = papers.size() == papers_max;
    if (is_cut) break;
    const auto paper = now.paper_of(*ticket, attendee_of(attendees, ticket->id));
    json::object one{{"id", to_string(ticket->id)},
                     {"generation", ticket->generation},
                     {"type", paper.type_name},
                     {"price", paper.price}};
    if (paper.attendee > 0) one["attendee"] = paper.attendee;
    if (!paper.seat.seat.empty()) one["seat"] = object_of(paper.seat);
    papers.push_back(std::move(one));
  }
  const auto& event = now.event();
  return json::object{{"event_id", to_string(event.id)},
                      {"picture", event.facts.picture},
                      {"terms", event.facts.ticket_terms},
                      {"changed_at", unix_ms(event.updated_at)},
                      {"key_number", event.event_tickets.key_number},
                      {"rotating", event.event_tickets.rotating_codes},
                      {"link", !order.guest.is_nil()}, // to the tickets, made when the mail is sent: a secret
                      {"papers", std::move(papers)}};
}

std::string receipt(const order_row& order, const sale& now) {
  auto data = data_of(order, now);
  json::array items;
  const auto& claim = *now.claims().find(order.claim);
  for (const auto& i : claim.items)
    items.push_back(json::object{{"name", now.stock().types()[i.ticket_type].name},
                                 {"quantity", i.quantity},
                                 {"amount", i.unit_price * i.quantity}});
  data["items"] = std::move(items);
  data["discount"] = order.discount;
  data["donations"] = order.donations;
  data["fees"] = order.platform_fee + order.processing_fee;
  data["total"] = order.total;
  data["paid_at"] = order.updated_at.time_since_epoch().count();
  add_seats(data, now.view_of(claim));
  add_answers(data, order, now);
  add_facts(data, now);
  bool is_cut = false;
  auto papers = papers_of(order, now, is_cut);
  if (is_cut) data["attached"] = papers_max;
  return mail_to(order, "order_receipt", now, std::move(data), never, std::move(papers));
}

/// It leads back to the shop where the order was placed.
std::string failed(const order_row& order, const sale& now, std::string_view shop_url) {
  auto data = data_of(order, now);
  data["reason"] = order.failure;
  data["can_retry"] = now.view_of(order).can_retry;
  if (!order.cancel_url.empty())
    data["retry_url"] = order.cancel_url;
  else if (!shop_url.empty())
    data["retry_url"] = std::string{shop_url} + "/events/" + to_string(now.event().id);
  return mail_to(order, "order_failed", now, std::move(data));
}

std::string refunded(const order_row& order, const refund_row& refund, const sale& now) {
  auto data = data_of(order, now);
  const auto& payment = *now.payments().find(refund.payment);
  data["amount"] = refund.amount;
  data["whole"] = payment.refunded >= payment.captured;
  return mail_to(order, "order_refunded", now, std::move(data));
}

using recipients_by_language = std::array<json::array, all_languages.size()>;

/// Gives a chunk of recipients to `send` when it is full.
template <class Send>
void add_recipient(recipients_by_language& to, language in, const std::string& address, Send send) {
  auto& chunk = to[static_cast<std::size_t>(in)];
  chunk.push_back(json::object{{"address", address}});
  if (chunk.size() == mail_recipients_max) send(in, std::exchange(chunk, {}));
}

template <class Send>
void send_rest(recipients_by_language& to, Send send) {
  for (const auto in : all_languages)
    if (auto& chunk = to[static_cast<std::size_t>(in)]; !chunk.empty()) send(in, std::move(chunk));
}

/// The address is not known here: the mail consumer asks for it, and for the language.
std::string mail_to_customer(const customer_id& customer, std::string_view template_key, const sale& now,
                             json::object data, timestamp end = never) {
  return mail(template_key, now, language::en, {json::object{{"customer_id", to_string(customer)}}},
              std::move(data), end);
}

std::string waiting_list_offer(const entry_row& entry, const sale& now, std::string_view shop_url) {
  json::object data{{"event_name", now.event().name}, {"claim_by", unix_ms(entry.claim_by)}};
  if (!shop_url.empty()) data["shop_url"] = std::string{shop_url} + "/events/" + to_string(now.event().id);
  add_facts(data, now);
  return mail_to_customer(entry.subject, "waiting_list_offer", now, std::move(data), entry.claim_by);
}

json::object cancelled_data(const sale& now, bool refund) {
  json::object data{{"event_name", now.event().name}, {"refund", refund}};
  add_facts(data, now);
  return data;
}

/// To customers with a paid or open order, in chunks.
std::vector<std::string> cancellations(const sale& now, timestamp at) {
  std::vector<std::string> mails;
  for (const bool paid : {true, false}) {
    recipients_by_language to;
    const auto send = [&](language in, json::array chunk) {
      mails.push_back(mail("event_cancelled", now, in, std::move(chunk), cancelled_data(now, paid)));
    };
    for (const auto& [id, order] : now.orders().all())
      if (is_told_of_end(order, paid, at))
        add_recipient(to, order.contact.language, order.contact.mail_address(), send);
    send_rest(to, send);
  }
  return mails;
}

/// "1 x Standard, 2 x VIP"; by ticket type.
std::string names_of(const std::map<std::uint32_t, std::int64_t>& quantities, const sale& now) {
  std::string names;
  for (const auto& [type, quantity] : quantities)
    names += (names.empty() ? "" : ", ") + std::to_string(quantity) + " x " + now.stock().types()[type].name;
  return names;
}

/// To each holder of others' tickets that a refund has cancelled. Those of a cancelled event know it.
std::vector<std::string> ticket_ends(const changes& content, const sale& now, std::string_view tickets_url) {
  std::map<customer_id, std::map<std::uint32_t, std::int64_t>> lost;
  if (now.event().status != event_status::cancelled)
    for (const auto& c : content)
      if (const auto* moved = std::get_if<event_ticket_moved>(&c);
          moved != nullptr && !is_valid(moved->row.status) && !now.is_with_buyer(moved->row))
        ++lost[moved->row.holder][moved->row.ticket_type];
  std::vector<std::string> mails;
  for (const auto& [holder, quantities] : lost) {
    std::int64_t all = 0;
    for (const auto& [type, quantity] : quantities) all += quantity;
    json::object data{
      {"event_name", now.event().name}, {"ticket_name", names_of(quantities, now)}, {"quantity", all}};
    if (!tickets_url.empty()) data["tickets_url"] = tickets_url;
    add_facts(data, now);
    mails.push_back(mail_to_customer(holder, "ticket_cancelled", now, std::move(data)));
  }
  return mails;
}

struct mail_writer {
  const sale& now;
  std::string_view shop_url;
  std::vector<topic_mail>& out;

  void operator()(const entry_moved& c) const {
    const bool is_admitted = c.row.status == entry_status::admitted && c.from != c.row.status;
    if (is_admitted && is_waiting_list(now.event()))
      out.push_back({topic::turn_granted, waiting_list_offer(c.row, now, shop_url)});
  }
  void operator()(const order_moved& c) const {
    if (c.row.contact.email.empty()) return; // erased
    const bool link_is_due = c.from == c.row.status && c.row.status == order_status::awaiting_payment
                             && !is_set(c.row.payment_link_at);
    // The URL is empty if the payment was declined meanwhile.
    const bool has_page = link_is_due && !now.view_of(c.row).payment_url.empty();
    if (has_page) out.push_back({topic::order_placed, payment_link(c.row, now)});
    if (c.from == c.row.status) return;
    if (c.row.status == order_status::success) out.push_back({topic::order_completed, receipt(c.row, now)});
    if (c.row.status == order_status::failed && c.row.failure != "event_cancelled")
      out.push_back({topic::order_failed, failed(c.row, now, shop_url)});
  }
  void operator()(const refund_moved& c) const {
    if (c.from == c.row.status || c.row.status != refund_status::succeeded || c.row.amount == 0) return;
    const auto* order = now.orders().of_claim(now.payments().find(c.row.payment)->claim);
    if (order != nullptr && !order->contact.email.empty())
      out.push_back({topic::payment_refunded, refunded(*order, c.row, now)});
  }
  void operator()(const event_changed& c) const {
    if (c.from == c.event.status || c.event.status != event_status::cancelled) return;
    for (auto& one : cancellations(now, c.event.updated_at))
      out.push_back({topic::event_cancelled, std::move(one)});
  }
  template <class Other>
  void operator()(const Other&) const {}
};

/// The buyer's is that of the order; another giver's that of the account, when the ticket was offered.
language language_of_giver(const transfer_row& offer, const sale& now) {
  const auto* order = now.orders().of_claim(now.event_tickets().find(offer.ticket)->claim);
  return order != nullptr && order->customer == offer.giver ? order->contact.language : offer.giver_language;
}

} // namespace

std::vector<topic_mail> mails_of(const changes& content, const sale& now, std::string_view shop_url,
                                 std::string_view tickets_url) {
  std::vector<topic_mail> mails;
  for (const auto& c : content) std::visit(mail_writer{now, shop_url, mails}, c);
  for (auto& one : ticket_ends(content, now, tickets_url))
    mails.push_back({topic::ticket_cancelled, std::move(one)});
  return mails;
}

std::vector<topic_mail> holder_mails(std::span<const customer_id> holders, const sale& now) {
  std::vector<topic_mail> mails;
  if (holders.empty()) return mails;
  const auto data = cancelled_data(now, false);
  for (const auto& holder : holders)
    mails.push_back({topic::event_cancelled, mail_to_customer(holder, "event_cancelled", now, data)});
  return mails;
}

std::vector<std::string> invitation_mails(std::span<const invited_mailbox> invited,
                                          const invitation_row& what, const sale& now) {
  std::vector<std::string> mails;
  recipients_by_language to;
  const auto send = [&](language in, json::array chunk) {
    json::object data{{"event_name", now.event().name},
                      {"ticket_name", now.stock().types()[what.ticket_type].name},
                      {"quantity", what.quantity}};
    add_facts(data, now);
    if (is_set(what.valid_until)) data["valid_until"] = unix_ms(what.valid_until);
    mails.push_back(mail("quota_invitation", now, in, std::move(chunk), std::move(data), what.valid_until));
  };
  for (const auto& one : invited) add_recipient(to, one.language, one.address, send);
  send_rest(to, send);
  return mails;
}

std::vector<topic_mail> transfer_mails(std::span<const transfer_row> offers, const sale& now,
                                       const std::string& url) {
  std::vector<topic_mail> mails;
  for (const auto& offer : offers) {
    const auto tell = [&](const char* key, language in, const std::string& address, timestamp end = never) {
      if (address.empty()) return; // erased
      const auto type = now.event_tickets().find(offer.ticket)->ticket_type;
      json::object data{{"event_name", now.event().name},
                        {"ticket_name", now.stock().types()[type].name},
                        {"tickets_url", url}};
      if (offer.status == transfer_status::declined || offer.status == transfer_status::expired)
        data["declined"] = offer.status == transfer_status::declined;
      if (is_set(end)) data["expires_at"] = unix_ms(end);
      add_facts(data, now);
      mails.push_back({topic::ticket_transferred,
                       mail(key, now, in, {json::object{{"address", address}}}, std::move(data), end)});
    };
    const auto tell_giver = [&](const char* key) {
      tell(key, language_of_giver(offer, now), offer.giver_email);
    };
    const auto tell_receiver = [&](const char* key, timestamp end = never) {
      tell(key, offer.receiver_language, offer.receiver_email, end);
    };
    switch (offer.status) {
      case transfer_status::offered: tell_receiver("ticket_offered", offer.expires_at); break;
      case transfer_status::accepted:
        tell_giver("ticket_given");
        tell_receiver("ticket_received");
        break;
      case transfer_status::declined:
      case transfer_status::expired: tell_giver("ticket_kept"); break;
      case transfer_status::withdrawn: tell_receiver("ticket_withdrawn"); break;
    }
  }
  return mails;
}

std::string mail_again(const order_row& order, const sale& now, std::string_view shop_url) {
  if (order.contact.email.empty()) return {}; // erased
  switch (order.status) {
    case order_status::success:
    case order_status::partially_refunded: return receipt(order, now);
    case order_status::awaiting_payment:
      return now.view_of(order).payment_url.empty() ? std::string{} : payment_link(order, now);
    case order_status::failed: return failed(order, now, shop_url);
    case order_status::pending:
    case order_status::cancelled:
    case order_status::refunded: return {};
  }
  return {};
}

} // namespace fq
