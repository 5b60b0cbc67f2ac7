// SPDX-License-Identifier: Apache-2.0
// A small world for the transport's tests and its micro server: a scripted event actor and region, a real
// clock, own keys. Uses none of the product's actors.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "actors/protocol/system_config.hpp"
#include "config/options.hpp"
#include "crypto/random.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/http/tls.hpp"
#include "net/server/server.hpp"
#include "tests/net/server/conversations.hpp"

#include <caf/actor_system.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace fq::net::fake {

inline aggregate_id number(std::uint32_t n) { return aggregate_id{n}; }

/// Aggregates of the fake region.
inline constexpr std::uint32_t good_event = 16, other_event = 17, absent_event = 99, unavailable_event = 98,
                               silent_region = 97, foreign_event = 96;

inline event_id event_of(std::uint32_t aggregate) {
  return make_uuid(from_unix_ms(1'700'000'000'000), number(aggregate), 7);
}

/// Customers with a special meaning for the fake event, in their low bits.
enum class behaves : std::uint64_t {
  well = 1000,
  not_in_queue = 1,
  throws = 2,
  silent = 3,
  refuses_with_error = 4,
  dies = 5
};
inline customer_id customer(behaves how, std::uint64_t extra = 0) {
  return {0x1234, static_cast<std::uint64_t>(how) + extra};
}

/// Real clocks; the steady clock can be advanced, so that tests need not wait, and held.
class environment final : public fq::environment {
public:
  void advance(milliseconds by) { ahead_ms_ += by.count(); }
  /// Stops the steady clock: from now on only `advance` moves it.
  void hold() { held_ms_ = real_ms(); }
  timestamp wall_now() override {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  }
  milliseconds steady_now() override {
    const auto held = held_ms_.load();
    return milliseconds{(held == 0 ? real_ms() : held) + ahead_ms_.load()};
  }
  void random_bytes(std::span<std::byte> out) override { fill_random(out); }

private:
  static std::int64_t real_ms() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<milliseconds>(now).count();
  }

  std::atomic<std::int64_t> ahead_ms_{0};
  std::atomic<std::int64_t> held_ms_{0}; ///< 0: the clock runs
};

struct event_state {
  std::uint64_t joined = 0; ///< last assigned queue number
  std::uint64_t head = 0; ///< last admitted queue number
  std::uint64_t questions = 0;
  std::uint64_t version = 1; ///< of the line
  std::uint64_t seats = 7; ///< version of the seat map
  bool is_given_away = false; ///< requests come back as moved
  std::vector<caf::strong_actor_ptr> subscribers;
  std::vector<caf::strong_actor_ptr> keepers; ///< of its handle
  std::vector<caf::typed_response_promise<entry_reply>> kept; ///< never answered
  static inline const char* name = "fake_event";
};

using event_pointer = event_handle::stateful_pointer<event_state>;

inline entry_view view(event_pointer self, std::uint32_t aggregate, const customer_id& who) {
  entry_view e;
  const auto n = who.lo >= 1000 ? who.lo - 1000 + 1 : 1;
  e.event = event_of(aggregate);
  e.id = make_entry_id(from_unix_ms(1'700'000'000'000), number(aggregate), queue_number{n});
  e.customer = who;
  e.number = queue_number{n};
  e.status = n <= self->state.head ? entry_status::admitted : entry_status::waiting;
  e.position = n <= self->state.head ? 0 : n - self->state.head;
  e.poll_after_ms = 2000;
  e.admission_no = e.position == 0 ? 1 : 0;
  e.spot = {1, line_rank{n}};
  return e;
}

/// One place a second at least.
inline line_facts facts(event_pointer self) {
  return {
    self->state.version, {9, milliseconds{15'000}, milliseconds{60'000}}, {}, milliseconds{1'000}, {}, {}};
}

inline caf::result<entry_reply> answer_fan(event_pointer self, std::uint32_t aggregate,
                                           const customer_id& who) {
  ++self->state.questions;
  entry_reply reply;
  switch (static_cast<behaves>(who.lo)) {
    case behaves::not_in_queue: reply.no = reason::not_in_queue; return reply;
    case behaves::throws: throw std::runtime_error("as told");
    case behaves::silent: {
      auto kept = self->make_response_promise<entry_reply>();
      self->state.kept.push_back(kept);
      return kept;
    }
    case behaves::refuses_with_error: return make_error(errc::unavailable);
    case behaves::dies: {
      self->quit(caf::exit_reason::user_shutdown);
      return make_error(errc::unavailable);
    }
    case behaves::well: break;
  }
  reply.entry = view(self, aggregate, who);
  reply.line_version = self->state.version;
  return reply;
}

/// Commands from a test to the event: a timer_fired with a kind and a number.
///   admission n: admit all numbers up to n · flush: the sale ends · journal: pause
///   sweep n: version n of the seat map · idle: stop · renew: another node has claimed it · moved: return all
///   requests and notify the keepers
inline void obey(event_pointer self, std::uint32_t aggregate, const timer_fired& order) {
  auto& s = self->state;
  const auto push = [&](const auto& message) {
    for (const auto& subscriber : s.subscribers)
      self->send(caf::actor_cast<subscriber_handle>(subscriber), message);
  };
  switch (order.kind) {
    case timer_kind::admission: {
      entries_changed changed{event_of(aggregate), s.version, s.version + 1, {}, {}};
      ++s.version;
      for (auto n = s.head + 1; n <= order.generation; ++n) {
        entry_change c;
        c.id = make_entry_id(from_unix_ms(1'700'000'000'000), number(aggregate), queue_number{n});
        c.number = queue_number{n};
        c.status = entry_status::admitted;
        c.admission_no = 1;
        c.admission_batch = 1;
        c.spot = {1, line_rank{n}};
        changed.changes.push_back(c);
      }
      s.head = order.generation;
      push(changed);
      break;
    }
    case timer_kind::flush: push(event_noticed{event_of(aggregate), socket_notice_kind::ended}); break;
    case timer_kind::journal: push(event_noticed{event_of(aggregate), socket_notice_kind::paused}); break;
    case timer_kind::idle: self->quit(caf::exit_reason::user_shutdown); break;
    case timer_kind::renew: self->quit(make_error(errc::not_owner)); break;
    case timer_kind::moved:
      s.is_given_away = true;
      for (const auto& keeper : s.keepers)
        self->send(caf::actor_cast<subscriber_handle>(keeper), owner_left{number(aggregate)});
      break;
    case timer_kind::sweep: s.seats = order.generation; break;
    case timer_kind::restart:
    case timer_kind::retry_load:
    case timer_kind::mirror:
    case timer_kind::vouch:
    case timer_kind::beat:
    case timer_kind::pulse:
    case timer_kind::lapse:
    case timer_kind::statistics:
    case timer_kind::beacon:
    case timer_kind::log:
    case timer_kind::tasks: break;
  }
}

/// Places in the line and subscriptions.
inline auto line_messages(event_pointer self, std::uint32_t aggregate) {
  return std::tuple{[=](const join& m) {
                      auto reply = answer_fan(self, aggregate, m.customer);
                      return reply;
                    },
                    [](const open_challenge&) { return challenge_reply{}; },
                    [=](const find_entry& m) -> caf::result<entry_reply> {
                      if (self->state.is_given_away) return make_moved(m);
                      return answer_fan(self, aggregate, m.customer);
                    },
                    [](const leave&) { return ack_reply{}; },
                    [=](const subscribe& m) {
                      const auto subscriber = self->current_sender();
                      std::erase(self->state.subscribers, subscriber);
                      if (!m.on) return;
                      self->state.subscribers.push_back(subscriber);
                      self->monitor(subscriber->address());
                    },
                    [](const find_ticket&) { return entry_reply{}; },
                    [](const change_party&) { return entry_reply{}; },
                    [](const leave_ticket&) { return ack_reply{}; },
                    [](const end_session&) { return ack_reply{}; },
                    [](const change_lock&) { return locks_reply{}; },
                    [](const find_locks&) { return locks_reply{}; },
                    [](const present&) {},
                    [](const push_read&) {},
                    [=](const owner_kept&) { self->state.keepers.push_back(self->current_sender()); },
                    [=](const find_line&) {
                      line_reply reply;
                      reply.status = event_status::active;
                      reply.line = facts(self);
                      return reply;
                    },
                    [=](const find_seats& m) {
                      seats_reply reply;
                      reply.version = self->state.seats;
                      reply.from = m.since;
                      reply.text = R"({"from":)" + std::to_string(m.since) + '}';
                      return reply;
                    },
                    [](const watch_sessions&) {},
                    [](const advance_line&) { return count_reply{}; },
                    [](const revoke_sessions&) { return count_reply{}; }};
}

/// Claims, orders and their money: empty answers.
inline auto checkout_messages() {
  return std::tuple{[](const open_claim&) { return claim_reply{}; },
                    [](const find_claim&) { return claim_reply{}; },
                    [](const release_claim&) { return ack_reply{}; },
                    [](const open_payment&) { return payment_reply{}; },
                    [](const find_payment&) { return payment_reply{}; },
                    [](const apply_fact&) { return ack_reply{}; },
                    [](const get_quote&) { return quote_reply{}; },
                    [](const place_order&) { return order_reply{}; },
                    [](const find_order&) { return order_reply{}; },
                    [](const cancel_order&) { return order_reply{}; },
                    [](const list_event_orders&) { return orders_reply{}; },
                    [](const find_event_ticket&) { return event_ticket_reply{}; },
                    [](const offer_ticket&) { return transfer_reply{}; },
                    [](const end_transfer&) { return transfer_reply{}; },
                    [](const find_ticket_papers&) { return ticket_papers_reply{}; },
                    [](const find_ticket_seats&) { return ticket_seats_reply{}; },
                    [](const list_event_tickets&) { return event_tickets_reply{}; },
                    [](const refund_tickets&) { return order_reply{}; },
                    [](const resend_order&) { return ack_reply{}; },
                    [](const settle_dead_letter&) { return ack_reply{}; }};
}

/// The organizer's: empty answers.
inline auto organizer_messages() {
  return std::tuple{[](const find_event&) { return event_reply{}; },
                    [](const patch_event&) { return event_reply{}; },
                    [](const turn_event&) { return event_reply{}; },
                    [](const set_seat_plan&) { return event_reply{}; },
                    [](const set_seats&) { return ack_reply{}; },
                    [](const find_seat_plan&) { return seat_plan_reply{}; },
                    [](const renew_ticket_keys&) { return event_reply{}; },
                    [](const set_checkin_list&) { return checkin_reply{}; },
                    [](const set_checkin_device&) { return checkin_reply{}; },
                    [](const find_checkin&) { return checkin_reply{}; },
                    [](const list_checkin_conflicts&) { return checkin_conflicts_reply{}; },
                    [](const redeem_scans&) { return scans_reply{}; },
                    [](const find_gate&) { return gate_reply{}; },
                    [](const find_gate_state&) { return gate_state_reply{}; },
                    [](const search_gate&) { return gate_tickets_reply{}; },
                    [](const find_stats&) { return stats_reply{}; },
                    [](const set_promo_code&) { return promo_codes_reply{}; },
                    [](const find_promo_codes&) { return promo_codes_reply{}; },
                    [](const set_priorities&) { return count_reply{}; },
                    [](const find_priorities&) { return customers_reply{}; },
                    [](const invite_customers&) { return count_reply{}; },
                    [](const withdraw_invitations&) { return count_reply{}; },
                    [](const find_invitations&) { return invitations_reply{}; }};
}

inline event_handle::behavior_type event(event_pointer self, std::uint32_t aggregate) {
  self->set_exception_handler([](std::exception_ptr&) -> caf::error { return caf::sec::runtime_error; });
  self->set_down_handler([self](const caf::down_msg& down) {
    std::erase_if(self->state.subscribers,
                  [&](const auto& subscriber) { return subscriber->address() == down.source; });
  });
  return test::behavior_of<event_handle::behavior_type>(
    line_messages(self, aggregate), checkout_messages(), organizer_messages(), test::internal_messages(),
    std::tuple{[=](const timer_fired& order) { obey(self, aggregate, order); }});
}

struct region_state {
  std::map<std::uint32_t, event_handle> events;
  std::set<std::uint32_t> lost{foreign_event}; ///< owned by another node
  std::vector<event_handle> left; ///< that returned requests
  /// set by a timer_fired of kind lapse: the region names the previous owner again
  bool has_no_other = false;
  std::vector<caf::typed_response_promise<event_handle>> kept;
  static inline const char* name = "fake_region";
};

inline region_handle::behavior_type region(region_handle::stateful_pointer<region_state> self) {
  // an event that holds a promise keeps itself alive: end it
  self->set_exit_handler([self](const caf::exit_msg& e) {
    for (const auto& [n, owner] : self->state.events) self->send_exit(owner, e.reason);
    for (const auto& owner : self->state.left) self->send_exit(owner, e.reason);
    self->quit(e.reason);
  });
  self->set_down_handler([self](const caf::down_msg& down) {
    std::erase_if(self->state.events, [&](const auto& e) {
      const bool ended = e.second.address() == down.source;
      if (ended && is(down.reason, errc::not_owner)) self->state.lost.insert(e.first);
      return ended;
    });
  });
  return {[self](const resolve_event& m) -> caf::result<event_handle> {
            const auto n = number_of(m.aggregate);
            if (n == absent_event) return make_error(errc::absent);
            if (n == unavailable_event) return make_error(errc::unavailable);
            if (self->state.lost.contains(n)) return make_error(errc::not_owner);
            if (n == silent_region) {
              auto kept = self->make_response_promise<event_handle>();
              self->state.kept.push_back(kept);
              return kept;
            }
            auto& found = self->state.events[n];
            if (found && found.address() == m.returned_by && !self->state.has_no_other)
              self->state.left.push_back(std::exchange(found, nullptr));
            if (!found) {
              found = self->spawn(event, n);
              self->monitor(found.address());
            }
            return found;
          },
          [](const list_owned&) { return owned_aggregates{}; },
          [](const move_event&) { return ack_reply{}; },
          [](const cluster_changed&) {},
          [](const ledger_seen&) {},
          [](const handed_over&) {},
          [](const blocks_changed&) {},
          [](const aggregates_to_wake&) {},
          [self](const timer_fired& order) { // forward a command
            if (order.kind == timer_kind::lapse) self->state.has_no_other = true;
            if (const auto found = self->state.events.find(good_event); found != self->state.events.end())
              self->send(found->second, order);
          }};
}

struct one_thread_config : system_config {
  one_thread_config() {
    set("scheduler.policy", caf::atom("sharing"));
    set("scheduler.max-threads", std::size_t{1});
    set("scheduler.max-throughput", std::size_t{100});
  }
};

inline config::options fast_options() {
  config::options o;
  o.http.listen = {"127.0.0.1", 0};
  o.http.admin_listen = {"127.0.0.1", 0};
  o.http.max_connections = 19'000;
  o.http.header_timeout = milliseconds{10'000};
  o.http.body_timeout = milliseconds{10'000};
  o.http.write_timeout = milliseconds{10'000};
  o.http.idle_timeout = milliseconds{75'000};
  o.http.request_timeout = milliseconds{5'000};
  o.http.body_limit = 16 * 1024;
  o.http.in_flight_per_event = 4096;
  o.io.threads = 1;
  return o;
}
/// These options, changed.
inline config::options with(void (*change)(config::options&)) {
  auto o = fast_options();
  change(o);
  return o;
}

inline key_store open_keys() {
  const auto folder = std::filesystem::temp_directory_path() / ("fq-net-core-" + std::to_string(::getpid()));
  auto keys = key_store::open(folder, timestamp{});
  std::filesystem::remove_all(folder);
  return keys;
}

/// The server and the actors below it.
class world {
public:
  explicit world(site public_site, config::options o = fast_options(), site admin = {}) :
      options(std::move(o)),
      system(cfg),
      owner(system.spawn(region)),
      keys(open_keys()),
      verifier(keys),
      issuer(keys),
      sessions(keys.session),
      tls(options.tls.is_on() ? std::make_unique<tls_server>(options.tls, clock) : nullptr),
      server(server_parts{.system = system,
                          .environment = clock,
                          .options = options,
                          .state = state,
                          .region = owner,
                          .catalog = {},
                          .accounts = {},
                          .session_reader = {},
                          .verifier = verifier,
                          .issuer = issuer,
                          .sessions = sessions,
                          .shared = nullptr,
                          .public_site = std::move(public_site),
                          .admin_site = std::move(admin),
                          .tls = tls.get()}) {
    server.start();
  }
  ~world() {
    server.stop();
    caf::anon_send_exit(owner, caf::exit_reason::user_shutdown);
  }

  /// Sends a command to the good event, see `obey`.
  void order(timer_kind kind, std::uint64_t n = 0) { caf::anon_send(owner, timer_fired{kind, n}); }

  config::options options;
  environment clock;
  one_thread_config cfg;
  caf::actor_system system;
  region_handle owner;
  key_store keys;
  token_verifier verifier;
  token_issuer issuer;
  session_keys sessions;
  std::unique_ptr<tls_server> tls; ///< null: options.tls is off
  server_state state;
  net::server server;
};

/// True if the condition holds before the timeout; polled every 5 ms.
template <class Condition>
bool eventually(Condition condition, int milliseconds_at_most = 5000) {
  for (int i = 0; i < milliseconds_at_most / 5; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds{5});
  }
  return condition();
}

} // namespace fq::net::fake
