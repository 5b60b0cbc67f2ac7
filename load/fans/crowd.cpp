// SPDX-License-Identifier: Apache-2.0
#include "load/fans/crowd.hpp"

#include "load/base/tokens.hpp"
#include "load/fans/fan_parts.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace fq::load {

namespace {

std::string hex(std::uint64_t value) { return to_string(uuid{value, 0}).substr(0, 8); }

} // namespace

crowd::crowd(const load_options& options, std::vector<std::string> tokens) :
    options_(options),
    tokens_(std::move(tokens)),
    hub_(context_, options.source_addresses),
    start_timer_(context_),
    watch_timer_(context_),
    sweep_timer_(context_),
    books_timer_(context_),
    random_(options.seed) {
  std::string why;
  server_ = parse_http_url(options_.url).value_or(http_url{});
  if (const auto found = resolve(server_, options_.allow_remote, why)) endpoint_ = *found;
  prefix_ = server_.target;
  while (!prefix_.empty() && prefix_.back() == '/') prefix_.pop_back();
  // Idempotency keys must differ between runs, also with the same seed.
  run_name_ = "load-" + hex(system_random());
  watch_link_ = std::make_unique<link>(hub_, endpoint_);
  if (options_.seats) seat_pool_ = std::make_unique<link_pool>(hub_, endpoint_, seat_connections);
  if (options_.connections > 0) pool_ = std::make_unique<link_pool>(hub_, endpoint_, options_.connections);
}

crowd::~crowd() = default;

steady::time_point crowd::request_deadline() const {
  const auto limit =
    steady::now() + std::chrono::microseconds(static_cast<run_time_us>(options_.request_timeout_s * 1e6));
  return std::min(limit, run_deadline());
}

void crowd::complain(std::size_t fan, const std::string& what) {
  if (result_.complaints.size() < complaint_limit)
    result_.complaints.push_back("fan " + std::to_string(fan) + ": " + what);
}

crowd_result crowd::run(const std::function<void(const progress&)>& show) {
  const auto plans = fan_plans(options_, random_);
  arrivals_ = arrival_times(options_, random_);
  auto& histories = result_.history.fans;
  histories.resize(options_.fans);
  fans_.reserve(options_.fans);
  for (std::size_t i = 0; i < options_.fans; ++i) {
    histories[i].plan = plans[i].what;
    histories[i].websocket = plans[i].websocket;
    fans_.push_back(std::make_unique<fan>(*this, i, tokens_[i], histories[i]));
  }
  choose_buyers();
  clock_.restart();
  deadline_us_ = static_cast<run_time_us>(std::min(options_.reach_s, options_.timeout_s) * 1e6);
  asio::co_spawn(context_, keep_deadlines(show), asio::detached);
  asio::co_spawn(context_, watch_event(), asio::detached);
  context_.run();
  finish_history();
  return std::move(result_);
}

// Reads the event first, then starts the fans, then polls the event until all are done.
asio::awaitable<void> crowd::watch_event() {
  while (!result_.reached && !time_is_over()) {
    result_.reached = co_await look_at_event(true);
    if (result_.reached || time_is_over()) break;
    watch_timer_.expires_after(std::chrono::milliseconds(200));
    co_await watch_timer_.async_wait(as_result);
  }
  if (!result_.reached) {
    watch_done_ = true;
    co_return stop_everything();
  }
  deadline_us_ = now_us() + static_cast<run_time_us>(options_.books_s * 1e6);
  co_await read_first_books();
  if (!questions().empty() && options_.buy_by != buying_way::checkout) {
    result_.failure = "the event has required questions: --buy-by checkout answers them";
    result_.reached = false;
  } else if (options_.seats) {
    result_.reached = co_await read_first_seats();
  }
  if (!result_.reached) {
    watch_done_ = true;
    co_return stop_everything();
  }
  clock_.restart();
  deadline_us_ = static_cast<run_time_us>(options_.timeout_s * 1e6);
  asio::co_spawn(context_, start_fans(), asio::detached);
  while (!time_is_over() && progress_.finished < options_.fans) {
    watch_timer_.expires_after(std::chrono::milliseconds(options_.watch_interval_ms));
    co_await watch_timer_.async_wait(as_result);
    if (!time_is_over() && progress_.finished < options_.fans) co_await look_at_event(false);
    co_await follow_seats();
  }
  co_await look_at_event(false);
  fans_elapsed_s_ = static_cast<double>(now_us()) / 1e6;
  co_await read_last_books();
  co_await read_last_seats();
  watch_link_->close();
  watch_done_ = true;
}

// False if there was no usable answer.
asio::awaitable<bool> crowd::look_at_event(bool first) {
  const std::string text =
    "GET " + target("/events/" + options_.event) + " HTTP/1.1\r\nHost: " + server_.authority() + "\r\n\r\n";
  http_reply reply;
  const auto result = co_await watch_link_->exchange(text, reply, steady::now() + std::chrono::seconds(3));
  if (result != transfer::answered) {
    result_.failure = "no answer from " + options_.url;
    co_return false;
  }
  const auto event = read_event(parse_object(reply.body));
  if (reply.status != 200 || !event) {
    result_.failure = "GET /events/" + options_.event + " answered " + std::to_string(reply.status);
    co_return false;
  }
  take_event(*event, first);
  co_return true;
}

void crowd::take_event(const event_answer& event, bool first) {
  auto& terms = result_.history.terms;
  if (first) {
    terms = event.terms;
    return;
  }
  bool same = event.terms.types.size() == terms.types.size() && event.terms.batch_size == terms.batch_size
              && event.terms.claims_per_customer == terms.claims_per_customer;
  for (std::size_t i = 0; same && i < terms.types.size(); ++i)
    same = event.terms.types[i].id == terms.types[i].id && event.terms.types[i].total == terms.types[i].total
           && event.terms.types[i].price == terms.types[i].price;
  result_.history.terms_changed |= !same;
  terms.batch_size = std::max(terms.batch_size, event.terms.batch_size);
  sold_out_in_a_row_ = event.sold_out && event.available == 0 ? sold_out_in_a_row_ + 1 : 0;
  if (sold_out_in_a_row_ >= sold_out_needed && !result_.history.sold_out_seen) {
    result_.history.sold_out_seen = true;
    result_.history.sold_out_at_us = now_us();
    end_sale();
  }
  if (event.terms.status == "ENDED" || event.terms.status == "CANCELLED") end_sale();
}

void crowd::end_sale() {
  if (sale_over_) return;
  sale_over_ = true;
  for (auto& each : fans_) each->wake();
}

asio::awaitable<void> crowd::start_fans() {
  for (std::size_t i = 0; i < fans_.size() && !time_is_over(); ++i) {
    if (arrivals_[i] > now_us()) {
      start_timer_.expires_at(clock_.at(arrivals_[i]));
      co_await start_timer_.async_wait(as_result);
    }
    if (time_is_over()) break;
    ++progress_.arrived;
    asio::co_spawn(context_, one_fan(i), asio::detached);
  }
}

asio::awaitable<void> crowd::one_fan(std::size_t index) {
  co_await fans_[index]->live();
  ++progress_.finished;
  progress_.bought += result_.history.fans[index].end == outcome::bought;
  if (progress_.finished == options_.fans) watch_timer_.cancel();
}

asio::awaitable<void> crowd::keep_deadlines(const std::function<void(const progress&)>& show) {
  for (int round = 0;; ++round) {
    sweep_timer_.expires_after(sweep_interval);
    co_await sweep_timer_.async_wait(as_result);
    hub_.sweep(steady::now());
    if (show && result_.reached && round % 2 == 0) show(current_progress());
    if (time_is_over()) stop_everything(); // repeated: a fan may have started another wait meanwhile
    if (watch_done_ && progress_.finished == (time_is_over() ? progress_.arrived : options_.fans)) break;
  }
  if (show && result_.reached) show(current_progress());
  result_.elapsed_s = fans_elapsed_s_ > 0 ? fans_elapsed_s_ : static_cast<double>(now_us()) / 1e6;
}

void crowd::stop_everything() {
  stopped_ = true;
  start_timer_.cancel();
  watch_timer_.cancel();
  for (auto& each : fans_)
    if (!each->done()) each->stop();
}

progress crowd::current_progress() const {
  auto out = progress_;
  out.elapsed_s = static_cast<double>(now_us()) / 1e6;
  out.fans = options_.fans;
  for (std::size_t which = 0; which < step_count; ++which)
    out.retries += result_.steps.of(static_cast<step>(which)).retries();
  return out;
}

void crowd::finish_history() {
  for (auto& each : result_.history.fans) {
    if (each.end == outcome::running) each.end = outcome::timed_out;
    result_.timed_out |= each.end == outcome::timed_out;
  }
}

} // namespace fq::load
