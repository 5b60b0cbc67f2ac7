// SPDX-License-Identifier: Apache-2.0
#include "load/wire/wire.hpp"

#include <boost/json/parse.hpp>

#include <array>
#include <utility>

namespace fq::load {

namespace json = boost::json;

namespace {

double number_member(const json::value& object, std::string_view name, double otherwise) {
  const auto* value = member(object, name);
  if (value == nullptr || !value->is_number()) return otherwise;
  return value->to_number<double>();
}

template <class Enum, std::size_t N>
std::optional<Enum> by_name(const std::array<std::pair<std::string_view, Enum>, N>& names,
                            std::string_view name) {
  for (const auto& [text, value] : names)
    if (text == name) return value;
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, place_kind>, 8> entry_states{{
  {"WAITING", place_kind::waiting},
  {"AWAY", place_kind::away},
  {"ADMITTED", place_kind::admitted},
  {"EXPIRED", place_kind::over},
  {"CANCELLED", place_kind::over},
  {"COMPLETED", place_kind::over},
  {"SESSION_EXPIRED", place_kind::over},
  {"REVOKED", place_kind::over},
}};

constexpr std::array<std::pair<std::string_view, claim_status>, 5> claim_states{{
  {"CLAIMED", claim_status::claimed},
  {"EXPIRING", claim_status::expiring},
  {"CONFIRMED", claim_status::confirmed},
  {"RELEASED", claim_status::released},
  {"REFUNDED", claim_status::refunded},
}};

constexpr std::array<std::pair<std::string_view, payment_status>, 10> payment_states{{
  {"INITIALIZING", payment_status::initializing},
  {"PENDING", payment_status::pending},
  {"CONFIRMED", payment_status::confirmed},
  {"FAILED", payment_status::failed},
  {"QUARANTINED", payment_status::quarantined},
  {"CONFIRMED_LATE", payment_status::confirmed_late},
  {"REFUND_PENDING", payment_status::refund_pending},
  {"REFUNDED", payment_status::refunded},
  {"PARTIALLY_REFUNDED", payment_status::partially_refunded},
  {"REFUND_FAILED", payment_status::refund_failed},
}};

// An answer that the question takes: the first choice, a consent, any text.
std::string answer_to(const json::value& question) {
  if (text_member(question, "kind") == "consent") return "yes";
  const auto choices = texts_member(question, "choices");
  return choices.empty() ? "Of the load program" : choices.front();
}

void read_questions(const json::value& body, sale_terms& out) {
  const auto* questions = member(body, "questions");
  if (questions == nullptr || !questions->is_array()) return;
  for (const auto& each : questions->as_array()) {
    const auto* required = member(each, "required");
    if (required != nullptr && required->is_bool() && required->as_bool())
      out.questions.push_back(
        {whole_member(each, "id", 0), text_member(each, "to") == "attendee", answer_to(each)});
  }
}

} // namespace

const json::value* member(const json::value& object, std::string_view name) {
  const auto* members = object.if_object();
  return members != nullptr ? members->if_contains(name) : nullptr;
}

std::optional<uuid> id_member(const json::value& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return parse_uuid(value->as_string());
}

std::optional<std::int64_t> whole(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->as_int64();
  return std::nullopt;
}

std::optional<payment_status> payment_status_named(std::string_view name) {
  return by_name(payment_states, name);
}

json::value parse_object(std::string_view text) {
  boost::system::error_code error;
  auto value = json::parse(text, error);
  if (error || !value.is_object()) return nullptr;
  return value;
}

std::string text_member(const json::value& object, std::string_view name) {
  const auto* value = member(object, name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

std::vector<std::string> texts_member(const json::value& object, std::string_view name) {
  std::vector<std::string> out;
  const auto* list = member(object, name);
  if (list != nullptr && list->is_array())
    for (const auto& each : list->as_array())
      if (each.is_string()) out.emplace_back(each.as_string());
  return out;
}

std::int64_t whole_member(const json::value& object, std::string_view name, std::int64_t otherwise) {
  return whole(member(object, name)).value_or(otherwise);
}

std::optional<entry_answer> read_entry(const json::value& body) {
  entry_answer out;
  out.status = text_member(body, "status");
  const auto kind = by_name(entry_states, out.status);
  const auto entry = id_member(body, "entry_id");
  const auto number = whole(member(body, "queue_number"));
  if (!kind || !entry || !number || *number < 0) return std::nullopt;
  out.kind = *kind;
  out.entry = *entry;
  out.number = static_cast<std::uint64_t>(*number);
  out.position = static_cast<std::uint32_t>(whole_member(body, "position", 0));
  out.batch = static_cast<std::uint64_t>(whole_member(body, "admission_batch", 0));
  out.poll_after_ms = whole_member(body, "poll_after_ms", 0);
  out.admission_token = text_member(body, "admission_token");
  if (out.kind == place_kind::admitted && out.admission_token.empty()) return std::nullopt;
  return out;
}

std::optional<claim_sight> read_claim(const json::value& body) {
  claim_sight out;
  const auto claim = id_member(body, "claim_id");
  const auto status = by_name(claim_states, text_member(body, "status"));
  const auto amount = whole(member(body, "amount"));
  const auto* items = member(body, "items");
  if (!claim || !status || !amount || items == nullptr || !items->is_array()) return std::nullopt;
  out.claim = *claim;
  out.status = *status;
  out.fees = whole_member(body, "fees", 0);
  out.amount = *amount;
  out.currency = text_member(body, "currency");
  for (const auto& item : items->as_array()) {
    const auto type = id_member(item, "ticket_type_id");
    const auto quantity = whole(member(item, "quantity"));
    const auto price = whole(member(item, "unit_price"));
    if (!type || !quantity || !price) return std::nullopt;
    out.items.push_back({*type, *quantity, *price});
  }
  out.seats = texts_member(body, "seats");
  return out;
}

std::optional<payment_answer> read_payment(const json::value& body) {
  payment_answer out;
  const auto payment = id_member(body, "payment_id");
  const auto claim = id_member(body, "claim_id");
  const auto status = by_name(payment_states, text_member(body, "status"));
  const auto amount = whole(member(body, "amount"));
  if (!payment || !claim || !status || !amount) return std::nullopt;
  out.observation.payment = *payment;
  out.observation.claim = *claim;
  out.observation.status = *status;
  out.observation.amount = *amount;
  out.observation.refunded_amount = whole_member(body, "refunded_amount", 0);
  out.observation.currency = text_member(body, "currency");
  out.authorization_url = text_member(body, "authorization_url");
  return out;
}

std::optional<event_answer> read_event(const json::value& body) {
  event_answer out;
  const auto id = id_member(body, "id");
  const auto* types = member(body, "ticket_types");
  const auto* queue = member(body, "queue");
  if (!id || types == nullptr || !types->is_array() || queue == nullptr || !queue->is_object())
    return std::nullopt;
  out.terms.event = *id;
  out.terms.name = text_member(body, "name");
  out.terms.status = text_member(body, "status");
  out.terms.currency = text_member(body, "currency");
  out.terms.organizer = id_member(body, "organizer_id").value_or(uuid{});
  out.terms.claims_per_customer = whole_member(body, "claims_per_customer", 1);
  out.terms.claim_ttl_s = whole_member(body, "claim_ttl_seconds", 0);
  for (const auto& type : types->as_array()) {
    const auto type_id = id_member(type, "id");
    const auto total = whole(member(type, "total"));
    if (!type_id || !total) return std::nullopt;
    out.terms.types.push_back({*type_id, text_member(type, "name"), whole_member(type, "price", 0), *total,
                               whole_member(type, "available", 0), whole_member(type, "max_per_order", 1)});
  }
  out.terms.policy = text_member(*queue, "policy");
  if (out.terms.policy == "batch") out.terms.batch_size = whole_member(*queue, "batch_size", 0);
  out.terms.admission_interval_ms = whole_member(*queue, "admission_interval_ms", 0);
  out.terms.over_admission_factor = number_member(*queue, "over_admission_factor", 1.0);
  out.terms.session_ttl_s = whole_member(*queue, "session_ttl_seconds", 0);
  out.terms.claim_window_s = whole_member(*queue, "claim_window_seconds", 0);
  read_questions(body, out.terms);
  out.available = whole_member(body, "available", 0);
  const auto* sold_out = member(body, "sold_out");
  out.sold_out = sold_out != nullptr && sold_out->is_bool() && sold_out->as_bool();
  return out;
}

} // namespace fq::load
