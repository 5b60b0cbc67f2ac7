// SPDX-License-Identifier: Apache-2.0
// Erasure of what the ledger keeps of a customer who asked for it: one bounded step of prune(). Accounts only
// renames the customer and keeps the address (customer_row::to_erase); the rest is worked off here, whatever
// process ends meanwhile. Each part is idempotent. A contact's address may be a stranger's: it finds nothing.
#pragma once
#include "store/port/ledger.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Rows that a step looks at for each row that it may change.
inline constexpr std::size_t looks_per_change = 8;

/// The tables without an index by customer: they are read from one end to the other.
enum class erasure_part : std::uint8_t { outbox, idempotency };

/// A customer to erase, and how far it has come.
struct erasure {
  customer_id customer;
  /// Separated by line feeds: the account's address, then ids of orders whose mail went elsewhere. See
  /// is_of().
  std::string names;
  std::uint64_t round = 0; ///< the lowest is next
  erasure_part part = erasure_part::outbox;
  bool waits = false; ///< this pass has met a row that must be delivered first
  outbox_key after; ///< the last row that was looked at
  friend bool operator==(const erasure&, const erasure&) = default;
};

struct erasable_row {
  outbox_key key;
  std::string text;
  bool is_delivered = true;
};

struct order_contact {
  aggregate_id aggregate{};
  order_id order;
  std::string mail_address; ///< see contact
};

/// What an engine does for it.
class erasure_store {
public:
  virtual ~erasure_store() = default;
  virtual std::optional<erasure> next_erasure() = 0;
  virtual void store_erasure(const erasure& e) = 0;
  /// Nothing is left.
  virtual void end_erasure(const customer_id& customer) = 0;
  /// At most `limit` orders that have a contact.
  virtual std::vector<order_contact> contacts_of(const customer_id& customer, std::size_t limit) = 0;
  virtual void empty_contact(const order_contact& order) = 0;
  /// Empties the customer's address in at most `limit` offers of tickets; returns the number.
  virtual std::size_t empty_transfers(const customer_id& customer, std::size_t limit) = 0;
  /// Deletes at most `limit` devices, and deliveries to them; returns the number.
  virtual std::size_t erase_devices(const customer_id& customer, std::size_t limit) = 0;
  /// Rows after e.after in the order of their keys.
  virtual std::vector<erasable_row> rows_to_look_at(const erasure& e, std::size_t limit) = 0;
  virtual void erase_row_of(erasure_part part, const outbox_key& key) = 0;
  /// One-time codes of the address, and its user.updated on the way to endpoints. Not of longer ones:
  /// names_address().
  virtual void erase_address(std::string_view address) = 0;
  /// Empties and dismisses dead letters of undelivered mail: see is_of().
  virtual void empty_letters(std::string_view name) = 0;
  /// Empties the contacts of orders of sales that ended before `before`. Deletes the scans of tickets whose
  /// event ended and whose newest scan arrived before it, ticket by ticket; unreadable codes one by one.
  /// Together at most `limit`.
  virtual std::size_t erase_old_contacts(timestamp before, std::size_t limit) = 0;
};

/// Declares every member of the port in an engine's class, which overrides them all.
#define FQ_ERASURE_OVERRIDES                                                                                 \
  std::optional<erasure> next_erasure() override;                                                            \
  void store_erasure(const erasure& e) override;                                                             \
  void end_erasure(const customer_id& customer) override;                                                    \
  std::vector<order_contact> contacts_of(const customer_id& customer, std::size_t limit) override;           \
  void empty_contact(const order_contact& order) override;                                                   \
  std::size_t empty_transfers(const customer_id& customer, std::size_t limit) override;                      \
  std::size_t erase_devices(const customer_id& customer, std::size_t limit) override;                        \
  std::vector<erasable_row> rows_to_look_at(const erasure& e, std::size_t limit) override;                   \
  void erase_row_of(erasure_part part, const outbox_key& key) override;                                      \
  void erase_address(std::string_view address) override;                                                     \
  void empty_letters(std::string_view name) override;                                                        \
  std::size_t erase_old_contacts(timestamp before, std::size_t limit) override

/// One step: at most `limit` changes in one place, whatever bounds.limit is. Returns `limit` if there is more
/// to do at once.
std::size_t erase_some(erasure_store& store, const prune_bounds& bounds, std::size_t limit);

} // namespace fq
