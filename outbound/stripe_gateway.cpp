// SPDX-License-Identifier: Apache-2.0
// Requests to and answers from Stripe. A call of several requests is a chain of continuations that carry the
// charge, the deadline and the callback by value; they run on the HTTP client's thread.
#include "outbound/stripe_gateway.hpp"

#include "crypto/digest.hpp"
#include "outbound/ascii.hpp"
#include "outbound/json_api.hpp"
#include "outbound/limits.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>

namespace fq {
namespace {

namespace json = boost::json;

constexpr std::string_view reference_key = "fairqueue_reference";
constexpr std::string_view refund_key = "fairqueue_refund";

/// Builds a form body. Keys are Stripe's names with unencoded brackets; values are encoded.
class form {
public:
  form& add(std::string_view key, std::string_view value) {
    if (!text_.empty()) text_ += '&';
    text_.append(key).append("=").append(percent_encode(value));
    return *this;
  }
  form& add(std::string_view key, std::int64_t value) { return add(key, std::to_string(value)); }
  form& add_metadata(std::string_view parent, std::string_view key, std::string_view value) {
    return add(std::string{parent}.append("[").append(key).append("]"), value);
  }
  /// The reference and the charge's metadata.
  form& add_metadata(std::string_view parent, const gateway_charge& charge) {
    add_metadata(parent, reference_key, charge.reference);
    for (const auto& label : charge.metadata) add_metadata(parent, label.key, label.value);
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

private:
  std::string text_;
};

/// The lines that the payer sees. Stripe allows no negative line (a discount) and at most stripe_lines_max
/// lines; in these cases one line replaces all. So the sum is always money.amount.
std::vector<gateway_line> shown_lines(const gateway_charge& charge) {
  const auto add = [](std::int64_t sum, const gateway_line& l) { return sum + l.unit_amount * l.quantity; };
  const auto is_plain = [](const gateway_line& l) {
    return l.unit_amount >= 0 && l.quantity > 0 && !l.name.empty();
  };
  const auto& lines = charge.lines;
  if (!lines.empty() && lines.size() <= stripe_lines_max && std::all_of(lines.begin(), lines.end(), is_plain)
      && std::accumulate(lines.begin(), lines.end(), std::int64_t{0}, add) == charge.money.amount)
    return lines;
  return {{charge.title.empty() ? charge.reference : charge.title, charge.money.amount, 1}};
}

void add_line(form& f, std::size_t index, const gateway_line& line, const std::string& currency) {
  const auto prefix = "line_items[" + std::to_string(index) + "]";
  f.add(prefix + "[price_data][currency]", currency);
  f.add(prefix + "[price_data][product_data][name]", line.name);
  f.add(prefix + "[price_data][unit_amount]", line.unit_amount);
  f.add(prefix + "[quantity]", line.quantity);
}

std::string metadata_of(const json::object& object, std::string_view key) {
  return text_at(object_at(object, "metadata"), key);
}

bool is_paid(const json::object& session) {
  const auto status = text_at(session, "payment_status");
  return status == "paid" || status == "no_payment_required";
}

/// Nothing for an unknown Stripe status.
std::optional<charge_status> stripe_status(const json::object& session) {
  if (is_paid(session)) return charge_status::paid;
  const auto status = text_at(session, "status");
  if (status == "open") return charge_status::unpaid;
  if (status == "expired") return charge_status::expired;
  if (status != "complete") return std::nullopt;
  // Complete but unpaid: a slow payment method is in progress or has failed. A complete session cannot be
  // paid again.
  const auto intent = text_at(object_at(session, "payment_intent"), "status");
  return intent == "canceled" || intent == "requires_payment_method" ? charge_status::declined
                                                                     : charge_status::unpaid;
}

struct amounts {
  gateway_money money;
  std::int64_t tax = 0;
};

amounts amounts_of(const json::object& session) {
  const auto tax = integer_at(object_at(session, "total_details"), "amount_tax").value_or(0);
  return {{integer_at(session, "amount_total").value_or(0) - tax, ascii_upper(text_at(session, "currency"))},
          tax};
}

/// The id of a member that is an expanded object or an id.
std::string id_at(const json::object& object, std::string_view name) {
  auto id = text_at(object_at(object, name), "id");
  return id.empty() ? text_at(object, name) : id;
}

std::optional<gateway_refund_status> stripe_refund_status(const json::object& refund) {
  const auto status = text_at(refund, "status");
  if (status == "succeeded") return gateway_refund_status::processed;
  if (status == "failed" || status == "canceled") return gateway_refund_status::failed;
  if (status == "pending" || status == "requires_action") return gateway_refund_status::pending;
  return std::nullopt;
}

const json::object* find_refund(const json::object& list, const std::string& refund_id) {
  for (const auto& item : array_at(list, "data"))
    if (item.is_object() && metadata_of(item.get_object(), refund_key) == refund_id)
      return &item.get_object();
  return nullptr;
}

std::optional<gateway_event_kind> session_event(std::string_view type, const json::object& session) {
  if (type == "checkout.session.completed" && is_paid(session)) return gateway_event_kind::charge_succeeded;
  if (type == "checkout.session.async_payment_succeeded") return gateway_event_kind::charge_succeeded;
  if (type == "checkout.session.async_payment_failed" || type == "checkout.session.expired")
    return gateway_event_kind::charge_failed;
  return std::nullopt;
}

std::optional<gateway_event_kind> refund_event(std::string_view type, const json::object& refund) {
  if (type != "refund.created" && type != "refund.updated" && type != "refund.failed"
      && type != "charge.refund.updated")
    return std::nullopt;
  const auto status = stripe_refund_status(refund).value_or(gateway_refund_status::pending);
  if (status == gateway_refund_status::processed) return gateway_event_kind::refund_processed;
  if (status == gateway_refund_status::failed) return gateway_event_kind::refund_failed;
  return std::nullopt;
}

/// Whether an event is about our account in the mode of our key. Events of connected accounts name them.
bool is_of_account(const json::object& event, std::string_view secret_key) {
  const auto* live = event.if_contains("livemode");
  const bool is_live = live != nullptr && live->is_bool() && live->get_bool();
  const bool wants_live = secret_key.find("_live_") != std::string_view::npos;
  return is_live == wants_live && text_at(event, "account").empty();
}

webhook_result parse_stripe_event(const json::object& event) {
  const auto type = text_at(event, "type");
  const auto& object = object_at(object_at(event, "data"), "object");
  const auto about_session = session_event(type, object);
  const auto kind = about_session ? about_session : refund_event(type, object);
  gateway_event out;
  out.id = text_at(event, "id");
  if (!kind || out.id.empty()) return webhook_error::unknown_event;
  out.kind = *kind;
  out.reference = metadata_of(object, reference_key);
  if (out.reference.empty()) return webhook_error::foreign_event;
  if (about_session) {
    auto [money, tax] = amounts_of(object);
    out.money = std::move(money);
    out.tax = tax;
    out.gateway_id = text_at(object, "id");
    return out;
  }
  out.refund_id = metadata_of(object, refund_key);
  if (out.refund_id.empty()) return webhook_error::foreign_event;
  out.money = {integer_at(object, "amount").value_or(0), ascii_upper(text_at(object, "currency"))};
  return out;
}

/// Parsed "t=…,v1=…,v1=…"; other schemes are skipped.
struct signature_header_parts {
  std::string_view time; // unparsed: part of the signed data
  std::vector<std::string_view> candidates;
};

signature_header_parts split_signature(std::string_view header) {
  signature_header_parts parts;
  while (!header.empty()) {
    const auto comma = header.find(',');
    const auto item = header.substr(0, comma);
    if (item.starts_with("t="))
      parts.time = item.substr(2);
    else if (item.starts_with("v1="))
      parts.candidates.push_back(item.substr(3));
    header.remove_prefix(comma == std::string_view::npos ? header.size() : comma + 1);
  }
  return parts;
}

bool is_timely(std::string_view time, timestamp now) {
  std::int64_t signed_at = 0;
  const auto [stop, error] = std::from_chars(time.data(), time.data() + time.size(), signed_at);
  if (error != std::errc{} || stop != time.data() + time.size() || signed_at <= 0) return false;
  const auto now_s = std::chrono::floor<seconds>(now.time_since_epoch()).count();
  const auto tolerance = stripe_gateway::signature_tolerance.count();
  return signed_at >= now_s - tolerance && signed_at <= now_s + tolerance;
}

std::string session_path(const std::string& id) { return "/v1/checkout/sessions/" + percent_encode(id); }

} // namespace

stripe_gateway::stripe_gateway(settings options, environment& env) : settings_{std::move(options)} {
  if (settings_.secret_key.empty()) throw std::invalid_argument{"stripe: no secret key"};
  std::erase(settings_.webhook_secrets, std::string{}); // an empty key would accept forged signatures
  api_ = std::make_unique<json_api>(
    json_api::settings{"stripe", settings_.url, settings_.call_timeout, settings_.http}, env);
}

stripe_gateway::~stripe_gateway() = default;

// Requests.

http_request stripe_gateway::get(std::string path) const {
  http_request r;
  r.url = std::move(path);
  r.headers = {{"Authorization", "Bearer " + settings_.secret_key},
               {"Stripe-Version", std::string{api_version}}};
  return r;
}

http_request stripe_gateway::post(std::string path, std::string form,
                                  const std::string& idempotency_key) const {
  auto r = get(std::move(path));
  r.method = http_request::method_type::post;
  r.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  if (!idempotency_key.empty()) r.headers.emplace_back("Idempotency-Key", idempotency_key);
  r.body = std::move(form);
  return r;
}

http_request stripe_gateway::create_session(const gateway_charge& charge) const {
  form f;
  f.add("mode", "payment");
  const auto currency = ascii_lower(charge.money.currency);
  const auto lines = shown_lines(charge);
  for (std::size_t i = 0; i < lines.size(); ++i) add_line(f, i, lines[i], currency);
  f.add("client_reference_id", charge.reference);
  f.add_metadata("metadata", charge);
  f.add_metadata("payment_intent_data[metadata]", charge);
  if (!charge.title.empty()) f.add("payment_intent_data[description]", charge.title);
  f.add("success_url", charge.success_url.empty() ? settings_.success_url : charge.success_url);
  f.add("cancel_url", charge.cancel_url.empty() ? settings_.cancel_url : charge.cancel_url);
  if (!charge.customer_email.empty()) f.add("customer_email", charge.customer_email);
  if (is_set(charge.expires_at)) f.add("expires_at", unix_ms(charge.expires_at) / 1000);
  if (!charge.destination.empty()) {
    f.add("payment_intent_data[transfer_data][destination]", charge.destination);
    if (charge.application_fee > 0)
      f.add("payment_intent_data[application_fee_amount]", charge.application_fee);
  }
  if (settings_.automatic_tax) f.add("automatic_tax[enabled]", "true");
  return post("/v1/checkout/sessions", f.take(), charge.reference);
}

/// Calls `found` with the session's id, which it creates if necessary; `otherwise` if Stripe gives none.
void stripe_gateway::with_session_id(const gateway_charge& charge, const api_call& call,
                                     std::function<void(const std::string&)> found,
                                     answer_handler otherwise) {
  if (!charge.gateway_id.empty()) return found(charge.gateway_id);
  api_->send(create_session(charge), call,
             [found = std::move(found), otherwise = std::move(otherwise)](api_answer a) {
               const auto id = text_at(a.body, "id");
               if (a.failure || a.is_refusal() || id.empty())
                 otherwise(std::move(a));
               else
                 found(id);
             });
}

void stripe_gateway::retrieve(const std::string& session, const api_call& call, answer_handler then) {
  api_->send(get(session_path(session) + "?expand[]=payment_intent"), call, std::move(then));
}

// Answers.

/// The error for an answer that is not a success.
gateway_error stripe_gateway::error_of(const api_answer& answer) const {
  if (answer.failure) return *answer.failure;
  if (!answer.is_refusal()) return api_->unavailable("not the JSON expected");
  const auto& error = object_at(answer.body, "error");
  auto word = text_at(error, "code");
  if (word.empty()) word = text_at(error, "type");
  if (const auto parameter = text_at(error, "param"); !parameter.empty()) word += " " + parameter;
  auto wrong = api_->rejected(answer.status, word);
  // a parameter has changed since the first call, for example a name
  wrong.reference_already_used = text_at(error, "type") == "idempotency_error";
  return wrong;
}

initialize_result stripe_gateway::authorization_of(const api_answer& answer) const {
  gateway_authorization out{text_at(answer.body, "url"), text_at(answer.body, "id")};
  if (answer.failure || answer.is_refusal() || out.url.empty() || out.gateway_id.empty())
    return error_of(answer);
  return out;
}

verify_result stripe_gateway::state_of(const gateway_charge& charge, const api_answer& answer) const {
  if (answer.failure || answer.is_refusal()) return error_of(answer);
  const auto reference = metadata_of(answer.body, reference_key);
  const auto status = stripe_status(answer.body);
  const bool has_amount =
    integer_at(answer.body, "amount_total") && !text_at(answer.body, "currency").empty();
  if (reference.empty() || !status || (*status == charge_status::paid && !has_amount))
    return api_->unavailable("a session that says too little");
  if (reference != charge.reference) return api_->rejected(answer.status, "the session is of another charge");
  auto [money, tax] = amounts_of(answer.body);
  return charge_state{*status, std::move(money), tax, text_at(answer.body, "id")};
}

/// The status of a charge whose session id could not be found. Stripe replays a stored answer at any time, so
/// an error about expires_at proves that no session exists.
verify_result stripe_gateway::state_without_session(const api_answer& answer) const {
  if (answer.is_refusal() && text_at(object_at(answer.body, "error"), "param") == "expires_at")
    return charge_state{};
  return error_of(answer);
}

// The port.

void stripe_gateway::initialize(const gateway_charge& charge, gateway_done<initialize_result> done) {
  api_->send(create_session(charge), api_->begin(charge.trace),
             [this, done = std::move(done)](const api_answer& a) { done(authorization_of(a)); });
}

void stripe_gateway::look(const gateway_charge& charge, const api_call& call,
                          gateway_done<verify_result> done) {
  const auto found = [this, charge, call, done](const std::string& id) {
    retrieve(id, call, [this, charge, done](const api_answer& a) { done(state_of(charge, a)); });
  };
  with_session_id(charge, call, found, [this, done](const api_answer& a) { done(state_without_session(a)); });
}

void stripe_gateway::verify(const gateway_charge& charge, gateway_done<verify_result> done) {
  look(charge, api_->begin(charge.trace), std::move(done));
}

void stripe_gateway::expire(const gateway_charge& charge, gateway_done<verify_result> done) {
  const auto call = api_->begin(charge.trace);
  const auto found = [this, charge, call, done](const std::string& id) { close(charge, id, call, done); };
  with_session_id(charge, call, found, [this, done](const api_answer& a) { done(state_without_session(a)); });
}

/// Without an idempotency key: closing twice is harmless, and a stored 500 would block closing for a day. A
/// refusal means that the session is not open.
void stripe_gateway::close(const gateway_charge& charge, const std::string& session, const api_call& call,
                           gateway_done<verify_result> done) {
  api_->send(post(session_path(session) + "/expire", {}, {}), call,
             [this, charge, session, call, done](const api_answer& a) {
               if (!a.is_refusal()) return done(state_of(charge, a));
               retrieve(session, call,
                        [this, charge, done](const api_answer& now) { done(state_of(charge, now)); });
             });
}

/// Uses the destination of the original charge, not the tenant's current one: only an existing transfer can
/// be reversed.
static refund_request as_charged(refund_request order, const json::object& intent) {
  if (!intent.contains("transfer_data")) return order;
  order.charge.destination = text_at(object_at(intent, "transfer_data"), "destination");
  order.charge.application_fee = integer_at(intent, "application_fee_amount").value_or(0);
  return order;
}

void stripe_gateway::refund(const refund_request& order, gateway_done<refund_result> done) {
  const auto call = api_->begin(order.charge.trace);
  const auto retrieved = [this, order, call, done](const api_answer& a) {
    const auto state = state_of(order.charge, a);
    if (const auto* error = std::get_if<gateway_error>(&state)) return done(*error);
    const auto intent = id_at(a.body, "payment_intent");
    if (!is_paid(a.body) || intent.empty())
      return done(api_->rejected(a.status, "there is no payment to refund"));
    find_or_make_refund(as_charged(order, object_at(a.body, "payment_intent")), intent, call, done);
  };
  const auto found = [this, call, retrieved](const std::string& id) { retrieve(id, call, retrieved); };
  with_session_id(order.charge, call, found, [this, done](const api_answer& a) { done(error_of(a)); });
}

void stripe_gateway::find_or_make_refund(const refund_request& order, const std::string& intent,
                                         const api_call& call, gateway_done<refund_result> done) {
  auto list = get("/v1/refunds?payment_intent=" + percent_encode(intent) + "&limit=100");
  api_->send(std::move(list), call, [this, order, intent, call, done](const api_answer& a) {
    if (a.failure || a.is_refusal()) return done(error_of(a));
    const auto* known = find_refund(a.body, order.refund_id);
    if (known == nullptr) return make_refund(order, intent, call, done);
    if (integer_at(*known, "amount") != order.amount)
      return done(api_->rejected(a.status, "another refund has this id"));
    done(stripe_refund_status(*known).value_or(gateway_refund_status::pending));
  });
}

void stripe_gateway::make_refund(const refund_request& order, const std::string& intent, const api_call& call,
                                 gateway_done<refund_result> done) {
  form f;
  f.add("payment_intent", intent).add("amount", order.amount);
  // Without the tenant's metadata: it may have changed, and the key demands the same parameters.
  f.add_metadata("metadata", refund_key, order.refund_id)
    .add_metadata("metadata", reference_key, order.charge.reference);
  if (!order.charge.destination.empty()) {
    f.add("reverse_transfer", "true");
    if (order.charge.application_fee > 0) f.add("refund_application_fee", "true");
  }
  api_->send(post("/v1/refunds", f.take(), order.refund_id), call, [this, done](const api_answer& a) {
    const auto status = a.failure || a.is_refusal() ? std::nullopt : stripe_refund_status(a.body);
    if (status)
      done(*status);
    else
      done(error_of(a));
  });
}

// Webhooks.

bool stripe_gateway::is_signed(std::string_view raw_body, std::string_view signature, timestamp now) const {
  const auto parts = split_signature(signature);
  const auto payload = std::string{parts.time}.append(".").append(raw_body);
  bool matches = false;
  for (const auto& secret : settings_.webhook_secrets) {
    const auto expected = to_hex(hmac_sha256(view_bytes(secret), payload));
    for (const auto candidate : parts.candidates)
      matches = constant_time_equal(candidate, expected) || matches;
  }
  return matches && is_timely(parts.time, now);
}

webhook_result stripe_gateway::parse_webhook(std::string_view raw_body, std::string_view signature,
                                             timestamp now) const {
  if (!is_signed(raw_body, signature, now)) return webhook_error::bad_signature;
  const auto event = parse_object(raw_body);
  if (!is_of_account(event, settings_.secret_key)) return webhook_error::foreign_event;
  return parse_stripe_event(event);
}

} // namespace fq
