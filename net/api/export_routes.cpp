// SPDX-License-Identifier: Apache-2.0
// CSV exports, produced while they are sent: the next page of the list is read after the previous one is
// written. From the newest row to the oldest; rows added meanwhile are not included.
#include "domain/money/money_text.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/csv.hpp"
#include "net/wire/order_codec.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace fq::net {
namespace {

/// Sends a list page by page.
template <class Reply>
class csv_pages : public body_source {
public:
  csv_pages(const call& c, Reply first) : call_(c), page_(std::move(first)) {}

  awaitable<std::string> next() final {
    if (is_begun_ && !page_.more) co_return std::string{};
    if (is_begun_) {
      auto got = co_await ask_behind(last_);
      if (got.error || got.reply.no)
        throw std::runtime_error("an export broke off: its owner does not answer");
      page_ = std::move(got.reply);
    }
    std::string text;
    if (!is_begun_) begin(text);
    is_begun_ = true;
    append(page_, text, last_);
    co_return text;
  }

protected:
  const call& made_for() const { return call_; }

private:
  virtual void begin(std::string& out) const = 0;
  virtual void append(const Reply& page, std::string& out, uuid& last) const = 0;
  virtual awaitable<answer<Reply>> ask_behind(const uuid& last) = 0;

  call call_; ///< its request outlives the answer
  Reply page_;
  uuid last_; ///< last row written
  bool is_begun_ = false;
};

response csv_answer(std::shared_ptr<body_source> source, const std::string& file) {
  response answer{.status = 200, .content_type = csv_type};
  answer.source = std::move(source);
  answer.fields.emplace_back("Content-Disposition", "attachment; filename=\"" + file + ".csv\"");
  return answer;
}

// -- orders

using type_names = std::map<ticket_type_id, std::string>;

/// "2 x Weekend pass; 1 x Saturday".
std::string items_text(const claim_view& claim, const type_names& names) {
  std::string text;
  for (std::size_t i = 0; i < claim.claim.items.size(); ++i) {
    const auto name = names.find(claim.item_ids[i]);
    if (!text.empty()) text += "; ";
    text += std::to_string(claim.claim.items[i].quantity) + " x "
            + (name == names.end() ? to_string(claim.item_ids[i]) : name->second);
  }
  return text;
}

/// "Meal: vegan; Name (2): Ada".
std::string answers_text(const std::vector<answer_row>& answers) {
  std::string text;
  for (const auto& a : answers) {
    if (!text.empty()) text += "; ";
    text += a.label;
    if (a.attendee > 0) text += " (" + std::to_string(a.attendee) + ')';
    text += ": " + a.value;
  }
  return text;
}

/// "1: (id of an event ticket); 2: …", of the attendees in answers_text.
std::string attendees_text(std::vector<event_ticket_view> tickets) {
  std::ranges::sort(tickets, {}, &event_ticket_view::attendee);
  std::string text;
  for (const auto& t : tickets) {
    if (!text.empty()) text += "; ";
    text += std::to_string(t.attendee) + ": " + to_string(t.ticket.id);
  }
  return text;
}

std::uint32_t refunded_tickets(const claim_view& claim) {
  std::uint32_t count = 0;
  for (const auto& item : claim.claim.items) count += item.refunded;
  return count;
}

void append_order(std::string& out, const order_view& v, const type_names& names) {
  const auto& o = v.order;
  const auto& currency = v.claim.currency;
  append_csv_row(out, {to_string(o.id),
                       csv_time(o.created_at),
                       csv_time(o.updated_at),
                       wire_name(o.status),
                       o.failure,
                       o.contact.first_name,
                       o.contact.last_name,
                       o.contact.email,
                       o.contact.phone,
                       items_text(v.claim, names),
                       std::to_string(refunded_tickets(v.claim)),
                       o.promo_code,
                       currency,
                       amount_text(o.subtotal, currency),
                       amount_text(o.discount, currency),
                       amount_text(o.donations, currency),
                       amount_text(o.platform_fee, currency),
                       amount_text(o.processing_fee, currency),
                       amount_text(o.total, currency),
                       amount_text(v.refunded, currency),
                       v.payment.is_nil() ? std::string{} : to_string(v.payment),
                       v.payment.is_nil() ? std::string_view{} : name_of(v.payment_state),
                       answers_text(o.contact.answers),
                       attendees_text(v.event_tickets)});
}

list_event_orders orders_behind(const call& c, const uuid& last) {
  return {{c.id, c.by}, last, list_limit_max, true};
}

class orders_csv final : public csv_pages<orders_reply> {
public:
  orders_csv(const call& c, orders_reply first, type_names names) :
      csv_pages(c, std::move(first)), names_(std::move(names)) {}

private:
  void begin(std::string& out) const override {
    out += csv_start;
    append_csv_row(out, {"order_id",         "created_at",     "updated_at",     "status",       "failure",
                         "first_name",       "last_name",      "email",          "phone",        "items",
                         "refunded_tickets", "promo_code",     "currency",       "subtotal",     "discount",
                         "donations",        "platform_fee",   "processing_fee", "total",        "refunded",
                         "payment_id",       "payment_status", "answers",        "event_tickets"});
  }
  void append(const orders_reply& page, std::string& out, uuid& last) const override {
    for (const auto& order : page.orders) {
      append_order(out, order, names_);
      last = order.order.id;
    }
  }
  awaitable<answer<orders_reply>> ask_behind(const uuid& last) override {
    auto wish = orders_behind(made_for(), last);
    auto got = co_await ask_event(made_for().ctx, owner_of(made_for().id), std::move(wish));
    co_return std::move(got);
  }

  type_names names_;
};

awaitable<response> export_orders(call c) {
  auto wish = orders_behind(c, {});
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  auto event = co_await ask_event(c.ctx, owner_of(c.id), find_event{{c.id, c.by}});
  if (auto no = refused(c.rq, event)) co_return std::move(*no);
  type_names names;
  for (const auto& type : event.reply.event.ticket_types) names.emplace(type.id, type.name);
  co_return csv_answer(std::make_shared<orders_csv>(c, std::move(got.reply), std::move(names)),
                       "orders-" + to_string(c.id));
}

// -- audit log

class audit_csv final : public csv_pages<audit_reply> {
public:
  audit_csv(const call& c, audit_reply first, const uuid& target) :
      csv_pages(c, std::move(first)), target_(target) {}

private:
  void begin(std::string& out) const override {
    out += csv_start;
    append_csv_row(out, {"id", "at", "actor", "action", "target", "reason", "detail"});
  }
  void append(const audit_reply& page, std::string& out, uuid& last) const override {
    for (const auto& r : page.rows) {
      append_csv_row(
        out, {to_string(r.id), csv_time(r.at), r.actor, r.action, to_string(r.target), r.reason, r.detail});
      last = r.id;
    }
  }
  awaitable<answer<audit_reply>> ask_behind(const uuid& last) override {
    list_audit wish{made_for().by, target_, last, list_limit_max};
    auto got = co_await ask(made_for().ctx, made_for().ctx.catalog, std::move(wish));
    co_return std::move(got);
  }

  uuid target_;
};

awaitable<response> export_audit(call c) {
  std::optional<response> no;
  const auto query = query_parameters::read(c.rq, {"target"}, no);
  if (no) co_return std::move(*no);
  const auto given = query.find("target");
  const auto target = given ? parse_uuid(*given) : std::optional{uuid{}};
  if (!target)
    co_return problem(fault::invalid_parameter, c.rq.request_id,
                      "target must be the id of an event or a queue.");
  list_audit wish{c.by, *target, {}, list_limit_max};
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return csv_answer(std::make_shared<audit_csv>(c, std::move(got.reply), *target), "audit");
}

} // namespace

std::span<const route> export_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/events/{id}/orders.csv", for_managers<export_orders>},
    {get, "/audit.csv", for_managers<export_audit, query_use::own>},
  };
  return table;
}

} // namespace fq::net
