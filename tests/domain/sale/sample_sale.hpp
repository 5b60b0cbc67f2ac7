// SPDX-License-Identifier: Apache-2.0
// A sample sale with simple numbers, a clock that the test moves, and a naive ledger.
#pragma once
#include "domain/line/line_copy.hpp"
#include "domain/sale/sale.hpp"
#include "tests/domain/sale/log_rules.hpp"
#include "tests/domain/sale/naive_ledger.hpp"
#include "tests/domain/sale/seeds.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace fq::test {

inline const timestamp opening = from_unix_ms(1'795'000'000'000); ///< of queue and sale
inline constexpr aggregate_id sample_aggregate{16};

/// From this number on fans are guests. They buy for the fan whose number is the rest of a division by it.
inline constexpr std::uint64_t first_guest = 1'000'000;
inline uuid fan(std::uint64_t n) {
  return n < first_guest ? uuid{0xfa, n} : make_uuid(opening, guests_aggregate, n);
}

/// ACTIVE, 10 tickets at 500 NGN, batches of 50 every 5 s, session 60 s, claim window 10 s, claim 20 s.
event_row sample_event();
std::vector<ticket_type_row> sample_types(std::int64_t total = 10, money price = 500);
/// A loaded sale with the rows of `ledger`.
std::unique_ptr<sale> load_sale(const naive_ledger& ledger, const sale_rules& rules, std::uint64_t seed);

class sample_sale {
public:
  explicit sample_sale(event_row event = sample_event(), std::vector<ticket_type_row> types = sample_types(),
                       std::uint64_t seed = 1, sale_rules rules = {});

  sale_rules rules;
  naive_ledger ledger;
  std::unique_ptr<sale> it;
  timestamp now = opening;
  decision last; ///< of the last call and its run
  line_copy copy; ///< of the line, from what the decisions tell
  std::map<queue_number, std::int64_t> noted; ///< positions, see line_copy::base_of
  log_rules log; ///< of all decisions
  sale::wake_up wake;
  blocked_customers blocked;

  /// Notes some positions, as an io thread does with the answers of the owner.
  void note_positions(dice& d);
  /// How noted positions differ from those of the line; empty: not at all.
  [[nodiscard]] std::string what_the_copy_misses() const;

  bool draws = true; ///< does what an owner does for a draw, after each call
  std::string beacon = {}; ///< the draw waits as long as it is empty
  /// The next steps of the draw, each as a decision of its own.
  void follow_draw();

  /// Ends a call: run, then the ledger applies the decision. As the event actor does.
  void settle();
  /// Advances the time; processes all deadlines, as the event actor's timer does.
  void pass(milliseconds span);
  /// Calls run until nothing is left at this time; returns the number of runs.
  int drain();
  /// As after a crash: drops the memory, keeps the rows.
  void reload();

  sale::joined join(std::uint64_t n, std::uint64_t key = 0, std::string_view access_code = {});
  sale::joined join_party(std::uint64_t n, queue_number party, std::uint64_t key = 0);
  refusal open_party(std::uint64_t n) { return change_party(n, {}); }
  refusal change_party(std::uint64_t n, queue_number party);
  void join_all(std::uint64_t first, std::uint64_t last);
  refusal leave(std::uint64_t n);
  refusal claim(std::uint64_t n, const std::vector<item_wish>& wishes = {}, const seat_wish& seats = {});
  refusal release(std::uint64_t n, const claim_id& id);
  /// With contact and gateway filled in; from the fan's place, or in an open event by joining.
  sale::placed order(std::uint64_t n, const std::vector<item_wish>& items = {}, std::string promo_code = {},
                     const seat_wish& seats = {});
  std::vector<answer_row> answers = {}; ///< of the next orders
  /// Before the first claim. `types`: as in seat_map; their totals follow.
  void give_plan(std::shared_ptr<const seat_plan> plan, const std::vector<std::uint8_t>& types,
                 const seat_rules& seat_rules = {});
  refusal set_seats(const seat_patch& patch);
  refusal cancel_order(std::uint64_t n, const order_id& id);
  refusal refund_order(const order_id& id, std::vector<item_wish> items = {},
                       std::vector<event_ticket_id> tickets = {});
  /// By the ticket's holder.
  refusal offer(const event_ticket_id& ticket, std::uint64_t receiver, transfer_id* made = nullptr);
  refusal end_transfer(const transfer_id& id, std::uint64_t by, transfer_trigger how);
  scan_view scan(const checkin_device_id& device, const scan_wish& wish);
  checkin_list_id checkin_list(checkin_mode mode = checkin_mode::entry,
                               std::vector<ticket_type_id> types = {});
  checkin_device_id checkin_device(std::vector<checkin_list_id> lists = {}, bool may_force = true);
  refusal promo(const promo_code_patch& patch);
  refusal prefer(std::uint64_t n, std::optional<std::uint8_t> priority_class);
  /// Blocks exactly these fans; also valid after a reload.
  void block(const std::set<std::uint64_t>& fans, bool includes_ended = false);
  /// `news`: receives the number of fans to notify.
  refusal invite(const std::vector<std::uint64_t>& fans, const invitation_wish& wish,
                 std::size_t* news = nullptr);
  std::size_t uninvite(std::uint64_t n);
  /// The gateway returned the payment page.
  void initialized(const payment_id& payment);
  sale::attempt pay(std::uint64_t n);
  refusal hear(gateway_fact fact);
  refusal captured(const payment_id& payment);
  refusal declined(const payment_id& payment);
  refusal refunded(const refund_id& refund);
  void closed(const payment_id& payment);
  refusal change_status(event_trigger trigger);
  refusal patch(const event_patch& patch);

  entry_row entry(std::uint64_t fan_number) const { return it->queue().find(fan(fan_number))->row(); }
  const claim_row& claim_of(std::uint64_t fan_number) const; ///< the newest
  const order_row& order_of(std::uint64_t fan_number) const; ///< the newest
  const payment_row& payment_of(const order_row& order) const; ///< the newest attempt
  /// Valid event tickets of the fan's newest claim, by id.
  std::vector<event_ticket_id> tickets_of(std::uint64_t fan_number) const;
  const payment_row& payment(const payment_id& id) const { return *it->payments().find(id); }
  const ticket_type_row& type(std::size_t i = 0) const { return it->stock().types().at(i); }
  bool told(socket_notice_kind what) const;
  /// True if the last decision contains a gateway call of this kind.
  bool asked(gateway_call_kind kind) const;
  /// The refund call of the last decision.
  std::optional<refund_id> refund_asked() const;
  gateway_fact fact(const payment_id& id, verdict what);

private:
  void read_log();

  std::uint64_t next_fact_ = 0;
  std::uint64_t seed_;
};

} // namespace fq::test
