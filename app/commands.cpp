// SPDX-License-Identifier: Apache-2.0
#include "app/commands.hpp"

#include "app/control_requests.hpp"
#include "app/limits.hpp"
#include "app/node.hpp"
#include "app/stores.hpp"
#include "app/system_environment.hpp"
#include "crypto/keys.hpp"
#include "crypto/subject_token.hpp"
#include "crypto/tokens.hpp"
#include "net/wire/json_out.hpp"
#include "store/port/restored.hpp"
#include "store/postgres/postgres_migrations.hpp"
#include "store/sqlite/migrations.hpp"

#include <boost/json/parse.hpp>

#include <curl/curl.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>

namespace fq {
namespace {

std::optional<token_kind> kind_of(const std::string& name) {
  for (const auto kind : all_token_kinds)
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

std::optional<std::string> read_password(const std::string& file) {
  std::string line;
  if (file.empty()) {
    if (!std::getline(std::cin, line)) return std::nullopt;
  } else {
    std::ifstream in{file};
    if (!std::getline(in, line)) return std::nullopt;
  }
  return line;
}

std::vector<migration_status> migrate_sqlite(migrate_action action, const std::filesystem::path& file) {
  std::filesystem::create_directories(file.parent_path().empty() ? "." : file.parent_path());
  switch (action) {
    case migrate_action::up: return migrate_up(file);
    case migrate_action::status: return migrate_status(file);
    case migrate_action::dry_run: return migrate_dry_run(file);
  }
  return {};
}

std::vector<migration_status> migrate_postgres(migrate_action action, const std::string& url) {
  switch (action) {
    case migrate_action::up: return migrate_up_of_url(url);
    case migrate_action::status: return migrate_status_of_url(url);
    case migrate_action::dry_run: return migrate_dry_run_of_url(url);
  }
  return {};
}

bool looks_like_email(const std::string& text) {
  const auto at = text.find('@');
  return text.size() <= 254 && at != std::string::npos && at > 0 && at + 1 < text.size()
         && text.find('@', at + 1) == text.npos
         && std::ranges::none_of(text, [](unsigned char c) { return c <= ' ' || c == 127; });
}

/// Sends the request to the running server. If none runs, executes it here on the ledger, under its lock.
boost::json::object ask_owner_of(const config::options& options, const boost::json::object& request) {
  if (auto answer = ask_running_server(options.data_dir, request)) return std::move(*answer);
  system_environment env;
  std::filesystem::create_directories(options.data_dir);
  auto without_others = options; // a command does not join the cluster
  without_others.cluster = {};
  node alone{without_others, env,
             [](const std::string& what) { std::cerr << "fairqueue: " << what << '\n'; }};
  auto handlers = control_requests({alone.system(),
                                    alone.accounts(),
                                    alone.region(),
                                    alone.directory(),
                                    alone.writer(),
                                    {},
                                    options.tokens.ttl});
  auto answer = handlers.at(std::string{request.at("command").as_string()})(request);
  handlers.clear(); // the handlers hold actors, which must be released before the node
  return answer;
}

/// Prints the error, if there is one.
bool failed(const boost::json::object& answer) {
  const auto* error = answer.if_contains("error");
  if (error == nullptr || !error->is_string() || error->get_string().empty()) return false;
  usage_error(std::string{error->get_string()});
  return true;
}

} // namespace

int usage_error(const std::string& text) {
  std::cerr << "fairqueue: " << text << '\n';
  return 2;
}

int run_token(const token_command& command, const config::options& options) {
  const auto kind = kind_of(command.kind);
  if (!kind) return usage_error("--kind must be customer, organizer, ticket, operator or guest");
  std::optional<uuid> subject;
  if (!command.subject.empty() && !(subject = parse_uuid(command.subject)))
    return usage_error("--subject must be a UUID");
  system_environment env;
  const auto now = env.wall_now();
  const auto keys = key_store::open(options.data_dir, now, lives_of(options));
  const token_issuer issuer{keys};
  std::string out;
  const auto owner = *kind == token_kind::guest ? guests_aggregate : accounts_aggregate;
  for (std::uint32_t i = 0; i < command.count; ++i) {
    out +=
      issuer.issue(*kind, subject ? *subject : env.make_id(now, owner), now, seconds{command.ttl_seconds});
    out += '\n';
  }
  std::cout << out << std::flush;
  return std::cout ? 0 : 1;
}

namespace {

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

} // namespace

int run_organizer_end(const organizer_command& command, bool remove, const config::options& options) {
  const auto answer = ask_owner_of(options, {{"command", remove ? "organizer_remove" : "organizer_sign_out"},
                                             {"email", lower(command.email)}});
  return failed(answer) ? 1 : 0;
}

int run_organizer_add(const organizer_command& command, const config::options& options) {
  const auto email = lower(command.email);
  if (!looks_like_email(email)) return usage_error("--email must be an e-mail address");
  const auto password = read_password(command.password_file);
  if (!password || password->size() < password_bytes_min)
    return usage_error("the password must have at least 8 characters");
  const auto answer = ask_owner_of(options, {{"command", "organizer_add"},
                                             {"email", email},
                                             {"password", *password},
                                             {"replace", command.replace},
                                             {"tenant", command.tenant}});
  if (failed(answer)) return 1;
  std::cout << answer.at("organizer_id").as_string().c_str() << '\n';
  return 0;
}

int run_customer_export(const std::string& email, const config::options& options) {
  std::string cursor;
  do {
    const auto answer =
      ask_owner_of(options, {{"command", "customer_export"}, {"email", lower(email)}, {"cursor", cursor}});
    if (failed(answer)) return 1;
    const auto& page = answer.at("customer").as_string();
    std::cout << page.c_str() << '\n';
    const auto next = boost::json::parse(page).at("next_cursor");
    cursor = next.is_string() ? std::string{next.get_string()} : std::string{};
  } while (!cursor.empty());
  return 0;
}

int run_customer_erase(const std::string& email, const config::options& options) {
  const auto answer = ask_owner_of(options, {{"command", "customer_erase"}, {"email", lower(email)}});
  return failed(answer) ? 1 : 0;
}

int run_tenant_add(const tenant_command& command, const config::options& options) {
  std::string jwk;
  if (!command.subject_jwk_file.empty()) {
    std::ifstream in{command.subject_jwk_file};
    jwk.assign(std::istreambuf_iterator<char>{in}, {});
    if (const auto problem = subject_key_problem(jwk); !problem.empty())
      return usage_error("--subject-jwk " + problem);
  }
  std::string metadata;
  for (const auto& line : command.payment_metadata)
    metadata.append(metadata.empty() ? "" : "\n").append(line);
  const auto answer = ask_owner_of(options, {{"command", "tenant_add"},
                                             {"name", command.name},
                                             {"subject_jwk", jwk},
                                             {"replace", command.replace},
                                             {"stripe_account", command.stripe_account},
                                             {"paystack_subaccount", command.paystack_subaccount},
                                             {"payment_metadata", metadata},
                                             {"mail_name", command.mail_name},
                                             {"mail_sender", command.mail_sender},
                                             {"mail_colour", command.mail_colour}});
  return failed(answer) ? 1 : 0;
}

int run_tenant_list(const config::options& options) {
  const auto answer = ask_owner_of(options, {{"command", "tenant_list"}});
  if (failed(answer)) return 1;
  for (const auto& t : answer.at("tenants").as_array()) {
    std::cout << t.at("name").as_string().c_str()
              << (t.at("signs_subjects").as_bool() ? "\tsigns subject tokens" : "") << '\n';
    for (const auto& k : t.at("api_keys").as_array())
      std::cout << "\t" << k.at("id").as_string().c_str() << '\t' << k.at("scope").as_string().c_str()
                << (k.at("revoked").as_bool() ? "\trevoked\t" : "\tvalid\t")
                << k.at("label").as_string().c_str() << '\n';
  }
  return 0;
}

int run_apikey_issue(const apikey_command& command, const config::options& options) {
  const auto answer = ask_owner_of(options, {{"command", "apikey_issue"},
                                             {"tenant", command.tenant},
                                             {"scope", command.scope},
                                             {"label", command.label}});
  if (failed(answer)) return 1;
  std::cerr << "id " << answer.at("id").as_string().c_str() << "; the key is shown this once\n";
  std::cout << answer.at("key").as_string().c_str() << '\n';
  return 0;
}

int run_apikey_revoke(const std::string& id, const config::options& options) {
  return failed(ask_owner_of(options, {{"command", "apikey_revoke"}, {"id", id}})) ? 1 : 0;
}

int run_keys_rotate(const rotate_command& command, const config::options& options) {
  if (command.end_old && command.kinds.empty())
    return usage_error("--end-old needs the names of the keys to end");
  auto kinds = command.kinds;
  if (kinds.empty()) kinds.assign(all_key_kinds.begin(), all_key_kinds.end());
  system_environment env;
  const auto now = env.wall_now();
  const auto signs_from = command.end_old ? now : now + seconds{command.delay_seconds};
  for (const auto& kind : kinds)
    std::cout << rotate_key(options.data_dir, kind, now, signs_from, lives_of(options),
                            command.end_old ? older_keys::end : older_keys::verify)
                   .string()
              << '\n';
  if (command.end_old)
    std::cerr << "make the key folders of all nodes equal and send SIGHUP now; until then old keys verify\n";
  else
    std::cerr << "before " << net::rfc3339(signs_from)
              << " copy the files to all nodes and send them SIGHUP; then the keys begin to sign\n";
  return 0;
}

int run_migrate(migrate_action action, const config::options& options) {
  const auto& ledger = options.ledger;
  if (ledger.sqlite_path().empty() && !ledger.is_postgres())
    return usage_error("ledger.url has no schema to migrate");
  for (const auto& m : ledger.is_postgres() ? migrate_postgres(action, ledger.url)
                                            : migrate_sqlite(action, ledger.sqlite_path()))
    std::cout << m.number << '\t' << m.name << '\t' << (m.applied ? "applied" : "pending") << '\t'
              << m.checksum << '\n';
  return 0;
}

int run_admin_verify(bool rebuild, const config::options& options) {
  const auto answer = ask_running_server(options.data_dir, {{"command", "verify"}, {"rebuild", rebuild}});
  if (!answer) return usage_error("no server is running on " + options.data_dir.string());
  if (const auto* error = answer->if_contains("error");
      error != nullptr && error->is_string() && !error->get_string().empty())
    return usage_error(std::string{error->get_string()});
  bool clean = true;
  for (const auto& event : answer->at("events").as_array()) {
    const std::string cache{event.at("cache").as_string()}, ledger{event.at("ledger").as_string()};
    clean = clean && (cache == "equal" || cache == "none") && ledger == "sound";
    std::cout << event.at("event_id").as_string().c_str() << "\tcache " << cache << "\tledger " << ledger
              << '\n';
    for (const auto& line : event.at("differences").as_array())
      std::cout << '\t' << line.as_string().c_str() << '\n';
  }
  return clean ? 0 : 1;
}

int run_admin_accept_loss(const std::string& event, bool all, const config::options& options) {
  if (event.empty() != all) return usage_error("give --event or --all");
  const auto answer = ask_owner_of(options, {{"command", "accept_loss"}, {"event_id", event}, {"all", all}});
  if (failed(answer)) return 1;
  const auto& accepted = answer.at("accepted").as_array();
  for (const auto& one : accepted)
    std::cout << one.at("what").as_string().c_str() << "\tdecisions lost: at least "
              << one.at("decisions").to_number<std::uint64_t>() << '\n';
  if (accepted.empty()) std::cerr << "fairqueue: nothing of that is stopped\n";
  return accepted.empty() ? 1 : 0;
}

int run_admin_accept_restored(const std::string& event, bool all, const config::options& options) {
  if (event.empty() != all) return usage_error("give --event or --all");
  const auto id = all ? event_id{} : parse_uuid(event).value_or(event_id{});
  if (!all && id.is_nil()) return usage_error("the event's id is no UUID");
  system_environment env;
  std::filesystem::create_directories(options.data_dir);
  const auto engines = open_ledger(options, env); // of a running server it is locked
  bool has_accepted = false;
  const auto logs = accept_restored(*engines.writers.front(), env, id, [&](const lost_aggregate& one) {
    std::cout << to_string(one.event) << "\tits public log begins anew at the next start" << std::endl;
    has_accepted = true;
  });
  if (!has_accepted)
    std::cerr << (logs == 0 ? "fairqueue: this ledger has no such public log\n"
                            : "fairqueue: no public log is left to begin anew\n");
  return logs == 0 ? 1 : 0;
}

int run_healthcheck(const std::string& url) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl{curl_easy_init(), &curl_easy_cleanup};
  if (!curl) return 1;
  const auto target = url + "/readyz";
  curl_easy_setopt(curl.get(), CURLOPT_URL, target.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, 5L);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(
    curl.get(), CURLOPT_WRITEFUNCTION, +[](char*, size_t size, size_t count, void*) { return size * count; });
  long status = 0;
  if (curl_easy_perform(curl.get()) == CURLE_OK)
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  std::cout << (status == 200 ? "ready" : "not ready") << '\n';
  return status == 200 ? 0 : 1;
}

} // namespace fq
