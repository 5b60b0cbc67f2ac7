// SPDX-License-Identifier: Apache-2.0
// Sale of the fake server: a queue that admits batches, claims and their payments, in memory. It can inject
// one kind of misbehaviour. Not thread-safe: used by the fake server's thread only.
#pragma once

#include "load/base/uuid.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fq::load::test {

struct sale_options {
  std::int64_t stock = 20;
  std::int64_t price = 500;
  std::int64_t batch_size = 5;
  int tick_ms = 15;
  int session_ms = 400;
  int claim_ms = 400;
  // Faults; false disables them.
  bool overtake = false; // one batch comes from the end of the line
  bool big_batch = false; // one batch of double size
  bool oversell = false; // one ticket too many
  bool wrong_amount = false;
  bool forget_place = false; // one waiting fan gets 404
  bool keep_money = false; // one payment is CONFIRMED, its claim is not
  bool never_admit = false;
};

class fake_sale {
public:
  using clock = std::chrono::steady_clock;
  struct reply {
    int status = 200;
    boost::json::value body;
  };
  struct place {
    std::string customer;
    uuid id;
    std::int64_t number = 0;
    std::string status = "WAITING";
    std::int64_t batch = 0;
    clock::time_point session_until;
  };

  fake_sale(const sale_options& options, std::string event, std::string url);

  reply answer(const std::string& method, const std::string& target, const std::string& customer,
               const std::string& body);
  // Ends claims and sessions, then admits a batch.
  void tick();

  // Null: the customer has no place. Valid as long as the sale.
  place* place_of(const std::string& customer);
  [[nodiscard]] std::int64_t position_of(const place& mine) const;
  [[nodiscard]] boost::json::object entry_json(const place& mine) const;

private:
  struct held_claim {
    uuid id;
    std::string customer;
    std::string status = "CLAIMED";
    clock::time_point until;
    uuid payment;
    std::string payment_status;
  };

  void expire();
  void admit();
  reply event() const;
  reply join(const std::string& customer);
  reply position(const std::string& customer);
  reply claim(const std::string& customer, const std::string& body);
  reply on_claim(const std::string& customer, const std::string& method, const std::string& rest);
  reply payment(const std::string& id) const;
  reply gateway(const std::string& id, const std::string& body);
  void confirm(held_claim& claim);
  held_claim* live_claim(const std::string& customer);
  [[nodiscard]] std::int64_t units_in(std::initializer_list<std::string_view> states) const;
  [[nodiscard]] std::int64_t available() const;
  [[nodiscard]] boost::json::object claim_json(const held_claim& claim) const;
  [[nodiscard]] boost::json::object payment_json(const held_claim& claim) const;

  sale_options options_;
  std::string event_;
  std::string url_;
  std::vector<std::unique_ptr<place>> places_;
  std::map<std::string, place*> latest_;
  std::vector<std::unique_ptr<held_claim>> claims_;
  uuid type_{4, 1};
  std::int64_t next_number_ = 1;
  std::int64_t next_batch_ = 1;
  bool forgot_ = false;
  bool misbehaved_ = false;
};

} // namespace fq::load::test
