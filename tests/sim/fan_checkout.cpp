// SPDX-License-Identifier: Apache-2.0
// The fans' checkout: one order for everything, its payment page, and what fans do instead of paying.
#include "tests/sim/fan_ask.hpp"
#include "tests/sim/hall.hpp"

namespace fq::sim {
namespace {

constexpr std::uint32_t order_watches_max = 30; ///< max polls of an order
constexpr std::string_view page_prefix = "https://gateway.example/pay/";

} // namespace

bool fan::buys_by_order() {
  return world_->options.checkout.on && (is_guest(me_) || wants(world_->options.checkout.by_order));
}

/// In an `open` event a checkout joins automatically.
fan::goal fan::first_goal() {
  const auto& o = world_->options;
  if (!o.checkout.on || o.queue.policy != admission_policy::open || !wants(500)) return goal::join;
  token_.clear();
  wish_order();
  return goal::order;
}

void fan::wish_order() {
  const auto& c = world_->options.checkout;
  auto& rng = world_->rng;
  const auto some_donation = [&] { return wants(c.donates) ? money{between(rng, 1, 500)} : money{0}; };
  order_wish_ = {};
  if (wants(900))
    order_wish_.items.push_back(
      {some_type(), static_cast<std::uint32_t>(between(rng, 1, 2)), some_donation()});
  const auto second = world_->some_type();
  if (!order_wish_.items.empty() && order_wish_.items.front().ticket_type != second && wants(c.two_types))
    order_wish_.items.push_back({second, 1, some_donation()});
  order_wish_.seats = wish_seats(*world_, order_wish_.items);
  if (wants(c.uses_promo))
    order_wish_.promo_code =
      "CODE" + std::to_string(wants(700) ? me_.lo % 4 : rng() % 4); // most use their own code
  order_wish_.contact = {"Fan", to_string(me_).substr(24), to_string(me_) + "@fans.example", {}};
  order_wish_.gateway = "sim";
  order_wish_.buyer = buyer_;
  order_key_ = fresh_key();
  next(goal::order, soon(1, 900));
}

void fan::do_order() {
  if (world_->closing) return next(token_.empty() ? goal::done : goal::poll, soon(500, 1'500));
  const bool durable = world_->check->has_answer(order_key_);
  ask(place_order{world_->event, me_, token_, order_wish_, order_key_},
      on<order_reply>(
        [this, durable](const order_reply& told, std::uint64_t asked) {
          world_->check->saw_placed(order_key_, me_, order_wish_, told, asked, durable);
        },
        [this](const order_reply& told) { on_ordered(told); }));
}

void fan::on_ordered(const order_reply& told) {
  watches_ = 0;
  attempts_ = 0;
  seen_url_.clear();
  if (!told.no) {
    order_ = told.order.order.id;
    claim_ = told.order.order.claim;
    return on_order(told.order);
  }
  order_ = {};
  const auto why = told.no.why;
  world_->check->saw_seats_refused(why);
  if (why == reason::already_claimed) { // bought before, or by a request whose answer was lost permanently
    claim_ = told.no.id;
    return next(goal::watch, soon(100, 600));
  }
  if (why == reason::promo_code_invalid || why == reason::promo_code_expired
      || why == reason::promo_code_exhausted || why == reason::promo_code_limit
      || (why == reason::sign_in_required && !order_wish_.promo_code.empty())) {
    order_wish_.promo_code.clear();
    order_key_ = fresh_key(); // a new key for a new body
    return next(goal::order, soon(10, 500));
  }
  if (why == reason::queue_not_open || why == reason::sale_not_started)
    return next(goal::order, soon(200, 1'000));
  if (why == reason::event_sold_out || why == reason::sign_in_required) {
    if (token_.empty() || wants(500)) return finish();
    return next(goal::leave, soon(1, 300));
  }
  if (token_.empty()) return finish();
  next(goal::poll, soon(100, 700)); // none free or no longer admitted: poll again
}

void fan::do_order_watch() {
  constexpr std::array waits{milliseconds{0}, milliseconds{0}, milliseconds{300}, milliseconds{1'200}};
  ask(find_order{order_, me_, {}, waits[world_->rng() % waits.size()]},
      on<order_reply>(
        [this](const order_reply& told, std::uint64_t) {
          if (told.no) return world_->check->fail("I7", "an acknowledged order is gone");
          world_->check->saw_order(me_, told.order);
        },
        [this](const order_reply& told) {
          if (!told.no) on_order(told.order);
        }));
}

void fan::on_order(const order_view& seen) {
  claim_ = seen.order.claim;
  const auto& c = world_->options.checkout;
  switch (seen.order.status) {
    case order_status::pending:
    case order_status::awaiting_payment:
      if (++watches_ > order_watches_max) return next(goal::poll, soon(500, 2'000));
      if (wants(c.cancels / 8)) return next(goal::order_cancel, soon(1, 400));
      if (seen.order.status == order_status::pending) return next(goal::order_watch, soon(1, 500));
      return on_unpaid_order(seen);
    case order_status::success:
      if (wants(200)) return next(goal::order_watch, soon(500, 4'000)); // poll once more
      [[fallthrough]];
    case order_status::failed:
    case order_status::cancelled:
    case order_status::partially_refunded:
    case order_status::refunded: return next(goal::poll, soon(10, 600));
  }
}

/// Pays, retries after a decline, cancels, or leaves.
void fan::on_unpaid_order(const order_view& seen) {
  const auto& c = world_->options.checkout;
  if (seen.payment_url.empty()) {
    if (wants(c.releases)) return next(goal::release, soon(1, 400));
    if (!seen.can_retry || !wants(600)) return next(goal::order_watch, soon(200, 1'200));
    payment_key_ = fresh_key();
    return next(goal::pay, soon(10, 400));
  }
  if (seen.payment_url == seen_url_) return next(goal::order_watch, soon(200, 1'200));
  seen_url_ = seen.payment_url;
  reference_ = seen_url_.substr(page_prefix.size());
  if (wants(c.cancels)) {
    // in a second browser window
    if (wants(c.pays_all_the_same)) delayed_send(this, soon(1, 2'000), std::string{"pay"}, reference_);
    return next(goal::order_cancel, soon(1, 600));
  }
  on_page();
}

void fan::do_order_cancel() {
  ask(cancel_order{order_, me_}, on<order_reply>(
                                   [this](const order_reply& told, std::uint64_t) {
                                     if (!told.no) world_->check->saw_cancelled(me_, told.order);
                                     if (told.no.why == reason::not_found)
                                       world_->check->fail("I7", "an acknowledged order is gone");
                                   },
                                   [this](const order_reply&) { next(goal::order_watch, soon(10, 600)); }));
}

} // namespace fq::sim
