// SPDX-License-Identifier: Apache-2.0
// The subcommands of `fairqueue`. Each takes checked options and returns the exit code.
#pragma once
#include "config/load.hpp"
#include "config/options.hpp"
#include "crypto/keys.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fq {

/// Prints the message. Returns the exit code of wrong arguments and refused requests.
int usage_error(const std::string& text);

struct token_command {
  std::string kind = "customer";
  std::uint32_t count = 1;
  std::string subject; ///< UUID; empty: a new random one for each token
  std::int64_t ttl_seconds = 24 * 3600;
};
int run_token(const token_command& command, const config::options& options);

struct organizer_command {
  std::string email;
  std::string password_file; ///< empty: read from standard input
  bool replace = false;
  std::string tenant = "default"; ///< name of the tenant
};
int run_organizer_add(const organizer_command& command, const config::options& options);
/// Ends all sign-ins; with `remove` also the account.
int run_organizer_end(const organizer_command& command, bool remove, const config::options& options);

/// Prints what is kept of the customer with this address, as JSON.
int run_customer_export(const std::string& email, const config::options& options);
/// The rest is worked off in the background.
int run_customer_erase(const std::string& email, const config::options& options);

struct tenant_command {
  std::string name;
  std::string subject_jwk_file; ///< empty: the tenant signs no subject tokens
  std::string stripe_account = {}, paystack_subaccount = {}; ///< empty: no transfer of the tenant's money
  std::vector<std::string> payment_metadata = {}; ///< key=value
  std::string mail_name = {}, mail_sender = {}, mail_colour = {};
  bool replace = false;
};
int run_tenant_add(const tenant_command& command, const config::options& options);
int run_tenant_list(const config::options& options);

struct apikey_command {
  std::string tenant = "default";
  std::string scope; ///< join, server or operator
  std::string label;
};
/// Prints the key, which is not stored anywhere.
int run_apikey_issue(const apikey_command& command, const config::options& options);
int run_apikey_revoke(const std::string& id, const config::options& options);

struct rotate_command {
  std::vector<std::string> kinds; ///< empty: all
  std::int64_t delay_seconds = key_delay / seconds{1};
  bool end_old = false;
};
/// Makes a new key of each kind; prints the files.
int run_keys_rotate(const rotate_command& command, const config::options& options);

enum class migrate_action { up, status, dry_run };
int run_migrate(migrate_action action, const config::options& options);

/// Compares the cache with the ledger for every event that the running server owns. `rebuild`: rebuilds the
/// mirrors first. Prints a line for each event and its differences. Returns 0 if all are equal.
int run_admin_verify(bool rebuild, const config::options& options);

/// Goes on with an event, or with everything, that is stopped because the ledger lost commits of it. Prints
/// what was accepted. Returns 1 if nothing of that is stopped.
int run_admin_accept_loss(const std::string& event, bool all, const config::options& options);
/// After the restore of a backup, while no server runs: the public log of the event, or with `all` of every
/// event and queue, begins anew at the next load. Prints their ids. Returns 1 if there is no such log.
int run_admin_accept_restored(const std::string& event, bool all, const config::options& options);

/// Returns 0 if GET <url>/readyz answers 200 within 5 seconds.
int run_healthcheck(const std::string& url);

/// Serves until a signal ends the process. `demo`: prepares a demo sale.
int run_serve(bool demo, const config::loaded& config);

} // namespace fq
