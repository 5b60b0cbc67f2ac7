// SPDX-License-Identifier: Apache-2.0
// What the calls of a sale answer, and what its steps hand each other.
#pragma once
#include "domain/line/queue.hpp"
#include "domain/line/records.hpp"
#include "domain/money/promo_codes.hpp"
#include "domain/sale/decision.hpp"
#include "domain/sale/inventory.hpp"
#include "domain/sale/seating.hpp"

#include <vector>

namespace fq {

struct sale_steps {
  struct joined {
    refusal no;
    bool created = false;
    bool replayed = false;
    queue_number number{};
  };

  /// The seed of a draw, and its SHA-256, both as hex digits.
  struct lobby_seed {
    std::string seed, commitment;
  };

  /// An entry at the closing of the lobby, with what its commitment follows from.
  struct entrant_place {
    place where;
    subject_key subject;
    std::uint64_t join_key = 0;
    timestamp joined_at;
  };

  /// What the owner has to do next for a draw, beside the sale.
  enum class draw_step : std::uint8_t {
    none,
    root, ///< set_root() of add_entrants()
    beacon, ///< give_beacon(): from a drand network, by itself
    order, ///< rank()
  };

  struct locked {
    refusal no;
    bool created = false; ///< false: the session had it
    session_lock_row row = {};
  };

  struct placed {
    refusal no;
    order_id order{};
  };

  struct attempt {
    refusal no;
    bool created = false;
    payment_id payment{};
  };

  struct wanted {
    std::vector<priced_item> items;
    const promo_code_row* promo = nullptr;
    const invitation_row* invitation = nullptr;
    std::vector<seat_number> seats = {}; ///< of all items
  };

  /// What a refund takes back.
  struct units_back {
    std::vector<refund_item> items; ///< empty: all that are left
    std::vector<event_ticket_id> tickets; ///< of `items`; empty: not chosen yet
  };
};

} // namespace fq
