// SPDX-License-Identifier: Apache-2.0
// A fan that buys by POST /checkout: places an order, waits for its payment page, then pays, declines,
// retries, cancels or leaves.
#include "load/fans/fan_parts.hpp"

#include <algorithm>

namespace fq::load {

namespace {

// Shares of the fans, from 0 to 1.
constexpr double prefers_wait = 0.25;
constexpr double donates = 0.2;
constexpr double uses_promo = 0.6;
constexpr double tries_again = 0.5;
constexpr double gives_up = 0.5;
constexpr double pays_what_was_given_up = 0.25;
constexpr std::uint64_t donation_most = 500;

bool is_final(order_status status) { return !is_open(status); }

} // namespace

// ---- the course of an order ---------------------------------------------------------------------------

// An open event: fans do not wait in line, and checkout joins automatically.
asio::awaitable<void> fan::live_without_queue() {
  if (history_.plan == behaviour::no_show) co_return end(outcome::no_show);
  while (!done()) {
    if (around_.time_is_over()) co_return end(outcome::timed_out);
    if (++shop_rounds_ > shop_rounds_max) co_return end(outcome::missed);
    co_await think();
    co_await check_out();
  }
}

// One round. Returns when the fan is done or can try again at its current place.
asio::awaitable<void> fan::check_out() {
  order_ = order_answer{};
  co_await place_order();
  if (done() || order_.order.is_nil()) co_return;
  co_await await_page();
  if (done()) co_return;
  co_await read_whole_order();
  if (done()) co_return;
  if (history_.plan == behaviour::abandon) {
    if (around_.random().unit() < gives_up) co_await give_order_up();
    co_return end(outcome::abandoned);
  }
  if (order_.status == order_status::awaiting_payment && !order_.payment_url.empty()) {
    co_await think();
    co_await pay_order();
  }
  if (done()) co_return;
  co_await finish_order();
}

// Leaves order_ nil if no order was placed.
asio::awaitable<void> fan::place_order() {
  checkout_wish wish;
  wish.event = around_.event();
  if (!around_.is_without_queue()) wish.admission_token = entry_.admission_token;
  wish.email = address_of(index_, around_.run_name());
  wish.items = around_.options().seats ? around_.wanted_seats(is_modest_ || is_cautious_) : wanted_items();
  wish.promo_code = wanted_promo();
  wish.questions = around_.questions();
  request_plan plan;
  plan.which = step::checkout;
  plan.method = "POST";
  plan.target = around_.target("/checkout");
  plan.key = next_key("checkout");
  plan.body = checkout_text(wish);
  plan.wait_s = around_.random().unit() < prefers_wait ? prefer_wait_s : 0;
  const auto got = co_await call(std::move(plan));
  const auto order = read_order_status(got.body);
  if ((got.status != 200 && got.status != 202) || !order) {
    std::int64_t units = 0;
    for (const auto& each : wish.items) units += each.quantity;
    co_return co_await on_no_order(got, units);
  }
  around_.count_checkout(got.status == 202 ? "processing" : "ready");
  around_.steps().of(step::checkout).add(got.first_sent_us, got.at_us);
  checkout_sent_us_ = got.first_sent_us;
  history_.wishes.push_back({order->order, std::move(wish.items), std::move(wish.promo_code)});
  see_order(*order, got);
}

// Handles a refused order by its reason: the fan orders less, drops its code, waits, or leaves.
asio::awaitable<void> fan::on_no_order(const answer& got, std::int64_t wanted_units) {
  if (!got.answered) {
    ++history_.unknown_checkouts;
    history_.unknown_checkout_units += static_cast<std::uint32_t>(wanted_units);
    co_return end(outcome::timed_out);
  }
  around_.count_checkout(got.code.empty() ? std::to_string(got.status) : got.code);
  if (got.code == "event_sold_out") {
    history_.told_sold_out.push_back(got.at_us);
    co_return end(outcome::sold_out);
  }
  if (got.code == "event_ended") co_return end(outcome::ended);
  if (got.code.starts_with("promo_code_")) {
    tries_promo_ = false;
    co_return;
  }
  if (got.code == "limit_exceeded" && is_cautious_) co_return end(outcome::refused);
  if (is_seat_refusal(got.code)) co_return co_await on_refused_seats(got.code);
  const bool may_come = got.code == "none_free" || got.code == "sale_not_started" || got.code == "queue_full"
                        || got.code == "queue_not_open" || got.code == "already_claimed";
  if (!may_come && got.code != "limit_exceeded" && got.code != "not_on_sale" && got.code != "not_admitted")
    co_return fail(got, "checkout");
  is_cautious_ = true;
  if (may_come)
    co_await nap(none_free_pause_us / 2
                 + static_cast<run_time_us>(around_.random().under(none_free_pause_us)));
  if (around_.is_without_queue()) {
    if (got.code == "not_admitted") fail(got, "checkout");
    co_return;
  }
  const auto had = entry_.entry;
  co_await look();
  if (got.code == "not_admitted" && place_ == place_kind::admitted && entry_.entry == had)
    co_await nap(not_open_pause_us);
}

// Waits until the order can be paid or needs no payment.
asio::awaitable<void> fan::await_page() {
  const int wait_s = around_.random().unit() < prefers_wait ? prefer_wait_s : 0;
  bool first = true;
  while (!done() && is_open(order_.status) && order_.payment_url.empty() && !order_.can_retry) {
    if (wait_s == 0 || !first) // pause also for servers that ignore Prefer: wait
      co_await nap(std::clamp(order_.poll_after_ms, order_poll_min_ms, order_poll_max_ms) * ms_us);
    first = false;
    co_await look_at_status(wait_s);
  }
  if (!done() && !order_.payment_url.empty())
    around_.steps().of(step::order_page).add(checkout_sent_us_, around_.now_us());
}

// Acts on the order's payment page; read_whole_order has read the payment.
asio::awaitable<void> fan::pay_order() {
  const bool declines = history_.plan == behaviour::decline;
  payment_.authorization_url = order_.payment_url;
  co_await visit_gateway(declines ? "decline" : "pay");
  if (done()) co_return;
  const auto settled_us = around_.now_us();
  co_await await_order();
  if (done()) co_return;
  if (order_.status == order_status::success)
    around_.steps().of(step::confirm).add(settled_us, around_.now_us());
  if (!payment_.observation.payment.is_nil()) co_await look_at_payment();
  if (!done() && declines && order_.status == order_status::awaiting_payment) co_await retry_order();
}

// After a decline: pays, cancels the order, or leaves.
asio::awaitable<void> fan::retry_order() {
  co_await think();
  if (order_.can_retry && !order_.payments_url.empty() && around_.random().unit() < tries_again) {
    payment_ = payment_answer{};
    co_await pay(order_.payments_url, "pay");
    if (!done()) co_await await_order();
    co_return;
  }
  if (around_.random().unit() < gives_up) co_await give_order_up();
}

// Cancels the order. Some fans still pay at the old page: that money must be refunded.
asio::awaitable<void> fan::give_order_up() {
  const auto page = order_.payment_url;
  request_plan plan;
  plan.which = step::leave;
  plan.method = "DELETE";
  plan.target = around_.target("/orders/" + to_string(order_.order));
  const auto got = co_await call(std::move(plan));
  if (!got.answered) co_return end(outcome::timed_out);
  const auto order = read_order_status(got.body);
  if (got.status == 200 && order) {
    around_.steps().of(step::leave).add(got.first_sent_us, got.at_us);
    see_order(*order, got);
  } else if (got.status != 409) { // 409: settled meanwhile
    co_return fail(got, "order");
  }
  if (!page.empty() && around_.random().unit() < pays_what_was_given_up) {
    payment_.authorization_url = page;
    co_await visit_gateway("pay");
  }
  if (done()) co_return;
  co_await read_whole_order();
  if (!done() && !payment_.observation.payment.is_nil()) co_await look_at_payment();
}

// Polls until the order is settled or, after a decline, can be retried.
asio::awaitable<void> fan::await_order() {
  auto pause_us = verdict_first_pause_us;
  while (!done()) {
    co_await look_at_status(0);
    if (done() || is_final(order_.status) || order_.can_retry) co_return;
    co_await nap(pause_us);
    pause_us = std::min(pause_us * 3 / 2, verdict_pause_max_us);
  }
}

// Reads the order for the last time and ends the fan. A buyer without a ticket tries again.
asio::awaitable<void> fan::finish_order() {
  co_await read_whole_order();
  if (done()) co_return;
  if (!payment_.observation.payment.is_nil()) {
    co_await look_at_payment();
    if (done()) co_return;
  }
  if (is_bought(order_.status)) {
    around_.steps().of(step::order_success).add(checkout_sent_us_, around_.now_us());
    co_return end(outcome::bought);
  }
  if (history_.plan == behaviour::decline) co_return end(outcome::declined);
  if (!around_.is_without_queue()) co_await look();
}

// ---- reading ------------------------------------------------------------------------------------------

asio::awaitable<void> fan::look_at_status(int wait_s) {
  request_plan plan;
  plan.which = step::order_poll;
  plan.method = "GET";
  plan.target = around_.target("/orders/" + to_string(order_.order) + "/status");
  plan.wait_s = wait_s;
  const auto got = co_await call(std::move(plan));
  if (!got.answered) co_return end(outcome::timed_out);
  if (got.status == 404) {
    note_order({checkout_sent_us_, got.sent_us, got.at_us, order_.order, {}, {}, 0, {}, {}});
    co_return fail(got, "order status");
  }
  const auto order = read_order_status(got.body);
  if (got.status != 200 || !order) co_return fail(got, "order status");
  around_.steps().of(step::order_poll).add(got.first_sent_us, got.at_us);
  see_order(*order, got);
}

asio::awaitable<void> fan::read_whole_order() {
  request_plan plan;
  plan.which = step::order_read;
  plan.method = "GET";
  plan.target = around_.target("/orders/" + to_string(order_.order));
  const auto got = co_await call(std::move(plan));
  if (!got.answered) co_return end(outcome::timed_out);
  if (got.status == 404) {
    note_order({checkout_sent_us_, got.sent_us, got.at_us, order_.order, {}, {}, 0, {}, {}});
    co_return fail(got, "order");
  }
  auto order = read_order(got.body);
  if (got.status != 200 || !order) co_return fail(got, "order");
  around_.steps().of(step::order_read).add(got.first_sent_us, got.at_us);
  order->first_sent_us = checkout_sent_us_;
  order->sent_us = got.sent_us;
  order->at_us = got.at_us;
  order_.status = *order->status;
  payment_ = payment_answer{};
  payment_.observation.payment = order->payment;
  note_order(std::move(*order));
}

// ---- wishes -------------------------------------------------------------------------------------------

// One to three types in random order, sometimes two of one, sometimes with a donation. After a refusal, one
// ticket.
std::vector<order_item> fan::wanted_items() {
  auto types = around_.ticket_types();
  auto& random = around_.random();
  for (std::size_t i = types.size(); i > 1; --i) std::swap(types[i - 1], types[random.under(i)]);
  const auto most = is_cautious_ ? std::size_t{1} : 1 + random.under(3);
  types.resize(std::min(types.size(), most));
  std::vector<order_item> out;
  for (const auto& type : types) {
    order_item item;
    item.ticket_type = type.id;
    item.quantity = is_cautious_ ? 1
                                 : 1
                                     + static_cast<std::int64_t>(random.under(static_cast<std::uint64_t>(
                                       std::clamp<std::int64_t>(type.max_per_order, 1, 2))));
    if (random.unit() < donates) item.donation = 1 + static_cast<std::int64_t>(random.under(donation_most));
    out.push_back(item);
  }
  return out;
}

std::string fan::wanted_promo() {
  const auto& codes = around_.options().promo_codes;
  if (codes.empty() || !tries_promo_ || around_.random().unit() >= uses_promo) return {};
  return codes[around_.random().under(codes.size())];
}

// ---- what was seen ------------------------------------------------------------------------------------

void fan::see_order(const order_answer& order, const answer& from) {
  order_ = order;
  note_order({checkout_sent_us_, from.sent_us, from.at_us, order.order, order.status, {}, 0, {}, {}});
}

// Polling repeats equal states: keeps only the latest of equal sightings without terms.
void fan::note_order(order_sight observation) {
  auto& seen = history_.orders;
  if (!seen.empty() && !observation.terms && seen.back().order == observation.order
      && seen.back().status == observation.status)
    seen.back().sent_us = observation.sent_us;
  else
    seen.push_back(std::move(observation));
}

} // namespace fq::load
