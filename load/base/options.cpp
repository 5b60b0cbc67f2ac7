// SPDX-License-Identifier: Apache-2.0
#include "load/base/options.hpp"

#include "load/base/url.hpp"
#include "load/base/uuid.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include <fstream>
#include <map>
#include <sstream>

namespace fq::load {

namespace {

void add_sale_options(CLI::App& app, load_options& out) {
  app.add_option("--url", out.url, "server, http://host:port (default http://127.0.0.1:8080)");
  app.add_option("--event", out.event, "event id (default: the demo sale of the data folder)");
  app.add_option("--data-dir,--data_dir", out.data_dir, "the server's data folder: customer key, demo.json")
    ->capture_default_str();
  app.add_option("--token-file", out.token_file, "customer tokens, one a line, instead of the key");
}

void add_fan_options(CLI::App& app, load_options& out) {
  const std::map<std::string, arrival_shape> shapes{
    {"spike", arrival_shape::spike}, {"ramp", arrival_shape::ramp}, {"poisson", arrival_shape::poisson}};
  const std::map<std::string, buying_way> ways{
    {"claims", buying_way::claims}, {"checkout", buying_way::checkout}, {"mixed", buying_way::mixed}};
  const auto percent = CLI::Range(0.0, 100.0);
  app.add_option("--fans", out.fans, "how many fans")->check(CLI::Range(1u, fans_max))->capture_default_str();
  app.add_option("--arrival", out.arrival, "spike (all within a second), ramp (ever more) or poisson")
    ->transform(CLI::CheckedTransformer(shapes, CLI::ignore_case));
  app.add_option("--arrival-seconds", out.arrival_s, "over how long they arrive")
    ->check(CLI::Range(0.0, 86400.0))
    ->capture_default_str();
  app.add_option("--no-show", out.no_show_percent, "percent who are admitted and never claim")
    ->check(percent)
    ->capture_default_str();
  app.add_option("--abandon", out.abandon_percent, "percent who claim and never pay")
    ->check(percent)
    ->capture_default_str();
  app.add_option("--decline", out.decline_percent, "percent whose payment is declined")
    ->check(percent)
    ->capture_default_str();
  app.add_option("--websocket", out.websocket_percent, "percent who wait on a WebSocket, the others poll")
    ->check(percent)
    ->capture_default_str();
  app
    .add_option("--buy-by", out.buy_by, "claims (the default), checkout (orders) or mixed (every other fan)")
    ->transform(CLI::CheckedTransformer(ways, CLI::ignore_case));
  app.add_flag("--seats", out.seats,
               "the event has a seat plan: half of the fans name seats, the others want the best");
  app.add_option("--promo-code", out.promo_codes,
                 "a code that fans use at checkout now and then; repeatable");
  app.add_flag("--no-queue", out.no_queue,
               "checkout without joining (always so in events of the policy open)");
}

void add_run_options(CLI::App& app, load_options& out, bool& own_connection) {
  app.add_option(
    "--organizer-token-file", out.organizer_token_file,
    "organizer's token, to read the books after checkouts (default: minted from the data folder's key)");
  app.add_option("--timeout", out.timeout_s, "seconds after which the run stops in any case")
    ->check(CLI::Range(1.0, 86400.0))
    ->capture_default_str();
  app.add_option("--request-timeout", out.request_timeout_s, "seconds a fan waits for one answer")
    ->check(CLI::Range(0.1, 600.0))
    ->capture_default_str();
  app.add_option("--think-ms", out.think_ms, "a fan's pause before each step after admission, at most")
    ->check(CLI::Range(0.0, 600000.0))
    ->capture_default_str();
  auto* pool = app
                 .add_option("--connections", out.connections,
                             "share this many keep-alive connections, not one per fan (--join-only: 256)")
                 ->check(CLI::Range(1u, 20000u));
  app.add_flag("--connection-per-fan", own_connection, "each fan has a connection of its own (the default)")
    ->excludes(pool);
  app.add_option("--source-addresses", out.source_addresses, "spread connections over 127.0.0.1..127.0.0.N")
    ->check(CLI::Range(1u, 200u))
    ->capture_default_str();
  app.add_option("--seed", out.seed, "of arrivals, behaviour and jitter (default: random, printed)");
  app.add_flag("--join-only", out.join_only, "benchmark: join and stop, closed loop over --connections");
  app.add_flag("--with-keys", out.with_keys, "--join-only: send an Idempotency-Key with each join");
  app.add_flag("--allow-remote", out.allow_remote, "permit a server that is not on this machine");
  app.add_flag("--quiet", out.quiet, "no progress bar");
  app.add_option("--json", out.json_path, "write the results as JSON to FILE, or - for standard output");
  app.add_option("--html", out.html_path, "write a self-contained HTML report to FILE");
}

std::string problem_with(const load_options& options) {
  if (options.no_show_percent + options.abandon_percent + options.decline_percent > 100)
    return "--no-show, --abandon and --decline together exceed 100 percent";
  if (!options.event.empty() && !parse_uuid(options.event)) return "--event is not an id: " + options.event;
  if (!options.url.empty()) {
    const auto url = parse_http_url(options.url);
    if (!url) return "--url must be http://host[:port]";
    std::string why;
    if (!resolve(*url, options.allow_remote, why)) return "--url refused: " + why;
  }
  if (options.with_keys && !options.join_only)
    return "--with-keys belongs to --join-only (fans always send keys)";
  if (options.buy_by == buying_way::claims && (!options.promo_codes.empty() || options.no_queue))
    return "--promo-code and --no-queue belong to --buy-by checkout or mixed";
  if (options.buy_by != buying_way::claims && options.join_only)
    return "--join-only buys nothing: --buy-by does not belong to it";
  if (options.seats && options.join_only) return "--join-only buys nothing: --seats does not belong to it";
  for (const auto& code : options.promo_codes)
    if (code.empty() || code.find_first_of("\"\\\r\n") != std::string::npos)
      return "--promo-code is not a code: " + code;
  return {};
}

} // namespace

option_result read_options(int argc, const char* const* argv) {
  option_result out;
  load_options options;
  CLI::App app{"A crowd of fans against a FairQueue server, and a check of what they saw.\n"
               "Exit code: 0 every check holds, 1 an invariant broke, 2 usage or server not reached,\n"
               "3 the time ran out before the sale was decided.",
               "fairqueue-load"};
  bool own_connection = false; // --connection-per-fan only states the default
  add_sale_options(app, options);
  add_fan_options(app, options);
  add_run_options(app, options, own_connection);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    out.message = app.help();
    return out;
  } catch (const CLI::ParseError& error) {
    out.exit_code = 2;
    out.message = std::string("fairqueue-load: ") + error.what() + "\n(--help lists the options)\n";
    return out;
  }
  options.seed_given = app.count("--seed") > 0;
  if (options.join_only && options.connections == 0) options.connections = 256;
  if (const auto problem = problem_with(options); !problem.empty()) {
    out.exit_code = 2;
    out.message = "fairqueue-load: " + problem + "\n";
    return out;
  }
  out.options = options;
  return out;
}

std::string complete_from_demo(load_options& options) {
  if (options.event.empty()) {
    const auto path = options.data_dir + "/demo.json";
    std::ifstream file(path);
    if (!file)
      return "--event is missing and " + path + " cannot be read (is the server running with --demo here?)";
    std::ostringstream text;
    text << file.rdbuf();
    boost::system::error_code error;
    const auto value = boost::json::parse(text.str(), error);
    const auto* object = error ? nullptr : value.if_object();
    const auto* event = object != nullptr ? object->if_contains("event_id") : nullptr;
    if (event == nullptr || !event->is_string()) return path + " names no event_id";
    options.event = std::string(event->as_string());
    const auto* base = object->if_contains("base_url");
    if (options.url.empty() && base != nullptr && base->is_string())
      options.url = std::string(base->as_string());
  }
  if (options.url.empty()) options.url = "http://127.0.0.1:8080";
  return problem_with(options);
}

} // namespace fq::load
