// SPDX-License-Identifier: Apache-2.0
// Random calls for differential_test: batches, leases and keys, valid and invalid. One seed gives one
// sequence.
#pragma once
#include "tests/store/port/random_rows.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace differential_test {

using namespace fq;
using namespace fq::test;

/// Each engine has its own clock, so a lease expires either immediately or not during the test.
inline constexpr milliseconds ended_at_once{0}, long_term{3'600'000};

/// No owner, and two that compete.
inline const std::array<std::string, 3> owners{"", "ada", "ben"};

inline std::vector<std::uint32_t> all_partitions() {
  std::vector<std::uint32_t> all(outbox_partitions);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

/// Draws mostly valid calls, based on the oracle's committed state.
class generator : public row_generator {
public:
  generator(std::uint64_t seed, const memory_ledger& oracle) : row_generator(seed), oracle_(oracle) {}

  aggregate_id some_aggregate() {
    if (percent(8)) return accounts_aggregate;
    return percent(10) ? catalog_aggregate : some_event();
  }

  std::vector<batch> call() {
    std::vector<batch> result(1 + below(4));
    for (auto& b : result) b = some_batch();
    return result;
  }

  std::string some_owner() { return owners[below(owners.size())]; }
  /// Of any process of the node that has begun; mostly the latest.
  lease_terms lease() {
    lease_terms terms{some_owner(), percent(30) ? ended_at_once : long_term};
    terms.incarnation = incarnations_[terms.owner];
    if (terms.incarnation > 0 && percent(30)) terms.incarnation = below(terms.incarnation);
    return terms;
  }
  void begun(const std::string& node, std::uint64_t incarnation) { incarnations_[node] = incarnation; }

  /// Aggregates that may exist, and one that never exists.
  std::vector<aggregate_id> some_aggregates() {
    return some_of<aggregate_id>({{}, accounts_aggregate, catalog_aggregate, sale, other_sale});
  }
  /// These aggregates, mostly under their present epochs.
  std::vector<tenure> tenures_of(const std::vector<aggregate_id>& aggregates) {
    std::vector<tenure> all;
    for (const auto a : aggregates) {
      const auto* head = oracle_.head(a);
      all.push_back({a, (head ? head->epoch : 1) - (percent(20) ? 1 : 0)});
    }
    return all;
  }
  std::vector<std::uint32_t> some_partitions() { return some_of(all_partitions()); }

  /// Keys of waiting rows, and keys that do not exist.
  std::vector<outbox_key> some_keys(const std::vector<outbox_item>& waiting) {
    std::vector<outbox_key> keys{{some_event(), below(99), static_cast<std::uint32_t>(below(3))}};
    for (const auto& item : waiting)
      if (percent(30)) keys.push_back(item.key);
    return keys;
  }

private:
  template <class T>
  std::vector<T> some_of(std::vector<T> all) {
    std::erase_if(all, [&](const T&) { return percent(50); });
    return all;
  }

  batch some_batch() {
    batch b;
    b.aggregate = some_aggregate();
    const auto* head = oracle_.head(b.aggregate);
    b.epoch = head ? head->epoch : 1;
    if (percent(5)) b.epoch += below(3) - 1;
    b.from_seq = head ? head->applied_seq : 0;
    if (percent(6) && b.from_seq > 0) b.from_seq -= 1;
    if (percent(3)) b.from_seq += 1;
    b.to_seq = b.from_seq + (percent(2) ? 0 : 1 + below(3));
    b.at = time();
    static const aggregate_image none;
    const auto* committed = oracle_.committed(b.aggregate);
    const auto& image = committed ? *committed : none;
    const auto count = percent(10) ? 1 + below(45) : 1 + below(4);
    next_number_ = 0;
    generation_ = head ? head->cache_generation : 0;
    for (std::uint64_t i = 0; i < count; ++i) b.content.push_back(some_change(b.aggregate, image, count > 4));
    return b;
  }

  change some_change(aggregate_id a, const aggregate_image& image, bool crowd) {
    if (percent(8)) return outbox_appended{domain_event()};
    if (percent(4)) return audit_recorded{audited()};
    if (percent(8)) return statistics_stored{statistics()};
    if (percent(8)) return dead_letter_stored{letter(a, image)};
    if (percent(4)) return log_noted{{some_bytes()}};
    if (percent(4)) return keeping();
    if (percent(2)) return entries_forgotten{queue_number{below(8)}};
    if (percent(2)) return cache_generation_raised{percent(70) ? generation_++ : below(4)};
    if (a == catalog_aggregate && percent(20)) return plan_change();
    if (a == catalog_aggregate && percent(70)) return creation();
    if (a == accounts_aggregate && percent(90)) return account_change();
    if (crowd ? percent(90) : percent(20)) return entry_joined{joining(image)};
    if (percent(crowd ? 60 : 20)) return seat_change(image);
    switch (below(35)) {
      case 34: return lobby_stored{lobby()};
      case 29:
      case 30:
      case 31: return gate_change(image);
      case 32: return lock_taken{{text("A-", 4), queue_number{below(6)}, time()}};
      case 33: return lock_freed{text("A-", 4)};
      case 25: return event_ticket_issued{event_ticket(image)};
      case 26: return moving_event_ticket(image);
      case 27: return transfer_offered{offer(image)};
      case 28: return moving_transfer(image);
      case 24: return access_given{{queue_number{below(6)}, static_cast<std::uint32_t>(below(3))}};
      case 23:
        return invitation_stored{{person(), static_cast<std::uint32_t>(below(4)),
                                  static_cast<std::uint32_t>(below(4)), percent(50) ? never : time(),
                                  time()}};
      case 21: return priority_stored{{person(), static_cast<std::uint8_t>(below(256)), time()}};
      case 22: return priority_removed{person()};
      case 14: return promo_code_added{promo_code(image)};
      case 15: return promo_code_changed{promo_code(image)};
      case 16: return promo_uses_moved{static_cast<std::uint32_t>(below(3)), between(-2, 3)};
      case 17:
      case 19: return order_placed{order(image)};
      case 18: return moving_order(image);
      case 0: return creation();
      case 1: return changing_event(a, image);
      case 2: return ticket_type_added{type()};
      case 3: return ticket_type_changed{type()};
      case 4: return stock_moved{static_cast<std::uint32_t>(below(4)), between(-2, 4), between(-2, 3)};
      case 5: return moving_entry(image);
      case 6: return claim_opened{claim(image)};
      case 7: return moving_claim(image);
      case 8: return payment_opened{payment(image)};
      case 9: return moving_payment(image);
      case 10: return refund_opened{refund(image)};
      case 11: return moving_refund(image);
      case 12: return idempotency_stored{sample_key(below(50), time())};
      default: return receipt_stored{receipt()};
    }
  }

  lobby_row lobby() {
    lobby_row r;
    r.opened_at = time();
    r.seed = percent(5) ? "" : "5e";
    r.closed_at = percent(50) ? time() : never;
    r.drawn_at = percent(30) ? time() : never;
    r.root = percent(70) ? "ab" : "";
    r.last = queue_number{below(6)};
    r.beacon = status(beacon_kind::announced);
    return r;
  }

  std::vector<char> some_bytes() {
    const auto words = text("log", 9);
    return {words.begin(), words.end()};
  }

  log_kept keeping() {
    log_kept kept;
    kept.state.number = 1 + static_cast<std::uint32_t>(below(2));
    kept.state.origin = text("origin", 3);
    kept.state.size = below(600);
    kept.state.root = some_bytes();
    kept.state.taken_seq = below(9);
    kept.state.taken_ordinal = below(3);
    kept.state.last_number = queue_number{below(9)};
    kept.state.cosignatures = text("witness", 3);
    kept.state.cosigned = text("note", 3);
    kept.state.closing = text("closing", 3);
    for (auto n = below(3); n > 0; --n)
      kept.tiles.push_back(
        {kept.state.number, percent(50) ? bundle_level : 0, n, queue_number{below(9)}, some_bytes()});
    return kept;
  }

  change gate_change(const aggregate_image& image) {
    switch (below(3)) {
      case 0: {
        auto l = sample_checkin_list(below(4));
        l.name = percent(5) ? "" : "List " + std::to_string(below(9));
        l.ticket_types = percent(50) ? 0 : std::uint64_t{1} << below(63);
        l.mode = status(checkin_mode::entry_and_exit);
        l.removed_at = percent(20) ? time() : never;
        return checkin_list_stored{l};
      }
      case 1: {
        auto d = sample_checkin_device(below(4));
        for (auto n = below(3); n > 0; --n) d.lists.push_back(id_of(below(9)));
        d.revoked_at = percent(20) ? time() : never;
        return checkin_device_stored{d};
      }
      default: return scan_recorded{scan(image)};
    }
  }

  change account_change() {
    switch (below(12)) {
      case 9: return organizer_removed{person()};
      case 10:
        return organizer_session_stored{
          {session(), person(), text("agent", 3), time(), time(), percent(50) ? never : time()}};
      case 11: return organizer_session_removed{session()};
      case 7:
        return block_stored{
          {some_tenant(), organizer_id{person()}, person(), text("why", 3), percent(50), time()}};
      case 8: return block_removed{some_tenant(), organizer_id{person()}, person()};
      case 6:
        return setting_stored{
          {percent(3) ? std::string{} : text("Setting", 2) + text(".a", 3), text("value", 9), time()}};
      case 4:
        return tenant_stored{{some_tenant(), text("tenant-", 4), text("{}", 3), text("acct_", 3), time()}};
      case 5:
        return api_key_stored{{id_of(below(6), accounts_aggregate), some_tenant(),
                               status(api_key_scope::operate), text("hash", 9), text("label", 3), time(),
                               percent(50) ? never : time()}};
      case 0: return organizer_stored{{person(), tenant_id{1}, email(), text("hash", 9), time(), time()}};
      case 1: return customer_stored{{person(), tenant_id{1}, email(), time()}};
      case 2:
        return otp_stored{
          {text("handle", 4), email(), person(), "code", time(), static_cast<std::uint32_t>(below(5))}};
      default: return otp_removed{text("handle", 4)};
    }
  }

  const memory_ledger& oracle_;
  std::map<std::string, std::uint64_t> incarnations_; ///< of the latest process, by node
  std::uint64_t generation_ = 0; ///< of the batch under construction
};

} // namespace differential_test
