// SPDX-License-Identifier: Apache-2.0
// SQL of the outbox for dispatchers. Called by postgres_ledger; postgres_writer inserts the rows.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace fq {

class postgres_outbox {
public:
  explicit postgres_outbox(postgres_connection& db);

  std::vector<outbox_item> undelivered(lane which, std::span<const std::uint32_t> partitions,
                                       std::size_t limit, aggregate_id after);
  void mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at);
  std::size_t prune(timestamp delivered_before, std::size_t limit);

private:
  std::vector<aggregate_id> waiting(lane which, std::span<const std::uint32_t> partitions, std::size_t most,
                                    aggregate_id after);

  postgres_connection& db_;
};

} // namespace fq
