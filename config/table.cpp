// SPDX-License-Identifier: Apache-2.0
// The rows. Defaults are those of DESIGN section 8, unless the row's comment gives another source.
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

#define FQ_FIELD(group, name) field(&member<&options::group, &group##_options::name>)

constexpr option_row text_row(std::string_view name, value_type type, std::string_view default_text,
                              std::string_view description, field where) {
  return {name, type, default_text, 0, 0, {}, false, false, true, description, where};
}

constexpr option_row number_row(std::string_view name, value_type type, std::string_view default_text,
                                std::int64_t low, std::int64_t high, std::string_view description,
                                field where) {
  return {name, type, default_text, low, high, {}, false, false, true, description, where};
}

constexpr option_row choice_row(std::string_view name, std::string_view default_text,
                                std::string_view choices, std::string_view description, field where) {
  return {name, value_type::choice, default_text, 0, 0, choices, false, false, true, description, where};
}

constexpr option_row derived_row(std::string_view name, value_type type, std::string_view default_text,
                                 std::string_view description, field where) {
  return {name, type, default_text, 0, 0, {}, true, false, true, description, where};
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
  needed(choice_row("environment", "development", "development|production",
                    "Production refuses to start with settings that are only safe on a developer's machine.",
                    field(+[](options& o) -> environment_kind& { return o.environment; }))),
  needed(text_row("data_dir", path, "./fairqueue-data",
                  "Folder of the ledger, keys, mail and control socket; created at first start.",
                  field(+[](options& o) -> std::filesystem::path& { return o.data_dir; }))),

  needed(text_row("http.listen", address_port, "127.0.0.1:8080",
                  "Address and port of the public listener; port 0 takes any free one.",
                  FQ_FIELD(http, listen))),
  text_row("http.admin_listen", address_port, "127.0.0.1:9090",
           "Address and port of /metrics and health checks.", FQ_FIELD(http, admin_listen)),
  needed(derived_row("http.public_url", url, "from tls.listen, or else http.listen, and http.base_path",
                     "How clients reach this server; prefix of every link it gives out.",
                     FQ_FIELD(http, public_url))),
  text_row("http.base_path", url_path, "/",
           "Path under which all routes live, when a proxy gives us only a part of a site.",
           FQ_FIELD(http, base_path)),
  text_row("http.allowed_origins", origins, "",
           "Web origins that may call from a browser, for CORS and the WebSocket Origin check; \"*\" is "
           "every origin.",
           FQ_FIELD(http, allowed_origins)),
  needed(
    text_row("http.trusted_proxies", blocks, "",
             "Address blocks whose X-Forwarded-For is believed; from anybody else the header is ignored.",
             FQ_FIELD(http, trusted_proxies))),
  // 19,000: the usual hard limit of 20,000 descriptors, minus files, stores and the admin listener.
  number_row("http.max_connections", count, "19000", 1, 1'000'000,
             "Open connections; beyond it a silent or idle one makes room, else the new one is answered 503.",
             FQ_FIELD(http, max_connections)),
  number_row(
    "http.pending_connections_per_address", count, "1024", 0, 1'000'000,
    "Connections of one client address (IPv6: /64) that may owe a request for more than 3 s, trusted proxies "
    "aside; 0 is no limit.",
    FQ_FIELD(http, pending_connections_per_address)),
  number_row("http.header_timeout", duration, "10s", 100 * ms, 5 * minute,
             "From a request's first byte to the end of its header.", FQ_FIELD(http, header_timeout)),
  number_row("http.body_timeout", duration, "10s", 100 * ms, 5 * minute,
             "From the end of the header to the end of the body.", FQ_FIELD(http, body_timeout)),
  number_row("http.write_timeout", duration, "10s", 100 * ms, 5 * minute,
             "For the client to take a whole answer.", FQ_FIELD(http, write_timeout)),
  number_row("http.idle_timeout", duration, "75s", second, hour,
             "How long a kept connection may wait for its next request.", FQ_FIELD(http, idle_timeout)),
  number_row("http.request_timeout", duration, "5s", 100 * ms, 2 * minute,
             "For us to answer; then the answer is 503.", FQ_FIELD(http, request_timeout)),
  number_row("http.body_limit", bytes, "16KiB", kib, 16 * mib,
             "Largest request body; a larger one is answered 413.", FQ_FIELD(http, body_limit)),

  needed(text_row(
    "tls.listen",
    optional_text, "",
    "address:port of a listener with TLS of its own, which serves what http.listen serves; empty is none.",
    FQ_FIELD(tls, listen))),
  needed(text_row("tls.certificate", optional_path, "",
                  "Certificate chain (PEM), ours first; read anew at SIGHUP, like the key.",
                  FQ_FIELD(tls, certificate))),
  needed(text_row("tls.key", optional_path, "", "The certificate's private key (PEM), without a passphrase.",
                  FQ_FIELD(tls, key))),
  number_row("tls.handshake_timeout", duration, "5s", 100 * ms, minute,
             "From a connection to the end of its handshake.", FQ_FIELD(tls, handshake_timeout)),
  // 1,024: with a round trip of 200 ms, 5,000 handshakes per second, more than two cores can compute.
  number_row("tls.handshakes_max", count, "1024", 1, 1'000'000,
             "Handshakes under way; beyond it one that is silent for a second makes room, else new "
             "connections wait in the kernel's queue.",
             FQ_FIELD(tls, handshakes_max)),
  number_row("tls.hsts", duration, "365d", 0, 730 * day,
             "For how long browsers that came by tls.listen refuse to come without TLS "
             "(Strict-Transport-Security); 0 does not say so.",
             FQ_FIELD(tls, hsts)),

  needed(secret(
    derived_row("ledger.url", ledger_url, "sqlite:<data_dir>/ledger.db",
                "Where the durable truth is kept: sqlite:<file>, postgres://user:password@host/database, or "
                "memory: for tests (lost at exit).",
                FQ_FIELD(ledger, url)))),
  number_row("ledger.workers", count, "2", 1, 16,
             "Connections that write to Postgres; SQLite always has one.", FQ_FIELD(ledger, workers)),
  number_row("ledger.lease", duration, "10s", second, 5 * minute,
             "How long a node owns a sale without renewing: after a crash another node waits that long.",
             FQ_FIELD(ledger, lease)),

  needed(secret(text_row("cache.url", cache_url, "",
                         "Redis or Valkey as redis://user:password@host:port/database; empty is no cache.",
                         FQ_FIELD(cache, url)))),

  text_row(
    "node.id", node_id, "",
    "Name of this node among those that share a ledger; empty is a random one kept in <data_dir>/node-id.",
    FQ_FIELD(node, id)),

  text_row("cluster.listen", optional_text, "",
           "address:port for the other nodes that share the ledger; empty is a node that talks to no other.",
           FQ_FIELD(cluster, listen)),
  text_row("cluster.advertise", optional_text, "",
           "host:port where other nodes reach this one; empty is cluster.listen.",
           FQ_FIELD(cluster, advertise)),
  text_row("cluster.certificate", optional_path, "",
           "This node's certificate (PEM), of the cluster's own authority.", FQ_FIELD(cluster, certificate)),
  text_row("cluster.key", optional_path, "", "The certificate's private key (PEM).", FQ_FIELD(cluster, key)),
  text_row("cluster.ca", optional_path, "",
           "Certificate (PEM) of the cluster's authority: whoever has one of its certificates is a node.",
           FQ_FIELD(cluster, ca)),
  text_row("cluster.insecure", boolean, "false", "Talk to nodes on this machine without TLS.",
           FQ_FIELD(cluster, insecure)),

  number_row("queue.session_ttl", duration, "20m", second, 7 * day, "How long an admitted fan may shop.",
             FQ_FIELD(queue, session_ttl)),
  number_row("queue.claim_window", duration, "5m", second, 7 * day,
             "An admitted fan who has not claimed by then loses the session and the next is let in.",
             FQ_FIELD(queue, claim_window)),
  number_row("queue.admission_interval", duration, "5s", 50 * ms, hour,
             "Time between two batches of admissions.", FQ_FIELD(queue, admission_interval)),
  number_row("queue.batch_size", count, "50", 1, 100'000, "Fans admitted in one batch.",
             FQ_FIELD(queue, batch_size)),

  number_row("claims.ttl", duration, "10m", second, 7 * day,
             "How long stock is held for a fan who has not paid.", FQ_FIELD(claims, ttl)),

  number_row("payments.stale_after", duration, "10m", 10 * second, 7 * day,
             "Age at which the gateway is asked about a payment that nobody told us about.",
             FQ_FIELD(payments, stale_after)),
  number_row("payments.verdict_grace", duration, "2m", second, day,
             "How long an expired claim with an open payment waits for the gateway's verdict.",
             FQ_FIELD(payments, verdict_grace)),
  number_row("payments.retry_attempts", count, "3", 1, 20, "Tries of one call to a gateway.",
             FQ_FIELD(payments, retry_attempts)),
  number_row("payments.retry_base", duration, "500ms", ms, minute,
             "Longest pause before the second try; doubles with each.", FQ_FIELD(payments, retry_base)),
  number_row("payments.retry_cap", duration, "5s", ms, 10 * minute, "Longest pause between two tries.",
             FQ_FIELD(payments, retry_cap)),

  needed(choice_row("payments.gateway", "sandbox", "sandbox|paystack|stripe",
                    "Gateway of payments that name none.", FQ_FIELD(payments, gateway))),

  text_row("checkout.rollback", boolean, "false",
           "Switch to synchronous checkout (as PATCH /settings would, async_percent 0) when one of the "
           "triggers below has held for its time. A person switches back.",
           FQ_FIELD(checkout, rollback)),
  number_row("checkout.rollback_workers_for", duration, "2m", second, day,
             "Trigger: payments.gateway takes no calls (its circuit is or was open, and nothing has "
             "succeeded since) while orders wait, for so long.",
             FQ_FIELD(checkout, rollback_workers_for)),
  needed(text_row(
    "checkout.fees", text, "*:150:290:30",
    "Fees by currency, with commas between: currency (or * for all others), minor units for each paid "
    "ticket, basis points of what is charged, minor units once.",
    FQ_FIELD(checkout, fees))),

  number_row("workers.expiry_interval", duration, "30s", 100 * ms, hour,
             "Time between two sweeps for what has expired.", FQ_FIELD(workers, expiry_interval)),
  number_row("workers.reconciliation_interval", duration, "30s", 100 * ms, hour,
             "Time between two checks for stale payments and other loose ends.",
             FQ_FIELD(workers, reconciliation_interval)),

  number_row("tokens.ttl", duration, "24h", minute, 30 * day,
             "Validity of the token that a customer or an organizer gets at sign-in.",
             FQ_FIELD(tokens, customer_ttl)),

  number_row("otp.requests_per_ip_per_minute", count, "600", 1, 1'000'000,
             "Codes asked for from one client address; generous, because a stadium may share one.",
             FQ_FIELD(otp, requests_per_ip_per_minute)),

  number_row("rate_limits.login_failures_per_ip_per_minute", count, "20", 1, 1'000'000,
             "Failed organizer logins from one client address.",
             FQ_FIELD(rate_limits, login_failures_per_ip_per_minute)),
  // 6,000: 100 per second, far above an honest client, low enough to stop a loop.
  number_row("rate_limits.customer_requests_per_minute", count, "6000", 0, 100'000'000,
             "Requests of one customer; 0 is no limit.", FQ_FIELD(rate_limits, customer_requests_per_minute)),
  // Every entry stays in memory until its sale is over, so a customer that leaves and joins in a loop must
  // not fill it.
  number_row(
    "rate_limits.joins_per_customer_per_minute", count, "30", 0, 1'000'000,
    "New places in line of one customer; joining again where one stands does not count, 0 is no limit.",
    FQ_FIELD(rate_limits, joins_per_customer_per_minute)),
  number_row("rate_limits.anonymous_requests_per_ip_per_minute", count, "1200", 0, 100'000'000,
             "Requests without a token from one client address, which a stadium may share; 0 is no limit.",
             FQ_FIELD(rate_limits, anonymous_requests_per_ip_per_minute)),
  number_row("rate_limits.joins_per_ip_per_minute", count, "30", 0, 100'000'000,
             "Joins of standalone queues from one client address with a publishable key; 0 is no limit.",
             FQ_FIELD(rate_limits, joins_per_ip_per_minute)),
  number_row("rate_limits.access_per_session_per_minute", count, "600", 0, 100'000'000,
             "GET /access with one session token, unless a server key comes along; 0 is no limit.",
             FQ_FIELD(rate_limits, access_per_session_per_minute)),
  number_row("rate_limits.access_per_key_per_minute", count, "60000", 0, 100'000'000,
             "GET /access with one server key; 0 is no limit.",
             FQ_FIELD(rate_limits, access_per_key_per_minute)),
  number_row("rate_limits.access_failures_per_ip_per_minute", count, "1000", 0, 100'000'000,
             "What is no session token, or no API key, from one client address; 0 is no limit.",
             FQ_FIELD(rate_limits, access_failures_per_ip_per_minute)),

  needed(
    choice_row("mail.mode", "file", "file|smtp|nats",
               "How mail leaves: as files in <data_dir>/mail for a mail server or a person to pick up, by "
               "SMTP, or as messages to a "
               "mailer service by way of NATS JetStream.",
               FQ_FIELD(mail, mode))),
  text_row("mail.sender", mail_address, "no-reply@fairqueue.local", "From address of all mail.",
           FQ_FIELD(mail, sender)),
  number_row("mail.per_second", count, "0", 0, 100'000,
             "Mails that one node hands over a second on average, below what the mail service allows; 0 is "
             "no limit. Sign-in codes do not wait for it.",
             FQ_FIELD(mail, per_second)),
  text_row("mail.sender_name", optional_text, "", "Name beside the from address.",
           FQ_FIELD(mail, sender_name)),
  needed(
    text_row("mail.smtp_url", smtp_url, "",
             "Mail server as smtp://host:587 (with STARTTLS, always) or smtps://host:465; a path is the name "
             "we greet it with.",
             FQ_FIELD(mail, smtp_url))),
  text_row("mail.smtp_user", optional_text, "", "Login at the mail server; empty is none.",
           FQ_FIELD(mail, smtp_user)),
  secret(text_row("mail.smtp_password", password, "", "Password at the mail server.",
                  FQ_FIELD(mail, smtp_password))),
  text_row("mail.smtp_ca_file", optional_path, "",
           "Certificates (PEM) that the mail server is checked by; empty is the system's.",
           FQ_FIELD(mail, smtp_ca_file)),
  text_row("mail.smtp_insecure", boolean, "false", "Speak to a mail server on this machine without STARTTLS.",
           FQ_FIELD(mail, smtp_insecure)),
  text_row("mail.nats_stream", nats_name, "mail",
           "JetStream that takes mail; made if there is none (72h in files, 1h without duplicates), else "
           "left as it is.",
           FQ_FIELD(mail, nats_stream)),
  text_row("mail.nats_subject", nats_subject, "mail.send",
           "Subject of mail messages; a stream that is made here takes all subjects below its first word.",
           FQ_FIELD(mail, nats_subject)),

  text_row("pages.branding", optional_path, "",
           "TOML file with a table for each tenant: how its pages look (name, colour, logo_url, home_url, "
           "return_url, note); empty is none.",
           FQ_FIELD(pages, branding)),
  text_row(
    "pages.root", page_address, "/shop",
    "Page to which / sends browsers, as a path of this server or an address; a demo shows a page of its "
    "own instead.",
    FQ_FIELD(pages, root)),

  secret(
    text_row("nats.url", nats_url, "",
             "NATS servers as nats://user:password@host:4222 or tls://…, several with commas; empty is none.",
             FQ_FIELD(nats, url))),
  text_row("nats.credentials_file", optional_path, "",
           "File with the JWT and seed that log us in; empty is none.", FQ_FIELD(nats, credentials_file)),
  text_row("nats.ca_file", optional_path, "",
           "Certificates (PEM) that NATS servers are checked by; one makes TLS a must.",
           FQ_FIELD(nats, ca_file)),

  secret(text_row("bus.url", nats_url, "",
                  "NATS servers that domain events are published to, in the form of nats.url (and perhaps "
                  "the same); credentials_file and ca_file of nats hold here too. "
                  "Empty is no bus. What is told, and how: docs/events.md.",
                  FQ_FIELD(bus, url))),
  text_row("bus.stream", nats_name, "fairqueue",
           "JetStream that takes domain events; made if there is none (72h in files, 1h without duplicates), "
           "else left as it is.",
           FQ_FIELD(bus, stream)),
  text_row("bus.prefix", nats_subject, "fairqueue",
           "What the subjects of domain events begin with: fairqueue.order.completed.",
           FQ_FIELD(bus, prefix)),
  text_row("bus.source", text, "/fairqueue",
           "Source of the CloudEvents, a URI reference: tells installations on one bus apart.",
           FQ_FIELD(bus, source)),
  text_row("bus.payments_subject", optional_nats_subject, "",
           "Subject, like stripe.backend, where a router publishes Stripe's webhooks (raw body, header "
           "Stripe-Signature); empty takes none.",
           FQ_FIELD(bus, payments_subject)),
  text_row("bus.payments_stream", nats_name, "stripe",
           "JetStream that has that subject; made with it if there is none.", FQ_FIELD(bus, payments_stream)),

  number_row("loyalty.points_per_unit", count, "0", 0, 1'000'000,
             "Points told as loyalty.awarded for each whole unit of currency (not its hundredth) of a paid "
             "order; 0 is none.",
             FQ_FIELD(loyalty, points_per_unit)),

  text_row("gateway.sandbox", boolean, "false",
           "Offer the built-in payment gateway that moves no money (`serve --demo` does); refused in "
           "production and beside a real gateway.",
           FQ_FIELD(gateway, sandbox)),
  number_row("gateway.call_timeout", duration, "20s", 100 * ms, minute,
             "For Paystack or Stripe to answer one call.", FQ_FIELD(gateway, call_timeout)),

  secret(text_row("paystack.secret_keys", password, "",
                  "Secret keys (sk_…), with commas between: the first makes calls, all sign webhooks; empty "
                  "is no Paystack.",
                  FQ_FIELD(paystack, secret_keys))),
  text_row("paystack.fallback_email", optional_text, "",
           "Address that Paystack is given for customers who left none.", FQ_FIELD(paystack, fallback_email)),
  text_row("paystack.url", url, "https://api.paystack.co", "Paystack's API.", FQ_FIELD(paystack, url)),

  secret(text_row("stripe.secret_key", password, "", "Secret key (sk_… or rk_…); empty is no Stripe.",
                  FQ_FIELD(stripe, secret_key))),
  secret(text_row("stripe.webhook_secrets", password, "",
                  "Signing secrets (whsec_…) of the webhook endpoint, with commas between.",
                  FQ_FIELD(stripe, webhook_secrets))),
  text_row("stripe.automatic_tax", boolean, "false",
           "Let Stripe add tax to the prices; needs Stripe Tax to be set up.",
           FQ_FIELD(stripe, automatic_tax)),
  text_row("stripe.url", url, "https://api.stripe.com", "Stripe's API.", FQ_FIELD(stripe, url)),

  text_row("push.fcm_service_account", optional_path, "",
           "Key of a Google service account (the JSON file of the Firebase console), for devices that "
           "registered with FCM; empty is no FCM.",
           FQ_FIELD(push, fcm_service_account)),
  text_row("push.apns_team_id", optional_text, "",
           "Apple's id of the team (10 characters), for devices that registered with APNs; empty is no APNs.",
           FQ_FIELD(push, apns_team_id)),
  text_row("push.apns_key_id", optional_text, "", "Apple's id of push.apns_key (10 characters).",
           FQ_FIELD(push, apns_key_id)),
  text_row("push.apns_key", optional_path, "", "The private key for APNs (the .p8 file).",
           FQ_FIELD(push, apns_key)),
  text_row("push.apns_topic", optional_text, "", "The app's bundle id, like com.example.tickets.",
           FQ_FIELD(push, apns_topic)),
  text_row("push.ntfy_url", url, "",
           "Server of ntfy that pushes are mirrored to while an app is developed; refused in production, "
           "empty is none.",
           FQ_FIELD(push, ntfy_url)),
  text_row("push.connect_to", optional_text, "",
           "HOST:PORT:ADDRESS:PORT, several with commas: pushes for the first go to the second, which needs "
           "the first one's certificate; for tests, "
           "refused in production.",
           FQ_FIELD(push, connect_to)),
  text_row("push.ca_file", optional_path, "",
           "Certificates (PEM) that FCM, APNs and ntfy are checked by; empty is the system's.",
           FQ_FIELD(push, ca_file)),

  text_row("webhooks.ports", text, "443,8443",
           "Ports that urls of webhooks may name, with commas between; a url without one has 443.",
           FQ_FIELD(webhooks, ports)),
  // A delivery must start within the first half of its visibility timeout of 60 s (courier_services::hold).
  // So an attempt of up to 25 s has ended and is stored before another courier can take it.
  number_row("webhooks.timeout", duration, "15s", 100 * ms, 25 * second,
             "For the receiver of a webhook to answer one try.", FQ_FIELD(webhooks, timeout)),
  text_row("webhooks.allow_private", boolean, "false",
           "Send webhooks to this machine and private networks too, for development and tests; refused in "
           "production.",
           FQ_FIELD(webhooks, allow_private)),
  text_row("webhooks.allow_http", boolean, "false",
           "Send webhooks without TLS too; needs webhooks.allow_private.", FQ_FIELD(webhooks, allow_http)),

  text_row("tracing.url", url, "",
           "Collector that spans are sent to, as OTLP over HTTP with JSON, for example "
           "http://127.0.0.1:4318/v1/traces; empty keeps none.",
           FQ_FIELD(tracing, url)),
  secret(text_row("tracing.authorization", password, "",
                  "Sent to the collector as Authorization; empty is none.",
                  FQ_FIELD(tracing, authorization))),
  number_row("tracing.sample_per_mille", count, "0", 0, 1'000,
             "Of a thousand requests without a traceparent, how many begin a trace; those with one go by its "
             "sampled flag.",
             FQ_FIELD(tracing, sample_per_mille)),

  needed(choice_row("log.level", "info", "trace|debug|info|warn|error",
                    "The least severe line that is written.", FQ_FIELD(log, level))),

  number_row("shutdown.delay", duration, "0s", 0, 10 * minute,
             "Time between reporting not ready and closing the listener, for load balancers to notice.",
             FQ_FIELD(shutdown, delay)),
  number_row("shutdown.drain_timeout", duration, "20s", 0, hour,
             "For requests and sockets to finish before they are cut.", FQ_FIELD(shutdown, drain_timeout)),

  number_row("caf.threads", count, "1", 1, 64, "Worker threads of the actor scheduler.",
             FQ_FIELD(caf, threads)),
  number_row("io.threads", count, "1", 1, 64, "Threads that serve connections.", FQ_FIELD(io, threads)),
});

#undef FQ_FIELD

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
