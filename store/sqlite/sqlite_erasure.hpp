// SPDX-License-Identifier: Apache-2.0
// SQL of the erasure of personal data. Called by sqlite_ledger.
#pragma once
#include "store/port/erasure.hpp"
#include "store/sqlite/sqlite.hpp"

namespace fq {

class sqlite_erasure final : public erasure_store {
public:
  explicit sqlite_erasure(sqlite_db& db) : sql_(db) {}

  FQ_ERASURE_OVERRIDES;

private:
  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement next, store, end, contacts, empty_contact, given, received, deliveries, devices, outbox,
      answers, drop_outbox, drop_answer, codes, old_codes, account_deliveries, letters, drop_delivery,
      empty_letter, old_contacts, old_scans, drop_scan;
  };
  statements sql_;
};

} // namespace fq
