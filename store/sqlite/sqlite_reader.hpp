// SPDX-License-Identifier: Apache-2.0
// Reads rows of the SQLite ledger: images, listings, history. Called by sqlite_ledger on its connection.
#pragma once
#include "store/port/history.hpp"
#include "store/port/ledger.hpp"
#include "store/port/record_sql.hpp"
#include "store/sqlite/sqlite.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fq {

/// Bounds for the rows of an image that grow without end.
struct image_bounds {
  load_since since;
  std::size_t idempotency_max;
  std::size_t receipts_max;
};

class sqlite_reader {
public:
  explicit sqlite_reader(sqlite_db& db);

  /// Empty if there is no such aggregate.
  aggregate_head read_head(aggregate_id aggregate);
  aggregate_image read_image(aggregate_id aggregate, const image_bounds& bounds);
  access_directory directory();
  std::vector<block_row> blocks();
  std::vector<audit_row> audit(const audit_filter& filter);
  std::vector<order_listing> list_orders(const order_filter& filter);
  std::vector<event_ticket_listing> list_event_tickets(const event_ticket_filter& filter);
  std::vector<seat_plan_row> list_seat_plans(const seat_plan_filter& filter);
  std::vector<transfer_listing> list_transfers(const transfer_filter& filter);
  std::vector<dead_letter_listing> list_dead_letters(const dead_letter_filter& filter);
  record_page list_records(const record_filter& filter);
  open_purchase find_open_purchase(const customer_id& customer);
  std::vector<statistics_row> list_statistics(const statistics_filter& filter);
  sale_figures figures(aggregate_id aggregate);
  std::vector<event_listing> list_events(const event_filter& filter);
  std::vector<aggregate_id> aggregates_to_wake(const std::string& owner);
  /// Of aggregates_to_wake.
  static std::string to_wake_sql();
  events_to_settle find_events_to_settle(const std::string& owner, aggregate_id after);
  aggregate_id last_aggregate();
  std::vector<history_row> history(aggregate_id aggregate);
  std::optional<entry_row> read_entry(aggregate_id aggregate, queue_number number);

private:
  void read_items(aggregate_id aggregate, std::vector<claim_row>& claims);

  struct statements {
    explicit statements(sqlite_db& db);
    sqlite_statement head, event, log, ticket_types, entries, entry, claims, claim_items, payments, refunds,
      promo_codes, orders, event_tickets, plan, seat_settings, claim_seats, transfers, checkin_lists,
      checkin_devices, scans;
    sqlite_statement dead_letters, priorities, invitations, access, locks, lobby, idempotency, receipts;
    sqlite_statement organizers, organizer_sessions, customers, otps;
    sqlite_statement events_on_sale, events_of_organizer, events_of_tenant;
    sqlite_statement tenants, settings, blocks, api_keys, access_of_organizers, ended_sessions;
    sqlite_statement audit_of_tenant, audit_of_target;
    sqlite_statement orders_of_customer, tickets_of_holder, transfers_of_customer, letters_of_tenant,
      open_letters_of_tenant;
    sqlite_statement seat_plans, one_seat_plan;
    sqlite_statement to_wake, to_settle, last_aggregate, history;
    struct prepared_records {
      record_statement text;
      sqlite_statement prepared;
    };
    std::vector<prepared_records> records; ///< by kind
    sqlite_statement open_purchases;
    sqlite_statement last_statistics, statistics, type_figures, figures;
  };
  statements sql_;
};

} // namespace fq
