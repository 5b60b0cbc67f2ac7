// SPDX-License-Identifier: Apache-2.0
// One run: all fans on one thread, the coordinator that polls the event, and the deadline. Called by main and
// by tests. Returns a history, which the checker judges.
#pragma once

#include "load/base/chance.hpp"
#include "load/base/history.hpp"
#include "load/base/metrics.hpp"
#include "load/base/options.hpp"
#include "load/base/url.hpp"
#include "load/fans/arrival.hpp"
#include "load/wire/link.hpp"
#include "load/wire/seat_wire.hpp"
#include "load/wire/wire.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fq::load {

class fan;

struct progress {
  double elapsed_s = 0;
  std::uint32_t fans = 0;
  std::uint32_t arrived = 0;
  std::uint32_t joined = 0;
  std::uint32_t admitted = 0;
  std::uint32_t bought = 0;
  std::uint32_t finished = 0;
  std::uint64_t retries = 0;
};

struct crowd_result {
  sale_history history;
  metrics steps;
  double elapsed_s = 0;
  bool reached = false; // the event was found
  bool timed_out = false; // some fans were not done at the deadline
  std::uint64_t replayed = 0;
  // answers to POST /checkout: processing, ready, or the problem code
  std::map<std::string, std::uint64_t> checkouts;
  std::vector<std::string> complaints; // unexpected answers, at most complaint_limit
  std::string failure; // why the event was not found
};

// Shared by the fans of one run. Used by its own thread only.
class crowd {
public:
  crowd(const load_options& options, std::vector<std::string> tokens);
  ~crowd();

  // Blocks until every fan is done or the deadline has passed; at most a few seconds longer than the timeout.
  crowd_result run(const std::function<void(const progress&)>& show);

  // ---- for the fans ----
  [[nodiscard]] run_time_us now_us() const { return clock_.now_us(); }
  [[nodiscard]] bool time_is_over() const { return stopped_ || now_us() >= deadline_us_; }
  [[nodiscard]] bool sale_is_over() const { return sale_over_; }
  [[nodiscard]] steady::time_point request_deadline() const;
  [[nodiscard]] steady::time_point run_deadline() const { return clock_.at(deadline_us_); }
  [[nodiscard]] const load_options& options() const { return options_; }
  [[nodiscard]] const http_url& server() const { return server_; }
  [[nodiscard]] const asio::ip::tcp::endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] const std::string& event() const { return options_.event; }
  // The request target of an API path: the URL's own path, then `path`.
  [[nodiscard]] std::string target(const std::string& path) const { return prefix_ + path; }
  [[nodiscard]] const std::string& run_name() const { return run_name_; }
  // True if checkout joins the queue automatically.
  [[nodiscard]] bool is_without_queue() const {
    return options_.no_queue || result_.history.terms.policy == "open";
  }
  [[nodiscard]] std::vector<ticket_type_terms> ticket_types() const { return result_.history.terms.types; }
  [[nodiscard]] const std::vector<question_terms>& questions() const {
    return result_.history.terms.questions;
  }
  chance& random() { return random_; }
  metrics& steps() { return result_.steps; }
  link_hub& hub() { return hub_; }
  link_pool* pool() { return pool_.get(); }
  void complain(std::size_t fan, const std::string& what);
  void count_replay() { ++result_.replayed; }
  void count_joined() { ++progress_.joined; }
  void count_checkout(const std::string& answer) { ++result_.checkouts[answer]; }
  void count_admitted() { ++progress_.admitted; }
  void count_refused_seats() { ++result_.history.seats.refused; }
  // ---- the event's seats (crowd_seats.cpp) ----
  // `is_modest`: the fan wants one seat, whichever.
  [[nodiscard]] std::string claim_text(const std::string& admission_token, bool is_modest);
  [[nodiscard]] std::vector<order_item> wanted_seats(bool is_modest);
  // Null if there was no usable answer. Without a token the request is anonymous.
  asio::awaitable<boost::json::value> ask_seats(std::string path, std::string_view token = {});
  // False: the answer could not be applied.
  bool take_seats(const boost::json::value& answer, seat_states& map);
  void see_claimed(const std::vector<std::string>& seats, run_time_us at_us);
  void see_map(const seat_states& map);

private:
  asio::awaitable<void> start_fans();
  asio::awaitable<void> one_fan(std::size_t index);
  asio::awaitable<void> watch_event();
  asio::awaitable<bool> look_at_event(bool first);
  asio::awaitable<void> keep_deadlines(const std::function<void(const progress&)>& show);
  void take_event(const event_answer& event, bool first);
  // ---- the organizer's books (crowd_books.cpp) ----
  void choose_buyers();
  void find_organizer();
  asio::awaitable<void> read_first_books();
  asio::awaitable<void> read_last_books();
  asio::awaitable<bool> read_books(sale_books& out);
  asio::awaitable<boost::json::value> ask_books(std::string path);
  // ---- the event's seats (crowd_seats.cpp) ----
  asio::awaitable<bool> read_first_seats();
  asio::awaitable<void> follow_seats();
  asio::awaitable<void> read_last_seats();
  asio::awaitable<bool> read_last_maps(std::uint64_t version);
  std::vector<std::size_t> free_seats(std::size_t count);
  void end_sale();
  void stop_everything();
  [[nodiscard]] progress current_progress() const;
  void finish_history();

  load_options options_;
  std::vector<std::string> tokens_;
  http_url server_;
  asio::ip::tcp::endpoint endpoint_;
  std::string prefix_;
  std::string run_name_;
  asio::io_context context_{1};
  link_hub hub_;
  std::unique_ptr<link_pool> pool_;
  std::unique_ptr<link_pool> seat_pool_; // fans' own connections wait on WebSockets
  std::unique_ptr<link> watch_link_;
  asio::steady_timer start_timer_;
  asio::steady_timer watch_timer_;
  asio::steady_timer sweep_timer_;
  asio::steady_timer books_timer_;
  std::string organizer_token_; // empty: do not read the books
  double fans_elapsed_s_ = 0;
  chance random_;
  run_clock clock_;
  run_time_us deadline_us_ = 0;
  bool sale_over_ = false;
  bool stopped_ = false;
  bool watch_done_ = false;
  int sold_out_in_a_row_ = 0;
  std::vector<run_time_us> arrivals_;
  std::vector<std::unique_ptr<fan>> fans_;
  progress progress_;
  crowd_result result_;
  std::vector<hall_seat> hall_; // empty without --seats
  seat_states seats_;
  std::unordered_map<std::string, std::size_t> seat_numbers_;
  std::vector<run_time_us> claimed_at_us_; // by seat; -1: no claim that was answered
};

} // namespace fq::load
