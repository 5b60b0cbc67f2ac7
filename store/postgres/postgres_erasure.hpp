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

  FQ_ERASURE_OVERRIDES;

private:
  postgres_connection& db_;
};

} // namespace fq
