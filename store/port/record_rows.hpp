// SPDX-License-Identifier: Apache-2.0
// What the ledger keeps of a customer, beside the account and the orders: for an export, and before an
// erasure.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/model/rows.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace fq {

/// In the order in which they are read. Only the cursors of an export keep the number.
enum class record_kind : std::uint8_t {
  place,
  claim,
  payment,
  priority,
  invitation,
  event_ticket, ///< held; another customer may have bought it
  transfer, ///< an offer of an event ticket, given or received
  scan, ///< at a gate, of a held event ticket
  block,
  device,
  notice, ///< a notice to the customer's devices
  mail, ///< a domain event with the customer's address
  letter ///< an open or settled dead letter with it
};

/// Place of a row among the rows of its kind. Members that the kind's key does not have are zero.
struct record_position {
  record_kind kind{};
  aggregate_id aggregate{};
  std::uint64_t number = 0; ///< queue number, tenant, or outbox_key::seq
  std::uint32_t ordinal = 0;
  uuid id;
  friend auto operator<=>(const record_position&, const record_position&) = default;
};

struct customer_record {
  record_position at;
  event_id event; ///< nil: none
  std::uint32_t status = 0; ///< of the kind; device: the channel; scan: its type
  std::string text; ///< payment: the gateway; event ticket: its type; transfer: "given", "received"; scan:
                    ///< its list; notice, mail: the topic
  money amount = 0;
  std::uint64_t count =
    0; ///< tickets; place, priority: the class; payment: refunded money; notice: devices; scan: 1 if admitted
  timestamp created_at;
  timestamp changed_at; ///< place: admitted; claim, transfer: expires; payment, event ticket: last change
  timestamp ended_at; ///< invitation: valid until; mail: delivered
  friend bool operator==(const customer_record&, const customer_record&) = default;
};

struct record_filter {
  customer_id customer;
  std::string address; ///< of the account; mail and dead letters that name it are the customer's
  std::vector<std::string> orders; ///< ids of own orders; mail about them is too, whatever its address
  record_position after; ///< its kind is read
  std::uint32_t limit = 50; ///< rows that are looked at
};

struct record_page {
  std::vector<customer_record> records;
  record_position next; ///< after the last row that was looked at, or the beginning of the next kind
  bool more = false;
  friend bool operator==(const record_page&, const record_page&) = default;
};

/// Whether rows of the kind are read one after the other, because no index finds them.
constexpr bool is_scanned(record_kind kind) {
  return kind <= record_kind::payment || kind >= record_kind::mail;
}

/// What keeps a customer from being erased.
enum class open_purchase : std::uint8_t {
  none,
  claim, ///< a live claim
  payment ///< an open order, or money between customer, gateway and us
};

} // namespace fq
