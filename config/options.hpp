// SPDX-License-Identifier: Apache-2.0
// The typed result of configuration, from which every layer is built. Filled by config::load; plain data.
// Members are named like the options: `options.http.listen` is `http.listen`. A member with a value from
// limits.hpp is no option; tests set some of them.
#pragma once

#include "config/branding.hpp"
#include "config/limits.hpp"
#include "config/network.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::config {

using std::chrono::milliseconds;

struct http_options {
  endpoint listen;
  endpoint admin_listen;
  std::string public_url; ///< scheme, host, port and base path; no trailing slash
  std::string base_path; ///< "" for the root, else "/x/y"
  std::vector<std::string> allowed_origins;
  std::vector<address_block> trusted_proxies;
  std::int64_t max_connections{};
  milliseconds header_timeout{};
  milliseconds body_timeout{};
  milliseconds write_timeout{};
  milliseconds idle_timeout{};
  milliseconds request_timeout{};
  std::int64_t body_limit{}; ///< bytes
  std::int64_t webhook_body_limit = limits::webhook_body_bytes;
  std::int64_t in_flight_per_event = limits::in_flight_per_event;

  /// URL of `listen` for clients on this machine, with the base path.
  [[nodiscard]] std::string local_url() const;
};

/// The TLS listener, beside http.listen.
struct tls_options {
  std::string listen; ///< address:port; empty: none
  std::filesystem::path certificate, key;
  milliseconds handshake_timeout{};
  std::int64_t handshakes_max{};
  milliseconds hsts{}; ///< 0: header not sent

  [[nodiscard]] bool is_on() const { return !listen.empty(); }
  /// The parsed `listen`. Precondition: is_on(), and validated.
  [[nodiscard]] endpoint where() const { return parse_endpoint(listen).value(); }
};

struct ledger_options {
  std::string url; ///< "sqlite:<path>", "postgres://…", "postgresql://…" or "memory:"; may hold a password
  std::int64_t workers{};
  std::int64_t readers = limits::ledger_readers;
  milliseconds lease{};

  /// The path of a sqlite: url; empty for any other.
  [[nodiscard]] std::filesystem::path sqlite_path() const;
  /// True if libpq accepts the url's scheme.
  [[nodiscard]] bool is_postgres() const;
};

struct cache_options {
  std::string url; ///< "redis://…", may hold a password; empty: no cache
  std::filesystem::path ca_file; ///< empty: the system's CA file
};

struct node_options {
  std::string id; ///< empty: config/node_id.hpp chooses one
};

/// Connections between nodes that share a ledger.
struct cluster_options {
  std::string listen; ///< address:port; empty: no connections to other nodes
  std::string advertise; ///< host:port for other nodes; empty: `listen`
  std::filesystem::path certificate, key, ca;
  std::filesystem::path revoked; ///< the authority's list of revoked certificates; empty: none
  bool insecure{}; ///< without TLS, loopback only
  std::int64_t in_flight_per_node = limits::in_flight_per_node;

  [[nodiscard]] bool is_on() const { return !listen.empty(); }
  [[nodiscard]] const std::string& address() const { return advertise.empty() ? listen : advertise; }
};

struct queue_options {
  milliseconds session_ttl{};
  milliseconds claim_window{};
  milliseconds ticket_ttl = limits::queue_ticket_ttl; ///< of standalone queues
  milliseconds admission_interval{};
  std::int64_t batch_size{};
};

struct claims_options {
  milliseconds ttl{};
};

struct payments_options {
  milliseconds stale_after{};
  milliseconds verdict_grace{};
  std::int64_t retry_attempts{};
  milliseconds retry_base{};
  milliseconds retry_cap{};
  std::string gateway; ///< default for payments without a gateway: "sandbox", "paystack" or "stripe"
};

/// Installation fees for an order in one currency, in minor units and basis points.
struct fee_option {
  std::int64_t per_ticket{};
  std::int64_t basis_points{};
  std::int64_t fixed{};
};

struct checkout_options {
  std::int64_t async_percent = limits::async_percent;
  bool rollback{}; ///< the automatic switch to synchronous checkout (domain/sale/checkout_watch.hpp)
  milliseconds rollback_workers_for{};
  std::string fees; ///< "EUR:150:290:30", ...; "*" for all other currencies

  /// `fees` by currency; empty if malformed.
  [[nodiscard]] std::optional<std::map<std::string, fee_option>> parsed_fees() const;
};

struct workers_options {
  milliseconds expiry_interval{};
  milliseconds reconciliation_interval{};
  milliseconds statistics_interval{};
};

/// How long what has ended is kept.
struct retention_options {
  milliseconds memory{}; ///< ended entries of a standalone queue in its owner's memory
  milliseconds entries{}; ///< ended entries without a claim in the ledger
  milliseconds personal{}; ///< names, addresses and phones of orders after the end of their sale; 0: for ever
  milliseconds statistics{}; ///< statistics of events, but for the last row of each
  milliseconds log{}; ///< tiles and records of public logs after the end of their sale
};

struct tokens_options {
  milliseconds ttl{}; ///< of customers and organizers
  milliseconds ticket_ttl = limits::ticket_token_ttl; ///< of a place in a standalone queue
};

struct otp_options {
  std::int64_t requests_per_address = limits::otp_requests_per_address; ///< within request_window
  milliseconds request_window = limits::otp_request_window;
  std::int64_t requests_per_ip_per_minute{};
  std::string challenge; ///< "none", "proof_of_work", "turnstile" or "hcaptcha"
  bool one_customer_per_mailbox{};
};

/// Providers of captchas; each is off without its keys.
struct challenges_options {
  std::string turnstile_site_key, turnstile_secret, turnstile_url;
  std::string hcaptcha_site_key, hcaptcha_secret, hcaptcha_url;
};

struct rate_limits_options {
  std::int64_t login_failures_per_ip_per_minute{};
  std::int64_t customer_requests_per_minute{}; ///< 0: no limit
  std::int64_t organizer_requests_per_minute = limits::organizer_requests_per_minute;
  std::int64_t joins_per_customer_per_minute{}; ///< new entries; 0: no limit
  std::int64_t anonymous_requests_per_ip_per_minute{}; ///< 0: no limit
  std::int64_t sandbox_requests_per_ip_per_minute{}; ///< derived; 0: no limit
  std::int64_t joins_per_ip_per_minute{}; ///< with a publishable key; 0: no limit
  std::int64_t access_per_session_per_minute{}; ///< 0: no limit
  std::int64_t access_per_key_per_minute{}; ///< 0: no limit
  std::int64_t access_failures_per_ip_per_minute{}; ///< 0: no limit
  std::int64_t device_requests_per_minute{}; ///< 0: no limit
  std::int64_t tracked_max = limits::tracked_principals; ///< max buckets per limit
};

struct mail_options {
  std::int64_t per_second{}; ///< recipients; 0: no limit
  std::string mode; ///< "file", "smtp" or "nats"
  std::string sender;
  std::string sender_name;
  std::string senders; ///< other From addresses, separated by commas
  std::string smtp_url; ///< "smtp://…" or "smtps://…"; empty: none
  std::string smtp_user;
  std::string smtp_password;
  std::filesystem::path smtp_ca_file;
  bool smtp_insecure{};
  std::string nats_stream;
  std::string nats_subject;

  /// True if smtp_url names this machine, by a loopback address or as localhost.
  [[nodiscard]] bool smtp_is_local() const;
};

/// Domain events to other systems, and payment events from another system.
struct bus_options {
  std::string url; ///< as nats_options::url; empty: no bus
  std::string stream;
  std::string prefix; ///< of subjects, without the trailing dot
  std::string source; ///< `source` of CloudEvents
  std::string payments_subject; ///< empty: no payment events
  std::string payments_stream;
};

struct loyalty_options {
  std::int64_t points_per_unit{}; ///< per unit of currency; 0: no points
};

struct nats_options {
  std::string
    url; ///< "nats://…" or "tls://…", several separated by commas; may hold passwords and tokens; empty: none
  std::filesystem::path credentials_file;
  std::filesystem::path ca_file;
};

struct gateway_options {
  bool sandbox{};
  milliseconds call_timeout{};
};

struct paystack_options {
  std::string secret_keys; ///< comma separated; the first makes calls, all verify webhooks; may be empty
  std::string fallback_email;
  std::string url;
};

struct stripe_options {
  std::string secret_key; ///< empty: no Stripe
  std::string webhook_secrets; ///< comma separated
  bool automatic_tax{};
  std::string url;
};

/// Push services for devices; each is off until configured.
struct push_options {
  std::filesystem::path fcm_service_account; ///< JSON file; empty: no FCM
  std::string fcm_url{limits::fcm_url};
  std::string apns_team_id; ///< requires the next three, or none of the four
  std::string apns_key_id;
  std::filesystem::path apns_key; ///< p8 file
  std::string apns_topic; ///< bundle id
  std::string apns_url{limits::apns_url};
  std::string apns_sandbox_url{limits::apns_sandbox_url};
  std::string ntfy_url; ///< empty: no mirror
  std::string connect_to; ///< HOST:PORT:ADDRESS:PORT, several separated by commas
  std::filesystem::path ca_file; ///< empty: the system's CA file

  [[nodiscard]] bool fcm_is_on() const { return !fcm_service_account.empty(); }
  [[nodiscard]] bool apns_is_on() const { return !apns_key.empty(); }
};

/// Outgoing webhooks to organizers and origins.
struct webhooks_options {
  bool allow_private{}; ///< also allows receivers on this machine and its network
  bool allow_http{};
  std::string ports; ///< ports allowed in a url, comma separated
  milliseconds timeout{};

  /// `ports` as numbers; empty if malformed.
  [[nodiscard]] std::optional<std::vector<std::uint16_t>> parsed_ports() const;
};

/// The parts of a comma-separated list, trimmed, without empty parts.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

struct witness_address {
  std::string url; ///< without "/add-checkpoint"
  std::string key; ///< verifier key
};

/// Witnesses of this installation's logs, and this one as a witness of others.
struct witness_options {
  std::string logs; ///< verifier keys, comma separated
  std::string urls; ///< "<address> <verifier key>", comma separated

  /// `urls` in parts; empty if malformed.
  [[nodiscard]] std::optional<std::vector<witness_address>> parsed_urls() const;
};

struct draw_options {
  std::string beacon_url; ///< HTTP APIs of drand, comma separated
};

struct tracing_options {
  std::string url; ///< trace endpoint of the collector; empty: spans are not recorded
  std::string authorization;
  std::int64_t sample_per_mille{}; ///< of requests without a trace
};

struct log_options {
  std::string level; ///< trace, debug, info, warn, error
};

struct shutdown_options {
  milliseconds delay{};
  milliseconds drain_timeout{};
};

struct caf_options {
  std::int64_t threads{};
};

struct io_options {
  std::int64_t threads{};
};

enum class environment_kind { development, production };

/// The pages for customers.
struct pages_options {
  std::filesystem::path branding; ///< empty: none
  fq::config::branding brands; ///< parsed content of `branding`
  std::string root; ///< where GET / sends browsers: "/shop" below http.base_path, or an http(s) address
};

struct options {
  environment_kind environment{};
  std::filesystem::path data_dir;
  http_options http;
  tls_options tls;
  ledger_options ledger;
  cache_options cache;
  node_options node;
  cluster_options cluster;
  queue_options queue;
  claims_options claims;
  payments_options payments;
  checkout_options checkout;
  workers_options workers;
  retention_options retention;
  tokens_options tokens;
  otp_options otp;
  challenges_options challenges;
  rate_limits_options rate_limits;
  mail_options mail;
  nats_options nats;
  bus_options bus;
  loyalty_options loyalty;
  gateway_options gateway;
  paystack_options paystack;
  stripe_options stripe;
  push_options push;
  webhooks_options webhooks;
  witness_options witness;
  draw_options draw;
  tracing_options tracing;
  log_options log;
  shutdown_options shutdown;
  caf_options caf;
  io_options io;
  pages_options pages;
};

} // namespace fq::config
