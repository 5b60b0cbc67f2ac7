// SPDX-License-Identifier: Apache-2.0
// Requests to and answers from Paystack. A call of several requests is a chain of continuations that carry
// the order, the deadline and the callback by value; they run on the HTTP client's thread.
#include "outbound/paystack_gateway.hpp"

#include "crypto/digest.hpp"
#include "outbound/json_api.hpp"
#include "outbound/limits.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace fq {
namespace {

namespace json = boost::json;

constexpr std::string_view note_prefix = "fairqueue refund ";

/// A Paystack refusal has status false, sometimes without a 4xx.
bool is_refusal(const api_answer& a) {
  const auto* status = a.body.if_contains("status");
  return a.is_refusal() || (!a.failure && status != nullptr && status->is_bool() && !status->get_bool());
}

bool is_refusal_for(const api_answer& a, std::string_view code,
                    std::initializer_list<std::string_view> messages) {
  if (text_at(a.body, "code") == code) return true;
  const auto message = text_at(a.body, "message");
  return std::find(messages.begin(), messages.end(), message) != messages.end(); // older answers have no code
}

/// A 404 alone may come from another server. Only Paystack's own message proves an unknown transaction.
bool is_unknown_reference(const api_answer& a) {
  const bool said_so = is_refusal(a) && a.body.contains("status");
  return said_so
         && (a.status == 404
             || is_refusal_for(a, "transaction_not_found",
                               {"Transaction reference not found", "Transaction not found"}));
}

bool is_duplicate_reference(const api_answer& a) {
  return is_refusal(a)
         && is_refusal_for(a, "duplicate_reference",
                           {"Duplicate Transaction Reference", "Duplicate charge request for reference"});
}

/// Paystack may report this with a 403, which otherwise means a wrong key.
bool is_unsupported_currency(const api_answer& a) {
  return a.status >= 400 && a.status < 500
         && is_refusal_for(a, "unsupported_currency",
                           {"Currency not supported by merchant", "Currency not supported"});
}

/// Nothing for an unknown Paystack status.
std::optional<charge_status> paystack_status(const json::object& transaction) {
  const auto status = text_at(transaction, "status");
  if (status == "success") return charge_status::paid;
  if (status == "failed") return charge_status::declined;
  if (status == "reversed")
    return text_at(transaction, "paid_at").empty() ? charge_status::declined : charge_status::paid;
  for (const auto* open : {"abandoned", "ongoing", "pending", "processing", "queued"})
    if (status == open) return charge_status::unpaid;
  return std::nullopt;
}

gateway_refund_status paystack_refund_status(const json::object& refund) {
  const auto status = text_at(refund, "status");
  if (status == "processed") return gateway_refund_status::processed;
  if (status == "failed") return gateway_refund_status::failed;
  return gateway_refund_status::pending; // pending, processing, needs-attention
}

std::string note_of(const std::string& refund_id) { return std::string{note_prefix} + refund_id; }

const json::object* find_refund(const json::array& refunds, const std::string& refund_id) {
  const auto note = note_of(refund_id);
  for (const auto& item : refunds)
    if (item.is_object() && text_at(item.get_object(), "merchant_note") == note) return &item.get_object();
  return nullptr;
}

/// Refund webhooks may carry amounts as text.
std::optional<std::int64_t> amount_at(const json::object& object, std::string_view name) {
  if (const auto number = integer_at(object, name)) return number;
  const auto text = text_at(object, name);
  std::int64_t amount = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (text.empty() || error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return amount;
}

/// Equal in every delivery, because the body is always the same.
std::string paystack_event_id(const std::string& name, const json::object& data, std::string_view raw_body) {
  if (const auto number = integer_at(data, "id")) return name + ":" + std::to_string(*number);
  if (const auto text = text_at(data, "id"); !text.empty()) return name + ":" + text;
  return name + ":" + to_hex(sha256(raw_body)).substr(0, 32);
}

std::string refunded_reference(const json::object& data) {
  auto reference = text_at(data, "transaction_reference");
  return reference.empty() ? text_at(object_at(data, "transaction"), "reference") : reference;
}

std::optional<gateway_event_kind> kind_named(std::string_view name) {
  if (name == "charge.success") return gateway_event_kind::charge_reported;
  if (name == "refund.processed") return gateway_event_kind::refund_processed;
  if (name == "refund.failed") return gateway_event_kind::refund_failed;
  return std::nullopt;
}

webhook_result parse_paystack_event(std::string_view raw_body) {
  const auto body = parse_object(raw_body);
  const auto name = text_at(body, "event");
  const auto& data = object_at(body, "data");
  const auto kind = kind_named(name);
  const auto amount = amount_at(data, "amount");
  if (!kind || !amount) return webhook_error::unknown_event;
  gateway_event out;
  out.id = paystack_event_id(name, data, raw_body);
  out.kind = *kind;
  out.money = {*amount, text_at(data, "currency")};
  out.reference =
    *kind == gateway_event_kind::charge_reported ? text_at(data, "reference") : refunded_reference(data);
  if (out.reference.empty()) return webhook_error::unknown_event;
  if (const auto note = text_at(data, "merchant_note"); note.starts_with(note_prefix))
    out.refund_id = note.substr(note_prefix.size());
  return out;
}

json::object initialization(const gateway_charge& charge, const paystack_gateway::settings& s) {
  json::object metadata{{"fairqueue_reference", charge.reference}};
  if (!charge.cancel_url.empty()) metadata["cancel_action"] = charge.cancel_url;
  for (const auto& label : charge.metadata) metadata[label.key] = label.value;
  json::object body{{"email", charge.customer_email.empty() ? s.fallback_email : charge.customer_email},
                    {"amount", charge.money.amount},
                    {"currency", charge.money.currency},
                    {"reference", charge.reference}};
  const auto& back = charge.success_url.empty() ? s.callback_url : charge.success_url;
  if (!back.empty()) body["callback_url"] = back;
  if (!charge.destination.empty()) {
    body["subaccount"] = charge.destination;
    body["transaction_charge"] = std::to_string(charge.application_fee); // text in Paystack's OpenAPI
  }
  body["metadata"] = std::move(metadata);
  return body;
}

std::string verify_path(const std::string& reference) {
  return "/transaction/verify/" + percent_encode(reference);
}

} // namespace

paystack_gateway::paystack_gateway(settings options, environment& env) : settings_{std::move(options)} {
  std::erase(settings_.secret_keys, std::string{}); // an empty key would accept forged signatures
  if (settings_.secret_keys.empty()) throw std::invalid_argument{"paystack: no secret key"};
  api_ = std::make_unique<json_api>(
    json_api::settings{"paystack", settings_.url, settings_.call_timeout, settings_.http}, env);
}

paystack_gateway::~paystack_gateway() = default;

// Requests.

http_request paystack_gateway::get(std::string path) const {
  http_request r;
  r.url = std::move(path);
  r.headers = {{"Authorization", "Bearer " + settings_.secret_keys.front()}};
  return r;
}

http_request paystack_gateway::post(std::string path, std::string body) const {
  auto r = get(std::move(path));
  r.method = http_request::method_type::post;
  r.headers.emplace_back("Content-Type", "application/json");
  r.body = std::move(body);
  return r;
}

// Answers.

/// The error for an answer that is not a success.
gateway_error paystack_gateway::error_of(const api_answer& answer) const {
  if (is_unsupported_currency(answer)) return api_->rejected(answer.status, "unsupported_currency");
  if (answer.failure) return *answer.failure;
  if (!is_refusal(answer)) return api_->unavailable("not the JSON expected");
  const auto code = text_at(answer.body, "code");
  // messages may contain names of people
  return api_->rejected(answer.status, code.empty() ? text_at(answer.body, "type") : code);
}

initialize_result paystack_gateway::authorization_of(const api_answer& answer,
                                                     const std::string& reference) const {
  if (is_duplicate_reference(answer))
    return gateway_error{gateway_error::kind_type::rejected, {}, "duplicate_reference", true};
  const auto& data = object_at(answer.body, "data");
  gateway_authorization out{text_at(data, "authorization_url"), {}};
  if (answer.failure || is_refusal(answer) || out.url.empty() || text_at(data, "reference") != reference)
    return error_of(answer);
  return out;
}

verify_result paystack_gateway::state_of(const api_answer& answer, const std::string& reference) const {
  if (is_unknown_reference(answer)) return charge_state{};
  const auto& data = object_at(answer.body, "data");
  const auto status = paystack_status(data);
  if (answer.failure || is_refusal(answer) || !status || text_at(data, "reference") != reference)
    return error_of(answer);
  const auto amount = integer_at(data, "amount"), asked = integer_at(data, "requested_amount");
  auto currency = text_at(data, "currency");
  const bool is_paid = *status == charge_status::paid;
  if (!amount || (is_paid && currency.empty())) return error_of(answer);
  return charge_state{*status, {is_paid ? *amount : asked.value_or(*amount), std::move(currency)}, 0};
}

refund_result paystack_gateway::made_refund_of(const api_answer& answer) const {
  const auto& data = object_at(answer.body, "data");
  if (!answer.failure && !is_refusal(answer) && !data.empty()) return paystack_refund_status(data);
  auto error = error_of(answer);
  if (error.kind == gateway_error::kind_type::unavailable)
    error.retry_after = std::max(error.retry_after, refund_pause);
  return error;
}

// The port.

void paystack_gateway::initialize(const gateway_charge& charge, gateway_done<initialize_result> done) {
  if (charge.customer_email.empty() && settings_.fallback_email.empty())
    return done(gateway_error{gateway_error::kind_type::rejected, {}, "paystack: no e-mail address"});
  auto request = post("/transaction/initialize", json::serialize(initialization(charge, settings_)));
  api_->send(std::move(request), api_->begin(charge.trace),
             [this, reference = charge.reference, done = std::move(done)](const api_answer& a) {
               done(authorization_of(a, reference));
             });
}

void paystack_gateway::verify(const gateway_charge& charge, gateway_done<verify_result> done) {
  api_->send(get(verify_path(charge.reference)), api_->begin(charge.trace),
             [this, reference = charge.reference, done = std::move(done)](const api_answer& a) {
               done(state_of(a, reference));
             });
}

void paystack_gateway::expire(const gateway_charge& charge, gateway_done<verify_result> done) {
  verify(charge, std::move(done));
}

void paystack_gateway::refund(const refund_request& order, gateway_done<refund_result> done) {
  const auto call = api_->begin(order.charge.trace);
  api_->send(get(verify_path(order.charge.reference)), call,
             [this, order, call, done = std::move(done)](const api_answer& a) {
               const auto state = state_of(a, order.charge.reference);
               if (const auto* error = std::get_if<gateway_error>(&state)) return done(*error);
               const auto id = integer_at(object_at(a.body, "data"), "id");
               if (std::get<charge_state>(state).status != charge_status::paid)
                 return done(api_->rejected(a.status, "there is no payment to refund"));
               if (!id) return done(api_->unavailable("a transaction without an id"));
               find_or_make_refund(order, *id, 1, call, done);
             });
}

void paystack_gateway::find_or_make_refund(const refund_request& order, std::int64_t transaction, int page,
                                           const api_call& call, gateway_done<refund_result> done) {
  if (page > paystack_pages_max) return done(api_->unavailable("its list of refunds has no end"));
  auto list = get("/refund?transaction=" + std::to_string(transaction)
                  + "&perPage=" + std::to_string(paystack_page_size) + "&page=" + std::to_string(page));
  api_->send(std::move(list), call, [=, this](const api_answer& a) {
    const auto* data = a.body.if_contains("data");
    if (a.failure || is_refusal(a) || data == nullptr || !data->is_array()) return done(error_of(a));
    if (const auto* known = find_refund(data->get_array(), order.refund_id)) {
      if (integer_at(*known, "amount") != order.amount)
        return done(api_->rejected(a.status, "another refund has this id"));
      return done(paystack_refund_status(*known));
    }
    if (data->get_array().size() >= paystack_page_size)
      return find_or_make_refund(order, transaction, page + 1, call, done);
    make_refund(order, call, done);
  });
}

void paystack_gateway::make_refund(const refund_request& order, const api_call& call,
                                   gateway_done<refund_result> done) {
  // No currency: money captured in an unexpected currency must be refundable too.
  auto request = post("/refund", json::serialize(json::object{{"transaction", order.charge.reference},
                                                              {"amount", order.amount},
                                                              {"merchant_note", note_of(order.refund_id)}}));
  request.fresh_connection = true;
  api_->send(std::move(request), call,
             [this, done = std::move(done)](const api_answer& a) { done(made_refund_of(a)); });
}

// Webhooks.

bool paystack_gateway::is_signed(std::string_view raw_body, std::string_view signature) const {
  bool matches = false;
  for (const auto& key : settings_.secret_keys)
    matches = constant_time_equal(signature, to_hex(hmac_sha512(view_bytes(key), raw_body))) || matches;
  return matches;
}

webhook_result paystack_gateway::parse_webhook(std::string_view raw_body, std::string_view signature,
                                               timestamp) const {
  if (!is_signed(raw_body, signature)) return webhook_error::bad_signature;
  return parse_paystack_event(raw_body);
}

} // namespace fq
