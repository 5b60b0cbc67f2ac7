// SPDX-License-Identifier: Apache-2.0
#include "net/service/services.hpp"

#include "crypto/webhook_signature.hpp"
#include "domain/base/mailbox.hpp"

#include "domain/sale/views.hpp"
#include "net/bridge/context.hpp"
#include "net/http/client_address.hpp"
#include "outbound/sandbox_gateway.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>

namespace fq::net {
namespace {

constexpr seconds minute{60};

std::uint32_t quota(std::int64_t configured) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(configured, 0, 1'000'000'000));
}

std::size_t tracked(const config::options& o) { return static_cast<std::size_t>(o.rate_limits.tracked_max); }
/// Of what few addresses do often.
std::size_t tracked_addresses(const config::options& o) { return tracked(o) / 8; }

} // namespace

services::services(const config::options& o, const key_store& store, const key_directory& directory,
                   const pass_signer& signer, environment& env, std::span<const route> routes,
                   sandbox_gateway* gateway) :
    counts(routes),
    customers({"customer", quota(o.rate_limits.customer_requests_per_minute), minute}, tracked(o),
              env.random_u64()),
    organizers({"organizer", quota(o.rate_limits.organizer_requests_per_minute), minute}, tracked(o),
               env.random_u64()),
    joins({"join", quota(o.rate_limits.joins_per_customer_per_minute), minute}, tracked(o), env.random_u64()),
    anonymous({"anonymous", quota(o.rate_limits.anonymous_requests_per_ip_per_minute), minute}, tracked(o),
              env.random_u64()),
    log_reads({"log", log_reads_per_address, minute}, tracked(o), env.random_u64()),
    checkpoints({"checkpoint", checkpoints_per_client, minute}, tracked_addresses(o), env.random_u64()),
    sandbox_pages({"sandbox", quota(o.rate_limits.sandbox_requests_per_ip_per_minute), minute}, tracked(o),
                  env.random_u64()),
    login_failures({"login", quota(o.rate_limits.login_failures_per_ip_per_minute), minute}, tracked(o),
                   env.random_u64()),
    otp_addresses({"otp-address", quota(o.otp.requests_per_address),
                   std::chrono::duration_cast<seconds>(o.otp.request_window)},
                  tracked(o), env.random_u64()),
    otp_mails({"otp-mail", otp_mails_per_client, otp_mails_window}, tracked(o), env.random_u64()),
    otp_clients({"otp-client", quota(o.otp.requests_per_ip_per_minute), minute}, tracked(o),
                env.random_u64()),
    guests({"guest", quota(o.otp.requests_per_ip_per_minute), minute}, tracked(o), env.random_u64()),
    guest_requests(
      {"guest-request", quota(o.rate_limits.customer_requests_per_minute * guests_as_customers), minute},
      tracked_addresses(o), env.random_u64()),
    guest_joins({"guest-join", quota(o.otp.requests_per_ip_per_minute * guest_joins_minutes),
                 minute * guest_joins_minutes},
                tracked_addresses(o), env.random_u64()),
    guest_orders({"guest-order", guest_orders_per_address, guest_orders_window}, tracked(o),
                 env.random_u64()),
    order_clients({"guest-order-client", guest_orders_per_client, guest_orders_window}, tracked_addresses(o),
                  env.random_u64()),
    codes_of_customers({"wrong-code", wrong_codes_per_customer, wrong_codes_window}, tracked(o),
                       env.random_u64()),
    codes_of_clients({"wrong-code-client", wrong_codes_per_client, wrong_codes_window}, tracked_addresses(o),
                     env.random_u64()),
    codes_of_events({"wrong-code-event", wrong_codes_per_event, wrong_codes_window}, tracked(o),
                    env.random_u64()),
    offers({"offer", offers_per_customer, offers_window}, tracked(o), env.random_u64()),
    offer_clients({"offer-client", offers_per_network, offers_window}, tracked(o), env.random_u64()),
    offer_receivers({"offer-receiver", offers_per_receiver, offers_receiver_window}, tracked(o),
                    env.random_u64()),
    prints({"print", printed_pages_per_customer, minute}, tracked(o), env.random_u64()),
    reports({"report", reports_per_manager, minute}, tracked(o), env.random_u64()),
    pictures({"picture", pictures_per_manager, pictures_window}, tracked(o), env.random_u64()),
    exports({"export", exports_per_customer, minute}, tracked(o), env.random_u64()),
    erasures({"erasure", erasures_per_network, erasures_window}, tracked(o), env.random_u64()),
    devices({"device", quota(o.rate_limits.device_requests_per_minute), minute}, tracked(o),
            env.random_u64()),
    gate_searches({"gate-search", gate_searches_per_device, minute}, tracked(o), env.random_u64()),
    join_clients({"join", quota(o.rate_limits.joins_per_ip_per_minute), minute}, tracked(o),
                 env.random_u64()),
    key_failures({"api-key", quota(o.rate_limits.access_failures_per_ip_per_minute), minute}, tracked(o),
                 env.random_u64()),
    access_sessions({"access", quota(o.rate_limits.access_per_session_per_minute), minute}, tracked(o),
                    env.random_u64()),
    access_keys({"access-key", quota(o.rate_limits.access_per_key_per_minute), minute}, tracked(o),
                env.random_u64()),
    access_failures({"access-failures", quota(o.rate_limits.access_failures_per_ip_per_minute), minute},
                    tracked(o), env.random_u64()),
    keys(directory),
    passes(signer),
    subject_key(hmac_sha256(store.stored.bytes(), "fairqueue subjects of queues")),
    cursors(store.session),
    marks(store.stored),
    gate_secrets(store.stored),
    address_key(hmac_sha256(store.stored.bytes(), "fairqueue addresses of limits")),
    otp_key(otp_key_of(store.stored)),
    stored_key(store.stored),
    webhook_key(webhook_key_of(store.stored)),
    sandbox(gateway),
    as_witness(config::split_list(o.witness.logs), o.http.public_url, store.stored),
    merges_mailboxes_(o.otp.one_customer_per_mailbox),
    configured_async_percent_(static_cast<std::int32_t>(o.checkout.async_percent)) {
  if (gateway) gateways.emplace("sandbox", gateway);
}

std::int32_t services::async_percent() const {
  const auto index = keys.get();
  const auto text = index ? index->setting(async_percent_setting) : std::nullopt;
  return async_percent_of(text.value_or(std::string{}), configured_async_percent_);
}

std::vector<rate_limiter*> services::limiters() {
  return {&customers,          &organizers,       &joins,
          &anonymous,          &sandbox_pages,    &log_reads,
          &login_failures,     &otp_addresses,    &otp_mails,
          &otp_clients,        &join_clients,     &key_failures,
          &codes_of_customers, &codes_of_events,  &access_sessions,
          &access_keys,        &access_failures,  &exports,
          &erasures,           &offers,           &devices,
          &offer_clients,      &prints,           &reports,
          &gate_searches,      &pictures,         &guests,
          &guest_orders,       &guest_requests,   &guest_joins,
          &order_clients,      &codes_of_clients, &checkpoints,
          &offer_receivers};
}

uuid services::key_of(std::string_view email, const uuid& client) const {
  const auto hash = keyed_hash_128(address_key.bytes(), std::string{email} + '\n' + to_string(client));
  return {hash[0], hash[1]};
}

bool services::is_address_of(std::string_view email, const customer_id& customer) const {
  const auto key = merges_mailboxes_ ? mailbox_of(email) : std::string{email};
  for (std::uint32_t erasures = 0; erasures < erasures_tried; ++erasures)
    if (customer_id_of(otp_key, key, erasures) == customer) return true;
  return false;
}

std::string services::pass_of(const entry_view& place, timestamp now) const {
  return passes.issue({place.id, place.event, place.subject_name, now, place.claim_by});
}

fq::subject_key services::subject_of(tenant_id tenant, std::string_view name) const {
  const auto hash = keyed_hash_128(subject_key.bytes(), std::to_string(static_cast<std::uint32_t>(tenant))
                                                          + ':' + std::string{name});
  return {hash[0], hash[1]};
}

std::string random_key(const context& ctx) {
  std::array<std::uint8_t, 16> bytes{};
  ctx.environment.random_bytes(std::as_writable_bytes(std::span{bytes}));
  return to_hex(bytes);
}

uuid limit_key(const boost::asio::ip::address& client) {
  const auto bytes = limit_prefix(client);
  uuid key;
  std::memcpy(&key.hi, bytes.data(), 8);
  std::memcpy(&key.lo, bytes.data() + 8, 8);
  return key;
}

} // namespace fq::net
