// SPDX-License-Identifier: Apache-2.0
#include "load/wire/order_wire.hpp"

#include "load/wire/wire.hpp"

#include <boost/json/serialize.hpp>

#include <charconv>

namespace fq::load {

namespace json = boost::json;

namespace {

std::optional<order_status> status_named(std::string_view name) {
  if (name == "processing") return order_status::pending;
  for (std::size_t i = 0; i < order_status_count; ++i)
    if (const auto each = static_cast<order_status>(i); name_of(each) == name) return each;
  return std::nullopt;
}

std::optional<order_item> read_item(const json::value& item) {
  const auto type = id_member(item, "ticket_type_id");
  const auto quantity = whole(member(item, "quantity"));
  const auto price = whole(member(item, "unit_price"));
  const auto discount = whole(member(item, "unit_discount"));
  const auto donation = whole(member(item, "donation"));
  if (!type || !quantity || !price || !discount || !donation) return std::nullopt;
  return order_item{*type,     *quantity, *price,
                    *discount, *donation, whole_member(item, "refunded_quantity", 0)};
}

// All seven amounts are required: an answer without one could not be checked.
bool read_amounts(const json::value& body, order_terms& out) {
  const auto take = [&body](std::string_view name, std::int64_t& into) {
    const auto value = whole(member(body, name));
    into = value.value_or(0);
    return value.has_value();
  };
  return take("subtotal", out.subtotal) && take("discount", out.discount) && take("donations", out.donations)
         && take("platform_fee", out.platform_fee) && take("processing_fee", out.processing_fee)
         && take("total", out.total);
}

std::optional<order_terms> read_terms(const json::value& body) {
  order_terms out;
  const auto claim = id_member(body, "claim_id");
  const auto* items = member(body, "items");
  if (!claim || items == nullptr || !items->is_array() || !read_amounts(body, out)) return std::nullopt;
  out.claim = *claim;
  out.currency = text_member(body, "currency");
  out.promo_code = text_member(body, "promo_code");
  for (const auto& each : items->as_array()) {
    auto item = read_item(each);
    if (!item) return std::nullopt;
    out.items.push_back(*item);
  }
  out.seats = texts_member(body, "seats");
  return out;
}

// A malformed row, for which `read_row` gives nothing, invalidates the page.
template <class Row, class ReadRow>
std::optional<page_answer<Row>> read_page(const json::value& body, ReadRow read_row) {
  const auto* items = member(body, "items");
  if (items == nullptr || !items->is_array()) return std::nullopt;
  page_answer<Row> out;
  out.next_cursor = text_member(body, "next_cursor");
  for (const auto& each : items->as_array()) {
    std::optional<Row> row = read_row(each);
    if (!row) return std::nullopt;
    out.rows.push_back(std::move(*row));
  }
  return out;
}

} // namespace

std::optional<order_answer> read_order_status(const json::value& body) {
  const auto order = id_member(body, "order_id");
  const auto status = status_named(text_member(body, "status"));
  if (!order || !status) return std::nullopt;
  order_answer out;
  out.order = *order;
  out.status = *status;
  out.payment_url = text_member(body, "payment_url");
  out.payments_url = text_member(body, "payments_url");
  out.poll_after_ms = whole_member(body, "poll_after_ms", 0);
  const auto* can_retry = member(body, "can_retry");
  out.can_retry = can_retry != nullptr && can_retry->is_bool() && can_retry->as_bool();
  return out;
}

std::optional<order_sight> read_order(const json::value& body) {
  order_sight out;
  const auto order = id_member(body, "order_id");
  out.status = status_named(text_member(body, "status"));
  out.terms = read_terms(body);
  const auto refunded = whole(member(body, "refunded_amount"));
  if (!order || !out.status || !out.terms || !refunded) return std::nullopt;
  out.order = *order;
  out.refunded_amount = *refunded;
  out.payment = id_member(body, "payment_id").value_or(uuid{});
  out.payment_state = payment_status_named(text_member(body, "payment_status"));
  return out;
}

std::optional<page_answer<listed_order>> read_event_orders(const json::value& body, std::string_view run) {
  return read_page<listed_order>(body, [run](const json::value& each) -> std::optional<listed_order> {
    auto order = read_order(each);
    const auto* contact = member(each, "contact");
    if (!order || contact == nullptr) return std::nullopt;
    return listed_order{std::move(*order), fan_of(text_member(*contact, "email"), run)};
  });
}

std::optional<page_answer<listed_promo>> read_promo_codes(const json::value& body) {
  return read_page<listed_promo>(body, [](const json::value& each) -> std::optional<listed_promo> {
    const auto uses = whole(member(each, "uses"));
    auto code = text_member(each, "code");
    if (!uses || code.empty()) return std::nullopt;
    return listed_promo{std::move(code), whole_member(each, "uses_max", 0), *uses};
  });
}

std::optional<stats_answer> read_stats(const json::value& body) {
  const auto sold = whole(member(body, "sold"));
  const auto held = whole(member(body, "held"));
  if (!sold || !held) return std::nullopt;
  return stats_answer{*sold, *held};
}

namespace {

json::array answers_of(const checkout_wish& wish) {
  std::int64_t units = 0;
  for (const auto& each : wish.items) units += each.quantity;
  json::array out;
  for (const auto& question : wish.questions)
    for (std::int64_t attendee = 1; attendee <= (question.to_attendee ? units : 1); ++attendee) {
      json::object answer{{"question_id", question.id}, {"value", question.answer}};
      if (question.to_attendee) answer["attendee"] = attendee;
      out.push_back(std::move(answer));
    }
  return out;
}

} // namespace

std::string checkout_text(const checkout_wish& wish) {
  json::array items;
  for (const auto& each : wish.items) {
    json::object item{{"ticket_type_id", to_string(each.ticket_type)}, {"quantity", each.quantity}};
    if (each.donation > 0) item["donation"] = each.donation;
    if (!each.seats.empty()) item["seats"] = json::array(each.seats.begin(), each.seats.end());
    items.push_back(std::move(item));
  }
  json::object out{
    {"event_id", wish.event},
    {"contact", {{"first_name", "Fan"}, {"last_name", "Of the load program"}, {"email", wish.email}}},
    {"items", std::move(items)}};
  if (!wish.admission_token.empty()) out["admission_token"] = wish.admission_token;
  if (!wish.promo_code.empty()) out["promo_code"] = wish.promo_code;
  if (!wish.questions.empty()) out["answers"] = answers_of(wish);
  return json::serialize(out);
}

std::string address_of(std::size_t fan, std::string_view run) {
  return "fan-" + std::to_string(fan) + "@" + std::string(run) + ".example";
}

std::optional<std::size_t> fan_of(std::string_view address, std::string_view run) {
  std::size_t fan = 0;
  const auto at = address.find('@');
  if (!address.starts_with("fan-") || at == std::string_view::npos) return std::nullopt;
  const auto [end, error] = std::from_chars(address.data() + 4, address.data() + at, fan);
  if (error != std::errc{} || end != address.data() + at || address != address_of(fan, run))
    return std::nullopt;
  return fan;
}

} // namespace fq::load
