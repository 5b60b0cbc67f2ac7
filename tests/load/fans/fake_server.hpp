// SPDX-License-Identifier: Apache-2.0
// A tiny sale in memory that speaks the wire contract, for tests of the load program only. It runs on a
// thread of its own and can be told to misbehave in one way at a time.
#pragma once

#include "tests/load/fans/fake_shop.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace fq::load::test {

struct fake_options {
  std::int64_t stock = 20;
  std::int64_t price = 500;
  std::int64_t batch_size = 5;
  int tick_ms = 15;
  int session_ms = 400;
  int claim_ms = 400;
  // Faults; 0 or false is none.
  int drop_every = 0; // apply, then close without an answer
  int busy_every = 0; // 503 before applying
  int outage_after_ms = 0; // once: close every connection and refuse new ones for outage_ms
  int outage_ms = 0;
  bool overtake = false; // one batch is taken from the end of the line
  bool big_batch = false; // one batch of twice the size
  bool oversell = false; // one ticket too many
  bool wrong_amount = false;
  bool forget_place = false; // one waiting fan is answered 404
  bool keep_money = false; // one payment CONFIRMED, its claim not
  bool never_admit = false;
  shop_options shop; // used: instead of the sale by claims
};

class fake_server {
public:
  explicit fake_server(fake_options options);
  ~fake_server();

  [[nodiscard]] std::string url() const;
  [[nodiscard]] static std::string event_id();

private:
  class work;
  std::unique_ptr<work> work_;
};

} // namespace fq::load::test
