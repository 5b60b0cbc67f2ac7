// SPDX-License-Identifier: Apache-2.0
// The rows, in the order of the example file. A comment above a row gives the source of its default.
#include "config/table.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace fq::config {
namespace {

constexpr std::int64_t ms = 1;
constexpr std::int64_t second = 1000 * ms;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t hour = 60 * minute;
constexpr std::int64_t day = 24 * hour;
constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

/// Access to a member as a function pointer: `member<&options::http, &http_options::listen>`.
template <auto Group, auto Member>
auto& member(options& o) {
  return (o.*Group).*Member;
}

/// Name and member of an option: FQ_OPTION(http, listen) is "http.listen" and options::http.listen.
#define FQ_OPTION(group, name) #group "." #name, field(&member <&options::group, &group##_options::name>)

constexpr option_row text_row(std::string_view name, field where, value_type type,
                              std::string_view default_text, std::string_view description) {
  return {
    .name = name, .where = where, .type = type, .default_text = default_text, .description = description};
}

constexpr option_row number_row(std::string_view name, field where, value_type type,
                                std::string_view default_text, std::int64_t low, std::int64_t high,
                                std::string_view description) {
  auto row = text_row(name, where, type, default_text, description);
  row.low = low;
  row.high = high;
  return row;
}

constexpr option_row choice_row(std::string_view name, field where, std::string_view default_text,
                                std::string_view choices, std::string_view description) {
  auto row = text_row(name, where, value_type::choice, default_text, description);
  row.choices = choices;
  return row;
}

constexpr option_row derived(option_row row) {
  row.derived = true;
  return row;
}

constexpr option_row secret(option_row row) {
  row.secret = true;
  return row;
}

constexpr option_row needed(option_row row) {
  row.needed = true;
  return row;
}

using enum value_type;

const auto rows = std::to_array<option_row>({
  needed(
    choice_row("environment", field(+[](options& o) -> environment_kind& { return o.environment; }),
               "development", "development|production",
               "Production refuses to start with settings that are only safe on a developer's machine.")),
  needed(text_row("data_dir", field(+[](options& o) -> std::filesystem::path& { return o.data_dir; }), path,
                  "./fairqueue-data",
                  "Folder of the ledger, keys, mail and control socket; created at first start.")),

  needed(text_row(FQ_OPTION(http, listen), address_port, "127.0.0.1:8080",
                  "Address and port of the public listener; port 0 takes any free one.")),
  text_row(FQ_OPTION(http, admin_listen), address_port, "127.0.0.1:9090",
           "Address and port of /metrics and health checks."),
  needed(derived(text_row(
    FQ_OPTION(http, public_url), url, "from tls.listen, or else http.listen, and http.base_path",
    "The address under which clients reach this server; prefix of every link in answers and mail."))),
  text_row(FQ_OPTION(http, base_path), url_path, "/",
           "Prefix of all routes, for a proxy that forwards only a part of a site."),
  text_row(FQ_OPTION(http, allowed_origins), origins, "",
           "Web origins that may call from a browser, for CORS and the WebSocket Origin check; \"*\" is "
           "every origin."),
  needed(text_row(
    FQ_OPTION(http, trusted_proxies), blocks, "",
    "Address blocks of proxies whose X-Forwarded-For is trusted; from all others the header is ignored.")),
  // 19,000: the usual hard limit of 20,000 descriptors, minus files, stores and the admin listener.
  number_row(
    FQ_OPTION(http, max_connections), count, "19000", 1, 1'000'000,
    "Open connections; from 80 % on, the address that holds most loses those that it does not need; "
    "WebSockets have at most 90 %; at the limit the server closes one for each new one, or answers 503."),
  number_row(FQ_OPTION(http, header_timeout), duration, "10s", 100 * ms, 5 * minute,
             "Time from a request's first byte to the end of its header."),
  number_row(FQ_OPTION(http, body_timeout), duration, "10s", 100 * ms, 5 * minute,
             "Time from the end of the header to the end of the body."),
  number_row(FQ_OPTION(http, write_timeout), duration, "10s", 100 * ms, 5 * minute,
             "Time for the client to read a whole answer."),
  number_row(FQ_OPTION(http, idle_timeout), duration, "75s", second, hour,
             "Time that an idle connection stays open."),
  number_row(FQ_OPTION(http, request_timeout), duration, "5s", 100 * ms, 2 * minute,
             "Time for the server to answer; after it the answer is 503."),
  number_row(FQ_OPTION(http, body_limit), bytes, "16KiB", kib, 16 * mib,
             "Largest request body; a larger one is answered 413."),

  needed(text_row(
    FQ_OPTION(tls, listen), optional_text, "",
    "address:port of a second listener, with TLS, for the same routes as http.listen; empty is none.")),
  needed(
    text_row(FQ_OPTION(tls, certificate), optional_path, "",
             "Certificate chain (PEM), the server's first; certificate and key are read again at SIGHUP.")),
  needed(text_row(FQ_OPTION(tls, key), optional_path, "",
                  "The certificate's private key (PEM), without a passphrase.")),
  number_row(FQ_OPTION(tls, handshake_timeout), duration, "5s", 100 * ms, minute,
             "Time from a connection to the end of its handshake."),
  // 1,024: with a round trip of 200 ms, 5,000 handshakes per second, more than two cores can compute.
  number_row(FQ_OPTION(tls, handshakes_max), count, "1024", 1, 1'000'000,
             "Concurrent handshakes; above it one that is silent for a second is closed, or new connections "
             "wait in the kernel's queue."),
  number_row(FQ_OPTION(tls, hsts), duration, "365d", 0, 730 * day,
             "max-age of Strict-Transport-Security in answers of tls.listen; 0 omits the header."),

  needed(
    secret(derived(text_row(FQ_OPTION(ledger, url), ledger_url, "sqlite:<data_dir>/ledger.db",
                            "The ledger's database: sqlite:<file>, postgres://user:password@host/database, "
                            "or memory: for tests (lost at exit).")))),
  number_row(FQ_OPTION(ledger, workers), count, "2", 1, 16,
             "Connections that write to Postgres; SQLite always has one."),
  number_row(
    FQ_OPTION(ledger, lease), duration, "10s", second, 5 * minute,
    "Duration of a node's lease of a sale. Nodes that are not connected wait so long after a crash."),

  needed(
    secret(text_row(FQ_OPTION(cache, url), cache_url, "",
                    "Redis or Valkey as redis://user:password@host:port/database, or "
                    "redis-sentinel://user:password@host:port,host:port/primary/database; rediss instead of "
                    "redis is TLS; empty is no cache."))),
  text_row(FQ_OPTION(cache, ca_file), optional_path, "",
           "Certificates (PEM) of authorities for rediss://; empty is the system's."),

  text_row(
    FQ_OPTION(node, id), node_id, "",
    "Name of this node among those that share a ledger; empty is a random one kept in <data_dir>/node-id."),

  text_row(FQ_OPTION(cluster, listen), optional_text, "",
           "address:port for the other nodes that share the ledger; empty is a node that talks to no other."),
  text_row(FQ_OPTION(cluster, advertise), optional_text, "",
           "host:port where other nodes reach this one; empty is cluster.listen."),
  text_row(FQ_OPTION(cluster, certificate), optional_path, "",
           "This node's certificate (PEM), of the cluster's own authority."),
  text_row(FQ_OPTION(cluster, key), optional_path, "", "The certificate's private key (PEM)."),
  text_row(
    FQ_OPTION(cluster, ca), optional_path, "",
    "Certificate (PEM) of the cluster's authority; a holder of one of its certificates joins as the node "
    "that the certificate names."),
  text_row(FQ_OPTION(cluster, revoked), optional_path, "",
           "List (PEM) of the authority's revoked certificates, made by `fairqueue cluster revoke-cert`."),
  text_row(FQ_OPTION(cluster, insecure), boolean, "false", "Talk to nodes on this machine without TLS."),

  number_row(FQ_OPTION(queue, session_ttl), duration, "20m", second, 7 * day,
             "How long an admitted fan may shop."),
  number_row(FQ_OPTION(queue, claim_window), duration, "5m", second, 7 * day,
             "Time for an admitted fan to claim; after it the session ends and the next fan is admitted."),
  number_row(FQ_OPTION(queue, admission_interval), duration, "5s", 50 * ms, hour,
             "Time between two batches of admissions."),
  number_row(FQ_OPTION(queue, batch_size), count, "50", 1, 100'000, "Fans admitted in one batch."),

  number_row(FQ_OPTION(claims, ttl), duration, "10m", second, 7 * day,
             "Time that a claim holds its tickets without payment."),

  number_row(FQ_OPTION(payments, stale_after), duration, "10m", 10 * second, 7 * day,
             "Age at which the server asks the gateway for the status of a payment without a webhook."),
  number_row(FQ_OPTION(payments, verdict_grace), duration, "2m", second, day,
             "How long an expired claim with an open payment waits for the gateway's verdict."),
  number_row(FQ_OPTION(payments, retry_attempts), count, "3", 1, 20, "Tries of one call to a gateway."),
  number_row(FQ_OPTION(payments, retry_base), duration, "500ms", ms, minute,
             "Longest pause before the second try; doubles with each."),
  number_row(FQ_OPTION(payments, retry_cap), duration, "5s", ms, 10 * minute,
             "Longest pause between two tries."),

  needed(choice_row(FQ_OPTION(payments, gateway), "sandbox", "sandbox|paystack|stripe",
                    "Gateway of payments that name none.")),

  text_row(FQ_OPTION(checkout, rollback), boolean, "false",
           "Switch to synchronous checkout (like PATCH /settings with async_percent 0) when orders fail or "
           "wait too long (docs/operations.md lists the triggers); an operator switches back."),
  number_row(FQ_OPTION(checkout, rollback_workers_for), duration, "2m", second, day,
             "Trigger of checkout.rollback: for this time, orders wait while the circuit of payments.gateway "
             "is open, or was open with no successful call since."),
  needed(text_row(FQ_OPTION(checkout, fees), text, "*:150:290:30",
                  "Fees by currency, comma-separated: currency (or * for all others), minor units per paid "
                  "ticket, basis points of the amount charged, minor units per order.")),

  number_row(FQ_OPTION(workers, expiry_interval), duration, "30s", 100 * ms, hour,
             "Longest timer of a sale: a wall clock that jumps forward is noticed after this time."),
  number_row(FQ_OPTION(workers, reconciliation_interval), duration, "30s", 100 * ms, hour,
             "Time between two deletions of old rows; the mirror in Redis is compared twice in it."),
  number_row(FQ_OPTION(workers, statistics_interval), duration, "1m", second, hour,
             "Least time between two rows of an event's statistics. An event that does not change writes "
             "none."),

  number_row(
    FQ_OPTION(retention, memory), duration, "1h", second, 30 * day,
    "How long a standalone queue keeps an ended ticket in memory; after it a read of the ticket asks "
    "the ledger."),
  number_row(FQ_OPTION(retention, entries), duration, "90d", second, 3650 * day,
             "How long the ledger keeps ended tickets and places, except those that led to a claim; after it "
             "a read is answered 410. Counts and the audit log stay."),
  number_row(FQ_OPTION(retention, personal), duration, "0s", 0, 3650 * day,
             "How long names, addresses and phones of orders stay after the end of their sale; 0: for ever. "
             "Orders keep their money and tickets."),
  number_row(
    FQ_OPTION(retention, statistics), duration, "400d", hour, 3650 * day,
    "How long the statistics of events stay, for the console's charts and for reports. The last row of "
    "an event stays."),
  number_row(FQ_OPTION(retention, log), duration, "730d", hour, 3650 * day,
             "How long the public log of an event stays after the end of its sale. At least as long as "
             "retention.entries."),

  number_row(FQ_OPTION(tokens, ttl), duration, "24h", minute, 30 * day,
             "Validity of the token that a customer or an organizer gets at sign-in."),

  number_row(FQ_OPTION(otp, requests_per_ip_per_minute), count, "600", 1, 1'000'000,
             "Sign-in codes requested from one client address; high, because a stadium may share one."),
  choice_row(FQ_OPTION(otp, challenge), "none", "none|proof_of_work|turnstile|hcaptcha",
             "What a browser that has not signed in before must solve to get a sign-in code."),
  text_row(
    FQ_OPTION(otp, one_customer_per_mailbox), boolean, "false",
    "All addresses of a mailbox are one customer. The server ignores dots and the text after a plus at "
    "Gmail, Outlook, iCloud, Fastmail, Proton and Yandex. Must be equal on all nodes. A change moves no "
    "account. If a mailbox has two accounts, only the older one can sign in while this is true."),

  text_row(FQ_OPTION(challenges, turnstile_site_key), optional_text, "",
           "Site key of Cloudflare Turnstile, for challenge turnstile; empty is none."),
  secret(text_row(FQ_OPTION(challenges, turnstile_secret), password, "", "Its secret key.")),
  text_row(FQ_OPTION(challenges, turnstile_url), url, "https://challenges.cloudflare.com",
           "Where siteverify and the script of Turnstile are."),
  text_row(FQ_OPTION(challenges, hcaptcha_site_key), optional_text, "",
           "Site key of hCaptcha, for challenge hcaptcha; empty is none."),
  secret(text_row(FQ_OPTION(challenges, hcaptcha_secret), password, "", "Its secret key.")),
  text_row(FQ_OPTION(challenges, hcaptcha_url), url, "https://api.hcaptcha.com",
           "Where siteverify of hCaptcha is."),

  number_row(FQ_OPTION(rate_limits, login_failures_per_ip_per_minute), count, "20", 1, 1'000'000,
             "Failed organizer logins from one client address."),
  // 6,000: 100 per second, far above an honest client, low enough to stop a loop.
  number_row(FQ_OPTION(rate_limits, customer_requests_per_minute), count, "6000", 0, 100'000'000,
             "Requests of one customer; 0 is no limit."),
  // Every entry stays in memory until its sale is over, so a customer that leaves and joins in a loop must
  // not fill it.
  number_row(FQ_OPTION(rate_limits, joins_per_customer_per_minute), count, "30", 0, 1'000'000,
             "New entries of one customer; a second join of the same line does not count; 0 is no limit."),
  number_row(FQ_OPTION(rate_limits, anonymous_requests_per_ip_per_minute), count, "1200", 0, 100'000'000,
             "Requests without a token from one client address; high, because a stadium may share one; 0 is "
             "no limit."),
  number_row(FQ_OPTION(rate_limits, joins_per_ip_per_minute), count, "30", 0, 100'000'000,
             "Joins of standalone queues from one client address with a publishable key; 0 is no limit."),
  number_row(FQ_OPTION(rate_limits, access_per_session_per_minute), count, "600", 0, 100'000'000,
             "GET /access with one session token and no server key; 0 is no limit."),
  number_row(FQ_OPTION(rate_limits, access_per_key_per_minute), count, "60000", 0, 100'000'000,
             "GET /access with one server key; 0 is no limit."),
  number_row(FQ_OPTION(rate_limits, access_failures_per_ip_per_minute), count, "1000", 0, 100'000'000,
             "Invalid tokens, API keys and webhook signatures from one client address; 0 is no limit."),
  number_row(FQ_OPTION(rate_limits, device_requests_per_minute), count, "3000", 0, 100'000'000,
             "Requests of one device that scans tickets; each scan of a batch counts; 0 is no limit."),

  needed(choice_row(
    FQ_OPTION(mail, mode), "file", "file|smtp|nats",
    "Transport of mail: files in <data_dir>/mail, SMTP, or messages to a mailer service in NATS JetStream.")),
  text_row(FQ_OPTION(mail, sender), mail_address, "no-reply@fairqueue.local", "From address of all mail."),
  number_row(FQ_OPTION(mail, per_second), count, "0", 0, 100'000,
             "Mails per second that one node sends on average; set it below the limit of the mail service; 0 "
             "is no limit. Sign-in codes are exempt."),
  text_row(FQ_OPTION(mail, sender_name), optional_text, "", "Name beside the from address."),
  text_row(FQ_OPTION(mail, senders), optional_text, "",
           "Other From addresses, comma-separated, that tenants may use for their mails; the mail service "
           "must accept them."),
  needed(text_row(FQ_OPTION(mail, smtp_url), smtp_url, "",
                  "Mail server as smtp://host:587 (always with STARTTLS) or smtps://host:465; a path is the "
                  "name for EHLO.")),
  text_row(FQ_OPTION(mail, smtp_user), optional_text, "", "Login at the mail server; empty is none."),
  secret(text_row(FQ_OPTION(mail, smtp_password), password, "", "Password at the mail server.")),
  text_row(FQ_OPTION(mail, smtp_ca_file), optional_path, "",
           "Certificates (PEM) of authorities for the mail server; empty is the system's."),
  text_row(FQ_OPTION(mail, smtp_insecure), boolean, "false",
           "Use a mail server on this machine without STARTTLS."),
  text_row(
    FQ_OPTION(mail, nats_stream), nats_name, "mail",
    "JetStream for mail; created if missing (kept 72h in files, duplicates removed for 1h), never changed."),
  text_row(FQ_OPTION(mail, nats_subject), nats_subject, "mail.send",
           "Subject of mail messages; a created stream has all subjects below its first word."),

  text_row(FQ_OPTION(pages, branding), optional_path, "",
           "TOML file with a table per tenant for its pages (name, colour, logo_url, home_url, return_url, "
           "note); empty is none."),
  text_row(FQ_OPTION(pages, root), page_address, "/shop",
           "Page to which / redirects browsers, as a path of this server or a URL; a demo has its own page "
           "instead."),

  secret(
    text_row(FQ_OPTION(nats, url), nats_url, "",
             "NATS servers as nats://user:password@host:4222 or tls://…, comma-separated; empty is none.")),
  text_row(FQ_OPTION(nats, credentials_file), optional_path, "",
           "File with JWT and seed for the login; empty is none."),
  text_row(FQ_OPTION(nats, ca_file), optional_path, "",
           "Certificates (PEM) of authorities for NATS servers; with one, TLS is required."),

  secret(text_row(FQ_OPTION(bus, url), nats_url, "",
                  "NATS servers for domain events, in the form of nats.url, with the same credentials_file "
                  "and ca_file; empty is no bus. Events: docs/events.md.")),
  text_row(FQ_OPTION(bus, stream), nats_name, "fairqueue",
           "JetStream for domain events; created if missing (kept 72h in files, duplicates removed for 1h), "
           "never changed."),
  text_row(FQ_OPTION(bus, prefix), nats_subject, "fairqueue",
           "Prefix of the subjects of domain events, as in fairqueue.order.completed."),
  text_row(
    FQ_OPTION(bus, source), text, "/fairqueue",
    "Source of the CloudEvents, a URI reference; use another one for each installation on the same bus."),
  text_row(FQ_OPTION(bus, payments_subject), optional_nats_subject, "",
           "Subject, like stripe.backend, of Stripe's webhooks from a router (raw body, header "
           "Stripe-Signature); empty is none."),
  text_row(FQ_OPTION(bus, payments_stream), nats_name, "stripe",
           "JetStream with that subject; created if missing."),

  number_row(FQ_OPTION(loyalty, points_per_unit), count, "0", 0, 1'000'000,
             "Points in the event loyalty.awarded per whole unit of currency (not its hundredth) of a paid "
             "order; 0 is none."),

  text_row(FQ_OPTION(gateway, sandbox), boolean, "false",
           "Offer the built-in payment gateway that moves no money (`serve --demo` does); refused in "
           "production and beside a real gateway."),
  number_row(FQ_OPTION(gateway, call_timeout), duration, "20s", 100 * ms, minute,
             "Time for Paystack or Stripe to answer one call."),

  secret(text_row(FQ_OPTION(paystack, secret_keys), password, "",
                  "Secret keys (sk_…), comma-separated: the first is for calls, all are valid for webhooks; "
                  "empty is no Paystack.")),
  text_row(FQ_OPTION(paystack, fallback_email), optional_text, "",
           "E-mail address sent to Paystack for customers without one."),
  text_row(FQ_OPTION(paystack, url), url, "https://api.paystack.co", "Paystack's API."),

  secret(
    text_row(FQ_OPTION(stripe, secret_key), password, "", "Secret key (sk_… or rk_…); empty is no Stripe.")),
  secret(text_row(FQ_OPTION(stripe, webhook_secrets), password, "",
                  "Signing secrets (whsec_…) of the webhook endpoint, comma-separated.")),
  text_row(FQ_OPTION(stripe, automatic_tax), boolean, "false",
           "Let Stripe add tax to the prices; needs Stripe Tax to be set up."),
  text_row(FQ_OPTION(stripe, url), url, "https://api.stripe.com", "Stripe's API."),

  text_row(FQ_OPTION(push, fcm_service_account), optional_path, "",
           "Key of a Google service account (the JSON file of the Firebase console), for devices that "
           "registered with FCM; empty is no FCM."),
  text_row(
    FQ_OPTION(push, apns_team_id), optional_text, "",
    "Apple's id of the team (10 characters), for devices that registered with APNs; empty is no APNs."),
  text_row(FQ_OPTION(push, apns_key_id), optional_text, "", "Apple's id of push.apns_key (10 characters)."),
  text_row(FQ_OPTION(push, apns_key), optional_path, "", "The private key for APNs (the .p8 file)."),
  text_row(FQ_OPTION(push, apns_topic), optional_text, "", "The app's bundle id, like com.example.tickets."),
  text_row(
    FQ_OPTION(push, ntfy_url), url, "",
    "ntfy server that gets a copy of each push, for development; refused in production; empty is none."),
  text_row(FQ_OPTION(push, connect_to), optional_text, "",
           "HOST:PORT:ADDRESS:PORT, comma-separated: pushes to the first go to the second, which needs the "
           "certificate of the first; for tests, refused in production."),
  text_row(FQ_OPTION(push, ca_file), optional_path, "",
           "Certificates (PEM) of authorities for FCM, APNs and ntfy; empty is the system's."),

  text_row(FQ_OPTION(webhooks, ports), text, "443,8443",
           "Ports allowed in URLs of webhooks, comma-separated; a URL without a port has 443."),
  // A delivery must start within the first half of its visibility timeout of 60 s (courier_services::hold).
  // So an attempt of up to 25 s has ended and is stored before another courier can take it.
  number_row(FQ_OPTION(webhooks, timeout), duration, "15s", 100 * ms, 25 * second,
             "Time for the receiver of a webhook to answer one attempt."),
  text_row(FQ_OPTION(webhooks, allow_private), boolean, "false",
           "Send webhooks to this machine and private networks too, for development and tests; refused in "
           "production."),
  text_row(FQ_OPTION(webhooks, allow_http), boolean, "false",
           "Send webhooks without TLS too; needs webhooks.allow_private."),

  text_row(
    FQ_OPTION(witness, urls), optional_text, "",
    "Witnesses that cosign the public logs of events, comma-separated, each an address, a space and its "
    "verifier key: https://other.example/witness other.example/witness+ab12cd34+BAbc…; empty is none."),
  text_row(
    FQ_OPTION(witness, logs), optional_text, "",
    "Verifier keys of other installations' logs that this server cosigns as a witness, comma-separated; "
    "the key of one event's log is good for all of its installation; empty is none."),

  text_row(FQ_OPTION(draw, beacon_url), text, "https://api.drand.sh",
           "HTTP APIs of drand, comma-separated, for lobbies whose draw waits for one of its rounds; "
           "all must give the same signature."),

  text_row(FQ_OPTION(tracing, url), url, "",
           "Collector of spans (OTLP over HTTP with JSON), for example http://127.0.0.1:4318/v1/traces; "
           "empty is none."),
  secret(text_row(FQ_OPTION(tracing, authorization), password, "",
                  "Value of the header Authorization for the collector; empty is none.")),
  number_row(
    FQ_OPTION(tracing, sample_per_mille), count, "0", 0, 1'000,
    "Traces per thousand requests without a traceparent; requests with one follow its sampled flag."),

  needed(choice_row(FQ_OPTION(log, level), "info", "trace|debug|info|warn|error",
                    "Lowest severity that is logged.")),

  number_row(FQ_OPTION(shutdown, delay), duration, "0s", 0, 10 * minute,
             "Time from the first 503 of /readyz to the end of the listener, for load balancers."),
  number_row(FQ_OPTION(shutdown, drain_timeout), duration, "20s", 0, hour,
             "Time for open requests and sockets to end before they are closed."),

  derived(number_row(FQ_OPTION(caf, threads), count, "half the cores that the process may use", 1,
                     limits::threads_max, "Worker threads of the actor scheduler.")),
  derived(number_row(FQ_OPTION(io, threads), count, "half the cores that the process may use", 1,
                     limits::threads_max, "Threads that serve connections.")),
});

#undef FQ_OPTION

} // namespace

std::span<const option_row> option_table() { return rows; }

const option_row* find_option(std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

std::string environment_name(std::string_view option) {
  std::string name = "FAIRQUEUE_";
  for (const char c : option)
    name += c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

} // namespace fq::config
