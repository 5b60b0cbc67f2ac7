// SPDX-License-Identifier: Apache-2.0
// SQL of the erasure of personal data. Called by postgres_ledger. Each statement is a transaction: every part
// is idempotent, and how far it has come is stored last.
#pragma once
#include "store/port/erasure.hpp"
#include "store/postgres/postgres.hpp"

namespace fq {

class postgres_erasure final : public erasure_store {
public:
  explicit postgres_erasure(postgres_connection& db);

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
  postgres_connection& db_;
};

} // namespace fq
