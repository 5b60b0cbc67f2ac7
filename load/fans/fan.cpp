// SPDX-License-Identifier: Apache-2.0
// See fan.hpp. The life of a fan reads from live() downwards; waiting on a WebSocket is in fan_socket.cpp,
// buying by checkout in checkout_fan.cpp, calls and retries in fan_calls.cpp.
#include "load/fans/fan_parts.hpp"

#include <algorithm>

namespace fq::load {

namespace {

bool is_settled(payment_status status) {
  switch (status) {
    case payment_status::confirmed:
    case payment_status::failed:
    case payment_status::quarantined:
    case payment_status::refunded:
    case payment_status::partially_refunded:
    case payment_status::refund_failed: return true;
    case payment_status::initializing:
    case payment_status::pending:
    case payment_status::confirmed_late:
    case payment_status::refund_pending: return false;
  }
  return false;
}

bool is_refund(payment_status status) {
  return status == payment_status::confirmed_late || status == payment_status::refund_pending;
}

} // namespace

fan::fan(crowd& around, std::size_t index, std::string_view token, fan_history& history) :
    around_(around),
    index_(index),
    token_(token),
    history_(history),
    link_(around.hub(), around.endpoint()),
    timer_(around.hub().context()) {}

void fan::wake() {
  if (!in_line_) return;
  timer_.cancel();
  if (history_.websocket) link_.close();
}

void fan::stop() {
  timer_.cancel();
  link_.close();
  if (gateway_link_) gateway_link_->close();
}

void fan::end(outcome how) {
  if (history_.end == outcome::running) history_.end = how;
}

void fan::fail(const answer& from, std::string_view doing) {
  if (from.answered) {
    around_.complain(index_, std::string(doing) + ": " + std::to_string(from.status) + " " + from.code);
    end(outcome::failed);
  } else {
    end(outcome::timed_out);
  }
}

// ---- the line -----------------------------------------------------------------------------------------

asio::awaitable<void> fan::live() {
  if (checks_out_ && around_.is_without_queue())
    co_await live_without_queue();
  else
    co_await live_in_line();
  link_.close();
  gateway_link_.reset();
}

asio::awaitable<void> fan::live_in_line() {
  co_await join();
  while (!done()) {
    if (around_.time_is_over()) {
      end(outcome::timed_out);
      break;
    }
    switch (place_) {
      case place_kind::waiting:
      case place_kind::away: co_await wait_for_turn(); break;
      case place_kind::admitted: co_await shop(); break;
      case place_kind::over:
      case place_kind::absent:
      case place_kind::left: co_await on_place_over(); break;
    }
  }
}

asio::awaitable<void> fan::join() {
  const auto began_us = around_.now_us();
  for (;;) {
    request_plan plan;
    plan.which = step::join;
    plan.method = "POST";
    plan.target = around_.target("/events/" + around_.event() + "/queue");
    plan.key = next_key("join");
    const auto got = co_await call(std::move(plan));
    const auto entry = read_entry(got.body);
    if ((got.status == 201 || got.status == 200) && entry) {
      if (history_.joined_us < 0) {
        history_.joined_us = got.at_us;
        around_.count_joined();
      }
      around_.steps().of(step::join).add(rejoins_ == 0 ? began_us : got.first_sent_us, got.at_us);
      join_acked_us_ = got.at_us;
      see_entry(*entry, got.sent_us, got.at_us);
      co_return;
    }
    if (got.status == 410 || got.code == "event_ended") co_return end(outcome::ended);
    if (got.code != "queue_not_open" || around_.time_is_over()) co_return fail(got, "join");
    co_await nap(not_open_pause_us + static_cast<run_time_us>(around_.random().under(100 * ms_us)));
  }
}

// Reads the place and updates place_.
asio::awaitable<void> fan::look() {
  request_plan plan;
  plan.which = step::poll;
  plan.method = "GET";
  plan.target = around_.target("/events/" + around_.event() + "/queue/position");
  const auto got = co_await call(std::move(plan));
  if (!got.answered) co_return end(outcome::timed_out);
  if (got.status == 404) {
    see_place(place_kind::absent, entry_, got.sent_us, got.at_us);
    co_return;
  }
  const auto entry = read_entry(got.body);
  if (got.status != 200 || !entry) co_return fail(got, "position");
  around_.steps().of(step::poll).add(got.first_sent_us, got.at_us);
  see_entry(*entry, got.sent_us, got.at_us);
}

// Waits until the fan is admitted, the place ends, or the sale is over. Then reads the place once more, with
// a request sent after all events that the fan could have missed: the checker needs it (I6).
asio::awaitable<void> fan::wait_for_turn() {
  while (!done() && !around_.time_is_over() && !around_.sale_is_over()
         && (place_ == place_kind::waiting || place_ == place_kind::away)) {
    if (history_.websocket && !socket_refused_) {
      co_await wait_on_socket();
      continue;
    }
    const auto told_ms = entry_.poll_after_ms > 0 ? entry_.poll_after_ms : poll_after_default_ms;
    const auto after_ms = std::clamp(told_ms, poll_after_min_ms, poll_after_max_ms);
    const double jitter = 0.9 + 0.2 * around_.random().unit();
    in_line_ = true;
    co_await nap(static_cast<run_time_us>(static_cast<double>(after_ms * ms_us) * jitter));
    in_line_ = false;
    if (!around_.time_is_over() && !around_.sale_is_over()) co_await look();
  }
  if (done() || around_.time_is_over() || !around_.sale_is_over()) co_return;
  // All fans wake at once: spread the last read over one second per 5,000 fans.
  co_await nap(static_cast<run_time_us>(around_.random().under(200ULL * around_.options().fans + 1)));
  co_await look();
  if (place_ == place_kind::waiting || place_ == place_kind::away) end(outcome::sold_out);
}

// Expired, revoked, cancelled or ended: a buyer without a ticket joins again.
asio::awaitable<void> fan::on_place_over() {
  if (around_.sale_is_over())
    co_return end(entry_.status == "CANCELLED" ? outcome::ended : outcome::sold_out);
  if (history_.plan != behaviour::buy) co_return end(outcome::missed);
  if (++rejoins_ > rejoins_max) co_return end(outcome::missed);
  co_await join();
}

// ---- the shop -----------------------------------------------------------------------------------------

asio::awaitable<void> fan::shop() {
  if (history_.plan == behaviour::no_show) co_return end(outcome::no_show);
  if (++shop_rounds_ > shop_rounds_max) co_return end(outcome::missed);
  co_await think();
  if (checks_out_) co_return co_await check_out();
  claim_ = claim_sight{};
  co_await take_claim();
  if (done() || claim_.claim.is_nil()) co_return;
  if (history_.plan == behaviour::abandon) co_return end(outcome::abandoned);
  co_await think();
  payment_ = payment_answer{};
  if (claim_.status == claim_status::claimed)
    co_await pay(around_.target("/claims/" + to_string(claim_.claim) + "/payments"),
                 history_.plan == behaviour::decline ? "decline" : "pay");
  if (done()) co_return;
  co_await look_at_claim();
  if (done()) co_return;
  if (claim_.status == claim_status::confirmed) co_return end(outcome::bought);
  if (history_.plan == behaviour::decline) {
    if (claim_.status == claim_status::claimed && around_.random().unit() < 0.5) co_await release_claim();
    co_return end(outcome::declined);
  }
  // No ticket this time. The session may still be live, or the fan must join again.
  co_await look();
}

// Leaves claim_ nil if there is none; place_ then decides the next step.
asio::awaitable<void> fan::take_claim() {
  request_plan plan;
  plan.which = step::claim;
  plan.method = "POST";
  plan.target = around_.target("/events/" + around_.event() + "/claims");
  plan.key = next_key("claim");
  plan.body = around_.claim_text(entry_.admission_token, is_modest_);
  const auto first_sent_us = around_.now_us();
  auto got = co_await call(std::move(plan));
  if (!got.answered) {
    ++history_.unknown_claims;
    co_return end(outcome::timed_out);
  }
  if (claim_first_sent_us_ < 0 || got.status == 201) claim_first_sent_us_ = first_sent_us;
  if (got.status == 201 || got.status == 200) {
    auto claim = read_claim(got.body);
    if (!claim) co_return fail(got, "claim");
    around_.steps().of(step::claim).add(got.first_sent_us, got.at_us);
    around_.see_claimed(claim->seats, got.at_us);
    co_return see_claim(*claim, got);
  }
  if (got.code == "already_claimed") {
    const auto known = parse_uuid(text_member(got.body, "claim_id"));
    if (!known) co_return fail(got, "claim");
    claim_.claim = *known;
    co_return co_await look_at_claim();
  }
  if (got.code == "event_sold_out") {
    history_.told_sold_out.push_back(got.at_us);
    co_return end(outcome::sold_out);
  }
  if (got.code == "event_ended") co_return end(outcome::ended);
  if (got.code == "limit_exceeded") co_return end(outcome::refused);
  if (is_seat_refusal(got.code)) co_return co_await on_refused_seats(got.code);
  if (got.code == "none_free" || got.code == "sale_not_started") {
    const auto jitter_us = static_cast<run_time_us>(around_.random().under(none_free_pause_us));
    co_await nap(none_free_pause_us / 2 + jitter_us);
    co_return co_await look();
  }
  if (got.status == 403) {
    const auto had = entry_.entry;
    co_await look();
    if (place_ == place_kind::admitted && entry_.entry == had) co_await nap(not_open_pause_us);
    co_return;
  }
  fail(got, "claim");
}

asio::awaitable<void> fan::look_at_claim() {
  request_plan plan;
  plan.which = step::confirm;
  plan.method = "GET";
  plan.target = around_.target("/claims/" + to_string(claim_.claim));
  const auto got = co_await call(std::move(plan));
  if (!got.answered) co_return end(outcome::timed_out);
  if (got.status == 404) {
    auto gone = claim_;
    gone.status = claim_status::absent;
    see_claim(gone, got);
    claim_ = claim_sight{};
    co_return fail(got, "claim");
  }
  const auto claim = read_claim(got.body);
  if (got.status != 200 || !claim) co_return fail(got, "claim");
  see_claim(*claim, got);
}

asio::awaitable<void> fan::release_claim() {
  request_plan plan;
  plan.which = step::leave;
  plan.method = "DELETE";
  plan.target = around_.target("/claims/" + to_string(claim_.claim));
  const auto got = co_await call(std::move(plan));
  // payment still open, or claim released meanwhile: the server's deadline ends it
  if (got.status != 204) co_return;
  around_.steps().of(step::leave).add(got.first_sent_us, got.at_us);
  auto released = claim_;
  released.status = claim_status::released;
  see_claim(released, got);
}

// Opens an attempt, pays at the gateway, waits for the verdict. Returns early if the claim must be read
// again.
asio::awaitable<void> fan::pay(std::string attempts_target, std::string_view action) {
  request_plan plan;
  plan.which = step::pay;
  plan.method = "POST";
  plan.target = std::move(attempts_target);
  plan.key = next_key("pay");
  const auto got = co_await call(std::move(plan));
  if (!got.answered) co_return end(outcome::timed_out);
  if (got.code == "claim_not_payable" || got.code == "attempts_exhausted") co_return;
  auto payment = read_payment(got.body);
  if ((got.status != 201 && got.status != 200) || !payment) co_return fail(got, "payment");
  around_.steps().of(step::pay).add(got.first_sent_us, got.at_us);
  see_payment(std::move(*payment), got);
  while (!done() && payment_.authorization_url.empty()
         && (payment_.observation.status == payment_status::initializing
             || payment_.observation.status == payment_status::pending)) {
    co_await nap(verdict_first_pause_us * 2);
    co_await look_at_payment();
  }
  if (done() || is_settled(payment_.observation.status)) co_return;
  co_await think();
  co_await visit_gateway(action);
  if (!done()) co_await await_verdict(around_.now_us());
}

asio::awaitable<void> fan::visit_gateway(std::string_view action) {
  const auto url = parse_http_url(payment_.authorization_url);
  std::string why = "not an http URL";
  const auto server = url ? resolve(*url, around_.options().allow_remote, why) : std::nullopt;
  if (!server) {
    around_.complain(index_, "authorization_url refused: " + why);
    co_return end(outcome::failed);
  }
  if (*server != around_.endpoint()) gateway_link_ = std::make_unique<link>(around_.hub(), *server);
  request_plan plan;
  plan.which = step::gateway;
  plan.method = "POST";
  plan.target = url->target;
  plan.body = R"({"action":")" + std::string(action) + R"("})";
  plan.json_accept = true;
  plan.elsewhere = &*url;
  const auto got = co_await call(std::move(plan));
  gateway_link_.reset();
  if (!got.answered) {
    ++history_.unknown_gateway;
    co_return end(outcome::timed_out);
  }
  if (got.status == 409) co_return; // settled otherwise or expired: the payment shows it
  const auto status = text_member(got.body, "status");
  if (got.status != 200 || status.empty()) co_return fail(got, "gateway");
  around_.steps().of(step::gateway).add(got.first_sent_us, got.at_us);
  history_.gateway.push_back({got.at_us, payment_.observation.payment, status == "paid"});
}

asio::awaitable<void> fan::look_at_payment() {
  request_plan plan;
  plan.which = step::confirm;
  plan.method = "GET";
  plan.target = around_.target("/payments/" + to_string(payment_.observation.payment));
  const auto got = co_await call(std::move(plan));
  if (!got.answered) co_return end(outcome::timed_out);
  auto payment = read_payment(got.body);
  if (got.status != 200 || !payment) co_return fail(got, "payment");
  see_payment(std::move(*payment), got);
}

// Stops waiting for a refund after a limit.
asio::awaitable<void> fan::await_verdict(run_time_us paid_us) {
  auto pause_us = verdict_first_pause_us;
  for (;;) {
    co_await look_at_payment();
    if (done()) co_return;
    const auto status = payment_.observation.status;
    if (is_settled(status)) {
      around_.steps().of(step::confirm).add(paid_us, around_.now_us());
      co_return;
    }
    if (is_refund(status) && around_.now_us() > paid_us + refund_patience_us) co_return;
    co_await nap(pause_us);
    pause_us = std::min(pause_us * 3 / 2, verdict_pause_max_us);
  }
}

// ---- what was seen ------------------------------------------------------------------------------------

void fan::see_entry(const entry_answer& entry, run_time_us sent_us, run_time_us at_us) {
  const bool turn_came =
    entry.kind == place_kind::admitted && (place_ != place_kind::admitted || entry_.entry != entry.entry);
  see_place(entry.kind, entry, sent_us, at_us);
  if (!turn_came) return;
  claim_first_sent_us_ = -1;
  around_.steps().of(step::admit_wait).add(join_acked_us_, at_us);
  around_.count_admitted();
}

// Merges consecutive equal sightings: only the times advance. The first ADMITTED keeps its arrival time.
void fan::see_place(place_kind kind, const entry_answer& entry, run_time_us sent_us, run_time_us at_us) {
  const auto token = std::move(entry_.admission_token);
  place_ = kind;
  entry_ = entry;
  if (entry_.admission_token.empty() && kind == place_kind::admitted) entry_.admission_token = token;
  if (!history_.places.empty()) {
    auto& last = history_.places.back();
    if (last.kind == kind && last.entry == entry.entry && last.number == entry.number
        && last.position == entry.position && last.batch == entry.batch) {
      last.sent_us = std::max(last.sent_us, sent_us);
      if (kind != place_kind::admitted) last.at_us = at_us;
      return;
    }
  }
  history_.places.push_back({sent_us, at_us, kind, entry.entry, entry.number, entry.position, entry.batch});
}

void fan::see_claim(claim_sight observation, const answer& from) {
  observation.first_sent_us = claim_first_sent_us_ >= 0 ? claim_first_sent_us_ : from.first_sent_us;
  observation.sent_us = from.sent_us;
  observation.at_us = from.at_us;
  claim_ = observation;
  history_.claims.push_back(std::move(observation));
}

void fan::see_payment(payment_answer payment, const answer& from) {
  payment.observation.sent_us = from.sent_us;
  payment.observation.at_us = from.at_us;
  auto& seen = history_.payments;
  // Polling repeats equal states: keeps changes only, with the latest times.
  if (!seen.empty() && seen.back().payment == payment.observation.payment
      && seen.back().status == payment.observation.status && seen.back().amount == payment.observation.amount
      && seen.back().refunded_amount == payment.observation.refunded_amount)
    seen.back().sent_us = payment.observation.sent_us;
  else
    seen.push_back(payment.observation);
  if (payment.authorization_url.empty()) payment.authorization_url = std::move(payment_.authorization_url);
  payment_ = std::move(payment);
}

} // namespace fq::load
