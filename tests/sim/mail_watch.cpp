// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/mail_watch.hpp"

#include "tests/sim/outbox.hpp"

#include "domain/delivery/outbox.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <set>

namespace fq::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view to_many = "event_cancelled";
constexpr std::string_view offer = "waiting_list_offer";
constexpr std::string_view invitation = "quota_invitation";
constexpr std::string_view about_ticket = "ticket_";
const std::string link_mail = "payment_link";

money sum_of_receipt(const json::object& data) {
  money sum = 0;
  for (const auto& i : data.at("items").as_array()) sum += i.at("amount").to_number<money>();
  return sum - data.at("discount").to_number<money>() + data.at("donations").to_number<money>()
         + data.at("fees").to_number<money>();
}

} // namespace

/// Adds the mails that `c` requires, and those that an organizer repeated. A repeated mail's template depends
/// on the order's state, which is unknown here.
void mail_watch::due(const change& c, orders_mails& all) const {
  if (const auto* order = std::get_if<order_moved>(&c)) {
    const auto& row = order->row;
    auto& mails = all[to_string(row.id)];
    const bool link = order->from == row.status && row.status == order_status::awaiting_payment
                      && !is_set(row.payment_link_at);
    if (link) ++mails.links_allowed;
    if (order->from == row.status) return;
    if (row.status == order_status::success) ++mails.due["order_receipt"];
    if (row.status == order_status::failed && row.failure != "event_cancelled") ++mails.due["order_failed"];
  } else if (const auto* refund = std::get_if<refund_moved>(&c)) {
    const bool done = refund->from != refund->row.status && refund->row.status == refund_status::succeeded
                      && refund->row.amount > 0;
    const auto* row = done ? world_.check->order_of_payment(refund->row.payment) : nullptr;
    if (row != nullptr) ++all[to_string(row->id)].due["order_refunded"];
  } else if (const auto* audit = std::get_if<audit_recorded>(&c)) {
    if (audit->row.action == "event.resend") ++all[audit->row.reason].again;
  }
}

/// A holder who did not buy has it once.
void mail_watch::check_cancelled(const json::value& to) {
  for (const auto& recipient : to.as_array())
    if (const auto* customer = recipient.as_object().if_contains("customer_id");
        customer != nullptr && !told_holders_.emplace(customer->as_string()).second)
      world_.check->fail("I16", "a holder was told twice that the event is cancelled");
}

void mail_watch::sent(const outbox_row& row, orders_mails& all) {
  const auto mail = json::parse(row.payload).as_object();
  const std::string kind{mail.at("template").as_string()};
  const auto& data = mail.at("data").as_object();
  if (mail.at("to").as_array().empty()) return world_.check->fail("I16", kind + " is a mail to nobody");
  if (kind == offer) return;
  if (kind == to_many) check_cancelled(mail.at("to"));
  if (kind == to_many || kind == invitation || kind.starts_with(about_ticket)) return;
  if (kind == link_mail && data.at("payment_url").as_string().empty())
    return world_.check->fail("I16", "a payment link without a page was sent");
  if (kind == "order_receipt" && sum_of_receipt(data) != data.at("total").to_number<money>())
    return world_.check->fail("I4", "a receipt that does not add up");
  ++all[std::string{data.at("order_id").as_string()}].sent[kind];
}

void mail_watch::check_order(const std::string& order, mails_of_order& mails) {
  auto beyond = -mails.again;
  for (const auto& [kind, n] : mails.due) {
    if (mails.sent[kind] < n) return world_.check->fail("I16", kind + " was not sent");
    beyond -= n;
  }
  for (const auto& [kind, n] : mails.sent) beyond += n;
  if (beyond < 0) return world_.check->fail("I16", "a mail that was to be sent again was not");
  if (beyond > mails.links_allowed) return world_.check->fail("I16", "a mail tells of nothing that happened");
  receipts_[order] += mails.due["order_receipt"];
}

/// Each admission from the waiting list causes a mail. A batch in which the list begins or ends may hold
/// other admissions too.
void mail_watch::check_offers(const batch& b) {
  const bool was_list = std::exchange(is_list_, is_set(world_.check->event().waiting_list.began_at));
  std::size_t admitted = 0, offers = 0;
  bool has_changed = is_list_ != was_list;
  for (const auto& c : b.content) {
    has_changed = has_changed || std::holds_alternative<event_changed>(c);
    if (const auto* moved = std::get_if<entry_moved>(&c))
      admitted += moved->row.status == entry_status::admitted && moved->from != moved->row.status ? 1 : 0;
    if (const auto* told = std::get_if<outbox_appended>(&c); told != nullptr && !is_retried(b, told->row.id))
      offers += told->row.payload.find(offer) != std::string::npos ? 1 : 0;
  }
  if (!has_changed && offers != (is_list_ ? admitted : 0))
    world_.check->fail("I16", std::to_string(admitted) + " offers of the waiting list, "
                                + std::to_string(offers) + " mails");
}

/// The codes of a ticket become void in the commit that tells its holder.
void mail_watch::check_told_of_end(const batch& b) const {
  std::size_t voided = 0, sent = 0;
  for (std::size_t i = 0; i < b.content.size(); ++i) {
    const auto* moved = std::get_if<event_ticket_moved>(&b.content[i]);
    const auto* offer = i + 1 < b.content.size() ? std::get_if<transfer_moved>(&b.content[i + 1]) : nullptr;
    const bool is_transfer = offer != nullptr && offer->row.status == transfer_status::accepted;
    voided += moved != nullptr && moved->from == moved->row.status && !is_transfer ? 1 : 0;
    const auto* told = std::get_if<outbox_appended>(&b.content[i]);
    if (told == nullptr || told->row.topic != topic::mail_send || is_retried(b, told->row.id)) continue;
    const auto mail = json::parse(told->row.payload).as_object();
    sent +=
      mail.at("template").as_string() == to_many && mail.at("to").at(0).as_object().contains("customer_id")
        ? 1
        : 0;
  }
  if (voided != sent)
    world_.check->fail("I16", std::to_string(voided) + " holders of a cancelled event, "
                                + std::to_string(sent) + " mails");
}

/// Tickets that a refund cancels: one mail to each holder who is not the buyer. Holders of a cancelled event
/// have had theirs.
void mail_watch::check_holders(const batch& b) const {
  if (world_.check->event().status == event_status::cancelled) return check_told_of_end(b);
  std::set<std::string> due;
  std::multiset<std::string> sent;
  for (const auto& c : b.content) {
    if (const auto* moved = std::get_if<event_ticket_moved>(&c); moved != nullptr) {
      const bool is_gift = moved->row.generation > 1
                           && moved->row.holder != world_.check->claims().at(moved->row.claim).customer;
      if (!is_valid(moved->row.status) && is_gift) due.insert(to_string(moved->row.holder));
    }
    const auto* told = std::get_if<outbox_appended>(&c);
    if (told == nullptr || told->row.topic != topic::mail_send || is_retried(b, told->row.id)) continue;
    const auto mail = json::parse(told->row.payload).as_object();
    if (mail.at("template").as_string() == "ticket_cancelled")
      sent.emplace(mail.at("to").at(0).at("customer_id").as_string());
  }
  if (!std::ranges::equal(due, sent))
    world_.check->fail("I16", std::to_string(due.size()) + " holders lost tickets, "
                                + std::to_string(sent.size()) + " mails");
}

void mail_watch::applied(const batch& b) {
  if (b.aggregate != world_.aggregate) return;
  check_offers(b);
  check_holders(b);
  orders_mails all;
  for (const auto& c : b.content) due(c, all);
  for (const auto& c : b.content)
    if (const auto* told = std::get_if<outbox_appended>(&c);
        told != nullptr && told->row.topic == topic::mail_send && !is_retried(b, told->row.id))
      sent(told->row, all);
  for (auto& [order, mails] : all) check_order(order, mails);
}

void mail_watch::check_end() const {
  for (const auto& [id, order] : world_.check->orders()) {
    const auto sent = receipts_.find(to_string(id));
    if ((sent == receipts_.end() ? 0 : sent->second)
        != (world_.check->was(id, order_status::success) ? 1 : 0))
      world_.check->fail("I16", "an order has not one receipt, or has one and never succeeded");
  }
}

} // namespace fq::sim
