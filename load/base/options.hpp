// SPDX-License-Identifier: Apache-2.0
// The command line of fairqueue-load, read once by main. All options are checked before a socket opens.
#pragma once
#include "load/base/limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fq::load {

enum class arrival_shape : std::uint8_t { spike, ramp, poisson };

// How fans buy: POST /events/{id}/claims, POST /checkout, or both, alternating by fan.
enum class buying_way : std::uint8_t { claims, checkout, mixed };

struct load_options {
  std::string url;
  std::string event;
  std::string data_dir = "./fairqueue-data";
  std::string token_file;
  std::uint32_t fans = 5000;
  arrival_shape arrival = arrival_shape::spike;
  double arrival_s = 5;
  double no_show_percent = 10;
  double abandon_percent = 5;
  double decline_percent = 5;
  double websocket_percent = 50;
  buying_way buy_by = buying_way::claims;
  std::vector<std::string> promo_codes; // used by some of the fans that check out
  bool no_queue = false; // checkout only: fans do not join a queue; implied by the event policy "open"
  std::string organizer_token_file; // empty: mint a token from the key in the data folder
  double timeout_s = 120;
  double request_timeout_s = 10;
  double think_ms = 150;
  // Not on the command line; tests shorten these times.
  std::int64_t watch_interval_ms = 1000; // interval of the coordinator's GET of the event
  double reach_s = 5; // time limit of the first GET of the event
  double books_s = 30; // time limit for the organizer's books to settle at the end
  std::uint32_t connections = 0; // 0: one per fan
  std::uint32_t source_addresses = 4;
  std::uint64_t seed = 0;
  bool seed_given = false;
  bool seats = false; // the event has a seat plan: fans name seats or want the best ones
  bool join_only = false;
  bool with_keys = false; // for join_only: also send Idempotency-Key
  bool allow_remote = false;
  bool quiet = false;
  std::string json_path;
  std::string html_path;
};

struct option_result {
  std::optional<load_options> options;
  int exit_code = 0; // if there are no options: 0 after --help, 2 after a mistake
  std::string message; // to print in that case
};

option_result read_options(int argc, const char* const* argv);

// Fills url and event from <data>/demo.json if they are not given. Returns what is missing, or "".
std::string complete_from_demo(load_options& options);

} // namespace fq::load
