// SPDX-License-Identifier: Apache-2.0
// The simplest correct ledger: maps of rows, every guard checked, every step recorded. The oracle of the
// domain's tests; independent of the stores.
#pragma once
#include "domain/model/change.hpp"

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq::test {

class naive_ledger {
public:
  event_row event;
  std::vector<ticket_type_row> types;
  std::map<queue_number, entry_row> entries;
  std::map<claim_id, claim_row> claims;
  std::map<payment_id, payment_row> payments;
  std::map<refund_id, refund_row> refunds;
  std::map<order_id, order_row> orders;
  std::vector<promo_code_row> promo_codes;
  std::map<uuid, dead_letter_row> dead_letters; ///< open dead letters
  std::map<customer_id, priority_row> priorities;
  std::map<customer_id, invitation_row> invitations;
  std::vector<idempotency_row> answers;
  std::vector<receipt_row> receipts;

  /// Throws with the reason if a guard fails.
  void apply(const changes& content);

private:
  void one(const change& c);
};

} // namespace fq::test
