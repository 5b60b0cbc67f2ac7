// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/access_watch.hpp"
#include "tests/sim/fan_ask.hpp"
#include "tests/sim/hall.hpp"

namespace fq::sim {
namespace {
constexpr std::uint32_t places_max = 3; ///< max places per fan
constexpr std::uint32_t watches_max = 40; ///< max polls of a payment's outcome
} // namespace

customer_id customer_of(std::uint32_t number) {
  return make_uuid(from_unix_ms(start_of_time_ms), accounts_aggregate, number + 1);
}

customer_id buyer_of(std::uint32_t number, const sale_options& o) {
  const bool is_one = o.checkout.on && (number * 617 + 7) % 1'000 < o.checkout.guests;
  return is_one ? customer_of(number % (o.fans / 4 + 1)) : customer_id{};
}

fan::fan(caf::actor_config& config, world* w, std::uint32_t number, milliseconds comes_at) :
    caf::event_based_actor(config),
    world_(w),
    buyer_(buyer_of(number, w->options)),
    me_(buyer_.is_nil() ? customer_of(number)
                        : make_uuid(from_unix_ms(start_of_time_ms), guests_aggregate, number + 1)),
    comes_at_(comes_at) {}

caf::behavior fan::make_behavior() {
  set_default_handler(caf::drop);
  join_key_ = world_->rng() | 1;
  if (wants_code()) access_code_ = some_code();
  node_ = world_->rng() % world_->regions.size();
  const auto latest = world_->options.arrival_span;
  next(first_goal(), comes_at_ > milliseconds{0} ? comes_at_ : between(world_->rng, milliseconds{0}, latest));
  return {
    [this](const timer_fired& t) {
      if (t.generation == generation_) act();
    },
    [this](const std::string& button, const std::string& reference) { // buttons of the gateway's own page
      if (button == "pay")
        world_->gateway->pay(reference);
      else
        world_->gateway->decline(reference);
    }};
}

void fan::next(goal g, milliseconds delay) {
  goal_ = g;
  delayed_send(this, delay, timer_fired{timer_kind::sweep, ++generation_});
}

void fan::stumble() {
  owner_ = nullptr;
  node_ = (node_ + 1) % world_->regions.size(); // the next node, if there is one
  next(goal_, soon(20, 800));
}

void fan::act() {
  if (goal_ == goal::done || (!world_->chaos && world_->options.fans_vanish)) return;
  const auto nodes = world_->regions.size();
  if (nodes > 1 && world_->chaos && wants(50)) { // a load balancer may choose another node
    node_ = world_->rng() % nodes;
    owner_ = nullptr;
  }
  if (world_->net == nullptr && !owner_) {
    request(world_->regions[node_], world_->options.patience, resolve_event{world_->aggregate})
      .then(
        [this](event_handle& owner) {
          owner_ = std::move(owner);
          act();
        },
        [this](caf::error&) { stumble(); });
    return;
  }
  switch (goal_) {
    case goal::join: return do_join();
    case goal::poll: return do_poll();
    case goal::claim: return do_claim();
    case goal::release:
    case goal::release_again: return do_release();
    case goal::pay: return do_pay();
    case goal::page: return do_page();
    case goal::watch: return do_watch();
    case goal::leave: return do_leave();
    case goal::order: return do_order();
    case goal::order_watch: return do_order_watch();
    case goal::order_cancel: return do_order_cancel();
    case goal::end_visit: return do_end_visit();
    case goal::lock: return do_lock();
    case goal::party: return do_change_party();
    case goal::done: return;
  }
}

idempotency_ref fan::fresh_key() { return {true, {me_.lo, ++keys_}, {me_.hi, 7}}; }

void fan::finish() {
  claim_ = {};
  order_ = {};
  decided_ = false;
  if (world_->closing || ++places_ >= places_max) return next(goal::done, milliseconds{1});
  join_key_ = world_->rng() | 1;
  access_code_ = wants_code() ? some_code() : std::string{};
  next(first_goal(), soon(50, 2'000));
}

// -- the line ---------------------------------------------------------------------------------------------

void fan::do_join() {
  if (world_->closing && places_ > 0) return next(goal::done, milliseconds{1});
  auto x = fq::join{world_->event, me_, join_key_, world_->options.kind};
  if (!world_->sells()) x.subject_name = "guest";
  x.is_trusted = !world_->sells(); // by the backend of the queue's site
  x.access_code = access_code_;
  const auto& codes = world_->party_codes;
  if (!codes.empty() && !is_single_ && strikes(world_->rng, world_->options.lobby.parties))
    x.party_code = codes[world_->rng() % codes.size()];
  ask(std::move(x), on<entry_reply>([this](const entry_reply& told,
                                           std::uint64_t) { world_->check->saw_place(me_, join_key_, told); },
                                    [this](const entry_reply& told) { on_place(told); }));
}

void fan::do_poll() {
  if (!world_->sells()) return do_show_ticket();
  ask(find_entry{world_->event, me_},
      on<entry_reply>([this](const entry_reply& told, std::uint64_t) { world_->check->saw_entry(me_, told); },
                      [this](const entry_reply& told) { on_place(told); }));
}

void fan::on_place(const entry_reply& told) {
  if (!told.no) ticket_ = told.entry.id;
  if (told.no) {
    const auto why = told.no.why;
    if (why == reason::queue_not_open || why == reason::queue_full || why == reason::customer_blocked)
      return next(goal::join, soon(200, 1'500));
    if (why == reason::party_full || why == reason::party_unknown || why == reason::lobby_not_open) {
      is_single_ = true;
      return next(goal::join, soon(1, 300));
    }
    if (is_about_code(why)) {
      access_code_.clear();
      return next(goal::join, soon(1, 300));
    }
    return next(goal::done, milliseconds{1});
  }
  switch (told.entry.status) {
    case entry_status::waiting:
    case entry_status::away:
      if (wants(world_->options.leaves / 8)) return next(goal::leave, milliseconds{1});
      if (told.entry.lobby.phase == lobby_phase::open && told.entry.party == queue_number{}
          && strikes(world_->rng, world_->options.lobby.parties / 3))
        return next(goal::party, soon(1, 200));
      if (dozes()) return next(goal::poll, soon(21'000, 28'000));
      if (world_->sells() && wants_code()
          && wants(world_->options.small_bounds ? 700 : 50)) { // a code for the place that it has
        access_code_ = some_code();
        return next(goal::join, soon(1, 300));
      }
      return next(goal::poll, world_->chaos ? soon(200, 900) : soon(500, 2'000));
    case entry_status::admitted: return on_admitted(told.entry);
    case entry_status::expired:
    case entry_status::cancelled:
    case entry_status::completed:
    case entry_status::session_expired:
    case entry_status::revoked: return finish();
  }
}

void fan::do_leave() {
  world_->check->may_leave(me_);
  if (!world_->sells()) return do_return_ticket();
  ask(fq::leave{world_->event, me_}, on<ack_reply>(
                                       [this](const ack_reply& told, std::uint64_t) {
                                         if (told.no.why == reason::not_in_queue)
                                           world_->check->fail("I7",
                                                               "left a place that the server does not know");
                                       },
                                       [this](const ack_reply&) { next(goal::poll, soon(10, 400)); }));
}

// -- the claim --------------------------------------------------------------------------------------------

void fan::on_admitted(const entry_view& entry) {
  token_ = make_session_token(*world_->sessions, entry.id, entry.admission_no);
  world_->access->issued(entry.id);
  if (world_->closing) return next(goal::poll, soon(500, 1'500));
  if (!decided_) {
    decided_ = true;
    watches_ = wants(world_->options.no_show) ? watches_max : 0; // a no-show polls but never claims
    if (wants(world_->options.leaves)) return next(goal::leave, soon(1, 500));
  }
  if (watches_ >= watches_max) return next(goal::poll, soon(300, 1'500));
  if (world_->options.queue.locks_per_session > 0 && wants(500)) return next(goal::lock, soon(1, 300));
  if (!world_->sells()) return next(wants(600) ? goal::end_visit : goal::poll, soon(200, 2'500));
  if (buys_by_order()) return wish_order();
  claim_key_ = fresh_key();
  wishes_.clear();
  if (wants(700)) wishes_.push_back({some_type(), static_cast<std::uint32_t>(between(world_->rng, 1, 2))});
  seats_ = wish_seats(*world_, wishes_);
  next(goal::claim, soon(1, 900));
}

void fan::do_claim() {
  const bool durable = world_->check->has_answer(claim_key_);
  ask(open_claim{world_->event, me_, token_, wishes_, claim_key_, seats_},
      on<claim_reply>(
        [this, durable](const claim_reply& told, std::uint64_t asked) {
          world_->check->saw_claim(claim_key_, me_, told, asked, durable);
        },
        [this](const claim_reply& told) { on_claimed(told); }));
}

void fan::on_claimed(const claim_reply& told) {
  order_ = {};
  world_->check->saw_seats_refused(told.no.why);
  if (!told.no) {
    claim_ = told.claim.claim.id;
    attempts_ = 0;
    return after_claim();
  }
  if (told.no.why == reason::already_claimed) { // by a request whose answer was lost permanently
    claim_ = told.no.id;
    return after_claim();
  }
  if (told.no.why == reason::event_sold_out && wants(500)) return next(goal::leave, soon(1, 300));
  next(goal::poll, soon(100, 700)); // none free, no longer admitted, or not started: poll again
}

void fan::after_claim() {
  watches_ = 0;
  if (wants(world_->options.abandons)) {
    watches_ = watches_max / 2;
    return next(goal::watch, soon(500, 2'000));
  }
  if (wants(world_->options.releases)) return next(goal::release, soon(1, 800));
  payment_key_ = fresh_key();
  next(goal::pay, soon(1, 800));
}

void fan::do_release() {
  const bool leaves = wants(200);
  if (leaves) world_->check->may_leave(me_);
  ask(release_claim{me_, claim_, leaves},
      on<ack_reply>(
        [this](const ack_reply& told, std::uint64_t) {
          if (!told.no) world_->check->saw_released(claim_);
        },
        [this](const ack_reply& told) {
          if (told.no) return next(watching(), soon(100, 600));
          // Sometimes a double click.
          next(goal_ == goal::release && wants(500) ? goal::release_again : goal::poll, soon(1, 400));
        }));
}

// -- the money --------------------------------------------------------------------------------------------

void fan::do_pay() {
  const bool durable = world_->check->has_answer(payment_key_);
  ask(open_payment{me_, claim_, "sim", payment_key_},
      on<payment_reply>(
        [this, durable](const payment_reply& told, std::uint64_t) {
          world_->check->saw_payment(payment_key_, told, durable);
        },
        [this](const payment_reply& told) {
          if (told.no) return next(watching(), soon(100, 600));
          payment_ = told.payment.payment.id;
          on_payment(told);
        }));
}

void fan::on_payment(const payment_reply& told) {
  const auto& p = told.payment.payment;
  reference_ = p.reference;
  switch (p.status) {
    case payment_status::initializing:
      if (++watches_ > watches_max) return finish();
      return next(goal::page, soon(200, 900));
    case payment_status::pending: return on_page();
    case payment_status::confirmed:
    case payment_status::failed:
    case payment_status::quarantined:
    case payment_status::confirmed_late:
    case payment_status::refund_pending:
    case payment_status::refunded:
    case payment_status::partially_refunded:
    case payment_status::refund_failed: return next(watching(), soon(10, 400));
  }
}

/// Acts on the gateway's page of `reference_`.
void fan::on_page() {
  const auto thinking = wants(world_->options.pays_late) ? soon(1'000, 6'000) : soon(10, 900);
  if (wants(world_->options.abandons / 2)) return next(watching(), thinking);
  const bool declines = wants(world_->options.declines);
  delayed_send(this, thinking, std::string{declines ? "decline" : "pay"}, reference_);
  if (declines && wants(world_->options.pays_after_declining)) // another card on the same page
    delayed_send(this, thinking + soon(300, 3'000), std::string{"pay"}, reference_);
  next(watching(), thinking + soon(10, 500));
}

void fan::do_page() {
  ask(find_payment{me_, payment_}, on<payment_reply>(
                                     [this](const payment_reply& told, std::uint64_t) {
                                       world_->check->saw_payment({}, told, false);
                                       if (told.no)
                                         world_->check->fail("I7", "an acknowledged payment is gone");
                                     },
                                     [this](const payment_reply& told) {
                                       if (!told.no) on_payment(told);
                                     }));
}

void fan::do_watch() {
  ask(find_claim{me_, claim_},
      on<claim_reply>(
        [this](const claim_reply& told, std::uint64_t asked) {
          world_->check->saw_claim({}, me_, told, asked, false);
          if (told.no) world_->check->fail("I7", "an acknowledged claim is gone");
        },
        [this](const claim_reply& told) {
          const auto status = told.claim.claim.status;
          if (!is_live(status)) return next(goal::poll, soon(10, 500));
          if (++watches_ > watches_max * 2) return next(goal::poll, soon(500, 2'000));
          if (status == claim_status::claimed && watches_ < watches_max && ++attempts_ < 4 && wants(400)) {
            payment_key_ = fresh_key();
            return next(goal::pay, soon(10, 400));
          }
          next(goal::watch, soon(200, 1'200));
        }));
}

} // namespace fq::sim
