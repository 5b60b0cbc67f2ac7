// SPDX-License-Identifier: Apache-2.0
// Identifiers. Every id is a UUIDv7 that contains the number of the aggregate that owns it, so any id leads
// to its owner without a lookup. An entry's id also contains its queue number, so it leads to its row. Ids
// are not secrets.
// Layout (RFC 9562 version 7): 48 bits Unix milliseconds | 4 bits version | 12 bits high | 2 bits variant |
// 32 bits aggregate number | 30 bits low. (high, low) are 42 random bits, or 0b00 and the 40-bit queue
// number.
#pragma once
#include "domain/base/limits.hpp"
#include "domain/base/time.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

struct uuid {
  std::uint64_t hi = 0;
  std::uint64_t lo = 0;
  friend auto operator<=>(const uuid&, const uuid&) = default;
  [[nodiscard]] constexpr bool is_nil() const { return hi == 0 && lo == 0; }
};

/// Number of an aggregate: an event with its queue, a standalone queue, or a global aggregate.
enum class aggregate_id : std::uint32_t {};
inline constexpr aggregate_id accounts_aggregate{1};
inline constexpr aggregate_id catalog_aggregate{2};
inline constexpr aggregate_id guests_aggregate{3}; ///< owns nothing: marks the ids of guests
inline constexpr aggregate_id first_event_aggregate{16};

constexpr std::uint32_t number_of(aggregate_id a) { return static_cast<std::uint32_t>(a); }

/// An entry's immutable sequence number in its queue, from 1; at most 2^40 - 1.
enum class queue_number : std::uint64_t {};
constexpr std::uint64_t value_of(queue_number n) { return static_cast<std::uint64_t>(n); }

enum class tenant_id : std::uint32_t {};
inline constexpr tenant_id default_tenant{1};

/// Holder of an entry, 128 bits: a customer's id, or a keyed hash of the subject that a tenant gave.
using subject_key = uuid;
using customer_id = uuid;
using organizer_id = uuid;
using event_id = uuid;
using entry_id = uuid;
using claim_id = uuid;
using payment_id = uuid;
using refund_id = uuid;
using order_id = uuid;
using event_ticket_id = uuid;
using transfer_id = uuid; ///< of an offer of an event ticket
using promo_code_id = uuid;
using checkin_list_id = uuid;
using checkin_device_id = uuid;
using scan_id = uuid;
using ticket_type_id = uuid;

/// A UUIDv7 of `owner` with 42 bits of `random`.
uuid make_uuid(timestamp now, aggregate_id owner, std::uint64_t random);

/// The id of entry `n`. It is a function of the row, so it needs no column.
entry_id make_entry_id(timestamp joined_at, aggregate_id owner, queue_number n);

aggregate_id owner_of(const uuid& id);
queue_number queue_number_of(const entry_id& id);
timestamp time_of(const uuid& id);
/// Whether the customer is a guest: a browser without a proven address.
inline bool is_guest(const customer_id& id) { return owner_of(id) == guests_aggregate; }

/// Lower-case 8-4-4-4-12 text.
std::string to_string(const uuid& id);
/// Writes the 36 characters of `id` to `out` (no terminator); returns the end.
char* write_text(const uuid& id, char* out);
/// Accepts exactly 36 characters with hex digits of either case; empty for anything else.
std::optional<uuid> parse_uuid(std::string_view text);

} // namespace fq

template <>
struct std::hash<fq::uuid> {
  std::size_t operator()(const fq::uuid& id) const noexcept {
    std::uint64_t x = id.hi * 0x9e3779b97f4a7c15ull ^ id.lo;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return static_cast<std::size_t>(x ^ (x >> 32));
  }
};
