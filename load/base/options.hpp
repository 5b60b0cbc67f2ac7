// SPDX-License-Identifier: Apache-2.0
// The command line of fairqueue-load, read once by main. Everything is checked before a socket opens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fq::load {

enum class arrival_shape : std::uint8_t { spike, ramp, poisson };

// How fans come to their tickets: POST /events/{id}/claims, POST /checkout, or every other fan this way.
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
  std::vector<std::string> promo_codes; // fans who check out use one of them now and then
  bool no_queue = false; // checkout only: nobody joins; also so in an event of the policy open
  std::string organizer_token_file; // empty: a token is minted from the key in the data folder
  double timeout_s = 120;
  double request_timeout_s = 10;
  double think_ms = 150;
  // No options of the command line; tests shorten them.
  std::int64_t watch_interval_ms = 1000; // how often the coordinator looks at the event
  double reach_s = 5; // how long the first look may take
  double books_s = 30; // how long the organizer's books may take to settle at the end
  std::uint32_t connections = 0; // 0: one for each fan
  std::uint32_t source_addresses = 4;
  std::uint64_t seed = 0;
  bool seed_given = false;
  bool join_only = false;
  bool with_keys = false; // join_only: send Idempotency-Key too
  bool allow_remote = false;
  bool quiet = false;
  std::string json_path;
  std::string html_path;
};

inline constexpr std::uint32_t fans_max = 1'000'000;

struct option_result {
  std::optional<load_options> options;
  int exit_code = 0; // when there are no options: 0 after --help, 2 after a mistake
  std::string message; // what to print then
};

option_result read_options(int argc, const char* const* argv);

// Fills url and event from <data>/demo.json where they were not given. Returns what is missing, or "".
std::string complete_from_demo(load_options& options);

} // namespace fq::load
