// SPDX-License-Identifier: Apache-2.0
// The watch over the mails of a simulated sale: each is written with what it tells of, exactly once.
#pragma once
#include "tests/sim/world.hpp"

#include <map>
#include <string>

namespace fq::sim {

class mail_watch {
public:
  explicit mail_watch(world& w) : world_(w) {}
  /// After the checker has seen `b`.
  void applied(const batch& b);
  /// One receipt for every order that ever succeeded, none for the others; those that an organizer had sent
  /// again come on top.
  void check_end() const;

private:
  struct mails_of_order { ///< in one batch
    std::map<std::string, int> due, sent; ///< by template
    int links_allowed = 0; ///< the page may be gone by then: sent, or not
    int again = 0; ///< of any template
  };
  using orders_mails = std::map<std::string, mails_of_order>;
  void due(const change& c, orders_mails& all) const;
  void sent(const outbox_row& row, orders_mails& all) const;
  void check_order(const std::string& order, mails_of_order& mails);

  world& world_;
  std::map<std::string, int> receipts_; ///< by order; without those sent again
};

} // namespace fq::sim
