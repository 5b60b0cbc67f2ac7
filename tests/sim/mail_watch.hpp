// SPDX-License-Identifier: Apache-2.0
// Checks the mails of a simulated sale: each is written together with its event, exactly once.
#pragma once
#include "tests/sim/world.hpp"

#include <boost/json/fwd.hpp>

#include <map>
#include <set>
#include <string>

namespace fq::sim {

class mail_watch {
public:
  explicit mail_watch(world& w) : world_(w) {}
  /// Call it after the checker has seen `b`.
  void applied(const batch& b);
  /// One receipt for every order that ever succeeded, none for other orders. Receipts that an organizer
  /// repeated are not counted.
  void check_end() const;

private:
  struct mails_of_order { ///< in one batch
    std::map<std::string, int> due, sent; ///< by template
    int links_allowed = 0; ///< payment link mails that may be missing, because the page may be closed already
    int again = 0; ///< repeated by an organizer, any template
  };
  using orders_mails = std::map<std::string, mails_of_order>;
  void due(const change& c, orders_mails& all) const;
  void sent(const outbox_row& row, orders_mails& all);
  void check_cancelled(const boost::json::value& to);
  void check_order(const std::string& order, mails_of_order& mails);
  void check_offers(const batch& b);
  void check_holders(const batch& b) const;
  void check_told_of_end(const batch& b) const;

  world& world_;
  bool is_list_ = false; ///< after the last batch
  std::set<std::string> told_holders_; ///< customers who had the mail of a cancelled event for their gifts
  std::map<std::string, int> receipts_; ///< by order; without repeated receipts
};

} // namespace fq::sim
