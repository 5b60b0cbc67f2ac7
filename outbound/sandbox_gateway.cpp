// SPDX-License-Identifier: Apache-2.0
// Decisions of the sandbox gateway. Each call locks the mutex and runs in one transaction. So a crash leaves
// either nothing or the charge, its ledger row and its webhook together.
#include "outbound/sandbox_gateway.hpp"

#include "outbound/limits.hpp"
#include "outbound/sandbox_database.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace fq {
namespace {

namespace json = boost::json;

bool is_reference(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
           || c == '.';
  };
  return !text.empty() && text.size() <= sandbox_reference_bytes_max
         && std::all_of(text.begin(), text.end(), allowed);
}

bool is_money(const gateway_money& money) {
  return money.amount > 0 && money.currency.size() == 3
         && std::all_of(money.currency.begin(), money.currency.end(),
                        [](char c) { return c >= 'A' && c <= 'Z'; });
}

gateway_error database_unavailable() {
  return {gateway_error::kind_type::unavailable, {}, "the sandbox's file cannot be used"};
}
gateway_error rejected(std::string what) { return {gateway_error::kind_type::rejected, {}, std::move(what)}; }

charge_state state_of(const sandbox_charge& charge) { return {charge.status, charge.money}; }

/// Maps webhook event names to kinds and back.
struct event_name {
  std::string_view text;
  gateway_event_kind kind;
  std::string_view status;
};
constexpr std::array event_names{
  event_name{"charge.success", gateway_event_kind::charge_succeeded, "success"},
  event_name{"charge.failed", gateway_event_kind::charge_failed, "failed"},
  event_name{"refund.processed", gateway_event_kind::refund_processed, "processed"},
  event_name{"refund.failed", gateway_event_kind::refund_failed, "failed"},
};

const event_name* find_event(std::string_view text) {
  const auto found =
    std::find_if(event_names.begin(), event_names.end(), [&](const auto& e) { return e.text == text; });
  return found == event_names.end() ? nullptr : &*found;
}

std::string text_member(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::optional<gateway_event> parse_sandbox_event(std::string_view raw_body) {
  boost::system::error_code error;
  const auto document = json::parse(raw_body, error);
  if (error || !document.is_object()) return std::nullopt;
  const auto& object = document.get_object();
  const auto* name = find_event(text_member(object, "event"));
  const auto* data = object.if_contains("data");
  if (name == nullptr || data == nullptr || !data->is_object()) return std::nullopt;
  const auto& details = data->get_object();
  const auto* amount = details.if_contains("amount");
  if (amount == nullptr || !amount->is_int64()) return std::nullopt;
  gateway_event event;
  event.id = text_member(object, "id");
  event.kind = name->kind;
  event.reference = text_member(details, "reference");
  event.money = {amount->get_int64(), text_member(details, "currency")};
  event.refund_id = text_member(details, "refund_id");
  if (event.id.empty() || event.reference.empty()) return std::nullopt;
  return event;
}

} // namespace

sandbox_gateway::sandbox_gateway(settings options, environment& env) :
    settings_{std::move(options)},
    env_{env},
    webhook_keys_{{hmac_sha256_key{settings_.webhook_secret.bytes()}}},
    db_{std::make_unique<sandbox_database>(settings_.file)} {}

sandbox_gateway::~sandbox_gateway() = default;

void sandbox_gateway::renew(const std::vector<secret_key>& webhook_secrets) {
  std::vector<hmac_sha256_key> keys;
  for (const auto& secret : webhook_secrets) keys.emplace_back(secret.bytes());
  webhook_keys_.set(std::move(keys));
}

/// Runs `work` in a transaction. If the file fails, it rolls back and returns `on_failure`.
template <class Result, class Work>
Result sandbox_gateway::transaction(Result on_failure, Work&& work) {
  const std::lock_guard lock{mutex_};
  try {
    db_->begin();
    auto result = work(env_.wall_now());
    db_->commit();
    return result;
  } catch (const sandbox_error&) {
    db_->rollback();
    return on_failure;
  } catch (...) {
    db_->rollback();
    throw;
  }
}

initialize_result sandbox_gateway::initialize_locked(const gateway_charge& charge, timestamp now) {
  if (!is_reference(charge.reference) || !is_money(charge.money)) return rejected("malformed charge");
  const sandbox_charge wanted{charge.reference, charge.money, charge.customer_email, charge.success_url};
  const auto known = db_->find_charge(charge.reference);
  if (known && known->money != wanted.money) return rejected("another charge has this reference");
  if (!known) db_->insert_charge(wanted, now);
  return gateway_authorization{settings_.public_url + "/sandbox/pay/" + charge.reference, {}};
}

void sandbox_gateway::initialize(const gateway_charge& charge, gateway_done<initialize_result> done) {
  done(transaction(initialize_result{database_unavailable()},
                   [&](timestamp now) { return initialize_locked(charge, now); }));
}

verify_result sandbox_gateway::find_state(const std::string& reference) {
  const std::lock_guard lock{mutex_};
  try {
    const auto charge = db_->find_charge(reference);
    return charge ? state_of(*charge) : charge_state{};
  } catch (const sandbox_error&) { return database_unavailable(); }
}

void sandbox_gateway::verify(const gateway_charge& charge, gateway_done<verify_result> done) {
  done(find_state(charge.reference)); // without the mutex: `done` may call again
}

verify_result sandbox_gateway::expire_locked(const std::string& reference, timestamp now) {
  auto charge = db_->find_charge(reference);
  if (!charge) return charge_state{};
  if (charge->status == charge_status::unpaid) {
    db_->set_charge_status(reference, charge_status::expired, now);
    charge->status = charge_status::expired;
  }
  return state_of(*charge);
}

void sandbox_gateway::expire(const gateway_charge& charge, gateway_done<verify_result> done) {
  done(transaction(verify_result{database_unavailable()},
                   [&](timestamp now) { return expire_locked(charge.reference, now); }));
}

refund_result sandbox_gateway::refund_locked(const refund_request& order, timestamp now) {
  const auto& reference = order.charge.reference;
  if (const auto known = db_->find_refund(order.refund_id)) {
    if (known->reference != reference || known->amount != order.amount)
      return rejected("another refund has this id");
    return gateway_refund_status::processed;
  }
  const auto charge = db_->find_charge(reference);
  if (!is_reference(order.refund_id) || !charge || charge->status != charge_status::paid || order.amount <= 0
      || order.amount > charge->money.amount - db_->refunded_total(reference))
    return rejected("nothing to refund, or not so much");
  db_->insert_refund({order.refund_id, reference, order.amount}, now);
  db_->append_ledger({sandbox_ledger_row::kind_type::refund,
                      reference,
                      order.refund_id,
                      {order.amount, charge->money.currency},
                      now});
  queue_webhook("refund.processed", *charge, &order, now);
  return gateway_refund_status::processed;
}

void sandbox_gateway::refund(const refund_request& order, gateway_done<refund_result> done) {
  done(transaction(refund_result{database_unavailable()},
                   [&](timestamp now) { return refund_locked(order, now); }));
}

std::optional<sandbox_page> sandbox_gateway::view(const std::string& reference) {
  const std::lock_guard lock{mutex_};
  const auto charge = db_->find_charge(reference);
  if (!charge) return std::nullopt;
  return sandbox_page{charge->reference, charge->money, charge->status, charge->callback_url};
}

settle_result sandbox_gateway::settle_locked(const std::string& reference, sandbox_action action,
                                             timestamp now) {
  auto charge = db_->find_charge(reference);
  if (!charge) return {settle_status::unknown_reference, charge_status::unknown};
  const auto wanted = action == sandbox_action::pay ? charge_status::paid : charge_status::declined;
  if (charge->status == wanted) return {settle_status::settled, wanted};
  if (charge->status != charge_status::unpaid) return {settle_status::settled_otherwise, charge->status};
  db_->set_charge_status(reference, wanted, now);
  if (wanted == charge_status::paid)
    db_->append_ledger({sandbox_ledger_row::kind_type::charge, reference, {}, charge->money, now});
  queue_webhook(wanted == charge_status::paid ? "charge.success" : "charge.failed", *charge, nullptr, now);
  return {settle_status::settled, wanted};
}

settle_result sandbox_gateway::settle(const std::string& reference, sandbox_action action) {
  return transaction(settle_result{settle_status::unavailable, charge_status::unknown},
                     [&](timestamp now) { return settle_locked(reference, action, now); });
}

void sandbox_gateway::queue_webhook(std::string_view event, const sandbox_charge& charge,
                                    const refund_request* refund, timestamp now) {
  std::array<std::byte, 16> random;
  env_.random_bytes(random);
  const auto id = "evt_" + to_hex({reinterpret_cast<const std::uint8_t*>(random.data()), random.size()});
  json::object data{{"reference", charge.reference},
                    {"amount", refund != nullptr ? refund->amount : charge.money.amount},
                    {"currency", charge.money.currency},
                    {"status", find_event(event)->status}};
  if (refund != nullptr) data["refund_id"] = refund->refund_id;
  db_->insert_webhook(json::serialize(json::object{{"id", id}, {"event", event}, {"data", std::move(data)}}),
                      now);
}

std::vector<sandbox_webhook> sandbox_gateway::next_webhooks(timestamp now, std::size_t limit) {
  const std::lock_guard lock{mutex_};
  auto webhooks = db_->due_webhooks(now, limit);
  for (auto& w : webhooks) w.signature = sign(w.body);
  return webhooks;
}

std::optional<timestamp> sandbox_gateway::next_webhook_due() {
  const std::lock_guard lock{mutex_};
  return db_->next_due();
}

void sandbox_gateway::mark_delivered(const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return;
  transaction(false, [&](timestamp) {
    for (const auto number : numbers) db_->delete_webhook(number);
    return true;
  });
}

void sandbox_gateway::mark_failed(const std::vector<std::int64_t>& numbers, timestamp now) {
  if (numbers.empty()) return;
  transaction(false, [&](timestamp) {
    for (const auto number : numbers) {
      const auto attempts = db_->webhook_attempts(number);
      if (!attempts) continue;
      const auto pause = retry_delay(settings_.webhook_retry, *attempts + 1, env_.random_u64());
      db_->postpone_webhook(number, *attempts + 1, now + pause);
    }
    return true;
  });
}

std::string sandbox_gateway::sign(std::string_view raw_body) const {
  return to_hex(webhook_keys_.get()->front()(raw_body));
}

webhook_result sandbox_gateway::parse_webhook(std::string_view raw_body, std::string_view signature,
                                              timestamp) const {
  const auto keys = webhook_keys_.get();
  const auto is_right = [&](const hmac_sha256_key& key) {
    return constant_time_equal(signature, to_hex(key(raw_body)));
  };
  if (std::ranges::none_of(*keys, is_right)) return webhook_error::bad_signature;
  auto event = parse_sandbox_event(raw_body);
  if (!event) return webhook_error::unknown_event;
  return std::move(*event);
}

std::vector<sandbox_ledger_row> sandbox_gateway::ledger() {
  const std::lock_guard lock{mutex_};
  return db_->ledger();
}

} // namespace fq
