// SPDX-License-Identifier: Apache-2.0
// One simulated fan, from joining to the ticket, as a coroutine over its own connection. It records what it
// sees in its fan_history and judges nothing.
#pragma once

#include "load/fans/crowd.hpp"
#include "load/wire/order_wire.hpp"
#include "load/wire/wire.hpp"

#include <boost/json/value.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace fq::load {

class fan {
public:
  fan(crowd& around, std::size_t index, std::string_view token, fan_history& history);

  asio::awaitable<void> live();
  // The sale is over: stops waiting in line.
  void wake();
  // The deadline has passed: ends every wait.
  void stop();
  // Call before live(): the fan buys by POST /checkout instead of a claim.
  void check_out_from_now() { checks_out_ = true; }
  [[nodiscard]] bool done() const { return history_.end != outcome::running; }
  // Empty unless the fan has followed the seats on a WebSocket.
  seat_states& map() { return map_; }

private:
  // One API call with its retries. Unanswered only when the deadline has passed.
  struct answer {
    bool answered = false;
    int status = 0;
    run_time_us first_sent_us = 0;
    run_time_us sent_us = 0;
    run_time_us at_us = 0;
    boost::json::value body;
    std::string code; // of a problem answer
  };
  struct request_plan {
    step which = step::poll;
    std::string_view method;
    std::string target;
    std::string key; // empty: no Idempotency-Key
    std::string body; // empty: none
    bool json_accept = false;
    int wait_s = 0; // Prefer: wait=N; 0: not sent
    const http_url* elsewhere = nullptr; // a server other than the run's
  };

  asio::awaitable<answer> call(request_plan plan);
  asio::awaitable<transfer> send(const request_plan& plan, const std::string& text, http_reply& reply);
  asio::awaitable<void> back_off(int attempt, int retry_after_s);
  asio::awaitable<void> nap(run_time_us how_long_us);
  asio::awaitable<void> think();
  [[nodiscard]] std::string request_text(const request_plan& plan) const;
  std::string next_key(std::string_view what);

  asio::awaitable<void> live_in_line();
  asio::awaitable<void> join();
  asio::awaitable<void> look();
  asio::awaitable<void> wait_for_turn();
  asio::awaitable<void> wait_on_socket();
  asio::awaitable<bool> open_socket(run_time_us& sent_us);
  asio::awaitable<void> follow_socket(run_time_us sent_us);
  bool on_frame(const ws_frame& frame, run_time_us sent_us, std::int64_t& reconnect_after_ms);
  void on_socket_event(std::string_view type, const boost::json::value& event, run_time_us sent_us);
  asio::awaitable<void> on_place_over();

  // ---- the seat map (fan_seats.cpp) ----
  asio::awaitable<void> read_first_map();
  asio::awaitable<void> catch_up_map();
  void hear_seats(const boost::json::value& frame);
  // Others had the seats, or the rules forbid the choice.
  static bool is_seat_refusal(std::string_view code);
  asio::awaitable<void> on_refused_seats(std::string_view code);

  asio::awaitable<void> shop();
  asio::awaitable<void> take_claim();
  asio::awaitable<void> look_at_claim();
  asio::awaitable<void> pay(std::string attempts_target, std::string_view action);
  asio::awaitable<void> visit_gateway(std::string_view action);
  asio::awaitable<void> look_at_payment();
  asio::awaitable<void> await_verdict(run_time_us paid_us);
  asio::awaitable<void> release_claim();

  // ---- buying by POST /checkout (checkout_fan.cpp) ----
  asio::awaitable<void> live_without_queue();
  asio::awaitable<void> check_out();
  asio::awaitable<void> place_order();
  asio::awaitable<void> on_no_order(const answer& got, std::int64_t wanted_units);
  asio::awaitable<void> await_page();
  asio::awaitable<void> pay_order();
  asio::awaitable<void> retry_order();
  asio::awaitable<void> give_order_up();
  asio::awaitable<void> await_order();
  asio::awaitable<void> look_at_status(int wait_s);
  asio::awaitable<void> read_whole_order();
  asio::awaitable<void> finish_order();
  [[nodiscard]] std::vector<order_item> wanted_items();
  [[nodiscard]] std::string wanted_promo();
  void see_order(const order_answer& order, const answer& from);
  void note_order(order_sight observation);

  void see_entry(const entry_answer& entry, run_time_us sent_us, run_time_us at_us);
  void see_place(place_kind kind, const entry_answer& entry, run_time_us sent_us, run_time_us at_us);
  void see_claim(claim_sight observation, const answer& from);
  void see_payment(payment_answer payment, const answer& from);
  void fail(const answer& from, std::string_view doing);
  void end(outcome how);

  crowd& around_;
  std::size_t index_;
  std::string_view token_;
  fan_history& history_;
  link link_;
  asio::steady_timer timer_;
  std::unique_ptr<link> gateway_link_;
  bool in_line_ = false; // waiting for the turn: the end of the sale may interrupt
  bool socket_refused_ = false;
  int rejoins_ = 0;
  int shop_rounds_ = 0;
  int server_errors_ = 0;
  unsigned keys_made_ = 0;

  place_kind place_ = place_kind::absent;
  entry_answer entry_;
  run_time_us join_acked_us_ = 0;

  // The current claim and payment; a nil id means none.
  claim_sight claim_;
  run_time_us claim_first_sent_us_ = -1;
  payment_answer payment_;

  // The current order; a nil id means none.
  bool checks_out_ = false;
  order_answer order_;
  run_time_us checkout_sent_us_ = 0; // of the first attempt to place it
  bool is_cautious_ = false; // a larger order was refused: order one ticket
  bool tries_promo_ = true;
  seat_states map_;
  bool map_is_behind_ = false; // it must be read
  bool is_modest_ = false; // the seats that it wanted were refused: any single one is welcome
};

} // namespace fq::load
