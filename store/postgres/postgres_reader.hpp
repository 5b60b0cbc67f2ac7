// SPDX-License-Identifier: Apache-2.0
// Reads rows of the Postgres ledger: images, listings, history. Called by postgres_ledger on its connection.
#pragma once
#include "store/port/history.hpp"
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace fq {

class postgres_reader {
public:
  explicit postgres_reader(postgres_connection& db);

  /// Bounds for the rows of an image that grow without end.
  struct bounds {
    load_since since;
    std::size_t idempotency_max;
    std::size_t receipts_max;
  };
  /// Empty if there is no such aggregate.
  aggregate_head read_head(aggregate_id aggregate);
  /// Reads in one round trip. The caller ensures a consistent state: by a snapshot, or by the lock of the
  /// aggregate's row.
  aggregate_image read_image(aggregate_id aggregate, const bounds& limits);
  access_directory directory();
  std::vector<block_row> blocks();
  std::vector<audit_row> audit(const audit_filter& filter);
  std::vector<order_listing> list_orders(const order_filter& filter);
  std::vector<event_ticket_listing> list_event_tickets(const event_ticket_filter& filter);
  std::vector<transfer_listing> list_transfers(const transfer_filter& filter);
  std::vector<dead_letter_listing> list_dead_letters(const dead_letter_filter& filter);
  record_page list_records(const record_filter& filter);
  open_purchase find_open_purchase(const customer_id& customer);
  std::vector<statistics_row> list_statistics(const statistics_filter& filter);
  sale_figures figures(aggregate_id aggregate);
  std::vector<event_listing> list_events(const event_filter& filter);
  std::vector<aggregate_id> aggregates_to_wake(const std::string& owner);
  events_to_settle find_events_to_settle(const std::string& owner, aggregate_id after);
  aggregate_id last_aggregate();
  std::vector<history_row> history(aggregate_id aggregate);
  std::optional<entry_row> read_entry(aggregate_id aggregate, queue_number number);

private:
  postgres_connection& db_;
};

} // namespace fq
