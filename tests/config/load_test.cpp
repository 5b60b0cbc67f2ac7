// SPDX-License-Identifier: Apache-2.0
// Sources, precedence, refusals (all at once) and what is printed.
#define CAF_SUITE config_load
#include "caf/test/unit_test.hpp"

#include "config/load.hpp"
#include "config/table.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace fq::config;

namespace {

struct fixture {
  std::filesystem::path folder;

  fixture() {
    std::string name = (std::filesystem::temp_directory_path() / "fairqueue-config-XXXXXX").string();
    CAF_REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
  }
  ~fixture() { std::filesystem::remove_all(folder); }

  std::string write(const char* name, const std::string& text) const {
    const auto file = (folder / name).string();
    std::ofstream{file} << text;
    return file;
  }
  loaded with_file(const std::string& toml, const environment_variables& env = {},
                   std::map<std::string, std::string> given = {}) const {
    return load({write("c.toml", toml), std::move(given)}, env);
  }
  static loaded with_flags(std::map<std::string, std::string> given) {
    return load({"", std::move(given)}, {});
  }
};

bool complains(const loaded& config, const std::string& option, const std::string& part) {
  for (const auto& p : config.problems)
    if (p.option == option && p.text.find(part) != std::string::npos) return true;
  return false;
}

flags parse(std::vector<const char*> arguments) {
  CLI::App app;
  auto* serve = app.add_subcommand("serve");
  flags out;
  add_options(*serve, out);
  arguments.insert(arguments.begin(), {"fairqueue", "serve"});
  app.parse(static_cast<int>(arguments.size()), arguments.data());
  return out;
}

const std::map<std::string, std::string> sound_production{{"environment", "production"},
                                                          {"http.public_url", "https://tickets.example.com"}};

} // namespace

CAF_TEST_FIXTURE_SCOPE(load_tests, fixture)

CAF_TEST(tenants looks are read from a file of their own and what is wrong in it is told) {
  const auto with = [&](const std::string& text) {
    return with_flags({{"pages.branding", write("looks.toml", text)}});
  };
  const auto good = with("[default]\nname = \"Aurora\"\ncolour = \"#2c1d6B\"\n[stadium]\nlogo_url = "
                         "\"data:image/png;base64,AAA=\"\nreturn_url = \"https://s.example/enter\"\n");
  CAF_CHECK_EQUAL(describe(good.problems), "");
  CAF_CHECK_EQUAL(good.values.pages.brands.at("default").name, "Aurora");
  CAF_CHECK_EQUAL(good.values.pages.brands.at("stadium").return_url, "https://s.example/enter");
  CAF_CHECK(with_flags({}).values.pages.brands.empty());
  // Nothing may end an attribute, a style or a source of the pages' policy.
  for (const auto* line :
       {"colour = \"red\"", "colour = \"#12345\"", "colour = \"#12345g\"", "logo_url = \"javascript:x\"",
        "logo_url = \"https://a.example/x;script-src\"", "logo_url = \"data:text/html;base64,AAAA\"",
        "home_url = \"https://a.example/\\\"x\"", "return_url = \"//a.example\"",
        "return_url = \"https://u@a.example\"", "name = \"a\\nb\"", "color = \"#2c1d6b\""})
    CAF_CHECK(complains(with(std::string{"[default]\n"} + line + "\n"), "pages.branding", "default."));
  CAF_CHECK(complains(with("name = \"no tenant\"\n"), "pages.branding", "no member"));
  CAF_CHECK(complains(with_flags({{"pages.branding", "/nowhere.toml"}}), "pages.branding", "cannot be read"));
}

CAF_TEST(the page of the root is a path of this server or an address) {
  CAF_CHECK_EQUAL(with_flags({}).values.pages.root, "/shop");
  for (const auto* good : {"/wait/x?reason=y", "https://www.example.com", "http://127.0.0.1:8080/a?b=c"})
    CAF_CHECK_EQUAL(with_flags({{"pages.root", good}}).values.pages.root, good);
  for (const auto* bad : {"", "/", "shop", "//evil.example", "https://", "https:///x", "javascript:x", "/a b",
                          "/a\r\nX: y", "https://u@a.example/"})
    CAF_CHECK(complains(with_flags({{"pages.root", bad}}), "pages.root", "must be like"));
}

CAF_TEST(with nothing configured the defaults of the design hold) {
  const auto config = load({}, {});
  CAF_CHECK_EQUAL(describe(config.problems), "");
  const auto& o = config.values;
  CAF_CHECK_EQUAL(to_string(o.http.listen), "127.0.0.1:8080");
  CAF_CHECK_EQUAL(o.http.public_url, "http://127.0.0.1:8080");
  CAF_CHECK_EQUAL(o.ledger.url, "sqlite:./fairqueue-data/ledger.db");
  CAF_CHECK(o.queue.session_ttl == std::chrono::minutes{20});
  CAF_CHECK(o.queue.claim_window == std::chrono::minutes{5});
  CAF_CHECK(o.claims.ttl == std::chrono::minutes{10});
  CAF_CHECK_EQUAL(o.queue.batch_size, 50);
  CAF_CHECK(o.tokens.ttl == std::chrono::hours{24});
  CAF_CHECK(!o.gateway.sandbox);
  CAF_CHECK(o.http.allowed_origins.empty());
  CAF_CHECK_EQUAL(o.ledger.workers, 2);
  CAF_CHECK_EQUAL(o.ledger.readers, 2);
  CAF_CHECK(o.ledger.lease == std::chrono::seconds{10});
  CAF_CHECK(!o.ledger.is_postgres());
  CAF_CHECK_EQUAL(o.cache.url, "");
}

CAF_TEST(flags win over the environment over the file over the default) {
  const std::string toml = "[queue]\nbatch_size = 10\nsession_ttl = \"30m\"\n[io]\nthreads = 2\n";
  const auto config = with_file(toml, {{"FAIRQUEUE_QUEUE_BATCH_SIZE", "20"}, {"FAIRQUEUE_IO_THREADS", "3"}},
                                {{"queue.batch_size", "30"}});
  CAF_CHECK_EQUAL(describe(config.problems), "");
  CAF_CHECK_EQUAL(config.values.queue.batch_size, 30);
  CAF_CHECK_EQUAL(config.values.io.threads, 3);
  CAF_CHECK(config.values.queue.session_ttl == std::chrono::minutes{30});
  CAF_CHECK_EQUAL(config.values.caf.threads, std::max(std::thread::hardware_concurrency() / 2, 1u));
  CAF_CHECK_EQUAL(config.origins.at("queue.batch_size"), "flag --queue.batch_size");
  CAF_CHECK_EQUAL(config.origins.at("io.threads"), "environment FAIRQUEUE_IO_THREADS");
  CAF_CHECK(config.origins.at("queue.session_ttl").ends_with("c.toml line 3"));
  CAF_CHECK_EQUAL(config.origins.at("caf.threads"), "default");
}

CAF_TEST(command line flags reach the options in both spellings) {
  const auto given =
    parse({"--http.listen", "0.0.0.0:9000", "--data-dir=/tmp/d", "--queue.claim_window", "5s"});
  CAF_CHECK_EQUAL(given.values.size(), 3u);
  const auto o = load(given, {}).values;
  CAF_CHECK_EQUAL(o.data_dir.string(), "/tmp/d");
  CAF_CHECK_EQUAL(o.ledger.sqlite_path().string(), "/tmp/d/ledger.db");
  CAF_CHECK_EQUAL(o.http.public_url, "http://127.0.0.1:9000");
  CAF_CHECK(o.queue.claim_window == std::chrono::seconds{5});
  CAF_CHECK_EQUAL(parse({"--data_dir", "x", "--config", "f"}).config_file, "f");
  bool refused = false;
  try {
    static_cast<void>(parse({"--http.listne", "x"}));
  } catch (const CLI::ParseError&) { refused = true; }
  CAF_CHECK(refused);
}

CAF_TEST(the file may be named by the environment) {
  const auto file = write("e.toml", "data_dir = \"/srv/fq\"\n");
  CAF_CHECK_EQUAL(load({}, {{"FAIRQUEUE_CONFIG", file}}).values.data_dir.string(), "/srv/fq");
}

CAF_TEST(unknown keys are errors with a suggestion in every source) {
  const auto config = with_file("[http]\nlistne = \"127.0.0.1:1\"\n[nothing]\nlike_it = 1\n",
                                {{"FAIRQUEUE_HTTP_LISTN", "x"}}, {{"queue.batchsize", "1"}});
  CAF_CHECK(complains(config, "http.listne", "did you mean http.listen?"));
  CAF_CHECK(complains(config, "nothing.like_it", "is not an option"));
  CAF_CHECK(complains(config, "FAIRQUEUE_HTTP_LISTN", "is not an option"));
  CAF_CHECK(complains(config, "queue.batchsize", "did you mean queue.batch_size?"));
  CAF_CHECK_EQUAL(config.problems.size(), 4u);
}

CAF_TEST(an option of an earlier release is refused in every source with what it became) {
  for (const auto& removed : removed_options()) {
    const std::string name{removed.name}, instead{removed.instead}, flag = "--" + name;
    const auto dot = name.find('.');
    CAF_CHECK(find_option(name) == nullptr);
    CAF_CHECK(complains(load(parse({flag.c_str(), "1"}), {}), name, instead));
    CAF_CHECK(complains(load({}, {{environment_name(name), "1"}}), name, instead));
    CAF_CHECK(complains(with_file("[" + name.substr(0, dot) + "]\n" + name.substr(dot + 1) + " = 1\n"), name,
                        "is not an option any more: " + instead));
  }
}

CAF_TEST(some values follow from an option) {
  const auto set = [](const char* option, const char* value) { return with_flags({{option, value}}).values; };
  CAF_CHECK(set("tokens.ttl", "2h").tokens.ttl == std::chrono::hours{2});
  CAF_CHECK_EQUAL(with_flags({}).values.rate_limits.sandbox_requests_per_ip_per_minute, 6000);
  CAF_CHECK_EQUAL(set("rate_limits.anonymous_requests_per_ip_per_minute", "0")
                    .rate_limits.sandbox_requests_per_ip_per_minute,
                  0);
}

CAF_TEST(help shows few options and help all shows every one in its group) {
  CLI::App app;
  shorten_help(app);
  flags given;
  auto* serve = app.add_subcommand("serve");
  auto* token = app.add_subcommand("token");
  add_options(*serve, given, help_length::server);
  add_options(*token, given);
  token->add_option("--kind");
  const auto serve_help = serve->help(), token_help = token->help();
  const auto all = serve->help("", CLI::AppFormatMode::All);
  std::size_t needed = 0;
  for (const auto& row : option_table()) {
    const auto flag = "--" + std::string{row.name} + (row.name.find('_') == row.name.npos ? " " : ",");
    const auto group = row.name.substr(0, row.name.find('.'));
    CAF_CHECK(all.find(flag) != std::string::npos);
    if (group.size() < row.name.size())
      CAF_CHECK(all.find("\n[" + std::string{group} + "]:\n") != std::string::npos);
    CAF_CHECK_EQUAL(serve_help.find(flag) != std::string::npos, row.needed);
    CAF_CHECK_EQUAL(token_help.find(flag) != std::string::npos, row.name == "data_dir");
    needed += row.needed ? 1 : 0;
  }
  CAF_CHECK_EQUAL(needed, 15u);
  CAF_CHECK(token_help.find("--kind") != std::string::npos);
  for (const auto& removed : removed_options())
    CAF_CHECK(all.find("--" + std::string{removed.name} + " ") == std::string::npos);
}

CAF_TEST(variables that steer tests are no options) {
  CAF_CHECK(load({}, {{"FAIRQUEUE_LONG", "1"}, {"FAIRQUEUE_TEST_BINARY", "x"}}).problems.empty());
}

CAF_TEST(all problems are reported at once with their origin) {
  const auto config =
    with_file("[http]\nlisten = \"nowhere\"\nbody_limit = \"1B\"\n[queue]\nsession_ttl = 20\n",
              {{"FAIRQUEUE_LOG_LEVEL", "loud"}}, {{"claims.ttl", "19m"}, {"ledger.url", "mysql://h/d"}});
  CAF_CHECK(complains(config, "http.listen", "numeric address"));
  CAF_CHECK(complains(config, "http.body_limit", "1KiB to 16MiB"));
  CAF_CHECK(complains(config, "queue.session_ttl", "time with a unit"));
  CAF_CHECK(complains(config, "log.level", "must be one of trace|debug|info|warn|error"));
  CAF_CHECK(complains(config, "claims.ttl", "5m + 19m > 20m"));
  CAF_CHECK(complains(config, "ledger.url", "unsupported scheme"));
  CAF_CHECK_EQUAL(config.problems.size(), 6u);
  CAF_CHECK(describe(config.problems).find("environment FAIRQUEUE_LOG_LEVEL") != std::string::npos);
}

CAF_TEST(a broken or absent file is a problem and not a crash) {
  CAF_CHECK_EQUAL(with_file("this is = = not toml").problems.size(), 1u);
  CAF_CHECK_EQUAL(with_file("a = 1\na = 2\n").problems.size(), 1u);
  CAF_CHECK_EQUAL(load({(folder / "absent.toml").string(), {}}, {}).problems.size(), 1u);
  CAF_CHECK_EQUAL(load({folder.string(), {}}, {}).problems.size(), 1u);
  const auto odd = with_file("[queue]\nbatch_size = 1.5\n[http]\nallowed_origins = [1]\n");
  CAF_CHECK(complains(odd, "queue.batch_size", "whole number"));
  CAF_CHECK(complains(odd, "http.allowed_origins", "list of strings"));
}

CAF_TEST(lists come from the file as lists) {
  const auto config = with_file("[http]\nallowed_origins = [\"https://a.example\", "
                                "\"https://b.example\"]\ntrusted_proxies = [\"10.0.0.0/8\"]\n");
  CAF_CHECK_EQUAL(describe(config.problems), "");
  CAF_CHECK_EQUAL(config.values.http.allowed_origins.size(), 2u);
  CAF_CHECK(config.values.http.trusted_proxies.at(0).contains(*parse_ip("10.1.1.1")));
}

CAF_TEST(a secret may come from a file but not twice from one source) {
  const auto secret = write("url", "sqlite:/srv/secret.db\n");
  CAF_CHECK_EQUAL(load({}, {{"FAIRQUEUE_LEDGER_URL_FILE", secret}}).values.ledger.url,
                  "sqlite:/srv/secret.db");
  CAF_CHECK_EQUAL(with_file("[ledger]\nurl_file = \"" + secret + "\"\n").values.ledger.url,
                  "sqlite:/srv/secret.db");
  CAF_CHECK_EQUAL(load(parse({"--ledger.url_file", secret.c_str()}), {}).values.ledger.url,
                  "sqlite:/srv/secret.db");
  CAF_CHECK(complains(load({}, {{"FAIRQUEUE_LEDGER_URL_FILE", secret}, {"FAIRQUEUE_LEDGER_URL", "memory:"}}),
                      "ledger.url", "keep one"));
  CAF_CHECK(
    complains(load({}, {{"FAIRQUEUE_LEDGER_URL_FILE", "/no/such/file"}}), "ledger.url", "cannot read"));
  CAF_CHECK(complains(load({}, {{"FAIRQUEUE_HTTP_LISTEN_FILE", secret}}), "FAIRQUEUE_HTTP_LISTEN_FILE",
                      "is not an option"));
}

CAF_TEST(sound production settings start and unsafe ones are refused) {
  CAF_CHECK_EQUAL(describe(with_flags(sound_production).problems), "");
  const auto refused = [](const std::string& option, const std::string& value) {
    auto settings = sound_production;
    settings[option] = value;
    return complains(with_flags(settings), option, "not in production");
  };
  CAF_CHECK(refused("gateway.sandbox", "true"));
  CAF_CHECK(refused("ledger.url", "memory:"));
  CAF_CHECK(refused("webhooks.allow_private", "true"));
  CAF_CHECK(refused("http.public_url", "http://tickets.example.com"));
  CAF_CHECK(refused("http.allowed_origins", "*"));
  CAF_CHECK(refused("http.trusted_proxies", "0.0.0.0/0"));
  CAF_CHECK(refused("http.trusted_proxies", "::/0"));
  CAF_CHECK_EQUAL(with_flags({{"environment", "production"}}).problems.size(), 1u);
}

CAF_TEST(the sandbox gateway is refused beside a real gateway in every environment) {
  const auto beside = [](std::map<std::string, std::string> settings) {
    settings["gateway.sandbox"] = "true";
    return complains(with_flags(settings), "gateway.sandbox", "must be off beside");
  };
  CAF_CHECK(beside({{"stripe.secret_key", "sk_live_1"}, {"stripe.webhook_secrets", "whsec_1"}}));
  CAF_CHECK(beside({{"paystack.secret_keys", "sk_live_1"}}));
  CAF_CHECK(!beside({}));
}

CAF_TEST(options that contradict each other are refused) {
  CAF_CHECK(complains(with_flags({{"payments.retry_base", "10s"}}), "payments.retry_base",
                      "at most payments.retry_cap"));
  CAF_CHECK(
    complains(with_flags({{"http.admin_listen", "127.0.0.1:8080"}}), "http.admin_listen", "must differ"));
  CAF_CHECK(complains(with_flags({{"http.allowed_origins", "*,https://a.example"}}), "http.allowed_origins",
                      "alone"));
  CAF_CHECK(
    with_flags({{"http.listen", "127.0.0.1:0"}, {"http.admin_listen", "127.0.0.1:0"}}).problems.empty());
}

CAF_TEST(webhooks go to named ports and without TLS only at home) {
  CAF_CHECK(load({}, {}).values.webhooks.parsed_ports() == std::vector<std::uint16_t>({443, 8443}));
  CAF_CHECK(!load({}, {}).values.webhooks.allow_private);
  CAF_CHECK(with_flags({{"webhooks.ports", "9000"}}).values.webhooks.parsed_ports()
            == std::vector<std::uint16_t>{9000});
  for (const auto* ports : {"0", "65536", ",", "https", "443-8443", "-1", "443 8443", "+443"})
    CAF_CHECK(complains(with_flags({{"webhooks.ports", ports}}), "webhooks.ports", "must be like"));
  CAF_CHECK(complains(with_flags({{"webhooks.ports", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"}}),
                      "webhooks.ports", "1 to 16"));
  CAF_CHECK(complains(with_flags({{"webhooks.allow_http", "true"}}), "webhooks.allow_http",
                      "needs webhooks.allow_private"));
  CAF_CHECK(
    with_flags({{"webhooks.allow_http", "true"}, {"webhooks.allow_private", "true"}}).problems.empty());
}

CAF_TEST(witnesses have an address and a key) {
  const std::string key = "w.example/witness+3176bd45+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU";
  const auto good =
    with_flags({{"witness.urls", "https://w.example/witness/  " + key}, {"witness.logs", key}});
  CAF_CHECK(good.problems.empty());
  const auto witnesses = good.values.witness.parsed_urls();
  CAF_REQUIRE(witnesses && witnesses->size() == 1);
  CAF_CHECK_EQUAL(witnesses->front().url, "https://w.example/witness");
  CAF_CHECK_EQUAL(witnesses->front().key, key);
  for (const auto& bad : {key, std::string{"https://w.example/witness"}, "ftp://w.example " + key,
                          std::string{"https://w.example no key"}, "https://w.example " + key.substr(1, 20)})
    CAF_CHECK(complains(with_flags({{"witness.urls", bad}}), "witness.urls", "must be like"));
  for (const auto& bad : {std::string{"w.example"}, key + "=", "w+3176bd4G" + key.substr(26)})
    CAF_CHECK(complains(with_flags({{"witness.logs", bad}}), "witness.logs", "must be verifier keys"));
}

CAF_TEST(a listener with TLS needs its files and an address of its own) {
  using flags_map = std::map<std::string, std::string>;
  const flags_map good{
    {"tls.listen", "0.0.0.0:8443"}, {"tls.certificate", "chain.pem"}, {"tls.key", "key.pem"}};
  const auto changed = [&](const std::string& option, const std::string& value) {
    auto given = good;
    given[option] = value;
    return with_flags(given);
  };
  const auto config = with_flags(good);
  CAF_CHECK_EQUAL(describe(config.problems), "");
  CAF_CHECK(config.values.tls.is_on());
  CAF_CHECK_EQUAL(to_string(config.values.tls.where()), "0.0.0.0:8443");
  CAF_CHECK_EQUAL(config.values.http.public_url, "https://127.0.0.1:8443");
  CAF_CHECK_EQUAL(config.values.http.local_url(), "http://127.0.0.1:8080");
  CAF_CHECK_EQUAL(changed("http.base_path", "/tickets").values.http.public_url,
                  "https://127.0.0.1:8443/tickets");
  CAF_CHECK_EQUAL(changed("http.public_url", "https://tickets.example").values.http.public_url,
                  "https://tickets.example");
  CAF_CHECK_EQUAL(changed("tls.listen", "127.0.0.1:0").values.http.public_url, "http://127.0.0.1:8080");
  CAF_CHECK(complains(changed("tls.listen", "tickets.example:443"), "tls.listen", "must be address:port"));
  CAF_CHECK(complains(changed("tls.listen", "127.0.0.1:8080"), "tls.listen", "must differ"));
  CAF_CHECK(complains(changed("tls.listen", "127.0.0.1:9090"), "tls.listen", "must differ"));
  CAF_CHECK(complains(changed("tls.certificate", ""), "tls.certificate", "is needed"));
  CAF_CHECK(complains(changed("tls.key", ""), "tls.key", "is needed"));
  CAF_CHECK(!with_flags({{"tls.key", "key.pem"}}).values.tls.is_on());
}

CAF_TEST(a way for mail needs what it stands on) {
  CAF_CHECK(complains(with_flags({{"mail.mode", "smtp"}}), "mail.smtp_url", "needed"));
  CAF_CHECK(complains(with_flags({{"mail.mode", "nats"}}), "nats.url", "needed"));
  CAF_CHECK(complains(with_flags({{"mail.mode", "pigeon"}}), "mail.mode", "file|smtp|nats"));
  CAF_CHECK(complains(with_flags({{"mail.smtp_user", "u"}}), "mail.smtp_password", "need each other"));
  const auto with_smtp = [](const char* url, const char* insecure) {
    return with_flags({{"mail.mode", "smtp"}, {"mail.smtp_url", url}, {"mail.smtp_insecure", insecure}});
  };
  CAF_CHECK_EQUAL(describe(with_smtp("smtp://mail.example.com:587", "false").problems), "");
  for (const auto* url :
       {"smtp://127.0.0.1:25", "smtp://127.8.9.10", "smtp://localhost:2525/us", "smtp://[::1]:25"})
    CAF_CHECK_EQUAL(describe(with_smtp(url, "true").problems), "");
  for (const auto* url : {"smtp://mail.example.com", "smtps://127.0.0.1", "smtp://127.evil.example",
                          "smtp://localhost.example", "smtp://[::2]", "smtp://127.0.0.1.example"})
    CAF_CHECK(complains(with_smtp(url, "true"), "mail.smtp_insecure", "on this machine"));
  CAF_CHECK_EQUAL(
    describe(with_flags({{"mail.mode", "nats"}, {"nats.url", "nats://a,nats://b:4223"}}).problems), "");
}

CAF_TEST(the bus needs what it stands on) {
  const auto with_bus = [](const char* option, const char* value) {
    std::map<std::string, std::string> all{{"bus.url", "nats://a"},
                                           {"stripe.secret_key", "sk_test_1"},
                                           {"stripe.webhook_secrets", "whsec_1"},
                                           {"bus.payments_subject", "stripe.backend"}};
    all[option] = value;
    return with_flags(std::move(all));
  };
  CAF_CHECK_EQUAL(describe(with_bus("bus.prefix", "shop.fairqueue").problems), "");
  CAF_CHECK(complains(with_bus("bus.url", ""), "bus.payments_subject", "needs bus.url"));
  CAF_CHECK(complains(with_bus("stripe.secret_key", ""), "bus.payments_subject", "needs stripe.secret_key"));
  CAF_CHECK(
    complains(with_bus("bus.payments_subject", "stripe.>"), "bus.payments_subject", "without wildcards"));
  CAF_CHECK(complains(with_bus("bus.payments_subject", "fairqueue.stripe"), "bus.payments_subject",
                      "must not begin with bus.prefix"));
  CAF_CHECK(complains(with_bus("bus.payments_stream", "fairqueue"), "bus.payments_stream", "must differ"));
  CAF_CHECK(complains(with_bus("bus.source", "a b"), "bus.source", "URI reference"));
  CAF_CHECK_EQUAL(describe(with_flags({}).problems), "");
}

CAF_TEST(the password of the mail server comes from a file and is never printed) {
  const auto secret = write("smtp", "hunter2 with: @signs/\n");
  const auto config = load({"", {{"mail.smtp_user", "u"}}}, {{"FAIRQUEUE_MAIL_SMTP_PASSWORD_FILE", secret}});
  CAF_CHECK_EQUAL(describe(config.problems), "");
  CAF_CHECK_EQUAL(config.values.mail.smtp_password, "hunter2 with: @signs/");
  const auto text = print_config(config);
  CAF_CHECK(text.find("hunter2") == std::string::npos);
  CAF_CHECK(text.find("smtp_password = \"***\"") != std::string::npos);
  const auto with_ca =
    load({}, {{"FAIRQUEUE_MAIL_SMTP_CA_FILE", "/etc/ca.pem"}}); // an option of its own, not a secret's file
  CAF_CHECK_EQUAL(with_ca.values.mail.smtp_ca_file.string(), "/etc/ca.pem");
}

CAF_TEST(ways to devices are off until they are set up as a whole) {
  const auto off = with_flags({}).values.push;
  CAF_CHECK(!off.fcm_is_on() && !off.apns_is_on() && off.ntfy_url.empty() && off.connect_to.empty());
  const std::map<std::string, std::string> apns{{"push.apns_team_id", "APPLETEAM1"},
                                                {"push.apns_key_id", "APPLEKEY01"},
                                                {"push.apns_key", "/run/key.p8"},
                                                {"push.apns_topic", "com.example.tickets"}};
  CAF_CHECK_EQUAL(describe(with_flags(apns).problems), "");
  CAF_CHECK(with_flags(apns).values.push.apns_is_on());
  for (const auto& [name, value] : apns) {
    auto without = apns;
    without.erase(name);
    CAF_CHECK(complains(with_flags(without), name, "is needed with the other options of push.apns_*"));
    const auto alone = with_flags({{name, value}}); // reports all missing options at once
    for (const auto& [other, unused] : apns)
      CAF_CHECK_EQUAL(complains(alone, other, "is needed"), other != name);
  }
  for (const auto* id : {"appleteam1", "APPLE", "APPLETEAM12", "APPLE-TEAM"}) {
    auto odd = apns;
    odd["push.apns_team_id"] = odd["push.apns_key_id"] = id;
    CAF_CHECK(complains(with_flags(odd), "push.apns_team_id", "10 capital letters"));
    CAF_CHECK(complains(with_flags(odd), "push.apns_key_id", "10 capital letters"));
  }
}

CAF_TEST(keys for pushes travel over no open way) {
  const auto push = with_flags({}).values.push;
  for (const auto& url : {push.fcm_url, push.apns_url, push.apns_sandbox_url})
    CAF_CHECK(url.starts_with("https://"));
  for (const auto* option : {"push.fcm_url", "push.apns_url", "push.apns_sandbox_url"})
    for (const auto* url : {"http://fcm.example.com", "https://fcm.example.com"})
      CAF_CHECK(complains(with_flags({{option, url}}), option, "push.connect_to redirects it"));
  for (const auto* way :
       {"a.example:443:127.0.0.1:8443", "a.example:443:b.example:1, c.example:443:[::1]:8443"})
    CAF_CHECK_EQUAL(describe(with_flags({{"push.connect_to", way}}).problems), "");
  for (const auto* way :
       {"a.example", "a.example:443", "a.example:443:b.example", "a.example:443:b.example:0",
        "a.example:x:b.example:1", ":443:b.example:1", "a.example:443::1", ":::"})
    CAF_CHECK(complains(with_flags({{"push.connect_to", way}}), "push.connect_to", "must be like"));
  auto production = sound_production;
  production["push.ntfy_url"] = "https://ntfy.example.com";
  production["push.connect_to"] = "a.example:443:127.0.0.1:8443";
  CAF_CHECK(complains(with_flags(production), "push.ntfy_url", "not in production"));
  CAF_CHECK(complains(with_flags(production), "push.connect_to", "not in production"));
  production.erase("environment");
  CAF_CHECK_EQUAL(describe(with_flags(production).problems), "");
}

CAF_TEST(the base path is part of derived links) {
  const auto o = with_flags({{"http.base_path", "/sale"}, {"http.listen", "[::]:80"}}).values;
  CAF_CHECK_EQUAL(o.http.public_url, "http://[::1]:80/sale");
  CAF_CHECK_EQUAL(o.http.base_path, "/sale");
}

CAF_TEST(what print config writes configures the same) {
  const auto config = with_flags({{"http.allowed_origins", "https://a.example,https://b.example"},
                                  {"queue.batch_size", "7"},
                                  {"shutdown.delay", "1500ms"},
                                  {"data_dir", "/tmp/a \"b\""}});
  const auto text = print_config(config);
  CAF_CHECK(text.find("batch_size = 7 # flag --queue.batch_size") != std::string::npos);
  const auto again = with_file(text);
  CAF_CHECK_EQUAL(describe(again.problems), "");
  for (const auto& row : option_table())
    CAF_CHECK_EQUAL(value_text(row, again.values), value_text(row, config.values));
}

CAF_TEST(a password in a url is not printed) {
  auto config = load({}, {});
  config.values.ledger.url = "postgres://user:hunter2@host/x";
  config.values.cache.url = "redis://:hunter2@host";
  const auto text = print_config(config);
  CAF_CHECK(text.find("hunter2") == std::string::npos);
  CAF_CHECK(text.find("url = \"postgres://user:***@host/x\"") != std::string::npos);
}

CAF_TEST(only our variables are taken from the process) {
  const char* variables[] = {"PATH=/bin", "FAIRQUEUE_DATA_DIR=/x=y", "FAIRQUEUE_NOTHING", nullptr};
  const auto env = environment_of(variables);
  CAF_CHECK_EQUAL(env.size(), 1u);
  CAF_CHECK_EQUAL(env.at("FAIRQUEUE_DATA_DIR"), "/x=y");
}

CAF_TEST_FIXTURE_SCOPE_END()
