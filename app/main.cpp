// SPDX-License-Identifier: Apache-2.0
// `fairqueue`: reads the command line, loads and checks the configuration, runs one subcommand.
#include "app/cluster_commands.hpp"
#include "app/commands.hpp"
#include "app/release.hpp"
#include "config/load.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <functional>
#include <iostream>

extern char** environ;

const char* const fq::program_version = FAIRQUEUE_VERSION;

namespace fq {
namespace {

/// The subcommands and their arguments. --help lists those first that every installation needs.
class command_line {
public:
  command_line() {
    app_.set_version_flag("--version", FAIRQUEUE_VERSION);
    config::shorten_help(app_);
    app_.require_subcommand(1);
    add_serving();
    add_organizers();
    add_tokens();
    add_migrations();
    group_ = "More commands";
    add_customers();
    add_tenants();
    add_administration();
    add_cluster();
  }

  int run(int argc, char** argv) {
    CLI11_PARSE(app_, argc, argv);
    return exit_code_;
  }

private:
  void add_serving() {
    auto& serve = add(
      app_, "serve", "Serve until told to stop", [this] { return run_serve(demo_, loaded_); },
      config::help_length::server);
    serve.add_flag("--demo", demo_, "Make a demo sale, once per data folder; offers the sandbox gateway");
    add(app_, "check-config", "Check the configuration and say what is wrong", [] {
      std::cout << "the configuration is good\n";
      return 0;
    });
  }

  void add_organizers() {
    auto& organizers = add_family("organizer", "Organizers");
    auto& adding = add(organizers, "add", "Add an organizer, or give one a new password with --replace",
                       [this] { return run_organizer_add(organizer_, options()); });
    adding.add_option("--email", organizer_.email, "E-mail address")->required();
    auto* from_file =
      adding.add_option("--password-file", organizer_.password_file, "First line is the password");
    adding
      .add_flag("--password-stdin", password_stdin_, "Read the password from standard input (the default)")
      ->excludes(from_file);
    adding.add_flag("--replace", organizer_.replace, "Give an existing organizer the new password");
    adding.add_option("--tenant", organizer_.tenant, "Whose organizer; otherwise the default tenant's");
    const auto add_ending = [&](const char* name, const char* what, bool remove) {
      add(organizers, name, what, [this, remove] { return run_organizer_end(organizer_, remove, options()); })
        .add_option("--email", organizer_.email, "E-mail address")
        ->required();
    };
    add_ending("sign-out", "End all sign-ins of an organizer", false);
    add_ending("remove", "Remove an organizer; the events remain, without an organizer", true);
  }

  void add_customers() {
    auto& customers = add_family("customer", "Personal data of customers");
    add(customers, "export", "Print what is kept of a customer, as JSON",
        [this] { return run_customer_export(customer_, options()); })
      .add_option("address", customer_, "E-mail address")
      ->required();
    add(customers, "erase", "Erase a customer; orders keep their money",
        [this] { return run_customer_erase(customer_, options()); })
      .add_option("address", customer_, "E-mail address")
      ->required();
  }

  void add_tokens() {
    auto& tokens =
      add(app_, "token", "Print signed tokens, one a line", [this] { return run_token(token_, options()); });
    tokens.add_option("--kind", token_.kind, "customer, organizer, ticket or operator");
    tokens.add_option("--count", token_.count, "How many")->check(CLI::Range(1, 10'000'000));
    tokens.add_option("--subject", token_.subject, "Whose: a UUID; otherwise a fresh one each");
    tokens.add_option("--ttl", token_.ttl_seconds, "Life, with a unit: 90s, 15m, 24h, 7d")
      ->transform(CLI::AsNumberWithUnit(units_, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::Range(1, 31'536'000));
  }

  void add_migrations() {
    auto& migrate = add(app_, "migrate", "The ledger's schema", [this] {
      return run_migrate(dry_run_ ? migrate_action::dry_run : migrate_action::up, options());
    });
    migrate.require_subcommand(0, 1);
    migrate.add_flag("--dry-run", dry_run_,
                     "Run what is missing in a transaction and roll it back: takes the locks of the real "
                     "thing, but waits at most 2 s for each on Postgres");
    add(migrate, "up", "Apply what is missing",
        [this] { return run_migrate(migrate_action::up, options()); });
    add(migrate, "status", "Show what is applied",
        [this] { return run_migrate(migrate_action::status, options()); });
  }

  void add_tenants() {
    auto& tenants = add_family("tenant", "Tenants: customer accounts of this installation");
    auto& adding =
      add(tenants, "add", "Add a tenant, or give one another key for subject tokens with --replace",
          [this] { return run_tenant_add(tenant_, options()); });
    adding.add_option("--name", tenant_.name, "1 to 40 of a-z, 0-9 and hyphens; part of its API keys")
      ->required();
    adding.add_option("--subject-jwk", tenant_.subject_jwk_file,
                      "File with the public key (JWK) that it signs subject tokens with");
    adding.add_option("--stripe-account", tenant_.stripe_account,
                      "Connected account (acct_…) that Stripe passes its money on to; none takes it away");
    adding.add_option("--paystack-subaccount", tenant_.paystack_subaccount,
                      "Subaccount (ACCT_…) that Paystack passes its money on to; none takes it away");
    adding.add_option(
      "--payment-metadata", tenant_.payment_metadata,
      "key=value for its payments at Stripe and Paystack, in place of all former ones; several "
      "are possible; none takes them away; site is fairqueue if no entry says otherwise");
    adding.add_option("--mail-name", tenant_.mail_name,
                      "Name beside the From address of its mails, and at their top; none takes it away");
    adding.add_option("--mail-sender", tenant_.mail_sender,
                      "From address of its mails: mail.sender or one of mail.senders; none takes it away");
    adding.add_option("--mail-colour", tenant_.mail_colour,
                      "Colour of its mails, like \"#2c1d6b\"; none takes it away");
    adding.add_flag("--replace", tenant_.replace, "The tenant exists");
    add(tenants, "list", "List tenants and their API keys, without secrets",
        [this] { return run_tenant_list(options()); });

    auto& keys = add_family("apikey", "API keys of tenants");
    auto& issuing = add(keys, "issue", "Issue a key; several may be valid at once",
                        [this] { return run_apikey_issue(apikey_, options()); });
    issuing.add_option("--tenant", apikey_.tenant, "Whose; otherwise the default tenant's");
    issuing.add_option("--scope", apikey_.scope, "join (publishable), server or operator (secret)")
      ->required();
    issuing.add_option("--label", apikey_.label, "For people");
    add(keys, "revoke", "Revoke a key", [this] { return run_apikey_revoke(revoked_key_, options()); })
      .add_option("--id", revoked_key_, "As `tenant list` shows it")
      ->required();
  }

  void add_administration() {
    add(app_, "print-config", "Print every option in force and where it comes from", [this] {
      std::cout << config::print_config(loaded_);
      return 0;
    });
    add(app_, "healthcheck", "Exit 0 if the server is ready", [this] {
      return run_healthcheck(url_.empty() ? options().http.local_url() : url_);
    }).add_option("--url", url_, "Base URL; otherwise that of http.listen");
    auto& keys = add_family("keys", "The installation's signing keys");
    auto& rotate =
      add(keys, "rotate", "Make new keys; old ones verify until the last token that they signed expires",
          [this] { return run_keys_rotate(rotation_, options()); });
    rotate
      .add_option("names", rotation_.kinds,
                  "Which: organizer, customer, ticket, operator, session, passes, "
                  "sandbox; otherwise all")
      ->check(CLI::IsMember(std::vector<std::string>{all_key_kinds.begin(), all_key_kinds.end()}));
    auto* delay =
      rotate.add_option("--delay", rotation_.delay_seconds, "Until the keys sign, with a unit; otherwise 5m");
    delay->transform(CLI::AsNumberWithUnit(units_, CLI::AsNumberWithUnit::UNIT_REQUIRED))
      ->check(CLI::Range(0, 604'800));
    rotate
      .add_flag("--end-old", rotation_.end_old, "A key leaked: what the old ones signed ends at the reload")
      ->excludes(delay);
    auto& admin = add_family("admin", "Look into a running server");
    add(admin, "verify",
        "Compare cache, memory and ledger of every event, check the ledger's rows against the invariants, "
        "print the differences",
        [this] { return run_admin_verify(false, options()); });
    add(admin, "rebuild", "Build the cache anew from the ledger",
        [this] { return run_admin_verify(true, options()); });
    add_loss(admin);
  }

  void add_loss(CLI::App& admin) {
    auto& accepting = add(
      admin, "accept-loss",
      "Go on with an event that is stopped because the ledger lost commits; see the runbook first", [this] {
        return (is_restored_ ? run_admin_accept_restored : run_admin_accept_loss)(lost_event_, all_,
                                                                                  options());
      });
    accepting.add_option("--event", lost_event_, "Its id");
    accepting.add_flag("--all", all_, "Everything that is stopped, also accounts and catalog");
    accepting.add_flag("--restored", is_restored_,
                       "The ledger is a restored backup and no server runs: public logs begin anew");
  }

  void add_cluster() {
    auto& cluster = add_family("cluster", "Nodes that share a ledger");
    auto* init_ca =
      cluster.add_subcommand("init-ca", "Make the authority that nodes know each other by: ca.pem, ca.key");
    init_ca->add_option("--folder", certificates_, "Where to; otherwise here");
    init_ca->callback([this] { exit_code_ = run_cluster_init_ca(certificates_); });
    auto* issue_cert =
      cluster.add_subcommand("issue-cert", "Make a node's certificate: <node>.pem, <node>.key");
    issue_cert->add_option("--folder", issue_.folder, "Where ca.pem and ca.key are; otherwise here");
    issue_cert->add_option("--node", issue_.node, "Its node.id")->required();
    issue_cert->add_option("--days", issue_.days, "Life; otherwise 90")
      ->check(CLI::Range(std::int64_t{1}, certificate_days_max));
    issue_cert->add_flag("--replace", issue_.replace, "Overwrite the node's earlier certificate");
    issue_cert->callback([this] { exit_code_ = run_cluster_issue_cert(issue_); });
    auto* revoke_cert =
      cluster.add_subcommand("revoke-cert", "Add certificates to the list of revoked ones: revoked.pem");
    revoke_cert->add_option("--folder", revoke_.folder, "Where ca.pem and ca.key are; otherwise here");
    revoke_cert->add_option("--node", revoke_.node, "All that were issued to this node so far");
    revoke_cert->add_option("--serial", revoke_.serial,
                            "The one with this serial number; see the names in issued/");
    revoke_cert->add_option("--certificate", revoke_.certificate, "The one in this file (PEM)");
    revoke_cert->callback([this] { exit_code_ = run_cluster_revoke_cert(revoke_); });
    add(cluster, "drain",
        "Give away what the running server owns, before it is stopped; waits until that is done",
        [this] { return run_cluster_drain(options()); });
    auto& handoff = add(cluster, "handoff", "Give one event or queue to a node, whichever has it now",
                        [this] { return run_cluster_handoff(options(), moved_event_, moved_to_); });
    handoff.add_option("--event", moved_event_, "Its id")->required();
    handoff.add_option("--to", moved_to_, "The node")->required();
    add(cluster, "status",
        "Print the nodes that the running server sees; exit 1 if it is not connected to all",
        [this] { return run_cluster_status(options()); });
  }

  /// A command that takes the server's options. `body` runs after they are checked, unless a subcommand is
  /// given.
  CLI::App& add(CLI::App& parent, const std::string& name, const std::string& text, std::function<int()> body,
                config::help_length help = config::help_length::command) {
    auto* command = parent.add_subcommand(name, text);
    if (&parent == &app_) command->group(group_);
    config::add_options(*command, flags_, help);
    command->callback([this, command, body = std::move(body)] {
      if (!command->get_subcommands().empty()) return;
      if (demo_) flags_.values.try_emplace("gateway.sandbox", "true");
      exit_code_ = load() ? body() : 2;
    });
    return *command;
  }

  /// A command that only has subcommands.
  CLI::App& add_family(const std::string& name, const std::string& text) {
    auto* family = app_.add_subcommand(name, text);
    family->group(group_)->require_subcommand(1);
    return *family;
  }

  /// Loads the configuration; prints all problems together.
  bool load() {
    loaded_ = config::load(flags_, config::environment_of(environ));
    std::cerr << config::describe(loaded_.problems);
    return loaded_.problems.empty();
  }

  [[nodiscard]] const config::options& options() const { return loaded_.values; }

  CLI::App app_{"FairQueue: a fair on-sale server"};
  std::string group_ = "Commands";
  config::flags flags_;
  config::loaded loaded_;
  int exit_code_ = 0;
  bool demo_ = false, password_stdin_ = false, dry_run_ = false, all_ = false, is_restored_ = false;
  const std::map<std::string, std::int64_t> units_{{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86'400}};
  token_command token_;
  rotate_command rotation_;
  organizer_command organizer_;
  std::string customer_; ///< address
  tenant_command tenant_;
  apikey_command apikey_;
  issue_command issue_;
  revoke_command revoke_;
  std::string revoked_key_, certificates_ = ".", moved_event_, moved_to_, lost_event_, url_;
};

} // namespace
} // namespace fq

int main(int argc, char** argv) {
  try {
    return fq::command_line{}.run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "fairqueue: " << e.what() << '\n';
    return 1;
  }
}
