// SPDX-License-Identifier: Apache-2.0
// SQL of the erasure of personal data. Called by sqlite_ledger.
#pragma once
#include "store/port/erasure.hpp"
#include "store/sqlite/sqlite.hpp"

namespace fq {

class sqlite_erasure final : public erasure_store {
public:
  explicit sqlite_erasure(sqlite_db& db) : sql_(db) {}

  std::optional<erasure> next_erasure() override;
  void store_erasure(const erasure& e) override;
  void end_erasure(const customer_id& customer) override;
  std::vector<order_contact> contacts_of(const customer_id& customer, std::size_t limit) override;
  void empty_contact(const order_contact& order) override;
  std::size_t erase_devices(const customer_id& customer, std::size_t limit) override;
  std::vector<erasable_row> rows_to_look_at(const erasure& e, std::size_t limit) override;
  void erase_row_of(erasure_part part, const outbox_key& key) override;
  void erase_address(std::string_view address) override;
  std::size_t erase_old_contacts(timestamp before, std::size_t limit) override;

private:
  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement next, store, end, contacts, empty_contact, deliveries, devices, outbox, answers,
      drop_outbox, drop_answer, codes, old_codes, account_deliveries, letters, old_contacts;
  };
  statements sql_;
};

} // namespace fq
