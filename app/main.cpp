// SPDX-License-Identifier: Apache-2.0
// `fairqueue`: reads the command line, loads and checks the configuration, runs one subcommand.
#include "app/cluster_commands.hpp"
#include "app/commands.hpp"
#include "app/release.hpp"
#include "config/load.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

extern char** environ;

const char* const fq::program_version = FAIRQUEUE_VERSION;

namespace {

/// Loads the configuration for a subcommand; prints all problems together.
bool load(const fq::config::flags& flags, fq::config::loaded& into) {
  into = fq::config::load(flags, fq::config::environment_of(environ));
  if (into.problems.empty()) return true;
  std::cerr << fq::config::describe(into.problems);
  return false;
}

int run(int argc, char** argv) {
  using namespace fq;
  CLI::App app{"FairQueue: a fair on-sale server"};
  app.set_version_flag("--version", FAIRQUEUE_VERSION);
  app.require_subcommand(1);
  config::flags flags;
  config::loaded loaded;
  int exit_code = 0;

  // Every subcommand has the same options; `body` runs after they are checked.
  bool demo = false;
  const auto add = [&](CLI::App& parent, const std::string& name, const std::string& text, auto body) {
    auto* command = parent.add_subcommand(name, text);
    config::add_options(*command, flags);
    command->callback([&, body] {
      if (demo) flags.values.try_emplace("gateway.sandbox", "true");
      exit_code = load(flags, loaded) ? body() : 2;
    });
    return command;
  };

  add(app, "serve", "Serve until told to stop", [&] {
    return run_serve(demo, loaded);
  })->add_flag("--demo", demo, "Make a demo sale, once per data folder; offers the sandbox gateway");

  add(app, "check-config", "Check the configuration and say what is wrong", [] {
    std::cout << "the configuration is good\n";
    return 0;
  });
  add(app, "print-config", "Print every option in force and where it comes from", [&] {
    std::cout << config::print_config(loaded);
    return 0;
  });

  token_command token;
  auto* token_app =
    add(app, "token", "Print signed tokens, one a line", [&] { return run_token(token, loaded.values); });
  token_app->add_option("--kind", token.kind, "customer, organizer, ticket or operator");
  token_app->add_option("--count", token.count, "How many")->check(CLI::Range(1, 10'000'000));
  token_app->add_option("--subject", token.subject, "Whose: a UUID; otherwise a fresh one each");
  const std::map<std::string, std::int64_t> units{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}};
  token_app->add_option("--ttl", token.ttl_seconds, "Life, with a unit: 90s, 15m, 24h, 7d")
    ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_REQUIRED))
    ->check(CLI::Range(1, 31'536'000));

  auto* organizer_app = app.add_subcommand("organizer", "Organizers");
  organizer_app->require_subcommand(1);
  organizer_command organizer;
  bool password_stdin = false;
  auto* add_app = add(*organizer_app, "add", "Add an organizer, or give one a new password with --replace",
                      [&] { return run_organizer_add(organizer, loaded.values); });
  add_app->add_option("--email", organizer.email, "E-mail address")->required();
  auto* from_file =
    add_app->add_option("--password-file", organizer.password_file, "First line is the password");
  add_app->add_flag("--password-stdin", password_stdin, "Read the password from standard input (the default)")
    ->excludes(from_file);
  add_app->add_flag("--replace", organizer.replace, "Give an existing organizer the new password");
  add_app->add_option("--tenant", organizer.tenant, "Whose organizer; otherwise the default tenant's");

  auto* tenant_app = app.add_subcommand("tenant", "Tenants: customer accounts of this installation");
  tenant_app->require_subcommand(1);
  tenant_command tenant;
  auto* tenant_add =
    add(*tenant_app, "add", "Add a tenant, or give one another key for subject tokens with --replace",
        [&] { return run_tenant_add(tenant, loaded.values); });
  tenant_add->add_option("--name", tenant.name, "1 to 40 of a-z, 0-9 and hyphens; part of its API keys")
    ->required();
  tenant_add->add_option("--subject-jwk", tenant.subject_jwk_file,
                         "File with the public key (JWK) that it signs subject tokens with");
  tenant_add->add_option("--stripe-account", tenant.stripe_account,
                         "Connected account (acct_…) that Stripe passes its money on to");
  tenant_add->add_flag("--replace", tenant.replace, "The tenant exists");
  add(*tenant_app, "list", "List tenants and their API keys, without secrets",
      [&] { return run_tenant_list(loaded.values); });

  auto* apikey_app = app.add_subcommand("apikey", "API keys of tenants");
  apikey_app->require_subcommand(1);
  apikey_command apikey;
  auto* issue_app = add(*apikey_app, "issue", "Issue a key; several may be valid at once",
                        [&] { return run_apikey_issue(apikey, loaded.values); });
  issue_app->add_option("--tenant", apikey.tenant, "Whose; otherwise the default tenant's");
  issue_app->add_option("--scope", apikey.scope, "join (publishable), server or operator (secret)")
    ->required();
  issue_app->add_option("--label", apikey.label, "For people");
  std::string revoked_key;
  add(*apikey_app, "revoke", "Revoke a key", [&] { return run_apikey_revoke(revoked_key, loaded.values); })
    ->add_option("--id", revoked_key, "As `tenant list` shows it")
    ->required();

  auto* keys_app = app.add_subcommand("keys", "The installation's signing keys");
  keys_app->require_subcommand(1);
  add(*keys_app, "rotate",
      "Make a new key for admission passes; old ones stay valid as long as a pass may live",
      [&] { return run_keys_rotate(loaded.values); });

  auto* migrate_app = app.add_subcommand("migrate", "The ledger's schema");
  migrate_app->require_subcommand(0, 1);
  config::add_options(*migrate_app, flags);
  bool dry_run = false;
  migrate_app->add_flag("--dry-run", dry_run,
                        "Run what is missing in a transaction and roll it back: takes the locks of the real "
                        "thing, but waits at most 2 s for each on Postgres");
  add(*migrate_app, "up", "Apply what is missing",
      [&] { return run_migrate(migrate_action::up, loaded.values); });
  add(*migrate_app, "status", "Show what is applied",
      [&] { return run_migrate(migrate_action::status, loaded.values); });
  migrate_app->callback([&] {
    if (!migrate_app->get_subcommands().empty()) return;
    exit_code = load(flags, loaded)
                  ? run_migrate(dry_run ? migrate_action::dry_run : migrate_action::up, loaded.values)
                  : 2;
  });

  auto* admin_app = app.add_subcommand("admin", "Look into a running server");
  admin_app->require_subcommand(1);
  add(*admin_app, "verify",
      "Compare cache, memory and ledger of every event, check the ledger's rows against the invariants, "
      "print the differences",
      [&] { return run_admin_verify(false, loaded.values); });
  add(*admin_app, "rebuild", "Build the cache anew from the ledger",
      [&] { return run_admin_verify(true, loaded.values); });

  auto* cluster_app = app.add_subcommand("cluster", "Nodes that share a ledger");
  cluster_app->require_subcommand(1);
  std::string certificates = ".", node_name;
  auto* init_ca = cluster_app->add_subcommand(
    "init-ca", "Make the authority that nodes know each other by: ca.pem, ca.key");
  init_ca->add_option("--folder", certificates, "Where to; otherwise here");
  init_ca->callback([&] { exit_code = run_cluster_init_ca(certificates); });
  auto* issue_cert =
    cluster_app->add_subcommand("issue-cert", "Make a node's certificate: <node>.pem, <node>.key");
  issue_cert->add_option("--folder", certificates, "Where ca.pem and ca.key are; otherwise here");
  issue_cert->add_option("--node", node_name, "Its name")->required();
  issue_cert->callback([&] { exit_code = run_cluster_issue_cert(certificates, node_name); });
  add(*cluster_app, "drain",
      "Give away what the running server owns, before it is stopped; waits until that is done",
      [&] { return run_cluster_drain(loaded.values); });
  std::string moved_event, moved_to;
  auto* handoff = add(*cluster_app, "handoff", "Give one event or queue to a node, whichever has it now",
                      [&] { return run_cluster_handoff(loaded.values, moved_event, moved_to); });
  handoff->add_option("--event", moved_event, "Its id")->required();
  handoff->add_option("--to", moved_to, "The node")->required();
  add(*cluster_app, "status",
      "Print the nodes that the running server sees; exit 1 if it is not connected to all",
      [&] { return run_cluster_status(loaded.values); });

  std::string url;
  add(app, "healthcheck", "Exit 0 if the server is ready", [&] {
    return run_healthcheck(url.empty() ? loaded.values.http.local_url() : url);
  })->add_option("--url", url, "Base URL; otherwise that of http.listen");

  CLI11_PARSE(app, argc, argv);
  return exit_code;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "fairqueue: " << e.what() << '\n';
    return 1;
  }
}
