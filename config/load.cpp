// SPDX-License-Identifier: Apache-2.0
// Merges the sources, derives values, and checks combinations of options.
#include "config/load.hpp"

#include "config/table.hpp"
#include "config/toml_source.hpp"
#include "config/urls.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

namespace fq::config {
namespace {

constexpr std::string_view environment_prefix = "FAIRQUEUE_";
constexpr std::string_view config_variable = "FAIRQUEUE_CONFIG";
constexpr std::string_view file_suffix = "_file";

/// Variables that are not options: they control tests, and servers started by tests inherit them.
bool is_reserved(std::string_view variable) {
  return variable == config_variable || variable == "FAIRQUEUE_LONG"
         || variable.starts_with("FAIRQUEUE_TEST_") || variable.starts_with("FAIRQUEUE_SIM_");
}

/// A given value; the option may not exist.
struct candidate {
  std::string option;
  std::string text;
  std::string origin;
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string unknown_option(std::string_view name) {
  for (const auto& r : removed_options())
    if (r.name == name) return std::string{"is not an option any more: "}.append(r.instead);
  const auto rows = option_table();
  const auto nearest = std::min_element(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return edit_distance(a.name, name) < edit_distance(b.name, name);
  });
  if (edit_distance(nearest->name, name) > limits::typing_errors_max) return "is not an option";
  return std::string{"is not an option; did you mean "}.append(nearest->name).append("?");
}

/// Merges candidates into options, source by source, weakest first.
class merger {
public:
  explicit merger(loaded& result) : result_{result} {
    for (const auto& row : option_table()) {
      result_.origins[std::string{row.name}] = "default";
      if (row.derived) continue;
      complain(row.name, "default", assign(row, row.default_text, result_.values));
    }
  }

  void take(const std::vector<candidate>& source) {
    for (const auto& c : source) {
      if (const auto* row = find_option(c.option))
        take_value(*row, c);
      else if (const auto* secret = secret_of(c.option))
        take_file(*secret, c, source);
      else
        complain(c.option, c.origin, unknown_option(c.option));
    }
  }

private:
  void complain(std::string_view option, const std::string& origin, std::string what) {
    if (!what.empty()) result_.problems.push_back({std::string{option}, origin, std::move(what)});
  }

  static const option_row* secret_of(std::string_view name) {
    if (!name.ends_with(file_suffix)) return nullptr;
    const auto* row = find_option(name.substr(0, name.size() - file_suffix.size()));
    return row != nullptr && row->secret ? row : nullptr;
  }

  void take_value(const option_row& row, const candidate& c) {
    auto wrong = assign(row, c.text, result_.values);
    if (wrong.empty()) result_.origins[std::string{row.name}] = c.origin;
    complain(row.name, c.origin, std::move(wrong));
  }

  void take_file(const option_row& row, const candidate& c, const std::vector<candidate>& source) {
    const bool twice =
      std::any_of(source.begin(), source.end(), [&](const auto& o) { return o.option == row.name; });
    if (twice) return complain(row.name, c.origin, "is given both itself and as a file; keep one");
    const auto text = read_secret(c.text);
    if (!text) return complain(row.name, c.origin, "cannot read " + c.text);
    take_value(row, {std::string{row.name}, *text, c.origin});
  }

  static std::optional<std::string> read_secret(const std::string& file) {
    std::ifstream in{file, std::ios::binary};
    std::string text(limits::secret_file_bytes_max, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!in.eof()) return std::nullopt;
    text.resize(static_cast<std::size_t>(in.gcount()));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
  }

  loaded& result_;
};

std::vector<candidate> candidates(const flags& from) {
  std::vector<candidate> out;
  for (const auto& [name, text] : from.values) out.push_back({name, text, "flag --" + name});
  return out;
}

/// "FAIRQUEUE_HTTP_LISTEN" -> "http.listen"; an unknown name is returned unchanged, for the message.
std::string option_of_variable(const std::string& variable) {
  for (const auto& row : option_table()) {
    const auto name = environment_name(row.name);
    if (name == variable) return std::string{row.name};
    if (row.secret && name + "_FILE" == variable) return std::string{row.name}.append(file_suffix);
  }
  for (const auto& removed : removed_options())
    if (environment_name(removed.name) == variable) return std::string{removed.name};
  return variable;
}

std::vector<candidate> candidates(const environment_variables& from) {
  std::vector<candidate> out;
  for (const auto& [name, text] : from)
    if (name.starts_with(environment_prefix) && !is_reserved(name))
      out.push_back({option_of_variable(name), text, "environment " + name});
  return out;
}

std::vector<candidate> candidates(const std::string& file, std::vector<problem>& problems) {
  std::vector<candidate> out;
  for (auto& entry : read_toml(file, problems))
    out.push_back(
      {std::move(entry.key), std::move(entry.text), "file " + file + " line " + std::to_string(entry.line)});
  return out;
}

std::string config_file(const flags& from_flags, const environment_variables& from_environment) {
  if (!from_flags.config_file.empty()) return from_flags.config_file;
  const auto variable = from_environment.find(std::string{config_variable});
  return variable == from_environment.end() ? std::string{} : variable->second;
}

bool is_default(const loaded& config, const char* option) { return config.origins.at(option) == "default"; }

void derive(loaded& config) {
  auto& o = config.values;
  if (is_default(config, "ledger.url")) o.ledger.url = "sqlite:" + (o.data_dir / "ledger.db").string();
  if (is_default(config, "http.public_url")) {
    const auto encrypted = parse_endpoint(o.tls.listen);
    const bool is_reached = encrypted && encrypted->port != 0; // port 0 cannot be used in a link
    o.http.public_url =
      is_reached ? "https://" + to_string(reachable(*encrypted)) + o.http.base_path : o.http.local_url();
  }
  const auto half_of_cores =
    std::clamp<std::int64_t>(std::thread::hardware_concurrency() / 2, 1, limits::threads_max);
  if (is_default(config, "caf.threads")) o.caf.threads = half_of_cores;
  if (is_default(config, "io.threads")) o.io.threads = half_of_cores;
  o.rate_limits.sandbox_requests_per_ip_per_minute =
    limits::sandbox_requests_per_anonymous_request * o.rate_limits.anonymous_requests_per_ip_per_minute;
  o.pages.brands = read_branding(o.pages.branding.string(), config.problems);
}

/// Checks that concern the configuration as a whole.
class checker {
public:
  explicit checker(loaded& config) : config_{config}, o_{config.values} {}

  void check_relations() {
    require(o_.queue.claim_window + o_.claims.ttl <= o_.queue.session_ttl, "claims.ttl",
            "queue.claim_window + claims.ttl must be at most queue.session_ttl (one clock for session and "
            "claim): "
              + duration_text(o_.queue.claim_window) + " + " + duration_text(o_.claims.ttl) + " > "
              + duration_text(o_.queue.session_ttl));
    require(o_.payments.retry_base <= o_.payments.retry_cap, "payments.retry_base",
            "must be at most payments.retry_cap");
    require(o_.http.listen.port == 0 || o_.http.listen != o_.http.admin_listen, "http.admin_listen",
            "must differ from http.listen");
    require(o_.retention.entries <= o_.retention.log, "retention.log", "must be at least retention.entries");
    require(o_.retention.memory <= o_.retention.entries, "retention.entries",
            "must be at least retention.memory");
    check_tls();
    check_mail();
    check_bus();
    check_money();
    check_challenges();
    check_push();
    check_webhooks();
    check_witness();
    check_draw();
    check_cluster();
    const auto& origins = o_.http.allowed_origins;
    const bool every = std::find(origins.begin(), origins.end(), "*") != origins.end();
    require(!every || origins.size() == 1, "http.allowed_origins", "\"*\" must stand alone");
  }

  void check_tls() {
    const auto& t = o_.tls;
    if (!t.is_on()) return;
    const auto listen = parse_endpoint(t.listen);
    require(listen.has_value(), "tls.listen", "must be address:port, like 0.0.0.0:443 or [::]:443");
    require(!listen || listen->port == 0 || (*listen != o_.http.listen && *listen != o_.http.admin_listen),
            "tls.listen", "must differ from http.listen and http.admin_listen");
    require(!t.certificate.empty(), "tls.certificate", "is needed with tls.listen");
    require(!t.key.empty(), "tls.key", "is needed with tls.listen");
  }

  void check_mail() {
    const auto& m = o_.mail;
    require(m.mode != "smtp" || !m.smtp_url.empty(), "mail.smtp_url", "is needed when mail.mode is smtp");
    require(m.mode != "nats" || !o_.nats.url.empty(), "nats.url", "is needed when mail.mode is nats");
    require(m.smtp_user.empty() == m.smtp_password.empty(), "mail.smtp_password",
            "and mail.smtp_user need each other");
    require(!m.smtp_insecure || m.smtp_is_local(), "mail.smtp_insecure",
            "needs mail.smtp_url to be smtp:// on this machine (127.0.0.1, [::1] or localhost): everybody on "
            "the way could read the mail");
  }

  void check_bus() {
    const auto& b = o_.bus;
    require(b.payments_subject.empty() || !b.url.empty(), "bus.payments_subject", "needs bus.url");
    require(b.payments_subject.empty() || !o_.stripe.secret_key.empty(), "bus.payments_subject",
            "needs stripe.secret_key");
    require(!b.source.empty() && b.source.size() <= 200
              && std::ranges::all_of(b.source,
                                     [](char c) { return c > 0x20 && c < 0x7f && c != '"' && c != '\\'; }),
            "bus.source", "must be a URI reference, like /fairqueue or https://tickets.example");
    require(b.prefix.size() <= 100, "bus.prefix", "must have at most 100 characters");
    // Two streams cannot share a subject: the bus would receive the payment events, or the payment stream
    // the domain events.
    require(!b.payments_subject.starts_with(b.prefix + "."), "bus.payments_subject",
            "must not begin with bus.prefix");
    require(b.payments_subject.empty() || b.payments_stream != b.stream, "bus.payments_stream",
            "must differ from bus.stream");
  }

  void check_money() {
    require(!o_.gateway.sandbox || (o_.stripe.secret_key.empty() && o_.paystack.secret_keys.empty()),
            "gateway.sandbox",
            "must be off beside stripe.secret_key or paystack.secret_keys: every fan could choose it and pay "
            "nothing");
    require(o_.checkout.parsed_fees().has_value(), "checkout.fees",
            "must be like *:150:290:30 or EUR:150:290:30, NGN:10000:150:0");
    const auto& wanted = o_.payments.gateway;
    const bool offered = wanted == "sandbox"    ? o_.gateway.sandbox
                         : wanted == "paystack" ? !o_.paystack.secret_keys.empty()
                                                : !o_.stripe.secret_key.empty();
    require(offered || wanted == "sandbox", "payments.gateway", "is " + wanted + ", which has no secret key");
    require(o_.stripe.secret_key.empty() || !o_.stripe.webhook_secrets.empty(), "stripe.webhook_secrets",
            "is needed with stripe.secret_key: without it nobody tells us of payments");
  }

  void check_challenges() {
    const auto& c = o_.challenges;
    const auto check = [this](const char* kind, const char* option, bool has_key, bool has_secret) {
      require(has_key == has_secret, option, "and the site key need each other");
      require(o_.otp.challenge != kind || has_secret, "otp.challenge", "needs its secret key");
    };
    check("turnstile", "challenges.turnstile_secret", !c.turnstile_site_key.empty(),
          !c.turnstile_secret.empty());
    check("hcaptcha", "challenges.hcaptcha_secret", !c.hcaptcha_site_key.empty(), !c.hcaptcha_secret.empty());
  }

  void check_push() {
    const auto& p = o_.push;
    const bool wants_apns =
      !p.apns_team_id.empty() || !p.apns_key_id.empty() || p.apns_is_on() || !p.apns_topic.empty();
    const std::string because = "is needed with the other options of push.apns_*";
    require(!wants_apns || !p.apns_team_id.empty(), "push.apns_team_id", because);
    require(!wants_apns || !p.apns_key_id.empty(), "push.apns_key_id", because);
    require(!wants_apns || p.apns_is_on(), "push.apns_key", because);
    require(!wants_apns || !p.apns_topic.empty(), "push.apns_topic", because);
    require(p.apns_team_id.empty() || is_apple_id(p.apns_team_id), "push.apns_team_id",
            "must be 10 capital letters and digits");
    require(p.apns_key_id.empty() || is_apple_id(p.apns_key_id), "push.apns_key_id",
            "must be 10 capital letters and digits");
    for (const auto& way : split_list(p.connect_to))
      require(is_connect_to(way), "push.connect_to", "must be like fcm.googleapis.com:443:127.0.0.1:8443");
  }

  void check_webhooks() {
    const auto& w = o_.webhooks;
    require(w.parsed_ports().has_value(), "webhooks.ports", "must be like 443 or 443,8443: 1 to 16 ports");
    require(!w.allow_http || w.allow_private, "webhooks.allow_http",
            "needs webhooks.allow_private: outside this network everybody on the way could read and change "
            "webhooks");
  }

  void check_witness() {
    const auto logs = split_list(o_.witness.logs);
    require(logs.size() <= limits::witness_logs_max && std::ranges::all_of(logs, is_verifier_key),
            "witness.logs",
            "must be verifier keys, like tickets.example/events/<id>/log+ab12cd34+AYqI…: 100 at most");
    const auto witnesses = o_.witness.parsed_urls();
    require(witnesses.has_value(), "witness.urls",
            "must be like https://other.example/witness other.example/witness+ab12cd34+BAbc…: 8 at most");
    const bool all_tls = std::ranges::all_of(witnesses.value_or(std::vector<witness_address>{}),
                                             [](const auto& w) { return w.url.starts_with("https://"); });
    require(all_tls || o_.environment != environment_kind::production, "witness.urls",
            "not in production: must be https:// addresses");
  }

  void check_draw() {
    const auto sources = split_list(o_.draw.beacon_url);
    require(!sources.empty() && sources.size() <= limits::beacon_sources_max
              && std::ranges::all_of(sources, is_web_url),
            "draw.beacon_url", "must be like https://api.drand.sh: 1 to 4, without a slash at the end");
  }

  void check_cluster() {
    const auto& c = o_.cluster;
    if (!c.is_on()) return;
    const auto listen = parse_endpoint(c.listen);
    require(listen && listen->port != 0, "cluster.listen", "must be address:port");
    require(is_host_and_port(c.address()), "cluster.advertise", "must be host:port");
    require(o_.ledger.is_postgres(), "cluster.listen",
            "needs a ledger that nodes share: ledger.url must be postgres://…");
    const bool has_certificate = !c.certificate.empty() && !c.key.empty() && !c.ca.empty();
    require(has_certificate || c.insecure, "cluster.certificate",
            "is needed with cluster.key and cluster.ca (`fairqueue cluster init-ca` and `issue-cert` make "
            "them): nodes trust whoever connects");
    const auto advertised = parse_endpoint(c.address());
    const bool is_local = listen && is_loopback(*listen) && advertised && is_loopback(*advertised);
    require(!c.insecure || is_local, "cluster.insecure",
            "needs cluster.listen and cluster.advertise to be on this machine (127.0.0.1 or [::1])");
  }

  void check_production() {
    if (o_.environment != environment_kind::production) return;
    const std::string because = "not in production: ";
    require(!o_.gateway.sandbox, "gateway.sandbox", because + "anybody could \"pay\" without money");
    require(o_.push.ntfy_url.empty(), "push.ntfy_url",
            because + "whoever knows a topic reads what is sent there");
    require(o_.push.connect_to.empty(), "push.connect_to", because + "pushes would not go where they should");
    require(!o_.webhooks.allow_private, "webhooks.allow_private",
            because + "organizers could make us call our own network");
    require(o_.ledger.url != "memory:", "ledger.url",
            because + "memory: loses every sale when the process ends");
    require(o_.http.public_url.starts_with("https://"), "http.public_url",
            because + "must be an https:// address, since tokens travel over it");
    const auto& origins = o_.http.allowed_origins;
    require(std::find(origins.begin(), origins.end(), "*") == origins.end(), "http.allowed_origins",
            because + "\"*\" lets every web site act for a fan");
    const auto& proxies = o_.http.trusted_proxies;
    const bool everybody = std::any_of(proxies.begin(), proxies.end(), [](const auto& b) {
      return b.prefix_bits == 0 || to_string(b).ends_with("/0");
    });
    require(!everybody, "http.trusted_proxies", because + "a /0 block lets every client forge its address");
  }

private:
  static bool is_apple_id(std::string_view text) {
    return text.size() == 10 && std::all_of(text.begin(), text.end(), [](char c) {
             return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
           });
  }
  /// Whether the text is host:port twice; curl's shortened forms are refused.
  static bool is_connect_to(std::string_view text) {
    const auto middle = text.find(':', std::min(text.find(':'), text.size() - 1) + 1);
    return middle != std::string_view::npos && is_host_and_port(text.substr(0, middle))
           && is_host_and_port(text.substr(middle + 1));
  }
  void require(bool ok, const char* option, std::string otherwise) {
    if (!ok) config_.problems.push_back({option, config_.origins.at(option), std::move(otherwise)});
  }

  loaded& config_;
  const options& o_;
};

} // namespace

std::string http_options::local_url() const { return "http://" + to_string(reachable(listen)) + base_path; }

std::filesystem::path ledger_options::sqlite_path() const {
  constexpr std::string_view scheme = "sqlite:";
  return url.starts_with(scheme) ? std::filesystem::path{url.substr(scheme.size())} : std::filesystem::path{};
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

std::optional<std::map<std::string, fee_option>> checkout_options::parsed_fees() const {
  std::map<std::string, fee_option> result;
  for (const auto& one : split_list(fees)) {
    const auto colon = one.find(':');
    const auto currency = one.substr(0, colon);
    const bool is_currency =
      currency == "*" || (currency.size() == 3 && std::all_of(currency.begin(), currency.end(), [](char c) {
                            return c >= 'A' && c <= 'Z';
                          }));
    std::array<std::int64_t, 3> numbers{};
    auto rest = colon == std::string::npos ? std::string_view{} : std::string_view{one}.substr(colon + 1);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), numbers[i]);
      const bool ends_well = i + 1 == numbers.size() ? at == rest.data() + rest.size()
                                                     : at != rest.data() + rest.size() && *at == ':';
      if (error != std::errc{} || !ends_well || numbers[i] < 0
          || numbers[i] > (i == 1 ? limits::basis_points_max : limits::fee_amount_max))
        return std::nullopt;
      rest.remove_prefix(std::min(static_cast<std::size_t>(at - rest.data()) + 1, rest.size()));
    }
    if (!is_currency || !result.emplace(currency, fee_option{numbers[0], numbers[1], numbers[2]}).second)
      return std::nullopt;
  }
  if (result.empty()) return std::nullopt;
  return result;
}

std::optional<std::vector<std::uint16_t>> webhooks_options::parsed_ports() const {
  std::vector<std::uint16_t> numbers;
  for (const auto& one : split_list(ports)) {
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    if (error != std::errc{} || end != one.data() + one.size() || number == 0) return std::nullopt;
    numbers.push_back(number);
  }
  if (numbers.empty() || numbers.size() > limits::webhook_ports_max) return std::nullopt;
  return numbers;
}

bool ledger_options::is_postgres() const {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

bool mail_options::smtp_is_local() const {
  return smtp_url.starts_with("smtp://") && names_this_machine(smtp_url);
}

environment_variables environment_of(const char* const* variables) {
  environment_variables out;
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view variable{*variables};
    const auto equals = variable.find('=');
    if (variable.starts_with(environment_prefix) && equals != std::string_view::npos)
      out.emplace(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return out;
}

loaded load(const flags& from_flags, const environment_variables& from_environment) {
  loaded result;
  merger merge{result};
  if (const auto file = config_file(from_flags, from_environment); !file.empty())
    merge.take(candidates(file, result.problems));
  merge.take(candidates(from_environment));
  merge.take(candidates(from_flags));
  derive(result);
  checker check{result};
  check.check_relations();
  check.check_production();
  return result;
}

options default_options() { return load({}, {}).values; }

std::string describe(const std::vector<problem>& problems) {
  std::string text;
  for (const auto& p : problems) {
    text.append("config: ");
    if (!p.option.empty()) text.append(p.option).append(" ");
    text.append(p.text).append(" (").append(p.origin).append(")\n");
  }
  return text;
}

} // namespace fq::config
