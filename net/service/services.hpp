// SPDX-License-Identifier: Apache-2.0
// Objects shared by the handlers of all io threads: limits, counters, keys in flight, cursors, the sandbox
// gateway. Made once by the composition; every `context` points to it. Every member is thread-safe.
#pragma once
#include "config/options.hpp"
#include "crypto/customer_id.hpp"
#include "crypto/event_ticket_code.hpp"
#include "crypto/keys.hpp"
#include "crypto/passes.hpp"
#include "domain/base/environment.hpp"
#include "domain/sale/checkout_watch.hpp"
#include "net/http/rate_limit.hpp"
#include "net/service/browser_mark.hpp"
#include "net/service/device_token.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/key_directory.hpp"
#include "net/service/metrics.hpp"
#include "net/service/offload.hpp"
#include "net/service/pictures.hpp"
#include "net/service/shown_plans.hpp"
#include "net/service/witness.hpp"
#include "net/wire/cursor.hpp"
#include "outbound/webhook_url.hpp"

#include <boost/asio/ip/address.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {
class captcha_port;
class customer_book; ///< actors/base/customer_book.hpp
class gateway_port;
class sandbox_gateway;
struct entry_view;
} // namespace fq

namespace fq::net {

struct context;
struct demo_facts; ///< net/pages/demo.hpp

struct services {
  /// `routes`: the public table, for the counters. `sandbox` null: off. The composition adds other gateways
  /// before the first request. All arguments must outlive the services.
  services(const config::options& options, const key_store& keys, const key_directory& directory,
           const pass_signer& passes, environment& env, std::span<const route> routes,
           sandbox_gateway* sandbox);

  metrics counts;

  rate_limiter customers; ///< per customer, not per address: a stadium behind one NAT is many clients
  rate_limiter organizers; ///< per organizer
  rate_limiter joins; ///< per customer, new entries only
  rate_limiter anonymous; ///< per client address, without a token
  rate_limiter log_reads; ///< per client address: public logs
  rate_limiter checkpoints; ///< per client address: checkpoints for this witness
  rate_limiter sandbox_pages; ///< per client address
  rate_limiter login_failures; ///< per client address
  rate_limiter otp_addresses; ///< per e-mail address, and client address or browser mark
  rate_limiter otp_mails; ///< per client address or browser mark: codes that were not entered
  rate_limiter otp_clients; ///< per client address
  rate_limiter guests; ///< per client address: new guests
  rate_limiter guest_requests; ///< per client address: requests of guests
  rate_limiter guest_joins; ///< per client address: new entries of guests
  rate_limiter guest_orders; ///< per buyer: orders of guests
  rate_limiter order_clients; ///< per client address: orders of guests
  rate_limiter codes_of_customers; ///< per customer: wrong promo and access codes
  rate_limiter codes_of_clients; ///< per client address: the same, of guests and visitors without a name
  rate_limiter codes_of_events; ///< per event: the same, of customers and addresses with several
  rate_limiter offers; ///< per customer: offers of tickets, each of which is a mail
  rate_limiter offer_clients; ///< per client address: the same
  rate_limiter offer_receivers; ///< per customer who gets them: the same
  rate_limiter prints; ///< per customer: PDFs of event tickets
  rate_limiter reports; ///< per manager: reports and stored statistics
  rate_limiter pictures; ///< per manager: pictures that are sent
  rate_limiter exports; ///< per customer: GET /customers/me
  rate_limiter erasures; ///< per client address: DELETE /customers/me
  rate_limiter devices; ///< per device that scans tickets
  rate_limiter gate_searches; ///< per device: searches for tickets
  rate_limiter join_clients; ///< per client address: joins with a publishable key
  rate_limiter key_failures; ///< per client address: unknown API keys
  rate_limiter access_sessions; ///< per session token: GET /access
  rate_limiter access_keys; ///< per server key: GET /access with it
  rate_limiter access_failures; ///< per client address: GET /access without a session

  const key_directory& keys; ///< tenants and their API keys
  const pass_signer& passes;
  secret_key subject_key; ///< of this installation; entries store their subject as a hash under it
  keys_in_flight idempotency;
  cursor_codec cursors;
  browser_marks marks;
  device_secrets gate_secrets;
  secret_key address_key; ///< of this installation; limits store e-mail addresses as hashes under it
  secret_key otp_key; ///< of this installation; customers' ids are hashes under it
  secret_key stored_key; ///< of this installation; the keys of event tickets are derived from it
  secret_key webhook_key; ///< of this installation; the endpoints' secrets are derived from it
  webhook_url_rules webhook_urls; ///< allowed webhook URLs; set by the composition
  /// Those of accounts; null: accounts may be on another node. Set by the composition.
  const customer_book* known_customers = nullptr;
  sandbox_gateway* sandbox;
  bool is_demo = false; ///< of `serve --demo`; set before `server_state::ready`, as the next member
  const demo_facts* demo = nullptr; ///< null: no demo, or not for this machine's user alone
  std::map<std::string, const gateway_port*, std::less<>>
    gateways; ///< by name; their webhooks are accepted and payments may use them
  /// Whether a payment may name `gateway`. Without any gateway all names are taken: the event's owner then
  /// sells only what costs nothing.
  [[nodiscard]] bool may_name(const std::string& gateway) const {
    return gateways.empty() || gateways.contains(gateway);
  }
  witness as_witness; ///< of other installations' logs
  std::map<challenge_kind, captcha_port*> captchas; ///< with keys; set by the composition
  [[nodiscard]] captcha_port* captcha_of(challenge_kind kind) const {
    const auto found = captchas.find(kind);
    return found == captchas.end() ? nullptr : found->second;
  }
  shown_plans plans; ///< outlives the lanes, whose jobs fill it
  blocking_lane sandbox_lane; ///< also for the demo's mailbox
  /// Of event tickets and reports; also reads seat plans. One thread: two leave joins no core of a small
  /// machine.
  blocking_lane printing_lane{1, printing_pages_max};
  blocking_lane picture_lane{1, picture_jobs_max}; ///< reads the pictures that are sent
  picture_cache pictures_kept{pictures_kept_bytes};

  /// checkout.async_percent of events without their own value: the installation's setting, or else the
  /// configured one.
  [[nodiscard]] std::int32_t async_percent() const;

  /// All limiters above.
  [[nodiscard]] std::vector<rate_limiter*> limiters();
  /// Key of a client at an e-mail address in limits.
  [[nodiscard]] uuid key_of(std::string_view email, const uuid& client) const;
  /// The admission pass of an admitted entry.
  [[nodiscard]] std::string pass_of(const entry_view& place, timestamp now) const;
  /// `email`: in lower case. False also for an address that was erased very often, or has an older id.
  [[nodiscard]] bool is_address_of(std::string_view email, const customer_id& customer) const;
  /// The keys of the codes of an event's tickets.
  [[nodiscard]] event_ticket_keys ticket_keys(const event_row& event) const {
    return ticket_keys(event.id, event.event_tickets);
  }
  [[nodiscard]] event_ticket_keys ticket_keys(const event_id& event,
                                              const event_ticket_settings& settings) const {
    return {stored_key, event, settings.key_number};
  }
  /// The hash by which an entry stores a tenant's subject.
  [[nodiscard]] fq::subject_key subject_of(tenant_id tenant, std::string_view name) const;

private:
  bool merges_mailboxes_; ///< otp.one_customer_per_mailbox
  std::int32_t configured_async_percent_;
};

/// 128 unpredictable bits in hex: the idempotency key of a form, or the handle of a request for a code.
[[nodiscard]] std::string random_key(const context& ctx);

/// Key of a client in limits: its IPv4 address or IPv6 /64.
[[nodiscard]] uuid limit_key(const boost::asio::ip::address& client);

} // namespace fq::net
